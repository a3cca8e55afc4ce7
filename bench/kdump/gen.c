/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * gen TRACE CALLS: writes a process trace with that many Linux x86_64 system calls of two processes with two
 * threads each: a file is opened, examined, read, mapped, searched and closed; every seventh open fails.
 * There are about 2.4 records for each call.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktrx/proc.h"

#define MACHINE	  62 /* ELF's machine number for x86_64 */
#define PROCESSES 2u
#define THREADS	  2u

static FILE *file;
static uint64_t now;
static uint32_t pid, tid;

static void put(uint16_t type, const void *head, size_t head_size, const void *bytes, size_t size)
{
	static const char zeroes[8];
	struct ktrx_proc_record record = { .size = (uint32_t)(head_size + size),
					   .type = type,
					   .flags = type == KTRX_PROC_GENIO ? KTRX_PROC_CUT : 0,
					   .stamp = now += 700,
					   .pid = pid,
					   .tid = tid,
					   .cpu = (uint16_t)(tid % 4),
					   .mark = KTRX_PROC_MARK };

	fwrite(&record, sizeof(record), 1, file);
	fwrite(head, head_size, 1, file);
	fwrite(bytes, size, 1, file);
	fwrite(zeroes, (8 - record.size % 8) % 8, 1, file);
}

static void put_call(uint32_t number, const uint64_t arg[6])
{
	struct ktrx_proc_syscall call = { .number = number, .args = 6 };

	put(KTRX_PROC_SYSCALL, &call, sizeof(call), arg, 6 * sizeof(*arg));
}

static void put_return(uint32_t number, int32_t error, int64_t result)
{
	struct ktrx_proc_sysret ret = { .number = number, .error = error, .result = error ? -1 : result };

	put(KTRX_PROC_SYSRET, &ret, sizeof(ret), "", 0);
}

static void put_whole(uint32_t number, const uint64_t arg[6], int64_t result)
{
	put_call(number, arg);
	put_return(number, 0, result);
}

/* Writes the records of seven calls. */
static void put_story(uint64_t n)
{
	static const char text[] = "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1:daemon:/usr/sbin:/bin";
	struct ktrx_proc_genio io = { .fd = 3, .size = 1024 };
	char path[64];
	const uint64_t address = 0x7ffc00000000 + n % 4096 * 64;

	snprintf(path, sizeof(path), "/usr/share/things/%u", (unsigned)(n % 10007));
	put_call(257, (uint64_t[]){ 0xffffff9c, address, 0x80000, 0, 0, 0 });
	put(KTRX_PROC_NAMEI, "", 0, path, strlen(path));
	put_return(257, n % 7 == 0 ? 2 : 0, 3);
	put_whole(5, (uint64_t[]){ 3, address, 0, 0, 0, 0 }, 0);
	put_call(0, (uint64_t[]){ 3, address, 1024, 0, 0, 0 });
	put(KTRX_PROC_GENIO, &io, sizeof(io), text, sizeof(text) - 1);
	put_return(0, 0, 1024);
	put_whole(9, (uint64_t[]){ 0, 65536, 1, 2, 3, 0 }, (int64_t)(0x7f0000000000 + n * 65536));
	put_whole(8, (uint64_t[]){ 3, n % 100000, 0, 0, 0, 0 }, (int64_t)(n % 100000));
	put_whole(202, (uint64_t[]){ address, 0x81, 1, 0, 0, 0 }, 0);
	put_whole(3, (uint64_t[]){ 3, 0, 0, 0, 0, 0 }, 0);
}

int main(int argc, char **argv)
{
	struct ktrx_proc_head head = { .magic = { 'K', 'T', 'R', 'P' },
				       .version = KTRX_PROC_VERSION,
				       .frequency = 1000000000,
				       .machine = MACHINE,
				       .head_size = sizeof(head),
				       .record_head = sizeof(struct ktrx_proc_record) };
	uint64_t calls = argc == 3 ? strtoull(argv[2], NULL, 0) : 0;

	file = calls ? fopen(argv[1], "w") : NULL;
	if (!file) {
		fprintf(stderr, "usage: gen TRACE CALLS\n");
		return EXIT_FAILURE;
	}
	head.check = ktrx_proc_check(&head);
	fwrite(&head, sizeof(head), 1, file);
	for (uint64_t n = 0; n < calls / 7; n++) {
		if (n % 16 == 0 || n == 0) {
			pid = 1000 + (uint32_t)(n / 16 % PROCESSES);
			tid = 2000 + (uint32_t)(n / 16 % (PROCESSES * THREADS));
			put(KTRX_PROC_NAME, "", 0, "finder", 6);
		}
		put_story(n);
	}
	return fclose(file) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
