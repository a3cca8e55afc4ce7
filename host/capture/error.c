/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

static _Thread_local char message[1024];

int capture_fail(int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return error;
}

int capture_fail_errno(const char *format, ...)
{
	const char *reason = strerror(errno);
	va_list arguments;
	size_t length;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	length = strlen(message);
	snprintf(message + length, sizeof(message) - length, ": %s", reason);
	return CAPTURE_E_SYSTEM;
}

const char *capture_message(void)
{
	return message;
}

const char *capture_memory_message(void *context)
{
	(void)context;
	return message;
}
