/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "ktrx/v2.h"

#include "error.h"
#include "summary.h"

int capture_summary_read(struct capture_summary *summary, const char *path)
{
	const struct ktread_event *event;
	const struct ktread_info *info;
	struct ktread *trace = NULL;
	int more;

	*summary = (struct capture_summary){ 0 };
	if (ktread_open(&trace, path, NULL) != 0) {
		capture_fail(CAPTURE_E_FORMAT, "%s", ktread_message(trace));
		ktread_close(trace);
		return CAPTURE_E_FORMAT;
	}
	info = ktread_info(trace);
	summary->cpus = info->cpus;
	while ((more = ktread_next(trace, &event)) > 0) /* CPUs without a ring of their own show here */
		if (event->cpu != KTRX_NO_CPU && event->cpu >= summary->cpus)
			summary->cpus = event->cpu + 1;
	summary->outcome = info->outcome;
	summary->status = info->status;
	summary->frequency = info->frequency;
	summary->refused = info->lost_events;
	for (uint32_t i = 0; i < info->rings; i++) {
		const struct ktread_ring *ring = ktread_ring(trace, i);

		summary->events += ring->records;
		summary->overwritten += ring->overwritten;
		summary->unreadable += ring->invalid;
		summary->refused += ring->dropped;
	}
	if (more < 0)
		capture_fail(CAPTURE_E_FORMAT, "%s", ktread_message(trace));
	ktread_close(trace);
	return more < 0 ? CAPTURE_E_FORMAT : 0;
}

void capture_summary_loss(const struct capture_summary *summary, char *text, size_t size)
{
	const struct {
		uint64_t count;
		const char *one, *more;
	} losses[] = {
		{ summary->overwritten, "slot overwritten", "slots overwritten" },
		{ summary->unreadable, "slot unreadable", "slots unreadable" },
		{ summary->refused, "record refused", "records refused" },
	};
	size_t length = 0;

	snprintf(text, size, "nothing lost");
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]) && length < size; i++)
		if (losses[i].count)
			length += (size_t)snprintf(text + length, size - length, "%s%" PRIu64 " %s",
						   length ? ", " : "", losses[i].count,
						   losses[i].count == 1 ? losses[i].one : losses[i].more);
}
