/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Requests of a host, spec/ktrx.md section 9. */
#ifndef KTRACE_CORE_MAILBOX_H
#define KTRACE_CORE_MAILBOX_H

#include "ktrace/compiler.h"
#include "ktrx/v2.h"

extern KTRACE_HIDDEN struct ktrx_mailbox ktrace_mailbox;

/* Names the mailbox in the root, and the boot in the mailbox. */
KTRACE_HIDDEN void ktrace_mailbox_place(void);

/* Carries out what was requested, unless another CPU is at it. From the tick. */
KTRACE_HIDDEN void ktrace_mailbox_look(void);

#endif
