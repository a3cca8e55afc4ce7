/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Events about page faults and panics. */
#include <string.h>

#include "why/evidence_state.h"

/*
 * Counts consecutive page faults of a thread with the same address and the same instruction. A system call or
 * a fork between two faults shows progress, and restarts the count. There is one exception: a system call
 * after a signal does not restart the count, because the signal's handler may have made the call.
 */

static void on_enter(struct why_thread *thread, const struct ktread_event *event,
		     const struct wellknown *known)
{
	uint64_t address, ip = 0;

	if (!wellknown_number(known, event, WELLKNOWN_OBJECT, &address))
		return;
	thread->fault_has_ip = wellknown_number(known, event, WELLKNOWN_PLACE, &ip);
	thread->fault_stamp = event->stamp;
	if (thread->fault_repeats == 0 || address != thread->fault_address || ip != thread->fault_ip) {
		thread->fault_repeats = thread->fault_signals = 0;
		thread->fault_first = event->stamp;
	}
	thread->fault_repeats++;
	thread->fault_address = address;
	thread->fault_ip = ip;
	thread->fault_how[0] = '\0';
	thread->fault_signalled = false;
	thread->in_fault = true;
}

static void on_exit(struct why_thread *thread, const struct ktread_event *event,
		    const struct wellknown *known)
{
	struct ktread_value how;
	size_t length;

	thread->in_fault = false;
	if (!wellknown_string(known, event, WELLKNOWN_NAME, &how))
		return;
	length = how.length < sizeof(thread->fault_how) ? how.length : sizeof(thread->fault_how) - 1;
	memcpy(thread->fault_how, how.string, length);
	thread->fault_how[length] = '\0';
}

void why_fault_nests(struct why_thread *thread, const struct ktread_event *event,
		     const struct wellknown *known)
{
	struct why_fault_nest *nest = &thread->fault_nest;

	switch (known->kind) {
	case WELLKNOWN_FAULT_ENTER:
		nest->count++;
		nest->address = nest->ip = 0;
		wellknown_number(known, event, WELLKNOWN_OBJECT, &nest->address);
		wellknown_number(known, event, WELLKNOWN_PLACE, &nest->ip);
		break;
	case WELLKNOWN_FAULT_EXIT:
	case WELLKNOWN_SIGNAL_DELIVER:
	case WELLKNOWN_SYSCALL_ENTER:
	case WELLKNOWN_SYSCALL_EXIT:
		nest->count = 0;
		break;
	default:
		break;
	}
}

void why_faults_event(struct why_thread *thread, const struct ktread_event *event,
		      const struct wellknown *known)
{
	switch (known->kind) {
	case WELLKNOWN_FAULT_ENTER:
		on_enter(thread, event, known);
		break;
	case WELLKNOWN_FAULT_EXIT:
		on_exit(thread, event, known);
		break;
	case WELLKNOWN_SIGNAL_DELIVER:
		thread->fault_signalled = true;
		thread->fault_signals += thread->fault_repeats > 0;
		break;
	case WELLKNOWN_SYSCALL_ENTER:
		if (!thread->fault_signalled)
			thread->fault_repeats = 0;
		break;
	case WELLKNOWN_PROCESS_FORK:
		thread->fault_repeats = 0;
		break;
	default:
		break;
	}
}

/* Events about panics. */

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
