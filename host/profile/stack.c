/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "profile/stack.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/symbols.h"
#include "base/grow.h"

/* ---- A CPU in a sample ---- */

/* Positions, in gdb's order, of the registers that a stack walk needs. Each register has 8 bytes. */
struct layout {
	uint16_t machine;
	uint8_t pc, sp, frame, link; /* positions of the registers; the link register is NONE on x86_64 */
	uint8_t mode;		     /* index of the 8-byte word that contains the CPU's mode */
};
#define NONE 255u

static const struct layout layouts[] = {
	{ EM_X86_64, 16, 7, 6, NONE, 17 },
	{ EM_AARCH64, 32, 31, 29, 30, 33 },
	{ EM_RISCV, 32, 2, 8, 1, NONE },
};

static const struct layout *layout_of(uint16_t machine)
{
	for (size_t n = 0; n < sizeof(layouts) / sizeof(layouts[0]); n++)
		if (layouts[n].machine == machine)
			return &layouts[n];
	return NULL;
}

static uint64_t word_at(const unsigned char *bytes)
{
	uint64_t word = 0;

	for (unsigned n = 8; n-- > 0;)
		word = word << 8 | bytes[n];
	return word;
}

/*
 * Returns whether the CPU is in user mode. On x86_64, `word` contains the flags and then CS, 4 bytes each; on
 * AArch64, it contains PSTATE.
 */
static bool is_user(uint16_t machine, uint64_t word)
{
	return machine == EM_X86_64 ? (word >> 32 & 3) == 3 : (word & 0xf) == 0;
}

bool profile_registers_read(struct stack_registers *registers, uint16_t machine, const unsigned char *bytes,
			    size_t size)
{
	const struct layout *layout = layout_of(machine);
	const size_t words = layout && layout->mode != NONE ? layout->mode : 33u;

	*registers = (struct stack_registers){ 0 };
	/* the word with the mode may be the last one; on AArch64, it has only 4 bytes */
	if (!layout || size < words * 8 + (layout->mode == NONE ? 0 : machine == EM_X86_64 ? 8u : 4u))
		return false;
	registers->pc = word_at(bytes + layout->pc * 8u);
	registers->sp = word_at(bytes + layout->sp * 8u);
	registers->frame = word_at(bytes + layout->frame * 8u);
	if (layout->link != NONE)
		registers->link = word_at(bytes + layout->link * 8u);
	if (layout->mode != NONE) {
		unsigned char mode[8] = { 0 };

		memcpy(mode, bytes + layout->mode * 8u, machine == EM_X86_64 ? 8 : 4);
		registers->user = is_user(machine, word_at(mode));
	}
	return true;
}

bool profile_is_waiting(uint16_t machine, const unsigned char bytes[PROFILE_CODE])
{
	static const unsigned char wfi_aarch64[4] = { 0x7f, 0x20, 0x03, 0xd5 },
				   wfi_riscv[4] = { 0x73, 0x00, 0x50, 0x10 };

	return machine == EM_X86_64    ? bytes[PROFILE_CODE - 1] == 0xf4
	       : machine == EM_AARCH64 ? memcmp(bytes + PROFILE_CODE - 4, wfi_aarch64, 4) == 0
	       : machine == EM_RISCV   ? memcmp(bytes + PROFILE_CODE - 4, wfi_riscv, 4) == 0
				       : false;
}

uint64_t profile_called(uint64_t back, const unsigned char bytes[PROFILE_CODE])
{
	const unsigned char *call = bytes + PROFILE_CODE - 5;
	const uint32_t far = (uint32_t)(word_at(bytes) >> 32);

	if (call[0] != 0xe8) /* call with a distance of 32 bits, which is signed */
		return 0;
	return back + ((uint64_t)far | (far >> 31 ? UINT64_C(0xffffffff00000000) : 0));
}

bool profile_cpu_take_top(struct profile_cpu *cpu, uint64_t address, const unsigned char *bytes, size_t size)
{
	const uint64_t sp = cpu->registers.sp;

	if (sp < address || size < 8 || sp - address > size - 8)
		return false;
	cpu->caller = word_at(bytes + (sp - address));
	return true;
}

/* ---- Functions of the kernel ---- */

struct function {
	uint64_t address, size;
	const char *name; /* name of the function; `symbols` owns the string */
};

struct profile_names {
	struct symbols *symbols;
	struct function *function; /* the functions, sorted by address */
	uint32_t count, room;
	bool failed;
};

static void add(void *context, const char *name, uint64_t address, uint64_t size)
{
	struct profile_names *names = context;
	struct function *grown;

	/* leaves out mapping symbols of AArch64 and RISC-V, such as $x */
	if (names->count == PROFILE_NAMES_MOST || names->failed || !*name || *name == '$')
		return;
	grown = base_grow(names->function, &names->room, names->count + 1u, sizeof(*grown));
	if (!grown) {
		names->failed = true;
		return;
	}
	names->function = grown;
	grown[names->count++] = (struct function){ address, size, name };
}

static int compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	/*
	 * if an address has several names, the last name in the array is used, so a name with a size comes
	 * last
	 */
	if ((a->size != 0) != (b->size != 0))
		return a->size ? 1 : -1;
	return -strcmp(a->name, b->name);
}

int profile_names_open(struct profile_names **opened, const char *path, uint16_t machine, const char **why)
{
	const struct ktread_info info = { .machine = machine };
	struct profile_names *names = calloc(1, sizeof(*names));

	*opened = NULL;
	*why = "out of memory";
	if (!names)
		return -1;
	if (symbols_open(&names->symbols, path, &info) < 0) {
		*why = symbols_message();
		free(names);
		return -1;
	}
	symbols_each(names->symbols, add, names);
	if (names->failed) {
		profile_names_close(names);
		return -1;
	}
	if (names->count)
		qsort(names->function, names->count, sizeof(*names->function), compare);
	*opened = names;
	return 0;
}

void profile_names_close(struct profile_names *names)
{
	if (!names)
		return;
	symbols_close(names->symbols);
	free(names->function);
	free(names);
}

static uint32_t profile_names_count(const struct profile_names *names)
{
	return names ? names->count : 0;
}

uint32_t profile_names_find(const struct profile_names *names, uint64_t address)
{
	uint32_t low = 0, high = profile_names_count(names);
	const struct function *function;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (names->function[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return PROFILE_NO_NAME;
	function = &names->function[low - 1];
	/* A function without a size ends at the next function, or at the end of the kernel. */
	if (function->size ? address - function->address >= function->size
			   : !symbols_has_code(names->symbols, address))
		return PROFILE_NO_NAME;
	return low - 1;
}

uint64_t profile_names_address(const struct profile_names *names, uint32_t n)
{
	return n < profile_names_count(names) ? names->function[n].address : 0;
}

const char *profile_names_at(const struct profile_names *names, uint32_t n)
{
	return n < profile_names_count(names) ? demangled(names->function[n].name) : "";
}

const struct symbols_frame *profile_names_frame(void *context, uint64_t address)
{
	const struct profile_names *names = context;

	return names ? symbols_frame(names->symbols, address) : NULL;
}
