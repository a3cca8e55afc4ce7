/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <string.h>

#include "unit/support/ktread_sample.h"

static const uint8_t switch_types[] = { KTRX_TYPE_U32, KTRX_TYPE_U32, KTRX_TYPE_I64, 0 };
static const char switch_strings[] =
	"sched\0switch\0%u -> %u after %lld ns\0sched.c\0prev\0\0next\0\0ran\0ns";
static const uint8_t open_types[] = { KTRX_TYPE_STRING, KTRX_TYPE_I32, 0 };
static const char open_strings[] = "vfs\0open\0open(%s) = %d\0vfs.c\0path\0\0result\0";

void begin(struct writer *writer, uint32_t rings)
{
	begin_small(writer, rings, SHIFT);
}

void begin_small(struct writer *writer, uint32_t rings, uint32_t shift)
{
	writer_open(writer, rings, shift);
	writer_event(writer, switch_types, switch_strings, sizeof(switch_strings));
	writer_event(writer, open_types, open_strings, sizeof(open_strings));
	writer_thread(writer, 7, "worker");
	bytes_append(&writer->syscalls, "0 read\n1 write\n", 15);
}

uint64_t put_switch(struct writer *writer, uint32_t ring, uint64_t stamp, uint32_t prev)
{
	struct {
		uint32_t prev, next;
		int64_t ran;
	} payload = { prev, prev + 1, -5 };

	return writer_record(writer, ring, stamp, SWITCH, 7, &payload, sizeof(payload));
}

uint64_t put_open(struct writer *writer, uint32_t ring, uint64_t stamp, const char *path)
{
	unsigned char payload[230];
	uint16_t length = (uint16_t)strlen(path);
	int32_t result = -2;

	memcpy(payload, &length, 2);
	memcpy(payload + 2, path, length);
	memcpy(payload + 2 + length, &result, 4);
	return writer_record(writer, ring, stamp, OPEN, 7, payload, 6u + length);
}

uint64_t drain_exact(struct ktread *trace, uint64_t invalid)
{
	const struct ktread_event *event;
	uint64_t count = 0, last = 0, bad = 0;

	while (ktread_next(trace, &event) > 0) {
		assert_true(event->stamp >= last);
		last = event->stamp;
		count++;
	}
	for (uint32_t n = 0; n < ktread_info(trace)->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(trace, n);

		assert_int_equal(ring->head, ring->overwritten + ring->decoded + ring->invalid);
		bad += ring->invalid;
	}
	assert_int_equal(bad, invalid);
	ktread_close(trace);
	return count;
}
