/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * gen_v2 OUT RINGS EVENTS [ram]: writes a version 2 dump, or a guest's RAM, with that many events, spread
 * over that many rings in an order that a branch predictor cannot learn. If EVENTS / RINGS is a power of two
 * of at least 256, the total number of slots is the same for every number of rings, and all rings are nearly
 * or completely full.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Makes the boot ring small, because write_ram() has little room for it. */
static void shrink_boot_ring(struct writer *writer)
{
	struct writer_ring *boot = &writer->ring[0];

	boot->row.shift = 8;
	boot->row.mask = (1u << boot->row.shift) - 1;
	boot->row.first = boot->head = (writer->root.nonce & 0xff) << boot->row.shift;
}

/* Writes the RAM of an AArch64 guest. Returns 0, or -1 with errno. */
static int write_ram(struct writer *writer, const char *path)
{
	const uint64_t mib = UINT64_C(1) << 20, base = UINT64_C(0x40000000);
	const uint64_t size = (writer_memory_end(writer) + mib) & ~(mib - 1);
	int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	unsigned char *memory;

	if (file < 0 || ftruncate(file, (off_t)size) < 0)
		return -1;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (memory == MAP_FAILED)
		return -1;
	writer->root.machine = 183; /* EM_AARCH64; the RAM of this machine is one address range */
	writer_memory(writer, memory, base);
	munmap(memory, size);
	return close(file);
}

static int write_dump(struct writer *writer, const char *path)
{
	struct bytes dump = { NULL, 0 };
	FILE *file = fopen(path, "wb");

	writer_dump(writer, &dump);
	return file && fwrite(dump.data, 1, dump.size, file) == dump.size ? fclose(file) : -1;
}

int main(int argc, char **argv)
{
	const bool ram = argc == 5 && strcmp(argv[4], "ram") == 0, valid = argc == 4 || ram;
	uint32_t rings = valid ? (uint32_t)strtoul(argv[2], NULL, 10) : 0, shift = 8;
	uint64_t events = valid ? strtoull(argv[3], NULL, 10) : 0;
	struct writer writer;

	if (rings == 0 || events == 0) {
		fprintf(stderr, "usage: gen_v2 OUT RINGS EVENTS [ram]\n");
		return EXIT_FAILURE;
	}
	while (UINT64_C(1) << shift < events / rings)
		shift++;
	writer_open(&writer, rings + 1, shift);
	if (ram)
		shrink_boot_ring(&writer);
	describe(&writer);
	record_all(&writer, rings, events);
	if ((ram ? write_ram : write_dump)(&writer, argv[1]) != 0) {
		perror(argv[1]);
		return EXIT_FAILURE;
	}
	writer_close(&writer);
	return EXIT_SUCCESS;
}
