/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the verdicts "idle" and "busy". They are less certain if data that could contradict them were lost or
 * not recorded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define V(value) ((uint64_t)(value))

#define IDLE	1u
#define WORKER	5u
#define RESTS	6u
#define QUEUE	0x1000u
#define LOCK	0x2000u
#define THE_END (5000 * MS)

enum { OTHER = 1, SWITCH };

static int begin(void **state)
{
	int error = why_setup(state);

	script_type(OTHER, "mine", "other", "");
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_thread(IDLE, "idle");
	return error;
}

/*
 * Adds a CPU with its last heartbeat at `beat`, or without heartbeats if `beat` is 0. The CPU records events
 * from 1 ms to the end.
 */
static struct ktrx_holder *cpu_in(uint32_t cpu, uint8_t mode, uint64_t beat)
{
	struct ktrx_holder *holder = why_cpu_row(cpu, mode);
	const uint32_t thread = mode == KTRX_MODE_IDLE ? IDLE : WORKER;

	script_cpu(cpu)->heartbeats = beat ? 100 : 0;
	script_cpu(cpu)->heartbeat_stamp = beat;
	script_cpu(cpu)->now = THE_END;
	script_cpu(cpu)->thread = thread;
	script_event(OTHER, MS, cpu, thread);
	script_event(OTHER, THE_END, cpu, thread);
	return holder;
}

static void works(uint32_t cpu)
{
	cpu_in(cpu, KTRX_MODE_KERNEL, THE_END);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, cpu);
	script_event(SWITCH, 2 * MS, cpu, IDLE, V(IDLE), V(WORKER), V(0));
}

static void sleeps_since(uint64_t since)
{
	struct ktrx_holder *holder = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0);

	why_waits(holder, KTRX_WAIT_EVENT, QUEUE, "jobs", since);
}

static void lose_before(uint64_t stamp, uint32_t cpu)
{
	script_event(OTHER, stamp, cpu, IDLE)->lost = 1000;
}

static void is_idle(enum finding_certainty certain, bool partial)
{
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, certain);
	assert_int_equal(why_judge()->base.partial, partial);
}

static void idle_is_certain_with_all_data(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	is_idle(FINDING_CERTAIN, false);
}

/* A thread that runs may still make no progress. */
static void running_thread_without_events_computes_or_spins(void **state)
{
	(void)state;
	why_cpu_row(0, KTRX_MODE_KERNEL);
	script_cpu(0)->heartbeats = 100;
	script_cpu(0)->heartbeat_stamp = script_cpu(0)->now = THE_END;
	script_cpu(0)->thread = WORKER;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	script_event(SWITCH, MS, 0, IDLE, V(IDLE), V(WORKER), V(0));
	script_event(OTHER, 1000 * MS, 0, WORKER);
	script_event(OTHER, THE_END, 0, WORKER)->context = KTRX_CONTEXT_INTERRUPT;
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	why_says("thread 5 (worker) has recorded no event of its own for 4.00 s: it computes or spins");
}

/* A thread that missed its wakeup sleeps forever, also if the rest of the machine is busy. */
static void busy_machine_lists_waits_that_may_last_forever(void **state)
{
	static const struct {
		uint64_t since;
		uint32_t kind;
		bool listed;
	} cases[] = {
		{ 500 * MS, KTRX_WAIT_EVENT, true },
		{ THE_END - 50 * MS, KTRX_WAIT_EVENT, false },
		{ 500 * MS, KTRX_WAIT_TIME, false },
	};

	for (size_t n = 0; n < 2 * sizeof(cases) / sizeof(cases[0]); n++) {
		const bool timeouts = n >= 3;

		why_teardown(state);
		begin(state);
		works(0);
		why_waits(why_thread_row(WORKER + 1, "client", KTRX_THREAD_WAITING, 0), cases[n % 3].kind,
			  QUEUE, "jobs", cases[n % 3].since);
		if (timeouts)
			why_waits(why_thread_row(WORKER + 2, "timed", KTRX_THREAD_WAITING, 0), KTRX_WAIT_TIME,
				  0, "", THE_END - 50 * MS);
		assert_int_equal(why_judge()->verdict, WHY_BUSY);
		assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
		if (cases[n % 3].listed) {
			why_says(
				timeouts
					? "threads that wait without a timeout, perhaps forever: thread 6"
					: "threads that wait without a timeout (as far as is known): thread 6");
			why_says("no such wait has ended in this trace");
			why_says("to be more certain:");
		} else {
			assert_null(strstr(why_text(), "wait without a timeout"));
		}
	}
}

static void running_thread_with_events_is_not_named(void **state)
{
	(void)state;
	works(0);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_null(strstr(why_text(), "no event of its own"));
}

static void wait_without_object_is_listed(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	why_waits(why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0), KTRX_WAIT_EVENT, 0, "", MS);
	why_says("waited 5.00 s");
}

/*
 * There are more running threads than CPUs, for example because the kernel has swapped prev and next of
 * switches.
 */
static void more_running_threads_than_cpus_is_not_certain(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	why_thread_row(RESTS, "rests", KTRX_THREAD_RUNNING, 0);
	is_idle(FINDING_LIKELY, false);
	why_says("according to the hooks, 2 threads run on 1 CPU: ktrace doctor shows which hook is wrong");
}

/*
 * The kernel has overwritten parts of the trace's memory, so no other part can be trusted. Here the row of
 * CPU 0 contains CPU 12345, which does not exist.
 */
static void overwritten_trace_memory_has_no_verdict(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_KERNEL, THE_END);
	script_cpu(0)->ipi_cpu = 12346;
	script_info()->rings = 3;
	script_info()->unusable = 2;
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	assert_non_null(strstr(why_judge()->base.what,
			       "the trace's memory was overwritten: the descriptions of 2 of 3"));
}

/* Nothing shows that the thread will be woken. It may wait for something that has already happened. */
static void sleep_without_earlier_wakeups_is_only_likely(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	sleeps_since(10 * MS);
	is_idle(FINDING_LIKELY, false);
	why_says("threads that wait without a timeout (as far as is known):");
	why_says("thread 5 (worker) has waited 4.99 s on jobs (0x1000)");
}

/*
 * The rings no longer contain events from before the thread went to sleep, so events about its earlier
 * wakeups are lost.
 */
static void sleep_older_than_rings_is_partial(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	sleeps_since(10 * MS);
	lose_before(20 * MS, 0);
	is_idle(FINDING_LIKELY, true);
	why_says("rings with more slots");
}

static void rings_shorter_than_window_are_partial(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	lose_before(4700 * MS, 0);
	is_idle(FINDING_LIKELY, true);
	why_says("of the recorded part of the last 1.00 s (the shortest ring: 300.0 ms)");
}

static void uncalled_hooks_are_advised(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	script_cpu(0)->hooks &= ~(KTRX_HOOK_LOCK | KTRX_HOOK_THREAD);
	is_idle(FINDING_LIKELY, true);
	why_says("hooks for locks, threads");
}

static void disabled_state_is_advised(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	script_cpu(0)->hooks &= ~(KTRX_HOOK_LOCK | KTRX_HOOK_THREAD);
	script_setting("debug.ktr.state", 0);
	is_idle(FINDING_LIKELY, true);
	why_says("boot without debug.ktr.state=0");
}

/*
 * CPU 1 is in idle mode and has its last heartbeat at `beat`, but its ring was filled within the last
 * millisecond.
 */
static void restless(uint64_t beat)
{
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	cpu_in(1, KTRX_MODE_IDLE, beat);
	lose_before(THE_END - MS, 1);
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
}

static void idle_cpu_with_overflowing_ring_is_unknown(void **state)
{
	(void)state;
	restless(400 * MS);
}

static void idle_cpu_without_heartbeat_and_overflowing_ring_is_unknown(void **state)
{
	(void)state;
	restless(0);
}

static void busy_from_tiny_part_of_window_is_only_possible(void **state)
{
	(void)state;
	works(0);
	lose_before(THE_END - MS, 0);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	assert_true(why_judge()->base.partial);
	assert_int_equal(why_judge()->base.mark, FINDING_NOTE);
}

/*
 * The note that the host adds to the trace may state how long the guest was silent. This time is used only if
 * it is a valid time that fits into a timestamp.
 */
static void invalid_silence_in_note_is_ignored(void **state)
{
	(void)state;
	script_info()->note = "silent: soon\n0\n";
	assert_false(why_evidence_of_script()->made_progress);
}

static void silence_beyond_clock_range_is_ignored(void **state)
{
	(void)state;
	script_event(OTHER, MS, 0, 0);
	script_info()->frequency = UINT64_C(1) << 62;
	script_info()->note = "silent: 3 s\n";
	assert_int_equal(why_evidence_of_script()->end, MS);
}

/* ---- Idle machines that may have stopped --------------------------------------------------------- */

static void idles(void)
{
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	script_info()->form = KTREAD_FORM_RAM;
}

static void idle_machine_that_recorded_something_is_certain(void **state)
{
	(void)state;
	idles();
	script_info()->note = "silent: 0.0 s\n";
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
}

/* The machine recorded nothing while its RAM file was watched. It may have stopped before. */
static void idle_machine_that_recorded_nothing_is_likely(void **state)
{
	(void)state;
	idles();
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says(
		"run ktrace why again, with --qmp if possible: the machine recorded nothing while its memory "
		"was watched, so it may have stopped");
}

/* The kernel ended, so another trace cannot be taken from the machine. */
static void kept_ram_file_of_ended_kernel_gets_no_advice(void **state)
{
	(void)state;
	idles();
	script_info()->outcome = KTRX_OUTCOME_EXITED;
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	assert_null(strstr(why_text(), "--qmp"));
}

/* It is unknown how long the threads have waited. */
static void idle_machine_with_unknown_frequency_is_likely(void **state)
{
	(void)state;
	idles();
	script_info()->note = "silent: 0.0 s\n";
	script_info()->frequency = 0;
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("pass --frequency");
}

/* Whether a wait is too long, and whether a CPU has stopped, is decided by the clock. */
static void sleep_of_unknown_length_leaves_open_whether_the_machine_idles(void **state)
{
	(void)state;
	idles();
	sleeps_since(10 * MS);
	script_info()->frequency = 0;
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	assert_int_equal(why_judge()->base.mark, FINDING_NOTE);
	why_says("pass --frequency");
}

static void machine_with_unknown_frequency_is_only_possibly_busy(void **state)
{
	(void)state;
	works(0);
	script_info()->frequency = 0;
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_judge()->base.certain, FINDING_POSSIBLE);
	assert_int_equal(why_judge()->base.mark, FINDING_NOTE);
	why_says("pass --frequency, because it is unknown for how long a CPU has had no heartbeat");
}

/* Nothing was recorded for 1.5 s. It is unknown whether this kernel's timer ticks when the machine idles. */
static void silence_with_unknown_frequency_leaves_open_whether_the_machine_idles(void **state)
{
	(void)state;
	idles();
	script_info()->note = "silent: 1.5 s or more\n";
	script_info()->frequency = 0;
	script_info()->form = KTREAD_FORM_RAM;
	script_info()->outcome = KTRX_OUTCOME_RUNNING;
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.mark, FINDING_NOTE);
	why_says("it is unknown how often its timer used to tick");
}

/* The machine worked until the last event. Nothing is known about the long time without events after it. */
static void silent_machine_is_not_busy(void **state)
{
	(void)state;
	works(0);
	script_info()->note = "silent: 1.0 s or more\n";
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("the machine has stopped, or is paused: no CPU has recorded an event or a heartbeat for "
		 "1.00 s");
}

static void silent_machine_with_unknown_frequency_is_not_busy(void **state)
{
	(void)state;
	works(0);
	script_info()->note = "silent: 1.0 s or more\n";
	script_info()->frequency = 0;
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("the machine has stopped, or is paused: no CPU has recorded an event or a heartbeat for "
		 "1.0 s");
	why_says("pass --frequency");
}

static void worker_without_heartbeat(void)
{
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	why_cpu_row(1, KTRX_MODE_KERNEL);
	script_cpu(1)->heartbeats = 100;
	script_cpu(1)->heartbeat_stamp = script_cpu(1)->now = 1000 * MS;
	script_cpu(1)->thread = WORKER;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	script_event(SWITCH, 1000 * MS, 1, IDLE, V(IDLE), V(WORKER), V(0));
}

/* CPU 1 spins with interrupts disabled or has stopped: without registers, this is unknown. */
static void cpu_without_heartbeat_is_named(void **state)
{
	(void)state;
	worker_without_heartbeat();
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("CPU 1 does not idle, and has had no heartbeat for 4.00 s, for an unknown reason");
	why_says("capture the registers of CPU 1 (ktrace why --qmp), to see where it is");
}

/* CPU 1 works, but never takes its ticks: it may never enable interrupts. */
static void cpu_that_works_with_interrupts_disabled_is_named(void **state)
{
	(void)state;
	worker_without_heartbeat();
	script_event(SWITCH, THE_END - MS, 1, WORKER, V(WORKER), V(WORKER), V(0));
	script_info()->registers = "cpu 1 pc=100040 sp=2000 flags=46 cs=8\n";
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("interrupts are disabled there, as its registers show, but it records events");
	why_says("to be more certain: take another trace later: if interrupts are disabled again");
}

static void machine_seen_running_is_busy(void **state)
{
	(void)state;
	works(0);
	script_info()->note = "silent: 0.0 s\n";
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
}

static void machine_without_idle_cpus_is_not_idle(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_KERNEL, THE_END);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	script_event(SWITCH, THE_END - MS, 0, IDLE, V(IDLE), V(WORKER), V(0));
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
}

/* A CPU has just begun to spin for a lock, and no running thread can release the lock. */
static void spinning_for_held_lock_is_no_progress(void **state)
{
	struct ktrx_holder *cpu = cpu_in(0, KTRX_MODE_KERNEL, THE_END);

	(void)state;
	why_waits(cpu, KTRX_WAIT_SPIN, LOCK, "lock", THE_END);
	cpu_in(1, KTRX_MODE_IDLE, THE_END);
	why_holds(why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0), LOCK, MS);
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
}

/*
 * A CPU has spun for a lock for a while, and another CPU has just taken this lock. The first CPU will get it
 * later.
 */
static void spinning_for_changing_holder_is_progress(void **state)
{
	(void)state;
	works(0);
	why_waits(script_holder(KTRX_HOLDER_CPU), KTRX_WAIT_SPIN, LOCK, "lock", THE_END - 8 * MS);
	why_holds(cpu_in(1, KTRX_MODE_IDLE, THE_END), LOCK, THE_END);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
}

/* The lock for which a CPU spins was just released. */
static void spinning_for_free_lock_is_progress(void **state)
{
	(void)state;
	works(0);
	why_waits(script_holder(KTRX_HOLDER_CPU), KTRX_WAIT_SPIN, LOCK, "lock", THE_END);
	cpu_in(1, KTRX_MODE_IDLE, THE_END);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
}

/* A thread may be runnable for a while even if the CPUs have little to do. */
static void thread_runnable_for_moment_is_healthy(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNABLE, 0);
	script_event(SWITCH, 2 * MS, 0, IDLE, V(IDLE), V(WORKER), V(0));
	script_event(SWITCH, 3 * MS, 0, WORKER, V(WORKER), V(IDLE), V(2));
	script_event(SWITCH, THE_END - 301 * MS, 0, IDLE, V(IDLE), V(WORKER), V(0));
	script_event(SWITCH, THE_END - 300 * MS, 0, WORKER, V(WORKER), V(IDLE), V(0));
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
}

/* The idle thread has an unusual name, but its CPU is in idle mode. */
static void thread_on_cpu_in_idle_mode_is_idle_thread(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	script_cpu(0)->thread = RESTS;
	script_cpu(0)->mode_stamp = THE_END;
	script_cpu(0)->switches = 1;
	why_thread_row(RESTS, "pause", KTRX_THREAD_RUNNING, 0)->state_stamp = 2 * MS;
	why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0)->deadline = 2 * THE_END;
	script_event(SWITCH, 2 * MS, 0, WORKER, V(WORKER), V(RESTS), V(1));
	is_idle(FINDING_CERTAIN, false);
	assert_non_null(strstr(why_judge()->base.evidence[0], "busy for 0 %"));
}

/* The idle thread has an unusual name, and its CPU has not switched threads yet. */
static void thread_without_switches_on_idle_cpu_does_no_work(void **state)
{
	(void)state;
	cpu_in(0, KTRX_MODE_IDLE, THE_END);
	script_cpu(0)->switches = 1;
	script_event(OTHER, 3 * MS, 1, RESTS);
	script_event(OTHER, 9 * MS, 1, RESTS);
	why_cpu_row(1, KTRX_MODE_IDLE);
	script_thread(RESTS, "pause");
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_non_null(strstr(why_judge()->base.evidence[0], "busy for 0 %"));
}

/* The kernel does not record threads. An unknown thread must not count as an idle thread. */
static void kernel_without_threads_is_not_idle(void **state)
{
	(void)state;
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		why_cpu_row(cpu, KTRX_MODE_UNKNOWN);
		script_cpu(cpu)->hooks = KTRX_HOOK_LOCK;
		script_cpu(cpu)->heartbeats = 100;
		script_cpu(cpu)->heartbeat_stamp = THE_END;
		script_event(OTHER, MS, cpu, 0);
		script_event(OTHER, THE_END, cpu, 0);
	}
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(idle_is_certain_with_all_data),
		TEST(more_running_threads_than_cpus_is_not_certain),
		TEST(overwritten_trace_memory_has_no_verdict),
		TEST(sleep_without_earlier_wakeups_is_only_likely),
		TEST(sleep_older_than_rings_is_partial),
		TEST(rings_shorter_than_window_are_partial),
		TEST(uncalled_hooks_are_advised),
		TEST(disabled_state_is_advised),
		TEST(idle_cpu_with_overflowing_ring_is_unknown),
		TEST(idle_cpu_without_heartbeat_and_overflowing_ring_is_unknown),
		TEST(busy_from_tiny_part_of_window_is_only_possible),
		TEST(invalid_silence_in_note_is_ignored),
		TEST(silence_beyond_clock_range_is_ignored),
		TEST(idle_machine_that_recorded_something_is_certain),
		TEST(idle_machine_that_recorded_nothing_is_likely),
		TEST(kept_ram_file_of_ended_kernel_gets_no_advice),
		TEST(idle_machine_with_unknown_frequency_is_likely),
		TEST(sleep_of_unknown_length_leaves_open_whether_the_machine_idles),
		TEST(machine_with_unknown_frequency_is_only_possibly_busy),
		TEST(silence_with_unknown_frequency_leaves_open_whether_the_machine_idles),
		TEST(silent_machine_is_not_busy),
		TEST(silent_machine_with_unknown_frequency_is_not_busy),
		TEST(cpu_without_heartbeat_is_named),
		TEST(cpu_that_works_with_interrupts_disabled_is_named),
		TEST(machine_seen_running_is_busy),
		TEST(machine_without_idle_cpus_is_not_idle),
		TEST(spinning_for_held_lock_is_no_progress),
		TEST(spinning_for_free_lock_is_progress),
		TEST(spinning_for_changing_holder_is_progress),
		TEST(thread_runnable_for_moment_is_healthy),
		TEST(thread_on_cpu_in_idle_mode_is_idle_thread),
		TEST(thread_without_switches_on_idle_cpu_does_no_work),
		TEST(kernel_without_threads_is_not_idle),
		TEST(running_thread_without_events_computes_or_spins),
		TEST(busy_machine_lists_waits_that_may_last_forever),
		TEST(running_thread_with_events_is_not_named),
		TEST(wait_without_object_is_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
