/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about a thread that spins and moves between CPUs. Other threads run on these CPUs as well,
 * so no CPU alone shows the whole spin.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define V(value) ((uint64_t)(value))

#define WORKER	5u
#define CLIENT	6u
#define KERNEL	UINT64_C(0x100000)
#define PROGRAM UINT64_C(0x10000001000)
#define LAST	(3945 * MS) /* end of the trace, at which the worker runs on CPU 1 */
#define TURN	(10 * MS)
/* turns repeat after this number: the worker runs on CPU 0, then on CPU 1, then on no CPU */
#define TURNS 3u

enum { CALL = 1, RETURN, SWITCH, ENTER, EXIT, TICK, BLOCK, WAKE };

static int begin(void **state)
{
	int error = why_setup(state);

	script_type(CALL, "syscall", "enter", "u32 nr");
	script_type(RETURN, "syscall", "exit", "u32 nr,i64 result");
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_type(ENTER, "irq", "enter", "u32 irq,u64 ip");
	script_type(EXIT, "irq", "exit", "u32 irq");
	script_type(TICK, "timer", "tick", "u32 number");
	script_thread(WORKER, "worker");
	script_info()->cpus = 2;
	script_info()->self = KERNEL;
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		why_cpu_row(cpu, KTRX_MODE_USER);
		script_cpu(cpu)->user_enters = script_cpu(cpu)->user_exits = 1000;
		script_cpu(cpu)->user_exits++;
		why_cpu_beats(cpu, 400, LAST);
	}
	return error;
}

static uint32_t runner(uint64_t turn, uint32_t cpu)
{
	return turn % TURNS == cpu ? WORKER : CLIENT + cpu;
}

/*
 * All interrupts of the worker interrupt it at the same place. The other threads make a system call each time
 * that they run. Events of interrupt handlers are recorded with the context `context`.
 */
static void take_turns(uint32_t context)
{
	uint32_t before[2] = { CLIENT, CLIENT + 1 };

	script_event(CALL, MS, 0, WORKER, V(1));
	script_event(RETURN, 2 * MS, 0, WORKER, V(1), V(0));
	for (uint64_t stamp = 5 * MS; stamp <= LAST; stamp += TURN)
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			const uint32_t thread = runner(stamp / TURN, cpu);

			if (thread != before[cpu])
				script_event(SWITCH, stamp - MS, cpu, before[cpu], V(before[cpu]), V(thread),
					     V(0));
			before[cpu] = thread;
			if (thread != WORKER) {
				script_event(CALL, stamp, cpu, thread, V(1));
				script_event(RETURN, stamp + MS / 2, cpu, thread, V(1), V(0));
			}
			script_event(ENTER, stamp + MS, cpu, thread, V(0),
				     thread == WORKER ? PROGRAM : PROGRAM + stamp / MS * 64)
				->context = context;
			script_event(TICK, stamp + MS + MS / 16, cpu, thread, V(0))->context = context;
			script_event(EXIT, stamp + MS + MS / 8, cpu, thread, V(0))->context = context;
			script_cpu(cpu)->thread = thread;
		}
}

static void spin_is_found_on_any_cpu(void **state)
{
	(void)state;
	take_turns(KTRX_CONTEXT_INTERRUPT);
	assert_int_equal(why_judge()->verdict, WHY_USER_SPIN);
	why_says("thread 5 (worker) spins in user mode");
}

/*
 * The port records the id of the thread, but no context. Even so, the events belong to the interrupt handler.
 */
static void events_of_interrupts_are_not_the_threads(void **state)
{
	(void)state;
	take_turns(KTRX_CONTEXT_THREAD);
	assert_int_equal(why_judge()->verdict, WHY_USER_SPIN);
	why_says("thread 5 (worker) spins in user mode");
}

/*
 * The end of an interrupt is not recorded. The next system call of the thread shows that the interrupt
 * handler has returned.
 */
static void call_ends_interrupt_without_recorded_end(void **state)
{
	(void)state;
	take_turns(KTRX_CONTEXT_THREAD);
	script_event(ENTER, LAST + MS, 0, WORKER, V(0), PROGRAM);
	script_event(CALL, LAST + 2 * MS, 0, WORKER, V(1));
	script_event(RETURN, LAST + 3 * MS, 0, WORKER, V(1), V(0));
	why_judge();
	assert_int_equal(why_count(WHY_USER_SPIN), 0);
}

/* The worker slept for 3 s before it began to spin. The sleep is not a part of the spin. */
static void spin_begins_after_the_sleep(void **state)
{
	const uint64_t woken = 3000 * MS;
	const struct why_finding *finding;

	(void)state;
	script_type(BLOCK, "sched", "block", "u64 queue,u32 thread,u8 kind");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_event(BLOCK, MS, 0, WORKER, V(0x5000), V(WORKER), V(KTRX_WAIT_TIME));
	script_event(SWITCH, 2 * MS, 0, WORKER, V(WORKER), V(CLIENT), V(1));
	script_event(CALL, 3 * MS, 0, CLIENT, V(1));
	script_event(RETURN, woken - MS, 0, CLIENT, V(1), V(0));
	script_event(WAKE, woken, 0, CLIENT, V(WORKER));
	script_event(SWITCH, woken + MS, 0, CLIENT, V(CLIENT), V(WORKER), V(0));
	for (uint64_t stamp = woken + TURN; stamp <= LAST; stamp += TURN) {
		script_event(ENTER, stamp, 0, WORKER, V(0), PROGRAM)->context = KTRX_CONTEXT_INTERRUPT;
		script_event(EXIT, stamp + MS / 8, 0, WORKER, V(0))->context = KTRX_CONTEXT_INTERRUPT;
	}
	script_cpu(0)->thread = WORKER;
	finding = why_judge();
	assert_int_equal(finding->verdict, WHY_USER_SPIN);
	assert_int_equal(finding->base.certain, FINDING_POSSIBLE);
	why_says("spins in user mode on CPU 0, for 945.0 ms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(spin_is_found_on_any_cpu, begin, why_teardown),
		cmocka_unit_test_setup_teardown(events_of_interrupts_are_not_the_threads, begin,
						why_teardown),
		cmocka_unit_test_setup_teardown(call_ends_interrupt_without_recorded_end, begin,
						why_teardown),
		cmocka_unit_test_setup_teardown(spin_begins_after_the_sleep, begin, why_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
