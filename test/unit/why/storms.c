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

/*
 * A healthy timer, or one whose period is too short: ticks on CPU 1 from 500 ms on, for `for_ms`. The ticks
 * interrupt the worker at places that are `step` bytes apart.
 */
static void ticks_of(uint64_t period, uint64_t for_ms, uint64_t step)
{
	why_ticks(10 * MS, 500 * MS + for_ms * MS, 0, IDLE0, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
	for (uint64_t n = 0; n * period < for_ms * MS; n++)
		why_tick(500 * MS + n * period, 1, WORKER, KERNEL + n % 64 * step);
}

static void ticks_of_usual_timers_are_no_storm(void **state)
{
	static const struct {
		uint64_t period, for_ms, step;
	} timer[] = {
		{ MS, 500, 0 },	     { MS, 500, 64 },	  { MS / 5, 300, 0 },
		{ MS / 5, 300, 64 }, { MS / 20, 200, 0 }, { MS / 20, 200, 64 },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(timer) / sizeof(timer[0]); n++) {
		why_teardown(NULL);
		why_cpus_begin(NULL);
		ticks_of(timer[n].period, timer[n].for_ms, timer[n].step);
		assert_int_equal(why_count(WHY_IRQ_STORM), 0);
	}
}

/*
 * The handler takes 200 ns of each microsecond, and entering and leaving it takes the rest. The CPU's ring
 * covers 3 ms of the storm, but the CPU's row counts all its interrupts.
 */
static void ticks_every_microsecond(uint64_t total)
{
	ticks_of(1000, 3, 64);
	script_ring(1)->overwritten = 1000000;
	script_cpu(1)->irqs = script_cpu(1)->heartbeats = total;
	script_event(OTHER, 503 * MS, 0, IDLE0);
	script_event(OTHER, 1500 * MS, 0, IDLE0);
	for (unsigned n = 0; n < script_count(); n++) {
		struct ktread_event *event = script_change(n);

		if (event->cpu == 1)
			event->stamp += 1000 * MS;
	}
	script_cpu(1)->heartbeat_stamp = 1503 * MS;
	script_sort();
}

static void ticks_every_microsecond_are_a_storm(void **state)
{
	(void)state;
	ticks_every_microsecond(400000);
	assert_int_equal(why_judge()->verdict, WHY_IRQ_STORM);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
}

/* The CPU's row shows that such ticks are rare: the host did not run the machine for a while. */
static void ticks_every_microsecond_for_a_moment_are_no_storm(void **state)
{
	(void)state;
	ticks_every_microsecond(4000);
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
}

/*
 * A burst of 600 packets, each of them an interrupt. The rings contain the last second or less, but the machine
 * has worked for long, so the CPU has taken many interrupts before.
 */
static void burst_after_a_long_time_is_no_storm(void **state)
{
	const uint64_t begin = 100000 * MS;

	(void)state;
	why_ticks(begin - 1200 * MS, begin + 20 * MS, 0, IDLE0, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1)->state_stamp = begin - 1100 * MS;
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
	script_ring(0)->overwritten = script_ring(1)->overwritten = 1000000;
	for (uint64_t n = 0; n < 600; n++) {
		script_event(ENTER, begin + 20000 * n, 1, WORKER, V(DEVICE), "net", V(KERNEL + n % 64 * 64))
			->context = KTRX_CONTEXT_INTERRUPT;
		inside(EXIT, begin + 20000 * n + 8000, DEVICE);
	}
	script_cpu(1)->now = script_cpu(1)->irq_stamp = begin + 12 * MS;
	script_cpu(1)->heartbeat_stamp = begin - MS;
	script_cpu(1)->heartbeats = 100000;
	script_cpu(1)->irqs = 200000;
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
}

/* A clock of 100 kHz shows the intervals between the ticks, although it counts no single microseconds. */
static void storm_is_found_with_a_slow_clock(void **state)
{
	(void)state;
	script_info()->frequency = 100000;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
	script_event(OTHER, 1000, 0, IDLE0);
	for (uint64_t n = 0; n < 4000; n++) {
		script_event(ENTER, 1000 + 2 * n, 1, WORKER, V(TIMER), "timer", V(KERNEL))->context =
			KTRX_CONTEXT_INTERRUPT;
		inside(EXIT, 1000 + 2 * n, TIMER);
	}
	script_event(OTHER, 9000, 0, IDLE0);
	script_cpu(1)->irqs = script_cpu(1)->heartbeats = 4000;
	script_cpu(1)->now = script_cpu(1)->irq_stamp = script_cpu(1)->heartbeat_stamp = 8998;
	assert_int_equal(why_judge()->verdict, WHY_IRQ_STORM);
}

/* A network card interrupts the worker, which makes progress: its handlers take a small part of the time. */
static void busy_network_card_is_no_storm(void **state)
{
	(void)state;
	why_ticks(10 * MS, 620 * MS, 0, IDLE0, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	for (uint64_t n = 0; n < 4000; n++) {
		if (n % 350 == 0)
			why_tick(500 * MS + n * 28571 + 5000, 1, WORKER, KERNEL + n % 64 * 64);
		why_interrupt(500 * MS + n * 28571, 1, WORKER, DEVICE, KERNEL + n % 64 * 64, EARLY);
	}
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
}

/*
 * A timer whose handler only sets the timer again. Both CPUs idle, and record an event between two ticks,
 * which an emulator delivers late. A thread's sleep is over for `late_ms`.
 */
static void ticks_in_vain(uint64_t period, uint64_t late_ms)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 80 * MS);
	sleeper->deadline = 100 * MS;
	why_tick(50 * MS, 0, IDLE0, KERNEL);
	why_tick(60 * MS, 1, IDLE1, KERNEL);
	for (uint64_t n = 0; n < 2500; n++) {
		why_tick(100 * MS + late_ms * MS + n * period, 1, IDLE1, 0);
		for (uint64_t k = 1; k <= 2; k++)
			script_event(OTHER, 100 * MS + late_ms * MS + n * period + 1000 * k, 1, IDLE1);
	}
	why_tick(100 * MS + late_ms * MS + 2500 * period, 0, IDLE0, KERNEL);
}

static void fast_ticks_that_end_no_sleep_are_a_storm(void **state)
{
	(void)state;
	ticks_in_vain(45000, 5000);
	assert_int_equal(why_judge()->verdict, WHY_IRQ_STORM);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says(
		"interrupt 0 (timer), which counts as a heartbeat, comes every 45.0 us on CPU 1 and ends no sleep");
	why_says("1 thread sleeps far longer than requested, and the trace shows no timed sleep");
}

/* A timer of 12.5 kHz may be meant. */
static void usual_ticks_that_end_no_sleep_are_possibly_a_storm(void **state)
{
	(void)state;
	ticks_in_vain(80000, 5000);
	assert_int_equal(why_judge()->verdict, WHY_OVERDUE);
	assert_int_equal(why_count(WHY_IRQ_STORM), 1);
	why_says("irq-storm (possible)");
}

static void slow_ticks_that_end_no_sleep_are_no_storm(void **state)
{
	(void)state;
	ticks_in_vain(MS, 5000);
	assert_int_equal(why_judge()->verdict, WHY_OVERDUE);
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
}

/* A tick every 2 ms, and with each of them a second one: a mean over short intervals only would be wrong. */
static void pairs_of_slow_ticks_are_no_storm(void **state)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

	(void)state;
	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 80 * MS);
	sleeper->deadline = 100 * MS;
	for (uint64_t n = 0; n < 1500; n++) {
		why_tick(1000 * MS + 2 * n * MS, 1, IDLE1, 0);
		why_tick(1000 * MS + 2 * n * MS + 80000, 1, IDLE1, 0);
	}
	why_tick(4000 * MS, 0, IDLE0, KERNEL);
	assert_int_equal(why_judge()->verdict, WHY_OVERDUE);
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
}

/* One sleep is late, but another thread's sleep ended in time. */
static void fast_ticks_that_end_another_sleep_are_no_storm(void **state)
{
	struct ktrx_holder *other = why_thread_row(CLIENT, "client", KTRX_THREAD_WAITING, 1);

	(void)state;
	script_type(FAULT + 1, "sched", "block", "u64 queue,u32 thread,u8 kind");
	script_type(FAULT + 2, "sched", "wake", "u32 thread");
	ticks_in_vain(45000, 5000);
	script_event(FAULT + 1, 5120 * MS, 1, IDLE1, V(0), V(CLIENT), V(KTRX_WAIT_TIME));
	script_event(FAULT + 2, 5130 * MS, 1, IDLE1, V(CLIENT));
	script_event(FAULT + 1, 5131 * MS, 1, IDLE1, V(0), V(CLIENT), V(KTRX_WAIT_TIME));
	script_sort();
	why_waits(other, KTRX_WAIT_TIME, 0, "", 5131 * MS);
	other->deadline = 9000 * MS;
	assert_int_equal(why_judge()->verdict, WHY_OVERDUE);
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
}

/* The sleep ended only a moment ago. */
static void fast_ticks_without_late_sleep_are_no_storm(void **state)
{
	(void)state;
	ticks_in_vain(45000, 10);
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
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

/*
 * A network card interrupts a thread each 5 ms, for `before` packets, and then for `count` packets, one after the
 * other: its line stays active while there are packets. Ticks come each 10 ms.
 */
static void packets_at_one_place(uint32_t before, uint32_t count)
{
	const uint64_t begin = 10001 * MS, end = begin + count * 40000;

	why_ticks(begin - 50 * MS, end, 0, IDLE0, KERNEL);
	why_ticks(10000 * MS - before * 5 * MS, end, 1, WORKER, KERNEL);
	why_cpu_row(1, KTRX_MODE_KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	for (uint64_t n = 1; n <= before; n++)
		why_interrupt(begin + 2 * MS - n * 5 * MS, 1, WORKER, DEVICE, KERNEL, EARLY);
	for (uint64_t n = 0; n < count; n++)
		why_interrupt(begin + n * 40000, 1, WORKER, DEVICE, KERNEL, EARLY);
	script_sort();
}

static void burst_of_packets_at_one_place_is_no_storm(void **state)
{
	(void)state;
	packets_at_one_place(200, 100);
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
}

/* The line never becomes inactive. */
static void packets_without_end_are_a_storm(void **state)
{
	(void)state;
	packets_at_one_place(200, 940);
	assert_int_equal(why_judge()->verdict, WHY_IRQ_STORM);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
}

/* The card has worked for long, so the storm is a small part of its interrupts. */
static void storm_after_a_long_time_is_found(void **state)
{
	(void)state;
	packets_at_one_place(1000, 2700);
	assert_int_equal(why_judge()->verdict, WHY_IRQ_STORM);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
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
		TEST(burst_of_packets_at_one_place_is_no_storm),
		TEST(packets_without_end_are_a_storm),
		TEST(storm_after_a_long_time_is_found),
		TEST(ticks_at_two_instructions_are_only_possibly_a_storm),
		TEST(ticks_of_usual_timers_are_no_storm),
		TEST(ticks_every_microsecond_are_a_storm),
		TEST(ticks_every_microsecond_for_a_moment_are_no_storm),
		TEST(burst_after_a_long_time_is_no_storm),
		TEST(storm_is_found_with_a_slow_clock),
		TEST(busy_network_card_is_no_storm),
		TEST(fast_ticks_that_end_no_sleep_are_a_storm),
		TEST(usual_ticks_that_end_no_sleep_are_possibly_a_storm),
		TEST(slow_ticks_that_end_no_sleep_are_no_storm),
		TEST(pairs_of_slow_ticks_are_no_storm),
		TEST(fast_ticks_that_end_another_sleep_are_no_storm),
		TEST(fast_ticks_without_late_sleep_are_no_storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
