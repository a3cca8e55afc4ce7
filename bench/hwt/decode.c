/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * decode FILE [MOST [ROUNDS]]: measures the CPU time that ktrace needs to decode a trace unit's
 * packets into steps. The reference is a bare loop over libipt's block decoder, which uses the same code
 * images, ends blocks at the same instructions, and resynchronises in the same way. Both decode the same
 * stream alternately. The decoding is divided into short parts, so that other load on the machine disturbs
 * only some of them. For each part, the minimum of many rounds is used. Prints a JSON line on stdout and
 * the limit on stderr; exits with 1 if the limit is exceeded.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../cost.h"
#include "../short.h"
#include "hwt/decoder.h"
#include "hwt/pt.h"

#define ROUNDS 15
#define SLICE  8192u /* number of sequences of instructions in a part */
#define MOST   1.2

/* Costs of one of the two decoders for one stream. Counts are those of the last round. */
struct amount {
	uint64_t instructions, runs;
	double since; /* CPU time at which the current part began */
	size_t slices, room;
	double *best;
	double ns; /* sum of the minimum costs of all parts */
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void fail(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(EXIT_FAILURE);
}

static void end_slice(struct amount *amount)
{
	const double at = now(), ns = at - amount->since;

	if (amount->slices == amount->room) {
		amount->room = amount->room ? amount->room * 2 : 1024;
		amount->best = realloc(amount->best, amount->room * sizeof(*amount->best));
		if (!amount->best)
			fail("out of memory");
		for (size_t i = amount->slices; i < amount->room; i++)
			amount->best[i] = 0;
	}
	if (amount->best[amount->slices] == 0 || ns < amount->best[amount->slices])
		amount->best[amount->slices] = ns;
	amount->slices++;
	amount->since = at;
}

static void decode_steps(const struct hwt_file *file, size_t stream, struct hwt_images *images,
			 struct amount *amount)
{
	uint64_t instructions = 0, runs = 0;
	struct hwt_decoder *decoder;
	const struct hwt_step *step;

	if (hwt_decoder_open(&decoder, file, stream, images) < 0)
		fail(hwt_decoder_message(NULL));
	while (hwt_decoder_next(decoder, &step) > 0) {
		if (step->kind != HWT_RUN)
			continue;
		instructions += step->instructions;
		if (++runs % SLICE == 0)
			end_slice(amount);
	}
	hwt_decoder_close(decoder);
	amount->instructions = instructions;
	amount->runs = runs;
}

/* State of the bare loop: the code to decode, and the timestamp that the loop has reached. */
struct code {
	struct pt_sections *sections;
	const struct hwt_stream *stream;
	uint64_t stamp, until;
};

static uint64_t stamp_of(void *decoder)
{
	const struct code *code = decoder;

	return code->stamp;
}

/* Selects the code image that is valid at a timestamp of the trace unit's clock; 0: at the start. */
static void set_time(struct pt_block_decoder *decoder, struct code *code, uint64_t time)
{
	code->stamp = time ? hwt_stream_stamp(code->stream, time) : 0;
	if (time && code->stamp < code->until)
		return;
	pt_blk_set_image(decoder, pt_sections_at(code->sections, code->stamp, &code->until));
	if (!time)
		code->until = 0;
}

/* The bare loop: decodes the whole stream with libipt, as libipt's documentation describes. */
static void drain(struct pt_block_decoder *decoder, struct code *code, struct amount *amount)
{
	uint64_t instructions = 0, runs = 0;
	int status;

	while ((status = pt_blk_sync_forward(decoder)) != -pte_eos) {
		while (status >= 0 && !(status & pts_eos)) {
			struct pt_block block = { .ninsn = 0 };
			struct pt_event event;

			if (status & pts_event_pending) {
				status = pt_blk_event(decoder, &event, sizeof(event));
				if (status >= 0 && event.has_tsc)
					set_time(decoder, code, event.tsc);
				continue;
			}
			status = pt_blk_next(decoder, &block, sizeof(block));
			if (!block.ninsn)
				continue;
			instructions += block.ninsn;
			if (++runs % SLICE == 0)
				end_slice(amount);
		}
		if (status >= 0)
			break;
	}
	amount->instructions = instructions;
	amount->runs = runs;
}

static void decode_blocks(const struct hwt_file *file, size_t stream, struct hwt_images *images,
			  struct amount *amount)
{
	const struct hwt_piece *piece = hwt_file_piece(file, stream, 0);
	struct code code = { .stream = hwt_file_stream(file, stream) };
	struct pt_block_decoder *decoder;
	struct pt_config config;

	if (!piece)
		fail("out of memory");
	hwt_pt_configure(&config, code.stream, piece);
	config.flags.variant.block.end_on_call = 1;
	config.flags.variant.block.end_on_jump = 1;
	code.sections = pt_sections_open(images, 0, stamp_of, &code);
	decoder = pt_blk_alloc_decoder(&config);
	if (!code.sections || !decoder)
		fail("out of memory");
	set_time(decoder, &code, 0);
	drain(decoder, &code, amount);
	pt_blk_free_decoder(decoder);
	pt_sections_close(code.sections);
}

/* Adds the minimum costs of one stream to the totals of both decoders. */
static void measure(const struct hwt_file *file, size_t stream, struct hwt_images *images, int rounds,
		    struct amount *bare, struct amount *steps)
{
	struct amount amount[2] = { { .ns = 0 } }, *const sums[] = { bare, steps };

	for (int round = 0; round < 2 * rounds; round++) {
		struct amount *const one = &amount[round % 2];

		one->slices = 0;
		one->since = now();
		(round % 2 ? decode_steps : decode_blocks)(file, stream, images, one);
		end_slice(one);
	}
	for (int i = 0; i < 2; i++) {
		sums[i]->instructions += amount[i].instructions;
		sums[i]->runs += amount[i].runs;
		for (size_t slice = 0; slice < amount[i].slices; slice++)
			sums[i]->ns += amount[i].best[slice];
		free(amount[i].best);
	}
}

int main(int argc, char **argv)
{
	struct amount bare = { .ns = 0 }, steps = { .ns = 0 };
	const int rounds = bench_times(argc > 3 ? atoi(argv[3]) : ROUNDS);
	struct hwt_file *file;
	struct hwt_images *images;

	if (argc < 2 || hwt_file_open(&file, argv[1]) < 0)
		fail(argc < 2 ? "usage: decode FILE [MOST [ROUNDS]]" : hwt_file_message(NULL));
	if (hwt_images_new(&images, file, NULL) < 0)
		fail(hwt_images_message(NULL));
	for (size_t i = 0; i < hwt_file_streams(file); i++)
		if (hwt_file_pieces(file, i))
			measure(file, i, images, rounds, &bare, &steps);
	if (bare.instructions == 0 || bare.instructions != steps.instructions)
		fail("the two decoders decoded different numbers of instructions");
	for (int i = 0; i < 2; i++) {
		const struct amount *amount = i ? &steps : &bare;

		fprintf(stderr,
			"  %-24s %11" PRIu64 " instructions %10" PRIu64 " runs %8.2f ns/run %8.1f ms\n",
			i ? "steps" : "libipt's block decoder", amount->instructions, amount->runs,
			amount->ns / (double)amount->runs, amount->ns / 1e6);
		printf("{\"bench\":\"hwt-decode\",\"what\":\"%s\",\"instructions\":%" PRIu64
		       ",\"ns_per_run\":%.2f}\n",
		       i ? "steps" : "blocks", amount->instructions, amount->ns / (double)amount->runs);
	}
	hwt_images_free(images);
	hwt_file_close(file);
	return cost_bar("hwt-decode", "decoding, ratio to libipt's block decoder", steps.ns / bare.ns,
			argc > 2 ? strtod(argv[2], NULL) : MOST)
		       ? EXIT_SUCCESS
		       : EXIT_FAILURE;
}
