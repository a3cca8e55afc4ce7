/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/sched_writer.h"

#include <string.h>

static const uint8_t switch_types[] = { KTRX_TYPE_U32, KTRX_TYPE_U32, KTRX_TYPE_U8, 0 };
static const char switch_strings[] = "sched\0switch\0%u -> %u in %u\0sched.c\0prev\0\0next\0\0state\0";
static const uint8_t number_types[] = { KTRX_TYPE_U32, 0 };
static const char wake_strings[] = "sched\0wake\0%u\0sched.c\0thread\0";

void sched_writer_open(struct writer *writer, uint32_t cpus)
{
	writer_open(writer, cpus + 1, 14);
	writer->root.frequency = SCHED_HZ;
	writer->root.cpus = cpus;
	writer_event(writer, switch_types, switch_strings, sizeof(switch_strings));
	sched_writer_event(writer, wake_strings, sizeof(wake_strings));
}

void sched_writer_event(struct writer *writer, const char *strings, size_t size)
{
	writer_event(writer, number_types, strings, size);
}

void sched_writer_switch(struct writer *writer, uint32_t cpu, uint64_t stamp, uint32_t prev, uint32_t next,
			 uint8_t state)
{
	unsigned char payload[9];

	memcpy(payload, &prev, 4);
	memcpy(payload + 4, &next, 4);
	payload[8] = state;
	writer_record(writer, cpu + 1, stamp, SCHED_SWITCH, 0, payload, sizeof(payload));
}

void sched_writer_put(struct writer *writer, uint32_t cpu, uint64_t stamp, uint32_t event, uint32_t value)
{
	writer_record(writer, cpu + 1, stamp, event, 0, &value, sizeof(value));
}

struct ktread *sched_writer_close(struct writer *writer)
{
	struct bytes dump = { NULL, 0 };
	struct ktread *trace;

	writer_dump(writer, &dump);
	trace = open_ok(temporary_bytes(&dump), NULL);
	bytes_free(&dump);
	writer_close(writer);
	return trace;
}
