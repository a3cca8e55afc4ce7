/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* show ktr: what the user asked for, a line a record, with the pager. */
#include "ktrace/console.h"

#include "../core/core.h"
#include "../core/reader.h"
#include "line.h"
#include "pager.h"

#define KTRACE_CPU_LIMIT 100000u /* numbers from here on are no CPU */
#define KTRACE_BLANKS	 " \t,"

struct request {
	bool verbose, at_once;
	uint32_t cpu;
	struct ktrace_span patterns; /* none: all events */
};

/* One listing at a time; all of it would be too much for a kernel's stack. */
static struct {
	struct request request;
	struct ktrace_merge merge;
	struct ktrace_walk_record record;
	struct ktrace_line line;
	struct ktrace_pager pager;
} viewer;

/* ---- The request ------------------------------------------------------------------------------- */

/* Takes the digits off that the word begins with; false if it begins with none. */
static bool take_cpu(struct ktrace_span *word, uint32_t *cpu)
{
	const char *start = word->text;

	for (*cpu = 0; word->length > 0 && ktrace_digit(*word->text) < 10; word->text++, word->length--)
		*cpu = *cpu < KTRACE_CPU_LIMIT ? *cpu * 10 + ktrace_digit(*word->text) : KTRACE_CPU_LIMIT;
	return word->text != start;
}

/* Reads the modifiers behind the slash; false if there is one that does not exist. */
static bool parse_modifiers(struct ktrace_span word, struct request *request)
{
	while (word.length > 0) {
		if (ktrace_span_skip(&word, "v"))
			request->verbose = true;
		else if (ktrace_span_skip(&word, "a"))
			request->at_once = true;
		else if (!ktrace_span_skip(&word, "c") || !take_cpu(&word, &request->cpu))
			return false;
	}
	return true;
}

/* Has each pattern an event that it matches? */
static int patterns_check(struct ktrace_span patterns)
{
	struct ktrace_span pattern;

	while (ktrace_span_next(&patterns, KTRACE_BLANKS, &pattern)) {
		const struct ktrx_event *row;
		uint32_t id = 1;

		while ((row = ktrace_row_find(&ktrace_root, id)) && !ktrace_event_matches(row, pattern))
			id++;
		if (!row)
			return ktrace_refuse(pattern, KTRACE_ERROR_NO_EVENT);
	}
	return KTRACE_OK;
}

/* Before ktrace_init() any CPU may have recorded. */
static bool is_no_cpu(uint32_t cpu)
{
	return cpu != KTRACE_MERGE_ALL &&
	       cpu >= (ktrace_state.initialised ? ktrace_state.cpus : KTRACE_MAX_CPUS);
}

static int parse_request(const char *how, struct request *request)
{
	struct ktrace_span rest = ktrace_span_of(how), first, modifiers;

	request->verbose = false;
	request->at_once = false;
	request->cpu = KTRACE_MERGE_ALL;
	request->patterns = rest;
	ktrace_span_next(&rest, KTRACE_BLANKS, &first);
	modifiers = first;
	if (ktrace_span_skip(&modifiers, "/")) {
		request->patterns = rest;
		if (!parse_modifiers(modifiers, request))
			return ktrace_refuse(first, KTRACE_ERROR_SYNTAX);
	}
	if (is_no_cpu(request->cpu))
		return ktrace_refuse(first, KTRACE_ERROR_ARGUMENT);
	return patterns_check(request->patterns);
}

static bool record_is_wanted(const struct ktrace_walk_record *record, const struct ktrx_event *row)
{
	struct ktrace_span rest = viewer.request.patterns, pattern;

	if (viewer.request.cpu != KTRACE_MERGE_ALL && record->cpu != viewer.request.cpu)
		return false;
	if (!ktrace_span_next(&rest, KTRACE_BLANKS, &pattern))
		return true;
	do {
		if (row && ktrace_event_matches(row, pattern))
			return true;
	} while (ktrace_span_next(&rest, KTRACE_BLANKS, &pattern));
	return false;
}

/* ---- Lines ------------------------------------------------------------------------------------- */

static uint64_t index_since_boot(const struct ktrace_walk_record *record)
{
	uint32_t shift = record->ring->shift;

	return record->index - ((ktrace_root.nonce & 0xff) << shift);
}

static void put_place(struct ktrace_line *line, const struct ktrace_walk_record *record)
{
	ktrace_line_text(line, "cpu");
	if (record->cpu == KTRX_NO_CPU)
		ktrace_line_put(line, '?');
	else
		ktrace_line_decimal(line, record->cpu);
	ktrace_line_put(line, ' ');
	ktrace_line_decimal(line, index_since_boot(record));
	ktrace_line_text(line, ": ");
}

static void put_callers(struct ktrace_line *line, const uint64_t *caller)
{
	if (!caller[0] && !caller[1])
		return;
	ktrace_line_text(line, "from(");
	ktrace_line_hex(line, caller[0]);
	ktrace_line_put(line, ',');
	ktrace_line_hex(line, caller[1]);
	ktrace_line_text(line, ") ");
}

static void put_record(struct ktrace_line *line, const struct ktrace_walk_record *record,
		       const struct ktrx_event *row, const struct ktrx_place *place)
{
	put_place(line, record);
	if (viewer.request.verbose)
		ktrace_format_origin(line, row, place, record->stamp);
	ktrace_format_name(line, row, record->event);
	ktrace_line_text(line, "  ");
	put_callers(line, record->caller);
	ktrace_format_payload(line, row, record->payload, record->bytes);
	ktrace_line_put(line, '\n');
	ktrace_line_flush(line);
}

static void put_count(struct ktrace_line *line, uint64_t count, const char *what)
{
	if (count == 0)
		return;
	ktrace_line_decimal(line, count);
	ktrace_line_text(line, what);
	ktrace_line_put(line, '\n');
	ktrace_line_flush(line);
}

int ktrace_console_show(const struct ktrace_console *console, const char *how)
{
	struct ktrace_line *line = &viewer.line;
	struct ktrace_walk_record *record = &viewer.record;
	uint64_t shown = 0;
	int error;

	ktrace_attach();
	error = parse_request(how, &viewer.request);
	if (error)
		return error;
	ktrace_line_start(line, console);
	ktrace_pager_start(&viewer.pager, console, viewer.request.at_once);
	ktrace_merge_start(&viewer.merge, viewer.request.cpu);
	while (ktrace_merge_next(&viewer.merge, record)) {
		const struct ktrx_place *place;
		const struct ktrx_event *row = ktrace_row_of(&ktrace_root, record->event, &place);

		if (!record_is_wanted(record, row))
			continue;
		if (!ktrace_pager_may_go_on(&viewer.pager))
			return KTRACE_OK;
		put_record(line, record, row, place);
		shown++;
	}
	if (shown == 0)
		console->write(console, "no records\n", 11);
	put_count(line, viewer.merge.overwritten, " overwritten while shown");
	put_count(line, viewer.merge.unreadable, " unreadable");
	return KTRACE_OK;
}
