/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests findings about a thread that waits on a queue whose other users have ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/support/script.h"
#include "unit/support/why_overdue.h"
#include "unit/support/why_support.h"

enum { ENDED = SWITCH + 1 };

#define PRODUCER WAKER
#define CONSUMER OTHER_ONE
#define TURNS	 20u

static int begin(void **state)
{
	int error = why_overdue_begin(state);

	script_type(ENDED, "sched", "exit", "u32 thread");
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	return error;
}

/* The consumer sleeps on the queue, and `waker` wakes it, TURNS times. */
static void consume(uint32_t waker)
{
	for (uint64_t n = 1; n <= TURNS; n++) {
		script_event(BLOCK, n * 20 * MS, 0, CONSUMER, V(QUEUE), V(CONSUMER), V(KTRX_WAIT_EVENT));
		script_event(OTHER, n * 20 * MS + 100, 0, IDLE);
		script_event(WAKE, (n * 20 + 10) * MS, 1, waker, V(CONSUMER));
		script_event(OTHER, (n * 20 + 10) * MS + 100, 1, IDLE);
	}
}

static void end(uint32_t thread)
{
	script_event(ENDED, 500 * MS, 0, thread, V(thread));
	script_event(SWITCH, 500 * MS + 100, 0, thread, V(thread), V(IDLE), V(1));
}

static void producer_without_consumer_is_possibly_overdue(void **state)
{
	(void)state;
	consume(PRODUCER);
	end(CONSUMER);
	why_sleeps(PRODUCER, "producer", KTRX_WAIT_EVENT, 600);
	why_is_overdue(FINDING_POSSIBLE);
	why_says("thread 6 (producer) has waited 11.40 s on queue (0x1000)");
	why_says("all other threads that slept there in this trace have ended");
	why_says("thread 8, which slept there 20 times before, has ended");
	why_says("thread 6 (producer) used to wake sleepers there: it did so 20 times");
}

static void producer_whose_consumer_lives_is_healthy(void **state)
{
	(void)state;
	consume(PRODUCER);
	why_waits(why_thread_row(CONSUMER, "consumer", KTRX_THREAD_WAITING, 0), KTRX_WAIT_EVENT, 0x4000,
		  "input", 500 * MS);
	why_sleeps(PRODUCER, "producer", KTRX_WAIT_EVENT, 600);
	why_is_idle(FINDING_LIKELY);
}

/* In the lost slots, the thread itself or another thread may have slept on the queue. */
static void lost_slots_hide_other_partners(void **state)
{
	(void)state;
	consume(PRODUCER);
	script_event(OTHER, 450 * MS, 0, IDLE)->lost = 5;
	end(CONSUMER);
	why_sleeps(PRODUCER, "producer", KTRX_WAIT_EVENT, 600);
	assert_int_equal(why_count(WHY_OVERDUE), 0);
}

/* A server waits for requests, and its clients have ended: this is normal. */
static void server_whose_clients_ended_is_healthy(void **state)
{
	(void)state;
	consume(PRODUCER);
	end(PRODUCER);
	why_sleeps(CONSUMER, "server", KTRX_WAIT_EVENT, 600);
	why_is_idle(FINDING_LIKELY);
}

/* The thread has slept on the queue before, and may be woken again by a new partner. */
static void thread_that_slept_there_before_is_healthy(void **state)
{
	(void)state;
	script_event(BLOCK, 2 * MS, 1, PRODUCER, V(QUEUE), V(PRODUCER), V(KTRX_WAIT_EVENT));
	script_event(OTHER, 3 * MS, 1, IDLE);
	consume(PRODUCER);
	end(CONSUMER);
	why_sleeps(PRODUCER, "producer", KTRX_WAIT_EVENT, 600);
	why_is_idle(FINDING_LIKELY);
}

/* Another thread has woken sleepers of the queue, too, and may do so again. */
static void another_waker_may_wake_the_thread(void **state)
{
	(void)state;
	consume(PRODUCER);
	script_event(BLOCK, 450 * MS, 0, CONSUMER, V(QUEUE), V(CONSUMER), V(KTRX_WAIT_EVENT));
	script_event(WAKE, 451 * MS, 1, SLEEPER, V(CONSUMER));
	script_event(OTHER, 452 * MS, 1, IDLE);
	end(CONSUMER);
	why_sleeps(PRODUCER, "producer", KTRX_WAIT_EVENT, 600);
	why_is_idle(FINDING_LIKELY);
}

static void short_wait_for_ended_partner_is_healthy(void **state)
{
	(void)state;
	consume(PRODUCER);
	end(CONSUMER);
	why_sleeps(PRODUCER, "producer", KTRX_WAIT_EVENT, END_MS - 4000);
	why_is_idle(FINDING_LIKELY);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(producer_without_consumer_is_possibly_overdue),
		TEST(producer_whose_consumer_lives_is_healthy),
		TEST(lost_slots_hide_other_partners),
		TEST(server_whose_clients_ended_is_healthy),
		TEST(thread_that_slept_there_before_is_healthy),
		TEST(another_waker_may_wake_the_thread),
		TEST(short_wait_for_ended_partner_is_healthy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
