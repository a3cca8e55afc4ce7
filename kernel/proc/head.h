/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What a file of process or hardware trace begins with. */
#ifndef KTRACE_PROC_HEAD_H
#define KTRACE_PROC_HEAD_H

#include "../base/bytes.h"
#include "ktrace/control.h"
#include "ktrace/port.h"
#include "ktrx/proc.h"

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

#endif
