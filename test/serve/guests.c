/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes what the RAM of a guest contains at several times into the given directory:
 *
 *	guest0.ram  a guest that has booted, without an event
 *	guest1.ram  some events
 *	guest2.ram  more events; the oldest ones are overwritten
 *	guest3.ram  another run of the guest, with smaller timestamps than guest2.ram
 *	guest4.ram  more events of this run; the oldest ones are overwritten
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/support/ktread_writer.h"

#define SHIFT 3u /* a ring has 8 slots */

static unsigned char memory[WRITER_MEMORY_SIZE];

static void save(const char *directory, unsigned number, struct writer *writer)
{
	char path[512];
	FILE *file;

	memset(memory, 0, sizeof(memory));
	writer_memory(writer, memory, 0);
	snprintf(path, sizeof(path), "%s/guest%u.ram", directory, number);
	file = fopen(path, "wb");
	if (!file || fwrite(memory, 1, sizeof(memory), file) != sizeof(memory) || fclose(file) != 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

/* Begins a run of the guest. */
static void begin(struct writer *writer, unsigned run)
{
	static const uint8_t types[] = { 0 };
	static const char strings[] = "test\0note\0note\0test.c\0";

	writer_open(writer, 2, SHIFT);
	writer->root.nonce += run;
	writer->root.checksum = ktrx_root_checksum(&writer->root);
	for (uint32_t n = 0; n < writer->rings; n++)
		writer->ring[n].row.first = writer->ring[n].head = (writer->root.nonce & 0xff) << SHIFT;
	writer_event(writer, types, strings, sizeof(strings));
}

static void put(struct writer *writer, uint64_t stamp, unsigned count)
{
	for (unsigned n = 0; n < count; n++)
		writer_record(writer, 1, stamp + 1000 * n, 1, 7, NULL, 0);
}

int main(int argc, char **argv)
{
	struct writer writer;

	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return EXIT_FAILURE;
	}
	begin(&writer, 0);
	save(argv[1], 0, &writer);
	put(&writer, 900000, 4);
	save(argv[1], 1, &writer);
	put(&writer, 910000, 7);
	save(argv[1], 2, &writer);
	writer_close(&writer);
	begin(&writer, 1);
	put(&writer, 500000, 5);
	save(argv[1], 3, &writer);
	put(&writer, 510000, 7);
	save(argv[1], 4, &writer);
	writer_close(&writer);
	return EXIT_SUCCESS;
}
