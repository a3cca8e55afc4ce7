/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The plugin's arguments. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

#define RING_LEAST UINT64_C(65536)
#define RING_MOST  (UINT64_C(1) << 40)

#define LEVELS "all, or user or kernel together with user=START-END"

/*
 * Reads a number, which is decimal, even with leading zeros, or hexadecimal after 0x. The suffixes K, M and G
 * multiply it. Sets *end to the text after the number. Returns -1 if the text is not a number, or the number
 * is too large.
 */
static int read_number(const char *text, uint64_t *number, const char **end)
{
	static const char units[] = "KMG";
	const int is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *unit;
	char *stop;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	*number = strtoull(text, &stop, is_hex ? 16 : 10);
	if (errno != 0)
		return -1;
	unit = *stop != '\0' ? strchr(units, *stop) : NULL;
	if (unit != NULL) {
		unsigned shift = 10 * (unsigned)(unit - units + 1);

		if (*number << shift >> shift != *number)
			return -1;
		*number <<= shift;
		stop++;
	}
	*end = stop;
	return 0;
}

static int number(const char *value, uint64_t *to)
{
	const char *end;

	return read_number(value, to, &end) == 0 && *end == '\0' ? 0 : -1;
}

static int boolean(const char *value, uint8_t *to)
{
	*to = strcmp(value, "on") == 0 || strcmp(value, "1") == 0;
	return *to || strcmp(value, "off") == 0 || strcmp(value, "0") == 0 ? 0 : -1;
}

static int ring(const char *value, uint64_t *to)
{
	if (number(value, to) != 0 || *to < RING_LEAST || *to > RING_MOST || (*to & (*to - 1)) != 0)
		return -1;
	return 0;
}

/* Reads a range START-END of addresses. END is exclusive. */
static int extent(const char *value, uint64_t *start, uint64_t *end)
{
	const char *rest;

	return read_number(value, start, &rest) == 0 && *rest == '-' && number(rest + 1, end) == 0 &&
			       *start < *end
		       ? 0
		       : -1;
}

static int range(const char *value, struct arguments *arguments)
{
	unsigned n = arguments->ranges;

	if (n == TRACE_RANGES || extent(value, &arguments->range[n].start, &arguments->range[n].end) != 0)
		return -1;
	arguments->ranges++;
	return 0;
}

static int level(const char *value, struct arguments *arguments)
{
	int all = strcmp(value, "all") == 0;

	arguments->user = all || strcmp(value, "user") == 0;
	arguments->kernel = all || strcmp(value, "kernel") == 0;
	return arguments->user || arguments->kernel ? 0 : -1;
}

/*
 * Sets the argument `name`, which has `length` bytes, to `value`. Returns NULL if the value is valid, and a
 * description of valid values if it is not. Returns "" if there is no such argument.
 */
static const char *take(struct arguments *arguments, const char *name, size_t length, const char *value)
{
#define IS(word) (length == sizeof(word) - 1 && memcmp(name, word, length) == 0)
	if (IS("ram")) {
		arguments->ram = value;
		return *value != '\0' ? NULL : "a file name";
	}
	if (IS("out")) {
		arguments->out = value;
		return *value != '\0' ? NULL : "a file name";
	}
	if (IS("base")) {
		arguments->has_base = 1;
		return number(value, &arguments->base) == 0 && arguments->base % 4096 == 0
			       ? NULL
			       : "a multiple of 4096";
	}
	if (IS("size"))
		return ring(value, &arguments->ring_size) == 0 ? NULL : "a power of two from 64K to 1024G";
	if (IS("code"))
		return number(value, &arguments->code_size) == 0 && arguments->code_size <= RING_MOST
			       ? NULL
			       : "a number of bytes, up to 1024G";
	if (IS("exact"))
		return boolean(value, &arguments->exact) == 0 ? NULL : "on or off";
	if (IS("time"))
		return boolean(value, &arguments->time) == 0 ? NULL : "on or off";
	if (IS("returns"))
		return boolean(value, &arguments->returns) == 0 ? NULL : "on or off";
	if (IS("hidden"))
		return boolean(value, &arguments->hidden) == 0 ? NULL : "on or off";
	if (IS("virtual"))
		return number(value, &arguments->instruction) == 0 && arguments->instruction <= 1024
			       ? NULL
			       : "the duration of an instruction in ns, up to 1024";
	if (IS("level"))
		return level(value, arguments) == 0 ? NULL : LEVELS;
	if (IS("user"))
		return extent(value, &arguments->user_start, &arguments->user_end) == 0 ? NULL : "START-END";
	if (IS("range"))
		return range(value, arguments) == 0 ? NULL : "START-END, at most 4 times";
#undef IS
	return "";
}

int arguments_read(struct arguments *arguments, int argc, char **argv, const char **message)
{
	static char text[512];

	*arguments = (struct arguments){ .ring_size = UINT64_C(16) << 20,
					 .code_size = UINT64_C(64) << 20,
					 .time = 1,
					 .returns = 1,
					 .user = 1,
					 .kernel = 1 };
	*message = text;
	for (int i = 0; i < argc; i++) {
		size_t length = strcspn(argv[i], "=");
		const char *wanted =
			argv[i][length] == '=' ? take(arguments, argv[i], length, argv[i] + length + 1) : "";

		if (wanted == NULL)
			continue;
		if (*wanted == '\0')
			snprintf(text, sizeof(text),
				 "%s: unknown argument; known: ram= base= out= size= code= exact= time= "
				 "returns= hidden= virtual= level= user= range=",
				 argv[i]);
		else
			snprintf(text, sizeof(text), "%s: expected %s", argv[i], wanted);
		return -1;
	}
	if (arguments->user != arguments->kernel && arguments->user_end == 0) {
		snprintf(text, sizeof(text), "level=%s: expected " LEVELS,
			 arguments->user ? "user" : "kernel");
		return -1;
	}
	return 0;
}
