/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests into which shares the longest durations are divided if the causes are known. Also tests that the
 * shares add up to the duration in every trace, even if slots are lost or events contradict each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/worst.h"
#include "ktrx/slot.h"
#include "unit/support/random.h"
#include "unit/support/script.h"

#define V(value) ((uint64_t)(value))

enum { SWITCH = 1, WAKE, ENTER, EXIT, CONTEND, ACQUIRE, RELEASE, IRQ, IRQ_END, BLOCK };

static int begin(void **state)
{
	(void)state;
	script_begin(2);
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u32 state");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(ENTER, "syscall", "enter", "u32 nr");
	script_type(EXIT, "syscall", "exit", "u32 nr,i64 result");
	script_type(CONTEND, "lock", "contend", "pointer lock,string name");
	script_type(ACQUIRE, "lock", "acquire", "pointer lock,string name");
	script_type(RELEASE, "lock", "release", "pointer lock");
	script_type(IRQ, "irq", "enter", "u32 irq");
	script_type(IRQ_END, "irq", "exit", "u32 irq");
	return 0;
}

static int end(void **state)
{
	(void)state;
	script_end();
	return 0;
}

/* Checks each share that is divided into smaller ones: the sum of the smaller shares must be equal to it. */
static void check_sums(const struct worst_shares *shares, uint64_t whole)
{
	uint64_t sum[WORST_NODES + 1] = { 0 };

	assert_true(shares->nodes <= WORST_NODES);
	for (uint32_t n = 0; n < shares->nodes; n++) {
		assert_true(shares->node[n].parent == WORST_NODES || shares->node[n].parent < n);
		sum[shares->node[n].parent] += shares->node[n].ticks;
	}
	assert_int_equal(sum[WORST_NODES], whole);
	for (uint32_t n = 0; n < shares->nodes; n++)
		if (shares->node[n].reason == WORST_LOCK || shares->node[n].reason == WORST_SLEEP)
			assert_int_equal(sum[n], shares->node[n].ticks);
}

static void explain(enum latencies_kind kind, struct worst_shares *shares)
{
	struct worst *worst;

	assert_int_equal(worst_read(&worst, script_trace(), kind, 10), 0);
	shares->nodes = 0;
	for (uint32_t n = 0; worst_at(worst, n); n++) {
		const struct latencies_span *span = worst_at(worst, n);

		if (n > 0)
			assert_true(span->end - span->begin <=
				    worst_at(worst, n - 1)->end - worst_at(worst, n - 1)->begin);
		worst_explain(worst, n, shares);
		check_sums(shares, span->end - span->begin);
	}
	worst_free(worst);
}

static uint64_t ticks_of(const struct worst_shares *shares, enum worst_reason reason, uint32_t parent)
{
	for (uint32_t n = 0; n < shares->nodes; n++)
		if (shares->node[n].reason == reason && shares->node[n].parent == parent)
			return shares->node[n].ticks;
	return 0;
}

static void a_call_is_divided_by_its_causes(void **state)
{
	struct worst_shares shares;

	(void)state;
	script_event(SWITCH, 100, 0, 0, V(0), V(7), V(0));
	script_event(SWITCH, 110, 1, 0, V(0), V(8), V(0));
	script_event(ENTER, 1000, 0, 7, V(3));
	script_event(IRQ, 1100, 0, 7, V(33))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(IRQ_END, 1150, 0, 7, V(33))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(SWITCH, 1300, 0, 7, V(7), V(9), V(1)); /* the thread sleeps */
	script_event(WAKE, 1700, 1, 8, V(7));
	script_event(SWITCH, 1900, 0, 9, V(9), V(7), V(0));
	script_event(EXIT, 2000, 0, 7, V(3), V(0));
	explain(LATENCIES_SYSCALL, &shares);
	assert_int_equal(ticks_of(&shares, WORST_RUNNING, WORST_NODES), 100 + 150 + 100);
	assert_int_equal(ticks_of(&shares, WORST_INTERRUPT, WORST_NODES), 50);
	assert_int_equal(ticks_of(&shares, WORST_SLEEP, WORST_NODES), 400);
	assert_int_equal(ticks_of(&shares, WORST_RUNNABLE, WORST_NODES), 200);
}

static void a_run_queue_names_the_thread_on_the_cpu_where_the_thread_runs_next(void **state)
{
	struct worst_shares shares;

	(void)state;
	script_event(SWITCH, 100, 0, 0, V(0), V(7), V(0));
	script_event(SWITCH, 110, 1, 0, V(0), V(8), V(0));
	script_event(SWITCH, 1000, 0, 7, V(7), V(9), V(1)); /* the thread sleeps on CPU 0 */
	script_event(WAKE, 1500, 0, 9, V(7));
	script_event(SWITCH, 1900, 1, 8, V(8), V(7), V(0)); /* the thread runs on CPU 1 */
	explain(LATENCIES_RUN_QUEUE, &shares);
	assert_int_equal(shares.nodes, 1);
	assert_int_equal(shares.node[0].reason, WORST_RUNNABLE);
	assert_true(shares.node[0].has_thread);
	assert_int_equal(shares.node[0].thread, 8);
}

static void a_wait_for_a_lock_is_divided_by_its_holder(void **state)
{
	struct worst_shares shares;

	(void)state;
	script_event(SWITCH, 100, 0, 0, V(0), V(7), V(0));
	script_event(SWITCH, 110, 1, 0, V(0), V(8), V(0));
	script_event(ACQUIRE, 200, 1, 8, V(0xa0), "");
	script_event(CONTEND, 1000, 0, 7, V(0xa0), "inode"); /* only this event has the name of the object */
	script_event(SWITCH, 1300, 1, 8, V(8), V(9), V(0));  /* the thread was preempted */
	script_event(SWITCH, 1800, 1, 9, V(9), V(8), V(0));
	script_event(RELEASE, 1900, 1, 8, V(0xa0));
	script_event(ACQUIRE, 1950, 0, 7, V(0xa0), "");
	/* a state other than 0, so that the analysis uses the states of this trace */
	script_event(SWITCH, 2000, 1, 8, V(8), V(9), V(1));
	explain(LATENCIES_LOCK_WAIT, &shares);
	assert_int_equal(ticks_of(&shares, WORST_LOCK, WORST_NODES), 900);
	assert_string_equal(shares.node[0].name, "inode");
	assert_int_equal(shares.node[0].thread, 8);
	assert_int_equal(ticks_of(&shares, WORST_RUNNING, 0), 300 + 100);
	assert_int_equal(ticks_of(&shares, WORST_RUNNABLE, 0), 500);
	/* the lock was free in this time */
	assert_int_equal(ticks_of(&shares, WORST_RUNNING, WORST_NODES), 50);
}

static void after_lost_slots_the_holder_is_unknown(void **state)
{
	struct worst_shares shares;

	(void)state;
	script_event(SWITCH, 100, 0, 0, V(0), V(7), V(0));
	script_event(SWITCH, 110, 1, 0, V(0), V(8), V(0));
	script_event(ACQUIRE, 200, 1, 8, V(0xa0), "inode");
	script_event(CONTEND, 1000, 0, 7, V(0xa0), "inode");
	script_event(WAKE, 1200, 1, 8, V(9));
	script_event(RELEASE, 1900, 1, 8, V(0xa0))->lost = 3;
	script_event(ACQUIRE, 1950, 0, 7, V(0xa0), "inode");
	explain(LATENCIES_LOCK_WAIT, &shares);
	assert_int_equal(ticks_of(&shares, WORST_LOCK, WORST_NODES), 200);
	assert_int_equal(ticks_of(&shares, WORST_NO_HOLDER, WORST_NODES), 750);
}

/* Adds random events of a few threads, which may contradict each other. */
static void add_random(uint64_t *random, uint64_t stamp)
{
	const uint16_t id = (uint16_t)(SWITCH + random_below(random, BLOCK - SWITCH));
	const uint32_t cpu = (uint32_t)(random_below(random, 3)),
		       thread = (uint32_t)(random_below(random, 6));
	const uint64_t number =
		id == SWITCH || id == WAKE ? random_below(random, 6) : random_below(random, 2);
	struct ktread_event *event;

	if (id == SWITCH)
		event = script_event(id, stamp, cpu, thread, V(thread), number, V(random_below(random, 4)));
	else if (id == CONTEND || id == ACQUIRE)
		event = script_event(id, stamp, cpu, thread, number, "lock");
	else
		event = script_event(id, stamp, cpu, thread, number, V(0));
	event->lost = random_below(random, 40) == 0;
	if (random_below(random, 8) == 0)
		event->context = KTRX_CONTEXT_INTERRUPT;
}

static void shares_of_any_trace_add_up(void **state)
{
	struct worst_shares shares;
	uint64_t random = 1;

	for (unsigned round = 0; round < 40; round++) {
		begin(state);
		for (uint64_t n = 0; n < 300; n++)
			add_random(&random, 1000 + n * 10);
		for (unsigned kind = 0; kind < LATENCIES_KINDS; kind++)
			explain((enum latencies_kind)kind, &shares);
		end(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_call_is_divided_by_its_causes, begin, end),
		cmocka_unit_test_setup_teardown(
			a_run_queue_names_the_thread_on_the_cpu_where_the_thread_runs_next, begin, end),
		cmocka_unit_test_setup_teardown(a_wait_for_a_lock_is_divided_by_its_holder, begin, end),
		cmocka_unit_test_setup_teardown(after_lost_slots_the_holder_is_unknown, begin, end),
		cmocka_unit_test(shares_of_any_trace_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
