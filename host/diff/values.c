/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the arguments and the results of system calls mean, and how they are compared. */
#include <math.h>
#include <string.h>

#include "diff/pairs.h"
#include "diff/trace.h"
#include "ktrx/v2.h"

/* ---- The types of arguments and results ---- */

/* Determines what the arguments and the result of a system call mean. */

static const struct {
	char word[8];
	uint8_t form;
	bool narrow;
} words[] = {
	{ "int", DIFF_FORM_NUMBER, true },   { "uint", DIFF_FORM_NUMBER, true },
	{ "sig", DIFF_FORM_NUMBER, true },   { "ms", DIFF_FORM_NUMBER, true },
	{ "uid", DIFF_FORM_NUMBER, true },   { "gid", DIFF_FORM_NUMBER, true },
	{ "off", DIFF_FORM_NUMBER, false },  { "long", DIFF_FORM_NUMBER, false },
	{ "size", DIFF_FORM_NUMBER, false }, { "ulong", DIFF_FORM_NUMBER, false },
	{ "hex", DIFF_FORM_NUMBER, false },  { "fd", DIFF_FORM_FILE, true },
	{ "pid", DIFF_FORM_PROCESS, true },
};

/*
 * Names of types whose values are not compared: addresses of strings, buffers and structures, and file modes.
 */
static const char *const opaque[] = { "void",	   "ptr",      "path",	"str",	    "data",    "buffer",
				      "mode",	   "sockaddr", "stat",	"timespec", "timeval", "sigset",
				      "sigaction", "pollfd",   "iovec", "rusage" };

static bool is_word(const char *word, size_t length, const char *other)
{
	return strlen(other) == length && memcmp(word, other, length) == 0;
}

static void take_word(const char *word, size_t length, uint8_t *form, bool *narrow)
{
	*form = DIFF_FORM_OPAQUE;
	*narrow = false;
	if (length == 0 || strchr("<>=", word[0]) || memchr(word, '^', length) || memchr(word, '[', length))
		return;
	for (size_t n = 0; n < sizeof(opaque) / sizeof(opaque[0]); n++)
		if (is_word(word, length, opaque[n]))
			return;
	for (size_t n = 0; n < sizeof(words) / sizeof(words[0]); n++)
		if (is_word(word, length, words[n].word)) {
			*form = words[n].form;
			*narrow = words[n].narrow;
			return;
		}
	/* all other types are enumerations or flags */
	*form = DIFF_FORM_NUMBER;
	*narrow = true;
}

/* Returns whether values of a type are pointers to the address of a socket, which the program supplies. */
static bool is_socket(const char *word, size_t length)
{
	const size_t mark = length > 0 && word[0] == '<';

	return length >= mark + 8 && memcmp(word + mark, "sockaddr", 8) == 0;
}

static bool is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(name, *list) == 0)
			return true;
	return false;
}

bool diff_is_sync(const char *name)
{
	static const char *const calls[] = {
		"futex",   "futex_wait", "futex_wake", "futex_waitv", "futex_time64", "wait_on", "wake",
		"umtx_op", "_umtx_op",	 "umtx_sleep", "umtx_wakeup", "sched_yield",  NULL
	};

	return is_one_of(name, calls);
}

bool diff_is_transfer(const char *name)
{
	static const char *const calls[] = { "read", "write", "recv", "recvfrom", "send", "sendto", NULL };

	return is_one_of(name, calls);
}

bool diff_is_poll(const char *name)
{
	static const char *const calls[] = { "poll",	 "ppoll",      "select",      "pselect",
					     "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2",
					     "kevent",	 NULL };

	return is_one_of(name, calls);
}

bool diff_is_leave(const char *name)
{
	static const char *const calls[] = {
		"exit",	     "_exit",	 "exit_group",	"thread_exit",	       "thr_exit",  "extexit",
		"_lwp_exit", "lwp_exit", "exit_thread", "bsdthread_terminate", "__threxit", NULL
	};

	return is_one_of(name, calls);
}

bool diff_is_exit(const char *name)
{
	static const char *const calls[] = { "exit",   "_exit",	   "exit_group", "extexit",
					     "execve", "execveat", "fexecve",	 NULL };

	return is_one_of(name, calls);
}

uint8_t diff_kills(const char *name)
{
	static const char *const first[] = { "kill",	 "tkill",	    "thread_kill", "thr_kill",
					     "sigqueue", "rt_sigqueueinfo", NULL },
				 *const second[] = { "tgkill", "lwp_kill", "thr_kill2", "rt_tgsigqueueinfo",
						     NULL };

	return is_one_of(name, first) ? 1 : is_one_of(name, second) ? 2 : 0;
}

bool diff_shares_process(const char *name)
{
	static const char *const calls[] = { "thread_create", "thr_new",     "thr_create", "bsdthread_create",
					     "lwp_create",    "_lwp_create", NULL };

	return is_one_of(name, calls);
}

bool diff_is_pause(const char *name)
{
	static const char *const calls[] = { "nanosleep",   "clock_nanosleep", "usleep", "sleep",
					     "sched_yield", "yield",	       "msleep", NULL };

	return is_one_of(name, calls);
}

bool diff_makes_thread(const char *name)
{
	static const char *const makers[] = { "fork", "vfork", "clone", "clone3", "rfork", NULL };

	return is_one_of(name, makers);
}

/* Returns whether the result is the id of a process. Does not need a table of types. */
static bool gives_process(const char *name)
{
	static const char *const givers[] = { "getpid",	 "gettid",	    "getppid", "wait4",	 "waitpid",
					      "getpgrp", "getpgid",	    "getsid",  "setsid", "waitid",
					      "wait",	 "set_tid_address", NULL };

	return is_one_of(name, givers) || diff_makes_thread(name);
}

void diff_types_read(struct diff_types *types, const char *name, const char *text, size_t length)
{
	const char *end = text ? text + length : NULL;
	bool first = true, narrow;

	*types = (struct diff_types){ .path = -1, .result = DIFF_FORM_NUMBER };
	while (text && text < end) {
		size_t size;

		while (text < end && (*text == ' ' || *text == ','))
			text++;
		size = (size_t)(end - text);
		for (size_t n = 0; n < size; n++)
			if (text[n] == ' ' || text[n] == ',')
				size = n;
		if (size == 0)
			break;
		if (first) {
			take_word(text, size, &types->result, &narrow);
			types->wide = !narrow;
		} else if (types->values < DIFF_VALUES) {
			if (is_word(text, size, "path") && types->paths++ == 0)
				types->path = (int8_t)types->values;
			types->socket |= is_socket(text, size);
			types->stored[types->values] = text[0] == '>' || is_word(text, size, "buffer");
			take_word(text, size, &types->form[types->values], &types->narrow[types->values]);
			types->values++;
		}
		types->known = true;
		first = false;
		text = memchr(text, ',', (size_t)(end - text));
	}
	if (gives_process(name))
		types->result = DIFF_FORM_PROCESS;
}

uint8_t diff_types_result(const struct diff_types *types, uint64_t result)
{
	/* A number that does not fit into 31 bits may be an address, unless its type has 64 bits. */
	if (types->result == DIFF_FORM_NUMBER && !types->wide && result > INT32_MAX)
		return DIFF_FORM_OPAQUE;
	return types->result;
}

uint64_t diff_path_key(uint64_t key, const char *path, size_t length)
{
	return base_hash_bytes(key, path, length < DIFF_PATH ? length : DIFF_PATH);
}

/* ---- The comparison of two steps ---- */

/*
 * Compares the results and arguments of two equal steps, and compares which kinds of step the two traces
 * have.
 */

static bool is_file(uint8_t first, uint8_t second)
{
	return (first == DIFF_FORM_FILE && (second == DIFF_FORM_FILE || second == DIFF_FORM_NUMBER)) ||
	       (second == DIFF_FORM_FILE && first == DIFF_FORM_NUMBER);
}

/*
 * Returns whether a descriptor of the first trace and a descriptor of the second trace have the same role. If
 * the role of the first descriptor is unknown, assumes that they have the same role, and stores this.
 */
static bool is_same_file(struct pairs_files *files, uint64_t first, uint64_t second, bool opened)
{
	if (first >= PAIRS_FILES || second >= PAIRS_FILES)
		return true;
	if (opened || files->is[first] == 0)
		files->is[first] = (uint32_t)second + 1;
	return files->is[first] == second + 1;
}

/* Returns whether the result of step `n` may be in a missing part of the trace. */
static bool is_result_lost(const struct diff_trace *trace, uint32_t n)
{
	const struct diff_step *step = &trace->step[n];
	const struct diff_thread *thread = &trace->thread[step->thread];
	const uint32_t *order = &trace->order[thread->first];
	uint32_t low = 0, high = thread->steps;

	if (step->result_form != DIFF_FORM_UNKNOWN || trace->gaps == 0)
		return false;
	/* The steps of a thread are in order of their indices. Finds the step after step `n`. */
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (order[middle] <= n)
			low = middle + 1;
		else
			high = middle;
	}
	/* The call may have returned after the steps that the thread made within the call. */
	while (low < thread->steps && trace->step[order[low]].inside)
		low++;
	return diff_trace_gap_between(trace, step->stamp,
				      low < thread->steps ? trace->step[order[low]].stamp : UINT64_MAX);
}

static bool is_same_result(struct pairs *pairs, struct pairs_files *files, const struct diff_step *first,
			   const struct diff_step *second)
{
	const uint8_t forms[2] = { first->result_form, second->result_form };

	if (forms[0] == DIFF_FORM_UNKNOWN || forms[1] == DIFF_FORM_UNKNOWN)
		return true;
	/*
	 * A call without a result has not returned, or a signal has interrupted it. Other steps show whether
	 * a signal came.
	 */
	if (forms[0] == DIFF_FORM_NONE || forms[1] == DIFF_FORM_NONE)
		return true;
	if (forms[0] == DIFF_FORM_ERROR || forms[1] == DIFF_FORM_ERROR)
		return forms[0] == forms[1] && first->result == second->result;
	if (is_file(forms[0], forms[1])) {
		pairs->result->noise[DIFF_NOISE_VALUE] += first->result != second->result;
		return is_same_file(files, first->result, second->result, true);
	}
	if (forms[0] == DIFF_FORM_PROCESS || forms[1] == DIFF_FORM_PROCESS)
		pairs->result->noise[DIFF_NOISE_VALUE] += first->result != second->result;
	return forms[0] != DIFF_FORM_NUMBER || forms[1] != DIFF_FORM_NUMBER ||
	       first->result == second->result;
}

/*
 * Returns whether the thread has neither a parent nor children in the trace. Only then is the role of a
 * descriptor known for certain: threads of one process share their descriptors.
 */
static bool is_alone(const struct diff_trace *trace, const struct diff_step *step)
{
	const struct diff_thread *thread = &trace->thread[step->thread];

	return thread->made == 0 && thread->parent == DIFF_NONE;
}

static bool are_same_values(struct pairs *pairs, struct pairs_files *files, const struct diff_step *first,
			    const struct diff_step *second)
{
	const uint8_t count = first->values < second->values ? first->values : second->values;

	for (uint8_t n = 0; n < count; n++) {
		const uint64_t value[2] = { pairs->trace[0]->value[first->value + n],
					    pairs->trace[1]->value[second->value + n] };

		if (is_file(first->form[n], second->form[n])) {
			pairs->result->noise[DIFF_NOISE_VALUE] += value[0] != value[1];
			if (!is_same_file(files, value[0], value[1], false) &&
			    is_alone(pairs->trace[0], first) && is_alone(pairs->trace[1], second))
				return false;
		} else if (first->form[n] == DIFF_FORM_NUMBER && second->form[n] == DIFF_FORM_NUMBER &&
			   value[0] != value[1]) {
			return false;
		}
	}
	return true;
}

/*
 * Returns whether two steps of a server may differ because requests arrived in a different order. If one of
 * the steps failed with an error other than EAGAIN, the order of requests is not the reason.
 */
static bool is_served(const struct diff_step *first, const struct diff_step *second)
{
	const struct diff_step *step[2] = { first, second };
	const uint64_t again = base_hash_text(0, "EAGAIN");

	for (int which = 0; which < 2; which++)
		if (step[which]->result_form == DIFF_FORM_ERROR && step[which]->result != again)
			return false;
	return true;
}

static void pairs_sample_add(struct pairs_sample *sample, double value)
{
	const double apart = value - sample->mean;

	sample->count++;
	sample->mean += apart / (double)sample->count;
	sample->squares += apart * (value - sample->mean);
}

void pairs_values(struct pairs *pairs, struct pairs_files *files, uint32_t first, uint32_t second)
{
	const struct diff_step *a = &pairs->trace[0]->step[first], *b = &pairs->trace[1]->step[second];
	const bool arguments = are_same_values(pairs, files, a, b),
		   result = is_same_result(pairs, files, a, b);

	pairs->match[first] = second;
	/* If both results are unknown, there is nothing to compare. */
	if (a->result_form != b->result_form &&
	    (is_result_lost(pairs->trace[0], first) || is_result_lost(pairs->trace[1], second)))
		pairs->result->undecided++;
	else
		pairs->result->compared++;
	if (a->took && b->took) {
		pairs_sample_add(&pairs->sample[0][a->kind], log((double)a->took));
		pairs_sample_add(&pairs->sample[1][a->kind], log((double)b->took));
	}
	if (files->served && is_served(a, b)) {
		pairs->result->noise[DIFF_NOISE_ORDER] += !arguments || !result;
		return;
	}
	if (!arguments || !result) {
		struct diff_item *item = pairs_item(pairs->result, DIFF_CHANGED, a->stamp);

		if (!item)
			return;
		item->arguments = result;
		item->kind = a->kind;
		pairs_item_step(item, pairs, 0, first);
		pairs_item_step(item, pairs, 1, second);
	}
}

/* ---- Kinds of step in both traces ---- */

static const struct diff_kind *kind_like(const struct diff_trace *trace, const struct diff_kind *kind)
{
	uint32_t row;

	for (uint32_t probe = 0; base_index_next(&trace->kind_index, kind->hash, &probe, &row);)
		if (trace->kind[row].hash == kind->hash)
			return &trace->kind[row];
	return NULL;
}

uint64_t pairs_kind_count(const struct diff_trace *trace, const struct diff_kind *kind)
{
	const struct diff_kind *like = kind_like(trace, kind);

	return like ? like->count : 0;
}

static bool has_calls(const struct diff_trace *trace)
{
	for (uint32_t n = 0; n < trace->kinds; n++)
		if (trace->kind[n].call && trace->kind[n].count)
			return true;
	return false;
}

/* Returns whether steps of this kind were recorded in `trace`, if there were any. */
static bool records(const struct diff_trace *trace, const struct diff_trace *other,
		    const struct diff_kind *kind)
{
	const struct ktread_type *like, *type;

	if (kind->call)
		return trace->calls || has_calls(trace);
	if (!trace->trace || !other->trace)
		return false;
	like = ktread_type(other->trace, kind->type);
	type = like ? ktread_type_find(trace->trace, like->group, like->name) : NULL;
	return type && (type->state == KTRX_STATE_RECORD || type->wanted == KTRX_STATE_RECORD);
}

void pairs_kinds(struct diff_trace *const trace[2])
{
	for (int side = 0; side < 2; side++)
		for (uint32_t n = 0; n < trace[side]->kinds; n++) {
			struct diff_kind *kind = &trace[side]->kind[n];
			const struct diff_kind *other = kind_like(trace[!side], kind);

			kind->served |= other && other->served;
			kind->excluded =
				(!other || other->count == 0) && !records(trace[!side], trace[side], kind);
		}
}
