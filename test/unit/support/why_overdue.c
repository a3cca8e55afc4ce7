/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/why_overdue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_support.h"

int why_overdue_begin(void **state)
{
	int error = why_setup(state);

	script_type(OTHER, "mine", "other", "");
	script_type(BLOCK, "sched", "block", "u64 queue,u32 thread,u8 kind");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(NOBODY, "sched", "wake_nobody", "u64 queue,u64 ip");
	script_type(ENTER, "irq", "enter", "u32 irq");
	script_type(EXIT, "irq", "exit", "u32 irq");
	script_thread(IDLE, "idle");
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		why_cpu_row(cpu, KTRX_MODE_IDLE);
		why_cpu_beats(cpu, 1000, END_MS * MS);
		script_cpu(cpu)->thread = IDLE;
		script_event(OTHER, MS, cpu, IDLE);
		script_event(OTHER, END_MS * MS, cpu, IDLE);
	}
	return error;
}

struct ktrx_holder *why_sleeps(uint32_t thread, const char *name, uint8_t kind, uint64_t since_ms)
{
	struct ktrx_holder *row = why_thread_row(thread, name, KTRX_THREAD_WAITING, 0);

	why_waits(row, kind, QUEUE, "queue", since_ms * MS);
	script_event(BLOCK, since_ms * MS, 0, IDLE, V(QUEUE), V(thread), V(kind));
	return row;
}

void why_turn(uint32_t waker, uint8_t kind, uint64_t from_us, uint64_t to_us)
{
	script_event(BLOCK, from_us * 1000, 0, IDLE, V(QUEUE), V(SLEEPER), V(kind));
	if (waker) {
		script_event(WAKE, to_us * 1000, 1, waker, V(SLEEPER));
		script_event(OTHER, to_us * 1000 + 100, 1, IDLE);
		return;
	}
	script_event(ENTER, to_us * 1000 - 200, 1, IDLE, V(IRQ))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(WAKE, to_us * 1000, 1, IDLE, V(SLEEPER))->context = KTRX_CONTEXT_INTERRUPT;
	script_event(EXIT, to_us * 1000 + 200, 1, IDLE, V(IRQ))->context = KTRX_CONTEXT_INTERRUPT;
}

uint64_t why_turns(uint32_t waker, uint8_t kind, uint32_t count, uint64_t every_us)
{
	for (uint32_t n = 1; n <= count; n++)
		why_turn(waker, kind, 100000 + (n - 1) * every_us + every_us / 10, 100000 + n * every_us);
	return 100 + count * every_us / 1000;
}

void why_irq_goes_on(uint64_t from_ms)
{
	for (uint64_t ms = from_ms; ms < END_MS; ms += 50) {
		script_event(ENTER, ms * MS, 1, IDLE, V(IRQ))->context = KTRX_CONTEXT_INTERRUPT;
		script_event(EXIT, ms * MS + 200, 1, IDLE, V(IRQ))->context = KTRX_CONTEXT_INTERRUPT;
	}
}

struct ktrx_holder *why_waker_lives(void)
{
	struct ktrx_holder *row = why_thread_row(WAKER, "waker", KTRX_THREAD_WAITING, 1);

	why_waits(row, KTRX_WAIT_TIME, 0, "", (END_MS - 5) * MS);
	row->deadline = (END_MS + 5) * MS;
	script_event(OTHER, (END_MS - 6) * MS, 1, WAKER);
	script_event(OTHER, (END_MS - 6) * MS + 100, 1, IDLE);
	return row;
}

void why_others_are_busy(void)
{
	why_thread_row(OTHER_ONE, "cruncher", KTRX_THREAD_RUNNING, 1)->state_stamp = (END_MS - 1500) * MS;
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
	script_cpu(1)->thread = OTHER_ONE;
	for (uint64_t ms = END_MS - 1500; ms <= END_MS; ms += 100)
		script_event(OTHER, ms * MS + 100, 1, OTHER_ONE);
}

void why_is_overdue(enum finding_certainty certain)
{
	assert_int_equal(why_count(WHY_OVERDUE), 1);
	if (certain == FINDING_POSSIBLE) {
		assert_int_equal(why_judge()->verdict, WHY_IDLE);
		assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
		why_says("not certain because of: overdue (possible), see below");
	} else {
		assert_int_equal(why_judge()->verdict, WHY_OVERDUE);
		assert_int_equal(why_judge()->base.certain, certain);
	}
}

void why_is_idle(enum finding_certainty certain)
{
	assert_int_equal(why_count(WHY_OVERDUE), 0);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, certain);
}
