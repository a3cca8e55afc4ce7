/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Semihosting: the part that is the same on ARM and RISC-V. The trap instruction itself is in the
 * architecture's directory.
 *
 * Writing to a file sends a whole buffer with one trap. KTRACE_SYS_WRITE to the standard handles is not used:
 * its effect differs between QEMU versions, and some drop the output. KTRACE_SYS_WRITEC reaches the console
 * in all of them.
 */
#include "../base/bytes.h"
#include "drivers.h"

#define KTRACE_SYS_OPEN	       0x01u
#define KTRACE_SYS_WRITEC      0x03u
#define KTRACE_SYS_WRITE       0x05u
#define KTRACE_SYS_GET_CMDLINE 0x15u

#define KTRACE_OPEN_WRITE_BINARY 5u /* mode for SYS_OPEN that corresponds to "wb" of fopen() */
#define KTRACE_CONSOLE		 (-1)

/*
 * Finds the first argument that begins with "ktrace-file=". Returns the rest of the argument, NUL-terminated;
 * NULL if there is no such argument.
 */
static const char *find_path(char *line)
{
	static const char key[] = "ktrace-file=";
	char *word = line;

	while (*word) {
		char *end = word;
		uint32_t same = 0;

		while (*end && *end != ' ')
			end++;
		while (key[same] && word[same] == key[same])
			same++;
		if (!key[same]) {
			*end = '\0';
			return word + same;
		}
		word = *end ? end + 1 : end;
	}
	return NULL;
}

static const char *path_from_host(struct ktrace_semihosting *semihosting)
{
	const uint64_t block[2] = { (uintptr_t)semihosting->line, sizeof(semihosting->line) - 1 };

	semihosting->line[0] = '\0';
	if (ktrace_semihosting_call(KTRACE_SYS_GET_CMDLINE, block) != 0)
		return NULL;
	semihosting->line[sizeof(semihosting->line) - 1] = '\0';
	return find_path(semihosting->line);
}

static int64_t open_file(const char *path)
{
	const uint64_t block[3] = { (uintptr_t)path, KTRACE_OPEN_WRITE_BINARY,
				    ktrace_length(path, KTRX_U32_MAX) };

	return ktrace_semihosting_call(KTRACE_SYS_OPEN, block);
}

static int semihosting_probe(struct ktrace_transport *transport)
{
	struct ktrace_semihosting *semihosting = (struct ktrace_semihosting *)transport;
	const char *path = semihosting->path;

	if (!ktrace_semihosting_present())
		return KTRACE_OUTPUT_ABSENT;
	if (!path || !*path)
		path = path_from_host(semihosting);
	semihosting->handle = path ? open_file(path) : KTRACE_CONSOLE;
	return 0;
}

static int64_t console_send(const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ktrace_semihosting_call(KTRACE_SYS_WRITEC, bytes + i);
	return (int64_t)count;
}

static int64_t semihosting_send(struct ktrace_transport *transport, const void *data, size_t bytes)
{
	const struct ktrace_semihosting *semihosting = (const struct ktrace_semihosting *)transport;
	const uint64_t block[3] = { (uint64_t)semihosting->handle, (uintptr_t)data, bytes };
	uint64_t unwritten;

	if (semihosting->handle < 0)
		return console_send((const unsigned char *)data, bytes);
	unwritten = (uint64_t)ktrace_semihosting_call(KTRACE_SYS_WRITE, block);
	return unwritten <= bytes ? (int64_t)(bytes - unwritten) : KTRACE_OUTPUT_FAILED;
}

struct ktrace_transport *ktrace_semihosting_init(struct ktrace_semihosting *semihosting, const char *path)
{
	ktrace_output_init(&semihosting->transport, "semihosting", semihosting_probe, semihosting_send);
	semihosting->path = path;
	semihosting->handle = KTRACE_CONSOLE;
	return &semihosting->transport;
}
