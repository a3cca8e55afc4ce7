/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Requests to a running guest, by the mailbox in its memory (spec/ktrx.md section 9): the only place in a
 * guest that a host ever writes. The file stays locked from open to close, so that two hosts do not
 * interleave.
 */
#ifndef CAPTURE_MAILBOX_H
#define CAPTURE_MAILBOX_H

#include "ktread/memory.h"

struct capture_mailbox;

/*
 * Finds the mailbox of the boot with this nonce in a RAM file; `architecture` may be NULL. Waits so long for
 * another host to be done.
 */
int capture_mailbox_open(struct capture_mailbox **mailbox, const char *path, const char *architecture,
			 uint64_t nonce, uint64_t timeout_ns);
void capture_mailbox_close(struct capture_mailbox *mailbox);

/*
 * Waits for the guest's first tick. Before that it may still be booting, and what is switched on not be what
 * its boot arguments ask for yet. CAPTURE_E_ABSENT: there was none in time.
 */
int capture_mailbox_await_tick(struct capture_mailbox *mailbox, uint64_t timeout_ns);

/*
 * Has the guest carry out the requests, in order, each with its result afterwards; KTRX_RESULT_NONE where it
 * did not answer. CAPTURE_E_ABSENT: it did not answer in time, with the likeliest reason.
 */
int capture_mailbox_send(struct capture_mailbox *mailbox, struct ktrx_request *request, uint32_t count,
			 uint64_t timeout_ns);

#endif
