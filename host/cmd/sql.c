/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace sql: answers queries in SQL about a trace. Reads them from its arguments or from standard input. */
#include "sql/sql.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <termios.h>
#include <unistd.h>

#include "base/grow.h"
#include "cmd/command.h"
#include "cmd/terminal.h"
#include "cmd/trace_args.h"

#define EXIT_LIMIT     3
#define TIMEOUT	       60.0  /* default of --timeout, in seconds */
#define MEMORY	       1024u /* default of --memory, in MB */
#define MEMORY_LEAST   16u
#define MEMORY_MOST    (1u << 20)
#define STATEMENT_MOST (1u << 20) /* maximum size of a statement on standard input, in bytes */

struct sql_command {
	struct trace_args args;
	const char *query;
	enum sql_form form;
	bool json;
	double timeout;
	uint64_t memory;
};

#define AT(member) .to = offsetof(struct sql_command, member)
static const struct option_row rows[] = {
	{ "format", 'f', "table|csv|json",
	  "print the rows in this format (table); json prints one JSON object per row", options_set_choice,
	  AT(form) },
	{ "json", 0, NULL, "the same as --format json", options_set_flag, AT(json), .instead = true },
	{ "timeout", 0, "SECONDS", "end a query that runs longer than this (60)", options_set_seconds,
	  AT(timeout), .least = 1 },
	{ "memory", 0, "MB", "limit the memory of a query to MB megabytes (1024)", options_set_number,
	  AT(memory), .least = MEMORY_LEAST, .most = MEMORY_MOST },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace sql [OPTION]... [FILE [QUERY]]",
	.about =
		"Runs queries in SQL (SQLite) over a trace, which is not changed. Tables: events, and one "
		"for each kind of event, such as \"sched.switch\"; slices, syscalls, irqs, faults, locks, "
		"wakeups, thread_states, threads, processes, losses, counts. Times are in ns since the first "
		"event. Without QUERY, reads statements from standard input. '.tables' lists the tables, "
		"'.schema TABLE' the columns of a table, '.help' explains more.",
	.lists = { rows, budget_list_options, trace_file_options, trace_machine_options, trace_layout_options,
		   trace_calls_options, terminal_options },
	.end = "Exit status: 0 success, 1 the trace could not be read, 2 wrong usage or a wrong statement, "
	       "3 a limit was reached.\n\n"
	       "Examples:\n"
	       "  ktrace sql boot.ktrx 'SELECT name, count(*) FROM events GROUP BY name'\n"
	       "  ktrace sql boot.ktrx 'SELECT * FROM syscalls ORDER BY duration DESC LIMIT 10'\n"
	       "  ktrace sql boot.ktrx 'SELECT * FROM \"sched.switch\" WHERE ts < 1000000'\n"
	       "  ktrace sql --format csv boot.ktrx 'SELECT * FROM locks' > locks.csv\n",
};

/* ---- Lines that are typed on a terminal ---- */

/*
 * Reads lines from a terminal, on standard input and standard error. Keys: left, right, Home, End, Backspace,
 * Delete; up and down for earlier lines; Ctrl-A, -E, -K, -U, -W; Ctrl-C discards the line, Ctrl-D ends.
 */

#define LINE		4096u /* maximum size of a line in bytes, with its newline and NUL */
#define HISTORY		100u
#define CONTROL(letter) ((letter) - 'A' + 1)
#define ESCAPE		27

enum key { KEY_UP = 256, KEY_DOWN, KEY_LEFT, KEY_RIGHT, KEY_HOME, KEY_END, KEY_DELETE, KEY_NONE, KEY_CLOSED };

struct sql_prompt {
	char *history[HISTORY]; /* earlier lines, the oldest first */
	unsigned lines;
	char line[LINE];
	size_t length, at; /* `length`: number of bytes in the line; `at`: position of the cursor */
	/* index in `history` of the line that is shown; it equals `lines` if the new line is shown */
	unsigned shown;
};

/* Creates a reader of lines. Returns NULL if memory runs out. */
static struct sql_prompt *sql_prompt_open(void)
{
	return calloc(1, sizeof(struct sql_prompt));
}

/* Frees the reader, which may be NULL. */
static void sql_prompt_close(struct sql_prompt *reader)
{
	for (unsigned n = 0; reader && n < reader->lines; n++)
		free(reader->history[n]);
	free(reader);
}

/* ---- Reading keys ---- */

static int read_byte(void)
{
	unsigned char byte;
	ssize_t got;

	do
		got = read(STDIN_FILENO, &byte, 1);
	while (got < 0 && errno == EINTR);
	return got == 1 ? byte : KEY_CLOSED;
}

/* Reads the bytes after ESC that belong to the same key. */
static int read_sequence(void)
{
	int byte = read_byte(), number = 0;

	if (byte != '[' && byte != 'O')
		return KEY_NONE;
	byte = read_byte();
	for (; (byte >= '0' && byte <= '9') || byte == ';'; byte = read_byte())
		number = byte == ';' || number > 99 ? number : number * 10 + byte - '0';
	switch (byte) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case 'C':
		return KEY_RIGHT;
	case 'D':
		return KEY_LEFT;
	case 'H':
		return KEY_HOME;
	case 'F':
		return KEY_END;
	case '~':
		return number == 3 ? KEY_DELETE : number == 1 || number == 7 ? KEY_HOME : KEY_END;
	default:
		return KEY_NONE;
	}
}

/* ---- Editing and drawing the line ---- */

/* Deletes the bytes between two positions, and puts the cursor at the first position. */
static void cut(struct sql_prompt *reader, size_t from, size_t to)
{
	memmove(reader->line + from, reader->line + to, reader->length - to);
	reader->length -= to - from;
	reader->at = from;
}

/* Returns the position of the UTF-8 character before or after `at`. */
static size_t step(const struct sql_prompt *reader, size_t at, bool forward)
{
	do
		at += forward ? at < reader->length : at > 0 ? (size_t)-1 : 0;
	while (at > 0 && at < reader->length && ((unsigned char)reader->line[at] & 0xc0) == 0x80);
	return at;
}

static void insert(struct sql_prompt *reader, int byte)
{
	if (reader->length + 2 >= LINE)
		return;
	memmove(reader->line + reader->at + 1, reader->line + reader->at, reader->length - reader->at);
	reader->line[reader->at++] = (char)byte;
	reader->length++;
}

/* Replaces the shown line by an earlier or a later line of the history. */
static void recall(struct sql_prompt *reader, unsigned n)
{
	if (n > reader->lines)
		return;
	reader->shown = n;
	reader->length = n < reader->lines ? strlen(reader->history[n]) : 0;
	if (reader->length)
		memcpy(reader->line, reader->history[n], reader->length);
	reader->at = reader->length;
}

static void remember(struct sql_prompt *reader)
{
	char *copy = reader->length ? strndup(reader->line, reader->length) : NULL;

	if (!copy)
		return;
	if (reader->lines == HISTORY) {
		free(reader->history[0]);
		memmove(reader->history, reader->history + 1, (HISTORY - 1) * sizeof(reader->history[0]));
		reader->lines--;
	}
	reader->history[reader->lines++] = copy;
}

/* Draws the part of the line around the cursor that fits on the screen. */
static void draw(const struct sql_prompt *reader, const char *prompt)
{
	struct winsize size = { .ws_col = 80 };
	size_t from = 0, room, length, back = 0;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20)
		size.ws_col = 80;
	room = size.ws_col - strlen(prompt) - 1;
	if (reader->at > room)
		from = reader->at - room;
	while (from > 0 && from < reader->length && ((unsigned char)reader->line[from] & 0xc0) == 0x80)
		from++;
	length = reader->length - from < room ? reader->length - from : room;
	for (size_t n = reader->at; n < from + length; n++)
		back += ((unsigned char)reader->line[n] & 0xc0) != 0x80;
	fprintf(stderr, "\r%s%.*s\033[K", prompt, (int)length, reader->line + from);
	if (back)
		fprintf(stderr, "\033[%zuD", back);
	fflush(stderr);
}

static void cut_word(struct sql_prompt *reader)
{
	size_t from = reader->at;

	while (from > 0 && reader->line[from - 1] == ' ')
		from--;
	while (from > 0 && reader->line[from - 1] != ' ')
		from--;
	cut(reader, from, reader->at);
}

static void edit(struct sql_prompt *reader, int key)
{
	switch (key) {
	case KEY_UP:
		recall(reader, reader->shown ? reader->shown - 1 : 0);
		return;
	case KEY_DOWN:
		recall(reader, reader->shown + 1);
		return;
	case KEY_LEFT:
		reader->at = step(reader, reader->at, false);
		return;
	case KEY_RIGHT:
		reader->at = step(reader, reader->at, true);
		return;
	case KEY_HOME:
	case CONTROL('A'):
		reader->at = 0;
		return;
	case KEY_END:
	case CONTROL('E'):
		reader->at = reader->length;
		return;
	case KEY_DELETE:
		cut(reader, reader->at, step(reader, reader->at, true));
		return;
	case 127:
	case CONTROL('H'):
		cut(reader, step(reader, reader->at, false), reader->at);
		return;
	case CONTROL('K'):
		cut(reader, reader->at, reader->length);
		return;
	case CONTROL('U'):
		cut(reader, 0, reader->at);
		return;
	case CONTROL('W'):
		cut_word(reader);
		return;
	default:
		if (key >= ' ' && key < 256)
			insert(reader, key);
	}
}

/* Reads keys until the line is complete. Returns false at the end of the input. */
static bool read_keys(struct sql_prompt *reader, const char *prompt)
{
	for (;;) {
		int key;

		draw(reader, prompt);
		key = read_byte();
		if (key == ESCAPE)
			key = read_sequence();
		if (key == KEY_CLOSED || (key == CONTROL('D') && reader->length == 0))
			return false;
		if (key == '\r' || key == '\n')
			return true;
		if (key == CONTROL('C')) {
			reader->length = reader->at = 0;
			fputs("^C\r\n", stderr);
			continue;
		}
		edit(reader, key == CONTROL('D') ? KEY_DELETE : key);
	}
}

/*
 * Prints `prompt` and reads a line, as getline(3) does: the line ends in a newline. Returns its length; -1 at
 * the end of the input.
 */
static ssize_t sql_prompt_line(struct sql_prompt *reader, const char *prompt, char **line, size_t *room)
{
	struct termios before, raw;
	bool more;

	if (tcgetattr(STDIN_FILENO, &before) != 0)
		return -1;
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	reader->length = reader->at = 0;
	reader->shown = reader->lines;
	more = read_keys(reader, prompt);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	fputs("\n", stderr);
	if (!more)
		return -1;
	remember(reader);
	if (*room < LINE) {
		char *larger = realloc(*line, LINE);

		if (!larger)
			return -1;
		*line = larger;
		*room = LINE;
	}
	memcpy(*line, reader->line, reader->length);
	memcpy(*line + reader->length, "\n", 2);
	return (ssize_t)reader->length + 1;
}

/* ---- Running statements ---- */

static struct sql *running; /* the session whose statement SIGINT interrupts */

static void on_interrupt(int signal)
{
	(void)signal;
	if (running)
		sql_interrupt(running);
}

/* Runs statements. Returns an exit status. */
static int run_text(const struct sql_command *command, struct sql *sql, const char *text,
		    struct base_output *out)
{
	static const int statuses[] = { [SQL_DONE] = EXIT_SUCCESS,
					[SQL_REFUSED] = EXIT_USAGE,
					[SQL_LIMIT] = EXIT_LIMIT,
					[SQL_UNREAD] = EXIT_BAD_INPUT };
	enum sql_status status;

	status = sql_run(sql, text, out);
	base_output_flush(out);
	if (status != SQL_DONE)
		command_message(command->args.name, "%s", sql_message(sql));
	return statuses[status];
}

static bool is_quit(const char *text)
{
	text += strspn(text, " \t\r\n");
	return strncmp(text, ".quit", 5) == 0 && text[5 + strspn(text + 5, " \t\r\n;")] == '\0';
}

/* A statement that is being read. */
struct pending {
	char *text;
	uint32_t length, room;
};

/* Appends a line to the statement. Returns 0, or an exit status after a message. */
static int append(const struct sql_command *command, struct pending *pending, const char *line, size_t length)
{
	char *larger;

	if (pending->length + length + 1 > STATEMENT_MOST) {
		command_message(command->args.name,
				"a statement has more than 1 MB: does it lack a semicolon?");
		return EXIT_USAGE;
	}
	if (memchr(line, '\0', length)) {
		command_message(command->args.name, "standard input: a statement contains a NUL byte");
		return EXIT_USAGE;
	}
	larger = base_grow(pending->text, &pending->room, pending->length + length + 1, 1);
	if (!larger) {
		command_message(command->args.name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	pending->text = larger;
	memcpy(larger + pending->length, line, length);
	pending->length += (uint32_t)length;
	larger[pending->length] = '\0';
	return 0;
}

/*
 * Runs the statements on standard input. An invalid statement ends the program, unless standard input is a
 * terminal. Returns an exit status.
 */
static int run_input(const struct sql_command *command, struct sql *sql, struct base_output *out)
{
	const bool person = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
	struct pending pending = { .text = NULL };
	struct sql_prompt *prompt = person ? sql_prompt_open() : NULL;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int status = 0, error = 0;

	while ((!status || person) && !out->error) {
		errno = 0;
		length = prompt ? sql_prompt_line(prompt, pending.length ? "   ...> " : "ktrace> ", &line,
						  &room)
				: getline(&line, &room, stdin);
		error = errno;
		if (length < 0 || (pending.length == 0 && is_quit(line)))
			break;
		status = append(command, &pending, line, (size_t)length);
		if (status || !sql_is_complete(pending.text)) {
			pending.length = status ? 0 : pending.length;
			continue;
		}
		status = run_text(command, sql, pending.text, out);
		pending.length = 0;
	}
	if (ferror(stdin)) {
		command_message(command->args.name, "standard input: %s", strerror(error));
		status = EXIT_BAD_INPUT;
	} else if (pending.length && !status) {
		status = run_text(command, sql, pending.text, out);
	}
	sql_prompt_close(prompt);
	free(pending.text);
	free(line);
	return person ? 0 : status;
}

static struct ktread *reopen(void *context, bool window)
{
	return trace_args_reopen(context, window);
}

static int run_queries(struct sql_command *command, struct ktread *trace)
{
	const struct sql_options options = {
		.timeout = command->timeout,
		.memory = command->memory << 20,
		.form = command->json ? SQL_JSON : command->form,
		.reopen = reopen,
		.context = &command->args,
	};
	const struct sigaction action = { .sa_handler = on_interrupt };
	struct base_output out;
	struct sql *sql = NULL;
	int status, failed;

	if (base_output_open(&out, STDOUT_FILENO) < 0 || sql_open(&sql, trace, &options) < 0) {
		command_message(command->args.name, "out of memory");
		sql_close(sql);
		return EXIT_BAD_INPUT;
	}
	if (options.form == SQL_TABLE)
		terminal_prepare(&out, command->query != NULL);
	base_output_schema(&out, options.form == SQL_JSON ? "ktrace-sql/1" : NULL);
	if (command->query)
		progress_start(command->args.name, trace, &out);
	running = sql;
	if (!command->query && isatty(STDIN_FILENO))
		sigaction(SIGINT, &action, NULL);
	status =
		command->query ? run_text(command, sql, command->query, &out) : run_input(command, sql, &out);
	running = NULL;
	progress_stop();
	sql_close(sql);
	failed = trace_output_status(command->args.name, "standard output", base_output_close(&out));
	return failed ? failed : status;
}

static int run_sql(int argc, char **argv)
{
	struct sql_command command = { .args = { TRACE_ARGS(&syntax, argv[0]), .shows_calls = true },
				       .timeout = TIMEOUT,
				       .memory = MEMORY };
	struct ktread *trace;
	int status;

	command.args.word = &command.query;
	status = trace_args_parse(&command.args, argc, argv);
	if (status >= 0)
		return status;
	if (command.json && options_given(&command.args.line, "format"))
		return options_refuse(&command.args.line, "--json and --format cannot be used together");
	status = trace_args_open(&command.args, &trace);
	if (status)
		return status;
	status = run_queries(&command, trace);
	return trace_args_close(&command.args, trace, 0) | status;
}

const struct command command_sql = {
	.name = "sql",
	.purpose = "answer queries in SQL over events, durations, states and losses",
	.run = run_sql,
};
