/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests findings about threads that do not run although they are recorded as runnable. Some of them starve,
 * others may have ended or may sleep.
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
#define OTHERS 7u
#define LAST   (8000 * MS)
#define SINCE  (2000 * MS)

enum { OTHER = 1, SWITCH, BLOCK, WAKE, EXIT, CREATE, IRQ, SWITCHED };

static struct ktrx_holder *worker, *client;

/* Two CPUs have ticks every 10 ms. CPU 0 runs the worker until SINCE and then the client. CPU 1 idles. */
static int begin(void **state)
{
	int error = why_setup(state);

	script_type(OTHER, "mine", "other", "");
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(IRQ, "irq", "enter", "u32 irq");
	script_thread(IDLE0, "idle/0");
	script_thread(IDLE1, "idle/1");
	script_info()->cpus = 2;
	for (uint32_t n = 0; n < 2; n++) {
		struct ktrx_cpu *cpu = script_cpu(n);

		why_cpu_row(n, n ? KTRX_MODE_IDLE : KTRX_MODE_KERNEL);
		why_cpu_beats(n, 800, LAST);
		cpu->thread = n ? IDLE1 : CLIENT;
		cpu->switch_stamp = SINCE;
		for (uint64_t stamp = 10 * MS; stamp <= LAST; stamp += 10 * MS)
			script_event(IRQ, stamp, n,
				     n		     ? IDLE1
				     : stamp < SINCE ? WORKER
						     : CLIENT,
				     V(0))
				->context = KTRX_CONTEXT_INTERRUPT;
	}
	worker = why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNABLE, 0);
	client = why_thread_row(CLIENT, "client", KTRX_THREAD_RUNNING, 0);
	worker->state_stamp = client->state_stamp = SINCE;
	worker->wakes = client->wakes = 3;
	return error;
}

static void next(void)
{
	why_teardown(NULL);
	begin(NULL);
}

/*
 * The worker's table row contains no cause, as with old kernels, or there is no row. So only a recorded
 * switch shows the worker's state.
 */
static void switch_away(uint8_t state)
{
	script_event(SWITCH, SINCE, 0, WORKER, V(WORKER), V(CLIENT), V(state));
}

/*
 * Adds one more switch, with a different state. This switch shows that the states of this kernel have a
 * meaning.
 */
static void use_states(void)
{
	script_event(SWITCH, MS, 0, CLIENT, V(CLIENT), V(WORKER), V(2));
}

/* Adds an event of CPU 0 at `stamp`, before which events of this CPU are lost. */
static void lose_until(uint64_t stamp)
{
	script_event(OTHER, stamp, 0, CLIENT)->lost = 5;
}

static void client_sleeps(void)
{
	struct ktrx_holder *row = why_thread_row(OTHERS, "sleeper", KTRX_THREAD_WAITING, 1);

	why_waits(row, KTRX_WAIT_TIME, 0, "", SINCE);
	row->deadline = 2 * LAST;
}

static void starves(enum finding_certainty certain)
{
	assert_int_equal(why_judge()->verdict, WHY_STARVATION);
	assert_int_equal(why_judge()->base.certain, certain);
	assert_int_equal(why_judge()->actor[0].id, WORKER + 1);
	assert_int_equal(why_count(WHY_BOOKKEEPING), 0);
}

static void is_doubted(enum finding_certainty certain, const char *words)
{
	const struct why_finding *verdict = why_judge();

	assert_int_equal(why_count(WHY_STARVATION), 0);
	assert_int_equal(why_count(WHY_BOOKKEEPING), 1);
	if (certain == FINDING_LIKELY)
		assert_int_equal(verdict->verdict, WHY_BOOKKEEPING);
	else
		assert_int_not_equal(verdict->verdict, WHY_BOOKKEEPING);
	why_says(words);
}

static void is_not_reported(void)
{
	assert_int_equal(why_count(WHY_STARVATION), 0);
	assert_int_equal(why_count(WHY_BOOKKEEPING), 0);
}

/* ---- Proofs that the thread is runnable ------------------------------------------------------------ */

static void woken_thread_starves(void **state)
{
	(void)state;
	worker->cause = KTRX_CAUSE_WAKE;
	lose_until(5000 * MS);
	starves(FINDING_CERTAIN);
	why_says("thread 5 (worker) has been runnable on CPU 0 for 6.00 s and has not run");
	why_says("thread 6 (client) has run there all that time");
}

static void higher_priority_explains_starvation(void **state)
{
	(void)state;
	worker->cause = KTRX_CAUSE_WAKE;
	/* since the worker became runnable, CPU 0 has switched to other threads */
	script_cpu(0)->switch_stamp = 7900 * MS;
	worker->priority = 10;
	client->priority = 20;
	starves(FINDING_CERTAIN);
	why_says("with priority 20; thread 5 (worker) has priority 10");
}

/*
 * If other threads run instead of this thread for an unknown reason, the scheduler may have lost this thread.
 */
static void runnable_thread_without_reason_may_be_lost(void **state)
{
	static const uint8_t priority[][2] = { { 0, 0 }, { 10, 10 }, { 20, 10 }, { 10, 0 } };

	(void)state;
	for (size_t n = 0; n < sizeof(priority) / sizeof(priority[0]); n++) {
		worker->cause = KTRX_CAUSE_WAKE;
		script_cpu(0)->switch_stamp = 7900 * MS;
		worker->priority = priority[n][0];
		client->priority = priority[n][1];
		is_doubted(FINDING_LIKELY,
			   "thread 5 (worker) has been runnable for 6.00 s, while CPU 0 ran other threads");
		next();
	}
}

/*
 * The running thread has a lower priority than the worker, which waits for the CPU. That is a mistake, but
 * not starvation.
 */
static void lower_priority_does_not_explain_starvation(void **state)
{
	(void)state;
	worker->cause = KTRX_CAUSE_WAKE;
	worker->priority = 20;
	client->priority = 10;
	is_doubted(FINDING_LIKELY, "ran other threads");
	why_says("or a smaller number is more urgent in this kernel, and ktrace_thread_priority() must "
		 "get the opposite: thread 6 (client), which runs, has priority 10, and thread 5 (worker) "
		 "has 20");
}

/* The client has a lower priority, and has not left CPU 0 since the worker became runnable. */
static void thread_that_cannot_be_preempted_explains_starvation(void **state)
{
	(void)state;
	worker->cause = KTRX_CAUSE_WAKE;
	worker->priority = 20;
	client->priority = 10;
	script_cpu(0)->preempt = 1;
	starves(FINDING_LIKELY);
	why_says("thread 6 (client) has run there all that time");
	why_says("preemption is disabled on CPU 0");
	next();
	worker->cause = KTRX_CAUSE_WAKE;
	worker->priority = 20;
	client->priority = 10;
	script_cpu(0)->preempt = 1;
	script_cpu(0)->switch_stamp = 7900 * MS;
	is_doubted(FINDING_LIKELY, "ran other threads");
}

/* ---- Threads that have ended ------------------------------------------------------------------------ */

/*
 * Only sched.exit recorded the end of the thread. That event is overwritten, and the table row of the thread
 * remains.
 */
static void thread_that_may_have_ended_does_not_starve(void **state)
{
	(void)state;
	worker->cause = KTRX_CAUSE_SWITCH;
	worker->priority = 10;
	client->priority = 20;
	lose_until(5000 * MS);
	is_doubted(FINDING_POSSIBLE, "thread 5 (worker) has not run for 6.00 s: it is unknown");
	why_says("ktrace_thread_end()");
	why_says("no thread is known to be runnable");
}

static void thread_of_old_kernel_may_have_ended(void **state)
{
	(void)state;
	lose_until(5000 * MS);
	is_doubted(FINDING_POSSIBLE, "unknown whether");
}

static void ended_thread_is_not_reported(void **state)
{
	(void)state;
	worker->cause = KTRX_CAUSE_SWITCH;
	use_states();
	switch_away(4);
	is_not_reported();
}

/*
 * The kernel records when a thread goes to sleep, and records the end of a thread before the thread's last
 * switch.
 */
static void thread_with_recorded_ends_starves(void **state)
{
	(void)state;
	worker->cause = KTRX_CAUSE_SWITCH;
	script_cpu(1)->hooks |= KTRX_HOOK_EXIT;
	lose_until(5000 * MS);
	client_sleeps();
	starves(FINDING_LIKELY);
}

/* An interrupt woke the thread before it left the CPU, and the kernel then reported no switch to itself. */
static void thread_that_heartbeats_find_running_is_not_waiting_for_its_turn(void **state)
{
	(void)state;
	worker->cause = KTRX_CAUSE_WAKE;
	client->state = KTRX_THREAD_WAITING;
	script_cpu(0)->thread = WORKER;
	is_not_reported();
}

/* The kernel idles in the context of the thread that slept last, and has lost this thread, which was woken. */
static void thread_in_whose_context_the_cpu_idles_may_be_lost(void **state)
{
	(void)state;
	worker->cause = KTRX_CAUSE_WAKE;
	client->state = KTRX_THREAD_WAITING;
	script_cpu(0)->thread = WORKER;
	script_cpu(0)->mode = KTRX_MODE_IDLE;
	script_cpu(0)->mode_stamp = LAST;
	assert_int_equal(why_count(WHY_BOOKKEEPING), 1);
}

/* The kernel does not record sleeps, so the thread may be asleep. */
static void thread_that_may_sleep_does_not_starve(void **state)
{
	(void)state;
	worker->cause = KTRX_CAUSE_SWITCH;
	script_cpu(1)->hooks |= KTRX_HOOK_EXIT;
	lose_until(5000 * MS);
	is_doubted(FINDING_POSSIBLE, "it is unknown whether");
}

static void thread_that_holds_lock_has_not_ended(void **state)
{
	(void)state;
	worker->cause = KTRX_CAUSE_SWITCH;
	why_holds(worker, 0x1000, MS);
	lose_until(5000 * MS);
	client_sleeps();
	starves(FINDING_LIKELY);
}

/* The thread id is reused, and the table row belongs to the previous thread. */
static void new_thread_waits_since_its_creation(void **state)
{
	(void)state;
	script_type(CREATE, "sched", "create", "u32 thread");
	worker->cause = KTRX_CAUSE_WAKE;
	script_event(CREATE, 6500 * MS, 1, IDLE1, V(WORKER));
	starves(FINDING_CERTAIN);
	why_says("for 1.50 s and has not run");
}

/* ---- Traces without table rows ----------------------------------------------------------------------- */

static void forget_rows(void)
{
	worker->id = client->id = 0;
	script_cpu(0)->hooks = script_cpu(1)->hooks = 0;
}

static void varying_states_prove_runnable(void **state)
{
	(void)state;
	forget_rows();
	use_states();
	script_event(WAKE, MS / 2, 0, CLIENT, V(WORKER));
	switch_away(0);
	starves(FINDING_LIKELY);
}

/* The state is 0 in each switch, so 0 does not mean runnable. */
static void constant_state_proves_nothing(void **state)
{
	(void)state;
	forget_rows();
	script_event(SWITCH, MS, 0, CLIENT, V(CLIENT), V(WORKER), V(0));
	script_event(WAKE, MS / 2, 0, CLIENT, V(WORKER));
	switch_away(0);
	is_not_reported();
}

/*
 * If the states in switches prove nothing, two types of events can replace them: an event before each sleep,
 * and an event at the end of each thread. The kernel must record both types.
 */
static void sleep_and_end_events_replace_states(void **state)
{
	(void)state;
	forget_rows();
	script_type(BLOCK, "sched", "block", "u64 queue");
	script_event(SWITCH, MS, 0, CLIENT, V(CLIENT), V(WORKER), V(0));
	script_event(WAKE, MS / 2, 0, CLIENT, V(WORKER));
	switch_away(0);
	is_doubted(FINDING_POSSIBLE, "unknown whether");
	next();
	forget_rows();
	script_type(BLOCK, "sched", "block", "u64 queue");
	script_type(EXIT, "sched", "exit", "");
	script_event(SWITCH, MS, 0, CLIENT, V(CLIENT), V(WORKER), V(0));
	script_event(WAKE, MS / 2, 0, CLIENT, V(WORKER));
	switch_away(0);
	starves(FINDING_LIKELY);
}

static void announce(void)
{
	forget_rows();
	script_type(BLOCK, "sched", "block", "u64 queue");
	script_type(EXIT, "sched", "exit", "");
	script_type(SWITCHED, "ktrace", "switched", "u16 first,u16 last,u8 state");
	script_event(SWITCH, MS, 0, CLIENT, V(CLIENT), V(WORKER), V(0));
	script_event(WAKE, MS / 2, 0, CLIENT, V(WORKER));
	switch_away(0);
}

/* A panic stops recording. The events before the panic remain valid. */
static void sleep_and_end_events_count_after_panic(void **state)
{
	(void)state;
	announce();
	script_stop();
	starves(FINDING_LIKELY);
	next();
	announce();
	/* disabled at the end of the trace */
	script_event(SWITCHED, LAST, 0, CLIENT, V(BLOCK), V(EXIT), V(0));
	starves(FINDING_LIKELY);
}

/* The event for sleeps was disabled for a while, so the sleep was not recorded. */
static void switched_off_events_prove_nothing(void **state)
{
	(void)state;
	announce();
	script_event(SWITCHED, SINCE - MS, 0, CLIENT, V(BLOCK), V(BLOCK), V(0));
	script_event(SWITCHED, SINCE + MS, 0, CLIENT, V(BLOCK), V(BLOCK), V(1));
	assert_int_equal(why_count(WHY_STARVATION), 0);
	next();
	announce();
	script_switch_off(EXIT); /* the event for ends of threads was disabled all the time */
	assert_int_equal(why_count(WHY_STARVATION), 0);
}

/* In the time in which switches were not recorded, the thread may have run or gone to sleep. */
static void switched_off_switches_prove_nothing(void **state)
{
	(void)state;
	announce();
	script_event(SWITCHED, SINCE + MS, 0, CLIENT, V(SWITCH), V(SWITCH), V(0));
	is_not_reported();
}

/* Recording stopped long before the machine: there are heartbeats after the last event. */
static void stopped_recording_proves_nothing(void **state)
{
	(void)state;
	announce();
	script_stop();
	script_cpu(1)->heartbeat_stamp = script_cpu(1)->now = LAST + 500 * MS;
	assert_int_equal(why_count(WHY_STARVATION), 0);
}

/* The states of this kernel have different meanings: its sleepers have state 0, as their wakeups show. */
static void wakeups_of_runnable_threads_discredit_states(void **state)
{
	(void)state;
	forget_rows();
	use_states();
	for (uint64_t stamp = 10 * MS; stamp < SINCE; stamp += 100 * MS) {
		script_event(SWITCH, stamp + 1, 1, OTHERS, V(OTHERS), V(IDLE1), V(0));
		script_event(WAKE, stamp + 2, 1, IDLE1, V(OTHERS));
		script_event(SWITCH, stamp + 3, 1, IDLE1, V(IDLE1), V(OTHERS), V(0));
	}
	script_event(WAKE, MS / 2, 0, CLIENT, V(WORKER));
	switch_away(0);
	assert_int_equal(why_count(WHY_STARVATION), 0);
}

static void state_of_unknown_meaning_is_unknown(void **state)
{
	(void)state;
	forget_rows();
	script_event(WAKE, MS / 2, 0, CLIENT, V(WORKER));
	script_event(SWITCH, MS, 0, CLIENT, V(CLIENT), V(WORKER), V(9));
	switch_away(7);
	is_not_reported();
}

/* ---- The CPU on which the thread would run ------------------------------------------------------------ */

static void runnable_thread_on_idle_cpu_may_be_lost(void **state)
{
	(void)state;
	worker->cause = KTRX_CAUSE_WAKE;
	worker->cpu = 1;
	is_doubted(FINDING_LIKELY, "thread 5 (worker) has been runnable for 6.00 s, while CPU 1 idles");
	why_says("it is missing from the run queue, or a hook is missing");
}

/* Without ticks, the CPU that looks idle may run a handler that has not called ktrace_interrupt_enter(). */
static void runnable_thread_on_silent_idle_cpu_is_possible(void **state)
{
	(void)state;
	worker->cause = KTRX_CAUSE_WAKE;
	worker->cpu = 1;
	why_cpu_beats(1, 100, SINCE);
	is_doubted(FINDING_POSSIBLE, "thread 5 (worker) has been runnable for 6.00 s, while CPU 1 idles");
	why_says(
		"or CPU 1 does not idle, but runs an interrupt handler that has not called ktrace_interrupt_enter()");
}

static void thread_that_never_ran_has_no_cpu(void **state)
{
	(void)state;
	worker->cause = KTRX_CAUSE_START;
	script_cpu(0)->switch_stamp = LAST;
	is_doubted(FINDING_LIKELY, "thread 5 (worker) has been runnable for 6.00 s, while a CPU idles");
}

/* No hook reports that a thread may run on only one CPU. */
static void new_thread_may_wait_for_a_busy_cpu(void **state)
{
	(void)state;
	worker->cause = KTRX_CAUSE_START;
	script_cpu(0)->switch_stamp = MS;
	is_doubted(FINDING_POSSIBLE,
		   "or it may run only on CPU 0, on which another thread has run all the time");
}

static void runnable_thread_on_offline_cpu_is_reported(void **state)
{
	(void)state;
	script_info()->cpus = 3;
	worker->cause = KTRX_CAUSE_WAKE;
	worker->cpu = 2;
	is_doubted(FINDING_LIKELY, "but CPU 2 is offline");
}

/* An idle thread is never woken. It may have any name. */
static void idle_thread_with_other_name_does_not_starve(void **state)
{
	(void)state;
	script_thread(WORKER, "cpu0");
	worker->wakes = 0;
	worker->cause = KTRX_CAUSE_SWITCH;
	script_cpu(1)->hooks |= KTRX_HOOK_EXIT;
	client_sleeps();
	use_states();
	switch_away(0);
	is_doubted(FINDING_POSSIBLE, "thread 5 (cpu0) has not run for");
}

/* A thread that was created but not started is not a problem. */
static void unstarted_thread_is_not_reported(void **state)
{
	(void)state;
	script_type(CREATE, "sched", "create", "u32 thread");
	worker->state = KTRX_THREAD_UNKNOWN;
	script_event(CREATE, 50 * MS, 1, IDLE1, V(WORKER));
	is_not_reported();
}

/*
 * The table contains the time of the last tick before the wakeup. A later event of the thread shows that the
 * thread began to wait for a CPU after this time.
 */
static void own_events_shorten_wait(void **state)
{
	(void)state;
	worker->cause = KTRX_CAUSE_WAKE;
	script_event(OTHER, SINCE + 50 * MS, 0, WORKER);
	starves(FINDING_CERTAIN);
	why_says("for 5.95 s and has not run");
	next();
	worker->cause = KTRX_CAUSE_WAKE;
	/* the worker recorded this event, so it was running; hence the kernel omits a call of a hook */
	script_event(OTHER, SINCE + 3000 * MS, 0, WORKER);
	is_doubted(FINDING_POSSIBLE, "thread 5 (worker) has not run for 3.00 s: it is unknown");
}

/* The machine was silent at the end, so other threads may not have run either. */
static void silence_of_machine_does_not_count_as_wait(void **state)
{
	static char note[] = "silent: 20 s\n";

	(void)state;
	worker->cause = KTRX_CAUSE_WAKE;
	worker->cpu = 1;
	worker->state_stamp = LAST - 200 * MS;
	script_info()->note = note;
	is_not_reported();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)
	const struct CMUnitTest tests[] = {
		TEST(woken_thread_starves),
		TEST(higher_priority_explains_starvation),
		TEST(runnable_thread_without_reason_may_be_lost),
		TEST(lower_priority_does_not_explain_starvation),
		TEST(thread_that_cannot_be_preempted_explains_starvation),
		TEST(thread_that_may_have_ended_does_not_starve),
		TEST(thread_of_old_kernel_may_have_ended),
		TEST(ended_thread_is_not_reported),
		TEST(thread_with_recorded_ends_starves),
		TEST(thread_that_heartbeats_find_running_is_not_waiting_for_its_turn),
		TEST(thread_in_whose_context_the_cpu_idles_may_be_lost),
		TEST(thread_that_may_sleep_does_not_starve),
		TEST(thread_that_holds_lock_has_not_ended),
		TEST(new_thread_waits_since_its_creation),
		TEST(varying_states_prove_runnable),
		TEST(constant_state_proves_nothing),
		TEST(sleep_and_end_events_replace_states),
		TEST(sleep_and_end_events_count_after_panic),
		TEST(switched_off_events_prove_nothing),
		TEST(switched_off_switches_prove_nothing),
		TEST(stopped_recording_proves_nothing),
		TEST(wakeups_of_runnable_threads_discredit_states),
		TEST(state_of_unknown_meaning_is_unknown),
		TEST(runnable_thread_on_idle_cpu_may_be_lost),
		TEST(runnable_thread_on_silent_idle_cpu_is_possible),
		TEST(thread_that_never_ran_has_no_cpu),
		TEST(new_thread_may_wait_for_a_busy_cpu),
		TEST(runnable_thread_on_offline_cpu_is_reported),
		TEST(idle_thread_with_other_name_does_not_starve),
		TEST(unstarted_thread_is_not_reported),
		TEST(own_events_shorten_wait),
		TEST(silence_of_machine_does_not_count_as_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
