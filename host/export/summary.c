/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/summary.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyze/note.h"
#include "analyze/order.h"
#include "base/escape.h"
#include "analyze/event_name.h"
#include "base/machine.h"
#include "base/ticks.h"
#include "ktrx/v2.h"

#define NAME_BYTES	 100u
#define ENDED_BYTES	 300u
#define THREADS_SHOWN	 100u
#define RATE_TICKS_LEAST 10u
/* if the tables are newer than the last event by more than 1/STOP_PART s, recording was stopped */
#define STOP_PART 10u

const char *summary_outcome(uint32_t outcome)
{
	return outcome == KTRX_OUTCOME_EXITED  ? "exited"
	       : outcome == KTRX_OUTCOME_PANIC ? "panicked"
					       : "running";
}

const char *summary_ended(const struct ktread *trace, size_t *length)
{
	return note_find(ktread_info(trace)->note, "ended", length);
}

static bool is_named_alike(const struct ktread *trace, uint32_t a, uint32_t b)
{
	const struct ktread_type *left = ktread_type(trace, a), *right = ktread_type(trace, b);

	return left && right && left->name_alone == right->name_alone &&
	       strcmp(left->group, right->group) == 0 && strcmp(left->name, right->name) == 0;
}

static int most_first(const void *a, const void *b)
{
	const struct summary_event *left = a, *right = b;

	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return left->place < right->place ? -1 : left->place > right->place;
}

/* Adds up the counts of types with the same name. Returns false if out of memory. */
static bool add_up_names(struct summary *summary)
{
	struct summary_event *named = calloc(summary->event_count + 1, sizeof(*named));
	size_t count = 0;

	for (size_t n = 0; named && n < summary->event_count; n++) {
		const struct tally_entry *entry = &summary->events[n];
		size_t at = 0;

		while (at < count && !is_named_alike(summary->trace, named[at].id, entry->key))
			at++;
		if (at == count)
			named[count++] = (struct summary_event){ .id = entry->key, .place = (uint32_t)n };
		named[at].count += entry->count;
		named[at].rate += entry->rate;
		named[at].folded += summary->tally->repeats[entry->key];
	}
	if (named)
		qsort(named, count, sizeof(*named), most_first);
	summary->named = named;
	summary->named_count = count;
	return named != NULL;
}

int summary_init(struct summary *summary, const struct ktread *trace, const struct tally *tally)
{
	const struct ktread_info *info = ktread_info(trace);

	*summary = (struct summary){ .trace = trace, .tally = tally };
	summary->events = tally_list(tally, TALLY_BY_EVENT, TALLY_MOST_FIRST, &summary->event_count);
	summary->threads = tally_list(tally, TALLY_BY_THREAD, TALLY_MOST_FIRST, &summary->thread_count);
	summary->cpus = tally_list(tally, TALLY_BY_CPU, TALLY_BY_KEY, &summary->cpu_count);
	if (!summary->events || !summary->threads || !summary->cpus || !add_up_names(summary)) {
		summary_free(summary);
		return KTREAD_E_MEMORY;
	}
	if (info->frequency && tally->events)
		summary->seconds = base_ticks_seconds(tally->last - tally->first, info->frequency);
	summary->cost = cost_of(trace);
	for (uint32_t n = 0; n < info->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(trace, n);

		summary->overwritten += ring->overwritten;
		summary->invalid += ring->invalid;
		summary->dropped += ring->dropped;
	}
	return 0;
}

void summary_free(struct summary *summary)
{
	free(summary->events);
	free(summary->named);
	free(summary->threads);
	free(summary->cpus);
}

/*
 * Returns whether the time is long enough to compute a rate. If it is only a few ticks of a coarse clock, a
 * rate would be mostly rounding error.
 */
static bool has_rate(const struct summary *summary)
{
	return summary->seconds > 0 && summary->tally->last - summary->tally->first >= RATE_TICKS_LEAST;
}

/* Returns how many of `count` events occurred in a second. `rate`: their number in a tick, if known. */
static double a_second(const struct summary *summary, uint64_t count, double rate)
{
	return summary->tally->rated ? rate * (double)ktread_info(summary->trace)->frequency
				     : (double)count / summary->seconds;
}

static void write_counts(struct base_output *out, const struct summary *summary, const char *name,
			 uint64_t count, double rate)
{
	base_output_format(out, "%-28s %12llu ", name, (unsigned long long)count);
	if (has_rate(summary))
		base_output_format(out, "%12.1f", a_second(summary, count, rate));
	else
		base_output_format(out, "%12s", "-");
}

static void write_row(struct base_output *out, const struct summary *summary, const char *name,
		      uint64_t count, double rate)
{
	write_counts(out, summary, name, count, rate);
	base_output_text(out, "\n");
}

/* Writes the time of day of the first event, if the kernel recorded the time of day. */
static void write_began(struct base_output *out, const struct summary *summary)
{
	const struct ktread_info *info = ktread_info(summary->trace);
	uint64_t first = summary->tally->first, wall = info->wall_ns;
	struct tm date;
	time_t seconds;

	if (!wall || !info->frequency || !summary->tally->events)
		return;
	if (first >= info->wall_stamp)
		wall += base_ticks_nanoseconds_exact(first - info->wall_stamp, info->frequency);
	else
		wall -= base_ticks_nanoseconds_exact(info->wall_stamp - first, info->frequency);
	seconds = (time_t)(wall / 1000000000u);
	if (gmtime_r(&seconds, &date))
		base_output_format(out, "began     %04d-%02d-%02d %02d:%02d:%02d.%06u UTC\n",
				   date.tm_year + 1900, date.tm_mon + 1, date.tm_mday, date.tm_hour,
				   date.tm_min, date.tm_sec, (unsigned)(wall % 1000000000u / 1000u));
}

bool summary_is_dump(const struct ktread *trace)
{
	size_t length;

	return note_find(ktread_info(trace)->note, "dumped over", &length) != NULL;
}

/* Returns the newest timestamp in the table of CPUs; 0 if the table has none. */
static uint64_t newest_of_cpus(const struct ktread *trace)
{
	struct ktrx_cpu row;
	uint64_t newest = 0;

	for (uint32_t n = 0; n < TALLY_CPUS && ktread_cpus(trace, n, &row, 1) == 1; n++) {
		newest = row.now > newest ? row.now : newest;
		newest = row.heartbeat_stamp > newest ? row.heartbeat_stamp : newest;
	}
	return newest;
}

bool summary_was_stopped(const struct summary *summary)
{
	const struct ktread_info *info = ktread_info(summary->trace);
	const uint64_t last = summary->tally->events ? summary->tally->last : 0;
	const bool in_memory = info->form == KTREAD_FORM_RAM || info->form == KTREAD_FORM_CORE;

	if (!info->stopped || info->outcome != KTRX_OUTCOME_RUNNING || summary_is_dump(summary->trace))
		return false;
	return in_memory || *info->note ||
	       newest_of_cpus(summary->trace) > last + info->frequency / STOP_PART;
}

/* If the guest has sent the trace as a dump, writes which part of the run this dump covers. */
static void write_taken(struct base_output *out, const struct summary *summary)
{
	const struct ktread_info *info = ktread_info(summary->trace);
	char words[ENDED_BYTES + 1];
	size_t length;
	const char *taken = note_find(info->note, "taken", &length);

	if (!summary_is_dump(summary->trace))
		return;
	if (taken)
		*base_escape_text(words, taken, length, ENDED_BYTES) = '\0';
	base_output_format(out, "dumped    by the guest, %s",
			   taken				   ? words
			   : info->outcome != KTRX_OUTCOME_RUNNING ? "as it ended"
								   : "at an unknown time");
	if (summary->seconds > 0)
		base_output_format(out, "; covers %.6f s", summary->seconds);
	base_output_text(out, "; later events are unknown\n");
}

/* Returns whether the trace has a record of a panic. Older kernels do not store a panic after their exit. */
static bool has_panicked(const struct summary *summary)
{
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(summary->trace, id);

		if (type && summary->tally->event[id].count && strcmp(type->group, "ktrace") == 0 &&
		    strcmp(type->name, "panic") == 0)
			return true;
	}
	return false;
}

/* Writes how the guest ended, as recorded by the guest and as observed by `ktrace run`. */
static void write_end(struct base_output *out, const struct summary *summary)
{
	const struct ktread_info *info = ktread_info(summary->trace);
	char words[ENDED_BYTES + 1];
	const char *ended;
	size_t length;

	base_output_format(out, "guest     %s", summary_outcome(info->outcome));
	if (info->outcome == KTRX_OUTCOME_EXITED)
		base_output_format(out, " with status %d%s", info->status,
				   has_panicked(summary) ? ", then panicked" : "");
	else if (info->outcome == KTRX_OUTCOME_RUNNING)
		base_output_text(out, ": no exit, no panic recorded");
	base_output_text(out, "\n");
	ended = summary_ended(summary->trace, &length);
	if (ended) {
		*base_escape_text(words, ended, length, ENDED_BYTES) = '\0';
		base_output_format(out, "ended     %s\n", words);
	}
	write_taken(out, summary);
	if (summary_was_stopped(summary))
		base_output_text(
			out, "recording was stopped when the trace was taken; later events are unknown\n");
	if (*info->registers)
		base_output_format(out, "CPUs      registers%s: ktrace show --registers\n",
				   strstr(info->registers, "\nstack ") ? " and stacks" : "");
}

/* Reports the parts of the file that were not read. */
static void write_skipped(struct base_output *out, const struct ktread_info *info)
{
	if (info->skipped_bytes)
		base_output_format(out, "skipped   %llu bytes that belong to no dump\n",
				   (unsigned long long)info->skipped_bytes);
	if (info->unknown_sections)
		base_output_format(out, "skipped   %llu section%s of unknown type\n",
				   (unsigned long long)info->unknown_sections,
				   info->unknown_sections == 1 ? "" : "s");
}

/* Returns whether the trace contains data about a kernel in addition to records. */
static bool is_of_kernel(const struct ktread_info *info)
{
	return !info->records_only && info->form != KTREAD_FORM_PROCESSES;
}

static void write_head(struct base_output *out, const struct summary *summary, const char *path)
{
	const struct ktread_info *info = ktread_info(summary->trace);
	const char *machine = base_machine_name(info->machine);
	char kernel[NAME_BYTES + 1];

	base_output_done(out, base_escape_utf8(base_output_line(out), path, strlen(path), BASE_OUTPUT_LINE));
	if (info->form == KTREAD_FORM_PROCESSES)
		base_output_text(out, ": a process trace");
	else
		base_output_format(out, ": KTRX version %u", info->version);
	if (machine)
		base_output_format(out, ", %s", machine);
	if (*info->kernel) {
		*base_escape_text(kernel, info->kernel, strlen(info->kernel), NAME_BYTES) = '\0';
		base_output_format(out, ", %s", kernel);
	}
	base_output_text(out, "\n");
	if (info->build_id_size) {
		base_output_text(out, "build id  ");
		for (uint32_t n = 0; n < info->build_id_size; n++)
			base_output_format(out, "%02x", info->build_id[n]);
		base_output_text(out, "\n");
	}
	if (is_of_kernel(info))
		write_end(out, summary);
	if (info->dumps > 1)
		base_output_format(out, "dumps     %u in the file, the last one is shown\n", info->dumps);
	write_skipped(out, info);
	write_began(out, summary);
}

static double microseconds(const struct ktread_info *info, uint64_t ticks)
{
	return base_ticks_seconds(ticks, info->frequency) * 1e6;
}

/* Writes how clocks that differ were corrected, and how precise the corrections are. */
static void write_clocks(struct base_output *out, const struct summary *summary)
{
	const struct ktread_info *info = ktread_info(summary->trace);
	char order[ORDER_TEXT];

	if (info->clock_samples && info->frequency)
		base_output_format(out,
				   "clocks    of %u CPUs corrected by %u measurements, by up to %.1f us, "
				   "with an error of up to %.3f us\n",
				   info->clock_cpus, info->clock_samples,
				   microseconds(info, info->clock_largest),
				   microseconds(info, info->clock_error));
	else if (info->clock_samples)
		base_output_format(out,
				   "clocks    of %u CPUs corrected by %u measurements, by up to %llu ticks, "
				   "with an error of up to %llu\n",
				   info->clock_cpus, info->clock_samples,
				   (unsigned long long)info->clock_largest,
				   (unsigned long long)info->clock_error);
	if (info->clock == KTREAD_CLOCK_ALIGNED && info->frequency)
		base_output_format(out, "clocks    aligned by causes and effects, by up to %.1f us\n",
				   microseconds(info, info->clock_aligned));
	else if (info->clock == KTREAD_CLOCK_ALIGNED)
		base_output_format(out, "clocks    aligned by causes and effects, by up to %llu ticks\n",
				   (unsigned long long)info->clock_aligned);
	if (info->clock_failed)
		base_output_format(
			out,
			"clocks    measured %llu times; %llu more attempts failed, "
			"because CPU 0 was too busy to answer in time, and were replaced by later ones\n",
			(unsigned long long)info->clock_measured, (unsigned long long)info->clock_failed);
	if (order_say(summary->trace, order) > 0)
		base_output_format(out, "clocks    %s\n", order);
}

/* Returns the words after a rate if rings cover different times. */
static const char *rated_words(const struct tally *tally)
{
	return tally->rated ? " in the time that each ring covers" : "";
}

static void write_span(struct base_output *out, const struct summary *summary)
{
	const struct ktread_info *info = ktread_info(summary->trace);
	const struct tally *tally = summary->tally;
	unsigned long long events = tally->events;

	if (info->frequency)
		base_output_format(out, "clock     %llu Hz%s\n", (unsigned long long)info->frequency,
				   ktread_is_coarse(info)
					   ? ": coarse, events within a tick are in order only within a CPU"
					   : "");
	else
		base_output_text(out, "clock     frequency unknown\n");
	write_clocks(out, summary);
	if (events == 0)
		base_output_text(out, "events    none\n");
	else if (has_rate(summary))
		base_output_format(out, "events    %llu in %.6f s, %.0f a second%s\n", events,
				   summary->seconds, a_second(summary, events, tally->rate),
				   rated_words(tally));
	else if (info->frequency)
		base_output_format(out, "events    %llu in %llu ticks of the clock, too few for a rate\n",
				   events, (unsigned long long)(tally->last - tally->first));
	else
		base_output_format(out, "events    %llu in %llu ticks\n", events,
				   (unsigned long long)(tally->last - tally->first));
}

static void write_loss(struct base_output *out, const struct summary *summary)
{
	const struct ktread_info *info = ktread_info(summary->trace);

	if (info->records_only) {
		base_output_format(out, "loss      unknown: version %u does not count what was overwritten\n",
				   info->version);
		return;
	}
	if (ktread_is_cut(info))
		base_output_text(out, "loss      unknown: the dump is cut short\n");
	if (info->unusable)
		base_output_format(
			out,
			"loss      all records of %u of the %u rings: their descriptors were overwritten\n",
			info->unusable, info->rings);
	if (summary->overwritten + summary->invalid + summary->dropped + info->lost_events == 0) {
		if (ktread_is_cut(info) || info->unusable)
			return;
		base_output_text(
			out, summary_is_dump(summary->trace) ? "loss      none in what the dump covers\n"
			     : summary_was_stopped(summary)  ? "loss      none until recording was stopped\n"
							     : "loss      none\n");
		return;
	}
	base_output_format(
		out, "loss      %llu slots overwritten, %llu unreadable; %llu records refused by full rings",
		(unsigned long long)summary->overwritten, (unsigned long long)summary->invalid,
		(unsigned long long)summary->dropped);
	if (info->lost_events)
		base_output_format(out, "; %llu of events without an id",
				   (unsigned long long)info->lost_events);
	base_output_text(out, "\n");
}

/* Writes how many times events repeated unchanged, so that they were counted instead of recorded. */
static void write_folded(struct base_output *out, const struct summary *summary)
{
	const struct tally *tally = summary->tally;

	if (tally->folded)
		base_output_format(out,
				   "folded    %llu repetitions counted instead of recorded, "
				   "%llu of them still in progress\n",
				   (unsigned long long)tally->folded, (unsigned long long)tally->folding);
}

static void name_event(const struct summary *summary, uint32_t id, char *name)
{
	const struct ktread_type *type = ktread_type(summary->trace, id);

	if (!type) {
		snprintf(name, ANALYZE_EVENT_NAME_MOST, "UNKNOWN(%u)", id);
		return;
	}
	*analyze_event_name_lower(name, type) = '\0';
}

/* Writes the events that were counted but not recorded. */
static void write_counted(struct base_output *out, const struct summary *summary)
{
	char name[ANALYZE_EVENT_NAME_MOST + 1];
	int begun = 0;

	for (uint32_t id = 1; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(summary->trace, id);

		if (!type || type->count == 0)
			continue;
		if (!begun++)
			base_output_format(out, "\n%-28s %12s %12s\n", "COUNTED EVENT", "FIRED",
					   "RECORDS HERE");
		name_event(summary, id, name);
		base_output_format(out, "%-28s %12llu %12llu\n", name, (unsigned long long)type->count,
				   (unsigned long long)summary->tally->event[id].count);
	}
}

static void write_events(struct base_output *out, const struct summary *summary)
{
	const struct tally *tally = summary->tally;
	char name[ANALYZE_EVENT_NAME_MOST + 1];

	base_output_format(out, "\n%-28s %12s %12s%s\n", "EVENT", "RECORDS", "A SECOND",
			   tally->folded ? "       FOLDED     OCCURRED" : "");
	for (size_t n = 0; n < summary->named_count; n++) {
		const struct summary_event *event = &summary->named[n];

		name_event(summary, event->id, name);
		write_counts(out, summary, name, event->count, event->rate);
		if (event->folded)
			base_output_format(out, " %12llu %12llu", (unsigned long long)event->folded,
					   (unsigned long long)(event->count + event->folded));
		base_output_text(out, "\n");
	}
}

static void write_threads(struct base_output *out, const struct summary *summary)
{
	char name[NAME_BYTES + 16];

	base_output_format(out, "\n%-28s %12s %12s\n", "THREAD", "RECORDS", "A SECOND");
	for (size_t n = 0; n < summary->thread_count && n < THREADS_SHOWN; n++) {
		const struct tally_entry *entry = &summary->threads[n];
		const char *known = ktread_thread_name(summary->trace, entry->key);
		char *at = name + sprintf(name, "PID=%u", entry->key);

		if (known && *known) {
			*at++ = '(';
			at = base_escape_text(at, known, strlen(known), NAME_BYTES - 8);
			*at++ = ')';
		}
		*at = '\0';
		write_row(out, summary, name, entry->count, entry->rate);
	}
	if (summary->thread_count > THREADS_SHOWN)
		base_output_format(out, "... and %zu more threads (--json has all)\n",
				   summary->thread_count - THREADS_SHOWN);
}

double summary_cost_share(const struct summary *summary, uint64_t events, double rate, uint32_t cpus)
{
	const struct tally *tally = summary->tally;
	const uint64_t ticks = tally->last - tally->first;

	if (!tally->events || !ticks)
		return 0;
	if (tally->rated)
		return (double)summary->cost / 1000 * rate / (cpus ? cpus : 1);
	return cost_share(summary->cost, events, ticks, cpus);
}

/* Writes what recording the events cost. */
static void write_cost(struct base_output *out, const struct summary *summary)
{
	const struct ktread_info *info = ktread_info(summary->trace);
	const struct tally *tally = summary->tally;
	const uint32_t cpus = ktread_cpus_used(info);

	if (summary->cost == 0) {
		base_output_text(out,
				 "cost      unknown: the kernel has not measured it (ktrace_probe_cost)\n");
		return;
	}
	if (info->frequency)
		base_output_format(out, "cost      %.1f ns an event",
				   (double)summary->cost * 1e6 / (double)info->frequency);
	else
		base_output_format(out, "cost      %.3f ticks an event", (double)summary->cost / 1000);
	if (has_rate(summary))
		base_output_format(out, ", %s%.3f%% of the time of %u CPU%s%s",
				   summary->invalid || (summary->overwritten && !tally->rated) ? "at least "
											       : "",
				   100 * summary_cost_share(summary, tally->events, tally->rate, cpus), cpus,
				   cpus == 1 ? "" : "s", rated_words(tally));
	base_output_text(out, "\n");
}

static void write_cpus(struct base_output *out, const struct summary *summary)
{
	char name[16];
	bool shares = summary->cost && has_rate(summary);

	base_output_format(out, "\n%-28s %12s %12s%s\n", "CPU", "RECORDS", "A SECOND",
			   shares ? "  COST OF ITS TIME" : "");
	for (size_t n = 0; n < summary->cpu_count; n++) {
		const struct tally_entry *entry = &summary->cpus[n];

		snprintf(name, sizeof(name), entry->key < TALLY_CPUS - 1 ? "CPU%u" : "CPU?", entry->key);
		write_counts(out, summary, name, entry->count, entry->rate);
		if (shares)
			base_output_format(out, " %16.3f%%",
					   100 * summary_cost_share(summary, entry->count, entry->rate, 1));
		base_output_text(out, "\n");
	}
}

static void write_rings(struct base_output *out, const struct summary *summary)
{
	base_output_format(out, "\n%-9s %10s %12s = %12s + %12s + %10s %10s %8s\n", "RING", "SLOTS",
			   "PRODUCED", "OVERWRITTEN", "DECODED", "UNREADABLE", "REFUSED", "LAPPED>=");
	for (uint32_t n = 0; n < ktread_info(summary->trace)->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(summary->trace, n);
		char name[16];

		if (ring->cpu == KTRX_NO_CPU)
			snprintf(name, sizeof(name), "%s", ktread_ring_name(ring, n));
		else
			snprintf(name, sizeof(name), "CPU%u", ring->cpu);
		base_output_format(out, "%-9s %10llu %12llu = %12llu + %12llu + %10llu %10llu %8llu\n", name,
				   (unsigned long long)ring->slots, (unsigned long long)ring->head,
				   (unsigned long long)ring->overwritten, (unsigned long long)ring->decoded,
				   (unsigned long long)ring->invalid, (unsigned long long)ring->dropped,
				   (unsigned long long)ring->lapped);
	}
}

void summary_write_text(struct base_output *out, const struct summary *summary, const char *path)
{
	write_head(out, summary, path);
	write_span(out, summary);
	write_loss(out, summary);
	write_folded(out, summary);
	if (is_of_kernel(ktread_info(summary->trace)))
		write_cost(out, summary);
	write_events(out, summary);
	write_counted(out, summary);
	write_threads(out, summary);
	write_cpus(out, summary);
	if (!ktread_info(summary->trace)->records_only)
		write_rings(out, summary);
}
