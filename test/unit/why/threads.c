/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What is wrong with threads: those that nobody wakes, that loop, that starve, that wait long; and when nothing is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define V(value) ((uint64_t)(value))

#define JOBS   0x1000u
#define DONE   0x2000u
#define DISK   0x3000u
#define THERE  0x5000u
#define IDLE   1u
#define WORKER 5u
#define CLIENT 6u

#define EAGAIN_RESULT V(-11)

enum {
	OTHER = 1,
	SWITCH,
	BLOCK,
	WAKE,
	NOBODY,
	ENTER,
	EXIT,
	FAULT,
	FAULT_END,
	DELIVER,
	FORK,
	ACQUIRE,
	IRQ,
	MADE,
};

static int begin(void **state)
{
	int error = why_setup(state);

	script_type(OTHER, "mine", "other", "");
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_type(BLOCK, "sched", "block", "u64 queue,u32 thread,u8 kind");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(NOBODY, "sched", "wake_nobody", "u64 queue,u64 ip");
	script_type(ENTER, "syscall", "enter", "u32 nr,u64 a");
	script_type(EXIT, "syscall", "exit", "u32 nr,i64 result");
	script_type(FAULT, "mm", "fault_enter", "u64 address,u64 ip");
	script_type(FAULT_END, "mm", "fault_exit", "u64 address,string how");
	script_type(DELIVER, "signal", "deliver", "u8 signal");
	script_type(FORK, "process", "fork", "u32 child");
	script_type(ACQUIRE, "lock", "acquire", "u64 lock");
	script_type(IRQ, "irq", "enter", "u32 irq");
	script_thread(IDLE, "idle/0");
	script_thread(WORKER, "worker");
	script_thread(CLIENT, "client");
	return error;
}

/* An event whose context is an interrupt's. */
static void by_interrupt(uint16_t id, uint64_t stamp, uint32_t thread, uint64_t value)
{
	script_event(id, stamp, 0, thread, value)->context = KTRX_CONTEXT_INTERRUPT;
}

/* The CPU idles, and its timer beats to the end. */
static void idle_until(uint64_t stamp)
{
	struct ktrx_cpu *cpu = script_cpu(0);

	why_cpu_row(0, KTRX_MODE_IDLE);
	cpu->heartbeats = 100;
	cpu->heartbeat_stamp = cpu->now = stamp;
	script_event(OTHER, stamp, 0, IDLE);
}

/* A thread works until the end. */
static void work_until(uint64_t stamp, uint32_t thread)
{
	struct ktrx_cpu *cpu = script_cpu(0);

	why_cpu_row(0, KTRX_MODE_KERNEL);
	cpu->heartbeats = 100;
	cpu->heartbeat_stamp = cpu->now = stamp;
	cpu->thread = thread;
	script_event(OTHER, stamp, 0, thread);
}

static void sleep_on(uint64_t queue, uint64_t stamp, uint32_t thread, uint8_t kind, uint32_t next)
{
	script_event(BLOCK, stamp, 0, thread, V(queue), V(thread), V(kind));
	script_event(SWITCH, stamp + 10, 0, thread, V(thread), V(next), V(2));
}

static void wake(uint64_t stamp, uint32_t waker, uint32_t thread)
{
	script_event(WAKE, stamp, 0, waker, V(thread));
}

/* ---- Wakeups ------------------------------------------------------------------------------------- */

/* Client and worker wake each other so many times. */
static void be_used_to_each_other(unsigned times)
{
	for (uint64_t stamp = MS / 2; times > 0; times--, stamp += 100) {
		sleep_on(JOBS, stamp, WORKER, KTRX_WAIT_EVENT, CLIENT);
		wake(stamp + 20, CLIENT, WORKER);
		sleep_on(DONE, stamp + 40, CLIENT, KTRX_WAIT_EVENT, WORKER);
		wake(stamp + 60, WORKER, CLIENT);
	}
}

/* Client and worker wake each other, and both sleep since: the worker first, the client `then`. */
static void ask_and_answer(uint64_t then)
{
	sleep_on(JOBS, 1 * MS, WORKER, KTRX_WAIT_EVENT, CLIENT);
	wake(2 * MS, CLIENT, WORKER);
	sleep_on(DONE, 3 * MS, CLIENT, KTRX_WAIT_EVENT, WORKER);
	wake(4 * MS, WORKER, CLIENT);
	sleep_on(JOBS, 5 * MS, WORKER, KTRX_WAIT_EVENT, CLIENT);
	sleep_on(DONE, then, CLIENT, KTRX_WAIT_EVENT, IDLE);
}

static struct ktrx_holder *both_wait(void)
{
	struct ktrx_holder *worker = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0);
	struct ktrx_holder *client = why_thread_row(CLIENT, "client", KTRX_THREAD_WAITING, 0);

	why_waits(worker, KTRX_WAIT_EVENT, JOBS, "jobs", 5 * MS);
	why_waits(client, KTRX_WAIT_EVENT, DONE, "answers", 6 * MS);
	return client;
}

static void who_forgot_to_wake(void **state)
{
	(void)state;
	both_wait();
	be_used_to_each_other(15);
	ask_and_answer(6 * MS);
	idle_until(2005 * MS);
	assert_int_equal(why_judge()->verdict, WHY_LOST_WAKEUP);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	assert_int_equal(why_judge()->actor[0].id, WORKER + 1);
	assert_int_equal(why_judge()->actor[0].waits, JOBS);
	why_says("thread 5 (worker) sleeps on jobs (0x1000) for 2.00 s");
	why_says("thread 6 (client) woke who slept on jobs (0x1000) 16 times");
	assert_int_equal(why_count(WHY_IDLE), 0);
}

/* Servers, perhaps, whose clients have not come yet. */
static void who_have_only_greeted_may_wait_for_others(void **state)
{
	(void)state;
	both_wait();
	be_used_to_each_other(9);
	ask_and_answer(6 * MS);
	idle_until(2005 * MS);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_count(WHY_LOST_WAKEUP), 1);
	why_says("10 wakeups are few");
}

/* Whoever sleeps for a time only will come back, and wake the others perhaps. */
static void a_waker_that_will_run_gives_hope(void **state)
{
	(void)state;
	both_wait()->deadline = 3000 * MS;
	ask_and_answer(6 * MS);
	idle_until(2005 * MS);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_count(WHY_LOST_WAKEUP), 0);
}

static void an_interrupt_gives_hope(void **state)
{
	(void)state;
	both_wait();
	sleep_on(DONE, MS / 4, CLIENT, KTRX_WAIT_EVENT, WORKER);
	by_interrupt(WAKE, MS / 2, WORKER, CLIENT);
	ask_and_answer(6 * MS);
	idle_until(2005 * MS);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_count(WHY_LOST_WAKEUP), 0);
}

/* A server that was never woken by anybody may be by somebody that is not known. */
static void nobody_knows_who_wakes_a_server(void **state)
{
	(void)state;
	why_waits(why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0), KTRX_WAIT_EVENT, JOBS, "jobs",
		  MS);
	sleep_on(JOBS, MS, WORKER, KTRX_WAIT_EVENT, IDLE);
	idle_until(2005 * MS);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_count(WHY_LOST_WAKEUP), 0);
}

/* Those who woke it have ended; others have taken their place. */
static void wakers_that_are_gone_mean_nothing(void **state)
{
	(void)state;
	why_waits(why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0), KTRX_WAIT_EVENT, JOBS, "jobs",
		  3 * MS);
	sleep_on(JOBS, MS, WORKER, KTRX_WAIT_EVENT, CLIENT);
	wake(2 * MS, CLIENT, WORKER);
	script_event(SWITCH, 2 * MS + 1, 0, CLIENT, V(CLIENT), V(WORKER), V(4));
	sleep_on(JOBS, 3 * MS, WORKER, KTRX_WAIT_EVENT, IDLE);
	idle_until(2005 * MS);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_count(WHY_LOST_WAKEUP), 0);
}

/* Without the table it is not known that the sleeps do not end by themselves. */
static void without_hooks_it_is_possible_at_most(void **state)
{
	(void)state;
	ask_and_answer(6 * MS);
	idle_until(2005 * MS);
	script_cpu(0)->hooks = 0;
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_count(WHY_LOST_WAKEUP), 1);
	why_says("ktrace_block()");
}

static void no_verdict_across_a_gap(void **state)
{
	(void)state;
	both_wait();
	ask_and_answer(6 * MS);
	script_event(OTHER, 7 * MS, 0, IDLE)->lost = 3;
	idle_until(2005 * MS);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_count(WHY_LOST_WAKEUP), 1);
	why_says("partial");
}

/* The rest of a ring is not in the file: what any thread did last is not known. */
static void no_health_where_the_end_is_cut_off(void **state)
{
	(void)state;
	idle_until(2005 * MS);
	script_ring(1)->cut = 3;
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("1 ring lacks its end");
	why_says("to be surer: the whole file");
	why_says("partial");
}

/* The client's wakeup comes when the worker has answered, and before it has gone to sleep. */
static void race(uint64_t nobody_at, bool looks_again, bool is_woken)
{
	both_wait();
	sleep_on(JOBS, 1 * MS, WORKER, KTRX_WAIT_EVENT, CLIENT);
	wake(2 * MS, CLIENT, WORKER);
	sleep_on(DONE, 3 * MS, CLIENT, KTRX_WAIT_EVENT, WORKER);
	wake(4 * MS, WORKER, CLIENT);
	if (is_woken)
		wake(4 * MS + 1, CLIENT, WORKER);
	script_event(NOBODY, nobody_at, 1, CLIENT, V(JOBS), V(0x77));
	script_event(ACQUIRE, nobody_at + 1, 0, WORKER, V(JOBS));
	if (looks_again)
		script_event(OTHER, nobody_at + 2, 0, WORKER);
	sleep_on(JOBS, 5 * MS, WORKER, KTRX_WAIT_EVENT, IDLE);
	script_event(BLOCK, 6 * MS, 1, CLIENT, V(DONE), V(CLIENT), V(KTRX_WAIT_EVENT));
	idle_until(2005 * MS);
	why_cpu_row(1, KTRX_MODE_IDLE);
}

static void a_wakeup_that_met_nobody(void **state)
{
	(void)state;
	race(5 * MS - 1000, false, false);
	assert_int_equal(why_judge()->verdict, WHY_WAKEUP_RACE);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	assert_int_equal(why_judge()->actor[0].id, WORKER + 1);
	why_says("thread 5 (worker) missed its wakeup");
	why_says("thread 6 (client) woke jobs (0x1000) and found no thread asleep, in 0x77");
	assert_int_equal(why_count(WHY_LOST_WAKEUP), 0);
}

/* It did something else in between, so it was not on its way to sleep: the wakeup that it needs is another. */
static void who_did_something_was_not_raced(void **state)
{
	(void)state;
	race(5 * MS - 1000, true, false);
	assert_int_equal(why_count(WHY_LOST_WAKEUP), 1);
	assert_int_equal(why_count(WHY_WAKEUP_RACE), 0);
	for (uint64_t apart = 100; apart < 102; apart++) { /* of CPUs whose clocks leave 100 ns open */
		why_teardown(state);
		begin(state);
		why_clocks_leave(100);
		race(5 * MS - 1000, false, false);
		script_event(OTHER, 5 * MS - 1000 - apart, 0, WORKER);
		script_sort();
		assert_int_equal(why_count(WHY_WAKEUP_RACE), apart - 100);
	}
}

/* It had just been woken, and had all before it: it will have seen what the second wakeup was for. */
static void who_was_woken_already_was_not_raced(void **state)
{
	(void)state;
	race(5 * MS - 1000, false, true);
	assert_int_equal(why_count(WHY_WAKEUP_RACE), 0);
}

/* ---- Loops --------------------------------------------------------------------------------------- */

static uint64_t call_many(unsigned times, uint64_t from, uint64_t step, uint64_t argument, uint64_t result)
{
	for (unsigned n = 0; n < times; n++, from += step) {
		script_event(ENTER, from, 0, WORKER, V(7), V(argument));
		script_event(EXIT, from + 1, 0, WORKER, V(7), V(result));
	}
	return from;
}

static void one_call_that_fails_for_ever(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	work_until(call_many(1000, MS, MS / 2, 3, EAGAIN_RESULT), WORKER);
	assert_int_equal(why_judge()->verdict, WHY_SYSCALL_LOOP);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("thread 5 (worker) calls system call 7 again and again, and gets EAGAIN every time");
	why_says("1000 times in a row");
}

static void calls_that_succeed_are_progress(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	work_until(call_many(1000, MS, 1000, 3, 4096) + 1, WORKER);
	assert_int_equal(why_count(WHY_SYSCALL_LOOP), 0);
}

static void rare_calls_are_no_loop(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	work_until(call_many(500, MS, 10 * MS, 3, EAGAIN_RESULT) + 1, WORKER);
	assert_int_equal(why_count(WHY_SYSCALL_LOOP), 0);
}

/* Its last call returned, and then nothing: what it does since is in user mode. */
static void a_loop_that_has_ended_is_none(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	work_until(call_many(1000, MS, 1000, 3, EAGAIN_RESULT) + 900 * MS, WORKER);
	assert_int_equal(why_count(WHY_SYSCALL_LOOP), 0);
}

/* The host has not let the CPU run for a while: that is no end of the loop. */
static void a_cpu_without_time_loops_still(void **state)
{
	uint64_t last = call_many(1000, MS, MS / 2, 3, EAGAIN_RESULT);

	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	script_event(OTHER, last + 600 * MS, 1, IDLE);
	why_cpu_row(0, KTRX_MODE_KERNEL);
	why_cpu_row(1, KTRX_MODE_IDLE);
	assert_int_equal(why_judge()->verdict, WHY_SYSCALL_LOOP);
}

/* A thousand tries are soon over. */
static void a_few_ms_of_polls_are_no_proof(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	work_until(call_many(1000, MS, 1000, 3, EAGAIN_RESULT), WORKER);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_count(WHY_SYSCALL_LOOP), 1);
	why_says("more slots");
}

/* The row is of the call that is over; the newest is another one, and it sleeps. */
static void who_polls_and_then_sleeps_does_not_loop(void **state)
{
	uint64_t last = call_many(1000, MS, MS / 2, 3, EAGAIN_RESULT);

	(void)state;
	script_event(ENTER, last, 0, WORKER, V(35), V(5));
	work_until(last + 1, WORKER);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	assert_int_equal(why_count(WHY_SYSCALL_LOOP), 0);
}

/* Each of the calls waits for a moment, and then says that there is nothing. */
static void calls_that_sleep_are_no_loop(void **state)
{
	uint64_t stamp = MS;

	(void)state;
	for (unsigned n = 0; n < 300; n++, stamp += MS / 2) {
		script_event(ENTER, stamp, 0, WORKER, V(7), V(3));
		sleep_on(JOBS, stamp + 1, WORKER, KTRX_WAIT_TIME, IDLE);
		by_interrupt(WAKE, stamp + 100000, IDLE, WORKER);
		script_event(SWITCH, stamp + 100001, 0, IDLE, V(IDLE), V(WORKER), V(0));
		script_event(EXIT, stamp + 100002, 0, WORKER, V(7), EAGAIN_RESULT);
	}
	work_until(stamp, WORKER);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	assert_int_equal(why_count(WHY_SYSCALL_LOOP), 0);
}

/* The ring holds the newest calls only; the row tells that the thread has not slept for long before them. */
static void calls_that_fill_a_small_ring(void **state)
{
	const uint64_t begin = 2000 * MS;

	(void)state;
	script_event(OTHER, begin, 0, WORKER)->lost = 9999;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0)->state_stamp = 100 * MS;
	work_until(call_many(100, begin + 1, 3000, 3, EAGAIN_RESULT), WORKER);
	assert_int_equal(why_judge()->verdict, WHY_SYSCALL_LOOP);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	assert_true(why_judge()->base.partial);
	why_says("it has run for 1.90 s without a sleep");
}

/* The missing slots are another CPU's, to which the thread may have been. */
static void what_is_in_a_row_is_so_behind_a_gap(void **state)
{
	uint64_t gap = call_many(200, MS, 1000, 3, EAGAIN_RESULT);

	(void)state;
	script_event(OTHER, gap, 1, IDLE)->lost = 5;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	work_until(call_many(200, gap + 1000, 1000, 3, EAGAIN_RESULT) + 1, WORKER);
	assert_int_equal(why_count(WHY_SYSCALL_LOOP), 0);
}

static uint64_t fault_many(unsigned times, uint64_t from, uint16_t between)
{
	for (unsigned n = 0; n < times; n++, from += 1000) {
		script_event(FAULT, from, 0, WORKER, V(THERE), V(0x40));
		script_event(FAULT_END, from + 1, 0, WORKER, V(THERE), "spurious\033[31m");
		if (between == DELIVER)
			script_event(DELIVER, from + 2, 0, WORKER, V(11));
		if (between == ENTER || between == DELIVER)
			script_event(ENTER, from + 3, 0, WORKER, V(15), V(0));
		if (between == FORK)
			script_event(FORK, from + 3, 0, WORKER, V(9));
	}
	return from;
}

static void one_fault_for_ever(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	work_until(fault_many(100, MS, 0), WORKER);
	assert_int_equal(why_judge()->verdict, WHY_FAULT_LOOP);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("thread 5 (worker) faults on address 0x5000 again and again");
	why_says("100 page faults in a row");
	why_says("instruction at 0x40");
	why_says("spurious\\x1b[31m");
}

/* The handler calls the kernel, and that is no progress; nor is it a loop of calls. */
static void a_handler_that_repairs_nothing(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	work_until(fault_many(1000, MS, DELIVER), WORKER);
	assert_int_equal(why_judge()->verdict, WHY_FAULT_LOOP);
	why_says("a signal is sent for it, and its handler returns");
	assert_int_equal(why_count(WHY_SYSCALL_LOOP), 0);
}

/* Memory that is mapped anew each time, or shared with a new child, faults at the same place rightly. */
static void calls_between_faults_are_progress(void **state)
{
	(void)state;
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 0);
	work_until(fault_many(100, fault_many(100, MS, ENTER), FORK), WORKER);
	assert_int_equal(why_count(WHY_FAULT_LOOP), 0);
}

/* ---- Turns --------------------------------------------------------------------------------------- */

/* The client runs, the worker could since `since`, and the CPU's timer beats until `beat`. */
static struct ktrx_holder *wait_for_a_turn(uint64_t since, uint64_t beat)
{
	const uint64_t tick = 10 * MS;
	struct ktrx_holder *worker = why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNABLE, 0);

	why_thread_row(CLIENT, "client", KTRX_THREAD_RUNNING, 0)->priority = 20;
	worker->priority = 10;
	worker->state_stamp = since;
	script_event(SWITCH, since - MS, 0, CLIENT, V(CLIENT), V(WORKER), V(2));
	script_event(SWITCH, since + 1, 0, WORKER, V(WORKER), V(CLIENT), V(0));
	for (uint64_t stamp = since + tick; stamp <= beat; stamp += tick)
		by_interrupt(IRQ, stamp, CLIENT, 0);
	work_until(2000 * MS, CLIENT);
	script_cpu(0)->heartbeat_stamp = beat;
	return worker;
}

static void one_that_never_has_its_turn(void **state)
{
	(void)state;
	wait_for_a_turn(500 * MS, 1995 * MS);
	assert_int_equal(why_judge()->verdict, WHY_STARVATION);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("thread 5 (worker) could run on CPU 0 and has not for 1.50 s");
	why_says("thread 6 (client) runs there, with priority 20 against 10");
}

static void a_turn_that_comes_soon(void **state)
{
	(void)state;
	wait_for_a_turn(1950 * MS, 1995 * MS);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_count(WHY_STARVATION), 0);
}

/* The host gave the CPU no time, and it took a few interrupts only: others' turns are not over. */
static void a_cpu_without_time_starves_nobody(void **state)
{
	(void)state;
	wait_for_a_turn(500 * MS, 550 * MS);
	by_interrupt(IRQ, 2001 * MS, CLIENT, 0);
	script_cpu(0)->heartbeat_stamp = 2001 * MS;
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_count(WHY_STARVATION), 0);
}

/* The kernel has a row of every thread, and none of this one: how it ended is lost. */
static void who_is_gone_does_not_starve(void **state)
{
	(void)state;
	wait_for_a_turn(500 * MS, 1995 * MS)->id = 0;
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_count(WHY_STARVATION), 0);
	why_says("0 threads wait for a CPU");
}

static void nobody_starves_where_all_is_done(void **state)
{
	(void)state;
	wait_for_a_turn(500 * MS, 1995 * MS);
	script_info()->outcome = KTRX_OUTCOME_EXITED;
	assert_int_equal(why_count(WHY_STARVATION), 0);
}

/* Nobody has a turn where the timer does not beat, and that is the trouble. */
static void a_dead_timer_starves_all(void **state)
{
	(void)state;
	wait_for_a_turn(100 * MS, 110 * MS);
	assert_int_equal(why_count(WHY_STARVATION), 0);
	assert_int_equal(why_count(WHY_BUSY), 0);
}

/* ---- Devices ------------------------------------------------------------------------------------- */

static uint64_t ask_device(unsigned times, uint64_t from, uint64_t ticks, uint8_t kind)
{
	for (unsigned n = 0; n < times; n++) {
		sleep_on(DISK, from, WORKER, kind, IDLE);
		by_interrupt(WAKE, from + ticks, IDLE, WORKER);
		script_event(SWITCH, from + ticks + 1, 0, IDLE, V(IDLE), V(WORKER), V(0));
		from += ticks + MS;
	}
	return from;
}

static void a_disk_that_is_late_at_times(void **state)
{
	(void)state;
	why_waits(why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 0), KTRX_WAIT_DEVICE, DISK, "disk",
		  1900 * MS);
	idle_until(ask_device(3, ask_device(20, MS, 5 * MS, KTRX_WAIT_DEVICE), 700 * MS, KTRX_WAIT_DEVICE));
	assert_int_equal(why_judge()->verdict, WHY_SLOW);
	why_says("thread 5 (worker) waited 700.0 ms for disk");
	why_says("23 waits for devices ended: half of them within 5.0 ms, the worst took 700.0 ms");
	why_says("while it lasted 0 others ended");
}

/* Between one block that was seen and a wakeup that was seen there may have been others. */
static void a_wait_across_a_gap_is_no_wait(void **state)
{
	uint64_t late = ask_device(20, MS, MS, KTRX_WAIT_DEVICE);

	(void)state;
	sleep_on(JOBS, late, WORKER, KTRX_WAIT_DEVICE, IDLE);
	script_event(OTHER, late + 200 * MS, 1, IDLE)->lost = 5;
	by_interrupt(WAKE, late + 400 * MS, IDLE, WORKER);
	idle_until(late + 500 * MS);
	assert_int_equal(why_count(WHY_SLOW), 0);
}

static void a_disk_that_is_always_so(void **state)
{
	(void)state;
	idle_until(ask_device(10, MS, 150 * MS, KTRX_WAIT_DEVICE));
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_count(WHY_SLOW), 0);
}

/* Who waits for other threads may wait long. */
static void events_may_be_rare(void **state)
{
	(void)state;
	idle_until(ask_device(1, ask_device(20, MS, 5 * MS, KTRX_WAIT_EVENT), 700 * MS, KTRX_WAIT_EVENT));
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_count(WHY_SLOW), 0);
}

/* ---- Health -------------------------------------------------------------------------------------- */

/* Tickless: an idle CPU need not beat. */
static void idle_without_ticks(void **state)
{
	(void)state;
	script_event(OTHER, MS, 0, IDLE);
	idle_until(5000 * MS);
	script_cpu(0)->heartbeat_stamp = MS;
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("1 of 1 CPUs idle");
}

/* Both have begun to work right before the end. */
static void who_has_just_begun_is_not_idle(void **state)
{
	(void)state;
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		const uint32_t thread = cpu == 0 ? WORKER : CLIENT;

		script_event(OTHER, MS + cpu, cpu, IDLE);
		script_event(SWITCH, 990 * MS + cpu, cpu, IDLE, V(IDLE), V(thread), V(0));
		script_event(OTHER, 1000 * MS + cpu, cpu, thread);
		why_thread_row(thread, cpu == 0 ? "worker" : "client", KTRX_THREAD_RUNNING, cpu);
		why_cpu_row(cpu, KTRX_MODE_KERNEL);
		script_cpu(cpu)->heartbeats = 9;
		script_cpu(cpu)->heartbeat_stamp = 999 * MS;
	}
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
}

/* A CPU that says nothing and does not idle is not well, whatever the others do. */
static void a_silent_cpu_is_not_well(void **state)
{
	(void)state;
	idle_until(5000 * MS);
	why_cpu_row(1, KTRX_MODE_KERNEL);
	script_cpu(1)->heartbeats = 1;
	script_cpu(1)->heartbeat_stamp = MS;
	script_event(OTHER, MS, 1, WORKER);
	assert_int_equal(why_count(WHY_IDLE) + why_count(WHY_BUSY), 0);
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)

/* ---- What is not known --------------------------------------------------------------------------- */

/* The boot CPU runs what will be its idle thread; `modes` are told of the other one, which idles. */
static void boots(uint8_t modes)
{
	script_thread(IDLE, "idle/0");
	why_thread_row(IDLE, "idle/0", KTRX_THREAD_RUNNING, 0);
	why_cpu_row(0, KTRX_MODE_UNKNOWN);
	script_cpu(0)->now = 1000 * MS;
	why_cpu_row(1, modes);
	script_event(OTHER, 1 * MS, 0, IDLE);
	script_event(OTHER, 1000 * MS, 0, IDLE);
}

static void a_machine_that_starts_is_not_idle(void **state)
{
	(void)state;
	boots(KTRX_MODE_UNKNOWN);
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("no CPU has switched threads yet: the machine still starts, or has come to a stop as it "
		 "started");
}

static void one_cpu_that_idles_is_not_all(void **state)
{
	(void)state;
	boots(KTRX_MODE_IDLE);
	script_cpu(1)->switches = 1;
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("CPU 0 has not begun to idle or to work");
}

/* It has looked for something to do just now, and idles on. */
static void a_moment_out_of_idling_is_idle(void **state)
{
	(void)state;
	boots(KTRX_MODE_IDLE);
	script_cpu(0)->mode = KTRX_MODE_KERNEL;
	script_cpu(0)->mode_stamp = 990 * MS;
	script_cpu(0)->switches = 10;
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
}

/* A kernel that tells of user mode and of nothing else: its idle thread idles. */
static void idling_need_not_be_told(void **state)
{
	(void)state;
	boots(KTRX_MODE_UNKNOWN);
	script_cpu(0)->mode = KTRX_MODE_KERNEL;
	script_cpu(0)->mode_stamp = 100 * MS;
	script_cpu(0)->switches = 10;
	script_cpu(1)->online = 0;
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
}

static void a_trace_without_anything(void **state)
{
	(void)state;
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("there is nothing in this trace: no event, and no table of what CPUs and threads do");
}

static void events_that_mean_nothing_here(void **state)
{
	(void)state;
	script_event(OTHER, 1 * MS, 0, WORKER);
	script_event(OTHER, 1000 * MS, 0, WORKER);
	assert_int_equal(why_judge()->verdict, WHY_UNKNOWN);
	why_says("this trace does not record what CPUs and threads do");
	why_says("ktrace doctor");
}

/* Each new thread may move those that are known, the one that makes them among them. */
static void one_thread_makes_many(void **state)
{
	(void)state;
	script_type(MADE, "sched", "create", "u32 thread,string name");
	for (uint32_t n = 0; n < 300; n++)
		script_event(MADE, MS + n * 1000, 0, WORKER, V(100 + n), "child");
	assert_int_equal(why_evidence_of_script()->threads, 301);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(who_forgot_to_wake),
		TEST(who_have_only_greeted_may_wait_for_others),
		TEST(a_waker_that_will_run_gives_hope),
		TEST(an_interrupt_gives_hope),
		TEST(nobody_knows_who_wakes_a_server),
		TEST(wakers_that_are_gone_mean_nothing),
		TEST(without_hooks_it_is_possible_at_most),
		TEST(no_verdict_across_a_gap),
		TEST(no_health_where_the_end_is_cut_off),
		TEST(a_wakeup_that_met_nobody),
		TEST(who_did_something_was_not_raced),
		TEST(who_was_woken_already_was_not_raced),
		TEST(one_call_that_fails_for_ever),
		TEST(calls_that_succeed_are_progress),
		TEST(rare_calls_are_no_loop),
		TEST(a_loop_that_has_ended_is_none),
		TEST(a_cpu_without_time_loops_still),
		TEST(a_few_ms_of_polls_are_no_proof),
		TEST(who_polls_and_then_sleeps_does_not_loop),
		TEST(calls_that_sleep_are_no_loop),
		TEST(calls_that_fill_a_small_ring),
		TEST(one_fault_for_ever),
		TEST(a_handler_that_repairs_nothing),
		TEST(calls_between_faults_are_progress),
		TEST(one_that_never_has_its_turn),
		TEST(a_turn_that_comes_soon),
		TEST(a_cpu_without_time_starves_nobody),
		TEST(who_is_gone_does_not_starve),
		TEST(nobody_starves_where_all_is_done),
		TEST(a_dead_timer_starves_all),
		TEST(one_thread_makes_many),
		TEST(a_disk_that_is_late_at_times),
		TEST(what_is_in_a_row_is_so_behind_a_gap),
		TEST(a_wait_across_a_gap_is_no_wait),
		TEST(a_disk_that_is_always_so),
		TEST(events_may_be_rare),
		TEST(idle_without_ticks),
		TEST(who_has_just_begun_is_not_idle),
		TEST(a_silent_cpu_is_not_well),
		TEST(a_machine_that_starts_is_not_idle),
		TEST(one_cpu_that_idles_is_not_all),
		TEST(a_moment_out_of_idling_is_idle),
		TEST(idling_need_not_be_told),
		TEST(a_trace_without_anything),
		TEST(events_that_mean_nothing_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
