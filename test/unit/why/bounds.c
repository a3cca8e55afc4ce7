/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests that no time in a finding is longer than the trace can show, and that findings do not contradict each
 * other.
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

#define IDLE0  1u
#define IDLE1  2u
#define WORKER 5u
#define CLIENT 6u
#define KERNEL 0x100000u
#define LAST   (10000 * MS)

enum { OTHER = 1, SWITCH, CREATE, IRQ, CALL, RETURN };

static struct ktrx_holder *worker;

static int begin(void **state)
{
	int error = why_setup(state);

	script_type(OTHER, "mine", "other", "");
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_type(CREATE, "sched", "create", "u32 thread");
	script_type(IRQ, "irq", "enter", "u32 irq,u64 ip");
	script_type(CALL, "syscall", "enter", "u32 nr");
	script_type(RETURN, "syscall", "exit", "u32 nr,i64 result");
	script_thread(IDLE0, "idle/0");
	script_thread(IDLE1, "idle/1");
	script_info()->cpus = 2;
	script_info()->self = KERNEL;
	for (uint32_t n = 0; n < 2; n++)
		why_cpu_row(n, KTRX_MODE_KERNEL);
	worker = why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	return error;
}

static void ticks(uint32_t cpu, uint32_t thread, uint64_t from, uint64_t to)
{
	struct ktrx_cpu *row = script_cpu(cpu);

	for (uint64_t stamp = from; stamp <= to; stamp += 10 * MS) {
		script_event(IRQ, stamp, cpu, thread, V(0), V(KERNEL + 8))->context = KTRX_CONTEXT_INTERRUPT;
		row->sample[row->heartbeats++ % KTRX_SAMPLES] = KERNEL + 8;
		row->heartbeat_stamp = row->now = stamp;
		row->thread = thread;
	}
}

/*
 * CPU 0 idles during the whole trace, and its ring contains events of the whole trace. On CPU 1, the worker
 * spins from `stamp` on.
 */
static void spin_since(uint64_t stamp)
{
	ticks(0, IDLE0, 500 * MS, LAST);
	script_cpu(0)->mode = KTRX_MODE_IDLE;
	script_event(SWITCH, stamp, 1, IDLE1, V(IDLE1), V(WORKER), V(0));
	ticks(1, WORKER, stamp + 10 * MS, LAST);
	worker->state_stamp = stamp;
}

static void spin_begins_at_creation_of_thread(void **state)
{
	(void)state;
	script_event(CREATE, 4700 * MS, 0, IDLE0, V(WORKER));
	spin_since(4750 * MS);
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	assert_true(why_judge()->actor[0].exact);
	why_says("for 5.30 s");
	assert_true(why_judge()->actor[0].ticks <= LAST - 4700 * MS);
}

/* The event of the thread's creation is lost, so nothing is known about the time before its first event. */
static void spin_begins_at_first_event_of_thread(void **state)
{
	(void)state;
	spin_since(5000 * MS);
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	why_says("for 5.00 s");
}

/* The ring of the CPU has overwritten older events of the thread. */
static void spin_begins_at_oldest_event_of_ring(void **state)
{
	(void)state;
	script_event(OTHER, 500 * MS, 0, WORKER);
	spin_since(7000 * MS);
	script_ring(1)->overwritten = 1000;
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	why_says("for 3.00 s");
}

static void unrecorded_system_call_is_not_called_the_last(void **state)
{
	(void)state;
	spin_since(5000 * MS);
	script_cpu(1)->mode = KTRX_MODE_USER;
	script_info()->self = UINT64_C(0xffffffff80000000);
	assert_int_equal(why_judge()->verdict, WHY_USER_SPIN);
	assert_null(strstr(why_text(), "since its last system call"));
}

/* If a thread id is reused, the table row may still belong to the previous thread. */
static void row_of_earlier_thread_with_same_id_is_ignored(void **state)
{
	struct ktrx_holder *row;

	(void)state;
	spin_since(5000 * MS);
	row = why_thread_row(CLIENT, "client", KTRX_THREAD_WAITING, 0);
	row->state_stamp = 1000 * MS;
	why_waits(row, KTRX_WAIT_LOCK, 0xabc0, "old", 1000 * MS);
	why_holds(row, 0xdef0, 900 * MS);
	script_event(CREATE, 9000 * MS, 0, IDLE0, V(CLIENT));
	assert_null(strstr(why_text(), "0xabc0"));
	assert_null(strstr(why_text(), "0xdef0"));
}

/* The kernel did not report the state of the previous thread, only its locks. */
static void locks_of_earlier_thread_with_same_id_are_ignored(void **state)
{
	struct ktrx_holder *row;

	(void)state;
	spin_since(5000 * MS);
	row = why_thread_row(CLIENT, "client", KTRX_THREAD_UNKNOWN, 0);
	why_waits(row, KTRX_WAIT_LOCK, 0xabc0, "old", 1000 * MS);
	why_holds(row, 0xdef0, 900 * MS);
	script_event(CREATE, 9000 * MS, 0, IDLE0, V(CLIENT));
	assert_null(strstr(why_text(), "0xabc0"));
	assert_null(strstr(why_text(), "0xdef0"));
}

/* ---- CPUs that idle or run a thread ---------------------------------------------------------------- */

static void run_on_cpu_1(uint8_t state, uint64_t state_stamp, uint64_t mode_stamp)
{
	ticks(0, IDLE0, 500 * MS, LAST);
	script_cpu(0)->mode = KTRX_MODE_IDLE;
	script_cpu(0)->mode_stamp = 500 * MS;
	ticks(1, WORKER, 500 * MS, LAST);
	script_cpu(1)->mode = KTRX_MODE_IDLE;
	script_cpu(1)->mode_stamp = mode_stamp;
	worker->state = state;
	worker->state_stamp = state_stamp;
}

static void idle_mode_older_than_switch_is_stale(void **state)
{
	(void)state;
	run_on_cpu_1(KTRX_THREAD_RUNNING, 4000 * MS, 3000 * MS);
	assert_int_equal(why_count(WHY_IDLE), 0);
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	why_says("CPU 1 is in idle mode, but runs thread 5 (worker)");
	why_says("CPU 1   busy, thread 5 (worker)");
}

/* This kernel has no idle threads: a CPU idles on the stack of the thread that ran before. */
static void cpu_may_idle_on_stack_of_last_thread(void **state)
{
	(void)state;
	run_on_cpu_1(KTRX_THREAD_WAITING, 3000 * MS, 3000 * MS);
	worker->deadline = 2 * LAST;
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
	assert_int_equal(why_count(WHY_BOOKKEEPING), 0);
}

static void idle_mode_newer_than_switch_is_valid(void **state)
{
	(void)state;
	run_on_cpu_1(KTRX_THREAD_RUNNING, 3000 * MS, 3000 * MS);
	assert_int_equal(why_count(WHY_BOOKKEEPING), 0);
	why_says("CPU 1   idle, ran thread 5 (worker)");
}

static void cpu_without_activity_is_offline_even_if_registers_are_known(void **state)
{
	(void)state;
	spin_since(5000 * MS);
	script_info()->cpus = 3;
	script_cpu(2)->online = 0;
	script_info()->registers = "cpu 2 pc=fff0 sp=0\n";
	why_says("CPU 2   offline: it never started");
}

/* CPU 2 has never been online, and has these registers. */
static void in_kernel_code(const char *registers)
{
	spin_since(5000 * MS);
	script_info()->cpus = 3;
	script_cpu(2)->online = 0;
	script_info()->registers = registers;
}

static void cpu_in_kernel_code_is_not_offline(void **state)
{
	(void)state;
	in_kernel_code("cpu 2 pc=ffffffff80001000 sp=ffffffff80009000\n");
	assert_null(strstr(why_text(), "offline"));
}

/* A CPU that is powered off or waits at the kernel's first instruction has no stack. */
static void cpu_without_stack_is_offline(void **state)
{
	(void)state;
	in_kernel_code("cpu 2 pc=ffffffff80001000 sp=0\n");
	why_says("CPU 2   offline: it never started");
}

static void cpu_whose_stack_is_unknown_is_not_offline(void **state)
{
	(void)state;
	in_kernel_code("cpu 2 pc=ffffffff80001000\n");
	assert_null(strstr(why_text(), "offline"));
}

/*
 * CPU 0 switches between the worker and its scheduler, which is its idle thread, until `end`, and is then in
 * the scheduler. It has not been in idle mode since the beginning. CPU 1 idles.
 */
static void schedules_until(uint64_t end)
{
	struct ktrx_cpu *row = script_cpu(0);

	script_cpu(1)->mode = KTRX_MODE_IDLE;
	for (uint64_t stamp = 500 * MS; stamp < end; stamp += 10 * MS) {
		script_event(SWITCH, stamp, 0, IDLE0, V(IDLE0), V(WORKER), V(0));
		script_event(SWITCH, stamp + 9 * MS, 0, WORKER, V(WORKER), V(IDLE0), V(0));
		row->switches += 2;
		row->switch_stamp = row->now = stamp + 9 * MS;
	}
	ticks(0, IDLE0, 500 * MS, LAST);
	row->thread = IDLE0;
	row->mode_stamp = 400 * MS;
	worker->cpu = 0;
	worker->state = KTRX_THREAD_RUNNABLE;
	worker->state_stamp = row->switch_stamp;
}

static void cpu_that_looks_for_the_next_thread_is_not_starting(void **state)
{
	(void)state;
	schedules_until(LAST);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
}

static void tick_may_interrupt_cpu_that_looks_for_the_next_thread(void **state)
{
	(void)state;
	schedules_until(LAST);
	script_cpu(0)->mode = KTRX_MODE_INTERRUPT;
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
}

/* A halted machine, a core file for example, may have hung where it is. */
static void halted_cpu_between_two_threads_is_not_known_to_make_progress(void **state)
{
	(void)state;
	schedules_until(LAST);
	script_info()->registers = "cpu 0 pc=1000\n";
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("CPU 0 was between two threads when the machine was halted; it may have hung there");
}

/* The CPU has left only its first thread, so it has not run any other thread yet. */
static void cpu_that_switched_once_is_starting(void **state)
{
	(void)state;
	schedules_until(LAST);
	script_cpu(0)->switches = 1;
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("CPU 0 has neither idled nor run a thread yet");
}

static void cpu_that_has_run_threads_is_not_said_to_have_run_none(void **state)
{
	(void)state;
	schedules_until(5000 * MS);
	worker->state = KTRX_THREAD_WAITING;
	worker->wait = KTRX_WAIT_EVENT;
	worker->wait_stamp = worker->state_stamp;
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("CPU 0 has run no thread for 5.00 s, and is not in idle mode");
}

/* The scheduler of CPU 0 passes over the client. */
static struct ktrx_holder *passes_over_client(void)
{
	struct ktrx_holder *client = why_thread_row(CLIENT, "client", KTRX_THREAD_RUNNABLE, 0);

	schedules_until(LAST);
	client->cause = KTRX_CAUSE_WAKE;
	client->wakes = 1;
	client->state_stamp = 2000 * MS;
	return client;
}

static void cpu_that_looks_for_the_next_thread_does_not_idle(void **state)
{
	(void)state;
	passes_over_client();
	assert_int_equal(why_judge()->verdict, WHY_BOOKKEEPING);
	why_says("thread 6 (client) has been runnable for 8.00 s, while CPU 0 ran other threads");
	why_says("CPU 0   kernel, thread 1 (idle/0)");
}

/* It is unknown whether the other threads are more urgent than the client. */
static void cpu_that_looks_for_the_next_thread_may_obey_priorities(void **state)
{
	(void)state;
	passes_over_client()->priority = 1;
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	assert_null(strstr(why_text(), "has run no thread"));
}

/*
 * The host sees events and heartbeats. Hooks that record no event may have stored timestamps while the host
 * counted the time as silent.
 */
static void silence_begins_at_the_newest_event_or_heartbeat(void **state)
{
	(void)state;
	script_event(OTHER, 100 * MS, 0, 0);
	why_cpu_row(0, KTRX_MODE_IDLE);
	script_cpu(0)->heartbeat_stamp = 200 * MS;
	script_cpu(0)->now = 3100 * MS;
	script_info()->note = "silent: 3 s\n";
	assert_int_equal(why_evidence_of_script()->alive, 3100 * MS);
	assert_int_equal(why_evidence_of_script()->end, 3200 * MS);
}

static void now_is_not_before_the_newest_timestamp(void **state)
{
	(void)state;
	script_event(OTHER, 100 * MS, 0, 0);
	script_cpu(0)->now = 3100 * MS;
	script_info()->note = "silent: 1.0 s or more\n";
	assert_int_equal(why_evidence_of_script()->end, 3100 * MS);
}

/* The kernel records neither events nor heartbeats, so the host saw no progress at all. */
static void silence_of_kernel_without_events_begins_at_the_newest_hook(void **state)
{
	(void)state;
	script_cpu(0)->now = 3100 * MS;
	script_info()->note = "silent: 1.0 s or more\n";
	assert_int_equal(why_evidence_of_script()->end, 4100 * MS);
}

/* Hooks that record no event were called in the second in which the host saw no event and no heartbeat. */
static void hooks_without_events_are_no_progress(void **state)
{
	(void)state;
	for (uint64_t stamp = 500 * MS; stamp < LAST; stamp += 10 * MS) {
		script_event(SWITCH, stamp, 0, WORKER, V(WORKER), V(CLIENT), V(0));
		script_event(SWITCH, stamp + 5 * MS, 0, CLIENT, V(CLIENT), V(WORKER), V(0));
	}
	why_cpu_beats(0, 100, LAST);
	script_cpu(0)->thread = WORKER;
	script_cpu(0)->now = LAST + 1000 * MS;
	script_cpu(1)->mode = KTRX_MODE_IDLE;
	worker->cpu = 0;
	worker->state_stamp = LAST;
	script_info()->note = "silent: 1.0 s or more\n";
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("no CPU has recorded an event or a heartbeat for 1.00 s");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)
	const struct CMUnitTest tests[] = {
		TEST(spin_begins_at_creation_of_thread),
		TEST(spin_begins_at_first_event_of_thread),
		TEST(spin_begins_at_oldest_event_of_ring),
		TEST(unrecorded_system_call_is_not_called_the_last),
		TEST(row_of_earlier_thread_with_same_id_is_ignored),
		TEST(locks_of_earlier_thread_with_same_id_are_ignored),
		TEST(idle_mode_older_than_switch_is_stale),
		TEST(cpu_may_idle_on_stack_of_last_thread),
		TEST(idle_mode_newer_than_switch_is_valid),
		TEST(cpu_without_activity_is_offline_even_if_registers_are_known),
		TEST(cpu_in_kernel_code_is_not_offline),
		TEST(cpu_without_stack_is_offline),
		TEST(cpu_whose_stack_is_unknown_is_not_offline),
		TEST(cpu_that_looks_for_the_next_thread_is_not_starting),
		TEST(tick_may_interrupt_cpu_that_looks_for_the_next_thread),
		TEST(halted_cpu_between_two_threads_is_not_known_to_make_progress),
		TEST(cpu_that_switched_once_is_starting),
		TEST(cpu_that_has_run_threads_is_not_said_to_have_run_none),
		TEST(cpu_that_looks_for_the_next_thread_does_not_idle),
		TEST(cpu_that_looks_for_the_next_thread_may_obey_priorities),
		TEST(hooks_without_events_are_no_progress),
		TEST(silence_begins_at_the_newest_event_or_heartbeat),
		TEST(now_is_not_before_the_newest_timestamp),
		TEST(silence_of_kernel_without_events_begins_at_the_newest_hook),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
