/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "machine.h"

static struct fake_device plugged;
static char log_text[1 << 16];
static size_t log_length;
static unsigned reads;

void fake_plug(const struct fake_device *device)
{
	plugged = *device;
	fake_log_clear();
}

const char *fake_log(void)
{
	return log_text;
}

void fake_log_clear(void)
{
	log_length = 0;
	log_text[0] = '\0';
	reads = 0;
}

unsigned fake_reads(void)
{
	return reads;
}

/*
 * Accesses that do not fit into the log are not logged. Tests of endless polls check only the number of
 * reads.
 */
static void note(const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(log_text + log_length, sizeof(log_text) - log_length, format, arguments);
	va_end(arguments);
	if (length > 0 && (size_t)length < sizeof(log_text) - log_length)
		log_length += (size_t)length;
	log_text[log_length] = '\0';
}

uint32_t fake_read(uint64_t address, unsigned bits)
{
	uint32_t value = plugged.read ? plugged.read(address, bits) : UINT32_MAX;

	if (bits < 32)
		value &= (1u << bits) - 1;
	reads++;
	note("r%u:%" PRIx64 "=%" PRIx32 " ", bits, address, value);
	return value;
}

void fake_write(uint64_t address, unsigned bits, uint32_t value)
{
	note("w%u:%" PRIx64 "=%" PRIx32 " ", bits, address, value);
	if (plugged.write)
		plugged.write(address, bits, value);
}

void fake_barrier(void)
{
	note("barrier ");
}
