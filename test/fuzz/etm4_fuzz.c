/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Fuzz target of the ETMv4 decoder (OpenCSD). The target checks that the numbers of steps and of packet texts
 * that the decoder returns are limited. Bits of the input's first byte state whether the bytes after it are
 * in frames (bit 0), whether the unit is an ETE (bit 6), and whether it speculates (bit 7). Memory contains
 * the stream itself, so the stream's bytes are also the traced code. Linked with replay.c, it replays files
 * and directories without a fuzzer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hwt/decoder.h"

#define STEPS_A_BYTE 256u

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct hwt_piece piece;

static void check(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "ETMv4: %s\n", what);
	abort();
}

/*
 * Replaces the function in images.c. In the lower half of the address space, memory contains copies of the
 * stream, one after another. In the upper half, memory is unknown.
 */
size_t hwt_images_read(struct hwt_images *images, uint32_t pid, uint64_t space, uint64_t stamp,
		       uint64_t address, void *to, size_t size)
{
	(void)images;
	(void)pid;
	(void)space;
	(void)stamp;
	if (address >> 63 || piece.size == 0)
		return 0;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)to)[i] = piece.bytes[(address + i) % piece.size];
	return size;
}

/* Replaces the function in file.c. */
uint64_t hwt_stream_stamp(const struct hwt_stream *stream, uint64_t unit_time)
{
	(void)stream;
	return unit_time;
}

static void check_steps(const struct hwt_stream *stream)
{
	const char *message;
	void *decoder = hwt_encoding_etm4.open(stream, &piece, NULL, &message);
	uint64_t steps = 0;
	struct hwt_step step;

	if (!decoder)
		return;
	while (hwt_encoding_etm4.next(decoder, &step) > 0) {
		check(++steps <= STEPS_A_BYTE * (piece.size + 1), "no progress");
		check(step.offset <= piece.size, "a step beyond the end");
		check(step.kind != HWT_GAP || (step.text && step.text[0]), "a gap without a text");
	}
	hwt_encoding_etm4.close(decoder);
}

static void take_line(void *to, uint64_t offset, const char *name, const char *text)
{
	check(offset <= piece.size && name[0] && strlen(text) < 1024, "an invalid packet");
	++*(uint64_t *)to;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct hwt_stream stream = {
		.context.backend = KTRX_HWT_BACKEND_QEMU,
		.etm4 = { .configr = 0x18c0,
			  .traceidr = 1,
			  .idr0 = 0x28000201,
			  .idr1 = 0x430,
			  .idr2 = 0x1088 },
	};
	uint64_t lines = 0;
	uint8_t *copy;

	if (size == 0)
		return 0;
	stream.etm4.formatted = bytes[0] & 1;
	stream.etm4.idr8 = bytes[0] & 0x80 ? 16 : 0;
	if (bytes[0] & 0x40) {
		stream.etm4.idr1 = 0x4100fff0;
		stream.etm4.devarch = 0x47715a13;
	}
	copy = malloc(size);
	if (!copy)
		return 0;
	memcpy(copy, bytes + 1, size - 1);
	piece = (struct hwt_piece){ .bytes = copy, .size = size - 1, .position = bytes[0] >> 1 & 15 };
	check_steps(&stream);
	hwt_encoding_etm4.packets(&stream, &piece, take_line, &lines);
	check(lines <= 2 * size, "more packets than bytes");
	free(copy);
	return 0;
}
