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

int flow_spread_anchor(const struct flow_spread *spread, const char *function, uint64_t to, uint64_t *stamp)
{
	const struct flow_kernel_event *end;
	const struct flow_kernel_event *event =
		function && strncmp(function, RECORDS, strlen(RECORDS)) == 0
			? flow_kernel_behind(spread->kernel, spread->cpu, spread->from, &end)
			: NULL;

	for (; event && event < end && event->stamp < to; event++) {
		if (!records(function, ktread_type(spread->trace, event->type)))
			continue;
		*stamp = event->stamp;
		return 1;
	}
	return 0;
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
