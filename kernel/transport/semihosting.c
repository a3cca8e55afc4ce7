/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Semihosting, as far as ARM's and RISC-V's agree; the trap itself is in the architecture's folder.
 *
 * A file takes a whole buffer a trap. SYS_WRITE to the standard handles is not used: what becomes of it differs
 * from one QEMU to the next, and some drop it. SYS_WRITEC reaches the console in all of them.
 */
#include "output.h"

#include "semihosting.h"

#define SYS_OPEN   0x01u
#define SYS_WRITEC 0x03u
#define SYS_WRITE  0x05u

#define OPEN_WRITE_BINARY 5u /* "wb" */
#define CONSOLE		  (-1)

static uint64_t path_length(const char *path)
{
	uint64_t length = 0;

	while (path[length])
		length++;
	return length;
}

static int semihosting_probe(struct ktrace_transport *transport)
{
	struct ktrace_semihosting *semihosting = (struct ktrace_semihosting *)transport;

	if (!ktrace_semihosting_present())
		return KTRACE_OUTPUT_ABSENT;
	semihosting->handle = CONSOLE;
	if (semihosting->path) {
		const uint64_t block[3] = { (uintptr_t)semihosting->path, OPEN_WRITE_BINARY,
					    path_length(semihosting->path) };

		semihosting->handle = ktrace_semihosting_call(SYS_OPEN, block);
	}
	return 0;
}

static int64_t console_send(const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ktrace_semihosting_call(SYS_WRITEC, bytes + i);
	return (int64_t)count;
}

static int64_t semihosting_send(struct ktrace_transport *transport, const void *data, size_t bytes)
{
	const struct ktrace_semihosting *semihosting = (const struct ktrace_semihosting *)transport;
	const uint64_t block[3] = { (uint64_t)semihosting->handle, (uintptr_t)data, bytes };
	uint64_t unwritten;

	if (semihosting->handle < 0)
		return console_send((const unsigned char *)data, bytes);
	unwritten = (uint64_t)ktrace_semihosting_call(SYS_WRITE, block);
	return unwritten <= bytes ? (int64_t)(bytes - unwritten) : KTRACE_OUTPUT_FAILED;
}

struct ktrace_transport *ktrace_semihosting_init(struct ktrace_semihosting *semihosting, const char *path)
{
	ktrace_output_init(&semihosting->transport, "semihosting", semihosting_probe, semihosting_send);
	semihosting->path = path;
	semihosting->handle = CONSOLE;
	return &semihosting->transport;
}
