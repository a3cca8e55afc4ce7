/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Requests to a running guest, through the mailbox in its memory (spec/ktrx.md section 9). The mailbox is
 * the only part of a guest's memory to which ktrace's commands write. The RAM file is locked while the
 * mailbox is open, so that two host programs do not mix their requests.
 */
#ifndef CAPTURE_MAILBOX_H
#define CAPTURE_MAILBOX_H

#include "ktread/memory.h"

struct capture_mailbox;

/*
 * Opens the mailbox of the boot with this nonce in the RAM file `path`, which is borrowed. `architecture`
 * may be NULL. Waits up to `timeout_ns` while another host holds the file's lock.
 * Returns 0; CAPTURE_E_ABSENT if the file stays locked or has no such mailbox; or another error.
 */
int capture_mailbox_open(struct capture_mailbox **mailbox, const char *path, const char *architecture,
			 uint64_t nonce, uint64_t timeout_ns);
void capture_mailbox_close(struct capture_mailbox *mailbox);

/*
 * Waits for the guest's first heartbeat. Before this heartbeat, the guest may still be booting, and its boot
 * arguments may have no effect yet. Returns 0, or CAPTURE_E_ABSENT if there is none in time.
 */
int capture_mailbox_await_tick(struct capture_mailbox *mailbox, uint64_t timeout_ns);

/*
 * Makes the guest carry out the requests, in the order of the array. Stores the result in each request:
 * KTRX_RESULT_NONE if the guest did not answer it. Returns 0; CAPTURE_E_ABSENT with the most likely reason if
 * the guest did not answer in time; or another error.
 */
int capture_mailbox_send(struct capture_mailbox *mailbox, struct ktrx_request *request, uint32_t count,
			 uint64_t timeout_ns);

#endif
