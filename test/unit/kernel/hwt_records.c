/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the contents of records, byte by byte, and that lost records are counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unit/support/hwt_support.h"

static struct ktrace_hwt_owner owner;
static struct ktrace_hwt_context *context;
static struct hwt_process *target;
static struct hwt_thread *thread;

static int setup(void **state)
{
	hwt_reset(state);
	hwt_start();
	memset(&owner, 0, sizeof(owner));
	target = hwt_fork(7, 7);
	thread = &target->thread[0];
	context = hwt_trace(&owner, target);
	return 0;
}

static int teardown(void **state)
{
	ktrace_hwt_owner_exit(&owner);
	ktrace_hwt_put(context);
	return hwt_check(state);
}

static void equal_text(const struct proc_seen *seen, size_t at, const char *text)
{
	assert_int_equal(seen->size, at + strlen(text));
	assert_memory_equal(seen->payload + at, text, strlen(text));
}

static void image(struct proc_walk *walk, uint32_t type, uint64_t address, uint64_t size, uint64_t offset,
		  const char *path)
{
	struct proc_seen seen;

	assert_true(proc_next(walk, &seen));
	assert_int_equal(seen.type, type);
	assert_int_equal(seen.pid, target->id.pid);
	assert_int_equal(proc_bits(seen.payload, 8), address);
	assert_int_equal(proc_bits(seen.payload + 8, 8), size);
	assert_int_equal(proc_bits(seen.payload + 16, 8), offset);
	assert_int_equal(proc_bits(seen.payload + 24, 4), type == KTRX_HWT_EXECUTABLE ? 4 : 5);
	/* the ident in the record: the first context has ident 1 */
	assert_int_equal(proc_bits(seen.payload + 28, 4), 1);
	equal_text(&seen, 32, path);
}

static void drain(void)
{
	struct proc_walk walk;

	hwt_take(context, &walk);
}

static void each_hook_queues_its_record(void **state)
{
	struct ktrx_hwt_image mapped = { 0x7000, 0x2000, 0x1000, 5, 99 };
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	drain();
	ktrace_hwt_exec(&target->trace, &thread->trace, 0x400000, "/bin/ls", 0);
	ktrace_hwt_mmap(&target->trace, &thread->trace, &mapped, "/lib/libc.so");
	ktrace_hwt_munmap(&target->trace, &thread->trace, 0x7000, 0x1000);
	hwt_thread(target);
	ktrace_hwt_thread_name(&target->trace, &target->thread[1].trace, "worker");
	hwt_take(context, &walk);
	image(&walk, KTRX_HWT_EXECUTABLE, 0x400000, 0, 0, "/bin/ls");
	image(&walk, KTRX_HWT_MMAP, 0x7000, 0x2000, 0x1000, "/lib/libc.so");
	assert_true(proc_next(&walk, &seen));
	assert_int_equal(seen.type, KTRX_HWT_MUNMAP);
	assert_int_equal(seen.tid, thread->trace.tid);
	assert_int_equal(seen.size, 24);
	assert_int_equal(proc_bits(seen.payload, 8), 0x7000);
	assert_int_equal(proc_bits(seen.payload + 8, 8), 0x1000);
	assert_int_equal(proc_bits(seen.payload + 16, 8), UINT64_C(1) << 32);
	for (uint32_t type = KTRX_HWT_THREAD_CREATE; type <= KTRX_HWT_THREAD_NAME; type++) {
		assert_true(proc_next(&walk, &seen));
		assert_int_equal(seen.type, type);
		assert_int_equal(seen.pid, target->id.pid);
		assert_int_equal(seen.tid, target->thread[1].trace.tid);
		assert_int_equal(proc_bits(seen.payload, 8), 1 | UINT64_C(1) << 32);
		equal_text(&seen, 8, type == KTRX_HWT_THREAD_NAME ? "worker" : "");
	}
	assert_false(proc_next(&walk, &seen));
	assert_false(walk.torn);
}

static void earlier_mappings_are_recorded_first(void **state)
{
	struct ktrace_hwt_owner another = { 0 };
	struct ktrace_hwt_context *late;
	struct proc_walk walk;
	struct proc_seen seen;
	struct hwt_process *old = hwt_fork(7, 7);

	(void)state;
	old->image[0] = (struct hwt_image){ KTRX_HWT_EXECUTABLE, { .access = 4 }, "/bin/cat" };
	old->image[1] = (struct hwt_image){ KTRX_HWT_MMAP, { 0x5000, 0x1000, 0, 5, 0 }, "/lib/ld.so" };
	late = hwt_trace(&another, old);
	hwt_take(late, &walk);
	assert_true(proc_next(&walk, &seen));
	assert_int_equal(walk.heads, 1);
	assert_int_equal(seen.type, KTRX_HWT_EXECUTABLE);
	assert_int_equal(seen.tid, 0);
	equal_text(&seen, 32, "/bin/cat");
	assert_true(proc_next(&walk, &seen));
	assert_int_equal(seen.type, KTRX_HWT_MMAP);
	assert_int_equal(proc_bits(seen.payload + 28, 4), 2);
	assert_true(proc_next(&walk, &seen));
	assert_int_equal(seen.type, KTRX_HWT_THREAD_CREATE);
	assert_false(proc_next(&walk, &seen));
	ktrace_hwt_owner_exit(&another);
	ktrace_hwt_put(late);
}

/*
 * Removes the first mapping of the target. The simulated kernel calls this function each time that it
 * releases the lock of the process table.
 */
static void unmap_first(void)
{
	memmove(target->image, target->image + 1, sizeof(target->image) - sizeof(target->image[0]));
	memset(&target->image[HWT_IMAGES - 1], 0, sizeof(target->image[0]));
}

static void no_mapping_is_missed_while_others_are_removed(void **state)
{
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	ktrace_hwt_owner_exit(&owner);
	ktrace_hwt_put(context);
	for (uint64_t i = 0; i < HWT_IMAGES; i++)
		target->image[i] =
			(struct hwt_image){ KTRX_HWT_MMAP, { i << 16, 0x1000, 0, 5, 0 }, "/lib/a" };
	hwt_kernel.after_table_unlock = unmap_first;
	context = hwt_trace(&owner, target);
	hwt_kernel.after_table_unlock = NULL;
	hwt_take(context, &walk);
	/* mapping 0 was removed before the context was attached to the process */
	for (uint64_t i = 1; i < HWT_IMAGES; i++) {
		assert_true(proc_next(&walk, &seen));
		assert_int_equal(seen.type, KTRX_HWT_MMAP);
		assert_int_equal(proc_bits(seen.payload, 8), i << 16);
	}
	assert_true(proc_next(&walk, &seen));
	assert_int_equal(seen.type, KTRX_HWT_THREAD_CREATE);
}

static void map_another(void)
{
	struct ktrx_hwt_image mapped = { 0x5000, 0x1000, 0, 5, 0 };

	hwt_kernel.after_table_unlock = NULL;
	ktrace_hwt_mmap(&target->trace, &thread->trace, &mapped, "/lib/late.so");
}

/* The target runs while a context is made for it. It maps code as soon as the context is attached to it. */
static void mappings_made_during_the_start_are_recorded(void **state)
{
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	ktrace_hwt_owner_exit(&owner);
	ktrace_hwt_put(context);
	hwt_kernel.after_table_unlock = map_another;
	context = hwt_trace(&owner, target);
	hwt_take(context, &walk);
	proc_find(&walk, KTRX_HWT_MMAP, &seen);
	equal_text(&seen, 32, "/lib/late.so");
	assert_int_equal(walk.heads, 1);
	proc_find(&walk, KTRX_HWT_THREAD_CREATE, &seen);
	assert_false(walk.torn);
}

static void a_path_may_be_long(void **state)
{
	static char path[5000];
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	drain();
	memset(path, 'p', sizeof(path) - 1);
	ktrace_hwt_exec(&target->trace, &thread->trace, 0, path, 0);
	path[1024] = 0;
	ktrace_hwt_exec(&target->trace, &thread->trace, 0, path, 0);
	hwt_take(context, &walk);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(proc_next(&walk, &seen));
		assert_int_equal(seen.size, 32 + 1024);
		assert_int_equal(seen.flags, i == 0 ? KTRX_PROC_CUT : 0);
	}
}

/*
 * A thread waits for room in the queue until the timeout. After that, it does not wait again until records
 * have been read.
 */
static void records_without_room_are_counted_exactly(void **state)
{
	struct proc_walk walk;
	struct proc_seen seen;
	uint32_t made = 0, found = 0, lost = 0;

	(void)state;
	drain();
	for (uint32_t round = 0; round < 5; round++) {
		for (uint32_t i = 0; i < 300; i++, made++)
			ktrace_hwt_munmap(&target->trace, &thread->trace, i, i);
		assert_int_equal(hwt_kernel.sleeps, round + 1);
		hwt_take(context, &walk);
		while (proc_next(&walk, &seen)) {
			lost += seen.lost;
			found += seen.type == KTRX_HWT_MUNMAP;
		}
		assert_false(walk.torn);
	}
	assert_int_equal(hwt_kernel.now, 5 * UINT64_C(1000000000));
	/* reads one record, which states how many records were lost before it */
	hwt_take(context, &walk);
	assert_true(proc_next(&walk, &seen));
	assert_int_equal(seen.type, KTRX_HWT_CONTEXT);
	lost += seen.lost;
	assert_false(proc_next(&walk, &seen));
	assert_int_equal(found + lost, made);
	assert_true(lost > 0 && found > 0);
	drain();
	hwt_take(context, &walk);
	assert_false(proc_next(&walk, &seen));
}

static int read_some(uint32_t n)
{
	struct proc_walk walk;

	(void)n;
	hwt_take(context, &walk);
	return 0;
}

static void a_late_reader_loses_nothing(void **state)
{
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	hwt_kernel.in_sleep = read_some;
	for (uint32_t i = 0; i < 1000; i++)
		ktrace_hwt_munmap(&target->trace, &thread->trace, i, i);
	assert_true(hwt_kernel.sleeps > 0);
	assert_int_equal(hwt_kernel.now, 0);
	hwt_take(context, &walk);
	while (proc_next(&walk, &seen))
		assert_int_equal(seen.lost, 0);
}

static void a_reader_takes_at_most_what_it_requests(void **state)
{
	uint8_t bytes[4096];
	uint32_t count;

	(void)state;
	ktrace_hwt_munmap(&target->trace, &thread->trace, 1, 2);
	assert_int_equal(ktrace_hwt_records(context, bytes, sizeof(bytes), 0, 0, &count),
			 KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_hwt_records(context, bytes, sizeof(bytes), 1025, 0, &count),
			 KTRACE_ERROR_ARGUMENT);
	assert_int_equal(ktrace_hwt_records(context, bytes, 63, 9, 0, &count), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(count, 0);
	assert_int_equal(ktrace_hwt_records(context, bytes, 64 + 39, 9, 0, &count), 64);
	assert_int_equal(count, 1);
	assert_memory_equal(bytes, "KTRP", 4);
	assert_int_equal(ktrace_hwt_records(context, bytes, sizeof(bytes), 1, 0, &count), 40);
	assert_int_equal(count, 1);
	assert_int_equal(bytes[4], KTRX_HWT_THREAD_CREATE);
	assert_int_equal(ktrace_hwt_records(context, bytes, sizeof(bytes), 9, 0, &count), 56);
	assert_int_equal(ktrace_hwt_records(context, bytes, sizeof(bytes), 9, 0, &count), 0);
	assert_int_equal(hwt_kernel.sleeps, 0);
}

/* If a part of the reader's memory is not writable, no record is removed from the queue. */
static void records_that_cannot_be_copied_stay(void **state)
{
	static uint8_t bytes[KTRACE_HWT_QUEUE_MIN];
	uint32_t count, found = 0, made = 0;
	struct proc_walk walk;
	struct proc_seen seen;

	(void)state;
	for (int64_t round = 0; round < 20; round++) {
		for (uint32_t i = 0; i < 100; i++, made++) /* some records wrap around the end of the queue */
			ktrace_hwt_munmap(&target->trace, &thread->trace, i, i);
		hwt_kernel.writable = round * 293;
		assert_int_equal(ktrace_hwt_records(context, bytes, sizeof(bytes), 999, 0, &count),
				 KTRACE_ERROR_FAULT);
		assert_int_equal(count, 0);
		hwt_kernel.writable = -1;
		hwt_take(context, &walk);
		while (proc_next(&walk, &seen)) {
			assert_int_equal(seen.lost, 0);
			found += seen.type == KTRX_HWT_MUNMAP;
		}
		assert_int_equal(walk.heads, round == 0);
		assert_false(walk.torn);
	}
	assert_int_equal(found, made);
}

static int map_something(uint32_t n)
{
	if (n == 2)
		ktrace_hwt_munmap(&target->trace, &thread->trace, 1, 2);
	return 0;
}

static int be_killed(uint32_t n)
{
	return n == 1;
}

/*
 * The callback in_sleep makes a record after the reader has found the queue empty, but before the reader
 * sleeps.
 */
static void a_record_between_check_and_sleep_wakes_the_reader(void **state)
{
	uint8_t bytes[4096];
	uint32_t count;

	(void)state;
	drain();
	hwt_kernel.in_sleep = map_something;
	assert_int_equal(ktrace_hwt_records(context, bytes, sizeof(bytes), 9, 5000, &count), 0);
	assert_int_equal(hwt_kernel.now, 5000);
	assert_int_equal(ktrace_hwt_records(context, bytes, sizeof(bytes), 9, 5000, &count), 0);
	assert_int_equal(ktrace_hwt_records(context, bytes, sizeof(bytes), 9, 5000, &count), 56);
	assert_int_equal(hwt_kernel.now, 10000);
	hwt_kernel.sleeps = 0;
	hwt_kernel.in_sleep = be_killed;
	assert_int_equal(ktrace_hwt_records(context, bytes, sizeof(bytes), 9, 5000, &count), 0);
	assert_int_equal(ktrace_hwt_records(context, bytes, sizeof(bytes), 9, 5000, &count), 0);
	assert_int_equal(hwt_kernel.now, 15000);
}

static void the_end_of_the_target_is_reported(void **state)
{
	uint8_t bytes[4096];
	uint32_t count;

	(void)state;
	assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
	hwt_run(thread);
	drain();
	hwt_exit(target);
	assert_int_equal(ktrace_hwt_records(context, bytes, sizeof(bytes), 9, 5000, &count), 56);
	assert_int_equal(bytes[4], KTRX_HWT_BUFFER);
	assert_int_equal(proc_bits(bytes + 32, 8), 64);
	assert_int_equal(ktrace_hwt_records(context, bytes, sizeof(bytes), 9, 5000, &count),
			 KTRACE_ERROR_NO_PROCESS);
	assert_int_equal(hwt_kernel.sleeps, 0);
	ktrace_hwt_release(context);
	assert_int_equal(ktrace_hwt_records(context, bytes, sizeof(bytes), 9, 5000, &count),
			 KTRACE_ERROR_STATE);
}

static int read_clock(struct ktrace_hwt_backend *backend, uint64_t *time, uint64_t *frequency)
{
	*time = backend->kind + 12345;
	*frequency = 1000;
	return KTRACE_OK;
}

static void clocks_are_recorded_at_start_and_end(void **state)
{
	static struct ktrace_hwt_backend_operations operations;
	struct proc_walk walk;
	struct proc_seen seen;
	uint64_t stamp = 0;

	(void)state;
	operations = *hwt_mock.operations;
	operations.clock = read_clock;
	hwt_mock.operations = &operations;
	assert_int_equal(ktrace_hwt_start(context), KTRACE_OK);
	assert_int_equal(ktrace_hwt_stop(context), KTRACE_OK);
	hwt_take(context, &walk);
	for (uint32_t i = 0; i < 2; i++) {
		proc_find(&walk, KTRX_HWT_CLOCK, &seen);
		assert_int_equal(proc_bits(seen.payload, 8), 12345);
		assert_true(proc_bits(seen.payload + 8, 8) > stamp);
		stamp = proc_bits(seen.payload + 8, 8);
		assert_true(stamp <= seen.stamp);
		assert_int_equal(proc_bits(seen.payload + 16, 8), 1000);
		assert_int_equal(proc_bits(seen.payload + 24, 8), 1 | UINT64_C(0xffffffff) << 32);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_hook_queues_its_record, setup, teardown),
		cmocka_unit_test_setup_teardown(earlier_mappings_are_recorded_first, setup, teardown),
		cmocka_unit_test_setup_teardown(mappings_made_during_the_start_are_recorded, setup, teardown),
		cmocka_unit_test_setup_teardown(no_mapping_is_missed_while_others_are_removed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_path_may_be_long, setup, teardown),
		cmocka_unit_test_setup_teardown(records_without_room_are_counted_exactly, setup, teardown),
		cmocka_unit_test_setup_teardown(a_late_reader_loses_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(a_reader_takes_at_most_what_it_requests, setup, teardown),
		cmocka_unit_test_setup_teardown(records_that_cannot_be_copied_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(a_record_between_check_and_sleep_wakes_the_reader, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_end_of_the_target_is_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(clocks_are_recorded_at_start_and_end, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
