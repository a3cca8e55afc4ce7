/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Shared by process traces and hardware traces: pending records, the structures at the start of each record
 * and of each file (ktrx/proc.h), and the check whether a process may trace another process.
 */
#ifndef KTRACE_BASE_PROC_TRACE_H
#define KTRACE_BASE_PROC_TRACE_H

#include "bytes.h"
#include "ktrace/control.h"
#include "ktrace/proc.h"
#include "ktrx/proc.h"

#define KTRACE_PROC_HEAD_WORDS (sizeof(struct ktrx_proc_record) / 8)

/*
 * A pending record. The payload consists of `fixed`, `text` and `data`, in this order. The layout of `fixed`
 * is that of ktrx/proc.h, in 64-bit words.
 */
struct ktrace_proc_pending {
	uint16_t type;
	uint16_t flags; /* KTRX_PROC_QUEUED: the caller must not sleep */
	uint32_t thread;
	uint32_t fixed_size;
	uint32_t text_size;
	uint32_t data_size;
	const uint64_t *fixed; /* first part of the payload, as 64-bit words */
	const char *text;      /* second part of the payload */
	const void *data;      /* third part of the payload */
};

/*
 * Initialises a pending record of the running thread, without text and data. It sets members one by one,
 * because compilers turn initialisers of whole structures into library calls.
 */
KTRACE_INLINE void ktrace_proc_pending_init(struct ktrace_proc_pending *pending, uint16_t type,
					    uint16_t flags, const uint64_t *fixed, uint32_t fixed_size)
{
	pending->type = type;
	pending->flags = flags;
	pending->thread = KTRX_W1_THREAD(ktrace_arch_thread());
	pending->fixed_size = fixed_size;
	pending->text_size = 0;
	pending->data_size = 0;
	pending->fixed = fixed;
	pending->text = KTRACE_NULL;
	pending->data = KTRACE_NULL;
}

/* Returns the size of the pending record's payload in bytes. */
KTRACE_FIELD_INLINE uint32_t ktrace_proc_payload(const struct ktrace_proc_pending *pending)
{
	return pending->fixed_size + pending->text_size + pending->data_size;
}

/*
 * Returns the size of a record with `payload` bytes of payload: struct ktrx_proc_record, payload, and zeros
 * up to a multiple of 8.
 */
KTRACE_FIELD_INLINE uint32_t ktrace_proc_size(uint32_t payload)
{
	return (uint32_t)sizeof(struct ktrx_proc_record) + ((payload + 7) & ~KTRX_U32(7));
}

/* Writes the fixed fields of a record (struct ktrx_proc_record), with the current time and CPU. */
KTRACE_FIELD_INLINE void ktrace_proc_head(volatile uint64_t *head, const struct ktrace_proc_pending *pending,
					  uint32_t pid, uint32_t lost)
{
	uint32_t cpu = ktrace_arch_cpu();

	head[0] =
		ktrace_proc_payload(pending) | (uint64_t)pending->type << 32 | (uint64_t)pending->flags << 48;
	head[1] = ktrace_arch_clock();
	head[2] = pid | (uint64_t)pending->thread << 32;
	head[3] = (cpu < KTRX_PROC_NO_CPU ? cpu : KTRX_PROC_NO_CPU) | (uint64_t)KTRX_PROC_MARK << 16 |
		  (uint64_t)lost << 32;
}

/* Fills in the structure at the start of a file. */
KTRACE_UNUSED_INLINE void ktrace_proc_fill_head(struct ktrx_proc_head *head)
{
	ktrace_copy(head->magic, KTRX_PROC_MAGIC, sizeof(head->magic));
	head->version = KTRX_PROC_VERSION;
	head->frequency = ktrace_root.frequency ? ktrace_root.frequency : ktrace_arch_frequency();
	head->nonce = ktrace_root.nonce;
	head->wall_stamp = ktrace_root.wall_stamp;
	head->wall_ns = ktrace_root.wall_ns;
	head->machine = KTRACE_ARCH_MACHINE;
	head->head_size = sizeof(struct ktrx_proc_head);
	head->record_head = sizeof(struct ktrx_proc_record);
	head->reserved0 = 0;
	ktrace_zero(head->reserved, sizeof(head->reserved));
	head->check = ktrx_proc_check(head);
}

/*
 * Returns nonzero if the caller may trace the target. A process that gained rights (by a set-id program or by
 * changing its ids) cannot be traced by a caller with fewer rights. The same is true for a process that the
 * superuser traces.
 */
KTRACE_UNUSED_INLINE int ktrace_proc_may_trace(const struct ktrace_proc_identity *caller,
					       const struct ktrace_proc_identity *target,
					       int set_by_superuser)
{
	if (caller->jail != 0 && caller->jail != target->jail)
		return 0;
	if (caller->euid == 0)
		return 1;
	return caller->euid == target->ruid && target->ruid == target->svuid &&
	       caller->rgid == target->rgid && target->rgid == target->svgid && !target->set_id &&
	       !set_by_superuser;
}

#endif
