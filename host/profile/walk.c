/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "profile/walk.h"

#include <elf.h>
#include <string.h>

#define PAGE	   4096u
#define FRAME	   16u /* size of a frame in bytes: the caller's frame pointer, then the return address */
#define UPPER_HALF (UINT64_C(1) << 63)
/*
 * largest number of times that a walk may continue at a lower address, for example from a handler's stack to
 * the interrupted stack
 */
#define MOST_SWITCHES 2u
#define LEAF_REACH    (UINT64_C(64) << 10)

/* Positions, in gdb's order of registers, of the registers that a walk needs. Each register takes 8 bytes. */
struct layout {
	uint16_t machine;
	uint8_t pc, sp, frame, link; /* indices of the registers; the link register is NONE on x86_64 */
	uint8_t mode;		     /* index of the word that holds the CPU's mode */
	/* the frame pointer points to an address this number of bytes above the stored frame pointer */
	uint8_t below;
};
#define NONE 255u

static const struct layout layouts[] = {
	{ EM_X86_64, 16, 7, 6, NONE, 17, 0 },
	{ EM_AARCH64, 32, 31, 29, 30, 33, 0 },
	{ EM_RISCV, 32, 2, 8, 1, NONE, 16 },
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
 * Returns whether the CPU is in user mode. `word` has, on x86_64, the flags and then CS, 4 bytes each; on
 * AArch64, PSTATE.
 */
static bool is_user(uint16_t machine, uint64_t word)
{
	return machine == EM_X86_64 ? (word >> 32 & 3) == 3 : (word & 0xf) == 0;
}

bool profile_registers_read(struct profile_registers *registers, uint16_t machine, const unsigned char *bytes,
			    size_t size)
{
	const struct layout *layout = layout_of(machine);
	const size_t words = layout && layout->mode != NONE ? layout->mode : 33u;

	*registers = (struct profile_registers){ 0 };
	/* the word with the mode may be the last one, and has only 4 bytes on AArch64 */
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

static void finish(struct profile_walk *walk, enum profile_end end)
{
	walk->done = true;
	walk->end = end;
}

/* Ends the walk if there is no usable frame at walk->frame. */
static void check_frame(struct profile_walk *walk)
{
	const struct layout *layout = layout_of(walk->machine);

	/* A program has entered a kernel in the upper half, and its frame pointer is in the lower half. */
	if (walk->frame == 0 || (walk->high && walk->frame < UPPER_HALF))
		finish(walk, PROFILE_END_WHOLE);
	else if (walk->frame % 8 || walk->frame <= layout->below || walk->frame > UINT64_MAX - PAGE)
		finish(walk, PROFILE_END_BROKEN);
	else if (walk->places == PROFILE_PLACES)
		finish(walk, PROFILE_END_DEEP);
}

void profile_walk_begin(struct profile_walk *walk, uint16_t machine,
			const struct profile_registers *registers)
{
	*walk = (struct profile_walk){ .machine = machine,
				       .place = { registers->pc },
				       .places = 1,
				       .frame = registers->frame,
				       .link = registers->link,
				       .high = registers->pc >= UPPER_HALF };
	if (layout_of(machine) && !registers->user)
		check_frame(walk);
	else
		finish(walk, PROFILE_END_WHOLE);
}

bool profile_walk_wants(const struct profile_walk *walk, uint64_t *address, size_t *size)
{
	size_t left;

	if (walk->done)
		return false;
	*address = walk->frame - layout_of(walk->machine)->below;
	left = PAGE - (size_t)(*address % PAGE);
	*size = left < FRAME ? FRAME : left < PROFILE_WINDOW ? left : PROFILE_WINDOW;
	return true;
}

/*
 * Returns whether this is the frame of a leaf function on RISC-V, which stores its caller's frame pointer
 * where other functions store the return address.
 */
static bool is_leaf(const struct profile_walk *walk, uint64_t stored)
{
	return walk->machine == EM_RISCV && walk->places == 1 && stored > walk->frame &&
	       stored - walk->frame < LEAF_REACH && stored % 8 == 0;
}

/* Adds the frame from which `caller` and `back` were read, and continues with the frame of the caller. */
static void take_frame(struct profile_walk *walk, uint64_t caller, uint64_t back)
{
	if (is_leaf(walk, back)) {
		caller = back;
		back = walk->link;
	}
	if (back == 0 || (walk->high && back < UPPER_HALF)) {
		finish(walk, PROFILE_END_WHOLE);
		return;
	}
	walk->place[walk->places++] = back;
	if (caller && caller <= walk->frame && (caller == walk->frame || ++walk->switches > MOST_SWITCHES)) {
		finish(walk, PROFILE_END_BROKEN);
		return;
	}
	walk->frame = caller;
	check_frame(walk);
}

void profile_walk_put(struct profile_walk *walk, uint64_t address, const unsigned char *bytes, size_t size)
{
	uint64_t wanted;
	size_t least;

	if (size < FRAME && !walk->done)
		finish(walk, PROFILE_END_UNREADABLE);
	while (profile_walk_wants(walk, &wanted, &least) && wanted >= address &&
	       wanted - address <= size - FRAME)
		take_frame(walk, word_at(bytes + (wanted - address)),
			   word_at(bytes + (wanted - address) + 8));
}
