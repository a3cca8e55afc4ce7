/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * gen_diff OUT EVENTS SEED: writes a version 2 dump in which 16 threads make system calls and look up paths.
 * The seed changes the order of the threads, the times, and one call in 10,000.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/support/ktread_writer.h"

#define THREADS 16u
#define CPUS	4u
#define CHANGED 10000u

enum { SWITCH = 1, ENTER, RETURN };

static void describe(struct writer *writer)
{
	static const uint8_t switches[] = { KTRX_TYPE_U32, KTRX_TYPE_U32, KTRX_TYPE_U8, 0 };
	static const uint8_t enters[] = { KTRX_TYPE_U32, KTRX_TYPE_U64, 0 };
	static const uint8_t returns[] = { KTRX_TYPE_U32, KTRX_TYPE_I64, 0 };
	static const char text[] = "sched\0switch\0%u -> %u state %u\0a.c\0prev\0\0next\0\0state\0";
	static const char enter[] = "syscall\0enter\0%u(%#llx)\0a.c\0nr\0\0a1\0";
	static const char back[] = "syscall\0exit\0%u = %lld\0a.c\0nr\0\0result\0";

	writer_event(writer, switches, text, sizeof(text));
	writer_event(writer, enters, enter, sizeof(enter));
	writer_event(writer, returns, back, sizeof(back));
}

static uint64_t draw(uint64_t *random)
{
	*random = *random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return *random >> 33;
}

static void put(struct writer *writer, uint32_t cpu, uint64_t stamp, uint32_t id, uint32_t thread,
		uint32_t number, uint64_t value)
{
	unsigned char payload[12];

	memcpy(payload, &number, 4);
	memcpy(payload + 4, &value, 8);
	writer_record(writer, 1 + cpu, stamp, id, thread, payload, sizeof(payload));
}

/* Each CPU runs four of the threads in turn. What a thread calls does not depend on the seed. */
static void record_all(struct writer *writer, uint64_t events, uint64_t seed)
{
	uint64_t thread_random[THREADS], random = seed, stamp = 1000;
	uint32_t running[CPUS] = { 0 };

	for (uint32_t n = 0; n < THREADS; n++)
		thread_random[n] = n;
	for (uint64_t n = 0; n < events / 3; n++) {
		const uint32_t cpu = (uint32_t)(draw(&random) % CPUS);
		const uint32_t prev = cpu * 4 + running[cpu], next = cpu * 4 + (uint32_t)(draw(&random) % 4);
		const uint32_t number = (uint32_t)(draw(&thread_random[next]) % 40);
		const uint64_t value = draw(&thread_random[next]) % 100;
		unsigned char payload[9] = { 0 };

		stamp += 1 + draw(&random) % 500;
		payload[0] = (unsigned char)(prev + 1);
		payload[4] = (unsigned char)(next + 1);
		writer_record(writer, 1 + cpu, stamp, SWITCH, prev + 1, payload, sizeof(payload));
		put(writer, cpu, stamp += 100, ENTER, next + 1, number, value);
		put(writer, cpu, stamp += 100, RETURN, next + 1, number,
		    draw(&random) % CHANGED == 0 ? UINT64_MAX : value);
		running[cpu] = next % 4;
	}
}

int main(int argc, char **argv)
{
	const uint64_t events = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
	struct writer writer;
	struct bytes dump = { NULL, 0 };
	uint32_t shift = 5;
	FILE *file;

	if (events == 0) {
		fprintf(stderr, "usage: gen_diff OUT EVENTS SEED\n");
		return EXIT_FAILURE;
	}
	while (UINT64_C(1) << shift < events)
		shift++;
	writer_open(&writer, CPUS + 1, shift);
	describe(&writer);
	record_all(&writer, events, strtoull(argv[3], NULL, 10));
	writer_dump(&writer, &dump);
	writer_close(&writer);
	file = fopen(argv[1], "wb");
	if (!file || fwrite(dump.data, 1, dump.size, file) != dump.size || fclose(file) != 0) {
		perror(argv[1]);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
