/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Recognizes idle threads by their names. */
#include "analyze/threads.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Returns the length of a prefix such as "CPU0 " or "core-1/", which some kernels use. */
static size_t skip_cpu(const char *name, size_t length)
{
	static const char *const words[] = { "cpu", "core", "hart" };
	size_t at = 0;

	for (size_t n = 0; n < sizeof(words) / sizeof(words[0]) && at == 0; n++)
		if (length > strlen(words[n]) && strncasecmp(name, words[n], strlen(words[n])) == 0)
			at = strlen(words[n]);
	while (at && at < length && !isalpha((unsigned char)name[at]))
		at++;
	return at;
}

bool threads_is_idle(const struct ktread *trace, uint32_t thread)
{
	const char *name = thread ? ktread_thread_name(trace, thread) : NULL;

	return thread == 0 || (name && threads_name_is_idle(name, strlen(name)));
}

bool threads_name_is_idle(const char *name, size_t length)
{
	size_t at = skip_cpu(name, length);

	if (at == 0 && length && (name[0] == 't' || name[0] == 'T'))
		at = 1; /* RT-Thread's idle threads have names such as "tidle0" */
	return length - at >= 4 && strncasecmp(name + at, "idle", 4) == 0 &&
	       (length - at == 4 || !isalpha((unsigned char)name[at + 4]));
}
