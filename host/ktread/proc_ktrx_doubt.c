/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Whether a record's size can be its own: one that is too large by as much as the next records take swallows
 * them, and is still followed by a record, so that only what it holds gives it away. What a program had
 * written is never held against a record that is as it should be: programs could have records made up that
 * way.
 */
#include "proc_state.h"

static bool is_padded(const uint8_t *payload, uint32_t size)
{
	return memcmp(payload + size, "\0\0\0\0\0\0\0", -size % 8u) == 0;
}

/* A text, behind `bytes` of other things, has no NUL in it. */
static bool is_text(const uint8_t *payload, uint32_t size, uint32_t bytes)
{
	return size >= bytes && !memchr(payload + bytes, 0, size - bytes) && is_padded(payload, size);
}

static bool is_call(const uint8_t *payload, uint32_t size)
{
	struct ktrx_proc_syscall call;

	if (size < sizeof(call))
		return false;
	memcpy(&call, payload, sizeof(call));
	return size == sizeof(call) + 8u * call.args;
}

static bool is_io(const uint8_t *payload, uint32_t size, uint16_t flags)
{
	struct ktrx_proc_genio io;

	if (size < sizeof(io))
		return false;
	memcpy(&io, payload, sizeof(io));
	return flags & KTRX_PROC_CUT ? io.size > size - sizeof(io) : io.size == size - sizeof(io);
}

bool ktread_proc_ktrx_is_doubtful(const struct ktread_proc *trace)
{
	const uint8_t *bytes = ktread_proc_bytes(&trace->input), *payload = bytes + trace->record_head;
	const struct ktread_proc_ktrx_record *head = (const struct ktread_proc_ktrx_record *)bytes;

	switch (head->is.type) {
	case KTRX_PROC_SYSCALL:
		return !is_call(payload, head->is.size);
	case KTRX_PROC_SYSRET:
		return head->is.size != sizeof(struct ktrx_proc_sysret);
	case KTRX_PROC_GENIO:
		return !is_io(payload, head->is.size, head->is.flags);
	case KTRX_PROC_PSIG:
		return head->is.size != sizeof(struct ktrx_proc_psig);
	case KTRX_PROC_PROCDTOR:
		return head->is.size != sizeof(struct ktrx_proc_dtor);
	case KTRX_PROC_FAULT:
		return head->is.size != sizeof(struct ktrx_proc_fault);
	case KTRX_PROC_FAULTEND:
		return head->is.size != sizeof(struct ktrx_proc_faultend);
	case KTRX_PROC_END:
		return head->is.size != sizeof(struct ktrx_proc_end);
	case KTRX_PROC_NAMEI:
	case KTRX_PROC_SYSCTL:
	case KTRX_PROC_NAME:
	case KTRX_PROC_TABLE:
		return !is_text(payload, head->is.size, 0);
	case KTRX_PROC_CSW:
		return !is_text(payload, head->is.size, sizeof(struct ktrx_proc_csw));
	case KTRX_PROC_PROCCTOR:
		return !is_text(payload, head->is.size, sizeof(struct ktrx_proc_ctor));
	case KTRX_PROC_CAPFAIL:
		return !is_text(payload, head->is.size, sizeof(struct ktrx_proc_capfail));
	case KTRX_PROC_USER:
		return head->is.size > KTRX_PROC_USER_MAX || !is_padded(payload, head->is.size);
	default:
		return !is_padded(payload, head->is.size);
	}
}
