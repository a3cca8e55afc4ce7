/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/note.h"

#include <stdlib.h>
#include <string.h>

#include "base/open.h"

const char *note_find(const char *note, const char *key, size_t *length)
{
	const size_t size = strlen(key);

	for (const char *line = note; *line; line += *line == '\n') {
		const char *end = line + strcspn(line, "\n");

		if (strncmp(line, key, size) == 0 && strncmp(line + size, ": ", 2) == 0) {
			line += size + 2;
			*length = (size_t)(end - line);
			return line;
		}
		line = end;
	}
	return NULL;
}

int note_word_after(const char *command, size_t length, const char *option, char *word, size_t size)
{
	const char *end = command + length;
	bool wanted = false;

	for (const char *at = command; at < end;) {
		const char *blank = memchr(at, ' ', (size_t)(end - at));
		const size_t bytes = (size_t)((blank ? blank : end) - at);

		if (wanted && bytes < size) {
			memcpy(word, at, bytes);
			word[bytes] = '\0';
			return 0;
		}
		wanted = bytes == strlen(option) && memcmp(at, option, bytes) == 0;
		at += bytes + 1;
	}
	return -1;
}

bool note_kernel(const char *note, char *path, size_t size)
{
	size_t length;
	const char *told = note_find(note, "kernel", &length);

	if (told && length > 0 && length < size) {
		memcpy(path, told, length);
		path[length] = '\0';
		return base_is_readable(path);
	}
	told = note_find(note, "command", &length);
	return told && note_word_after(told, length, "-kernel", path, size) == 0 && base_is_readable(path);
}

double note_silence(const char *note, bool *more)
{
	static const char or_more[] = " or more";
	const size_t tail = sizeof(or_more) - 1;
	size_t length;
	const char *value = note_find(note, "silent", &length);
	char *end = NULL;
	const double seconds = value ? strtod(value, &end) : -1;

	*more = value && length >= tail && memcmp(value + length - tail, or_more, tail) == 0;
	return value && end > value && end <= value + length ? seconds : -1;
}
