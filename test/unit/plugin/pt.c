/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the encoder of Intel PT packets: the tests report executed blocks to the encoder, and check that
 * libipt decodes exactly these blocks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "unit/support/plugin_support.h"

/*
 * Instructions in the form that machine_block() requires: a byte with the size, then the bytes of the
 * instruction.
 */
#define NOP	 "\x01\x90"
#define PUSH(n)	 "\x02\x6a" n
#define JNE(to)	 "\x02\x75" to
#define JMP(to)	 "\x02\xeb" to
#define CALL(to) "\x05\xe8" to "\x00\x00\x00"
#define RET	 "\x01\xc3"
#define JMP_RAX	 "\x02\xff\xe0"
#define CALL_RAX "\x02\xff\xd0"
#define LOAD	 "\x03\x48\x8b\x00" /* mov (%rax), %rax */
#define REP_STOS "\x02\xf3\xaa"
#define SYSCALL	 "\x02\x0f\x05"
#define SYSRET	 "\x03\x48\x0f\x07"
#define IRET	 "\x02\x48\xcf"
#define HLT	 "\x01\xf4"
#define UD2	 "\x02\x0f\x0b"
#define INC_32	 "\x01\x40" /* inc %eax; in 64-bit code, this byte is a prefix */
#define REX_NOP	 "\x03\x48\x89\xc0"

static void run(struct block *const *block, size_t count)
{
	for (size_t i = 0; i < count; i++)
		machine_run(block[i]);
}
#define RUN(...)                                    \
	run((struct block *const[]){ __VA_ARGS__ }, \
	    sizeof((struct block *const[]){ __VA_ARGS__ }) / sizeof(void *))

static int setup(void **state)
{
	(void)state;
	machine_begin();
	return 0;
}

static void conditional_branches_are_traced(void **state)
{
	struct block *a = machine_block(0x1000, NOP JNE("\x0d")), *b = machine_block(0x1003, NOP JMP("\xfa"));
	struct block *c = machine_block(0x1010, JMP_RAX), *end = machine_block(0x2000, NOP);

	(void)state;
	assert_int_equal(b->target, 0x1000);
	RUN(a, b, a, b, a, c, end);
	assert_string_equal(machine_decoded(),
			    "on:1000 1000 1001 1003 1004 1000 1001 1003 1004 1000 1001 1010");
}

/* A halted CPU may never run again, so its last branches must be written before it halts. */
static void halted_cpu_writes_all_branches(void **state)
{
	struct block *loop = machine_block(0x1000, JNE("\xfe")), *end = machine_block(0x1002, HLT);
	uint64_t position;

	(void)state;
	run((struct block *[]){ loop, loop, loop, end }, 4);
	position = output_position(&machine_trace()->output);
	flow_halted(0);
	assert_true(output_position(&machine_trace()->output) > position);
}

/* After code has changed, a decoder must know the time before the next block, even after a direct jump. */
static void renewed_time_comes_before_the_next_block(void **state)
{
	static const unsigned char psb[16] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					       2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };
	struct block *first = machine_block(0x1000, JMP("\x3e")), *next = machine_block(0x1040, JMP("\x3e"));
	struct block *out = machine_block(0x1080, JMP_RAX);
	struct trace *trace = machine_trace();
	const unsigned char *from;

	(void)state;
	trace->timed = 1;
	trace->clock_frequency = 1000000000;
	trace->clock_step = trace->clock_frequency;
	RUN(first);
	from = trace->output.next;
	flow_renew_time(trace);
	RUN(next);
	assert_non_null(memmem(from, (size_t)(trace->output.next - from), psb, sizeof(psb)));
	RUN(out, first);
	assert_string_equal(machine_decoded(), "on:1000 1000 1040 1080");
}

/*
 * For a while no blocks are reported, although tracing is enabled. The code that ran in this time is unknown,
 * and must not be guessed.
 */
static void pause_is_reported_as_overflow(void **state)
{
	struct block *a = machine_block(0x1000, NOP JNE("\x0d")), *b = machine_block(0x1003, NOP JMP("\xfa"));
	struct block *end = machine_block(0x2000, NOP JMP_RAX);

	(void)state;
	RUN(a, b);
	flow_pause();
	RUN(end, a, b);
	assert_string_equal(machine_decoded(), "on:1000 1000 1001 overflow:0 on:2000 2000 2001 1000 1001");
	assert_int_equal(machine_trace()->output.lost, 1);
}

static void blocks_that_look_alike_are_distinguished(void **state)
{
	/*
	 * Blocks of several types: a block that branches to itself, one whose branch leads to the next
	 * instruction, one without a branch, and blocks with a repeated instruction.
	 */
	struct block *self = machine_block(0x1000, NOP JNE("\xfd")),
		     *nowhere = machine_block(0x1003, JNE("\x00"));
	struct block *plain = machine_block(0x1005, NOP NOP), *rep = machine_block(0x1007, NOP REP_STOS);
	struct block *again = machine_block(0x1008, REP_STOS), *out = machine_block(0x100a, JMP_RAX);

	(void)state;
	RUN(self, self, self, nowhere, plain, rep, again, again, out, self);
	assert_string_equal(machine_decoded(),
			    "on:1000 1000 1001 1000 1001 1000 1001 1003 1005 1006 1007 1008 100a");
}

static void compressed_returns_need_fewer_bytes(void **state)
{
	struct block *f = machine_block(0x1000, CALL("\x3b")), *g = machine_block(0x1040, CALL("\x3b"));
	struct block *h = machine_block(0x1080, RET), *g2 = machine_block(0x1045, RET);
	struct block *f2 = machine_block(0x1005, CALL_RAX), *f3 = machine_block(0x1007, JMP_RAX);
	struct trace *trace = machine_trace();
	uint64_t compressed;

	(void)state;
	assert_int_equal(g->target, 0x1080);
	RUN(f, g, h, g2, f2, h, f3, f);
	assert_string_equal(machine_decoded(), "on:1000 1000 1040 1080 1045 1005 1080 1007");
	compressed = output_position(&trace->output);

	machine_begin();
	trace->compress = 0;
	f = machine_block(0x1000, CALL("\x3b")), g = machine_block(0x1040, CALL("\x3b"));
	h = machine_block(0x1080, RET), g2 = machine_block(0x1045, RET);
	f2 = machine_block(0x1005, CALL_RAX), f3 = machine_block(0x1007, JMP_RAX);
	RUN(f, g, h, g2, f2, h, f3, f);
	assert_string_equal(machine_decoded(), "on:1000 1000 1040 1080 1045 1005 1080 1007");
	assert_true(output_position(&trace->output) > compressed);
}

/*
 * Calls are nested deeper than a decoder's return stack. For returns that are no longer on this stack,
 * packets contain the address.
 */
static void forgotten_returns_are_written_in_full(void **state)
{
	struct block *head = machine_block(0x1000, JNE("\x05")), *call, *ret, *out;
	char expected[4096] = "on:1000";
	size_t used = strlen(expected);

	(void)state;
	call = machine_block(0x1002, "\x05\xe8\xf9\xff\xff\xff");
	ret = machine_block(0x1007, RET);
	out = machine_block(0x2000, NOP);
	assert_int_equal(call->target, 0x1000);
	for (unsigned i = 0; i < 3 * PT_RETURNS; i++) {
		RUN(head, call);
		used += (size_t)sprintf(expected + used, " 1000 1002");
	}
	RUN(head);
	used += (size_t)sprintf(expected + used, " 1000");
	for (unsigned i = 0; i <= 3 * PT_RETURNS; i++) {
		RUN(ret);
		used += (size_t)sprintf(expected + used, " 1007");
	}
	RUN(out);
	assert_string_equal(machine_decoded(), expected);
}

static void return_not_to_last_call_is_traced(void **state)
{
	/* The last call does not return, as after a thread switch. */
	struct block *f = machine_block(0x1000, CALL("\x3b")), *g = machine_block(0x1040, RET);
	struct block *other = machine_block(0x3000, CALL("\x3b")), *k = machine_block(0x3040, RET);
	struct block *back = machine_block(0x3005, RET), *f2 = machine_block(0x1005, JMP_RAX);

	(void)state;
	RUN(f, g, other, k, back, f2, f);
	assert_string_equal(machine_decoded(), "on:1000 1000 1040 3000 3040 3005 1005");
}

static void addresses_of_all_lengths_are_compressed(void **state)
{
	struct block *a = machine_block(0x1000, JMP_RAX), *b = machine_block(0x51000, JMP_RAX);
	struct block *c = machine_block(0x7fff00001000, JMP_RAX),
		     *d = machine_block(0xffffffff80001000, JMP_RAX);
	struct block *e = machine_block(0x0123456789abc000, JMP_RAX);

	(void)state;
	RUN(a, b, c, d, e, d, c, b, a, b);
	assert_string_equal(
		machine_decoded(),
		"on:1000 1000 51000 7fff00001000 ffffffff80001000 123456789abc000 ffffffff80001000 "
		"7fff00001000 51000 1000");
}

static void interrupts_have_their_address_and_target(void **state)
{
	struct block *jump = machine_block(0x1000, NOP JMP("\x0d")),
		     *next = machine_block(0x1010, NOP JNE("\xed"));
	struct block *handler = machine_block(0x9000, NOP IRET), *out = machine_block(0x1013, JMP_RAX);

	(void)state;
	/*
	 * After a jump, the address of an interrupt is the target of the jump. After a conditional or
	 * indirect branch, it is the address of that branch, as if the branch had not been executed.
	 */
	RUN(jump, handler, next, handler, out, handler, jump, next, out, jump);
	assert_string_equal(
		machine_decoded(),
		"on:1000 1000 1001 async:1010 to:9000 9000 9001 1010 async:1011 to:9000 9000 9001 "
		"async:1013 to:9000 9000 9001 1000 1001 1010 1011 1013");
}

/*
 * All handlers begin with the same code. So when one handler was seen, others are recognized at their first
 * execution, even directly after an indirect branch.
 */
static void interrupt_vectors_are_recognized(void **state)
{
	struct block *jump = machine_block(0x1000, NOP JMP("\x0d")), *next = machine_block(0x1010, CALL_RAX);
	struct block *timer = machine_block(0x9020, PUSH("\x20") JMP("\x1c")),
		     *common = machine_block(0x9040, NOP IRET);
	struct block *fault, *other = machine_block(0x9080, PUSH("\x01") JMP("\x1c"));

	(void)state;
	RUN(jump, timer, common);
	fault = machine_block(0x9010, PUSH("\x0e") JMP("\x2c"));
	RUN(next, fault, common, next, other, machine_block(0x90a0, JMP_RAX), jump);
	assert_string_equal(machine_decoded(),
			    "on:1000 1000 1001 async:1010 to:9020 9020 9022 9040 9041 async:1010 to:9010 "
			    "9010 9012 9040 9041 1010 9080 9082 90a0");
}

static void faulting_instruction_is_executed_again(void **state)
{
	struct block *a = machine_exact(0x1000, NOP LOAD NOP LOAD JMP("\xf6"));
	struct block *handler = machine_block(0xa000, NOP IRET),
		     *rest = machine_block(0x1005, LOAD JMP("\xf6"));
	struct block *bad = machine_block(0x1000, UD2), *halt = machine_block(0xa100, HLT);

	(void)state;
	/* The second load faults, and is executed again. */
	flow_enter(0, &a->passed[0]);
	flow_pass(0, &a->passed[1]);
	RUN(handler, rest, bad);
	machine_run(machine_block(0xa200, JMP_RAX));
	machine_run(halt);
	machine_run(machine_block(0xa300, JMP_RAX));
	machine_run(a);
	(void)bad;
	assert_string_equal(
		machine_decoded(),
		"on:1000 1000 1001 1004 async:1005 to:a000 a000 a001 1005 1008 async:1000 to:a200 "
		"a200 a100 async:a101 to:a300 a300");
}

static void block_resumed_in_the_middle_is_traced(void **state)
{
	struct block *a = machine_block(0x1000, JMP("\x0e")),
		     *whole = machine_block(0x1010, NOP LOAD NOP JMP_RAX);
	struct block *one = machine_block(0x1011, LOAD), *rest = machine_block(0x1014, NOP JMP_RAX);

	(void)state;
	/*
	 * QEMU has translated block `whole`, but after its first instruction, execution continues in block
	 * `one`
	 */
	(void)whole;
	RUN(a, one, rest, a);
	assert_string_equal(machine_decoded(), "on:1000 1000 1010 1011 1014 1015");
}

static void only_selected_privilege_levels_are_traced(void **state)
{
	struct block *user = machine_block(0x40001000, NOP SYSCALL),
		     *kernel = machine_block(0x100000, NOP SYSRET);
	struct block *user2 = machine_block(0x40001003, NOP JMP_RAX),
		     *interrupt = machine_block(0x102000, IRET);

	(void)state;
	trace_levels(machine_trace(), 1, 0, 0x40000000, 0x80000000);
	RUN(kernel, user, kernel, user2, user, interrupt);
	assert_string_equal(
		machine_decoded(),
		"on:40001000 40001000 40001001 off:0 on:40001003 40001003 40001004 40001000 40001001 off:0");

	/*
	 * A handler that was not seen before runs after an indirect branch. The handler is not the target of
	 * the branch.
	 */
	machine_begin();
	user2 = machine_block(0x40001003, NOP JMP_RAX), interrupt = machine_block(0x102000, IRET);
	trace_levels(machine_trace(), 1, 0, 0x40000000, 0x80000000);
	RUN(user2, interrupt);
	assert_string_equal(machine_decoded(), "on:40001003 40001003 off@40001004");

	machine_begin();
	user = machine_block(0x40001000, NOP SYSCALL), kernel = machine_block(0x100000, NOP SYSRET);
	trace_levels(machine_trace(), 0, 1, 0x40000000, 0x80000000);
	RUN(user, kernel, user, kernel, user);
	assert_string_equal(machine_decoded(), "on:100000 100000 100001 off:0 on:100000 100000 100001 off:0");
}

static void only_selected_ranges_are_traced(void **state)
{
	struct block *in = machine_block(0x1000, NOP CALL("\xfa")), *f = machine_block(0x1100, RET);
	struct block *in2 = machine_block(0x1006, JNE("\xf8")), *in3 = machine_block(0x1008, CALL_RAX);
	struct block *in4 = machine_block(0x100a, NOP), *out = machine_block(0x100b, JMP_RAX);
	struct trace *trace = machine_trace();

	(void)state;
	trace->ranges = 1;
	trace->range[0].start = 0x1000;
	trace->range[0].end = 0x100b;
	RUN(out, in, f, in2, in, f, in2, in3, f, in4, out, in);
	assert_string_equal(machine_decoded(),
			    "on:1000 1000 1001 off@1100 on:1006 1006 1000 1001 off@1100 on:1006 1006 1008 "
			    "off:1100 on:100a 100a off@100b on:1000");
}

/*
 * A function calls another function through a pointer, calls out of the range and back into it, and calls
 * itself. Each return is correct.
 */
static void returns_across_a_range_are_correct(void **state)
{
	struct block *in = machine_block(0x1000, NOP CALL_RAX),
		     *in2 = machine_block(0x1003, NOP CALL("\x0a")), *in3 = machine_block(0x1009, RET);
	struct block *f = machine_block(0x1013, NOP CALL_RAX), *f2 = machine_block(0x1016, RET);
	struct block *out = machine_block(0x2000, NOP RET);
	struct trace *trace = machine_trace();

	(void)state;
	trace->compress = 1;
	trace->ranges = 1;
	trace->range[0].start = 0x1000;
	trace->range[0].end = 0x1100;
	RUN(out, in, out, in2, f, out, f2, in3, f2, in3, out);
	assert_string_equal(
		machine_decoded(),
		"on:1000 1000 1001 off:2000 on:1003 1003 1004 1013 1014 off:2000 on:1016 1016 1009 "
		"1016 1009 off:2000");
}

static void changes_of_execution_mode_are_traced(void **state)
{
	struct block *user = machine_block(0x1000, NOP INC_32 SYSCALL),
		     *kernel = machine_block(0x9000, REX_NOP SYSRET);

	(void)state;
	machine_trace()->mode = 0;
	RUN(user, kernel, user, kernel, user);
	assert_string_equal(machine_decoded(),
			    "on:9000 9000 9003 not:64 1000 1001 1002 bits:64 9000 9003 not:64");
}

static void long_trace_is_decoded_without_error(void **state)
{
	struct block *loop = machine_block(0x1000, NOP JNE("\xfd")), *out = machine_block(0x1003, JMP_RAX);
	unsigned count = 0;

	(void)state;
	for (unsigned i = 0; i < 100000; i++)
		RUN(loop, loop, loop, out);
	/* strstr() of AddressSanitizer would find the end of the text again for each block. */
	for (const char *at = machine_decoded(); (at = strchr(at, '1')) != NULL; at++)
		count += strncmp(at, "1003", 4) == 0;
	/*
	 * The buffer for the decoded text has room for more than 10000 blocks. libipt decodes these blocks
	 * without an error, although there are many synchronization points.
	 */
	assert_true(count > 10000);
	assert_null(strstr(machine_decoded(), "error"));
	assert_true(output_position(&machine_trace()->output) < 500000);
}

static void full_output_is_an_overflow(void **state)
{
	struct block *a = machine_block(0x1000, JMP_RAX), *b = machine_block(0x51000, JMP_RAX);
	struct trace *trace = machine_trace();
	uint64_t position;
	const char *decoded;

	(void)state;
	trace->output.limit = 2000;
	for (unsigned i = 0; i < 1000; i++)
		RUN(a, b);
	position = output_position(&trace->output);
	assert_true(position <= 2000 && position > 1000);
	assert_true(trace->output.lost > 0);
	/*
	 * The test acts as if the guest had read some bytes. So there is room again, and tracing continues.
	 */
	flow_end(trace, 0);
	trace->output.limit = 4000;
	flow_begin(trace, 0);
	RUN(a, b, a);
	decoded = strstr(machine_decoded(), "overflow");
	assert_non_null(decoded);
	assert_string_equal(decoded, "overflow:0 on:1000 1000 51000");
}

static void change_of_space_is_traced(void **state)
{
	struct block *a = machine_block(0x1000, JMP_RAX), *b = machine_block(0x2000, JMP_RAX);

	(void)state;
	RUN(a, b);
	machine_trace()->space = 0x123000;
	flow_sync(machine_trace(), 0x2000);
	RUN(a);
	assert_string_equal(machine_decoded(), "on:1000 1000 space:123000 2000");
}

static uint64_t reached, packets;

/*
 * QEMU may be killed right after a doorbell. A decoder begins at the synchronization point, so the stored
 * address must not be an address that was reached before this point.
 */
static void reached_address_is_that_of_the_synchronization_point(void **state)
{
	struct block *a = machine_block(0x1000, NOP JMP_RAX);
	struct trace *trace = machine_trace();
	uint64_t *before = trace->output.reached;

	(void)state;
	trace->output.reached = &reached;
	machine_run(a);
	assert_int_equal(reached, 0x1001);
	flow_sync(trace, 0x1003);
	assert_int_equal(reached, 0x1003);
	flow_end(trace, 0x1003);
	flow_sync(trace, 0x1003);
	assert_int_equal(reached, 0);
	trace->output.reached = before;
}

static void check_branch(struct trace *trace, const struct block *block, uint64_t to, int taken)
{
	assert_int_equal(reached, 0);
	packets++;
	encoder_pt.branch(trace, block, to, taken);
}

static void check_flush(struct trace *trace)
{
	assert_int_equal(reached, 0);
	packets++;
	encoder_pt.flush(trace);
}

/*
 * QEMU may be killed while packets are written. Until all are complete, the stored end of the trace must not
 * move past them.
 */
static void no_address_is_reached_while_packets_are_written(void **state)
{
	struct block *a = machine_block(0x1000, NOP JNE("\xfd")), *b = machine_block(0x1003, JMP_RAX);
	struct trace *trace = machine_trace();
	const struct output output = trace->output;
	struct encoder watched = encoder_pt;

	(void)state;
	watched.branch = check_branch;
	watched.flush = check_flush;
	packets = 0;
	trace->encoder = &watched;
	trace->output.reached = &reached;
	for (unsigned n = 0; n < 100; n++) {
		machine_run(a);
		assert_int_equal(reached, a->end_point.address);
	}
	RUN(b, a);
	assert_int_equal(reached, a->end_point.address);
	assert_true(packets >= 3);
	trace->encoder = &encoder_pt;
	trace->output.reached = output.reached;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(conditional_branches_are_traced, setup),
		cmocka_unit_test_setup(halted_cpu_writes_all_branches, setup),
		cmocka_unit_test_setup(renewed_time_comes_before_the_next_block, setup),
		cmocka_unit_test_setup(pause_is_reported_as_overflow, setup),
		cmocka_unit_test_setup(blocks_that_look_alike_are_distinguished, setup),
		cmocka_unit_test_setup(compressed_returns_need_fewer_bytes, setup),
		cmocka_unit_test_setup(forgotten_returns_are_written_in_full, setup),
		cmocka_unit_test_setup(return_not_to_last_call_is_traced, setup),
		cmocka_unit_test_setup(addresses_of_all_lengths_are_compressed, setup),
		cmocka_unit_test_setup(interrupts_have_their_address_and_target, setup),
		cmocka_unit_test_setup(interrupt_vectors_are_recognized, setup),
		cmocka_unit_test_setup(faulting_instruction_is_executed_again, setup),
		cmocka_unit_test_setup(block_resumed_in_the_middle_is_traced, setup),
		cmocka_unit_test_setup(only_selected_privilege_levels_are_traced, setup),
		cmocka_unit_test_setup(only_selected_ranges_are_traced, setup),
		cmocka_unit_test_setup(returns_across_a_range_are_correct, setup),
		cmocka_unit_test_setup(changes_of_execution_mode_are_traced, setup),
		cmocka_unit_test_setup(long_trace_is_decoded_without_error, setup),
		cmocka_unit_test_setup(full_output_is_an_overflow, setup),
		cmocka_unit_test_setup(change_of_space_is_traced, setup),
		cmocka_unit_test_setup(reached_address_is_that_of_the_synchronization_point, setup),
		cmocka_unit_test_setup(no_address_is_reached_while_packets_are_written, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
