/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Parses one system call in the output of strace: its name, its arguments and its result. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "calls/tables.h"
#include "diff/strace.h"

#define NEST_MOST   64u
#define SIGNAL_NAME 16u		      /* maximum size in bytes of a signal's name */
#define LARGE	    UINT64_C(0x10000) /* a hexadecimal number of at least this value is an address */

/* ---- Types of Linux's calls ---- */

static int add_type(struct strace *strace, const char *line, size_t length)
{
	const size_t named = strcspn(line, " \n");
	struct strace_type *grown;
	char name[STRACE_NAME];

	if (named >= STRACE_NAME || named >= length)
		return 0;
	memcpy(name, line, named);
	name[named] = '\0';
	grown = base_grow(strace->type, &strace->type_room, (size_t)strace->types + 1, sizeof(*grown));
	if (!grown)
		return KTREAD_E_MEMORY;
	strace->type = grown;
	memcpy(grown[strace->types].name, name, sizeof(name));
	diff_types_read(&grown[strace->types].types, name, line + named, length - named);
	if (base_index_add(&strace->type_index, base_hash_text(0, name), strace->types) < 0)
		return KTREAD_E_MEMORY;
	strace->types++;
	return 0;
}

int strace_types_read(struct strace *strace)
{
	const char *line = calls_tables_text("linux");
	int status = 0;

	while (line && *line && status == 0) {
		const size_t length = strcspn(line, "\n");

		if (length > 2 && strncmp(line, "* ", 2) == 0)
			status = add_type(strace, line + 2, length - 2);
		line += length + (line[length] == '\n');
	}
	return status;
}

void strace_types_free(struct strace *strace)
{
	free(strace->type);
	base_index_free(&strace->type_index);
}

static const struct diff_types *types_of(const struct strace *strace, const char *name)
{
	static const struct diff_types none = { .path = -1, .result = DIFF_FORM_NUMBER };
	uint32_t row;

	for (uint32_t probe = 0; base_index_next(&strace->type_index, base_hash_text(0, name), &probe, &row);)
		if (strcmp(strace->type[row].name, name) == 0)
			return &strace->type[row].types;
	return &none;
}

uint64_t strace_signal(const char *text)
{
	const size_t length = strcspn(text, " ");

	for (int number = 1; number < NSIG; number++) {
		const char *name = sigabbrev_np(number);

		if (name && length == strlen(name) + 3 && strncmp(text, "SIG", 3) == 0 &&
		    memcmp(text + 3, name, length - 3) == 0)
			return (uint64_t)number;
	}
	return 0;
}

/* ---- Parsing names and arguments ---- */

/*
 * Returns the length of the call's name, which ends at the opening bracket; 0 if the text does not begin with
 * a call.
 */
static size_t name_length(const char *text, size_t length)
{
	size_t n = 0;

	while (n < length && (text[n] == '_' || (text[n] >= '0' && text[n] <= '9') ||
			      (text[n] >= 'a' && text[n] <= 'z') || (text[n] >= 'A' && text[n] <= 'Z')))
		n++;
	return n > 0 && n < length && n < STRACE_NAME && text[n] == '(' ? n : 0;
}

/*
 * Finds the end of an argument: a comma, or the bracket that ends the call. Skips strings, brackets and
 * comments. Returns NULL if the text ends within the argument.
 */
static const char *argument_end(const char *at, const char *end)
{
	uint32_t depth = 0;

	for (; at < end; at++) {
		if (*at == '"') {
			for (at++; at < end && *at != '"'; at++)
				at += *at == '\\' && at + 1 < end;
			if (at == end)
				return NULL;
		} else if (end - at > 1 && at[0] == '/' && at[1] == '*') {
			const char *close = memmem(at + 2, (size_t)(end - at) - 2, "*/", 2);

			if (!close)
				return NULL;
			at = close + 1;
		} else if (depth == 0 && (*at == ',' || *at == ')')) {
			return at;
		} else if (*at == '(' || *at == '[' || *at == '{') {
			if (++depth > NEST_MOST)
				return NULL;
		} else if ((*at == ')' || *at == ']' || *at == '}') && depth) {
			depth--;
		}
	}
	return NULL;
}

/* Reads a number in strace's notation. Returns false if the text is a name, a string or an address. */
static bool read_number(const char *at, const char *end, uint64_t *number)
{
	const bool negative = at < end && *at == '-';
	unsigned base = 10;

	at += negative;
	if (end - at > 2 && at[0] == '0' && at[1] == 'x') {
		base = 16;
		at += 2;
	} else if (end - at > 1 && at[0] == '0') {
		base = 8;
	}
	if (at == end)
		return false;
	for (*number = 0; at < end; at++) {
		const unsigned digit = *at >= 'a' && *at <= 'f'	  ? (unsigned)(*at - 'a') + 10
				       : *at >= '0' && *at <= '9' ? (unsigned)(*at - '0')
								  : 16;

		/* strace -y writes "3</tmp/file>" */
		if (*at == '<')
			break;
		if (digit >= base || *number > (UINT64_MAX - digit) / base)
			return false;
		*number = *number * base + digit;
	}
	if (negative)
		*number = 0 - *number;
	return base != 16 || *number < LARGE;
}

/*
 * Decodes a quoted string in strace's notation into `bytes`. Returns its length; -1 if it is not a complete
 * string.
 */
static int read_string(const char *at, const char *end, char *bytes, size_t room)
{
	size_t length = 0;

	if (end - at < 2 || *at != '"' || end[-1] != '"')
		return -1;
	for (at++; at < end - 1 && length < room; at++) {
		static const char letters[] = "abfnrtv", codes[] = "\a\b\f\n\r\t\v";
		const char *letter;
		unsigned code = 0, digits = 0;

		if (*at != '\\') {
			bytes[length++] = *at;
			continue;
		}
		at++;
		letter = strchr(letters, *at);
		while (digits < 3 && at + digits < end && at[digits] >= '0' && at[digits] <= '7')
			code = code * 8 + (unsigned)(at[digits++] - '0');
		if (digits)
			at += digits - 1;
		bytes[length++] = digits ? (char)code : letter && *letter ? codes[letter - letters] : *at;
	}
	return (int)length;
}

int strace_call_begin(struct strace *strace, const char *text, size_t length, uint32_t thread, uint64_t stamp)
{
	const size_t named = name_length(text, length);
	struct diff_trace *trace = strace->trace;
	char name[STRACE_NAME];
	struct diff_step *step;

	if (named == 0)
		return -1;
	memcpy(name, text, named);
	name[named] = '\0';
	step = diff_trace_step(trace, thread, diff_trace_kind(trace, name, named, true), stamp, 0,
			       strace->line);
	if (!step)
		return -1;
	step->begins_thread = diff_makes_thread(name);
	return 0;
}

/* Names the thread after the program that it runs: the last component of the program's path. */
static void name_thread(struct diff_thread *thread, const char *path, size_t length)
{
	const char *slash = memrchr(path, '/', length);
	const size_t skipped = slash ? (size_t)(slash + 1 - path) : 0;

	/* Linux stores at most 15 bytes of a name. */
	diff_trace_name(thread, path + skipped, length - skipped < 15 ? length - skipped : 15);
}

/*
 * Returns the value of an argument that is not a number: the number of a signal, or the hash of the text.
 * Returns 0 for NULL, and if the kernel fills in the data during the call.
 */
static uint64_t text_value(const struct diff_types *types, uint32_t n, const char *at, const char *end)
{
	const size_t length = (size_t)(end - at);
	char name[SIGNAL_NAME];
	uint64_t number;

	if ((n < types->values && types->stored[n]) || (length == 4 && memcmp(at, "NULL", 4) == 0))
		return 0;
	if (length < sizeof(name)) {
		memcpy(name, at, length);
		name[length] = '\0';
		number = strace_signal(name);
		if (number)
			return number;
	}
	return base_hash_bytes(0, at, length);
}

static void take_argument(struct strace *strace, struct diff_step *step, const struct diff_types *types,
			  uint32_t n, const char *at, const char *end)
{
	char path[4096];
	uint64_t number;
	uint8_t form = n < types->values ? types->form[n] : DIFF_FORM_NUMBER;
	int length;

	while (at < end && *at == ' ')
		at++;
	if (n < DIFF_VALUES) {
		if (form == DIFF_FORM_OPAQUE || !read_number(at, end, &number)) {
			form = DIFF_FORM_OPAQUE;
			number = text_value(types, n, at, end);
		}
		strace->trace->value[step->value + n] =
			n < types->values && types->narrow[n] ? (uint32_t)number : number;
		step->form[n] = form;
		step->values = (uint8_t)(n + 1);
	}
	if ((int)n != types->path || (length = read_string(at, end, path, sizeof(path))) < 0)
		return;
	step->key = diff_path_key(strace->trace->kind[step->kind].hash, path, (size_t)length);
	if (strcmp(strace->trace->kind[step->kind].name, "execve") == 0)
		name_thread(&strace->trace->thread[step->thread], path, (size_t)length);
}

/* Reads "= 3", "= -1 ENOENT (No such file or directory)", "= ?" and the duration of strace -T. */
static int take_result(struct diff_step *step, const struct diff_types *types, const char *at,
		       const char *end)
{
	const char *stop, *error;
	uint64_t number;

	while (at < end && *at == ' ')
		at++;
	if (end - at < 3 || *at != '=')
		return -1;
	at += 2;
	stop = memchr(at, ' ', (size_t)(end - at));
	stop = stop ? stop : end;
	if (*at == '?') {
		step->result_form = DIFF_FORM_NONE;
		return 0;
	}
	if (!read_number(at, stop, &number)) {
		if (stop - at <= 2 || at[0] != '0' || at[1] != 'x')
			return -1;
		step->result_form = DIFF_FORM_OPAQUE;
		return 0;
	}
	error = stop + 1;
	if (number == UINT64_MAX && end - error > 1 && *error == 'E') {
		const char *after = memchr(error, ' ', (size_t)(end - error));

		step->result_form = DIFF_FORM_ERROR;
		step->result = base_hash_bytes(0, error, (size_t)((after ? after : end) - error));
		return 0;
	}
	step->result_form = diff_types_result(types, number);
	step->result = number;
	return 0;
}

/* Adds the thread that a call has created. */
static void take_child(struct diff_trace *trace, const struct diff_step *step, const char *text,
		       size_t length)
{
	uint32_t child;

	if (!step->begins_thread || step->result_form == DIFF_FORM_ERROR ||
	    step->result_form == DIFF_FORM_NONE || step->result == 0 || step->result >= DIFF_NONE)
		return;
	child = diff_trace_child(trace, step->thread, (uint32_t)step->result);
	if (child != DIFF_NONE && memmem(text, length, "CLONE_THREAD", 12))
		trace->thread[child].process = trace->thread[step->thread].process;
}

static void take_duration(struct diff_step *step, const char *text, const char *end, uint64_t stamp)
{
	const char *mark = memrchr(text, '<', (size_t)(end - text));
	double seconds;

	if (mark && end[-1] == '>' && mark + 1 < end && mark[1] >= '0' && mark[1] <= '9') {
		seconds = strtod(mark + 1, NULL);
		step->took = seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9) : 0;
	} else if (stamp > step->stamp) {
		step->took = stamp - step->stamp;
	}
}

int strace_call_end(struct strace *strace, const char *text, size_t length, uint32_t step_number,
		    uint64_t stamp)
{
	struct diff_trace *trace = strace->trace;
	struct diff_step *step = &trace->step[step_number];
	const struct diff_types *types = types_of(strace, trace->kind[step->kind].name);
	const char *end = text + length, *at = text + name_length(text, length) + 1, *stop;
	uint64_t *grown = base_grow(trace->value, &trace->value_room, (size_t)trace->values + DIFF_VALUES,
				    sizeof(*grown));

	if (!grown)
		return -1;
	trace->value = grown;
	step->value = trace->values;
	step->values = 0;
	trace->values += DIFF_VALUES;
	for (uint32_t n = 0;; n++) {
		stop = at < end ? argument_end(at, end) : NULL;
		if (!stop)
			return -1;
		if (n > 0 || *stop != ')' || stop > at)
			take_argument(strace, step, types, n, at, stop);
		at = stop + 1;
		if (*stop == ')')
			break;
	}
	take_duration(step, at, end, stamp);
	if (take_result(step, types, at, end) < 0)
		return -1;
	take_child(trace, step, text, length);
	return 0;
}
