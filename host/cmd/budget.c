/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/budget.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/budget_page.h"
#include "cmd/command.h"
#include "cmd/trace_args.h"

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
