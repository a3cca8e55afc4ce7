/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Looks for signs that several threads record their events as thread 0. One thread makes one call at a time.
 * A call that never returns, such as exit, counts as such a sign, too. While events about calls were folded
 * or off, the beginning or end of a call may be missing, so calls only seem to overlap.
 */
#include "analyze/scheduling.h"

#include <string.h>

#include "ktrx/v2.h"

enum call { CALL_UNKNOWN, CALL_OPEN, CALL_CLOSED };

/* Stores that two calls of a CPU overlap. If there are too many overlaps, the newest ones are kept. */
static void note_overlap(struct mixture *mixture, uint32_t cpu, uint64_t to)
{
	mixture->overlap[mixture->overlaps++ % MIXTURE_OVERLAPS] =
		(struct mixture_overlap){ mixture->stamp[cpu], to };
}

void mixture_forget(struct mixture *mixture, uint32_t cpu)
{
	if (cpu == KTRX_NO_CPU)
		memset(mixture->call, CALL_UNKNOWN, sizeof(mixture->call));
	else if (cpu < MIXTURE_CPUS)
		mixture->call[cpu] = CALL_UNKNOWN;
}

/* Returns whether an event names another process than the one that was named before. */
static bool names_second_process(struct mixture *mixture, const struct ktread_event *event,
				 const struct wellknown *known)
{
	uint64_t process;

	if (!wellknown_number(known, event, WELLKNOWN_PROCESS, &process))
		return true;
	if (mixture->names_process && mixture->process != process)
		return true;
	mixture->names_process = true;
	mixture->process = process;
	return false;
}

/* Returns whether an event shows that there is a second thread or process. */
static bool shows_second(struct mixture *mixture, const struct ktread_event *event,
			 const struct wellknown *known)
{
	uint64_t prev, next;

	switch (known->kind) {
	case WELLKNOWN_SWITCH:
		/* a kernel without thread ids records 0 for both: this is also a switch to another thread */
		return !wellknown_number(known, event, WELLKNOWN_PREV, &prev) ||
		       !wellknown_number(known, event, WELLKNOWN_NEXT, &next) || prev != next || prev == 0;
	case WELLKNOWN_CREATE: /* the creator is a second thread or process */
	case WELLKNOWN_PROCESS_FORK:
		return true;
	case WELLKNOWN_PROCESS_EXEC:
	case WELLKNOWN_PROCESS_EXIT:
		return names_second_process(mixture, event, known);
	default:
		return false;
	}
}

void mixture_event(struct mixture *mixture, const struct ktread_event *event, const struct wellknown *known)
{
	const enum wellknown_kind kind = known ? (enum wellknown_kind)known->kind : WELLKNOWN_OTHER;
	const bool enters = kind == WELLKNOWN_SYSCALL_ENTER;
	uint8_t *call;

	if (known && !mixture->several)
		mixture->several = shows_second(mixture, event, known);
	if (event->context != KTRX_CONTEXT_THREAD || event->thread == KTREAD_NO_THREAD)
		return;
	mixture->has_ids |= event->thread != 0;
	if (event->thread != 0 || (!enters && kind != WELLKNOWN_SYSCALL_EXIT))
		return;
	mixture->several |= mixture->call_cpu != KTRX_NO_CPU && mixture->call_cpu != event->cpu;
	mixture->call_cpu = event->cpu;
	if (event->cpu >= MIXTURE_CPUS)
		return;
	call = &mixture->call[event->cpu];
	if (*call == (enters ? CALL_OPEN : CALL_CLOSED))
		note_overlap(mixture, event->cpu, event->stamp);
	*call = enters ? CALL_OPEN : CALL_CLOSED;
	mixture->stamp[event->cpu] = event->stamp;
}

/* Returns whether events about calls were off or folded at some time during an overlap. */
static bool lacks_calls(const struct scheduling *scheduling, const struct mixture_overlap *overlap)
{
	return scheduling_off(scheduling, WELLKNOWN_SYSCALL_ENTER, overlap->from, overlap->to) ||
	       scheduling_off(scheduling, WELLKNOWN_SYSCALL_EXIT, overlap->from, overlap->to);
}

bool mixture_is_found(const struct mixture *mixture, const struct scheduling *scheduling)
{
	if (mixture->several && !mixture->has_ids)
		return true;
	for (uint64_t n = 0; n < mixture->overlaps && n < MIXTURE_OVERLAPS; n++)
		if (!lacks_calls(scheduling, &mixture->overlap[n]))
			return true;
	return false;
}
