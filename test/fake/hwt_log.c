/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/fake/hwt_log.h"

static char text[1 << 18];
static size_t used;
static char broken[256];

void fake_log_reset(void)
{
	used = 0;
	text[0] = '\0';
	broken[0] = '\0';
}

static void say(const char *prefix, const char *format, va_list arguments)
{
	char line[256];
	int length;

	vsnprintf(line, sizeof(line), format, arguments);
	length = snprintf(text + used, sizeof(text) - used, "%s%s\n", prefix, line);
	if (length > 0 && (size_t)length < sizeof(text) - used)
		used += (size_t)length;
	else
		text[used] = '\0'; /* the log is full: the line is dropped */
}

void fake_log(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say("", format, arguments);
	va_end(arguments);
}

void fake_log_broken(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say("BROKEN: ", format, arguments);
	va_end(arguments);
	if (!broken[0]) {
		va_start(arguments, format);
		vsnprintf(broken, sizeof(broken), format, arguments);
		va_end(arguments);
	}
}

const char *fake_log_text(void)
{
	return text;
}

const char *fake_log_first_broken(void)
{
	return broken[0] ? broken : NULL;
}

static void write_golden(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, used, file), used);
	assert_int_equal(fclose(file), 0);
}

void fake_log_golden(const char *name)
{
	static char golden[sizeof(text)];
	char path[256];
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "test/golden/hwt/%s.log", name);
	if (getenv("UPDATE"))
		write_golden(path);
	file = fopen(path, "r");
	assert_non_null(file);
	length = fread(golden, 1, sizeof(golden) - 1, file);
	fclose(file);
	golden[length] = '\0';
	assert_string_equal(text, golden);
}
