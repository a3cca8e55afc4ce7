/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A dump into memory. The stream's scratch buffer is the end of that memory, so that the caller's stack need
 * not hold it.
 */
#include "ktrace/dump.h"
#include "state.h"

struct memory_sink {
	struct ktrace_sink sink; /* first: the stream knows only this */
	uint8_t *memory;
	uint64_t room; /* bytes for the dump */
	uint64_t taken;
	uint64_t needed; /* bytes of the dump */
};

static int memory_begin(struct ktrace_sink *sink, uint64_t bytes)
{
	struct memory_sink *memory = (struct memory_sink *)sink;

	memory->needed = bytes;
	return bytes <= memory->room ? 0 : KTRACE_OUTPUT_FULL;
}

static int memory_write(struct ktrace_sink *sink, const void *data, size_t bytes)
{
	struct memory_sink *memory = (struct memory_sink *)sink;

	if (bytes > memory->room - memory->taken)
		return KTRACE_OUTPUT_FULL;
	ktrace_copy(memory->memory + memory->taken, data, bytes);
	memory->taken += bytes;
	return 0;
}

int ktrace_snapshot(void *memory, size_t size, size_t *bytes)
{
	size_t scratch = KTRACE_SINK_BUFFER_MIN + ktrace_rings() * sizeof(uint64_t);
	struct memory_sink sink;
	int error;

	ktrace_attach();
	if (!memory || !bytes || (uintptr_t)memory % 8 != 0)
		return KTRACE_ERROR_ARGUMENT;
	if (size < scratch) {
		*bytes = 2 * scratch;
		return KTRACE_ERROR_MEMORY;
	}
	sink.memory = memory;
	sink.room = (size - scratch) & ~(size_t)7;
	sink.taken = 0;
	sink.needed = 0;
	sink.sink.write = memory_write;
	sink.sink.begin = memory_begin;
	sink.sink.buffer = sink.memory + sink.room;
	sink.sink.buffer_size = scratch;
	error = ktrace_dump_v2(&ktrace_root, &sink.sink);
	*bytes = error ? sink.needed + scratch + 8 : sink.taken;
	if (error == KTRACE_OUTPUT_FULL)
		return KTRACE_ERROR_MEMORY;
	return error ? KTRACE_ERROR_STATE : KTRACE_OK;
}
