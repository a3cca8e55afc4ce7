/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Three threads of different priorities on one CPU.
 * The mistake: the thread of lowest priority shares a mutex with the thread of highest priority, and the
 * mutex has no priority inheritance. A thread of medium priority that only computes prevents the holder from
 * running, so that the mutex is never released.
 */
#include "arch.h"
#include "clock.h"
#include "mutex.h"
#include "thread.h"
#include "timer.h"
#include "bug/bug.h"

static struct mutex bus = MUTEX("bus");

static void gather_weather(void *unused)
{
	(void)unused;
	thread_set_priority(PRIORITY_DEFAULT - 1);
	for (;;) {
		mutex_lock(&bus);
		work_compute(100 * NS_PER_MS);
		mutex_unlock(&bus);
	}
}

static void compress_images(void *unused)
{
	(void)unused;
	timer_sleep(40 * NS_PER_MS);
	for (;;)
		arch_relax();
}

static void distribute_data(void *unused)
{
	(void)unused;
	thread_set_priority(PRIORITY_DEFAULT + 1);
	for (;;) {
		timer_sleep(20 * NS_PER_MS);
		mutex_lock(&bus);
		mutex_unlock(&bus);
	}
}

void bug_inversion(uint64_t until_ns)
{
	(void)until_ns;
	thread_create("weather", gather_weather, NULL, 0);
	thread_create("images", compress_images, NULL, 0);
	thread_create("distribution", distribute_data, NULL, 0);
	for (;;)
		timer_sleep(NS_PER_S);
}
