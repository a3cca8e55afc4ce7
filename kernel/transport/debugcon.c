/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ISA debug console: each byte written to the port goes to the host's file. Reading the port returns a fixed
 * number.
 */
#include "drivers.h"

#include "ktrace_io.h"

#define KTRACE_PRESENT 0xe9u /* value that a read of the port returns, for every port number */

static int debugcon_probe(struct ktrace_transport *transport)
{
	const struct ktrace_debugcon *debugcon = (const struct ktrace_debugcon *)transport;

	return ktrace_port_read8(debugcon->port) == KTRACE_PRESENT ? 0 : KTRACE_OUTPUT_ABSENT;
}

static int64_t debugcon_send(struct ktrace_transport *transport, const void *data, size_t bytes)
{
	const struct ktrace_debugcon *debugcon = (const struct ktrace_debugcon *)transport;

	ktrace_port_write_bytes(debugcon->port, data, bytes);
	return (int64_t)bytes;
}

struct ktrace_transport *ktrace_debugcon_init(struct ktrace_debugcon *debugcon, uint16_t port)
{
	ktrace_output_init(&debugcon->transport, "debugcon", debugcon_probe, debugcon_send);
	debugcon->port = port;
	return &debugcon->transport;
}
