/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Fuzz target of the reader of process traces. The bytes are read in the format that they appear to have, and
 * then in each of the formats. Linked with replay.c, it replays files and directories without a fuzzer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ktread/ktread.h"
#include "ktread/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "process trace: %s\n", what);
	abort();
}

/*
 * Sum of all bytes of the results. Because every byte is read, the sanitizer detects results in invalid
 * memory.
 */
static volatile unsigned touched;

static void touch(const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		touched += ((const unsigned char *)bytes)[i];
}

static void check_record(const struct ktread_proc_record *record)
{
	touch(record->payload, record->payload_size);
	touch(record->data, record->data_size);
	check(record->data >= record->payload &&
		      record->data + record->data_size <= record->payload + record->payload_size,
	      "data outside of the payload");
	check(memchr(record->name, 0, sizeof(record->name)) != NULL, "a name without a NUL");
	if (record->type == KTRX_PROC_SYSCALL) {
		check(record->syscall.args <= KTREAD_PROC_ARGS_MOST, "too many arguments");
		touch(record->syscall.arg, record->syscall.args * sizeof(*record->syscall.arg));
	}
	if (record->type != KTRX_PROC_STRUCT && record->type != KTRX_PROC_STRUCT_ARRAY)
		return;
	check((const unsigned char *)record->structure.name >= record->payload &&
		      (const unsigned char *)record->structure.name + strlen(record->structure.name) <
			      record->payload + record->payload_size,
	      "a structure's name outside of the payload");
	check((uint64_t)record->structure.count * record->structure.element_size <= record->data_size,
	      "elements outside of the payload");
}

static uint64_t read_all(struct ktread_proc *trace, size_t size)
{
	const struct ktread_proc_record *record;
	uint64_t end = 0, records = 0, steps = 0;
	int status;

	while ((status = ktread_proc_next(trace, &record)) != 0) {
		check(++steps <= size + 2, "no progress");
		if (status < 0) {
			check(ktread_proc_message(trace)[0] != '\0', "an error without a message");
			continue;
		}
		check(records == 0 || record->offset >= end, "records that overlap");
		end = record->offset + record->payload_size;
		check_record(record);
		check(strlen(ktread_proc_table(trace)) <= size, "a table longer than the file");
		records++;
	}
	check(ktread_proc_info(trace)->records == records, "a wrong number of records");
	return records;
}

static void read_as(int file, size_t size, enum ktread_proc_format format, int follow)
{
	const struct ktread_proc_options options = { .size = sizeof(options),
						     .format = format,
						     .follow = follow };
	struct ktread_proc *trace;
	char path[32];
	uint64_t records;

	snprintf(path, sizeof(path), "/dev/fd/%d", file);
	if (ktread_proc_open(&trace, path, &options) < 0) {
		check(ktread_proc_message(NULL)[0] != '\0', "an error without a message");
		return;
	}
	records = read_all(trace, size);
	if (ktread_proc_rewind(trace) == 0 && !follow)
		check(read_all(trace, size) == records, "another number of records when read again");
	ktread_proc_close(trace);
}

/*
 * Corrects the checksum of a session's head. Each input is also tried with a valid checksum, because an
 * attacker can compute it.
 */
static int correct_checksum(uint8_t *bytes, size_t size)
{
	struct ktrx_proc_head head;
	int corrected = 0;

	for (size_t at = 0; at + sizeof(head) <= size; at++) {
		uint32_t check;

		if (memcmp(bytes + at, KTRX_PROC_MAGIC, 4) != 0)
			continue;
		memcpy(&head, bytes + at, sizeof(head));
		check = ktrx_proc_check(&head);
		corrected |= check != head.check;
		memcpy(bytes + at + offsetof(struct ktrx_proc_head, check), &check, sizeof(check));
	}
	return corrected;
}

static void exercise(const uint8_t *bytes, size_t size)
{
	int file = memfd_create("fuzz", 0);

	if (file < 0 || (size && write(file, bytes, size) != (ssize_t)size)) {
		close(file);
		return;
	}
	for (enum ktread_proc_format format = KTREAD_PROC_AUTO; format <= KTREAD_PROC_FREEBSD1; format++)
		read_as(file, size, format, 0);
	read_as(file, size, KTREAD_PROC_AUTO, 1);
	close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	exercise(bytes, size);
	if (!copy)
		return 0;
	memcpy(copy, bytes, size);
	if (correct_checksum(copy, size))
		exercise(copy, size);
	free(copy);
	return 0;
}
