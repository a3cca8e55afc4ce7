/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Decodes x86 instructions, as far as the trace unit needs it. */
#include <string.h>

#include "code.h"

/* An instruction. Of its prefixes, only f2 and f3 are stored, in `repeat`. */
struct opcode {
	/* `byte`: first byte of the opcode. `second`: the second byte if `byte` is 0f; otherwise 0. */
	unsigned char byte, second;
	unsigned char modrm; /* the byte after the opcode, which may be a ModRM byte; 0 if there is none */
	uint8_t two;	     /* nonzero if the opcode has two bytes: 0f and `second` */
	uint8_t repeat;	     /* nonzero if there is a prefix f2 or f3 */
	size_t operands;     /* number of bytes after the opcode */
	const unsigned char *operand;
};

static int is_prefix(unsigned char byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return 1;
	default:
		return 0;
	}
}

/*
 * Decodes the opcode of an instruction. Requires: after the prefixes, the instruction has at least one byte.
 */
static struct opcode read_opcode(const unsigned char *bytes, size_t size)
{
	struct opcode op = { 0 };
	size_t i = 0;

	for (; i + 1 < size && is_prefix(bytes[i]); i++)
		op.repeat |= bytes[i] == 0xf2 || bytes[i] == 0xf3;
	if (i + 1 < size && (bytes[i] & 0xf0) == 0x40)
		i++;
	op.byte = bytes[i++];
	op.two = op.byte == 0x0f && i < size;
	if (op.two)
		op.second = bytes[i++];
	op.operand = bytes + i;
	op.operands = size - i;
	op.modrm = op.operands > 0 ? *op.operand : 0;
	return op;
}

int x86_marker(const unsigned char *bytes, size_t size)
{
	static const unsigned char marker[] = { 0x0f, 0x1f, 0x80, 0x55, 0x52, 0x54, 0x4b };

	return size == sizeof(marker) && memcmp(bytes, marker, size) == 0;
}

/*
 * Returns true for one-byte opcodes that access memory only if their ModRM byte selects it: arithmetic, mov
 * and the like.
 */
static int only_modrm(unsigned char byte)
{
	return (byte < 0x40 && (byte & 7) < 4) || (byte >= 0x80 && byte <= 0x8b) || byte == 0x63 ||
	       byte == 0x69 || byte == 0x6b || (byte >= 0xc0 && byte <= 0xc1) ||
	       (byte >= 0xc6 && byte <= 0xc7) || (byte >= 0xd0 && byte <= 0xd3);
}

/*
 * Returns true for two-byte opcodes that access memory only if their ModRM byte selects it: setcc, cmovcc,
 * movzx, movsx, imul, bit operations.
 */
static int only_modrm_two(unsigned char byte)
{
	return (byte >= 0x40 && byte <= 0x4f) || (byte >= 0x90 && byte <= 0x9f) || byte == 0xaf ||
	       byte == 0xa3 || byte == 0xab || byte == 0xb3 || (byte >= 0xb6 && byte <= 0xb8) ||
	       (byte >= 0xba && byte <= 0xbf);
}

/*
 * Returns true for instructions that cannot fault, because they have no memory access, need no privilege and
 * do not divide. Examples: moves of immediates, arithmetic with the accumulator and an immediate, direct
 * jumps. Also returns true for hlt: it faults only in user mode, and an interrupt comes after it.
 */
static int never_faults(const struct opcode *op)
{
	unsigned char byte = op->byte;

	if (op->two)
		return (op->second >= 0x80 && op->second <= 0x8f) || op->second == 0x1e ||
		       op->second == 0x1f || op->second == 0xa2 || op->second == 0x31;
	return (byte < 0x40 && ((byte & 7) == 4 || (byte & 7) == 5)) || (byte >= 0x40 && byte <= 0x4f) ||
	       (byte >= 0x70 && byte <= 0x7f) || byte == 0x8d || (byte >= 0x90 && byte <= 0x99) ||
	       byte == 0xa8 || byte == 0xa9 || (byte >= 0xb0 && byte <= 0xbf) ||
	       (byte >= 0xe0 && byte <= 0xe3) || byte == 0xe9 || byte == 0xeb || byte == 0xf4 ||
	       (byte >= 0xf8 && byte <= 0xf9) || byte == 0xfc || byte == 0xfd;
}

int x86_faults(const unsigned char *bytes, size_t size)
{
	struct opcode op = read_opcode(bytes, size);
	int registers = op.operands > 0 && op.modrm >> 6 == 3;

	if (never_faults(&op))
		return 0;
	return !(registers && (op.two ? only_modrm_two(op.second) : only_modrm(op.byte)));
}

static int64_t displacement(const struct opcode *op)
{
	switch (op->operands) {
	case 1:
		return (int8_t)op->operand[0];
	case 2:
		return (int16_t)(op->operand[0] | op->operand[1] << 8);
	case 4:
		return (int32_t)((uint32_t)op->operand[0] | (uint32_t)op->operand[1] << 8 |
				 (uint32_t)op->operand[2] << 16 | (uint32_t)op->operand[3] << 24);
	default:
		return 0;
	}
}

static enum block_end end_of_two(const struct opcode *op)
{
	switch (op->second) {
	case 0x05: /* syscall */
	case 0x34: /* sysenter */
		return END_ENTER;
	case 0x07: /* sysret */
	case 0x35: /* sysexit */
	case 0xaa: /* rsm */
		return END_LEAVE;
	case 0x01: /* vmrun */
		return op->modrm == 0xd8 ? END_LEAVE : END_NEXT;
	default:
		return op->second >= 0x80 && op->second <= 0x8f ? END_CONDITIONAL : END_NEXT;
	}
}

static enum block_end end_of_group5(unsigned char modrm)
{
	switch (modrm >> 3 & 7) {
	case 2:
		return END_INDIRECT_CALL;
	case 3:
		return END_ENTER;
	case 4:
		return END_INDIRECT;
	case 5:
		return END_LEAVE;
	default:
		return END_NEXT;
	}
}

static int is_string(unsigned char byte)
{
	return (byte >= 0x6c && byte <= 0x6f) || (byte >= 0xa4 && byte <= 0xa7) ||
	       (byte >= 0xaa && byte <= 0xaf);
}

static enum block_end end_of(const struct opcode *op)
{
	if (op->two)
		return end_of_two(op);
	if (op->repeat && is_string(op->byte))
		return END_AGAIN;
	if ((op->byte >= 0x70 && op->byte <= 0x7f) || (op->byte >= 0xe0 && op->byte <= 0xe3))
		return END_CONDITIONAL;
	switch (op->byte) {
	case 0xe8:
		return END_CALL;
	case 0xe9:
	case 0xeb:
		return END_JUMP;
	case 0xc2:
	case 0xc3:
		return END_RETURN;
	case 0xcc:
	case 0xcd:
	case 0xce:
	case 0xf1: /* int */
	case 0x9a: /* far call */
		return END_ENTER;
	case 0xca:
	case 0xcb: /* far return */
	case 0xcf: /* iret */
	case 0xea: /* far jump */
		return END_LEAVE;
	case 0xff:
		return end_of_group5(op->modrm);
	default:
		return END_NEXT;
	}
}

int x86_between(uint64_t handler)
{
	(void)handler;
	return 0;
}

void x86_classify(struct block *block, const unsigned char *bytes, size_t size)
{
	struct opcode op = read_opcode(bytes, size);

	block->end = (uint8_t)end_of(&op);
	block->target = block->next;
	if (block->end == END_JUMP || block->end == END_CALL || block->end == END_CONDITIONAL)
		block->target += (uint64_t)displacement(&op);
	if (!(block->modes & X86_MODE_64))
		block->target = (uint32_t)block->target;
	/*
	 * a call to the next instruction only reads the program counter; decoders do not remember it as a
	 * call, so it is not reported
	 */
	block->reported = block->end >= END_CALL && !(block->end == END_CALL && block->target == block->next);
}

/*
 * In some kernels, handlers share code. Each vector has a stub, which pushes the number of the vector and
 * jumps to the common code. So all stubs that jump to the same target belong to one set of handlers.
 */
uint64_t x86_vectors(const struct block *block, const unsigned char *bytes, size_t size)
{
	struct opcode op = read_opcode(bytes, size);

	return block->end == END_JUMP && !op.two && (op.byte == 0x68 || op.byte == 0x6a) ? block->target : 0;
}

/*
 * A byte from 40 to 4f after the other prefixes is a prefix in 64-bit code, where it is never the last byte.
 * In other modes it is an instruction.
 */
uint8_t x86_modes(const unsigned char *bytes, size_t size, uint64_t address)
{
	size_t i = 0;

	if (address >> 32 != 0)
		return X86_MODE_64;
	while (i + 1 < size && is_prefix(bytes[i]))
		i++;
	if ((bytes[i] & 0xf0) != 0x40)
		return X86_MODE_64 | X86_MODE_32;
	return i + 1 < size ? X86_MODE_64 : X86_MODE_32;
}

/*
 * Returns the mode in which a block runs. Tracing begins only at the first block that can run in 64-bit mode
 * only, because firmware and loaders before it run with segments.
 */
uint8_t x86_mode(uint8_t mode, uint8_t modes)
{
	if (mode == 0)
		return modes == X86_MODE_64 ? X86_MODE_64 : 0;
	return modes & X86_MODE_64 ? X86_MODE_64 : X86_MODE_32;
}
