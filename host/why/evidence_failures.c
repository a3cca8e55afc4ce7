/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What failed: tries for locks, and the kernel itself. */
#include <string.h>

#include "why/evidence_state.h"

void why_lock_failed(struct why_thread *thread, const struct ktread_event *event,
		     const struct wellknown *known)
{
	struct why_tries *tries = &thread->tries;
	struct ktread_value kind;
	uint64_t lock = 0, owner;

	wellknown_number(known, event, WELLKNOWN_OBJECT, &lock);
	if (tries->count == 0 || tries->lock != lock)
		*tries = (struct why_tries){ .lock = lock, .first = event->stamp };
	tries->count++;
	tries->last = event->stamp;
	tries->pc = 0;
	wellknown_number(known, event, WELLKNOWN_PLACE, &tries->pc);
	tries->owner = UINT32_MAX;
	if (!wellknown_number(known, event, WELLKNOWN_OWNER, &owner))
		return;
	if (ktread_value_named(event, "kind", &kind) != 0 || kind.length != 3 ||
	    memcmp(kind.string, "CPU", 3) != 0)
		tries->owner = (uint32_t)owner;
}

void why_panicked(struct why_evidence *evidence, const struct ktread_event *event,
		  const struct wellknown *known)
{
	struct why_panic *panic = &evidence->panic;
	struct ktread_value text;

	if (panic->stamp)
		return;
	*panic = (struct why_panic){ .stamp = event->stamp,
				     .cpu = event->cpu,
				     .thread = event->thread,
				     .caller = { event->callers > 0 ? event->caller[0] : 0,
						 event->callers > 1 ? event->caller[1] : 0 } };
	if (wellknown_string(known, event, WELLKNOWN_NAME, &text))
		memcpy(panic->message, text.string,
		       text.length < sizeof(panic->message) ? text.length : sizeof(panic->message) - 1);
}

void why_lock_had(struct why_thread *thread, const struct ktread_event *event, const struct wellknown *known)
{
	uint64_t lock;

	if (known->kind == WELLKNOWN_LOCK_ACQUIRE &&
	    wellknown_number(known, event, WELLKNOWN_OBJECT, &lock) && lock == thread->tries.lock)
		thread->tries.count = 0;
}
