/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Threads that sleep until somebody wakes them, and whom nobody will: everybody who was ever seen to wake
 * them sleeps in the same way. What might be woken by an interrupt, by a thread that lives, or by nobody
 * knows whom, is left out.
 */
#ifndef WHY_SLEEPERS_H
#define WHY_SLEEPERS_H

#include "why/evidence.h"

struct why_sleeper {
	const struct why_thread *thread;
	const struct why_queue *queue; /* what it sleeps on, and who woke whom there */
	uint64_t since;
	uint64_t pc;	/* where it went to sleep, 0 unknown */
	uint32_t group; /* those that need each other, from 0 */
	bool told;	/* the kernel's table says that it waits, and has no deadline */
	bool needed;	/* another sleeper of the group waits for it */
};

struct why_sleepers {
	struct why_sleeper *sleeper; /* those without hope alone, by `group`, then by `since` */
	uint32_t count;
};

/* 0 or KTREAD_E_MEMORY. */
int why_sleepers_find(struct why_sleepers *sleepers, const struct why_evidence *evidence);
void why_sleepers_free(struct why_sleepers *sleepers);

#endif
