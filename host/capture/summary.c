/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "ktrx/v2.h"

#include "error.h"
#include "summary.h"

#define CPUS_MOST 4096u

/* A CPU that is online counts, though all that it recorded may have been overwritten in a ring that others share. */
static void count_online(const struct ktread *trace, uint8_t *seen)
{
	struct ktrx_cpu row;

	for (uint32_t cpu = 0; cpu < CPUS_MOST && ktread_cpus(trace, cpu, &row, 1) > 0; cpu++)
		if (row.online)
			seen[cpu / 8] |= (uint8_t)(1u << cpu % 8);
}

int capture_summary_read(struct capture_summary *summary, const char *path)
{
	const struct ktread_event *event;
	const struct ktread_info *info;
	uint8_t seen[CPUS_MOST / 8] = { 0 };
	struct ktread *trace = NULL;
	uint64_t last = 0;
	int more;

	*summary = (struct capture_summary){ 0 };
	if (ktread_open(&trace, path, NULL) != 0) {
		capture_fail(CAPTURE_E_FORMAT, "%s", ktread_message(trace));
		ktread_close(trace);
		return CAPTURE_E_FORMAT;
	}
	info = ktread_info(trace);
	count_online(trace, seen);
	while ((more = ktread_next(trace, &event)) > 0) { /* CPUs without a ring of their own show here */
		if (event->cpu < CPUS_MOST)
			seen[event->cpu / 8] |= (uint8_t)(1u << event->cpu % 8);
		last = event->stamp;
	}
	if (info->frequency && last)
		summary->seconds = (double)(last - ktread_first_stamp(trace)) / (double)info->frequency;
	for (uint32_t cpu = 0; cpu < CPUS_MOST; cpu++)
		summary->cpus += seen[cpu / 8] >> cpu % 8 & 1;
	summary->outcome = info->outcome;
	summary->cut = info->dumps == 0 && (info->form == KTREAD_FORM_V1 || info->form == KTREAD_FORM_V2);
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
