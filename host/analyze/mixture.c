/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Looks for signs that several threads record their events as thread 0. One thread makes one call at a time. A call
 * that never returns, such as exit, counts as such a sign, too.
 */
#include "analyze/scheduling.h"

#include "ktrx/v2.h"

enum call { CALL_UNKNOWN, CALL_OPEN, CALL_CLOSED };

void mixture_event(struct mixture *mixture, const struct ktread_event *event, uint8_t kind)
{
	const bool enters = kind == WELLKNOWN_SYSCALL_ENTER;
	uint8_t *call;

	mixture->several |= kind == WELLKNOWN_CREATE || kind == WELLKNOWN_SWITCH ||
			    kind == WELLKNOWN_PROCESS_FORK || kind == WELLKNOWN_PROCESS_EXEC ||
			    kind == WELLKNOWN_PROCESS_EXIT;
	if (event->context != KTRX_CONTEXT_THREAD || event->thread == KTREAD_NO_THREAD)
		return;
	mixture->has_ids |= event->thread != 0;
	if (event->cpu < MIXTURE_CPUS && event->lost > 0)
		mixture->call[event->cpu] = CALL_UNKNOWN;
	if (event->thread != 0 || (!enters && kind != WELLKNOWN_SYSCALL_EXIT))
		return;
	mixture->several |= mixture->call_cpu != KTRX_NO_CPU && mixture->call_cpu != event->cpu;
	mixture->call_cpu = event->cpu;
	if (event->cpu >= MIXTURE_CPUS)
		return;
	call = &mixture->call[event->cpu];
	mixture->overlaps |= *call == (enters ? CALL_OPEN : CALL_CLOSED);
	*call = enters ? CALL_OPEN : CALL_CLOSED;
}

bool mixture_is_found(const struct mixture *mixture)
{
	return mixture->overlaps || (mixture->several && !mixture->has_ids);
}
