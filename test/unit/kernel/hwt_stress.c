/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Stress test of hardware trace: threads of this program act as threads of traced processes. The threads take
 * turns on a few CPUs, map code, make further threads and exit. At the same time, owners make, start, stop,
 * read and release contexts that trace these processes.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/fake/hwt_threads.h"
#include "unit/support/proc_walk.h"

#define OWNERS	   3u
#define ROUNDS	   3000u /* number of rounds of each process, which call hooks that make records */
#define LIFE_EVERY 50u	 /* number of rounds after which the second thread is made again, runs and ends */
#define CHAOS	   400u	 /* number of contexts that each owner makes */

static atomic_bool working;

/* ---- The targets ------------------------------------------------------------------------------- */

static void preempt(void)
{
	hwt_threads_get_cpu(hwt_threads_leave_cpu());
}

/*
 * Runs the simulated second thread for a while. It uses the POSIX thread of the simulated first thread, which
 * is switched out during this time.
 */
static void run_second_thread(struct hwt_threads_process *self)
{
	struct ktrace_hwt_thread *first;

	hwt_threads_set_second(self, true);
	ktrace_hwt_thread_create(&self->trace, &self->thread[1]);
	first = hwt_threads_leave_cpu();
	hwt_threads_get_cpu(&self->thread[1]);
	ktrace_hwt_thread_name(&self->trace, &self->thread[1], "second");
	preempt();
	ktrace_hwt_thread_exit(&self->trace, &self->thread[1]);
	assert_null(self->thread[1].unit);
	hwt_threads_leave_cpu();
	hwt_threads_set_second(self, false);
	hwt_threads_get_cpu(first);
}

static void work(struct hwt_threads_process *self, uint32_t n)
{
	struct ktrx_hwt_image image = { n, 1, 0, 5, 0 };

	switch (n % 8) {
	case 3:
		ktrace_hwt_mmap(&self->trace, &self->thread[0], &image, "/lib/libc.so");
		break;
	case 6:
		ktrace_hwt_exec(&self->trace, &self->thread[0], n, "/bin/sh", 0);
		break;
	default:
		ktrace_hwt_munmap(&self->trace, &self->thread[0], n, 1);
	}
	if (n % 5 == 0)
		preempt();
	if (n % LIFE_EVERY == 0)
		run_second_thread(self);
}

static void *run_target(void *argument)
{
	struct hwt_threads_process *self = argument;

	hwt_threads_get_cpu(&self->thread[0]);
	for (uint32_t n = 0; n < ROUNDS; n++)
		work(self, n);
	ktrace_hwt_thread_exit(&self->trace, &self->thread[0]);
	ktrace_hwt_exit(&self->trace);
	assert_null(self->trace.context);
	hwt_threads_die(self);
	hwt_threads_leave_cpu();
	return NULL;
}

/* Runs rounds of work until all owners have ended. Other processes may run on the CPU between rounds. */
static void *run_target_on(void *argument)
{
	struct hwt_threads_process *self = argument;

	hwt_threads_get_cpu(&self->thread[0]);
	for (uint32_t n = 0; working; n++)
		work(self, n);
	hwt_threads_leave_cpu();
	return run_target(argument);
}

/* ---- The owners -------------------------------------------------------------------------------- */

static int open_context(struct ktrace_hwt_owner *owner, uint32_t pid, uint64_t cpu_mask, uint64_t queue_size,
			struct ktrace_hwt_context **context)
{
	const struct ktrace_hwt_request request = { .size = sizeof(request),
						    .mode = pid ? KTRX_HWT_MODE_THREAD : KTRX_HWT_MODE_CPU,
						    .pid = pid,
						    .cpus = { cpu_mask },
						    .buffer_size = 4096,
						    .queue_size = queue_size };
	uint32_t ident;
	int error = ktrace_hwt_alloc(owner, &hwt_threads_processes[0].trace, &request, &ident);

	if (error)
		return error;
	*context = ktrace_hwt_get(ident);
	return *context ? KTRACE_OK : KTRACE_ERROR_STATE;
}

struct counted {
	uint64_t made;	 /* number of records made by work() */
	uint64_t others; /* number of other records: about units and threads */
	uint64_t lost;
	uint64_t last; /* serial number in the last record of work() that was read */
};

/* Reads and counts some records. Returns the result of ktrace_hwt_records(). */
static int64_t read_some(struct ktrace_hwt_context *context, uint64_t timeout_ns, struct counted *counted)
{
	uint8_t bytes[2048];
	uint32_t count;
	int64_t size = ktrace_hwt_records(context, bytes, sizeof(bytes), 20, timeout_ns, &count);
	struct proc_walk walk;
	struct proc_seen seen;

	if (size <= 0)
		return size;
	proc_walk_bytes(&walk, bytes, (size_t)size, KTRACE_PROC_FORMAT_KTRX);
	while (proc_next(&walk, &seen)) {
		counted->lost += seen.lost;
		if (seen.type > KTRX_HWT_EXECUTABLE) {
			counted->others += seen.type != KTRX_HWT_CONTEXT;
			continue;
		}
		assert_true(counted->made == 0 || proc_bits(seen.payload, 8) > counted->last);
		counted->last = proc_bits(seen.payload, 8);
		counted->made++;
	}
	assert_false(walk.torn);
	return size;
}

static void set_pauses(struct ktrace_hwt_context *context, uint32_t pauses, uint32_t timeout_ms)
{
	const struct ktrace_hwt_pausing pausing = { pauses, timeout_ms };
	const struct ktrace_hwt_config config = { 0 };
	uint32_t left_out;

	assert_int_equal(ktrace_hwt_configure(context, &config, &pausing, &left_out), KTRACE_OK);
}

struct reader {
	struct ktrace_hwt_owner owner;
	struct ktrace_hwt_context *context;
	struct counted counted;
};

/* Reads all records, wakes paused threads, and reads positions of buffers. */
static void *read_all(void *argument)
{
	struct reader *reader = argument;
	struct ktrace_hwt_place place;
	int64_t result;
	int error;

	do {
		result = read_some(reader->context, 20000000, &reader->counted);
		ktrace_hwt_wakeup(reader->context);
		error = ktrace_hwt_position(reader->context, 0, &place);
		assert_true(error == KTRACE_OK || error == KTRACE_ERROR_BUSY);
	} while (result >= 0);
	assert_int_equal(result, KTRACE_ERROR_NO_PROCESS);
	return NULL;
}

/* Makes contexts of random targets, uses them, and releases them in various ways. */
static void *use_contexts(void *argument)
{
	uint32_t seed = (uint32_t)(uintptr_t)argument, opened = 0;

	while (opened < CHAOS) {
		struct ktrace_hwt_owner owner = { 0 };
		struct ktrace_hwt_context *context;
		struct ktrace_hwt_place place;
		struct counted counted = { 0 };
		uint32_t what = (seed = seed * 1103515245 + 12345) >> 16;
		int error = open_context(&owner, what % 8 == 7 ? 0 : what % HWT_THREADS_PROCESSES + 1,
					 what % 8 == 7 ? 1 << what % HWT_THREADS_CPUS : 0,
					 KTRACE_HWT_QUEUE_MIN, &context);

		if (error) {
			assert_int_equal(error, KTRACE_ERROR_EXIST);
			sched_yield();
			continue;
		}
		opened++;
		set_pauses(context, what >> 4 & 3, 1);
		assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
		for (uint32_t i = 0; i < what % 5; i++) {
			read_some(context, 100000, &counted);
			ktrace_hwt_wakeup(context);
			if (ktrace_hwt_position(context, 0, &place) == KTRACE_OK)
				ktrace_hwt_service(context, 0, place.position);
		}
		if (what & 64)
			assert_int_equal(ktrace_hwt_stop(context), KTRACE_OK);
		if (what & 128)
			ktrace_hwt_release(context);
		ktrace_hwt_owner_exit(&owner);
		assert_int_equal(ktrace_hwt_stop(context), KTRACE_ERROR_STATE);
		ktrace_hwt_put(context);
	}
	return NULL;
}

/* ---- Tests ------------------------------------------------------------------------------------- */

static void a_reader_that_follows_gets_every_record(void **state)
{
	static struct reader readers[HWT_THREADS_PROCESSES];
	pthread_t target[HWT_THREADS_PROCESSES], owner[HWT_THREADS_PROCESSES];

	(void)state;
	for (uint32_t i = 0; i < HWT_THREADS_PROCESSES; i++) {
		struct reader *reader = &readers[i];

		assert_int_equal(
			open_context(&reader->owner, i + 1, 0, KTRACE_HWT_QUEUE_MIN, &reader->context),
			KTRACE_OK);
		set_pauses(reader->context, i % 2 ? KTRACE_HWT_PAUSE_EXEC | KTRACE_HWT_PAUSE_MMAP : 0, 60000);
		assert_int_equal(ktrace_hwt_start(reader->context), KTRACE_OK);
		pthread_create(&target[i], NULL, run_target, &hwt_threads_processes[i]);
		pthread_create(&owner[i], NULL, read_all, reader);
	}
	for (uint32_t i = 0; i < HWT_THREADS_PROCESSES; i++) {
		pthread_join(target[i], NULL);
		pthread_join(owner[i], NULL);
		assert_int_equal(readers[i].counted.made, ROUNDS);
		assert_int_equal(readers[i].counted.lost, 0);
		ktrace_hwt_owner_exit(&readers[i].owner);
		ktrace_hwt_put(readers[i].context);
	}
}

/*
 * The queue is read only at the end. The number of records in it plus the number of lost records must be the
 * number of records made.
 */
static void records_without_room_are_counted(void **state)
{
	struct reader reader = { .counted = { 0 } };
	pthread_t target;

	(void)state;
	assert_int_equal(open_context(&reader.owner, 1, 0, KTRACE_HWT_QUEUE_MIN, &reader.context), KTRACE_OK);
	set_pauses(reader.context, 0, 1);
	pthread_create(&target, NULL, run_target, &hwt_threads_processes[0]);
	pthread_join(target, NULL);
	read_all(&reader);
	/*
	 * Expected number of records about threads: one each time that the second thread is made, is renamed,
	 * or exits.
	 */
	assert_int_equal(reader.counted.made + reader.counted.others + reader.counted.lost,
			 ROUNDS + 2 * (1 + ROUNDS / LIFE_EVERY) + ROUNDS / LIFE_EVERY);
	assert_true(reader.counted.made < ROUNDS);
	ktrace_hwt_owner_exit(&reader.owner);
	ktrace_hwt_put(reader.context);
}

static void owners_come_and_go(void **state)
{
	pthread_t target[HWT_THREADS_PROCESSES], owner[OWNERS];

	(void)state;
	working = true;
	for (uint32_t i = 0; i < HWT_THREADS_PROCESSES; i++)
		pthread_create(&target[i], NULL, run_target_on, &hwt_threads_processes[i]);
	for (uint32_t i = 0; i < OWNERS; i++)
		pthread_create(&owner[i], NULL, use_contexts, (void *)(uintptr_t)(i + 1));
	for (uint32_t i = 0; i < OWNERS; i++)
		pthread_join(owner[i], NULL);
	working = false;
	for (uint32_t i = 0; i < HWT_THREADS_PROCESSES; i++)
		pthread_join(target[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_reader_that_follows_gets_every_record, hwt_threads_begin,
						hwt_threads_end),
		cmocka_unit_test_setup_teardown(records_without_room_are_counted, hwt_threads_begin,
						hwt_threads_end),
		cmocka_unit_test_setup_teardown(owners_come_and_go, hwt_threads_begin, hwt_threads_end),
	};

	if (hwt_threads_start())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
