/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "serve/answers.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/changed.h"
#include "base/escape.h"
#include "base/open.h"
#include "export/timeline.h"
#include "filter/filter.h"
#include "page/page.h"
#include "serve/job.h"

/*
 * time in ns: an event is searched for in the range from this much before to this much after the time in the
 * request
 */
#define SLACK_NS 1000u

/* The data that is needed to make an answer. */
struct answer {
	const struct serve_source *source;
	const struct serve_request *request;
	int descriptor;
	struct ktread *trace;
	struct filter *filter;
};

static int fail(const struct answer *answer, uint32_t status, const char *text)
{
	return serve_error(answer->descriptor, status, text, 0);
}

/* Reports an error in reading the trace or in writing a temporary file (KTREAD_E_SYSTEM). */
static int fail_reading(const struct answer *answer, int status)
{
	return fail(answer, SERVE_BROKEN,
		    status == KTREAD_E_MEMORY		       ? "out of memory"
		    : status == KTREAD_E_SYSTEM || status == 0 ? "a temporary file cannot be written"
							       : ktread_message(answer->trace));
}

/* ---- The file ---- */

/* Returns a text about a file that became shorter while this process read it; NULL: there is none. */
static const char *what_became_shorter(void)
{
	static char text[PATH_MAX + 200];

	if (!base_changed_file())
		return NULL;
	snprintf(text, sizeof(text), "%s: %s", base_changed_file(), base_changed_how());
	return text;
}

const char *serve_what_changed(const struct serve_source *source)
{
	const struct stat *then = &source->file;
	struct stat now;

	if (stat(source->options->path, &now) != 0)
		return errno == ENOENT ? "the trace file no longer exists" : strerror(errno);
	if (now.st_dev != then->st_dev || now.st_ino != then->st_ino)
		return "the trace file has been replaced by another file: start ktrace open again";
	if (source->options->live)
		return what_became_shorter();
	if (now.st_size != then->st_size || now.st_mtim.tv_sec != then->st_mtim.tv_sec ||
	    now.st_mtim.tv_nsec != then->st_mtim.tv_nsec)
		return "the trace file has changed since it was opened: start ktrace open again";
	return what_became_shorter();
}

/* ---- Times ---- */

/* Returns whether the trace is from a different run of the guest than the data of the page. */
static bool is_other_run(const struct serve_source *source, const struct ktread *trace)
{
	const struct serve_zero *zero = &source->zero;
	const uint64_t nonce = ktread_info(trace)->nonce;

	/* If runs have no nonce, an event before time 0 shows that the trace is from a different run. */
	return zero->known &&
	       (zero->nonce != nonce || (nonce == 0 && ktread_first_stamp(trace) < zero->stamp));
}

uint64_t serve_base(const struct serve_source *source, const struct ktread *trace)
{
	return source->zero.known && !is_other_run(source, trace) ? source->zero.stamp
								  : ktread_first_stamp(trace);
}

/*
 * Returns the first tick that is not before `ns` nanoseconds. If the frequency is unknown, `ns` is in ticks.
 */
static uint64_t first_tick(uint64_t ns, uint64_t frequency)
{
	const unsigned __int128 product = (unsigned __int128)ns * frequency + 999999999;

	if (!frequency)
		return ns;
	return product / 1000000000 > UINT64_MAX ? UINT64_MAX : (uint64_t)(product / 1000000000);
}

static uint64_t add(uint64_t stamp, uint64_t ticks)
{
	return __builtin_add_overflow(stamp, ticks, &stamp) ? UINT64_MAX : stamp;
}

/* Sets the times of a filter: from `from` to `until`, both inclusive, in ns since time 0 of the page. */
static void set_times(const struct answer *answer, struct ktread_filter *filter, uint64_t from,
		      uint64_t until)
{
	const uint64_t first = serve_base(answer->source, answer->trace);
	const uint64_t frequency = ktread_info(answer->trace)->frequency;
	const uint64_t end = until == UINT64_MAX ? until : first_tick(until + 1, frequency);

	filter->since = add(first, first_tick(from, frequency));
	filter->until = end == UINT64_MAX ? 0 : add(first, end) - 1;
	/* the range is between two ticks, so it contains no event */
	if (filter->until && filter->since > filter->until)
		filter->since = UINT64_MAX, filter->until = 1;
}

/* ---- Selecting events ---- */

static int is_id(void *context, const struct ktread_event *event)
{
	const struct serve_request *request = context;

	return event->ring == request->ring && event->index == request->slot;
}

static int is_accepted(void *context, const struct ktread_event *event)
{
	return filter_accepts(context, event);
}

/* Selects the event with the id of the request. */
static void choose_id(const struct answer *answer, struct ktread_filter *filter)
{
	const struct serve_request *request = answer->request;
	const uint64_t time = request->time;

	if (request->has_time)
		set_times(answer, filter, time > SLACK_NS ? time - SLACK_NS : 0,
			  time > UINT64_MAX - SLACK_NS ? UINT64_MAX : time + SLACK_NS);
	filter->accept = is_id;
	filter->context = (void *)(uintptr_t)request;
}

/*
 * Parses the expression. Returns 0. Returns 1 if the expression is invalid, and an error was written as the
 * answer.
 */
static int parse_where(struct answer *answer, int *written)
{
	struct filter_error error;
	int status = filter_parse(&answer->filter, answer->request->where, &error);
	char text[BASE_ESCAPE_TEXT_GROWTH * sizeof(error.text)];

	if (status == 0)
		status = filter_bind(answer->filter, answer->trace, &error);
	if (status == 0)
		return 0;
	if (status == KTREAD_E_MEMORY) {
		*written = fail(answer, SERVE_BROKEN, "out of memory");
		return 1;
	}
	*base_escape_text(text, error.text, strlen(error.text), sizeof(text) - 1) = '\0';
	*written = serve_error(answer->descriptor, SERVE_BAD, text, error.column);
	return 1;
}

/* Selects the events that match the expression. */
static void choose_where(const struct answer *answer, struct ktread_filter *filter,
			 struct filter_window *window)
{
	filter_narrow(answer->filter, window);
	if (filter->since < window->since)
		filter->since = window->since;
	if (filter->until == 0 || filter->until > window->until)
		filter->until = window->until;
	if (filter->since > filter->until)
		filter->since = UINT64_MAX, filter->until = 1;
	filter->events = window->events;
	if (window->some_cpus) {
		filter->cpus = window->cpus;
		filter->cpu_count = FILTER_CPUS;
	}
	filter->accept = is_accepted;
	filter->context = answer->filter;
}

/* ---- Events as JSON ---- */

/*
 * Copies lines as elements of an array. Each line is a JSON object, and no string in it contains a newline.
 * Returns 0 or an errno.
 */
static int copy_lines(int from, struct base_output *out)
{
	char buffer[65536];
	bool ended = false;
	ssize_t got;

	while ((got = read(from, buffer, sizeof(buffer))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		for (ssize_t at = 0, next; at < got; at = next) {
			const char *end = memchr(buffer + at, '\n', (size_t)(got - at));

			if (ended)
				base_output_text(out, ",\n");
			next = end ? end - buffer : got;
			base_output_bytes(out, buffer + at, (size_t)(next - at));
			ended = end != NULL;
			next += ended;
		}
	}
	return 0;
}

/* Result of write_lines(). */
struct found {
	uint64_t events;
	bool more; /* true if there are more events than the limit */
};

/* Writes the lines of `ktrace show --json` to a file. Returns 0 or a negative KTREAD_E_*. */
static int write_lines(const struct answer *answer, int file, struct found *found)
{
	struct symbols *symbols = NULL;
	struct base_output out;
	struct timeline timeline = {
		.trace = answer->trace,
		.out = &out,
		.limit = answer->request->what == SERVE_EVENT ? 1 : answer->request->limit,
		.ids = true,
		.filtered = 1,
	};
	const struct ktread_event *next;
	int result;

	if (base_output_open(&out, file) < 0)
		return KTREAD_E_MEMORY;
	if (answer->source->options->open_symbols)
		symbols = answer->source->options->open_symbols(answer->source->options->context,
								answer->trace);
	timeline.symbols = symbols;
	result = lines_write(&timeline);
	found->events = timeline.shown;
	found->more = result > 0 && ktread_next(answer->trace, &next) > 0;
	symbols_close(symbols);
	return base_output_close(&out) ? KTREAD_E_SYSTEM : result < 0 ? result : 0;
}

/* Writes the events in the file as an array, after members that describe them. */
static int write_array(const struct answer *answer, int file, const struct found *found)
{
	struct base_output out;
	int error = serve_begin(answer->descriptor, SERVE_OK, SERVE_JSON);

	if (error || base_output_open(&out, answer->descriptor) < 0)
		return EXIT_FAILURE;
	base_output_format(&out, "{" BASE_OUTPUT_SCHEMA ",\"more\":%s,\"events\":[\n", "ktrace-open-events/1",
			   found->more ? "true" : "false");
	error = copy_lines(file, &out);
	base_output_text(&out, "]}\n");
	return base_output_close(&out) || error ? EXIT_FAILURE : 0;
}

/* Writes the last line of the file, which contains the event. A line about lost slots may come before it. */
static int write_one(const struct answer *answer, int file)
{
	char lines[2 * BASE_OUTPUT_LINE];
	const ssize_t got = read(file, lines, sizeof(lines));
	const char *before = got > 1 ? memrchr(lines, '\n', (size_t)got - 1) : NULL;
	const char *line = before ? before + 1 : lines;
	const size_t length = got > 0 ? (size_t)(lines + got - line) : 0;

	if (serve_begin(answer->descriptor, SERVE_OK, SERVE_JSON))
		return EXIT_FAILURE;
	return serve_write(answer->descriptor, line, length) ? EXIT_FAILURE : 0;
}

static int write_events(const struct answer *answer)
{
	const int file = base_temporary_open();
	struct found found = { .events = 0 };
	const int status = file < 0 ? KTREAD_E_SYSTEM : write_lines(answer, file, &found);
	const char *changed = serve_what_changed(answer->source);

	if (changed)
		return fail(answer, SERVE_CHANGED, changed);
	if (status < 0 || lseek(file, 0, SEEK_SET) != 0)
		return fail_reading(answer, status);
	if (answer->request->what != SERVE_EVENT)
		return write_array(answer, file, &found);
	return found.events ? write_one(answer, file) : fail(answer, SERVE_ABSENT, "no event has this id");
}

/* Sets the filter of the request, and writes the events. */
static int write_chosen(struct answer *answer)
{
	const struct serve_request *request = answer->request;
	struct ktread_filter filter = { .size = sizeof(filter), .thread = -1 };
	struct filter_window window;
	int status, written;

	if (request->where[0] && parse_where(answer, &written))
		return written;
	if (request->what == SERVE_EVENT)
		choose_id(answer, &filter);
	else
		set_times(answer, &filter, request->from, request->until);
	if (request->where[0])
		choose_where(answer, &filter, &window);
	status = ktread_set_filter(answer->trace, &filter);
	if (status == 0)
		status = ktread_rewind(answer->trace);
	if (status < 0)
		return fail(answer, SERVE_BROKEN, ktread_message(answer->trace));
	return write_events(answer);
}

/* Copies a file to the answer. Returns the exit status. */
static int copy_file(const struct answer *answer, int file)
{
	char buffer[65536];
	ssize_t got;

	if (serve_begin(answer->descriptor, SERVE_OK, SERVE_JSON))
		return EXIT_FAILURE;
	while ((got = read(file, buffer, sizeof(buffer))) != 0)
		if ((got < 0 && errno != EINTR) ||
		    (got > 0 && serve_write(answer->descriptor, buffer, (size_t)got)))
			return EXIT_FAILURE;
	return 0;
}

/*
 * Writes the verdict of the whole trace, which takes seconds if the trace is long. The verdict is written to
 * a file first, because the status of the answer, which comes before the verdict, is known only after the
 * verdict has been made.
 */
static int write_verdict(const struct answer *answer)
{
	const struct serve_options *options = answer->source->options;
	const uint64_t base = serve_base(answer->source, answer->trace);
	struct page_options about = { .version = options->version, .base = &base };
	const int file = base_temporary_open();
	struct base_output out;
	const char *changed;
	struct page *page;
	int status;

	if (file < 0)
		return fail_reading(answer, KTREAD_E_SYSTEM);
	if (base_output_open(&out, file) < 0)
		return fail_reading(answer, KTREAD_E_MEMORY);
	if (options->open_symbols)
		about.symbols = options->open_symbols(options->context, answer->trace);
	status = page_open_window(&page, answer->trace, &about);
	if (status == 0)
		status = page_write_verdict(page, &out);
	page_close(page);
	symbols_close(about.symbols);
	if ((base_output_close(&out) && status == 0) || lseek(file, 0, SEEK_SET) != 0)
		status = KTREAD_E_SYSTEM;
	changed = serve_what_changed(answer->source);
	if (changed)
		return fail(answer, SERVE_CHANGED, changed);
	return status < 0 ? fail_reading(answer, status) : copy_file(answer, file);
}

/*
 * Opens the trace. In a version 1 trace, the ids of events depend on the part that is read. So the whole
 * trace is read, except to answer a request for a time window, which must be fast. Returns NULL if this
 * fails.
 */
static struct ktread *open_trace(const struct serve_options *options, enum serve_what what)
{
	struct ktread *trace = options->open(options->context, true);

	if (!trace || ktread_info(trace)->version != 1 || what == SERVE_WINDOW)
		return trace;
	ktread_close(trace);
	return options->open(options->context, false);
}

/*
 * Returns whether the page shows the answer beside its other data, so that the answer must be from the same
 * run.
 */
static bool belongs_to_page(enum serve_what what)
{
	return what == SERVE_WINDOW || what == SERVE_VERDICT || what == SERVE_EVENT;
}

int serve_answer(void *context, const void *request, int descriptor)
{
	struct answer answer = { .source = context, .request = request, .descriptor = descriptor };
	const char *changed = serve_what_changed(answer.source);
	int status;

	if (changed)
		return fail(&answer, SERVE_CHANGED, changed);
	answer.trace = open_trace(answer.source->options, answer.request->what);
	if (!answer.trace)
		return fail(&answer, SERVE_BROKEN, "the trace file can no longer be read");
	if (belongs_to_page(answer.request->what) && is_other_run(answer.source, answer.trace))
		status = fail(&answer, SERVE_CHANGED, "the guest has started again: load the page again");
	else if (answer.request->what == SERVE_WINDOW)
		status = serve_window(answer.source, answer.request, answer.trace, descriptor);
	else
		status = answer.request->what == SERVE_VERDICT ? write_verdict(&answer)
							       : write_chosen(&answer);
	filter_free(answer.filter);
	ktread_close(answer.trace);
	return status;
}
