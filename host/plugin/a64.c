/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Decodes A64 branches (Arm Architecture Reference Manual, C4.1, "Branches, Exception Generating and System
 * instructions").
 */
#include "code.h"

#include "ktrx/hwt_unit.h"

#define SIZE 4u

static uint32_t word_of(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

int a64_marker(const unsigned char *bytes, size_t size)
{
	return size == SIZE && word_of(bytes) == KTRX_HWT_UNIT_NOP_AARCH64;
}

/*
 * Classifies an instruction by its bits 28:25. Returns nonzero if it can fault or is special: loads, stores,
 * system instructions, instructions that generate exceptions, and unallocated encodings. Returns nonzero for
 * floating point, SIMD and SVE, too, because a kernel may have disabled them.
 */
int a64_faults(const unsigned char *bytes, size_t size)
{
	uint32_t word, group;

	if (size != SIZE)
		return 1;
	word = word_of(bytes);
	group = word >> 25 & 0xf;
	/*
	 * groups 0xa and 0xb: branches, system instructions, instructions that generate exceptions; groups 8
	 * and 9 are data processing with an immediate, which cannot fault
	 */
	if (group == 0xa || group == 0xb)
		return word >> 24 == 0xd4 || word >> 22 == 0x354;
	return group < 4 || (group & 5) == 4 || (group & 7) == 7;
}

unsigned a64_vector(uint64_t handler)
{
	return handler >> 7 & 3;
}

int a64_between(uint64_t handler)
{
	return a64_vector(handler) != 0;
}

/*
 * The table of handlers is 2 KiB long, and its address is a multiple of 2 KiB. It has 16 entries of 0x80
 * bytes each.
 */
uint64_t a64_vectors(const struct block *block, const unsigned char *bytes, size_t size)
{
	(void)bytes, (void)size;
	return block->start % 0x80 == 0 ? block->start & ~UINT64_C(0x7ff) : 0;
}

/*
 * Returns the target of a direct branch at `address`. Bits [low + bits - 1:low] of `word` are the distance: a
 * signed number of instructions.
 */
static uint64_t target_of(uint64_t address, uint32_t word, unsigned low, unsigned bits)
{
	int32_t offset = (int32_t)(word << (32 - low - bits)) >> (32 - bits);

	return address + (uint64_t)((int64_t)offset * (int64_t)SIZE);
}

/* Decodes bits 24:21 of BR, BLR, RET, ERET and DRPS, including their forms with pointer authentication. */
static uint8_t indirect_end(uint32_t word)
{
	switch (word >> 21 & 0xf) {
	case 0x1:
	case 0x9:
		return END_INDIRECT_CALL;
	case 0x2:
		return END_RETURN;
	case 0x4:
	case 0x5:
		return END_LEAVE;
	default:
		return END_INDIRECT;
	}
}

void a64_classify(struct block *block, const unsigned char *bytes, size_t size)
{
	uint32_t word = size == SIZE ? word_of(bytes) : 0;

	block->reported = 1;
	block->target = block->next;
	if ((word & 0x7c000000u) == 0x14000000u) {
		block->end = word >> 31 ? END_CALL : END_JUMP;
		block->target = target_of(block->last, word, 0, 26);
	} else if ((word & 0xff000000u) == 0x54000000u || (word & 0x7e000000u) == 0x34000000u) {
		block->end = END_CONDITIONAL;
		block->target = target_of(block->last, word, 5, 19);
	} else if ((word & 0x7e000000u) == 0x36000000u) {
		block->end = END_CONDITIONAL;
		block->target = target_of(block->last, word, 5, 14);
	} else if ((word & 0xfe000000u) == 0xd6000000u) {
		block->end = indirect_end(word);
	} else if ((word & 0xffe0001cu) == 0xd4000000u && (word & 3) != 0) { /* SVC HVC SMC */
		block->end = END_ENTER;
	} else {
		block->end = END_NEXT;
		/* ISB is a waypoint of ETMv4: the trace contains an atom for it, as for a branch. */
		block->reported = (word & 0xfffff0ffu) == 0xd50330dfu;
	}
}

uint8_t a64_modes(const unsigned char *bytes, size_t size, uint64_t address)
{
	(void)bytes;
	return size == SIZE && address % SIZE == 0 ? A64_MODE : 0;
}

uint8_t a64_mode(uint8_t mode, uint8_t modes)
{
	(void)mode;
	return modes & A64_MODE;
}
