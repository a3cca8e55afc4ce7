/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests how traces are compared if a transfer is split into several calls, and if a thread serves several
 * other threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "diff/trace.h"

enum { THREAD = 7 };

static uint64_t now;

static struct diff_trace *begin(void)
{
	struct diff_trace *trace = diff_trace_new("test");

	assert_non_null(trace);
	trace->calls = true;
	trace->begin = now = 1000;
	return trace;
}

static struct diff_step *step(struct diff_trace *trace, uint32_t id, const char *name, bool call)
{
	const uint32_t thread = diff_trace_thread(trace, id, 0);
	const uint32_t kind = diff_trace_kind(trace, name, strlen(name), call);
	struct diff_step *added = diff_trace_step(trace, thread, kind, now += 100, 0, trace->steps);

	assert_non_null(added);
	trace->end = now;
	added->inside = !call;
	return added;
}

/* Adds a call. `result`: negative for an error; INT64_MAX: the call does not return. */
static void call(struct diff_trace *trace, const char *name, uint64_t first, uint64_t second, int64_t result)
{
	struct diff_step *added = step(trace, THREAD, name, true);

	added->result_form = result == INT64_MAX ? DIFF_FORM_UNKNOWN : DIFF_FORM_NUMBER;
	added->result = (uint64_t)result;
	if (result < 0) {
		added->result_form = DIFF_FORM_ERROR;
		added->result = base_hash_text(0, result == -11 ? "EAGAIN" : "EBADF");
	}
	diff_trace_value(trace, DIFF_FORM_FILE, first);
	/* The second argument of poll is a number. The second argument of a transfer is an address. */
	diff_trace_value(trace, strcmp(name, "poll") == 0 ? DIFF_FORM_NUMBER : DIFF_FORM_OPAQUE, second);
	diff_trace_value(trace, DIFF_FORM_NUMBER, second);
}

/*
 * Returns a trace of a program that reads from file 4 in parts of these sizes (0 ends the list) into a buffer
 * of 3000 bytes, and then calls `after`, unless it is NULL.
 */
static struct diff_trace *transfer(const int64_t *part, const char *after)
{
	struct diff_trace *trace = begin();
	uint64_t left = 3000;

	for (; *part; left -= (uint64_t)*part++) {
		call(trace, "recvfrom", 4, left, *part);
		step(trace, THREAD, "net.recv", false);
	}
	if (after)
		call(trace, after, 4, 0, 0);
	diff_trace_thread(trace, THREAD, 0);
	trace->thread[0].ended = true;
	return trace;
}

static struct diff_result compare(struct diff_trace *first, struct diff_trace *second)
{
	struct diff_trace *const trace[2] = { first, second };
	struct diff_result result;

	assert_int_equal(diff_trace_end(first), 0);
	assert_int_equal(diff_trace_end(second), 0);
	assert_int_equal(diff_compare(trace, 20, false, &result), 0);
	diff_trace_free(first);
	diff_trace_free(second);
	free(result.item);
	return result;
}

static void end_threads(struct diff_trace *trace)
{
	for (uint32_t n = 0; n < trace->threads; n++)
		trace->thread[n].ended = true;
}

/* Ends all threads of both traces, and compares the traces. */
static void expect(struct diff_trace *first, struct diff_trace *second, uint64_t changed, uint64_t missing,
		   uint64_t extra)
{
	struct diff_result result;

	end_threads(first);
	end_threads(second);
	result = compare(first, second);
	assert_int_equal(result.count[DIFF_CHANGED], changed);
	assert_int_equal(result.count[DIFF_MISSING], missing);
	assert_int_equal(result.count[DIFF_EXTRA], extra);
	assert_int_equal(result.count[DIFF_REORDERED], 0);
}

static void parts_of_a_transfer_are_one_step(void **state)
{
	static const int64_t whole[] = { 3000, 0 }, parts[] = { 1024, 1024, 952, 0 },
			     less[] = { 1024, 1024, 0 };

	(void)state;
	expect(transfer(whole, "close"), transfer(parts, "close"), 0, 0, 0);
	expect(transfer(parts, "close"), transfer(whole, "close"), 0, 0, 0);
	expect(transfer(whole, "close"), transfer(less, "close"), 1, 0, 0);
}

static void whole_transfers_are_not_joined(void **state)
{
	struct diff_trace *once = begin(), *twice = begin();

	(void)state;
	call(once, "read", 3, 8, 8);
	call(twice, "read", 3, 8, 8);
	call(twice, "read", 3, 8, 8);
	expect(once, twice, 0, 0, 1);
}

static void short_reads_that_do_not_ask_for_the_rest_are_not_joined(void **state)
{
	struct diff_trace *once = begin(), *twice = begin();

	(void)state;
	call(once, "read", 3, 200, 100);
	call(twice, "read", 3, 200, 100);
	call(twice, "read", 3, 200, 100);
	expect(once, twice, 0, 0, 1);
}

static void transfers_of_two_files_are_not_joined(void **state)
{
	struct diff_trace *one = begin(), *two = begin();

	(void)state;
	call(one, "read", 3, 8, 4);
	call(one, "read", 3, 4, 4);
	call(two, "read", 3, 8, 4);
	call(two, "read", 5, 4, 4);
	expect(one, two, 1, 0, 1);
}

static void end_of_file_is_a_step_of_its_own(void **state)
{
	struct diff_trace *with = begin(), *without = begin();

	(void)state;
	call(with, "read", 3, 8, 4);
	call(with, "read", 3, 8, 0);
	call(without, "read", 3, 8, 4);
	expect(with, without, 0, 1, 0);
}

static void parts_are_not_joined_across_a_gap(void **state)
{
	static const int64_t whole[] = { 3000, 0 };
	struct diff_trace *cut = begin();
	struct diff_result result;

	(void)state;
	call(cut, "recvfrom", 4, 3000, 1024);
	diff_trace_gap(cut, now + 10, now + 50);
	call(cut, "recvfrom", 4, 1976, 1976);
	cut->thread[0].ended = true;
	result = compare(cut, transfer(whole, NULL));
	assert_int_equal(result.count[DIFF_MISSING], 0);
	assert_true(result.undecided > 0);
}

/*
 * A program that calls poll() for `files` files, and then makes calls for two of these files in some order.
 */
static struct diff_trace *server(uint64_t files, bool swapped, uint32_t polls, int64_t result)
{
	struct diff_trace *trace = begin();

	for (uint32_t n = 0; n < polls; n++)
		call(trace, "poll", 4, files, 1 + n);
	call(trace, swapped ? "accept" : "listen", 4, 0, 0);
	call(trace, swapped ? "listen" : "accept", 4, 0, 0);
	call(trace, "shutdown", 4, 0, result);
	trace->thread[0].ended = true;
	return trace;
}

static void program_that_polls_serves_in_any_order(void **state)
{
	struct diff_result result;

	(void)state;
	expect(server(3, false, 1, 0), server(3, true, 3, 0), 0, 0, 0);
	expect(server(3, false, 1, 0), server(3, false, 1, -11), 0, 0, 0);
	expect(server(3, false, 1, 0), server(3, false, 1, -9), 1, 0, 0);
	/* A poll() of a single file counts like any other call: it does not show a server. */
	result = compare(server(1, false, 1, 0), server(1, true, 1, 0));
	assert_int_equal(result.count[DIFF_REORDERED], 1);
}

/*
 * A call during which thread `thread` sends a packet; 0: no packet. A thread of the kernel sends another
 * packet. If `serves` is true, it serves several threads.
 */
static struct diff_trace *packet(uint32_t thread, bool serves)
{
	struct diff_trace *trace = begin();
	const uint32_t kernel = diff_trace_thread(trace, 1, 0);

	trace->thread[kernel].serves = serves;
	step(trace, 1, "net.tx", false)->inside = false;
	call(trace, "connect", 4, 0, 0);
	if (thread)
		step(trace, thread, "net.tx", false);
	return trace;
}

static void work_of_server_threads_within_a_call_is_noise(void **state)
{
	(void)state;
	expect(packet(THREAD, true), packet(0, true), 0, 0, 0);
	expect(packet(THREAD, false), packet(0, false), 0, 1, 0);
}

/* Threads with the same name, whose creation is not known. `gap`: slots are lost before their first steps. */
static struct diff_trace *namesakes(uint32_t first, bool gap)
{
	struct diff_trace *trace = begin();

	for (uint32_t id = first; id < first + 2; id++) {
		step(trace, id, "vfs.open", false)->inside = false;
		step(trace, id, id == 7 ? "vfs.read" : "vfs.write", false)->inside = false;
		diff_trace_name(&trace->thread[trace->threads - 1], "worker", 6);
	}
	if (gap)
		diff_trace_gap(trace, 0, 500);
	return trace;
}

static void order_of_ids_pairs_nothing_if_threads_may_be_missing(void **state)
{
	struct diff_result result = compare(namesakes(6, true), namesakes(7, true));

	(void)state;
	assert_int_equal(result.items, 0);
	assert_int_equal(result.undecided, 8);
	assert_int_equal(diff_verdict(&result), DIFF_VERDICT_UNDECIDED);
	result = compare(namesakes(6, true), namesakes(6, true));
	assert_int_equal(result.compared, 4);
	result = compare(namesakes(6, false), namesakes(7, false));
	assert_true(result.items > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_a_transfer_are_one_step),
		cmocka_unit_test(whole_transfers_are_not_joined),
		cmocka_unit_test(short_reads_that_do_not_ask_for_the_rest_are_not_joined),
		cmocka_unit_test(transfers_of_two_files_are_not_joined),
		cmocka_unit_test(end_of_file_is_a_step_of_its_own),
		cmocka_unit_test(parts_are_not_joined_across_a_gap),
		cmocka_unit_test(program_that_polls_serves_in_any_order),
		cmocka_unit_test(work_of_server_threads_within_a_call_is_noise),
		cmocka_unit_test(order_of_ids_pairs_nothing_if_threads_may_be_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
