/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX 512

static void vdprintf(int fd, const char *text, va_list arguments)
{
	char line[LINE_MAX];

	vformat(line, sizeof(line), text, arguments);
	write(fd, line, strlen(line));
}

void printf(const char *text, ...)
{
	va_list arguments;

	va_start(arguments, text);
	vdprintf(STDOUT, text, arguments);
	va_end(arguments);
}

void dprintf(int fd, const char *text, ...)
{
	va_list arguments;

	va_start(arguments, text);
	vdprintf(fd, text, arguments);
	va_end(arguments);
}
