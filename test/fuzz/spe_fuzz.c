/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Fuzz target of the SPE decoder. The target checks that the numbers of steps and packets that the decoder
 * reports are limited, and that their offsets in the stream never decrease. Linked with replay.c, it replays
 * files and directories without a fuzzer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hwt/decoder.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "SPE: %s\n", what);
	abort();
}

static void check_steps(const struct hwt_stream *stream, const struct hwt_piece *piece)
{
	const char *message;
	void *decoder = hwt_encoding_spe.open(stream, piece, NULL, &message);
	uint64_t last = 0, steps = 0;
	struct hwt_step step;

	if (!decoder)
		return;
	while (hwt_encoding_spe.next(decoder, &step) > 0) {
		check(++steps <= 2 * piece->size, "no progress");
		check(step.offset < piece->size && step.offset >= last, "steps go back");
		check(step.kind != HWT_SAMPLE || step.sample, "a sample step without a sample");
		check(step.kind == HWT_SAMPLE || (step.text && step.text[0]), "a step has no text");
		last = step.offset;
	}
	hwt_encoding_spe.close(decoder);
}

struct lines {
	uint64_t last, count;
};

static void take_line(void *to, uint64_t offset, const char *name, const char *text)
{
	struct lines *lines = to;

	check(lines->count == 0 || offset > lines->last, "packets go back");
	check(name[0] && strlen(text) < 512, "a packet without a name");
	lines->last = offset;
	lines->count++;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct hwt_stream stream = { .unit = 0 };
	/* a copy with exactly the size of the input, so that the sanitizer detects a read beyond its end */
	uint8_t *copy = malloc(size ? size : 1);
	const struct hwt_piece piece = { .bytes = copy, .size = size, .position = 3 };
	struct lines lines = { 0, 0 };

	if (!copy)
		return 0;
	if (size)
		memcpy(copy, bytes, size);
	check_steps(&stream, &piece);
	hwt_encoding_spe.packets(&stream, &piece, take_line, &lines);
	check(lines.count <= size, "more packets than bytes");
	free(copy);
	return 0;
}
