/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads the output of `strace -f -ttt`. A damaged line counts as lost: the steps that it may have contained
 * are not compared.
 *
 *	6788  1795900335.949717 openat(AT_FDCWD, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3
 *	6789  1795900335.949720 read(3,  <unfinished ...>
 *	6789  1795900335.949731 <... read resumed>"ernels\n", 64) = 7
 *	6788  1795900335.956034 +++ exited with 0 +++
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "diff/strace.h"

#define NANOSECONDS UINT64_C(1000000000)
#define HEAD_MOST   4096u
#define TRIED_LINES 20u
#define UNFINISHED  " <unfinished ...>"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Parses a decimal number below 10^18. Returns the text after the number; NULL if there is no number. */
static const char *read_digits(const char *at, uint64_t *number)
{
	const char *begin = at;

	for (*number = 0; is_digit(*at) && at - begin < 18; at++)
		*number = *number * 10 + (uint64_t)(*at - '0');
	return at > begin && !is_digit(*at) ? at : NULL;
}

uint32_t strace_line_process(const char *line)
{
	uint64_t number;
	const char *at;

	if (strncmp(line, "[pid", 4) == 0)
		line += 4;
	while (*line == ' ')
		line++;
	at = read_digits(line, &number);
	if (!at || number >= DIFF_NONE)
		return DIFF_NONE;
	/* A line without the number of a process begins with its time. */
	return *at == ' ' || *at == ']' ? (uint32_t)number : 0;
}

/*
 * Parses the beginning of a line, such as "[pid 17] 1795900335.949717 ". Returns the text after it, or NULL.
 */
static const char *read_head(const char *line, uint32_t *process, uint64_t *stamp)
{
	uint64_t seconds, part;
	const char *at = line, *end;

	*process = strace_line_process(line);
	if (*process == DIFF_NONE)
		return NULL;
	if (strncmp(at, "[pid", 4) == 0)
		at += 4;
	while (*at == ' ')
		at++;
	if (*process) {
		while (is_digit(*at))
			at++;
		at += *at == ']';
		while (*at == ' ')
			at++;
	}
	at = read_digits(at, &seconds);
	if (!at || *at != '.' || seconds > UINT64_MAX / NANOSECONDS - 1)
		return NULL;
	end = read_digits(at + 1, &part);
	if (!end || end - at > 10 || *end != ' ')
		return NULL;
	for (long digits = end - at - 1; digits < 9; digits++)
		part *= 10;
	*stamp = seconds * NANOSECONDS + part;
	return end + strspn(end, " ");
}

bool diff_is_strace(const char *path)
{
	char head[HEAD_MOST + 1], *line = head, *end;
	struct stat status;
	/* Accepts only regular files, because data that was read from a pipe cannot be read again. */
	FILE *file = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "re") : NULL;
	size_t size = file ? fread(head, 1, HEAD_MOST, file) : 0;
	uint32_t process, tried = 0;
	uint64_t stamp;

	if (file)
		fclose(file);
	head[size] = '\0';
	for (; tried < TRIED_LINES && (end = strchr(line, '\n')); line = end + 1, tried++)
		if (read_head(line, &process, &stamp))
			return true;
	return size > 0 && read_head(line, &process, &stamp) != NULL;
}

/* ---- Lines of strace's output ---- */

/* Returns the element for the unfinished call of a thread. A thread has at most one unfinished call. */
static struct strace_open *open_of(struct strace *strace, uint32_t thread)
{
	return &strace->open[thread % STRACE_OPEN];
}

static void lose_line(struct strace *strace)
{
	strace->trace->lost++;
	/* The gap reaches from the last good line to the next good line. */
	strace->losing = true;
}

static void take_end(struct strace *strace, const char *text, uint32_t thread, uint64_t stamp)
{
	struct diff_trace *trace = strace->trace;
	const uint32_t kind = diff_trace_kind(trace, "proc.end", 8, false);
	struct diff_step *step;
	uint64_t status = 0;
	bool killed = false;

	if (strncmp(text, "+++ exited with ", 16) == 0) {
		if (!read_digits(text + 16, &status)) {
			lose_line(strace);
			return;
		}
	} else if (strncmp(text, "+++ killed by ", 14) == 0) {
		killed = true;
		status = strace_signal(text + 14);
	} else {
		/* "+++ superseded by execve in pid 17 +++" */
		return;
	}
	trace->thread[thread].ended = true;
	if (!killed)
		diff_end_signal(&trace->thread[thread], 0, 0, false);
	else if (trace->thread[thread].signal != status)
		diff_end_signal(&trace->thread[thread], (uint32_t)status, 0, false);
	step = diff_trace_step(trace, thread, kind, stamp, 0, strace->line);
	if (!step)
		return;
	step->key = diff_path_key(step->key, killed ? "signal" : "status", 6);
	step->result = status;
	step->result_form = DIFF_FORM_NUMBER;
}

/* "--- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=100, si_uid=0} ---" */
static void take_signal(struct strace *strace, const char *text, uint32_t thread, uint64_t stamp)
{
	struct diff_trace *trace = strace->trace;
	const struct diff_thread *first = &trace->thread[trace->thread[thread].process];
	const char *sender = strstr(text, "si_code=SI_USER, si_pid=");
	uint64_t process;
	/* The sender is a process. The number of a process is the id of its first thread. */
	const bool other = sender && read_digits(sender + 24, &process) && process != first->id &&
			   process != trace->thread[thread].id;

	trace->noise[DIFF_NOISE_SIGNAL]++;
	diff_trace_signal(trace, thread);
	diff_end_signal(&trace->thread[thread], (uint32_t)strace_signal(text + 4), stamp, other);
}

/*
 * If a signal may have interrupted the call, records this. strace prints the line of the signal after the
 * line of the call.
 */
static void note_broken(struct strace *strace, uint32_t number, const char *text, size_t length)
{
	const struct diff_step *step = &strace->trace->step[number];

	if (step->result_form == DIFF_FORM_ERROR
		    ? step->result == base_hash_text(0, "EINTR")
		    : step->result_form == DIFF_FORM_NONE && memmem(text, length, "= ? ERESTART", 12))
		diff_trace_broken(strace->trace, number);
}

/* Stores the beginning of a call until the line with the rest of the call is read. */
static void take_unfinished(struct strace *strace, const char *text, size_t length, uint32_t thread,
			    uint64_t stamp)
{
	struct strace_open *open = open_of(strace, thread);

	if (strace_call_begin(strace, text, length, thread, stamp) < 0) {
		lose_line(strace);
		return;
	}
	open->thread = thread;
	open->step = strace->trace->steps - 1;
	open->length = length < STRACE_TEXT ? length : STRACE_TEXT;
	memcpy(open->text, text, open->length);
}

/* Handles "<... read resumed>" and the text after it: joins this text with the beginning of the call. */
static void take_resumed(struct strace *strace, const char *text, size_t length, uint32_t thread,
			 uint64_t stamp)
{
	struct strace_open *open = open_of(strace, thread);
	const char *rest = memmem(text, length, "resumed>", 8);

	if (!rest || open->length == 0 || open->thread != thread) {
		lose_line(strace);
		return;
	}
	rest += 8;
	length -= (size_t)(rest - text);
	if (length > sizeof(open->text) - open->length)
		length = sizeof(open->text) - open->length;
	memcpy(open->text + open->length, rest, length);
	if (strace_call_end(strace, open->text, open->length + length, open->step, stamp) < 0)
		lose_line(strace);
	else
		note_broken(strace, open->step, open->text, open->length + length);
	open->length = 0;
}

static void take_text(struct strace *strace, const char *text, size_t length, uint32_t thread, uint64_t stamp)
{
	const size_t mark = sizeof(UNFINISHED) - 1;

	if (strncmp(text, "+++ ", 4) == 0) {
		take_end(strace, text, thread, stamp);
	} else if (strncmp(text, "--- ", 4) == 0) {
		take_signal(strace, text, thread, stamp);
	} else if (strncmp(text, "<... ", 5) == 0) {
		take_resumed(strace, text, length, thread, stamp);
	} else if (length > mark && memcmp(text + length - mark, UNFINISHED, mark) == 0) {
		take_unfinished(strace, text, length - mark, thread, stamp);
	} else if (strace_call_begin(strace, text, length, thread, stamp) < 0) {
		lose_line(strace);
	} else if (strace_call_end(strace, text, length, strace->trace->steps - 1, 0) < 0) {
		/* The line is truncated: the call's start is known, but its end is not. */
		lose_line(strace);
	} else {
		note_broken(strace, strace->trace->steps - 1, text, length);
	}
}

static void take_line(struct strace *strace, const char *line, size_t length)
{
	struct diff_trace *trace = strace->trace;
	uint32_t process, thread;
	uint64_t stamp;
	const char *text;

	strace->line++;
	text = memchr(line, '\0', length) ? NULL : read_head(line, &process, &stamp);
	if (!text) {
		/* a message of strace itself, such as "strace: Process 17 attached" */
		if (strncmp(line, "strace: ", 8) == 0)
			trace->noise[DIFF_NOISE_TRACER]++;
		else if (length)
			lose_line(strace);
		return;
	}
	/* Timestamps of steps must not decrease, even if the clock went backwards between two lines. */
	if (stamp < trace->end)
		stamp = trace->end;
	if (strace->losing)
		diff_trace_gap(trace, trace->end, stamp);
	strace->losing = false;
	if (trace->begin == UINT64_MAX)
		trace->begin = stamp;
	thread = diff_trace_thread(trace, process ? process : STRACE_ONLY_PROCESS, 0);
	trace->end = stamp;
	trace->events++;
	if (thread == DIFF_NONE)
		return;
	trace->thread[thread].seen = stamp;
	take_text(strace, text, length - (size_t)(text - line), thread, stamp);
}

bool strace_line_read(struct strace_line *line, FILE *file)
{
	int c;

	line->length = 0;
	line->cut = false;
	while ((c = getc_unlocked(file)) != EOF && c != '\n') {
		if (line->length < STRACE_LINE)
			line->text[line->length++] = (char)c;
		else
			line->cut = true;
	}
	line->text[line->length] = '\0';
	line->whole = c == '\n';
	return !ferror(file) && (line->whole || line->length);
}

static int read_lines(struct strace *strace, FILE *file)
{
	struct strace_line *line = malloc(sizeof(*line));
	bool whole = true;

	if (!line)
		return KTREAD_E_MEMORY;
	while (!strace->trace->full && strace_line_read(line, file)) {
		whole = line->whole;
		if (line->cut) {
			strace->line++;
			lose_line(strace);
			continue;
		}
		take_line(strace, line->text, line->length);
	}
	free(line);
	if (strace->losing || !whole)
		diff_trace_gap(strace->trace, strace->trace->end, UINT64_MAX);
	return ferror(file) ? KTREAD_E_SYSTEM : diff_trace_end(strace->trace);
}

int diff_read_strace(struct diff_trace **trace, const char *path)
{
	struct strace *strace = calloc(1, sizeof(*strace));
	FILE *file = fopen(path, "re");
	int status = file ? KTREAD_E_MEMORY : KTREAD_E_SYSTEM, error;

	*trace = diff_trace_new(path);
	if (file && strace && *trace) {
		(*trace)->frequency = NANOSECONDS;
		(*trace)->calls = true;
		strace->trace = *trace;
		status = strace_types_read(strace);
		if (status == 0)
			status = read_lines(strace, file);
	}
	error = errno;
	if (strace)
		strace_types_free(strace);
	free(strace);
	if (file)
		fclose(file);
	errno = error;
	return status;
}
