/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Commands of the console: show records (show ktr), settings (show settings), and callers, with a pager; and
 * explain why a request was refused.
 */
#include "ktrace/console.h"

#include "../core/core.h"
#include "../core/reader.h"
#include "line.h"

#define KTRACE_CPU_LIMIT 100000u /* limit of CPU numbers that a user types: larger numbers are invalid */
#define KTRACE_BLANKS	 " \t,"

struct request {
	bool verbose, at_once;
	uint32_t cpu;
	struct ktrace_span patterns; /* patterns that the user typed; empty: all events */
};

/*
 * The data of a listing. It is static because it is too large for a kernel stack; only one listing runs at a
 * time.
 */
static struct {
	struct request request;
	struct ktrace_merge merge;
	struct ktrace_walk_record record;
	struct ktrace_line line;
	struct ktrace_pager pager;
} viewer;

/* ---- What the user typed after "show ktr" ------------------------------------------------------ */

/* Takes a number from the start of the word. Returns false if the word does not begin with a digit. */
static bool take_cpu(struct ktrace_span *word, uint32_t *cpu)
{
	const char *start = word->text;

	for (*cpu = 0; word->length > 0 && ktrace_digit(*word->text) < 10; word->text++, word->length--)
		*cpu = *cpu < KTRACE_CPU_LIMIT ? *cpu * 10 + ktrace_digit(*word->text) : KTRACE_CPU_LIMIT;
	return word->text != start;
}

/* Reads the modifiers after the slash. Returns false if a modifier is unknown. */
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

/* Checks that each pattern matches at least one event. */
static int patterns_check(struct ktrace_span patterns)
{
	struct ktrace_span pattern;

	while (ktrace_span_next(&patterns, KTRACE_BLANKS, &pattern)) {
		const struct ktrx_event *row;
		uint32_t id = 1;

		while ((row = ktrace_descriptor_find(&ktrace_root, id)) &&
		       !ktrace_event_matches(row, pattern))
			id++;
		if (!row)
			return ktrace_refuse(pattern, KTRACE_ERROR_NO_EVENT);
	}
	return KTRACE_OK;
}

/*
 * Returns true if no CPU has that number. Before ktrace_init() the number of CPUs is not known: all numbers
 * below KTRACE_MAX_CPUS are valid.
 */
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

/* ---- Lines of the listing ---------------------------------------------------------------------- */

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

static void put_count(struct ktrace_line *line, const char *what, uint64_t count)
{
	if (count == 0)
		return;
	ktrace_line_text(line, what);
	ktrace_line_decimal(line, count);
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
		const struct ktrx_event *row = ktrace_descriptor_of(&ktrace_root, record->event, &place);

		if (!record_is_wanted(record, row))
			continue;
		if (!ktrace_pager_may_go_on(&viewer.pager))
			return KTRACE_OK;
		put_record(line, record, row, place);
		shown++;
	}
	if (shown == 0)
		console->write(console, "no records\n", 11);
	put_count(line, "slots overwritten while shown: ", viewer.merge.overwritten);
	put_count(line, "unreadable slots: ", viewer.merge.unreadable);
	return KTRACE_OK;
}

/* ---- The command show settings ---------------------------------------------------------------- */

/* show settings: lists settings whose names begin with the given prefix, one per line, with the pager. */

/*
 * The data of the listing. It is static because it contains a mask of all possible events, which is too large
 * for a kernel stack; only one listing runs at a time.
 */
static struct {
	struct ktrace_span prefix;
	struct ktrace_line line;
	struct ktrace_pager pager;
	uint32_t shown;
	char value[3 + (KTRX_EVENT_MAX + 3) / 4];
} listing;

static int show_setting(void *context, const char *name)
{
	uint32_t same = 0;

	(void)context;
	while (same < listing.prefix.length && name[same] == listing.prefix.text[same])
		same++;
	if (same < listing.prefix.length)
		return 0;
	if (ktrace_setting_get(name, listing.value, sizeof(listing.value)) < 0)
		return 0;
	listing.shown++;
	if (!ktrace_pager_may_go_on(&listing.pager))
		return 1;
	ktrace_line_text(&listing.line, name);
	ktrace_line_put(&listing.line, '=');
	ktrace_line_text(&listing.line, listing.value);
	ktrace_line_put(&listing.line, '\n');
	ktrace_line_flush(&listing.line);
	return 0;
}

int ktrace_console_settings(const struct ktrace_console *console, const char *how)
{
	struct ktrace_span rest = ktrace_span_of(how);
	struct ktrace_span word;
	bool at_once = false;

	ktrace_span_next(&rest, " \t", &word);
	if (word.length > 0 && word.text[0] == '/') {
		at_once = ktrace_span_is(word, "/a");
		if (!at_once)
			return ktrace_refuse(word, KTRACE_ERROR_SYNTAX);
		ktrace_span_next(&rest, " \t", &word);
	}
	listing.prefix = word;
	listing.shown = 0;
	ktrace_line_start(&listing.line, console);
	ktrace_pager_start(&listing.pager, console, at_once);
	ktrace_setting_each(show_setting, NULL);
	return listing.shown > 0 ? KTRACE_OK : ktrace_refuse(word, KTRACE_ERROR_NO_SETTING);
}

/* ---- Callers ---------------------------------------------------------------------------------- */

/* Prints the callers of the calling function, one per line. */

#define KTRACE_MOST 20u /* maximum number of callers, small enough for a small stack */
#define KTRACE_OWN  2u	/* number of addresses to skip: those in this function and in its caller */

/* Not inlined: this function must have a frame of its own, which is skipped in the list. */
__attribute__((__noinline__)) void ktrace_console_backtrace(const struct ktrace_console *console, int count)
{
	uintptr_t address[KTRACE_OWN + KTRACE_MOST];
	uint32_t most = count >= 0 && count < (int)KTRACE_MOST ? (uint32_t)count : KTRACE_MOST;
	struct ktrace_line line;
	uint32_t found;

	ktrace_line_start(&line, console);
	if (!ktrace_has_backtrace()) {
		ktrace_line_text(&line, "no backtrace: the kernel was built without KTRACE_FRAME_POINTERS");
		ktrace_line_put(&line, '\n');
		ktrace_line_flush(&line);
		return;
	}
	found = ktrace_backtrace(address, KTRACE_OWN + most);
	for (uint32_t n = KTRACE_OWN; n < found; n++) {
		ktrace_line_put(&line, '#');
		ktrace_line_decimal(&line, n - KTRACE_OWN);
		ktrace_line_put(&line, ' ');
		ktrace_line_hex(&line, address[n]);
		ktrace_line_put(&line, '\n');
	}
	ktrace_line_flush(&line);
}

/* ---- Explaining a refused request ------------------------------------------------------------- */

/* Prints the word that was refused, the reason, and suggestions. */

struct refusal {
	struct ktrace_line line;
	uint32_t names;
};

static const char *reason_of(int error)
{
	switch (error) {
	case KTRACE_ERROR_NO_EVENT:
		return "no such event";
	case KTRACE_ERROR_NO_SETTING:
		return "no such setting";
	case KTRACE_ERROR_READ_ONLY:
		return "the setting is read-only";
	case KTRACE_ERROR_ARGUMENT:
		return "out of range";
	default:
		return "syntax error";
	}
}

static void put_suggestion(void *cookie, const char *name)
{
	struct refusal *refusal = cookie;

	ktrace_line_text(&refusal->line, refusal->names++ ? ", " : "; did you mean ");
	ktrace_line_text(&refusal->line, name);
}

void ktrace_console_refusal(const struct ktrace_console *console, int error)
{
	struct refusal refusal;
	size_t length;
	const char *word = ktrace_refused(&length);

	if (error >= 0)
		return;
	refusal.names = 0;
	ktrace_line_start(&refusal.line, console);
	ktrace_line_bytes(&refusal.line, word, (uint32_t)length);
	ktrace_line_text(&refusal.line, ": ");
	ktrace_line_text(&refusal.line, reason_of(error));
	if (error == KTRACE_ERROR_NO_EVENT || error == KTRACE_ERROR_NO_SETTING)
		ktrace_control_near(word, length, put_suggestion, &refusal);
	ktrace_line_text(&refusal.line, refusal.names > 0 ? "?" : "");
	ktrace_line_put(&refusal.line, '\n');
	ktrace_line_flush(&refusal.line);
}
