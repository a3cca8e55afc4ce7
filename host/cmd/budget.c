/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * --budget and --cursor: an answer in pages of a limited size. The command itself runs in a child process
 * without a limit. This process divides the command's output into pieces and prints the pieces of one page:
 *
 * - Text and JSON Lines are divided into lines.
 * - A JSON document is divided into its members, and a member that is an array into its elements. A page is a
 *   document with some of them. Pages joined member by member, and array by array, are the whole document.
 *
 * A cursor contains the number of pieces before the next page, and a hash of these pieces. If the hash
 * differs later, the answer has changed.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/output.h"
#include "cmd/command.h"
#include "cmd/trace_args.h"

/* ---- One page of an answer ---- */

#define HASH_START   UINT64_C(0xcbf29ce484222325)
#define PAGE_TRAILER 80u /* maximum number of bytes of a cursor with the text around it */

struct page {
	size_t budget, used; /* maximum size of the page, and size of what was printed so far, in bytes */
	/* number of pieces on earlier pages, and the hash of these pieces; both come from the cursor */
	uint64_t skipped, skipped_hash;
	uint64_t pieces, hash; /* number and hash of all pieces so far, including those on earlier pages */
	size_t large;	       /* size of a piece that does not fit into any page; 0: none */
	bool full;	       /* the page is full, and more pieces follow */
	bool changed;	       /* the pieces of earlier pages differ from those that the cursor describes */
	bool array;	       /* an array in the document has begun and not ended */
	const char *key;       /* name of the document's last member, with its quotes; not NUL-terminated */
	size_t key_length;
	struct base_output *out;
};

/* the FNV-1a hash, because it is the same in each process, unlike base_hash_bytes() */
static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t length)
{
	for (size_t n = 0; n < length; n++)
		hash = (hash ^ (unsigned char)bytes[n]) * UINT64_C(0x100000001b3);
	return hash;
}

static void page_init(struct page *page, struct base_output *out, size_t budget)
{
	*page = (struct page){ .budget = budget, .out = out, .hash = HASH_START, .skipped_hash = HASH_START };
}

/* Reads a cursor. Returns false if the text is not a cursor. */
static bool page_set_cursor(struct page *page, const char *text)
{
	char again[PAGE_TRAILER];
	char *end;

	page->skipped = strtoull(text, &end, 10);
	page->skipped_hash = *end == '-' ? strtoull(end + 1, NULL, 16) : 0;
	snprintf(again, sizeof(again), "%" PRIu64 "-%016" PRIx64, page->skipped, page->skipped_hash);
	return page->skipped > 0 && strcmp(text, again) == 0;
}

/* Writes the cursor of the next page. */
static void page_cursor(const struct page *page, char text[PAGE_TRAILER])
{
	snprintf(text, PAGE_TRAILER, "%" PRIu64 "-%016" PRIx64, page->pieces, page->hash);
}

/* Counts a piece that was printed on this page or on an earlier page. */
static void count(struct page *page, const char *piece, size_t length)
{
	page->hash = hash_bytes(page->hash, piece, length);
	page->pieces++;
	if (page->pieces == page->skipped && page->hash != page->skipped_hash)
		page->changed = true;
}

/*
 * Decides whether a piece that needs `size` bytes is printed on this page. Returns false if the piece was on
 * an earlier page, or if the page ends before it.
 */
static bool is_due(struct page *page, const char *piece, size_t length, size_t size)
{
	if (page->pieces < page->skipped) {
		count(page, piece, length);
		return false;
	}
	if (page->used + size + PAGE_TRAILER > page->budget) {
		page->full = true;
		if (page->pieces == page->skipped)
			page->large = page->used + size + PAGE_TRAILER;
		return false;
	}
	return true;
}

static void put(struct page *page, const char *text, size_t length)
{
	base_output_bytes(page->out, text, length);
	page->used += length;
}

/*
 * Processes a line with its newline. Returns false if the page ends before the line; in this case, sets full,
 * large or changed.
 */
static bool page_line(struct page *page, const char *line, size_t length)
{
	if (is_due(page, line, length, length)) {
		put(page, line, length);
		count(page, line, length);
	}
	return !page->full && !page->changed;
}

/*
 * Sets `changed` if the answer now has fewer pieces than the earlier pages contained. Call it after the last
 * piece of the answer.
 */
static void page_end(struct page *page)
{
	if (page->pieces < page->skipped)
		page->changed = true;
}

/* ---- Dividing JSON documents into pieces ---- */

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (is_blank(*at) || *at == ','))
		at++;
	return at;
}

static const char *string_end(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		at += *at == '\\';
	return at < end ? at + 1 : NULL;
}

/* Returns the end of the JSON value that begins at `at`; NULL if it does not end before `end`. */
static const char *page_value_end(const char *at, const char *end)
{
	size_t depth = 0;

	while (at && at < end) {
		if (*at == '"') {
			at = string_end(at, end);
		} else if (*at == '{' || *at == '[') {
			depth++;
			at++;
		} else if (*at == '}' || *at == ']') {
			if (depth == 0)
				return at;
			depth--;
			at++;
		} else if (depth == 0 && (*at == ',' || is_blank(*at))) {
			return at;
		} else {
			at++;
			continue;
		}
		if (at && depth == 0)
			return at;
	}
	return NULL;
}

static bool is_key(const struct page *page, const char *name)
{
	return page->key_length == strlen(name) && memcmp(page->key, name, page->key_length) == 0;
}

static void close_array(struct page *page)
{
	if (page->array)
		put(page, "]", 1);
	page->array = false;
}

/* Processes a value: a member of the document, or an element of the member that is an array. */
static bool take_value(struct page *page, const char *value, size_t length, bool element, bool first)
{
	const bool joins = element && page->array && !first;
	const size_t size = joins ? 1 + length : page->key_length + length + 5;

	if (is_due(page, value, length, size)) {
		if (!joins) {
			close_array(page);
			if (page->used > 1)
				put(page, ",", 1);
			put(page, page->key, page->key_length);
			put(page, element ? ":[" : ":", element ? 2 : 1);
			page->array = element;
		} else {
			put(page, ",", 1);
		}
		put(page, value, length);
		count(page, value, length);
	}
	return !page->full && !page->changed;
}

/* Processes the elements of an array. Returns the end of the array; NULL if the page ends earlier. */
static const char *take_array(struct page *page, const char *at, const char *end)
{
	bool first = true;

	for (at = skip_blanks(at + 1, end); at < end && *at != ']'; at = skip_blanks(at, end)) {
		const char *value = at;

		at = page_value_end(value, end);
		if (!at || !take_value(page, value, (size_t)(at - value), true, first))
			return NULL;
		first = false;
	}
	return at < end ? at + 1 : NULL;
}

static bool is_empty_array(const char *at, const char *end)
{
	at = skip_blanks(at + 1, end);
	return at < end && *at == ']';
}

/* Processes a member of a JSON object. Returns the end of the member; NULL if the page ends earlier. */
static const char *take_member(struct page *page, const char *at, const char *end)
{
	const char *value = string_end(at, end), *rest;

	if (!value)
		return NULL;
	page->key = at;
	page->key_length = (size_t)(value - at);
	value = skip_blanks(value, end);
	value = value < end && *value == ':' ? skip_blanks(value + 1, end) : end;
	if (value < end && *value == '[' && !is_empty_array(value, end))
		return take_array(page, value, end);
	rest = page_value_end(value, end);
	if (!rest)
		return NULL;
	/* every page contains these members */
	if (is_key(page, "\"schema\"") || is_key(page, "\"strings\"")) {
		if (page->used > 1)
			put(page, ",", 1);
		put(page, at, (size_t)(rest - at));
		return rest;
	}
	return take_value(page, value, (size_t)(rest - value), false, true) ? rest : NULL;
}

/* Processes a complete JSON document. */
static void page_document(struct page *page, const char *text, size_t length)
{
	const char *end = text + length, *at = skip_blanks(text + 1, end);
	char cursor[PAGE_TRAILER];

	if (length <= page->budget && page->skipped == 0) {
		put(page, text, length);
		return;
	}
	put(page, "{", 1);
	while (at && at < end && *at == '"') {
		at = take_member(page, at, end);
		at = at ? skip_blanks(at, end) : NULL;
	}
	close_array(page);
	if (page->full && !page->large) {
		page_cursor(page, cursor);
		base_output_format(page->out, ",\"cursor\":\"%s\"", cursor);
	}
	put(page, "}\n", 2);
	page_end(page);
}

/* ---- The options ---- */

#define LEAST 1000u
#define MOST  (UINT64_C(1) << 30)
#define CHUNK 65536u
/* maximum size in bytes of a JSON document, or of a line of text */
#define HELD_MOST ((size_t)256 << 20)

/* The values of --budget and --cursor. These options are read before the command's own structure is known. */
static struct {
	uint64_t budget; /* maximum size of a page in bytes; 0: no limit */
	const char *cursor;
	bool list;
} wanted;

static const char *set_budget(void *to, const char *value, const struct option_row *row)
{
	(void)to;
	return options_set_number(&wanted.budget, value, row) ? "is not a number from 1000 to 1073741824"
							      : NULL;
}

static const char *set_list_budget(void *to, const char *value, const struct option_row *row)
{
	wanted.list = true;
	return set_budget(to, value, row);
}

static const char *set_cursor(void *to, const char *value, const struct option_row *row)
{
	(void)to;
	(void)row;
	wanted.cursor = value;
	return NULL;
}

#define BUDGET(set)                                                                                      \
	{                                                                                                \
		"budget", 0, "BYTES", "print at most BYTES of the answer, and a cursor if more follows", \
			set, 0, .least = LEAST, .most = MOST                                             \
	}
#define CURSOR                                                                                              \
	{                                                                                                   \
		"cursor", 0, "TOKEN", "with --budget: continue after the page that ended with this cursor", \
			set_cursor, .to = 0                                                                 \
	}
const struct option_row budget_options[] = { BUDGET(set_budget), CURSOR, { 0 } };
const struct option_row budget_list_options[] = { BUDGET(set_list_budget), CURSOR, { 0 } };

/* ---- Reading the answer ---- */

/* The command's output. The bytes of `text` from `at` on have not been processed. */
struct answer {
	struct page page;
	pid_t child;
	int pipe;
	char *text;
	size_t at, length, room;
	bool ended, failed;
};

/* Reads more of the answer. Returns false at the end of the answer, or if reading failed. */
static bool read_more(struct answer *answer)
{
	ssize_t got;

	if (answer->at) {
		memmove(answer->text, answer->text + answer->at, answer->length - answer->at);
		answer->length -= answer->at;
		answer->at = 0;
	}
	if (answer->room - answer->length < CHUNK) {
		const size_t room = answer->room * 2 + CHUNK;
		char *larger = room <= HELD_MOST ? realloc(answer->text, room) : NULL;

		if (!larger) {
			answer->failed = true;
			return false;
		}
		answer->text = larger;
		answer->room = room;
	}
	do
		got = read(answer->pipe, answer->text + answer->length, answer->room - answer->length);
	while (got < 0 && errno == EINTR);
	answer->failed |= got < 0;
	answer->ended = got <= 0;
	answer->length += got > 0 ? (size_t)got : 0;
	return got > 0;
}

/*
 * Returns true if the answer is a JSON document, or at least begins like one. Reads as much as is needed to
 * decide this.
 */
static bool is_document(struct answer *answer)
{
	/* `tried`: length at the last search for the end of the first value; `end`: that end, or 0 */
	size_t tried = 0, end = 0;

	while (answer->length == 0 && read_more(answer))
		;
	if (answer->length == 0 || answer->text[0] != '{')
		return false;
	for (;;) {
		/* if the value is long, search for its end again only when the length has doubled */
		if (end == 0 && (answer->length >= 2 * tried || answer->ended)) {
			const char *found = page_value_end(answer->text, answer->text + answer->length);

			tried = answer->length;
			end = found ? (size_t)(found - answer->text) : 0;
		}
		if (end && end + 1 < answer->length)
			return false;
		if (answer->ended || answer->failed)
			return true;
		read_more(answer);
	}
}

/*
 * Processes the lines that were read. At the end of the answer, the last line may lack its newline. Returns
 * false if the page ends before all lines are printed.
 */
static bool take_read(struct answer *answer)
{
	while (answer->at < answer->length) {
		const char *line = answer->text + answer->at;
		const char *end = memchr(line, '\n', answer->length - answer->at);

		if (!end && !answer->ended)
			return true;
		end = end ? end + 1 : answer->text + answer->length;
		if (!page_line(&answer->page, line, (size_t)(end - line)))
			return false;
		answer->at += (size_t)(end - line);
	}
	return true;
}

static void take_lines(struct answer *answer)
{
	while (take_read(answer)) {
		if (answer->ended) {
			page_end(&answer->page);
			return;
		}
		if (!read_more(answer) && answer->failed)
			return;
	}
}

static void put_cursor(struct page *page, bool json)
{
	char cursor[PAGE_TRAILER];

	page_cursor(page, cursor);
	base_output_format(page->out, json ? "{\"cursor\":\"%s\"}\n" : "--- more follows: cursor %s ---\n",
			   cursor);
}

/* Waits until the command has ended. Returns its exit status. */
static int finish(struct answer *answer)
{
	const bool stopped = answer->failed || answer->page.changed || answer->page.large ||
			     (wanted.list && answer->page.full);
	int status;

	if (stopped)
		kill(answer->child, SIGKILL);
	else /* the exit status may depend on parts of the answer that have not been read yet */
		while (!answer->ended && !answer->failed) {
			answer->at = answer->length;
			read_more(answer);
		}
	close(answer->pipe);
	free(answer->text);
	while (waitpid(answer->child, &status, 0) < 0 && errno == EINTR)
		;
	if (stopped)
		return 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* If there is no page, prints the reason and returns an exit status. Otherwise returns 0. */
static int report(const struct answer *answer, const char *name)
{
	if (answer->failed)
		command_message(name, "the answer has a part that is too large for pages, or cannot be read");
	else if (answer->page.changed)
		command_message(name, "the answer has changed since the page that ended with this cursor");
	else if (answer->page.large)
		command_message(name, "the next part of the answer needs a budget of %zu bytes",
				answer->page.large);
	else
		return 0;
	return EXIT_USAGE;
}

static int print_page(const char *name, struct answer *answer)
{
	struct base_output out;
	int status, refused;
	bool json;

	if (base_output_open(&out, STDOUT_FILENO) < 0) {
		answer->failed = true;
	} else {
		answer->page.out = &out;
		if (is_document(answer)) {
			if (!answer->failed)
				page_document(&answer->page, answer->text, answer->length);
		} else {
			json = answer->length && answer->text[0] == '{';
			take_lines(answer);
			if (answer->page.full && !answer->page.large)
				put_cursor(&answer->page, json);
		}
	}
	status = finish(answer);
	refused = report(answer, name);
	if (answer->page.out && trace_output_status(name, "standard output", base_output_close(&out)))
		status = EXIT_BAD_INPUT;
	return refused ? refused : status;
}

int budget_begin(const char *name)
{
	struct answer answer = { .pipe = -1 };
	int ends[2];

	page_init(&answer.page, NULL, wanted.budget);
	if (wanted.cursor && !wanted.budget) {
		command_message(name, "--cursor needs --budget");
		return command_usage(name);
	}
	if (wanted.cursor && !page_set_cursor(&answer.page, wanted.cursor))
		return command_bad_value(name, "--cursor", wanted.cursor, "a cursor that a page ended with");
	if (!wanted.budget)
		return -1;
	if (pipe(ends) < 0 || (answer.child = fork()) < 0) {
		command_message(name, "%s", strerror(errno));
		return EXIT_BAD_INPUT;
	}
	if (answer.child == 0) {
		/* end the command if the process that prints the page ends */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		return -1;
	}
	close(ends[1]);
	answer.pipe = ends[0];
	return print_page(name, &answer);
}
