/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "flow/spread.h"

#include <stdbool.h>
#include <string.h>

#include "ktrx/v2.h"

#define RECORDS \
	"ktrace_event_" /* and the event's group and name: how ktrace's own macros call the code that records it */

/* Takes `word` off the front of a name. */
static bool skip(const char **name, const char *word)
{
	const size_t length = strlen(word);

	if (strncmp(*name, word, length) != 0)
		return false;
	*name += length;
	return true;
}

static bool records(const char *function, const struct ktread_type *type)
{
	return type && type->group && type->name && skip(&function, RECORDS) &&
	       skip(&function, type->group) && skip(&function, "_") && skip(&function, type->name) &&
	       skip(&function, "_record");
}

/* How far the unit's clock may be off. */
static uint64_t slack(const struct ktread *trace)
{
	return ktread_info(trace)->frequency / 10000;
}

/* How far that is from the piece, of which only the beginning may be known. */
static uint64_t distance(const struct flow_piece *piece, uint64_t stamp)
{
	if (stamp < piece->from)
		return piece->from - stamp;
	if (piece->to == UINT64_MAX)
		return stamp - piece->from;
	return stamp < piece->to ? 0 : stamp - piece->to;
}

enum flow_anchor flow_spread_anchor(const struct flow_spread *spread, const char *function,
				    const struct flow_piece *piece, uint64_t matched, uint64_t *stamp)
{
	uint64_t nearest = slack(spread->trace);
	uint64_t behind = piece->from > nearest ? piece->from - nearest - 1 : 0;
	const struct flow_kernel_event *event, *end;
	enum flow_anchor found = FLOW_RECORDER_ALONE;

	if (!function || strncmp(function, RECORDS, strlen(RECORDS)) != 0)
		return FLOW_NO_RECORDER;
	if (behind < piece->early)
		behind = piece->early;
	if (behind < matched)
		behind = matched;
	event = flow_kernel_behind(spread->kernel, spread->cpu, behind, &end);
	for (; event && event < end; event++) {
		const uint64_t off = distance(piece, event->stamp);

		if (off > nearest)
			break;
		if (!records(function, ktread_type(spread->trace, event->type)))
			continue;
		*stamp = event->stamp;
		nearest = off;
		found = FLOW_ANCHOR;
		if (event->stamp >= piece->from)
			break;
	}
	return found;
}

uint64_t flow_spread_doubt(const struct flow_spread *spread, const struct flow_piece *piece)
{
	return (piece->to == UINT64_MAX ? piece->from : piece->to) +
	       ktread_info(spread->trace)->frequency / 1000;
}

uint64_t flow_spread_at(const struct flow_spread *spread, uint64_t run)
{
	const uint64_t all = spread->run_to - spread->run_from;

	if (spread->to == UINT64_MAX || all == 0 || spread->to <= spread->from)
		return spread->from;
	return spread->from +
	       (uint64_t)((unsigned __int128)(spread->to - spread->from) * (run - spread->run_from) / all);
}

int flow_spread_is_about(const struct flow_spread *spread)
{
	const struct flow_kernel_event *end, *event;

	if (spread->cpu == KTRX_NO_CPU)
		return spread->to > spread->from;
	event = flow_kernel_behind(spread->kernel, spread->cpu, spread->from, &end);
	return event && event->stamp < spread->to;
}
