/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Error texts, one for each thread. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ktread/memory.h"
#include "message.h"

static _Thread_local char text[KTREAD_MESSAGE_SIZE];

int ktread_fail(int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return code;
}

int ktread_fail_errno(const char *format, ...)
{
	int error = errno;
	va_list arguments;
	size_t used;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	used = strlen(text);
	snprintf(text + used, sizeof(text) - used, ": %s", strerror(error));
	return KTREAD_E_SYSTEM;
}

int ktread_fail_memory(void)
{
	return ktread_fail(KTREAD_E_MEMORY, "out of memory");
}

const char *ktread_fail_text(void)
{
	return text;
}

const char *ktread_image_message(void)
{
	return text;
}
