/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Invented traces ("stories") of threads that are runnable and do not run: one thread starves, one is never
 * chosen by an idle CPU, and the state of some others is unknown.
 */
#include <stddef.h>
#include <stdint.h>

#include "ktrace/control.h"
#include "ktrace/hooks.h"
#include "test/fake/machine.h"
#include "test/golden/why_stories.h"
#include "test/golden/why_story.h"

/* Blue (thread 7) sleeps. So the trace shows that this kernel records when threads sleep. */
static void boot_with_a_sleeper(void (*prepare)(void))
{
	boot_with(prepare);
	run(2, 7, 10);
	rest();
}

static void disable_exit_events(void)
{
	ktrace_control("-sched.exit");
}

/* Thread 8 has ended. Its end is recorded only if `recorded` is true. Then thread 6 runs on the same CPU. */
static void make_ended(const char *name, int recorded)
{
	boot_with_a_sleeper(recorded ? NULL : disable_exit_events);
	run(0, 8, 20);
	at(30);
	if (recorded)
		ktrace_thread_exit(8);
	run(0, 6, 40);
	ktrace_thread_priority(6, 20);
	if (!recorded)
		ktrace_thread_priority(8, 10);
	go_on_to(4040);
	save(name);
}

/* Thread 8 was woken, but CPU 0 stays idle. */
static void make_lost(void)
{
	boot_with_a_sleeper(NULL);
	run(0, 8, 20);
	at(30);
	rest();
	run(1, 5, 40);
	wake(8);
	at(50);
	rest();
	go_on_to(4040);
	save("lost.ktrx");
}

/* Thread 8 was woken, but thread 6, which has a higher priority, runs on the CPU all the time. */
static void make_starved(void)
{
	boot_with_a_sleeper(NULL);
	run(0, 8, 20);
	ktrace_thread_priority(8, 10);
	at(30);
	rest();
	run(0, 6, 40);
	ktrace_thread_priority(6, 20);
	wake(8);
	go_on_to(4040);
	save("starved.ktrx");
}

/* CPU 0 switches from its idle thread to thread 6, but does not record that it is no longer idle. */
static void make_stale_idle(void)
{
	boot_with_a_sleeper(NULL);
	at(20);
	switch_to(0, 6);
	go_on_to(4040);
	save("stale-idle.ktrx");
}

/*
 * Thread 6 was preempted, and thread 5 has been alone on its CPU since then. Nothing shows that thread 6 has
 * not ended, because the kernel does not record ends of threads.
 */
static void make_preempted(void)
{
	boot();
	run(0, 6, 20);
	run(0, 5, 30);
	go_on_to(1730);
	save("preempted.ktrx");
}

void make_runnable(void)
{
	make_preempted();
	make_ended("ended.ktrx", 0);
	make_ended("ended-recorded.ktrx", 1);
	make_lost();
	make_starved();
	make_stale_idle();
}
