/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes the output of `ktrace stats --worst`: the longest durations, and the shares of each duration. */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/ticks.h"
#include "export/views.h"
#include "ktrx/v2.h"

#define INDENT 4u
#define LISTED 0.1 /* minimum share, in percent of the duration, that is listed in the text */

/* The duration that is being written. */
struct writing {
	struct base_output *out;
	struct ktread *trace;
	const struct latencies_span *span;
	struct worst_shares shares;
};

/* Returns whether the cause of a share is unknown. */
static bool is_unknown(enum worst_reason reason)
{
	return reason >= WORST_LOST;
}

/* Returns the sum of all shares whose cause is unknown, at any level. */
static uint64_t count_unknown(const struct worst_shares *shares)
{
	uint64_t ticks = 0;

	for (uint32_t n = 0; n < shares->nodes; n++)
		ticks += is_unknown(shares->node[n].reason) ? shares->node[n].ticks : 0;
	return ticks;
}

/*
 * Returns the next smaller share of a parent after share `last`; WORST_NODES if there is none. If `last` is
 * WORST_NODES, returns the largest share.
 */
static uint32_t next_share(const struct worst_shares *shares, uint32_t parent, uint32_t last)
{
	const uint64_t limit = last == WORST_NODES ? UINT64_MAX : shares->node[last].ticks;
	uint32_t found = WORST_NODES;

	for (uint32_t n = 0; n < shares->nodes; n++) {
		const struct worst_node *node = &shares->node[n];

		if (node->parent != parent || node->ticks > limit ||
		    (node->ticks == limit && last != WORST_NODES && n <= last))
			continue;
		if (found == WORST_NODES || node->ticks > shares->node[found].ticks)
			found = n;
	}
	return found;
}

/* ---- Output as text ---- */

static void put_time(const struct writing *w, uint64_t ticks)
{
	const uint64_t frequency = ktread_info(w->trace)->frequency;

	if (frequency == 0)
		base_output_format(w->out, "%12" PRIu64 " ticks", ticks);
	else
		base_output_format(w->out, "%12.3f ms", (double)ticks * 1e3 / (double)frequency);
}

static void put_escaped(const struct writing *w, const char *text, size_t most)
{
	char *at = base_output_line(w->out);

	base_output_done(w->out, base_escape_text(at, text, strnlen(text, most), 4 * most));
}

static void put_thread(const struct writing *w, uint32_t thread)
{
	const char *name = ktread_thread_name(w->trace, thread);

	base_output_format(w->out, "thread %" PRIu32, thread);
	if (!name)
		return;
	base_output_text(w->out, " (");
	put_escaped(w, name, 64);
	base_output_text(w->out, ")");
}

static void put_lock(const struct writing *w, const struct worst_node *node)
{
	base_output_text(w->out, "waiting for lock ");
	if (*node->name) {
		put_escaped(w, node->name, WORST_NAME);
		base_output_text(w->out, " ");
	}
	base_output_format(w->out, "(0x%" PRIx64 ")", node->object);
}

static void put_interrupt(const struct writing *w, const struct worst_node *node)
{
	base_output_format(w->out, "%" PRIu64, node->object);
	if (!*node->name)
		return;
	base_output_text(w->out, " (");
	put_escaped(w, node->name, WORST_NAME);
	base_output_text(w->out, ")");
}

static void put_reason(const struct writing *w, const struct worst_node *node)
{
	static const char *const texts[] = {
		[WORST_RUNNING] = "running",
		[WORST_INTERRUPT] = "interrupted by interrupt ",
		[WORST_RUNNABLE] = "runnable, but not running",
		[WORST_LOCK] = ", held by ",
		[WORST_SLEEP] = "sleeping until woken by ",
		[WORST_SLEEP_INTERRUPT] = "sleeping until woken in an interrupt",
		[WORST_STOPPED] = "stopped",
		[WORST_LOST] = "unknown: slots were lost",
		[WORST_NO_STATE] = "unknown: no event shows what the thread did",
		[WORST_NO_HOLDER] = "; unknown: its holder",
		[WORST_NO_WAKER] = "sleeping; unknown: the wakeup",
		[WORST_TOO_DEEP] = "unknown: the chain of causes is too long",
	};

	if (node->reason == WORST_LOCK || node->reason == WORST_NO_HOLDER)
		put_lock(w, node);
	base_output_text(w->out, texts[node->reason]);
	if (node->reason == WORST_INTERRUPT)
		put_interrupt(w, node);
	if (node->reason == WORST_RUNNABLE && node->has_thread)
		base_output_text(w->out, ", while that CPU ran ");
	if (node->has_thread)
		put_thread(w, node->thread);
}

static double percent(const struct writing *w, uint64_t ticks)
{
	const uint64_t whole = w->span->end - w->span->begin;

	return whole ? 100.0 * (double)ticks / (double)whole : 0;
}

/* Returns whether a share is so small that the text does not list it. Unknown shares are always listed. */
static bool is_small(const struct writing *w, const struct worst_node *node)
{
	return !is_unknown(node->reason) && percent(w, node->ticks) < LISTED;
}

/* Writes the sum of those shares of the parent that are not listed. */
static void put_rest(const struct writing *w, uint32_t parent, unsigned depth)
{
	uint64_t ticks = 0;
	uint32_t count = 0;

	for (uint32_t n = 0; n < w->shares.nodes; n++) {
		const bool rest = w->shares.node[n].parent == parent && is_small(w, &w->shares.node[n]);

		ticks += rest ? w->shares.node[n].ticks : 0;
		count += rest;
	}
	if (count == 0)
		return;
	put_time(w, ticks);
	base_output_format(w->out, " %5.1f%%  %*s%" PRIu32 " share%s below 0.1%%\n", percent(w, ticks),
			   (int)(depth * INDENT), "", count, count == 1 ? "" : "s");
}

/* Writes the shares of a parent. If a part is what another thread did, its text begins with that thread. */
static void put_shares(const struct writing *w, uint32_t parent, unsigned depth)
{
	for (uint32_t n = next_share(&w->shares, parent, WORST_NODES); n != WORST_NODES;
	     n = next_share(&w->shares, parent, n)) {
		const struct worst_node *node = &w->shares.node[n];

		if (is_small(w, node))
			continue;
		put_time(w, node->ticks);
		base_output_format(w->out, " %5.1f%%  %*s", percent(w, node->ticks), (int)(depth * INDENT),
				   "");
		if (parent != WORST_NODES) {
			put_thread(w, w->shares.node[parent].thread);
			base_output_text(w->out, ": ");
		}
		put_reason(w, node);
		base_output_text(w->out, "\n");
		put_shares(w, n, depth + 1);
	}
	put_rest(w, parent, depth);
}

static void put_span(const struct writing *w, const char *name)
{
	char begin[STATS_TIME], end[STATS_TIME];

	put_time(w, w->span->end - w->span->begin);
	base_output_format(w->out, " 100.0%%  %s", stats_kind_name(w->span->kind));
	if (*name) {
		base_output_text(w->out, " ");
		put_escaped(w, name, STATS_NAME);
	}
	base_output_text(w->out, " of ");
	put_thread(w, w->span->thread);
	if (w->span->cpu != KTRX_NO_CPU)
		base_output_format(w->out, ", ended on CPU%" PRIu32, w->span->cpu);
	base_output_format(w->out, ", %s to %s\n", stats_time(w->trace, w->span->begin, begin),
			   stats_time(w->trace, w->span->end, end));
}

static char *name_of(const struct writing *w, char name[STATS_NAME])
{
	const struct stats_table table = { .trace = w->trace };
	const struct latencies_row row = { .kind = w->span->kind,
					   .has_number = w->span->has_number,
					   .number = w->span->number };

	return stats_row_name(&table, &row, name);
}

void stats_worst_write_text(struct base_output *out, struct ktread *trace, const struct worst *worst)
{
	struct writing w = { .out = out, .trace = trace };
	char name[STATS_NAME];
	uint64_t unknown;

	for (uint32_t n = 0; (w.span = worst_at(worst, n)); n++) {
		worst_explain(worst, n, &w.shares);
		base_output_text(out, n ? "\n" : "");
		put_span(&w, name_of(&w, name));
		put_shares(&w, WORST_NODES, 0);
		unknown = count_unknown(&w.shares);
		if (!unknown)
			continue;
		put_time(&w, unknown);
		base_output_format(out, " %5.1f%%  of all this is unknown\n", percent(&w, unknown));
	}
}

/* ---- Output as JSON ---- */

static void put_shares_json(const struct writing *w, uint32_t parent)
{
	static const char *const words[] = {
		[WORST_RUNNING] = "running",
		[WORST_INTERRUPT] = "interrupt",
		[WORST_RUNNABLE] = "runnable",
		[WORST_LOCK] = "lock",
		[WORST_SLEEP] = "sleep",
		[WORST_SLEEP_INTERRUPT] = "sleep-interrupt",
		[WORST_STOPPED] = "stopped",
		[WORST_LOST] = "unknown-lost",
		[WORST_NO_STATE] = "unknown-state",
		[WORST_NO_HOLDER] = "unknown-holder",
		[WORST_NO_WAKER] = "unknown-waker",
		[WORST_TOO_DEEP] = "unknown-depth",
	};

	base_json_begin(w->out, "shares", '[');
	for (uint32_t n = next_share(&w->shares, parent, WORST_NODES); n != WORST_NODES;
	     n = next_share(&w->shares, parent, n)) {
		const struct worst_node *node = &w->shares.node[n];

		base_json_begin(w->out, NULL, '{');
		base_json_put_text(w->out, "what", words[node->reason]);
		base_json_put_number(w->out, "ticks", node->ticks);
		if (node->has_thread)
			base_json_put_number(w->out, "thread", node->thread);
		if (node->reason == WORST_LOCK || node->reason == WORST_NO_HOLDER) {
			base_json_put_format(w->out, "lock", "\"0x%" PRIx64 "\"", node->object);
			base_json_put(w->out, "name", node->name);
		}
		if (node->reason == WORST_INTERRUPT) {
			base_json_put_number(w->out, "number", node->object);
			base_json_put(w->out, "name", node->name);
		}
		if (node->reason == WORST_LOCK || node->reason == WORST_SLEEP)
			put_shares_json(w, n);
		base_output_text(w->out, "}");
	}
	base_output_text(w->out, "]");
}

void stats_worst_write_json(struct base_output *out, struct ktread *trace, const struct worst *worst)
{
	struct writing w = { .out = out, .trace = trace };
	char text[STATS_NAME];

	base_output_text(out, "{\"worst\":[");
	for (uint32_t n = 0; (w.span = worst_at(worst, n)); n++) {
		worst_explain(worst, n, &w.shares);
		base_output_text(out, n ? ",\n" : "\n");
		base_output_text(out, "{");
		base_json_put_text(out, "kind", stats_kind_name(w.span->kind));
		if (w.span->has_number) {
			base_json_put_number(out, "number", w.span->number);
			base_json_put_text(out, "name", name_of(&w, text));
		}
		base_json_put_number(out, "thread", w.span->thread);
		base_json_put_known(out, "cpu", w.span->cpu != KTRX_NO_CPU, w.span->cpu);
		base_json_put_format(out, "begin", "%s", stats_time(trace, w.span->begin, text));
		base_json_put_format(out, "end", "%s", stats_time(trace, w.span->end, text));
		base_json_put_number(out, "ticks", w.span->end - w.span->begin);
		base_json_put_number(out, "unknown_ticks", count_unknown(&w.shares));
		put_shares_json(&w, WORST_NODES);
		base_output_text(out, "}");
	}
	base_output_text(out, "]}\n");
}
