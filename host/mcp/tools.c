/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The table of tools: the command that each tool runs, and the arguments that it takes. */
#include "mcp/mcp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/escape.h"

#define USUAL_TRACE  "ktrace.ktrx"
#define BUDGET_LEAST 1000
#define BUDGET_MOST  200000
#define BUDGET_USUAL 16000
/*
 * fraction of a call's time limit that the query itself may use; in the remaining time, the command can print
 * the result and end
 */
#define COMMAND_SHARE 0.8

enum argument_type {
	ARGUMENT_TEXT,
	ARGUMENT_NUMBER,
	ARGUMENT_FLAG,
	ARGUMENT_FILE,	 /* name of a file below the directory */
	ARGUMENT_BUDGET, /* a number of bytes */
	/* Arguments of the command line after the options, in the order of these tables. */
	ARGUMENT_TRACE, /* a file below the directory; USUAL_TRACE if the client gives none */
	/* The following arguments are required. */
	ARGUMENT_WORD,	    /* a text that does not begin with "-" */
	ARGUMENT_ID,	    /* the same; not required after a word that is FIELD=VALUE */
	ARGUMENT_FILE_WORD, /* name of a file below the directory */
	ARGUMENT_QUERY,	    /* any text */
};

struct argument {
	const char *name;
	enum argument_type type;
	const char *option; /* name of the command's option */
	const char *about;  /* description, which helps a model to choose a value */
};

/* Lists of arguments. The last element of each list has no name. */
static const struct argument common[] = {
	{ "trace", ARGUMENT_TRACE, NULL,
	  "Path of the trace, relative to the server's directory. Default: " USUAL_TRACE "." },
	{ "json", ARGUMENT_FLAG, "json", "true: answer in JSON. Text is shorter. Default: false." },
	{ "budget", ARGUMENT_BUDGET, NULL, "Maximum number of bytes of the answer. Default: 16000." },
	{ "cursor", ARGUMENT_TEXT, "cursor",
	  "Cursor at the end of an answer: continue that answer. The other arguments must be the same." },
	{ 0 },
};

static const struct argument filter[] = {
	{ "event", ARGUMENT_TEXT, "event",
	  "Only these events: names or patterns, separated by commas, such as "
	  "'sched.switch,irq.*'. The tool summary lists the names." },
	{ "thread", ARGUMENT_NUMBER, "pid", "Only events of the thread with this id." },
	{ "cpu", ARGUMENT_TEXT, "cpu", "Only events of these CPUs, such as '0,2-5'." },
	{ "since", ARGUMENT_TEXT, "since",
	  "Only events from this time on, counted from the first event: '1.25' (seconds), '250ms' or "
	  "'20us'." },
	{ "until", ARGUMENT_TEXT, "until", "Only events up to this time, in the same form as since." },
	{ "where", ARGUMENT_TEXT, "where",
	  "Only events for which this expression is true, such as 'event ~ \"sched.*\" and cpu == 1 and "
	  "next == 12': names of fields, event, cpu, thread and time, with ==, !=, <, <=, >, >=, ~, and, or, "
	  "not." },
	{ 0 },
};

static const struct argument elf[] = {
	{ "elf", ARGUMENT_FILE, "elf",
	  "Path of the kernel's ELF file, for names of functions and source lines." },
	{ 0 },
};

static const struct argument of_show[] = {
	{ "limit", ARGUMENT_NUMBER, "limit", "Maximum number of events." },
	{ "ids", ARGUMENT_FLAG, "ids", "true: print the id of each event, RING.SLOT." },
	{ "registers", ARGUMENT_FLAG, "registers",
	  "true: print the registers and stacks of the CPUs at the end of the trace instead of events." },
	{ 0 },
};

static const struct argument of_why[] = {
	{ "all", ARGUMENT_FLAG, "all", "true: print all findings in full, and all threads." },
	{ "ids", ARGUMENT_FLAG, "ids", "true: print the id of each event that is evidence, RING.SLOT." },
	{ 0 },
};

static const struct argument of_stats[] = {
	{ "begin", ARGUMENT_TEXT, "begin",
	  "Events at which a duration begins, as for event. Needs end. "
	  "Without begin, value and rate, the tool prints durations of system calls, interrupts, faults and "
	  "locks." },
	{ "end", ARGUMENT_TEXT, "end", "Events at which the duration ends." },
	{ "by", ARGUMENT_TEXT, "by",
	  "What the two events have in common: thread, cpu, the name of a field, or BEGINFIELD=ENDFIELD." },
	{ "value", ARGUMENT_TEXT, "value",
	  "EVENT.FIELD: print the distribution of the values of this field." },
	{ "rate", ARGUMENT_FLAG, "rate", "true: print the number of events per interval and CPU." },
	{ "interval", ARGUMENT_TEXT, "interval", "Length of an interval for rate, such as '10ms'." },
	{ 0 },
};

static const struct argument of_check[] = {
	{ "rules", ARGUMENT_FILE, "rules", "File with rules. Default: rules that hold for every kernel." },
	{ "all", ARGUMENT_FLAG, "all", "true: list every violation, not only the first of each rule." },
	{ 0 },
};

static const struct argument of_life[] = {
	{ "kind", ARGUMENT_WORD, NULL,
	  "Kind of the object: thread, process, lock, page, file, space, packet or socket; or, without id, "
	  "FIELD=VALUE for any other object, such as 'queue=0xffff0300'." },
	{ "id", ARGUMENT_ID, NULL, "Id of the object: a number, also hexadecimal, such as '0xffff0300'." },
	{ 0 },
};

static const struct argument of_diff[] = {
	{ "good", ARGUMENT_FILE_WORD, NULL,
	  "Path of the trace to compare with, such as that of a run without the failure." },
	{ 0 },
};

static const struct argument of_sql[] = {
	{ "query", ARGUMENT_QUERY, NULL,
	  "Statements of SQLite that read, separated by semicolons, such as 'SELECT name, count(*) FROM "
	  "events GROUP BY name'. Use LIMIT. '.tables' lists the tables, '.schema TABLE' the columns of a "
	  "table." },
	{ "csv", ARGUMENT_FLAG, "format=csv",
	  "true: answer in CSV, which is shorter than the aligned table. Excludes json. Default: false." },
	{ 0 },
};

#define TOOL_LISTS 3

struct mcp_tool {
	const char *name; /* name of the tool, and of the subcommand that it runs */
	const char *title;
	const char *about;
	const struct argument *lists[TOOL_LISTS];
};

static const struct mcp_tool tools[] = {
	{ "why",
	  "What is wrong with the machine",
	  "Start here if a kernel hangs, is slow or crashed. Prints a verdict (deadlock, lost wakeup, "
	  "livelock, interrupt storm, panic, idle, healthy ...), how certain it is, and the evidence: which "
	  "thread or CPU waits for which, since when, and at which place in the code.",
	  { common, elf, of_why } },
	{ "summary",
	  "What is in the trace",
	  "Counts the events by type, thread and CPU, and reports exactly how much was lost. "
	  "Use it first to learn which events and threads a trace has, and how much time it covers.",
	  { common, filter } },
	{ "show",
	  "Timeline of events",
	  "Prints the events in order of time, one line for each: time, CPU, thread, event and fields. "
	  "A trace can have millions of events: choose a time window, a thread, a CPU or event names.",
	  { common, filter, of_show } },
	{ "stats",
	  "Durations, values and rates",
	  "Prints how long system calls, interrupts, page faults, locks and waits for a CPU took "
	  "(median, 99th percentile, worst with its time), durations between two events of your choice, "
	  "the distribution of a field, or rates of events. Use it for questions about speed.",
	  { common, filter, of_stats } },
	{ "doctor",
	  "Quality of the tracing",
	  "Examines how well ktrace is integrated into the traced kernel: clocks, CPU and thread ids, cost "
	  "of an event, how far back the rings reach. For each view that is missing, prints the line of C "
	  "that the kernel must add. Use it if other tools report that something is unknown.",
	  { common, elf } },
	{ "check",
	  "Rules",
	  "Checks the trace against rules: forbidden orders of events, states, latencies, rates. "
	  "Prints which rules are violated, where, and how often.",
	  { common, of_check } },
	{ "diff",
	  "First difference between two runs",
	  "Compares a trace with a good one by meaning: what each thread did, not when. Prints the first "
	  "difference that matters and what happened before it. Use it if one run fails and another does "
	  "not.",
	  { of_diff, common } },
	{ "life",
	  "History of one object",
	  "Prints every event that names one lock, thread, file, page or other object, also if its id was "
	  "used again for another object. Use it to find out who took, freed or wrote something. The tool "
	  "show, with thread, prints what a thread did.",
	  { of_life, common } },
	{ "sql",
	  "Queries in SQL",
	  "Answers a query in SQL (SQLite). Tables: events, one for each kind of event, such as "
	  "\"sched.switch\", and slices, syscalls, irqs, faults, locks, wakeups, thread_states, threads, "
	  "processes, losses and counts. Times are in ns since the first event. Use it for questions that no "
	  "other tool answers, such as sums and joins.",
	  { common, of_sql } },
};

#define TOOLS (sizeof(tools) / sizeof(tools[0]))

/* Returns the tool's argument of this name; NULL if there is none. */
static const struct argument *find_argument(const struct mcp_tool *tool, const char *name)
{
	for (unsigned n = 0; n < TOOL_LISTS && tool->lists[n]; n++)
		for (const struct argument *argument = tool->lists[n]; argument->name; argument++)
			if (strcmp(argument->name, name) == 0)
				return argument;
	return NULL;
}

/* ---- tools/list ---- */

static json_t *schema_of(const struct argument *argument)
{
	switch (argument->type) {
	case ARGUMENT_FLAG:
		return json_pack("{s:s, s:s}", "type", "boolean", "description", argument->about);
	case ARGUMENT_NUMBER:
		return json_pack("{s:s, s:i, s:s}", "type", "integer", "minimum", 0, "description",
				 argument->about);
	case ARGUMENT_BUDGET:
		return json_pack("{s:s, s:i, s:i, s:s}", "type", "integer", "minimum", BUDGET_LEAST,
				 "maximum", BUDGET_MOST, "description", argument->about);
	default:
		return json_pack("{s:s, s:s}", "type", "string", "description", argument->about);
	}
}

/* Returns whether the argument is not an option, but is passed after the options. */
static bool is_word(const struct argument *argument)
{
	return argument->type >= ARGUMENT_TRACE;
}

static json_t *describe(const struct mcp_tool *tool)
{
	json_t *properties = json_object(), *required = json_array();

	for (unsigned n = 0; n < TOOL_LISTS && tool->lists[n]; n++)
		for (const struct argument *argument = tool->lists[n]; argument->name; argument++) {
			json_object_set_new(properties, argument->name, schema_of(argument));
			if (is_word(argument) && argument->type != ARGUMENT_TRACE &&
			    argument->type != ARGUMENT_ID)
				json_array_append_new(required, json_string(argument->name));
		}
	return json_pack("{s:s, s:s, s:s, s:{s:s, s:o, s:o, s:b}, s:{s:b, s:b, s:b}}", "name", tool->name,
			 "title", tool->title, "description", tool->about, "inputSchema", "type", "object",
			 "properties", properties, "required", required, "additionalProperties", 0,
			 "annotations", "readOnlyHint", 1, "idempotentHint", 1, "openWorldHint", 0);
}

json_t *mcp_tools_list(void)
{
	json_t *list = json_array();

	for (size_t n = 0; n < TOOLS; n++)
		json_array_append_new(list, describe(&tools[n]));
	return json_pack("{s:o}", "tools", list);
}

const struct mcp_tool *mcp_tool_find(const char *name)
{
	for (size_t n = 0; n < TOOLS; n++)
		if (strcmp(tools[n].name, name) == 0)
			return &tools[n];
	return NULL;
}

/* ---- Files below the directory that a server may read ---- */

int mcp_folder_open(struct mcp_folder *folder, const char *path)
{
	if (!realpath(path, folder->path))
		return errno;
	folder->descriptor = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder->descriptor < 0 ? errno : 0;
}

/* Returns the part of an absolute path after the directory; NULL if the path is not below the directory. */
static const char *below(const struct mcp_folder *folder, const char *path)
{
	const size_t length = strcmp(folder->path, "/") == 0 ? 0 : strlen(folder->path);

	return strncmp(path, folder->path, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

/*
 * Resolves the name of a file, which is absolute or relative to the directory. Follows symbolic links, and
 * opens nothing. Stores the path relative to the directory in `to`. Returns 0, or -1 with the reason in
 * `why`: the file is absent, not below the directory, or not a regular file.
 */
static int mcp_folder_find(const struct mcp_folder *folder, const char *name, char to[PATH_MAX],
			   char why[MCP_WHY])
{
	char joined[2 * PATH_MAX], real[PATH_MAX];
	struct stat status;
	const char *rest;
	/* truncate the path only between characters, because a message must be UTF-8 */
	const int shown = (int)base_utf8_cut(name, strlen(name), MCP_SHOWN);

	if (strlen(name) >= PATH_MAX || *name == '\0') {
		snprintf(why, MCP_WHY, "a file name is empty or too long");
		return -1;
	}
	snprintf(joined, sizeof(joined), "%s/%s", *name == '/' ? "" : folder->path, name);
	if (!realpath(joined, real) || stat(real, &status) != 0) {
		snprintf(why, MCP_WHY, "%.*s: %s", shown, name, strerror(errno));
		return -1;
	}
	rest = below(folder, real);
	if (!rest) {
		snprintf(why, MCP_WHY, "%.*s: is not below the directory that this server may read", shown,
			 name);
		return -1;
	}
	if (!S_ISREG(status.st_mode)) {
		snprintf(why, MCP_WHY, "%.*s: is not a regular file", shown, name);
		return -1;
	}
	snprintf(to, PATH_MAX, "%s%s", *rest == '-' ? "./" : "", rest);
	return 0;
}

/* ---- Command lines ---- */

/* Adds "--OPTION=VALUE", or "--OPTION" if `value` is NULL. Returns 0 or -1. */
static int add_option(struct mcp_line *line, const char *option, const char *value)
{
	char **word = &line->word[line->count];

	if (line->count == MCP_WORDS ||
	    asprintf(word, value ? "--%s=%s" : "--%s", option, value ? value : "") < 0)
		return -1;
	line->count++;
	return 0;
}

static int add_word(struct mcp_line *line, const char *text)
{
	if (line->count == MCP_WORDS || !(line->word[line->count] = strdup(text)))
		return -1;
	line->count++;
	return 0;
}

static const char *const wanted[] = {
	[ARGUMENT_TEXT] = "a string",
	[ARGUMENT_NUMBER] = "a whole number of at least 0",
	[ARGUMENT_FLAG] = "true or false",
	[ARGUMENT_FILE] = "the path of a file",
	[ARGUMENT_TRACE] = "the path of a file",
	[ARGUMENT_BUDGET] = "a number of bytes from 1000 to 200000",
	[ARGUMENT_WORD] = "a string that does not begin with -",
	[ARGUMENT_ID] = "a string that does not begin with -",
	[ARGUMENT_FILE_WORD] = "the path of a file",
	[ARGUMENT_QUERY] = "a string",
};

/* Returns whether the value has the type of the argument, and is within its limits. */
static bool is_valid(const struct argument *argument, const json_t *value)
{
	switch (argument->type) {
	case ARGUMENT_FLAG:
		return json_is_boolean(value);
	case ARGUMENT_NUMBER:
		return json_is_integer(value) && json_integer_value(value) >= 0;
	case ARGUMENT_BUDGET:
		return json_is_integer(value) && json_integer_value(value) >= BUDGET_LEAST &&
		       json_integer_value(value) <= BUDGET_MOST;
	case ARGUMENT_WORD:
	case ARGUMENT_ID:
		return json_is_string(value) && json_string_length(value) <= MCP_WORD_BYTES &&
		       *json_string_value(value) != '-';
	default:
		return json_is_string(value) && json_string_length(value) <= MCP_WORD_BYTES;
	}
}

/* Adds an option. Returns 0, or -1 with the reason in `why`. */
static int add_argument(struct mcp_line *line, const struct argument *argument, const json_t *value,
			const struct mcp_folder *folder, char why[MCP_WHY])
{
	char text[PATH_MAX];

	switch (argument->type) {
	case ARGUMENT_BUDGET:
		line->budget = json_integer_value(value);
		return 0;
	case ARGUMENT_FLAG:
		return json_is_true(value) ? add_option(line, argument->option, NULL) : 0;
	case ARGUMENT_NUMBER:
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		return add_option(line, argument->option, text);
	case ARGUMENT_FILE:
		if (mcp_folder_find(folder, json_string_value(value), text, why) != 0)
			return -1;
		return add_option(line, argument->option, text);
	default:
		return add_option(line, argument->option, json_string_value(value));
	}
}

/* Checks all arguments, and adds those that are options. Returns 0, or -1 with the reason in `why`. */
static int add_options(struct mcp_line *line, const struct mcp_tool *tool, const json_t *arguments,
		       const struct mcp_folder *folder, char why[MCP_WHY])
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)arguments, name, value)
	{
		const struct argument *argument = find_argument(tool, name);

		if (!argument) {
			snprintf(why, MCP_WHY, "the tool %s has no argument '%.*s'", tool->name,
				 (int)base_utf8_cut(name, strlen(name), MCP_SHOWN), name);
			return -1;
		}
		if (!is_valid(argument, value)) {
			snprintf(why, MCP_WHY, "the argument %s must be %s", name, wanted[argument->type]);
			return -1;
		}
		if (!is_word(argument) && add_argument(line, argument, value, folder, why) != 0)
			return -1;
	}
	return 0;
}

/* Adds the arguments that come after the options. Returns 0, or -1 with the reason in `why`. */
static int add_words(struct mcp_line *line, const struct mcp_tool *tool, const json_t *arguments,
		     const struct mcp_folder *folder, char why[MCP_WHY])
{
	char path[PATH_MAX];

	for (unsigned n = 0; n < TOOL_LISTS && tool->lists[n]; n++)
		for (const struct argument *argument = tool->lists[n]; argument->name; argument++) {
			const char *last = line->word[line->count - 1];
			const char *text = json_string_value(json_object_get(arguments, argument->name));

			if (!is_word(argument))
				continue;
			if (!text && argument->type == ARGUMENT_TRACE)
				text = USUAL_TRACE;
			if (!text && argument->type == ARGUMENT_ID && strchr(last, '='))
				continue;
			if (!text) {
				snprintf(why, MCP_WHY, "the tool %s needs the argument %s", tool->name,
					 argument->name);
				return -1;
			}
			if (argument->type == ARGUMENT_TRACE || argument->type == ARGUMENT_FILE_WORD) {
				if (mcp_folder_find(folder, text, path, why) != 0)
					return -1;
				text = path;
			}
			if (add_word(line, text) != 0)
				return -1;
		}
	return 0;
}

/*
 * Adds --timeout, so that the command prints what it has found before its time limit passes. Returns 0 or -1.
 */
static int add_timeout(struct mcp_line *line, double seconds)
{
	char text[32];

	snprintf(text, sizeof(text), "%g", seconds * COMMAND_SHARE);
	return add_option(line, "timeout", text);
}

static int add_budget(struct mcp_line *line)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", line->budget);
	return add_option(line, "budget", text);
}

int mcp_line_make(struct mcp_line *line, const struct mcp_tool *tool, const json_t *arguments,
		  const struct mcp_folder *folder, double seconds, char why[MCP_WHY])
{
	/* add "--" only before a query: doctor starts the program that follows "--" */
	const bool has_query = find_argument(tool, "query");

	*line = (struct mcp_line){ .budget = BUDGET_USUAL };
	snprintf(why, MCP_WHY, "the command line is too long");
	if (add_word(line, "ktrace") == 0 && add_word(line, tool->name) == 0 &&
	    (!has_query || add_timeout(line, seconds) == 0) &&
	    add_options(line, tool, arguments, folder, why) == 0 && add_budget(line) == 0 &&
	    (!has_query || add_word(line, "--") == 0) && add_words(line, tool, arguments, folder, why) == 0)
		return 0;
	mcp_line_free(line);
	return -1;
}

void mcp_line_free(struct mcp_line *line)
{
	while (line->count)
		free(line->word[--line->count]);
}
