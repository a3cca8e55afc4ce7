/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about interrupt storms whose handlers record other events, and about storms of timer ticks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_cpus.h"
#include "unit/support/why_support.h"

#define UART  57u
#define OUTER 8u
#define EVERY 48000u /* ticks between two interrupts of a storm */

static struct ktread_event *inside(uint32_t type, uint64_t stamp, uint64_t value)
{
	struct ktread_event *event = script_event(type, stamp, 1, WORKER, value, "", V(0));

	event->context = KTRX_CONTEXT_INTERRUPT;
	return event;
}

/*
 * An interrupt of a second interrupt controller: its handler is called in that of the first controller. `with`:
 * whether a thread records an event after each of them.
 */
static void cascades(uint32_t count, int with)
{
	uint64_t at = 1000 * MS;

	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 1000 * MS, 1, WORKER, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	for (uint32_t n = 0; n < count; n++, at += EVERY) {
		inside(ENTER, at, OUTER);
		inside(ENTER, at + 5000, UART);
		inside(ACQUIRE, at + 10000, 0x1000);
		inside(OTHER, at + 15000, 0);
		inside(EXIT, at + 20000, UART);
		inside(EXIT, at + 25000, OUTER);
		if (with)
			script_event(OTHER, at + 26000, 1, WORKER);
	}
	why_tick(at, 0, IDLE0, KERNEL);
	why_tick(at, 1, WORKER, KERNEL + 64);
	script_cpu(1)->irqs += 2 * count;
}

static void storm_of_second_controller_is_found(void **state)
{
	(void)state;
	cascades(2200, 0);
	assert_int_equal(why_judge()->verdict, WHY_IRQ_STORM);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("interrupt 8 comes again and again on CPU 1, which does nothing else");
	why_says("interrupt 57 came inside nearly all of them");
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
}

static void frequent_interrupts_of_a_thread_that_works_are_no_storm(void **state)
{
	(void)state;
	cascades(2200, 1);
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
}

/*
 * A thread computes, and records nothing. Each ms, a device has some packets, and each packet is an interrupt.
 * The handlers process them, so they record events, but the thread has most of the time.
 */
static void short_bursts_leave_a_thread_most_of_the_time(void **state)
{
	(void)state;
	why_ticks(10 * MS, 1150 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 1000 * MS, 1, WORKER, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	for (uint32_t n = 0; n < 600; n++) {
		const uint64_t at = 1000 * MS + n / 4 * MS + n % 4 * 10000;

		inside(ENTER, at, DEVICE);
		inside(ACQUIRE, at + 1000, 0x1000);
		inside(OTHER, at + 2000, 0);
		inside(EXIT, at + 4000, DEVICE);
	}
	why_tick(1150 * MS, 1, WORKER, KERNEL + 64);
	script_cpu(1)->irqs += 600;
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
}

/*
 * The timer's interrupt is not cleared. irq.enter does not record what it interrupts, but the heartbeats do.
 * `step`: distance of the two instructions that the ticks interrupt in turn.
 */
static void ticks(uint32_t count, uint64_t step)
{
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	for (uint64_t n = 0; n < count; n++) {
		why_tick(1000 * MS + n * EVERY, 1, WORKER, 0);
		script_change(script_count() - 1)->stamp += EVERY / 2; /* the return of the handler */
		script_event(OTHER, 1000 * MS + n * EVERY + 200, 1, WORKER)->context = KTRX_CONTEXT_INTERRUPT;
	}
	for (uint64_t n = 0; n < KTRX_SAMPLES; n++)
		script_cpu(1)->sample[n] = KERNEL + n % 2 * step;
	why_tick(1000 * MS + count * EVERY, 0, IDLE0, KERNEL);
}

static void ticks_at_one_instruction_are_a_storm(void **state)
{
	(void)state;
	ticks(3900, 0);
	assert_int_equal(why_judge()->verdict, WHY_IRQ_STORM);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
	why_says("the last 8 heartbeats found thread 5 (worker) at the same instruction");
}

static void ticks_at_two_instructions_are_only_possibly_a_storm(void **state)
{
	(void)state;
	ticks(3900, 4);
	assert_int_equal(why_count(WHY_IRQ_STORM), 1);
	assert_int_not_equal(why_judge()->verdict, WHY_IRQ_STORM);
	why_says("which counts as a heartbeat, comes every 48.0 us on CPU 1");
}

/*
 * A host that was busy did not let the machine run for long. The kernel then handles all ticks that it missed,
 * one after the other.
 */
static void ticks_that_were_missed_are_no_storm(void **state)
{
	(void)state;
	why_ticks(10 * MS, 2000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 1000 * MS, 1, WORKER, 0);
	why_cpu_row(1, KTRX_MODE_KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	script_event(OTHER, 1000 * MS + 5000, 1, WORKER);
	for (uint64_t n = 0; n < 700; n++)
		why_tick(2000 * MS + n * 6000, 1, WORKER, 0);
	for (uint64_t n = 0; n < KTRX_SAMPLES; n++)
		script_cpu(1)->sample[n] = KERNEL;
	why_tick(2005 * MS, 0, IDLE0, KERNEL);
	assert_int_not_equal(why_judge()->verdict, WHY_IRQ_STORM);
}

/* Ticks interrupt the thread at one place, as irq.enter shows: each 10 ms until `until`, and then at once. */
static void ticks_at_one_place(uint64_t until)
{
	why_ticks(10 * MS, 2000 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, until, 1, WORKER, KERNEL);
	why_cpu_row(1, KTRX_MODE_KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	for (uint64_t n = 0; n < 700; n++)
		why_tick(2000 * MS + n * 6000, 1, WORKER, KERNEL);
	why_tick(2005 * MS, 0, IDLE0, KERNEL);
}

static void missed_ticks_at_one_place_are_no_storm(void **state)
{
	(void)state;
	ticks_at_one_place(1000 * MS);
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
}

/* The trace shows nothing that came before these ticks, so they may have come for long. */
static void ticks_that_fill_the_ring_are_a_storm(void **state)
{
	(void)state;
	ticks_at_one_place(0);
	assert_int_equal(why_judge()->verdict, WHY_IRQ_STORM);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, why_cpus_begin, why_teardown)
	const struct CMUnitTest tests[] = {
		TEST(storm_of_second_controller_is_found),
		TEST(frequent_interrupts_of_a_thread_that_works_are_no_storm),
		TEST(short_bursts_leave_a_thread_most_of_the_time),
		TEST(ticks_at_one_instruction_are_a_storm),
		TEST(ticks_that_were_missed_are_no_storm),
		TEST(missed_ticks_at_one_place_are_no_storm),
		TEST(ticks_that_fill_the_ring_are_a_storm),
		TEST(ticks_at_two_instructions_are_only_possibly_a_storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
