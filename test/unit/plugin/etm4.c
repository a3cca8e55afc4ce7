/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the encoder of ETMv4 packets with OpenCSD: random code is executed in a simulation, which reports it
 * to the encoder as flow.c does. The decoded steps must be the executed ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hwt/decoder.h"
#include "plugin/code.h"
#include "plugin/trace.h"
#include "unit/support/random.h"

#define BASE   UINT64_C(0xffff000012340000)
#define WORDS  4096u
#define NOP    0xd503201fu
#define OUTPUT (1u << 20)
#define RUNS   50000u

static uint32_t code[WORDS];
static unsigned char packets[OUTPUT];
static struct trace trace;
static uint64_t published;
static struct output_piece piece = { packets, sizeof(packets) };

/* These functions replace those of images.c and decoder.c. */
size_t hwt_images_read(struct hwt_images *images, uint32_t pid, uint64_t space, uint64_t stamp,
		       uint64_t address, void *to, size_t size)
{
	uint64_t into = address - BASE, left = sizeof(code) - into;

	(void)images;
	(void)pid;
	(void)space;
	(void)stamp;
	if (into >= sizeof(code))
		return 0;
	memcpy(to, (const unsigned char *)code + into, size < left ? size : left);
	return size < left ? size : left;
}

uint64_t hwt_stream_stamp(const struct hwt_stream *stream, uint64_t unit_time)
{
	(void)stream;
	return unit_time;
}

/* OpenCSD never frees what it allocates for a callback. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:ocsd_dt_set_gen_elem_outfn\nleak:ocsd_dt_attach_packet_callback\n";
}

static uint64_t seed = 1;

/*
 * Makes random code with branches of all kinds: on average, one of three instructions is a branch. Direct
 * branches lead to random addresses within the code.
 */
static void make_code(void)
{
	for (uint32_t i = 0; i < WORDS; i++) {
		uint32_t to = random_below(&seed, WORDS) - i;

		code[i] = NOP;
		switch (random_below(&seed, 24)) {
		case 0:
			code[i] = 0x14000000u | (to & 0x3ffffff);
			break;
		case 1:
			code[i] = 0x94000000u | (to & 0x3ffffff);
			break;
		case 2:
		case 3:
			code[i] = 0x54000000u | (to & 0x7ffff) << 5 | random_below(&seed, 14);
			break;
		case 4:
			code[i] = 0xb4000000u | (to & 0x7ffff) << 5;
			break;
		case 5:
			code[i] = 0xd65f03c0u; /* ret */
			break;
		case 6:
			code[i] = random_below(&seed, 2) ? 0xd61f0000u : 0xd63f0000u; /* br, blr */
			break;
		case 7:
			code[i] = random_below(&seed, 4) ? 0xd4000001u : 0xd5033fdfu; /* svc, isb */
			break;
		default:
			break;
		}
	}
	code[WORDS - 1] = 0xd65f03c0u;
}

/* Returns the block that begins at an address, up to the first instruction that ends a block. */
static struct block block_at(uint64_t address)
{
	struct block block = { .start = address, .last = address };

	for (;; block.last += 4) {
		unsigned char bytes[4];

		block.next = block.last + 4;
		memcpy(bytes, &code[(block.last - BASE) / 4], 4);
		a64_classify(&block, bytes, 4);
		if (block.reported)
			return block;
	}
}

/* The instructions and interrupts that were executed, in order. `to`: target of a branch or interrupt. */
struct happened {
	enum { RAN, INTERRUPTED, STOPPED } kind;
	uint64_t from, last, to;
};
static struct happened happened[2 * RUNS];
static size_t happenings;

static void note(int kind, uint64_t from, uint64_t last, uint64_t to)
{
	happened[happenings++] = (struct happened){ kind, from, last, to };
}

static uint64_t anywhere(void)
{
	return BASE + 4 * random_below(&seed, WORDS);
}

static uint64_t run_block(uint64_t at, uint64_t *stack, unsigned *depth)
{
	struct block block = block_at(at);
	uint64_t to = block.target;
	int taken = 1;

	if (block.end == END_CONDITIONAL && random_below(&seed, 2)) {
		taken = 0;
		to = block.next;
	} else if (block.end == END_RETURN && *depth && random_below(&seed, 8)) {
		to = stack[--*depth % 64];
	} else if (block.end >= END_INDIRECT) {
		to = block.end == END_ENTER ? BASE + 0x800 * random_below(&seed, 8) : anywhere();
	}
	if ((block.end == END_CALL || block.end == END_INDIRECT_CALL))
		stack[(*depth)++ % 64] = block.next;
	if (block.next == BASE + sizeof(code) && to == block.next)
		to = BASE;
	encoder_etm4.branch(&trace, &block, to, taken);
	note(RAN, block.start, block.last, to);
	return to;
}

/*
 * Runs a block that QEMU has translated as two blocks. The first one ends without a branch, so no packet
 * shows where it ends. There a synchronization point is due.
 */
static uint64_t run_split(uint64_t at, uint64_t *stack, unsigned *depth)
{
	struct block block = block_at(at);
	uint64_t next = at + 4 * random_below(&seed, (uint32_t)(block.last - at) / 4 + 1);

	if (next != at) {
		note(RAN, at, next - 4, next);
		trace.sync_at = 0;
		trace_attend_unreported(&trace, next);
	}
	return run_block(next, stack, depth);
}

/*
 * Runs some instructions of a block. After them, an interrupt occurs or, if `stop`, tracing is disabled and
 * enabled again.
 */
static uint64_t run_part(uint64_t at, int stop)
{
	struct block block = block_at(at);
	uint64_t from = at + 4 * random_below(&seed, (uint32_t)(block.last - at) / 4 + 1), to = anywhere();

	if (from != at)
		note(RAN, at, from - 4, from);
	if (stop) {
		encoder_etm4.off(&trace, from);
		note(STOPPED, from, 0, to);
		trace.on = 1;
		encoder_etm4.on(&trace, to);
	} else {
		encoder_etm4.async(&trace, from, to);
		note(INTERRUPTED, from, 0, to);
	}
	return to;
}

static void begin_trace(uint64_t at)
{
	trace.encoder = &encoder_etm4;
	trace.output.piece = &piece;
	trace.output.pieces = 1;
	trace.output.pending = &trace.nowhere;
	trace.output.limit = OUTPUT;
	trace.output.published = trace.output.reached = &published;
	output_seek(&trace.output, 0);
	encoder_etm4.start(&trace);
	encoder_etm4.sync(&trace, at);
	trace.on = 1;
	encoder_etm4.on(&trace, at);
}

static void run(void)
{
	uint64_t at = BASE, stack[64];
	unsigned depth = 0;

	begin_trace(at);
	for (unsigned i = 0; i < RUNS; i++) {
		uint64_t before = trace.time;

		switch (random_below(&seed, 64)) {
		case 0:
			trace.time += (uint64_t)random_below(&seed, 1u << 24) << random_below(&seed, 30);
			encoder_etm4.time(&trace, before);
			break;
		case 1:
			trace.space = (uint64_t)random_below(&seed, 1u << 24) << 12;
			trace.thread = random_below(&seed, 100);
			encoder_etm4.sync(&trace, at);
			break;
		case 2:
			encoder_etm4.flush(&trace);
			break;
		case 3:
			at = run_part(at, 0);
			break;
		case 4:
			at = run_part(at, 1);
			break;
		case 5:
			at = run_split(at, stack, &depth);
			break;
		default:
			at = run_block(at, stack, &depth);
		}
		/*
		 * The pending word contains exactly the branches that are in no packet yet. A reader of the
		 * ring adds them to the packets.
		 */
		assert_int_equal(*trace.output.pending, trace.outcomes);
		assert_true(output_position(&trace.output) < OUTPUT - ENCODER_MOST);
	}
	encoder_etm4.off(&trace, at);
}

/*
 * Checks that a decoded run of instructions was executed, as one run or as several runs without a branch
 * between them.
 */
static size_t check_run(const struct hwt_step *step, size_t n)
{
	uint64_t at = step->address;

	while (at != step->end) {
		assert_true(n < happenings && happened[n].kind == RAN);
		assert_int_equal(happened[n].from, at);
		at = happened[n++].last + 4;
		assert_true(at <= step->end);
	}
	return n;
}

static size_t check_step(const struct hwt_step *step, size_t n)
{
	switch (step->kind) {
	case HWT_RUN:
		return check_run(step, n);
	case HWT_ASYNC:
		assert_int_equal(happened[n].kind, INTERRUPTED);
		assert_int_equal(step->address, happened[n].from);
		assert_int_equal(step->to, happened[n].to);
		return n + 1;
	case HWT_OFF:
		if (n == happenings)
			return n;
		assert_int_equal(happened[n].kind, STOPPED);
		assert_int_equal(step->address, happened[n].from);
		return n + 1;
	case HWT_ON:
		assert_int_equal(step->address, n ? happened[n - 1].to : BASE);
		return n;
	default:
		assert_int_equal(step->kind, HWT_SPACE);
		return n;
	}
}

/* Checks that OpenCSD decodes exactly the steps in `happened`. */
static void check_trace(void)
{
	struct hwt_stream stream = { .context.backend = KTRX_HWT_BACKEND_QEMU };
	struct hwt_piece bytes = { .bytes = packets };
	const char *message;
	struct hwt_step step;
	size_t n = 0;
	void *decoder;

	memcpy(&stream.etm4, encoder_etm4.parameters, sizeof(stream.etm4));
	bytes.size = output_position(&trace.output);
	decoder = hwt_encoding_etm4.open(&stream, &bytes, NULL, &message);
	assert_non_null(decoder);
	while (hwt_encoding_etm4.next(decoder, &step) > 0)
		n = check_step(&step, n);
	hwt_encoding_etm4.close(decoder);
	assert_int_equal(n, happenings);
	assert_int_equal(step.space, trace.space);
	assert_int_equal(step.tid, trace.thread);
}

static void decoded_trace_equals_what_ran(void **compress)
{
	memset(&trace, 0, sizeof(trace));
	happenings = 0;
	trace.compress = *compress != NULL;
	trace.timed = 1;
	make_code();
	run();
	check_trace();
}

/*
 * Calls are nested deeper than a decoder's return stack. Packets contain the addresses only of those returns
 * that are no longer on this stack.
 */
static void forgotten_returns_are_written_in_full(void **state)
{
	const unsigned depth = 3 * ETM4_RETURNS;
	uint64_t to[3 * ETM4_RETURNS];
	uint64_t written;
	unsigned n = 0;

	(void)state;
	memset(&trace, 0, sizeof(trace));
	memset(code, 0, sizeof(code));
	happenings = 0;
	trace.compress = 1;
	begin_trace(BASE);
	/*
	 * There are calls at BASE, BASE + 8, and so on. The last call leads to a return. Then each called
	 * function returns to the instruction after its call.
	 */
	for (unsigned i = 0; i < depth; i++) {
		struct block block = { .end = END_CALL, .reported = 1, .start = BASE + 8 * i };

		code[2 * i] = 0x94000000u | 2; /* bl to the next call, 8 bytes further on */
		code[2 * i + 1] = 0xd65f03c0u; /* ret */
		block.last = block.start;
		block.next = block.start + 4;
		to[i] = block.next;
		encoder_etm4.branch(&trace, &block, block.start + 8, 1);
		note(RAN, block.start, block.last, block.start + 8);
	}
	code[2 * depth] = 0xd65f03c0u;
	encoder_etm4.flush(&trace);
	written = output_position(&trace.output);
	for (uint64_t at = BASE + 8 * depth; n < depth; n++) {
		struct block block = {
			.end = END_RETURN, .reported = 1, .start = at, .last = at, .next = at + 4
		};

		at = to[depth - 1 - n];
		encoder_etm4.branch(&trace, &block, at, 1);
		note(RAN, block.start, block.last, at);
		if (n == ETM4_RETURNS - 1) {
			encoder_etm4.flush(&trace);
			assert_true(output_position(&trace.output) - written < ETM4_RETURNS);
		}
	}
	encoder_etm4.off(&trace, to[0]);
	assert_true(output_position(&trace.output) - written > 2 * (depth - ETM4_RETURNS));
	check_trace();
}

/* Tests every sequence of up to 14 atoms. On average, a packet must contain about three atoms. */
static void three_atoms_take_about_one_packet(void **state)
{
	(void)state;
	for (unsigned count = 1; count <= 14; count++) {
		for (uint64_t atoms = 0; atoms < UINT64_C(1) << count; atoms++) {
			unsigned left = count, written = 0;

			while (left) {
				uint8_t packet;
				unsigned some =
					etm4_atom_packet(atoms & ((UINT64_C(1) << left) - 1), left, &packet);

				assert_true(some > 0 && some <= left && (some >= 3 || left < 3));
				left -= some;
				written++;
			}
			assert_true(written <= (count + 2) / 3 + 1);
		}
	}
}

int main(void)
{
	static int yes;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(decoded_trace_equals_what_ran, NULL),
		cmocka_unit_test_prestate(decoded_trace_equals_what_ran, &yes),
		cmocka_unit_test(three_atoms_take_about_one_packet),
		cmocka_unit_test(forgotten_returns_are_written_in_full),
	};

	return cmocka_run_group_tests_name("plugin_etm4", tests, NULL, NULL);
}
