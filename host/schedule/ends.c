/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "frames.h"

#include <string.h>

#include "plugin/code.h"

static uint32_t word_of(const unsigned char *bytes, size_t size)
{
	uint32_t word = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;

	return size == 4 ? word | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24 : word;
}

/* Sets the target of a block that ends in a direct branch. */
static void aim(struct frames_code *code, enum block_end end, int64_t distance)
{
	code->end = (uint8_t)end;
	code->target = code->last + (uint64_t)distance;
}

static void returns_through(struct frames_code *code, uint32_t reg)
{
	code->end = END_RETURN;
	code->reg = (uint8_t)reg;
}

/* ---- x86_64 and AArch64: the decoders of the trace unit ------------------------------------------ */

static struct block block_of(const struct frames_code *code)
{
	return (struct block){ .start = code->start, .last = code->last, .next = code->next };
}

static void take(struct frames_code *code, const struct block *block)
{
	code->end = block->end;
	code->target = block->target;
}

/* Returns whether an instruction returns from an exception or a system call; far returns and jumps do not. */
static bool leaves_x86(const unsigned char *bytes, size_t size)
{
	const unsigned char last = bytes[size - 1];

	return (size >= 2 && bytes[size - 2] == 0x0f && (last == 0x07 || last == 0x35 || last == 0xaa)) ||
	       (size <= 2 && last == 0xcf);
}

static void classify_x86(struct frames_code *code, const unsigned char *bytes, size_t size)
{
	struct block block = block_of(code);

	block.modes = X86_MODE_64;
	x86_classify(&block, bytes, size);
	take(code, &block);
	if (code->end == END_LEAVE && !leaves_x86(bytes, size))
		code->end = END_INDIRECT;
	code->reg = FRAMES_LINK;
}

#define A64_LINK 30u

static void classify_a64(struct frames_code *code, const unsigned char *bytes, size_t size)
{
	struct block block = block_of(code);
	const uint32_t word = size == 4 ? word_of(bytes, size) : 0;
	const uint32_t reg = word >> 5 & 0x1f;

	a64_classify(&block, bytes, size);
	take(code, &block);
	/* RETAA and RETAB have 31 in this field, and use the link register */
	code->reg = (uint8_t)(code->end == END_RETURN && reg != 31 ? reg : A64_LINK);
}

/*
 * Returns whether the instruction is LDP (`load`) or STP, or LDR or STR, of 64-bit registers, one of which is
 * `reg`. Offsets and kinds of indexing do not matter.
 */
static enum ends_part moves_a64(const unsigned char *bytes, size_t size, uint32_t load, uint32_t reg)
{
	const uint32_t word = size == 4 ? word_of(bytes, size) : 0;

	if ((word & 0xfe000000u) == 0xa8000000u && (word >> 22 & 1) == load) {
		if ((word & 0x1f) == reg)
			return ENDS_FIRST;
		return (word >> 10 & 0x1f) == reg ? ENDS_SECOND : ENDS_NONE;
	}
	return ((word & 0xffc00000u) == (load ? 0xf9400000u : 0xf9000000u) ||
		(word & 0xffe00000u) == (load ? 0xf8400000u : 0xf8000000u)) &&
			       (word & 0x1f) == reg
		       ? ENDS_ALL
		       : ENDS_NONE;
}

static enum ends_part saves_a64(const unsigned char *bytes, size_t size)
{
	return moves_a64(bytes, size, 0, A64_LINK);
}

static enum ends_part loads_a64(const unsigned char *bytes, size_t size, uint8_t reg)
{
	return moves_a64(bytes, size, 1, reg);
}

/* ---- RISC-V (Instruction Set Manual, volume I, "RV32/64G Instruction Set Listings", "C") ----- */

#define RISCV_LINK	1u
#define RISCV_ALTERNATE 5u /* t0, the other register for return addresses that calls may use */

static bool is_link(uint32_t reg)
{
	return reg == RISCV_LINK || reg == RISCV_ALTERNATE;
}

/* Moves bits of an instruction to their positions in its immediate value. */
static uint32_t bits(uint32_t word, unsigned from, unsigned count, unsigned to)
{
	return (word >> from & ((1u << count) - 1)) << to;
}

static int64_t extend(uint32_t value, unsigned size)
{
	return (int64_t)((uint64_t)value << (64 - size)) >> (64 - size);
}

static void jump_to_register(struct frames_code *code, uint32_t rd, uint32_t rs)
{
	if (is_link(rd))
		code->end = END_INDIRECT_CALL;
	else if (rd == 0 && is_link(rs))
		returns_through(code, rs);
	else
		code->end = END_INDIRECT;
}

static void classify_compressed(struct frames_code *code, uint32_t word)
{
	const uint32_t kind = (word & 3) << 3 | word >> 13, rs = word >> 7 & 0x1f, rs2 = word >> 2 & 0x1f;

	switch (kind) {
	case 0xd: /* c.j */
		aim(code, END_JUMP,
		    extend(bits(word, 3, 3, 1) | bits(word, 11, 1, 4) | bits(word, 2, 1, 5) |
				   bits(word, 7, 1, 6) | bits(word, 6, 1, 7) | bits(word, 9, 2, 8) |
				   bits(word, 8, 1, 10) | bits(word, 12, 1, 11),
			   12));
		break;
	case 0xe: /* c.beqz, c.bnez */
	case 0xf:
		aim(code, END_CONDITIONAL,
		    extend(bits(word, 3, 2, 1) | bits(word, 10, 2, 3) | bits(word, 2, 1, 5) |
				   bits(word, 5, 2, 6) | bits(word, 12, 1, 8),
			   9));
		break;
	case 0x14: /* c.jr, c.jalr, c.ebreak; with rs2: c.mv, c.add */
		if (rs2 != 0)
			break;
		if (rs == 0)
			code->end = END_ENTER;
		else
			jump_to_register(code, word >> 12 & 1, rs);
		break;
	default:
		break;
	}
}

static void classify_system(struct frames_code *code, uint32_t word)
{
	if (word == 0x00000073 || word == 0x00100073) /* ecall, ebreak */
		code->end = END_ENTER;
	else if (word == 0x10200073 || word == 0x30200073) /* sret, mret */
		code->end = END_LEAVE;
}

static void classify_riscv(struct frames_code *code, const unsigned char *bytes, size_t size)
{
	const uint32_t word = word_of(bytes, size), rd = word >> 7 & 0x1f, rs = word >> 15 & 0x1f;

	code->end = END_NEXT;
	code->target = code->next;
	code->reg = RISCV_LINK;
	if (size == 2) {
		classify_compressed(code, word);
		return;
	}
	switch (word & 0x7f) {
	case 0x6f: /* jal */
		aim(code, is_link(rd) ? END_CALL : END_JUMP,
		    extend(bits(word, 21, 10, 1) | bits(word, 20, 1, 11) | bits(word, 12, 8, 12) |
				   bits(word, 31, 1, 20),
			   21));
		break;
	case 0x67: /* jalr */
		jump_to_register(code, rd, rs);
		break;
	case 0x63: /* conditional branches */
		aim(code, END_CONDITIONAL,
		    extend(bits(word, 8, 4, 1) | bits(word, 25, 6, 5) | bits(word, 7, 1, 11) |
				   bits(word, 31, 1, 12),
			   13));
		break;
	case 0x73:
		classify_system(code, word);
		break;
	default:
		break;
	}
}

static enum ends_part saves_riscv(const unsigned char *bytes, size_t size)
{
	const uint32_t word = word_of(bytes, size);
	const bool saves = size == 2 /* c.sdsp */
				   ? (word & 0xe003) == 0xe002 && (word >> 2 & 0x1f) == RISCV_LINK
				   : (word & 0x707f) == 0x3023 && (word >> 20 & 0x1f) == RISCV_LINK;

	return saves ? ENDS_ALL : ENDS_NONE;
}

static enum ends_part loads_riscv(const unsigned char *bytes, size_t size, uint8_t reg)
{
	const uint32_t word = word_of(bytes, size);
	/* c.ldsp; c.ld cannot load the registers that contain return addresses */
	const bool loads = size == 2 ? (word & 0xe003) == 0x6002 && (word >> 7 & 0x1f) == reg
				     : (word & 0x707f) == 0x3003 && (word >> 7 & 0x1f) == reg;

	return loads ? ENDS_ALL : ENDS_NONE;
}

const struct ends *ends_find(const char *target)
{
	static const struct ends known[] = {
		{ "x86_64", FRAMES_LINK, classify_x86, NULL, NULL },
		{ "aarch64", A64_LINK, classify_a64, saves_a64, loads_a64 },
		{ "riscv64", RISCV_LINK, classify_riscv, saves_riscv, loads_riscv },
	};

	for (size_t n = 0; n < sizeof(known) / sizeof(known[0]); n++)
		if (strcmp(known[n].target, target) == 0)
			return &known[n];
	return NULL;
}
