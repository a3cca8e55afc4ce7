/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * hwtthreads: creates a context of hardware trace for a process with several threads. Checks that each of
 * these threads gets a trace unit, and that threads that start later get one, too (abi/hwt.h). Without a
 * trace unit in the machine it checks nothing.
 */
#include <hwt.h>
#include <ktrx/hwt.h>
#include <program.h>
#include <stdio.h>
#include <string.h>
#include <thread.h>
#include <unistd.h>

#define PAGE	 4096u
#define BUFFER	 (16 * PAGE)
#define THREADS	 3 /* number of threads, including the first one */
#define LATE	 THREADS
#define ATTEMPTS 1000
#define RETRY_MS 10

static unsigned turns[THREADS];
static unsigned stop;

static unsigned odd(unsigned n)
{
	return n * 3 + 1;
}

static unsigned even(unsigned n)
{
	return n / 2;
}

/*
 * Calls functions through pointers until `stop` is set, because a trace unit must record the target of each
 * of these calls.
 */
static void compute(void *argument)
{
	static unsigned (*volatile const functions[])(unsigned) = { even, odd };
	unsigned *count = argument, n = 27;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		n = n > 1 ? functions[n % 2](n) : 27;
		__atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
	}
}

static int open_unit(uint32_t ident, uint32_t unit)
{
	char path[32];
	int fd, error;

	format(path, sizeof(path), HWT_PATH "_%u_%u", ident, (unsigned)getpid());
	fd = open(path, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	error = ioctl(fd, HWT_IOC_UNIT, &unit);
	if (!error)
		return fd;
	close(fd);
	return error;
}

/* Returns how many bytes the trace unit has written for the thread with this index. */
static uint64_t written(uint32_t ident, uint32_t unit)
{
	struct abi_hwt_place place = { 0 };
	int fd = open_unit(ident, unit);

	if (check(fd >= 0, "a thread's unit"))
		check_equal(0, ioctl(fd, HWT_IOC_BUFPTR_GET, &place), "the position of a unit is read");
	close(fd);
	return place.position;
}

/* Reads records, and stores in tids[] the id of the thread to which each unit belongs. */
static void note_units(int fd, uint32_t tids[LATE + 1])
{
	static char bytes[65536];
	struct abi_hwt_records wanted = { .buffer = (uintptr_t)bytes, .size = sizeof(bytes), .most = 1024 };
	const struct ktrx_proc_record *record;

	if (!check_equal(0, ioctl(fd, HWT_IOC_RECORD_GET, &wanted), "records"))
		return;
	for (size_t at = 0; at < wanted.bytes; at += sizeof(*record) + (record->size + 7) / 8 * 8) {
		const struct ktrx_hwt_thread *thread;

		if (memcmp(bytes + at, KTRX_PROC_MAGIC, 4) == 0)
			at += sizeof(struct ktrx_proc_head);
		if (at >= wanted.bytes)
			break;
		record = (const void *)(bytes + at);
		thread = (const void *)(record + 1);
		if (record->type == KTRX_HWT_THREAD_CREATE && thread->index <= LATE)
			tids[thread->index] = record->tid;
	}
}

static bool is_among(const uint32_t *tids, unsigned count, int tid)
{
	unsigned found = 0;

	for (unsigned i = 0; i < count; i++)
		found += tids[i] == (uint32_t)tid;
	return found == 1;
}

/*
 * Checks that the unit of a computing thread writes trace data. Waits for that, because it may take a while
 * until the thread runs.
 */
static void check_written(uint32_t ident, uint32_t unit)
{
	unsigned tries = 0;

	while (written(ident, unit) < PAGE && tries++ < ATTEMPTS)
		sleep_ms(RETRY_MS);
	check(tries < ATTEMPTS, "a thread that computes is traced");
}

static void trace_threads(uint32_t ident, struct thread *threads)
{
	struct abi_hwt_config config = { 0 };
	uint32_t tids[LATE + 1] = { 0 };
	int fd = open_unit(ident, 0);
	struct thread late;

	if (!check(fd >= 0, "the first unit"))
		return;
	check_equal(-EINVAL, open_unit(ident, LATE), "a unit that does not exist is not opened");
	check_equal(0, ioctl(fd, HWT_IOC_SET_CONFIG, &config), "configured");
	check_equal(0, ioctl(fd, HWT_IOC_START, NULL), "started");
	note_units(fd, tids);
	for (unsigned i = 1; i < THREADS; i++)
		check(is_among(tids, THREADS, threads[i].id), "each thread has a unit");
	check(is_among(tids, THREADS, getpid()), "the first thread has a unit");
	for (uint32_t unit = 0; unit < THREADS; unit++)
		if (tids[unit] != (uint32_t)getpid())
			check_written(ident, unit);
	check_equal(0, thread_start(&late, "late", compute, &turns[0]), "a thread starts later");
	check_written(ident, LATE);
	note_units(fd, tids);
	check_equal(late.id, tids[LATE], "the later thread has a unit");
	check_equal(0, ioctl(fd, HWT_IOC_STOP, NULL), "stopped");
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	check_equal(0, thread_await(&late), "the later thread ends");
	close(fd);
}

int main(int argc, char **argv)
{
	struct abi_hwt_alloc wanted = {
		.mode = KTRX_HWT_MODE_THREAD,
		.pid = (uint32_t)getpid(),
		.buffer_size = BUFFER,
	};
	struct thread threads[THREADS];
	int device = open(HWT_PATH, O_RDWR | O_CLOEXEC, 0), error;

	(void)argc, (void)argv;
	check(device >= 0, HWT_PATH);
	for (unsigned i = 1; i < THREADS; i++)
		check_equal(0, thread_start(&threads[i], "computing", compute, &turns[i]), "a thread starts");
	error = ioctl(device, HWT_IOC_ALLOC, &wanted);
	if (error == -ENODEV)
		printf("hwtthreads: there is no trace unit\n");
	else if (check_equal(0, error, "a context"))
		trace_threads(wanted.ident, threads);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (unsigned i = 1; i < THREADS; i++)
		check_equal(0, thread_await(&threads[i]), "a thread ends");
	finish();
}
