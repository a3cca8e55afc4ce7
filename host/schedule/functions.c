/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frames.h"
#include "plugin/code.h"
#include "plugin/api.h"

#define BUFFERED 4096u
#define BUCKETS	 65536u
#define LOADS	 1024u /* number of elements in the set of loads, a power of 2 */

static struct schedule_control *control;
static const struct schedule_functions *wanted;
static const struct ends *ends;

/* ---- The window ---------------------------------------------------------------------------------- */

static const _Atomic uint64_t *watched; /* the word that begins recording; NULL: recording has begun */

static const char *map_word(void)
{
	return wanted->word == 0 ? NULL : ram_map_word(control->ram, wanted->position, &watched);
}

/* ---- Records ------------------------------------------------------------------------------------- */

static struct schedule_entry buffer[BUFFERED];
static unsigned buffered;
static int file = -1;

void functions_flush(void)
{
	const char *bytes = (const char *)buffer;
	size_t left = buffered * sizeof(buffer[0]);

	if (control == NULL)
		return;
	while (left > 0 && file >= 0 && control->failure == 0) {
		ssize_t written = write(file, bytes, left);

		if (written >= 0) {
			bytes += written;
			left -= (size_t)written;
		} else if (errno != EINTR) {
			control->failure = (uint32_t)errno;
		}
	}
	control->entries += buffered - (left + sizeof(buffer[0]) - 1) / sizeof(buffer[0]);
	buffered = 0;
	control->forgotten = frames_forgotten();
}

static void entered(unsigned cpu, const struct frames_code *to, uint64_t caller, enum schedule_how how,
		    uint32_t depth)
{
	if (watched != NULL || !to->wanted || (wanted->cpu != SCHEDULE_ANY_CPU && wanted->cpu != cpu) ||
	    control->failure != 0)
		return;
	buffer[buffered++] = (struct schedule_entry){ .time = virtual_now(),
						      .code = to->start,
						      .caller = caller,
						      .depth = depth,
						      .cpu = (uint16_t)cpu,
						      .how = (uint8_t)how };
	if (buffered == BUFFERED)
		functions_flush();
}

/* ---- Blocks -------------------------------------------------------------------------------------- */

/* All blocks that were translated. QEMU may translate a block several times. No block is removed. */
struct known {
	struct frames_code code;
	struct known *chain;
};

static struct known *bucket[BUCKETS];

static uint64_t *list; /* addresses of the functions that are recorded, sorted */
static size_t list_count;

static int by_address(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool is_wanted(uint64_t start)
{
	return wanted->listed == 0 || bsearch(&start, list, list_count, sizeof(*list), by_address) != NULL;
}

static bool is_same(const struct frames_code *a, const struct frames_code *b)
{
	return a->start == b->start && a->last == b->last && a->next == b->next && a->target == b->target &&
	       a->end == b->end && a->reg == b->reg && a->count == b->count && a->outside == b->outside;
}

/* Returns the stored block that is equal to `code`, which is added if necessary; NULL if memory runs out. */
static const struct frames_code *keep(const struct frames_code *code)
{
	struct known **place = &bucket[(code->start ^ code->start >> 16) % BUCKETS], *known = *place;

	while (known != NULL && !is_same(&known->code, code))
		known = known->chain;
	if (known != NULL)
		return &known->code;
	known = malloc(sizeof(*known));
	if (known == NULL)
		return NULL;
	*known = (struct known){ .code = *code, .chain = *place };
	known->code.wanted = !code->outside && is_wanted(code->start);
	*place = known;
	return &known->code;
}

static void begin_block(unsigned cpu, void *data)
{
	const struct frames_code *code = data;

	if (watched != NULL && atomic_load_explicit(watched, memory_order_relaxed) == wanted->word)
		watched = NULL;
	frames_begin(api_cpu(cpu), code);
}

/*
 * Sets *address to the address of the register's part of the access. Returns false if the access is only to
 * the other part.
 */
static bool find_part(enum ends_part part, unsigned shift, uint64_t *address)
{
	static uint64_t second; /* expected address of the second half of the access */
	bool is_second;

	if (part == ENDS_ALL)
		return true;
	if (shift > 3) {
		*address += part == ENDS_SECOND ? 8 : 0;
		return true;
	}
	is_second = *address == second;
	second = is_second ? 0 : *address + 8;
	return is_second == (part == ENDS_SECOND);
}

/*
 * QEMU 7.2 passes stores to callbacks for loads, and loads to callbacks for stores. So these callbacks are
 * registered for both, and check which of the two the access is.
 */
static void push_address(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	(void)data;
	if (qemu_plugin_mem_is_store(info))
		frames_pushed(api_cpu(cpu), address);
}

static void save_address(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	const uintptr_t access = (uintptr_t)data;

	if (qemu_plugin_mem_is_store(info) &&
	    find_part((enum ends_part)(access >> 8), qemu_plugin_mem_size_shift(info), &address))
		frames_saved(api_cpu(cpu), address);
}

static void load_address(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	const uintptr_t access = (uintptr_t)data;

	if (!qemu_plugin_mem_is_store(info) &&
	    find_part((enum ends_part)(access >> 8), qemu_plugin_mem_size_shift(info), &address))
		frames_loaded(api_cpu(cpu), access & 0xff, address);
}

static void on_access(struct qemu_plugin_insn *instruction, qemu_plugin_vcpu_mem_cb call, uint8_t reg,
		      enum ends_part part)
{
	qemu_plugin_register_vcpu_mem_cb(instruction, call, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
					 (void *)((uintptr_t)reg | (uintptr_t)part << 8));
}

/* ---- Translation --------------------------------------------------------------------------------- */

/*
 * Instructions that load a return address into another register than the link register, as a switch between
 * threads may do. Only the end of the block shows whether this register is used to return. If QEMU later
 * translates a shorter block, which ends before the return, this table still shows that the load is that of a
 * return address.
 */
static struct load {
	uint64_t address; /* address of the load; 0: this element is free */
	uint8_t reg;
	enum ends_part part;
} loads[LOADS];

static unsigned load_count;

static struct load *load_place(uint64_t address)
{
	size_t n = (address >> 1) & (LOADS - 1);

	while (loads[n].address != 0 && loads[n].address != address)
		n = (n + 1) & (LOADS - 1);
	return &loads[n];
}

static void add_load(uint64_t address, uint8_t reg, enum ends_part part)
{
	struct load *load = load_place(address);

	if (load->address == 0 && load_count + 1 >= LOADS)
		return;
	load_count += load->address == 0;
	*load = (struct load){ address, reg, part };
}

static void watch_instruction(struct qemu_plugin_insn *instruction, const struct frames_code *code)
{
	unsigned char bytes[API_INSTRUCTION_MOST];
	const size_t size = api_bytes(instruction, bytes);
	const uint64_t address = qemu_plugin_insn_vaddr(instruction);
	enum ends_part saved, loaded;
	const struct load *load;

	if (size == 0)
		return;
	saved = ends->saves(bytes, size);
	loaded = ends->loads(bytes, size, ends->link);
	if (saved != ENDS_NONE) {
		on_access(instruction, save_address, ends->link, saved);
		return;
	}
	if (loaded != ENDS_NONE) {
		on_access(instruction, load_address, ends->link, loaded);
		return;
	}
	if (code->end == END_RETURN && code->reg != ends->link && ends->loads(bytes, size, code->reg))
		add_load(address, code->reg, ends->loads(bytes, size, code->reg));
	load = load_place(address);
	if (load->address == address)
		on_access(instruction, load_address, load->reg, load->part);
}

static void watch_accesses(struct qemu_plugin_tb *block, const struct frames_code *code)
{
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(block, code->count - 1u);

	if (ends->saves != NULL) {
		for (size_t n = 0; n < code->count; n++)
			watch_instruction(qemu_plugin_tb_get_insn(block, n), code);
		return;
	}
	if (code->end == END_CALL || code->end == END_INDIRECT_CALL)
		on_access(last, push_address, FRAMES_LINK, ENDS_ALL);
	else if (code->end == END_RETURN)
		on_access(last, load_address, FRAMES_LINK, ENDS_ALL);
}

static void look(struct qemu_plugin_tb *block)
{
	const size_t count = qemu_plugin_tb_n_insns(block);
	struct frames_code code = { .start = 0 };
	const struct frames_code *known;
	struct qemu_plugin_insn *last;
	unsigned char bytes[API_INSTRUCTION_MOST];
	size_t size;

	if (count == 0)
		return;
	last = qemu_plugin_tb_get_insn(block, count - 1);
	code.start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0));
	code.last = qemu_plugin_insn_vaddr(last);
	code.next = code.last + qemu_plugin_insn_size(last);
	size = api_bytes(last, bytes);
	code.count = (uint16_t)count;
	code.outside = size == 0 || code.start < wanted->begin || code.start >= wanted->end;
	if (!code.outside)
		ends->classify(&code, bytes, size);
	known = keep(&code);
	if (known == NULL)
		return;
	qemu_plugin_register_vcpu_tb_exec_cb(block, begin_block, QEMU_PLUGIN_CB_NO_REGS, (void *)known);
	if (!code.outside)
		watch_accesses(block, known);
}

/* ---- Loading ------------------------------------------------------------------------------------- */

/* Reads the list of addresses from the file, and empties the file. Returns NULL, or an error message. */
static const char *open_file(void)
{
	static char message[SCHEDULE_PATH + 100];
	off_t bytes;

	file = open(wanted->file, O_RDWR | O_CLOEXEC);
	bytes = file >= 0 ? lseek(file, 0, SEEK_END) : -1;
	if (bytes < 0) {
		snprintf(message, sizeof(message), "%s: the file of functions cannot be opened: %s",
			 wanted->file, strerror(errno));
		return message;
	}
	list_count = (size_t)bytes / sizeof(*list);
	list = malloc(list_count * sizeof(*list) + 1);
	if (list == NULL || pread(file, list, (size_t)bytes, 0) != bytes || ftruncate(file, 0) != 0 ||
	    lseek(file, 0, SEEK_SET) != 0) {
		snprintf(message, sizeof(message), "%s: the file of functions cannot be read", wanted->file);
		return message;
	}
	return NULL;
}

const char *functions_open(const struct qemu_info *info, struct schedule_control *shared)
{
	const char *message;

	control = shared;
	wanted = &shared->functions;
	ends = ends_find(info->target_name);
	if (ends == NULL)
		return "functions are recorded on x86_64, aarch64 and riscv64 only";
	message = open_file();
	if (message == NULL)
		message = map_word();
	if (message == NULL && !frames_open((unsigned)info->system.max_vcpus, ends->link, entered))
		message = "out of memory";
	if (message == NULL) {
		mark_times();
		blocks_add(look);
	}
	return message;
}
