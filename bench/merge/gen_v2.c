/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * gen_v2 OUT RINGS EVENTS: writes a version 2 dump with that many events, spread over that many rings in an
 * order that a branch predictor cannot learn. The rings are full, so their total number of slots does not
 * depend on RINGS.
 */
#include <stdio.h>
#include <stdlib.h>

#include "unit/support/ktread_writer.h"

static void describe(struct writer *writer)
{
	static const uint8_t types[] = { KTRX_TYPE_U32, KTRX_TYPE_U32, KTRX_TYPE_U8, 0 };
	static const char text[] = "sched\0switch\0%u -> %u state %u\0a.c\0prev\0\0next\0\0state\0";

	writer_event(writer, types, text, sizeof(text));
}

static void record_all(struct writer *writer, uint32_t rings, uint64_t events)
{
	uint64_t random = 1, stamp = 1000;
	unsigned char payload[9] = { 0 };

	for (uint64_t n = 0; n < events; n++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		stamp += 1 + (random >> 50) % 500;
		payload[0] = (unsigned char)(random >> 40);
		writer_record(writer, 1 + (uint32_t)(random >> 33) % rings, stamp, 1, payload[0], payload,
			      sizeof(payload));
	}
}

int main(int argc, char **argv)
{
	uint32_t rings = argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0, shift = 5;
	uint64_t events = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
	struct writer writer;
	struct bytes dump = { NULL, 0 };
	FILE *file;

	if (rings == 0 || events == 0) {
		fprintf(stderr, "usage: gen_v2 OUT RINGS EVENTS\n");
		return EXIT_FAILURE;
	}
	while (UINT64_C(1) << shift < events / rings)
		shift++;
	writer_open(&writer, rings + 1, shift);
	describe(&writer);
	record_all(&writer, rings, events);
	writer_dump(&writer, &dump);
	writer_close(&writer);
	file = fopen(argv[1], "wb");
	if (!file || fwrite(dump.data, 1, dump.size, file) != dump.size || fclose(file) != 0) {
		perror(argv[1]);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
