/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * memory-trace FILE THREADS TURNS CPUS [LOCKS]: writes a version 2 dump in which each thread runs TURNS times
 * on some CPU. Each time, the thread records a context switch, a system call and a lock. If LOCKS is given,
 * the thread takes the next one of LOCKS locks each time, and never releases them.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/support/ktread_writer.h"

#define FEW_LOCKS 1000u /* number of locks if LOCKS is not given */

enum { SWITCH = 1, ENTER, EXIT, ACQUIRE, RELEASE };

static void describe(struct writer *writer)
{
	static const uint8_t numbers[] = { KTRX_TYPE_U32, KTRX_TYPE_U32, 0 },
			     call[] = { KTRX_TYPE_U16, KTRX_TYPE_I64, 0 }, lock[] = { KTRX_TYPE_POINTER, 0 },
			     named[] = { KTRX_TYPE_POINTER, KTRX_TYPE_STRING, 0 };
	static const char switch_text[] = "sched\0switch\0%u -> %u\0a.c\0prev\0\0next\0",
			  enter_text[] = "syscall\0enter\0%u(%lld)\0a.c\0nr\0\0a1\0",
			  exit_text[] = "syscall\0exit\0%u = %lld\0a.c\0nr\0\0result\0",
			  acquire_text[] = "lock\0acquire\0%p %s\0a.c\0lock\0\0name\0",
			  release_text[] = "lock\0release\0%p\0a.c\0lock\0";

	writer_event(writer, numbers, switch_text, sizeof(switch_text));
	writer_event(writer, call, enter_text, sizeof(enter_text));
	writer_event(writer, call, exit_text, sizeof(exit_text));
	writer_event(writer, named, acquire_text, sizeof(acquire_text));
	writer_event(writer, lock, release_text, sizeof(release_text));
}

/* Writes an event that takes a lock. Each lock has its own name. */
static void acquire(struct writer *writer, uint32_t ring, uint32_t thread, uint64_t lock, uint64_t stamp)
{
	struct {
		uint64_t lock;
		uint16_t length;
		char name[22];
	} fields = { .lock = lock };

	fields.length =
		(uint16_t)snprintf(fields.name, sizeof(fields.name), "lock-%llx", (unsigned long long)lock);
	writer_record(writer, ring, stamp, ACQUIRE, thread, &fields,
		      offsetof(__typeof__(fields), name) + fields.length);
}

/*
 * `kept`: number of a lock that the thread takes and never releases; 0: it takes and releases one
 * of FEW_LOCKS locks.
 */
static void run_thread(struct writer *writer, uint32_t ring, uint32_t prev, uint32_t thread, uint32_t kept,
		       uint64_t *now)
{
	const uint32_t numbers[2] = { prev, thread };
	const uint64_t lock = 0xffff0000u + 64u * (kept ? FEW_LOCKS + kept : thread % FEW_LOCKS);
	unsigned char call[10] = { (unsigned char)thread };

	writer_record(writer, ring, *now += 100, SWITCH, thread, numbers, sizeof(numbers));
	writer_record(writer, ring, *now += 100, ENTER, thread, call, sizeof(call));
	acquire(writer, ring, thread, lock, *now += 100);
	if (!kept)
		writer_record(writer, ring, *now += 100, RELEASE, thread, &lock, sizeof(lock));
	writer_record(writer, ring, *now += 100, EXIT, thread, call, sizeof(call));
}

int main(int argc, char **argv)
{
	uint32_t threads, turns, cpus, locks, shift = 9, *prev;
	struct bytes dump = { NULL, 0 };
	struct writer writer;
	uint64_t now = 1000;
	FILE *file;

	if (argc != 5 && argc != 6) {
		fprintf(stderr, "usage: memory-trace FILE THREADS TURNS CPUS [LOCKS]\n");
		return EXIT_FAILURE;
	}
	threads = (uint32_t)atoi(argv[2]);
	turns = (uint32_t)atoi(argv[3]);
	cpus = (uint32_t)atoi(argv[4]);
	locks = argc == 6 ? (uint32_t)atoi(argv[5]) : 0;
	while (UINT64_C(1) << shift < UINT64_C(7) * threads * turns / cpus)
		shift++;
	writer_open(&writer, cpus + 1, shift);
	writer.root.cpus = cpus;
	describe(&writer);
	prev = calloc(cpus, sizeof(*prev));
	for (uint32_t n = 0; n < threads * turns; n++) {
		uint32_t thread = 1 + n % threads, cpu = n % cpus;

		run_thread(&writer, cpu + 1, prev[cpu], thread, locks ? 1 + n % locks : 0, &now);
		prev[cpu] = thread;
	}
	free(prev);
	writer_dump(&writer, &dump);
	file = fopen(argv[1], "wb");
	if (!file || fwrite(dump.data, 1, dump.size, file) != dump.size || fclose(file) != 0) {
		perror(argv[1]);
		return EXIT_FAILURE;
	}
	bytes_free(&dump);
	writer_close(&writer);
	return EXIT_SUCCESS;
}
