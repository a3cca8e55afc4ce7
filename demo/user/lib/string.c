/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <string.h>

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++)
		if (!*s)
			return NULL;
	return (char *)(size_t)s;
}

bool string_starts(const char *s, const char *with)
{
	while (*with && *s == *with)
		s++, with++;
	return !*with;
}
