/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * hwt_traces DIRECTORY: writes small files of hardware trace, and files that contain only a stream. The fuzz
 * tests damage these files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/support/hwt_write.h"

static struct hwt_packets_writer packets;

static void save(const char *directory, const char *name, const void *bytes, size_t size)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
}

/* Writes at least one packet of every kind, in a valid order. */
static void write_stream(uint64_t time)
{
	packets_sync(&packets, time, 0x1000, PROGRAM_AT);
	packet_address(&packets, ppt_tip, PROGRAM_JNE);
	packet_branches(&packets, "TTNTT");
	packet_put(&packets, &(struct pt_packet){ .type = ppt_mtc, .payload.mtc.ctc = 7 });
	packet_put(&packets, &(struct pt_packet){ .type = ppt_cbr, .payload.cbr.ratio = 8 });
	packet_address(&packets, ppt_fup, PROGRAM_NOPS);
	packet_address(&packets, ppt_tip, PROGRAM_LEAF);
	packet_branches(&packets, "NTNTNTTTN");
	packet_plain(&packets, ppt_ovf);
	packet_address(&packets, ppt_fup, PROGRAM_JMP);
	packet_put(&packets,
		   &(struct pt_packet){ .type = ppt_ptw, .payload.ptw = { .payload = 0x1234, .plc = 1 } });
	packet_address(&packets, ppt_tip_pgd, 0);
	packet_plain(&packets, ppt_pad);
}

static void write_file(const char *directory, size_t size)
{
	struct hwt_file_writer writer;

	file_begin(&writer);
	writer.pid = 7;
	file_context(&writer, 1, 7);
	file_clock(&writer, 500, 500, 1000000000);
	file_image(&writer, KTRX_HWT_EXECUTABLE, 0, 0, 0, "/bin/true");
	file_image(&writer, KTRX_HWT_MMAP, PROGRAM_AT, 4096, 0, "/lib/c");
	file_code(&writer, PROGRAM_AT, 0, program, sizeof(program));
	file_data(&writer, 1, 0, 0, packets.bytes, size / 2);
	writer.stamp = 1700;
	file_code(&writer, PROGRAM_JNE, 0x1000, "\x90\x90", 2);
	file_image(&writer, KTRX_HWT_MUNMAP, PROGRAM_AT, 4096, 0, "");
	file_data(&writer, 1, 0, size / 2, packets.bytes + size / 2, size - size / 2);
	file_data(&writer, 1, 0, 2 * size, packets.bytes, size);
	save(directory, "file", writer.bytes, writer.size);
	free(writer.bytes);
}

int main(int argc, char **argv)
{
	static const char garbage[] =
		"KTRU no file of rings at all, but it begins like one, and goes on for a while";
	size_t size;

	if (argc != 2)
		return EXIT_FAILURE;
	packets_begin(&packets);
	write_stream(1500);
	write_stream(2500);
	size = packets_end(&packets);
	save(argv[1], "stream", packets.bytes, size);
	/* remove 36 bytes: the beginning of a packet is then followed by the end of another packet */
	memmove(packets.bytes + 61, packets.bytes + 97, size - 97);
	save(argv[1], "spliced", packets.bytes, size - 36);
	write_file(argv[1], size - 36);
	save(argv[1], "garbage", garbage, sizeof(garbage));
	save(argv[1], "empty", "", 0);
	return EXIT_SUCCESS;
}
