/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Dumps of this kernel's own trace through a transport. Code that uses `buffer` requires that the output lock
 * is held.
 */
#include "drivers.h"

#include "ktrace/control.h"
#include "ktrace/port.h"

/*
 * Size in bytes of the buffer for writes; a large size makes bulk transports fast. Room for the heads of
 * rings is added to it.
 */
#ifndef KTRACE_DUMP_BUFFER
#define KTRACE_DUMP_BUFFER 16384
#endif

#define KTRACE_CHANGED_TRIES 3u /* maximum number of attempts to dump while the ring table changes */

struct transport_sink {
	struct ktrace_sink sink;
	struct ktrace_transport *transport;
};

static uint64_t buffer[KTRACE_DUMP_BUFFER / sizeof(uint64_t) + KTRACE_MAX_CPUS + 2];

static int sink_write(struct ktrace_sink *sink, const void *data, size_t bytes)
{
	return ktrace_output_send(((struct transport_sink *)sink)->transport, data, bytes);
}

static int sink_begin(struct ktrace_sink *sink, uint64_t bytes)
{
	struct ktrace_transport *transport = ((struct transport_sink *)sink)->transport;

	return transport->begin ? transport->begin(transport, bytes) : 0;
}

static int dump_once(struct ktrace_transport *transport, unsigned how)
{
	struct transport_sink to = {
		.sink = { sink_write, sink_begin, buffer, sizeof(buffer) },
		.transport = transport,
	};
	uint32_t omitted = 0;
	int error;

	if (!(how & KTRACE_DUMP_V1))
		return ktrace_dump_v2(&ktrace_root, &to.sink);
	error = ktrace_dump_v1(&ktrace_root, &to.sink, &omitted);
	ktrace_root.v1_omitted = omitted;
	return error;
}

static int dump_until_whole(struct ktrace_transport *transport, unsigned how)
{
	int error = KTRACE_OUTPUT_CHANGED;

	for (uint32_t i = 0; i < KTRACE_CHANGED_TRIES && error == KTRACE_OUTPUT_CHANGED; i++)
		error = dump_once(transport, how);
	return error;
}

int ktrace_dump(struct ktrace_transport *transport, unsigned how)
{
	int error = ktrace_output_resolve(&transport);
	bool pause = (how & KTRACE_DUMP_PAUSE) != 0 && ktrace_is_started();

	if (!error)
		error = ktrace_output_enter((how & KTRACE_DUMP_SEIZE) != 0);
	if (error)
		return error;
	if (pause)
		ktrace_stop();
	error = dump_until_whole(transport, how);
	/* recording stays stopped if another CPU has panicked during the dump */
	if (pause && ktrace_root.outcome == KTRX_OUTCOME_RUNNING)
		ktrace_start();
	ktrace_output_leave();
	return error;
}

void ktrace_dump_at_end(void *cookie)
{
	(void)cookie;
	ktrace_dump(NULL,
		    KTRACE_DUMP_PAUSE | (ktrace_root.outcome == KTRX_OUTCOME_PANIC ? KTRACE_DUMP_SEIZE : 0));
}
