/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Events that libipt reports between instructions, and the decoder of x86 branches. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "ktread/ktread.h"
#include "hwt.h"
#include "pt.h"

/*
 * Returns true if only tracing stopped, and execution continued at the same address. In this case, there was
 * no interrupt.
 */
static bool stops(const struct pt_event *event)
{
	return !event->ip_suppressed && event->variant.async_disabled.at == event->variant.async_disabled.ip;
}

/* Returns the number of steps that are made from an event. */
static unsigned parts_of(const struct pt_event *event)
{
	switch (event->type) {
	case ptev_async_branch:
	case ptev_paging:
	case ptev_async_paging:
	case ptev_overflow:
	case ptev_stop:
	case ptev_exstop:
	case ptev_mwait:
	case ptev_pwre:
	case ptev_pwrx:
	case ptev_ptwrite:
	case ptev_mnt:
		return 1;
	case ptev_async_disabled:
		return stops(event) ? 1 : 2;
	case ptev_enabled: /* libipt 2.1 also repeats at each PSB whether tracing is enabled */
	case ptev_disabled:
	case ptev_tsx:
	case ptev_vmcs:
	case ptev_async_vmcs:
		return event->status_update ? 0 : 1;
	default:
		/*
		 * no steps are made from events about modes or times, because each run contains the mode and
		 * each step the time
		 */
		return 0;
	}
}

int pt_decoder_take_event(struct pt_decoder *decoder)
{
	struct pt_event *event = &decoder->event;

	decoder->status = pt_blk_event(decoder->block_decoder, event, sizeof(*event));
	if (decoder->status < 0)
		return 0;
	if (event->has_tsc && !pt_decoder_set_time(decoder, event->tsc))
		return KTREAD_E_MEMORY;
	decoder->event_parts = parts_of(event);
	return decoder->event_parts != 0;
}

bool pt_decoder_event_follows(const struct pt_decoder *decoder, uint64_t *next)
{
	const struct pt_event *event = &decoder->event;

	switch (event->type) {
	case ptev_disabled:
		*next = event->variant.disabled.ip;
		return !event->ip_suppressed;
	case ptev_async_disabled:
		*next = event->variant.async_disabled.at;
		return true;
	case ptev_async_branch:
		*next = event->variant.async_branch.from;
		return true;
	case ptev_async_paging:
		*next = event->variant.async_paging.ip;
		return !event->ip_suppressed;
	default:
		return false;
	}
}

static void set_address(const struct pt_decoder *decoder, struct hwt_step *step, uint64_t address)
{
	step->has_address = !decoder->event.ip_suppressed;
	step->address = step->has_address ? address : 0;
}

static void set_to(const struct pt_decoder *decoder, struct hwt_step *step, uint64_t to)
{
	step->has_to = !decoder->event.ip_suppressed;
	step->to = step->has_to ? to : 0;
}

/* If the event has an address, sets the address of the HWT_NOTE step that is made from the event. */
static void set_note_address(const struct pt_decoder *decoder, struct hwt_step *step)
{
	const struct pt_event *event = &decoder->event;

	switch (event->type) {
	case ptev_exstop:
		set_address(decoder, step, event->variant.exstop.ip);
		break;
	case ptev_mwait:
		set_address(decoder, step, event->variant.mwait.ip);
		break;
	case ptev_ptwrite:
		set_address(decoder, step, event->variant.ptwrite.ip);
		break;
	case ptev_tsx:
		set_address(decoder, step, event->variant.tsx.ip);
		break;
	case ptev_async_vmcs:
		set_address(decoder, step, event->variant.async_vmcs.ip);
		break;
	default:
		break;
	}
}

static void note(struct pt_decoder *decoder, struct hwt_step *step)
{
	const struct pt_event *event = &decoder->event;
	char *text = decoder->text;
	const size_t size = sizeof(decoder->text);

	switch (event->type) {
	case ptev_stop:
		snprintf(text, size, "trace stopped");
		break;
	case ptev_exstop:
		snprintf(text, size, "execution stopped");
		break;
	case ptev_mwait:
		snprintf(text, size, "mwait: hints %#" PRIx32 " extensions %#" PRIx32,
			 event->variant.mwait.hints, event->variant.mwait.ext);
		break;
	case ptev_pwre:
		snprintf(text, size, "power state C%u.%u entered%s", pt_c_state(event->variant.pwre.state),
			 pt_c_state(event->variant.pwre.sub_state),
			 event->variant.pwre.hw ? " by hardware" : "");
		break;
	case ptev_pwrx:
		snprintf(text, size, "power state left: C%u, at deepest C%u%s",
			 pt_c_state(event->variant.pwrx.last), pt_c_state(event->variant.pwrx.deepest),
			 pt_wake_words(event->variant.pwrx.interrupt, event->variant.pwrx.store,
				       event->variant.pwrx.autonomous));
		break;
	case ptev_ptwrite:
		snprintf(text, size, "ptwrite %#" PRIx64, event->variant.ptwrite.payload);
		break;
	case ptev_tsx:
		snprintf(text, size, "transaction %s",
			 event->variant.tsx.aborted	  ? "aborted"
			 : event->variant.tsx.speculative ? "begun"
							  : "ended");
		break;
	case ptev_vmcs:
	case ptev_async_vmcs:
		snprintf(text, size, "VMCS %#" PRIx64,
			 event->type == ptev_vmcs ? event->variant.vmcs.base
						  : event->variant.async_vmcs.base);
		break;
	default:
		snprintf(text, size, "maintenance packet %#" PRIx64, event->variant.mnt.payload);
		break;
	}
	step->kind = HWT_NOTE;
	step->text = text;
	set_note_address(decoder, step);
}

static void change_space(struct pt_decoder *decoder, struct hwt_step *step, uint64_t space)
{
	step->kind = HWT_SPACE;
	decoder->now.space = step->space = space;
}

void pt_decoder_event(struct pt_decoder *decoder, struct hwt_step *step)
{
	const struct pt_event *event = &decoder->event;

	pt_decoder_begin_step(decoder, step, HWT_NOTE);
	decoder->event_parts--;
	switch (event->type) {
	case ptev_enabled:
		step->kind = HWT_ON;
		set_address(decoder, step, event->variant.enabled.ip);
		/* if a gap follows directly, its text refers to this address */
		decoder->last = event->variant.enabled.ip;
		break;
	case ptev_disabled:
		step->kind = HWT_OFF;
		set_address(decoder, step, event->variant.disabled.ip);
		break;
	case ptev_async_disabled:
		/*
		 * make two steps from the event, the interrupt and the end of tracing, because the target of
		 * the interrupt was not traced
		 */
		step->kind = decoder->event_parts ? HWT_ASYNC : HWT_OFF;
		if (step->kind == HWT_ASYNC) {
			step->has_address = 1;
			step->address = event->variant.async_disabled.at;
			set_to(decoder, step, event->variant.async_disabled.ip);
		} else {
			set_address(decoder, step, event->variant.async_disabled.ip);
		}
		break;
	case ptev_async_branch:
		step->kind = HWT_ASYNC;
		step->has_address = 1;
		step->address = event->variant.async_branch.from;
		set_to(decoder, step, event->variant.async_branch.to);
		break;
	case ptev_paging:
		change_space(decoder, step, event->variant.paging.cr3);
		break;
	case ptev_async_paging:
		change_space(decoder, step, event->variant.async_paging.cr3);
		set_address(decoder, step, event->variant.async_paging.ip);
		break;
	case ptev_overflow:
		step->kind = HWT_OVERFLOW;
		set_address(decoder, step, event->variant.overflow.ip);
		break;
	default:
		note(decoder, step);
		break;
	}
}

/* An instruction that is being decoded; the next byte to read is bytes[at]. */
struct taken {
	const unsigned char *bytes;
	size_t size, at;
	unsigned bits;
	bool narrow; /* prefix 0x66: operand size override */
	bool other;  /* prefix 0x67: address size override */
};

static int next(struct taken *taken)
{
	return taken->at < taken->size ? taken->bytes[taken->at++] : -1;
}

/* Skips all prefixes. Returns the first byte of the opcode, or -1 at the end of the bytes. */
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

/* Returns the size in bytes of a near branch's displacement: always 4 in 64-bit code. */
static unsigned displacement(const struct taken *taken)
{
	if (taken->bits == 64)
		return 4;
	return (taken->bits == 16) != taken->narrow ? 2 : 4;
}

/*
 * Skips a ModR/M byte, a SIB byte and a displacement. Returns the reg field, or -1 at the end of the bytes.
 */
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

bool pt_branch_target(const unsigned char *bytes, size_t size, unsigned bits, uint64_t address,
		      uint64_t *target)
{
	struct taken taken = { .bytes = bytes, .size = size, .bits = bits };
	const int byte = opcode(&taken);
	const unsigned width = byte == 0xeb ? 1 : displacement(&taken);
	uint64_t distance = 0;

	if ((byte != 0xe8 && byte != 0xe9 && byte != 0xeb) || size - taken.at < width)
		return false;
	for (unsigned n = width; n-- > 0;)
		distance = distance << 8 | bytes[taken.at + n];
	if (bytes[taken.at + width - 1] & 0x80)
		distance |= UINT64_MAX << (8 * width);
	*target = address + taken.at + width + distance;
	if (bits != 64)
		*target &= bits == 32 ? UINT32_MAX : UINT16_MAX;
	return true;
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
	case 0x9a: /* far call; 0xea is a far jump */
		return done(&taken, HWT_BRANCH_ENTER_KERNEL, displacement(&taken) + 2);
	case 0xea:
		return done(&taken, HWT_BRANCH_JUMP, displacement(&taken) + 2);
	case 0xc2:
		return done(&taken, HWT_BRANCH_RETURN, 2);
	case 0xc3:
		return done(&taken, HWT_BRANCH_RETURN, 0);
	case 0xca: /* far return with operand */
		return done(&taken, HWT_BRANCH_LEAVE_KERNEL, 2);
	case 0xcb: /* 0xcb: far return; 0xcf: iret */
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
