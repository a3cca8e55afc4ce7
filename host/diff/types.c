/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Determines what the arguments and the result of a system call mean. */
#include <string.h>

#include "diff/trace.h"

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
