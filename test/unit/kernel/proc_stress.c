/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Stress test of process traces. Threads of this program act as CPUs with processes, which are all traced
 * into one sink. Other threads replace the sink. Each record in a file must be complete, and the records of a
 * thread must be in the order in which they were made. Missing records must have been counted.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ktrace/ktrace.h>
#include <ktrace/proc.h>

#include "unit/support/proc_walk.h"

#define WORKERS	 4u
#define ROUNDS	 5000u
#define CHILDREN 250u /* number of children of each worker */
#define SWAPS	 200u
/*
 * maximum number of calls that a worker makes before the sink is replaced, because the size of files is
 * limited
 */
#define CALLS_A_SWAP 500u
#define PROCESSES    64u
#define BUFFER	     (48u << 10)
#define FILE_MAX     (8u << 20)
#define PIDS	     (WORKERS * (CHILDREN + 1) + 1)

__thread uint64_t threads_reserve;
__thread uint32_t threads_cpu;

struct process {
	struct ktrace_proc trace;
	struct ktrace_proc_thread thread;
	struct process *parent;
	uint32_t pid;
	bool alive;
};

struct sink {
	struct ktrace_proc_sink sink; /* must be the first member */
	pthread_mutex_t lock;
	uint64_t buffer[BUFFER / 8];
	uint8_t *bytes;
	size_t size;
	atomic_uint closed;
};

static struct process processes[PROCESSES]; /* each worker has one of the first WORKERS processes */
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static atomic_flag short_lock = ATOMIC_FLAG_INIT;
static atomic_uint last_pid;
static atomic_bool working;

/* ---- The simulated kernel ---------------------------------------------------------------------- */

static unsigned long lock(void)
{
	while (atomic_flag_test_and_set_explicit(&short_lock, memory_order_acquire))
		sched_yield();
	return 0;
}

static void unlock(unsigned long saved)
{
	(void)saved;
	atomic_flag_clear_explicit(&short_lock, memory_order_release);
}

static unsigned long table_lock(void)
{
	pthread_mutex_lock(&table);
	return 0;
}

static void table_unlock(unsigned long saved)
{
	(void)saved;
	pthread_mutex_unlock(&table);
}

static struct process *process_of(const struct ktrace_proc *trace)
{
	return (struct process *)((uintptr_t)trace - offsetof(struct process, trace));
}

static struct ktrace_proc *next(struct ktrace_proc *last)
{
	for (struct process *process = last ? process_of(last) + 1 : processes;
	     process < processes + PROCESSES; process++)
		if (process->alive)
			return &process->trace;
	return NULL;
}

static struct ktrace_proc *parent(struct ktrace_proc *process)
{
	return process_of(process)->parent ? &process_of(process)->parent->trace : NULL;
}

static void identity(const struct ktrace_proc *process, struct ktrace_proc_identity *identity)
{
	memset(identity, 0, sizeof(*identity));
	identity->pid = process_of(process)->pid;
	identity->group = 1;
}

static void name(const struct ktrace_proc *process, char *to, size_t room)
{
	snprintf(to, room, "p%u", process_of(process)->pid);
}

static int copy_in(void *to, uintptr_t from, size_t size)
{
	memcpy(to, (const void *)from, size);
	return 0;
}

static const struct ktrace_proc_kernel kernel = {
	.size = sizeof(kernel),
	.lock = lock,
	.unlock = unlock,
	.table_lock = table_lock,
	.table_unlock = table_unlock,
	.next = next,
	.parent = parent,
	.identity = identity,
	.name = name,
	.copy_in = copy_in,
	.table = "0 call int",
};

static struct sink *sink_of(struct ktrace_proc_sink *sink)
{
	return (struct sink *)sink;
}

static int64_t write_file(struct ktrace_proc_sink *given, const void *data, size_t size)
{
	struct sink *sink = sink_of(given);

	if (size > FILE_MAX - sink->size)
		return -28;
	memcpy(sink->bytes + sink->size, data, size);
	sink->size += size;
	return (int64_t)size;
}

static void sink_lock(struct ktrace_proc_sink *sink)
{
	pthread_mutex_lock(&sink_of(sink)->lock);
}

static void sink_unlock(struct ktrace_proc_sink *sink)
{
	pthread_mutex_unlock(&sink_of(sink)->lock);
}

static void close_file(struct ktrace_proc_sink *sink)
{
	sink_of(sink)->closed++;
}

static const struct ktrace_proc_sink_operations operations = {
	.write = write_file,
	.lock = sink_lock,
	.unlock = sink_unlock,
	.close = close_file,
};

static struct sink *open_sink(uint32_t format)
{
	struct sink *sink = calloc(1, sizeof(*sink));
	struct ktrace_proc_sink_config config = { .size = sizeof(config),
						  .format = format,
						  .drain_at = BUFFER / 4,
						  .buffer_size = BUFFER,
						  .operations = &operations };

	assert_non_null(sink);
	sink->bytes = malloc(FILE_MAX);
	assert_non_null(sink->bytes);
	pthread_mutex_init(&sink->lock, NULL);
	config.buffer = sink->buffer;
	config.file = sink;
	assert_int_equal(ktrace_proc_sink_open(&sink->sink, &config, NULL), KTRACE_OK);
	return sink;
}

static void free_sink(struct sink *sink)
{
	assert_int_equal(sink->closed, 1);
	assert_int_equal(sink->sink.references, 0);
	pthread_mutex_destroy(&sink->lock);
	free(sink->bytes);
	free(sink);
}

/* ---- Processes --------------------------------------------------------------------------------- */

static int trace_into(struct process *process, struct sink *sink, uint32_t facilities)
{
	return ktrace_proc_control(&process->trace, NULL, KTRACE_PROC_SET, facilities, process->pid,
				   &sink->sink);
}

static struct process *fork_process(struct process *from)
{
	struct process *process = processes;

	pthread_mutex_lock(&table);
	while (process->alive)
		process++;
	assert_true(process < processes + PROCESSES);
	memset(process, 0, sizeof(*process));
	process->parent = from;
	process->pid = ++last_pid;
	process->alive = true;
	if (from)
		ktrace_proc_fork(&from->trace, &process->trace, process->pid, process->pid);
	pthread_mutex_unlock(&table);
	return process;
}

static void end_process(struct process *process)
{
	ktrace_proc_exit(&process->trace, &process->thread, 0, 0);
	pthread_mutex_lock(&table);
	process->alive = false;
	pthread_mutex_unlock(&table);
}

/* Makes system call `n`. Each of its records contains `n`. */
static void call(struct process *self, uint32_t n, bool with_data)
{
	const uint64_t words[3] = { n, ~(uint64_t)n, self->pid };
	char path[40];
	int length = snprintf(path, sizeof(path), "/%u/%.*s", n, (int)(n % 20), "abcdefghijklmnopqrst");

	ktrace_proc_syscall(&self->trace, &self->thread, n, 3, words);
	ktrace_proc_namei(&self->trace, &self->thread, path, (size_t)length);
	if (with_data) {
		uint8_t data[64];

		memset(data, (int)(n & 0xff), sizeof(data));
		ktrace_proc_genio(&self->trace, &self->thread, (int32_t)n, 1, (uintptr_t)data, n % 65);
	}
	ktrace_proc_sysret(&self->trace, &self->thread, n, 0, n);
}

/* Runs each worker's body on its own thread, and the function `concurrently` on this thread. */
static void run(void *(*body)(void *), void (*concurrently)(void))
{
	pthread_t threads[WORKERS];

	working = true;
	for (uint32_t i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, body, &processes[i]), 0);
	if (concurrently)
		concurrently();
	working = false;
	for (uint32_t i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
}

/* ---- Contents of a file ------------------------------------------------------------------------ */

struct counted {
	uint64_t process_of[64]; /* number of records of each type */
	uint64_t all;
	uint64_t lost; /* sum of the member `lost` of all records */
};

/* Checks that the calls of each process are in order, and that the contents of their records are correct. */
static struct counted check(const struct sink *sink)
{
	static uint32_t doing[PIDS]; /* for each process: number of its current call plus 1; 0: unknown */
	struct counted counted = { .all = 0 };
	struct proc_walk walk;
	struct proc_seen seen;

	memset(doing, 0, sizeof(doing));
	proc_walk_bytes(&walk, sink->bytes, sink->size, sink->sink.format);
	while (proc_next(&walk, &seen)) {
		uint32_t n = (uint32_t)proc_bits(seen.payload, 4);
		char path[40];

		assert_true(seen.pid < PIDS);
		counted.all++;
		counted.process_of[seen.type]++;
		counted.lost += seen.lost;
		switch (seen.type) {
		case KTRX_PROC_SYSCALL:
			assert_int_equal(seen.size, 32);
			if (sink->sink.format == KTRACE_PROC_FORMAT_DRAGONFLY)
				n = (uint32_t)proc_bits(seen.payload + 8, 8);
			assert_int_equal(proc_bits(seen.payload + 8, 8), n);
			assert_int_equal(proc_bits(seen.payload + 16, 8), ~(uint64_t)n);
			assert_int_equal(proc_bits(seen.payload + 24, 8), seen.pid);
			assert_true(n + 1 > doing[seen.pid]);
			doing[seen.pid] = n + 1;
			break;
		case KTRX_PROC_NAMEI:
			if (doing[seen.pid] == 0)
				break; /* the call began before this trace, so its number is unknown */
			snprintf(path, sizeof(path), "/%u/", doing[seen.pid] - 1);
			assert_memory_equal(seen.payload, path, strlen(path));
			assert_int_equal(seen.size, strlen(path) + (doing[seen.pid] - 1) % 20);
			break;
		case KTRX_PROC_GENIO:
			for (uint32_t at = sink->sink.format ? 8 : 16; at < seen.size; at++)
				assert_int_equal(seen.payload[at], n & 0xff);
			break;
		case KTRX_PROC_SYSRET:
			n = (uint32_t)proc_bits(seen.payload + 8, 8);
			assert_true(doing[seen.pid] == 0 || doing[seen.pid] == n + 1);
			break;
		default:
			break;
		}
	}
	assert_false(walk.torn);
	return counted;
}

static int setup(void **state)
{
	(void)state;
	memset(processes, 0, sizeof(processes));
	last_pid = 0;
	for (uint32_t i = 0; i < WORKERS; i++)
		fork_process(NULL);
	return 0;
}

/* ---- Tests ------------------------------------------------------------------------------------- */

static void *work(void *argument)
{
	struct process *self = argument;

	threads_cpu = self->pid - 1;
	for (uint32_t n = 0; n < ROUNDS; n++)
		call(self, n, n % 4 == 0);
	end_process(self);
	return NULL;
}

static void many_write_one_sink(uint32_t format)
{
	struct sink *sink = open_sink(format);
	struct counted counted;

	setup(NULL);
	for (uint32_t i = 0; i < WORKERS; i++)
		assert_int_equal(trace_into(&processes[i], sink, KTRACE_PROC_ALL), KTRACE_OK);
	ktrace_proc_sink_release(&sink->sink, NULL);
	run(work, NULL);
	counted = check(sink);
	assert_int_equal(sink->sink.lost, 0);
	assert_int_equal(counted.process_of[KTRX_PROC_SYSCALL], WORKERS * ROUNDS);
	assert_int_equal(counted.process_of[KTRX_PROC_NAMEI], WORKERS * ROUNDS);
	assert_int_equal(counted.process_of[KTRX_PROC_GENIO], WORKERS * ROUNDS / 4);
	assert_int_equal(counted.process_of[KTRX_PROC_SYSRET], WORKERS * ROUNDS);
	assert_int_equal(counted.all, sink->sink.records + (format == KTRACE_PROC_FORMAT_KTRX));
	free_sink(sink);
}

static void many_cpus_write_one_sink(void **state)
{
	(void)state;
	many_write_one_sink(KTRACE_PROC_FORMAT_KTRX);
	many_write_one_sink(KTRACE_PROC_FORMAT_DRAGONFLY);
}

static void *switch_and_trap(void *argument)
{
	struct process *self = argument;

	threads_cpu = self->pid - 1;
	for (uint32_t n = 0; n < 4 * ROUNDS; n++) {
		ktrace_proc_csw(&self->trace, &self->thread, n % 2, 1, "disk");
		if (n % 700 == 0)
			ktrace_proc_trap_end(&self->trace, &self->thread);
	}
	end_process(self);
	return NULL;
}

static void records_without_room_are_counted(void **state)
{
	struct sink *sink = open_sink(KTRACE_PROC_FORMAT_KTRX);
	struct counted counted;

	(void)state;
	for (uint32_t i = 0; i < WORKERS; i++)
		assert_int_equal(trace_into(&processes[i], sink, KTRACE_PROC_FACILITY(KTRX_PROC_CSW)),
				 KTRACE_OK);
	ktrace_proc_sink_release(&sink->sink, NULL);
	run(switch_and_trap, NULL);
	counted = check(sink);
	assert_int_equal(counted.process_of[KTRX_PROC_CSW] + sink->sink.lost, WORKERS * 4 * ROUNDS);
	assert_int_equal(counted.lost, sink->sink.lost);
	assert_int_equal(counted.all, sink->sink.records + 1);
	free_sink(sink);
}

static struct sink *sinks[SWAPS];
static atomic_uint swaps;

/* Replaces the sink repeatedly, while all workers record. */
static void replace_sinks(void)
{
	for (uint32_t i = 0; i < SWAPS; i++) {
		swaps++;
		sinks[i] = open_sink(i % 2);
		for (uint32_t j = 0; j < WORKERS; j++)
			assert_int_equal(trace_into(&processes[j], sinks[i], KTRACE_PROC_ALL), KTRACE_OK);
		ktrace_proc_sink_release(&sinks[i]->sink, NULL);
		ktrace_proc_flush(NULL);
		if (i % 8 == 0)
			assert_int_equal(ktrace_proc_control(&processes[0].trace, NULL, KTRACE_PROC_CLEARFILE,
							     0, 0, &sinks[i]->sink),
					 KTRACE_OK);
		sched_yield();
	}
}

static void *work_until_stopped(void *argument)
{
	struct process *self = argument;

	threads_cpu = self->pid - 1;
	for (uint32_t n = 0; working; n++) {
		call(self, n, n % 4 == 0);
		while (working && n > CALLS_A_SWAP * swaps)
			sched_yield();
	}
	end_process(self);
	return NULL;
}

static void sinks_may_be_replaced_at_any_time(void **state)
{
	uint64_t records = 0;

	(void)state;
	swaps = 0;
	run(work_until_stopped, replace_sinks);
	for (uint32_t i = 0; i < SWAPS; i++) {
		struct counted counted = check(sinks[i]);

		assert_int_equal(sinks[i]->sink.reason, KTRX_PROC_ENDED_CLOSED);
		assert_int_equal(counted.all, sinks[i]->sink.records + !sinks[i]->sink.format);
		assert_int_equal(sinks[i]->sink.lost, 0);
		records += counted.all;
		free_sink(sinks[i]);
	}
	print_message("%llu records in %u sinks\n", (unsigned long long)records, SWAPS);
	assert_true(records > SWAPS);
}

static void *have_children(void *argument)
{
	struct process *self = argument;

	threads_cpu = self->pid - 1;
	for (uint32_t i = 0; i < CHILDREN; i++) {
		struct process *child = fork_process(self);

		ktrace_proc_exec(&child->trace, &child->thread, 0);
		for (uint32_t n = 0; n < 3; n++)
			call(child, n, true);
		end_process(child);
	}
	end_process(self);
	return NULL;
}

static void a_thousand_children_lose_nothing(void **state)
{
	struct sink *sink = open_sink(KTRACE_PROC_FORMAT_KTRX);
	struct counted counted;

	(void)state;
	for (uint32_t i = 0; i < WORKERS; i++)
		assert_int_equal(trace_into(&processes[i], sink, KTRACE_PROC_ALL | KTRACE_PROC_INHERIT),
				 KTRACE_OK);
	ktrace_proc_sink_release(&sink->sink, NULL);
	run(have_children, NULL);
	counted = check(sink);
	assert_int_equal(sink->sink.lost, 0);
	assert_int_equal(counted.process_of[KTRX_PROC_PROCCTOR], WORKERS * (1 + 2 * CHILDREN));
	assert_int_equal(counted.process_of[KTRX_PROC_PROCDTOR], WORKERS * (1 + CHILDREN));
	assert_int_equal(counted.process_of[KTRX_PROC_SYSCALL], WORKERS * CHILDREN * 3);
	assert_int_equal(counted.process_of[KTRX_PROC_SYSRET], WORKERS * CHILDREN * 3);
	assert_int_equal(counted.process_of[KTRX_PROC_GENIO], WORKERS * CHILDREN * 3);
	assert_int_equal(counted.process_of[KTRX_PROC_NAME], WORKERS * (1 + 2 * CHILDREN));
	assert_int_equal(counted.all, sink->sink.records + 1);
	free_sink(sink);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(many_cpus_write_one_sink, setup),
		cmocka_unit_test_setup(records_without_room_are_counted, setup),
		cmocka_unit_test_setup(sinks_may_be_replaced_at_any_time, setup),
		cmocka_unit_test_setup(a_thousand_children_lose_nothing, setup),
	};

	if (ktrace_proc_init(&kernel) != KTRACE_OK)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
