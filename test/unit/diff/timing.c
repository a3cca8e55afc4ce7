/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that calls are ignored as noise if their number depends only on time: retries, and the last calls
 * before a thread is killed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "diff/trace.h"

enum { THREAD = 7, KERNEL = 5, OTHER = 6 };

#define NO_RETURN INT64_MAX
#define EXISTS	  (-17)

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
	added->inside = !call && id == THREAD;
	return added;
}

/* Adds a call with one argument. `result`: negative for an error; NO_RETURN: the call does not return. */
static void call(struct diff_trace *trace, const char *name, uint64_t argument, int64_t result)
{
	struct diff_step *added = step(trace, THREAD, name, true);

	added->result_form = result == NO_RETURN ? DIFF_FORM_UNKNOWN
			     : result < 0	 ? DIFF_FORM_ERROR
						 : DIFF_FORM_NUMBER;
	added->result = (uint64_t)result;
	diff_trace_value(trace, DIFF_FORM_NUMBER, argument);
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

/* Compares the traces. `steps`: how many steps only one of them has. */
static void expect(struct diff_trace *first, struct diff_trace *second, uint64_t steps)
{
	const struct diff_result result = compare(first, second);

	assert_int_equal(result.count[DIFF_MISSING] + result.count[DIFF_EXTRA], steps);
	assert_int_equal(result.count[DIFF_CHANGED], 0);
	assert_int_equal(result.undecided, 0);
	assert_int_equal(diff_verdict(&result), steps ? DIFF_VERDICT_DIFFERS : DIFF_VERDICT_SAME);
}

/* ---- Threads that are ended by other threads or by signals ---- */

enum { SIGNAL_SEGV = 11, SIGNAL_TERM = 15, SIGNAL_USER = 10 };

struct ending {
	uint32_t calls;	   /* number of calls before the end */
	const char *last;  /* the last call; NULL: none */
	uint32_t signal;   /* the signal that ends the thread; 0: none */
	const char *ender; /* a call of another thread that ends this thread; NULL: none */
	bool fault;	   /* the signal arrives at the other thread, and ends both threads */
	uint32_t after;	   /* number of calls after the end of the first thread */
	bool apart;	   /* the other thread belongs to another process */
};

/* A thread that makes calls and ends. */
static struct diff_trace *ended(const struct ending *ending)
{
	struct diff_trace *trace = begin();
	struct diff_step *kill;

	step(trace, OTHER, "getpid", true);
	assert_int_equal(diff_trace_thread(trace, THREAD, 0), 1);
	for (uint32_t n = 0; n < ending->calls; n++)
		call(trace, "sigprocmask", n, 0);
	if (ending->ender) {
		kill = step(trace, OTHER, ending->ender, true);
		diff_trace_value(trace, DIFF_FORM_PROCESS, THREAD);
		diff_trace_value(trace, DIFF_FORM_NUMBER, ending->signal);
		kill->result_form = DIFF_FORM_UNKNOWN;
	}
	for (uint32_t n = 0; n < ending->after; n++)
		call(trace, "getuid", n, 0);
	if (ending->last)
		call(trace, ending->last, 0, NO_RETURN);
	diff_end_signal(&trace->thread[0], ending->fault ? ending->signal : 0, now + 50, false);
	diff_end_signal(&trace->thread[1], ending->signal, ending->fault ? 0 : now + 50, false);
	trace->thread[1].seen = now += 100;
	if (!ending->fault)
		step(trace, OTHER, "exit_group", true);
	trace->thread[0].ended = trace->thread[1].ended = true;
	if (!ending->apart)
		trace->thread[1].process = trace->thread[0].process;
	return trace;
}

/* Compares two traces in which threads end in the same way after different numbers of calls. */
static enum diff_verdict verdict_of(struct ending ending, uint32_t first, uint32_t second)
{
	struct ending other = ending;
	struct diff_result result;

	ending.calls = first;
	other.calls = second;
	result = compare(ended(&ending), ended(&other));
	assert_int_equal(result.count[DIFF_CHANGED], 0);
	return diff_verdict(&result);
}

static void last_calls_of_a_thread_that_another_one_ends_are_noise(void **state)
{
	const struct ending killed = { .signal = SIGNAL_TERM, .ender = "kill", .apart = true },
			    exited = { .ender = "exit_group" }, executed = { .ender = "execve" },
			    fault = { .signal = SIGNAL_SEGV, .fault = true };

	(void)state;
	assert_int_equal(verdict_of(killed, 3, 2), DIFF_VERDICT_SAME);
	assert_int_equal(verdict_of(exited, 2, 4), DIFF_VERDICT_SAME);
	assert_int_equal(verdict_of(executed, 4, 2), DIFF_VERDICT_SAME);
	assert_int_equal(verdict_of(fault, 4, 2), DIFF_VERDICT_SAME);
	/* Too many calls to be noise. */
	assert_int_equal(verdict_of(killed, 500, 0), DIFF_VERDICT_UNDECIDED);
	assert_int_equal(verdict_of(exited, 0, 500), DIFF_VERDICT_UNDECIDED);
}

static void last_calls_before_other_ends_are_differences(void **state)
{
	/* A fault kills the thread. In `sent`, another thread also sends it the same signal. */
	const struct ending faults = { .signal = SIGNAL_SEGV },
			    sent = { .signal = SIGNAL_SEGV, .ender = "kill" }, leaves = { .last = "exit" },
			    itself = { .signal = SIGNAL_TERM, .last = "kill" },
			    /* No event shows why the thread ended. */
		unknown = { .calls = 0 }, apart = { .ender = "exit_group", .apart = true },
			    parent = { .signal = SIGNAL_SEGV, .fault = true, .apart = true },
			    early = { .ender = "exit_group", .after = 20 }, user = { .signal = SIGNAL_USER },
			    /* The sender of this signal is not in the trace. */
		outside = { .signal = SIGNAL_TERM };
	struct ending other = { .calls = 2, .signal = SIGNAL_SEGV },
		      killed = { .calls = 3, .signal = SIGNAL_TERM };
	struct diff_result result;

	(void)state;
	assert_int_equal(verdict_of(faults, 3, 2), DIFF_VERDICT_DIFFERS);
	assert_int_equal(verdict_of(sent, 3, 2), DIFF_VERDICT_DIFFERS);
	assert_int_equal(verdict_of(leaves, 3, 2), DIFF_VERDICT_DIFFERS);
	assert_int_equal(verdict_of(itself, 3, 2), DIFF_VERDICT_DIFFERS);
	assert_int_equal(verdict_of(unknown, 3, 2), DIFF_VERDICT_DIFFERS);
	assert_int_equal(verdict_of(apart, 3, 2), DIFF_VERDICT_DIFFERS);
	assert_int_equal(verdict_of(parent, 3, 2), DIFF_VERDICT_DIFFERS);
	assert_int_equal(verdict_of(early, 3, 2), DIFF_VERDICT_DIFFERS);
	assert_int_equal(verdict_of(user, 3, 2), DIFF_VERDICT_DIFFERS);
	assert_int_equal(verdict_of(outside, 3, 2), DIFF_VERDICT_UNDECIDED);
	/* Different signals ended the threads, so one of the runs failed. */
	result = compare(ended(&killed), ended(&other));
	assert_int_equal(diff_verdict(&result), DIFF_VERDICT_DIFFERS);
}

/* A thread that ends itself. If `recorded` is true, the trace contains the event of its end. */
static struct diff_trace *leaves(const char *name, bool recorded)
{
	struct diff_trace *trace = begin();

	step(trace, OTHER, "sched.exit", false);
	call(trace, name, 0, NO_RETURN);
	if (recorded)
		step(trace, THREAD, "sched.exit", false);
	trace->thread[0].ended = true;
	trace->thread[1].ended = recorded;
	return trace;
}

static void trace_may_end_while_a_thread_ends_itself(void **state)
{
	struct diff_result result;

	(void)state;
	expect(leaves("exit", true), leaves("exit", false), 0);
	expect(leaves("exit", false), leaves("exit", true), 0);
	result = compare(leaves("pause", true), leaves("pause", false));
	assert_int_equal(result.undecided, 1);
}

/* ---- Calls that are retried ---- */

struct plan {
	int64_t failure, success;
	const char *name, *pause;
	const char *between; /* a call between a failure and the pause; NULL: none */
};

/* A program that makes a call until it succeeds, and sleeps after each failure. */
static struct diff_trace *retries(const struct plan *plan, uint32_t failures)
{
	struct diff_trace *trace = begin();

	call(trace, "getpid", 0, 7);
	for (uint32_t n = 0; n <= failures; n++) {
		call(trace, plan->name, 3, n < failures ? plan->failure : plan->success);
		step(trace, THREAD, "vfs.lookup", false);
		if (n == failures)
			break;
		if (plan->between)
			call(trace, plan->between, 9, 0);
		call(trace, plan->pause, 1, 0);
	}
	call(trace, "exit", 0, NO_RETURN);
	trace->thread[0].ended = true;
	return trace;
}

static void failures_before_a_call_succeeds_are_noise(void **state)
{
	static const struct plan
		opens = { .name = "open", .pause = "nanosleep", .failure = EXISTS, .success = 5 },
		polls = { .name = "open", .pause = "poll", .failure = EXISTS, .success = 5 },
		waits = { .name = "wait4", .pause = "sched_yield", .failure = 0, .success = 8 },
		reads = { .name = "read", .pause = "nanosleep", .failure = 100, .success = 100 },
		spins = { .name = "open", .pause = "getpid", .failure = EXISTS, .success = 5 };

	struct diff_result result;

	(void)state;
	expect(retries(&opens, 3), retries(&opens, 0), 0);
	expect(retries(&opens, 1), retries(&opens, 2), 0);
	expect(retries(&polls, 2), retries(&polls, 1), 0);
	expect(retries(&waits, 0), retries(&waits, 4), 0);
	/* A call is no retry if the previous call succeeded, or if there was no pause after it. */
	expect(retries(&reads, 1), retries(&reads, 0), 3);
	result = compare(retries(&spins, 1), retries(&spins, 2));
	assert_int_equal(result.count[DIFF_EXTRA], 3);
}

static void other_calls_between_tries_are_compared(void **state)
{
	static const struct plan removes = {
		.name = "open", .pause = "nanosleep", .failure = EXISTS, .success = 5, .between = "unlink"
	};

	(void)state;
	expect(retries(&removes, 2), retries(&removes, 2), 0);
	expect(retries(&removes, 1), retries(&removes, 0), 1);
	expect(retries(&removes, 1), retries(&removes, 4), 3);
}

/*
 * A connect() that fails, and after a pause another one that succeeds. `first`, `second`: the arguments that
 * are addresses or texts. `path`: the path that the kernel records during the call that fails.
 */
static struct diff_trace *connects(bool fails, uint64_t first, uint64_t second, const char *path)
{
	struct diff_trace *trace = begin();

	for (uint32_t n = !fails; n < 2; n++) {
		call(trace, "connect", 3, n == 0 ? EXISTS : 0);
		diff_trace_value(trace, DIFF_FORM_OPAQUE, n == 0 ? first : second);
		step(trace, THREAD, n == 0 ? path : "vfs.socket", false);
		if (n == 0)
			call(trace, "nanosleep", 1, 0);
	}
	call(trace, "exit", 0, NO_RETURN);
	trace->thread[0].ended = true;
	return trace;
}

static bool is_retry(uint64_t first, uint64_t second, const char *path, bool hidden)
{
	struct diff_trace *more = connects(true, first, second, path),
			  *less = connects(false, first, second, path);
	struct diff_result result;

	more->kind[diff_trace_kind(more, "connect", 7, true)].hidden = hidden;
	result = compare(more, less);
	return diff_verdict(&result) == DIFF_VERDICT_SAME;
}

static void call_with_other_arguments_is_no_retry(void **state)
{
	(void)state;
	assert_true(is_retry(1, 1, "vfs.socket", false));
	assert_false(is_retry(1, 2, "vfs.socket", false));
	/*
	 * The kernel recorded a different path during the call, so the string at the address was
	 * different.
	 */
	assert_false(is_retry(1, 1, "vfs.other", false));
	/* What this call does depends on the structure at the address, which may have changed. */
	assert_false(is_retry(1, 1, "vfs.socket", true));
}

static void last_failure_counts(void **state)
{
	static const struct plan
		succeeds = { .name = "open", .pause = "nanosleep", .failure = EXISTS, .success = 5 },
		fails = { .name = "open", .pause = "nanosleep", .failure = EXISTS, .success = EXISTS };
	const struct diff_result result = compare(retries(&succeeds, 2), retries(&fails, 2));

	(void)state;
	assert_int_equal(result.count[DIFF_CHANGED], 1);
}

/* ---- Packets that arrive in different orders ---- */

/*
 * A server that receives two datagrams of these lengths. `address`: where the call stores the sender's
 * address.
 */
static struct diff_trace *datagrams(int64_t first, int64_t second, uint64_t address)
{
	struct diff_trace *trace = begin();

	for (int n = 0; n < 2; n++) {
		call(trace, "recvfrom", 3, n ? second : first);
		for (int value = 1; value < 4; value++)
			diff_trace_value(trace, DIFF_FORM_OPAQUE, 0);
		diff_trace_value(trace, DIFF_FORM_OPAQUE, address);
	}
	trace->thread[0].ended = true;
	return trace;
}

static void datagrams_of_several_senders_arrive_in_any_order(void **state)
{
	struct diff_result result;

	(void)state;
	expect(datagrams(33, 43, 0x1000), datagrams(43, 33, 0x1000), 0);
	result = compare(datagrams(33, 43, 0), datagrams(43, 33, 0));
	assert_int_equal(result.count[DIFF_CHANGED], 2);
}

/*
 * A thread of the kernel serves several threads, and has not ended. It sends packets, and some of these calls
 * may fail.
 */
static struct diff_trace *packets(uint32_t count, bool fails)
{
	struct diff_trace *trace = begin();

	step(trace, OTHER, "net.drop", false);
	for (uint32_t n = 0; n < count; n++)
		step(trace, KERNEL, "net.tx", false);
	if (fails)
		step(trace, KERNEL, "net.drop", false);
	trace->thread[1].serves = true;
	return trace;
}

static void end_of_the_trace_may_cut_off_the_work_of_a_server(void **state)
{
	struct diff_result result;

	(void)state;
	expect(packets(3, false), packets(2, false), 0);
	expect(packets(2, false), packets(3, false), 0);
	result = compare(packets(3, true), packets(2, false));
	assert_int_equal(result.items, 0);
	assert_int_equal(result.undecided, 1);
}

/*
 * A thread of the kernel serves several threads, and changes a state. Its event has the field `state`, which
 * differs between the two traces. `result`: result of a program's call.
 */
static struct diff_trace *states(uint64_t state, const char *name, int64_t result)
{
	struct diff_trace *trace = begin();
	struct diff_step *changes;

	step(trace, KERNEL, "net.state", false);
	changes = step(trace, KERNEL, name, false);
	changes->key = base_hash(changes->key, state);
	step(trace, KERNEL, "net.tx", false);
	call(trace, "close", 3, result);
	trace->thread[0].serves = true;
	for (uint32_t n = 0; n < trace->threads; n++)
		trace->thread[n].ended = true;
	return trace;
}

static void server_may_work_in_another_way_if_no_other_thread_differs(void **state)
{
	struct diff_result result;

	(void)state;
	expect(states(1, "net.state", 0), states(2, "net.state", 0), 0);
	/*
	 * The change of the state counts as a difference if it has a consequence, or if the other trace has
	 * no event of this type.
	 */
	result = compare(states(1, "net.state", 0), states(2, "net.state", -5));
	assert_int_equal(result.count[DIFF_MISSING], 1);
	assert_int_equal(result.count[DIFF_EXTRA], 1);
	assert_int_equal(result.count[DIFF_CHANGED], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(last_calls_of_a_thread_that_another_one_ends_are_noise),
		cmocka_unit_test(last_calls_before_other_ends_are_differences),
		cmocka_unit_test(trace_may_end_while_a_thread_ends_itself),
		cmocka_unit_test(failures_before_a_call_succeeds_are_noise),
		cmocka_unit_test(other_calls_between_tries_are_compared),
		cmocka_unit_test(call_with_other_arguments_is_no_retry),
		cmocka_unit_test(last_failure_counts),
		cmocka_unit_test(datagrams_of_several_senders_arrive_in_any_order),
		cmocka_unit_test(server_may_work_in_another_way_if_no_other_thread_differs),
		cmocka_unit_test(end_of_the_trace_may_cut_off_the_work_of_a_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
