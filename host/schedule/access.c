/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "parts.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/api.h"

static struct schedule_control *control;
static struct match match;

/* ---- The guest's RAM ----------------------------------------------------------------------------- */

/*
 * The guest's RAM file, and the physical address of the file's first byte. Physical addresses are those of
 * qemu_plugin_hwaddr_phys_addr().
 */
static struct {
	const unsigned char *bytes; /* NULL: there is no RAM file, and values are unknown */
	uint64_t base, length;
} ram;

static uint64_t base_of(const char *target)
{
	if (strncmp(target, "riscv", 5) == 0)
		return UINT64_C(0x80000000);
	return strcmp(target, "aarch64") == 0 ? UINT64_C(0x40000000) : 0;
}

/* a transport without a RAM file leaves an empty file here */
static void map_ram(const char *path, const char *target)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *bytes = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (bytes == MAP_FAILED)
		return;
	ram.bytes = bytes;
	ram.length = (uint64_t)status.st_size;
	ram.base = base_of(target);
}

/* Reads bytes, up to the end of the page. Returns false if the RAM file does not contain them. */
static bool read_bytes(uint64_t physical, uint64_t bytes, uint64_t *value)
{
	const uint64_t rest = MATCH_PAGE - physical % MATCH_PAGE, offset = physical - ram.base;

	*value = 0;
	bytes = bytes < rest ? bytes : rest;
	if (ram.bytes == NULL || offset >= ram.length || bytes > ram.length - offset)
		return false;
	memcpy(value, ram.bytes + offset, bytes);
	return true;
}

/* ---- Accesses ------------------------------------------------------------------------------------ */

/*
 * Reads the values after the access. Other CPUs do not run during this: with -icount, one thread runs all
 * CPUs.
 */
static void read_values(struct schedule_access *record, uint64_t physical)
{
	const uint64_t most = sizeof(record->bytes);

	record->known = read_bytes(physical, record->size < most ? record->size : most, &record->bytes) &&
			read_bytes(physical / most * most, most, &record->word);
}

static void keep(const struct schedule_access *record)
{
	control->record[control->accesses % control->records] = *record;
	control->accesses++;
}

static void examine(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *code)
{
	const struct match_access access = { .address = address,
					     .size = 1u << qemu_plugin_mem_size_shift(info),
					     .kind = qemu_plugin_mem_is_store(info) ? SCHEDULE_WRITE
										    : SCHEDULE_READ };
	int range = match_virtual(&match, &access);
	const bool by_address = range >= 0;
	const struct qemu_plugin_hwaddr *place;
	struct schedule_access record;
	uint64_t physical = 0;
	bool in_memory;

	if (!by_address && !match_needs_physical(&match, &access))
		return;
	place = qemu_plugin_get_hwaddr(info, address);
	in_memory = place != NULL && !qemu_plugin_hwaddr_is_io(place);
	if (in_memory)
		physical = qemu_plugin_hwaddr_phys_addr(place);
	if (!by_address && in_memory)
		range = match_physical(&match, &access, physical);
	if (range < 0)
		return;
	if (by_address && in_memory)
		match_learn(&match, range, &access, physical);
	record = (struct schedule_access){ .time = virtual_begin_of_run(),
					   .code = (uintptr_t)code,
					   .address = address,
					   .size = access.size,
					   .cpu = (uint16_t)api_cpu(cpu),
					   .watch = (uint8_t)range,
					   .kind = (uint8_t)access.kind };
	if (in_memory)
		read_values(&record, physical);
	keep(&record);
}

static void access_memory(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *code)
{
	if (match_may_touch(&match, address))
		examine(cpu, info, address, code);
}

static void look(struct qemu_plugin_tb *block)
{
	const size_t count = qemu_plugin_tb_n_insns(block);

	for (size_t n = 0; n < count; n++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, n);

		/*
		 * QEMU 7.2 passes only stores to callbacks for loads, so the callbacks are registered for
		 * both loads and stores
		 */
		qemu_plugin_register_vcpu_mem_cb(instruction, access_memory, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW,
						 (void *)(uintptr_t)qemu_plugin_insn_vaddr(instruction));
	}
}

const char *access_open(const char *target, struct schedule_control *shared)
{
	const char *message = match_open(&match, shared->watch, shared->watches);

	if (message != NULL)
		return message;
	if (shared->records == 0 || shared->records > SCHEDULE_RECORDS_MOST)
		return "the number of records is invalid";
	control = shared;
	map_ram(shared->ram, target);
	blocks_add(look);
	return NULL;
}
