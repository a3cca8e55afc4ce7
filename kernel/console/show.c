/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* show ktr: what the user asked for, a line a record, with the pager. */
#include "ktrace/console.h"

#include "../core/near.h"
#include "../core/pattern.h"
#include "../core/row.h"
#include "../core/state.h"
#include "line.h"
#include "pager.h"

#define KTRACE_CPU_LIMIT 100000u /* numbers from here on are no CPU */

struct request {
	bool verbose, at_once;
	uint32_t cpu;
	const char *patterns; /* "" for all events */
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

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == ',';
}

static const char *skip_blanks(const char *at)
{
	while (is_blank(*at))
		at++;
	return at;
}

static const char *parse_cpu(const char *at, uint32_t *cpu)
{
	const char *start = at;

	for (*cpu = 0; *at >= '0' && *at <= '9'; at++)
		*cpu = *cpu < KTRACE_CPU_LIMIT ? *cpu * 10 + (uint32_t)(*at - '0') : KTRACE_CPU_LIMIT;
	return at == start ? NULL : at;
}

/* Reads the modifiers behind the slash; NULL if there is one that does not exist. */
static const char *parse_modifiers(const char *at, struct request *request)
{
	while (at && *at && !is_blank(*at)) {
		switch (*at++) {
		case 'v':
			request->verbose = true;
			break;
		case 'a':
			request->at_once = true;
			break;
		case 'c':
			at = parse_cpu(at, &request->cpu);
			break;
		default:
			at = NULL;
		}
	}
	return at;
}

/* The next of the patterns, its length in *length; NULL behind the last one. */
static const char *next_pattern(const char *at, uint32_t *length)
{
	at = skip_blanks(at);
	for (*length = 0; at[*length] && !is_blank(at[*length]);)
		++*length;
	return *length > 0 ? at : NULL;
}

/* Says of the word there that it is what is wrong. */
static int refuse(const char *at, int error)
{
	struct ktrace_span word;

	word.text = next_pattern(at, &word.length);
	return ktrace_refuse(word, error);
}

/* Has each pattern an event that it matches? */
static int patterns_check(const char *patterns)
{
	uint32_t length;

	for (const char *at = patterns; (at = next_pattern(at, &length)) != NULL; at += length) {
		const struct ktrx_event *row;
		uint32_t id = 1;

		while ((row = ktrace_row_find(&ktrace_root, id)) && !ktrace_event_matches(row, at, length))
			id++;
		if (!row)
			return refuse(at, KTRACE_ERROR_NO_EVENT);
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
	const char *rest;

	request->verbose = false;
	request->at_once = false;
	request->cpu = KTRACE_MERGE_ALL;
	how = skip_blanks(how);
	rest = *how == '/' ? parse_modifiers(how + 1, request) : how;
	if (!rest)
		return refuse(how, KTRACE_ERROR_SYNTAX);
	if (is_no_cpu(request->cpu))
		return refuse(how, KTRACE_ERROR_ARGUMENT);
	request->patterns = skip_blanks(rest);
	return patterns_check(request->patterns);
}

static bool record_is_wanted(const struct ktrace_walk_record *record, const struct ktrx_event *row)
{
	const char *at = viewer.request.patterns;
	uint32_t length;

	if (viewer.request.cpu != KTRACE_MERGE_ALL && record->cpu != viewer.request.cpu)
		return false;
	if (!*at)
		return true;
	for (; row && (at = next_pattern(at, &length)) != NULL; at += length)
		if (ktrace_event_matches(row, at, length))
			return true;
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
