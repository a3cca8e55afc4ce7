/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "pt.h"

#include <stdbool.h>

#include "hwt.h"

/* An instruction that is being taken apart. */
struct taken {
	const unsigned char *bytes;
	size_t size, at;
	unsigned bits;
	bool narrow; /* the operand's size was changed */
	bool other;  /* the address's was */
};

static int next(struct taken *taken)
{
	return taken->at < taken->size ? taken->bytes[taken->at++] : -1;
}

/* The opcode's first byte, behind all prefixes. */
static int opcode(struct taken *taken)
{
	for (;;) {
		const int byte = next(taken);

		switch (byte) {
		case 0x66:
			taken->narrow = true;
			break;
		case 0x67:
			taken->other = true;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0xf0:
		case 0xf2:
		case 0xf3:
			break;
		default:
			if (taken->bits == 64 && byte >= 0x40 && byte <= 0x4f)
				break;
			return byte;
		}
	}
}

/* Bytes of a near branch's displacement; in 64-bit code there are no others. */
static unsigned displacement(const struct taken *taken)
{
	if (taken->bits == 64)
		return 4;
	return (taken->bits == 16) != taken->narrow ? 2 : 4;
}

/* Steps over what a ModR/M byte asks for; its middle field, or -1. */
static int operand(struct taken *taken)
{
	const int modrm = next(taken);
	const bool short_form = taken->bits != 64 && (taken->bits == 16) != taken->other;
	const int mod = modrm >> 6, rm = modrm & 7;

	if (modrm < 0)
		return -1;
	if (mod != 3 && short_form) {
		taken->at += mod == 1 ? 1 : mod == 2 || rm == 6 ? 2 : 0;
	} else if (mod != 3) {
		const int sib = rm == 4 ? next(taken) : 0;

		if (sib < 0)
			return -1;
		taken->at += mod == 1 ? 1 : mod == 2 || (rm == 4 ? (sib & 7) == 5 : rm == 5) ? 4 : 0;
	}
	return modrm >> 3 & 7;
}

static struct pt_branch done(const struct taken *taken, uint8_t kind, unsigned more)
{
	const size_t length = taken->at + more;

	if (length > taken->size)
		return (struct pt_branch){ kind, 0 };
	return (struct pt_branch){ kind, (uint8_t)length };
}

static struct pt_branch two_bytes(struct taken *taken)
{
	const int byte = next(taken);

	if (byte >= 0x80 && byte <= 0x8f)
		return done(taken, HWT_BRANCH_CONDITIONAL, displacement(taken));
	switch (byte) {
	case 0x05: /* syscall, sysenter */
	case 0x34:
		return done(taken, HWT_BRANCH_ENTER_KERNEL, 0);
	case 0x07: /* sysret, sysexit */
	case 0x35:
		return done(taken, HWT_BRANCH_LEAVE_KERNEL, 0);
	default:
		return (struct pt_branch){ HWT_BRANCH_NONE, 0 };
	}
}

static struct pt_branch indirect(struct taken *taken)
{
	switch (operand(taken)) {
	case 2:
		return done(taken, HWT_BRANCH_INDIRECT_CALL, 0);
	case 3:
		return done(taken, HWT_BRANCH_ENTER_KERNEL, 0);
	case 4:
	case 5:
		return done(taken, HWT_BRANCH_INDIRECT, 0);
	default:
		return (struct pt_branch){ HWT_BRANCH_NONE, 0 };
	}
}

struct pt_branch pt_branch_of(const unsigned char *bytes, size_t size, unsigned bits)
{
	struct taken taken = { .bytes = bytes, .size = size, .bits = bits };
	const int byte = opcode(&taken);

	if ((byte >= 0x70 && byte <= 0x7f) || (byte >= 0xe0 && byte <= 0xe3))
		return done(&taken, HWT_BRANCH_CONDITIONAL, 1);
	switch (byte) {
	case 0x0f:
		return two_bytes(&taken);
	case 0x9a: /* a far call, and a far jump */
		return done(&taken, HWT_BRANCH_ENTER_KERNEL, displacement(&taken) + 2);
	case 0xea:
		return done(&taken, HWT_BRANCH_JUMP, displacement(&taken) + 2);
	case 0xc2:
		return done(&taken, HWT_BRANCH_RETURN, 2);
	case 0xc3:
		return done(&taken, HWT_BRANCH_RETURN, 0);
	case 0xca: /* a far return */
		return done(&taken, HWT_BRANCH_LEAVE_KERNEL, 2);
	case 0xcb: /* the same, and iret */
	case 0xcf:
		return done(&taken, HWT_BRANCH_LEAVE_KERNEL, 0);
	case 0xcc: /* int3, into, int1 */
	case 0xce:
	case 0xf1:
		return done(&taken, HWT_BRANCH_ENTER_KERNEL, 0);
	case 0xcd:
		return done(&taken, HWT_BRANCH_ENTER_KERNEL, 1);
	case 0xe8:
		return done(&taken, HWT_BRANCH_CALL, displacement(&taken));
	case 0xe9:
		return done(&taken, HWT_BRANCH_JUMP, displacement(&taken));
	case 0xeb:
		return done(&taken, HWT_BRANCH_JUMP, 1);
	case 0xff:
		return indirect(&taken);
	default:
		return (struct pt_branch){ HWT_BRANCH_NONE, 0 };
	}
}
