/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Measures on the host what it costs to trace a system call of a process (kernel/proc). This is compared with
 * the cost of two events (at the call's entry and exit), and with the cost of the hooks if the process is not
 * traced. Instructions are counted by single-stepping; times are the minimum of a few runs in one process.
 * The results are ratios.
 *
 * The spinlock is an atomic word, as in a kernel. The locks of the process table and of the sink do
 * nothing. The file of the trace is in memory. The sink's buffer is written to the file in blocks of 16
 * KiB.
 *
 * Prints JSON objects, one per line, on stdout, and a table on stderr. Exits with 1 if a limit is exceeded.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ktrace/ktrace.h>
#include <ktrace/proc.h>

#include "steps.h"
#include "short.h"

#define RUNS	    15
#define ROUNDS	    20000u
#define RING_SLOTS  8192u
#define SINK_BUFFER (64u << 10)
#define DRAIN_AT    (16u << 10)

/* Limit: cost of tracing a system call, divided by the cost of two events (at entry and exit). */
#define BAR_RATIO 6.0

KTRACE_EVENT(bench, enter, "%u(%#llx, %#llx, %#llx, %#llx, %#llx, %#llx)", (uint16_t, nr),
	     (unsigned long long, a1), (unsigned long long, a2), (unsigned long long, a3),
	     (unsigned long long, a4), (unsigned long long, a5), (unsigned long long, a6));
KTRACE_EVENT(bench, leave, "%u = %lld", (uint16_t, nr), (long long, result));

static const char path[] = "/etc/passwd";
static struct ktrace_proc traced, untraced;
static struct ktrace_proc_thread thread;
static uint32_t short_lock;
static uint8_t file[SINK_BUFFER];

/* ---- The fake kernel ---------------------------------------------------------------------- */

static unsigned long lock(void)
{
	uint32_t nobody = 0;

	while (!__atomic_compare_exchange_n(&short_lock, &nobody, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		nobody = 0;
	return 0;
}

static void unlock(unsigned long saved)
{
	(void)saved;
	__atomic_store_n(&short_lock, 0, __ATOMIC_RELEASE);
}

static unsigned long table_lock(void)
{
	return 0;
}

static void table_unlock(unsigned long saved)
{
	(void)saved;
}

static struct ktrace_proc *next(struct ktrace_proc *last)
{
	return last ? NULL : &traced;
}

static struct ktrace_proc *parent(struct ktrace_proc *process)
{
	(void)process;
	return NULL;
}

static void identity(const struct ktrace_proc *process, struct ktrace_proc_identity *identity)
{
	(void)process;
	memset(identity, 0, sizeof(*identity));
	identity->pid = 1;
}

static void name(const struct ktrace_proc *process, char *to, size_t room)
{
	(void)process;
	snprintf(to, room, "bench");
}

static int copy_in(void *to, uintptr_t from, size_t size)
{
	memcpy(to, (const void *)from, size);
	return 0;
}

static int64_t write_file(struct ktrace_proc_sink *sink, const void *data, size_t size)
{
	(void)sink;
	memcpy(file, data, size);
	return (int64_t)size;
}

static void sink_lock(struct ktrace_proc_sink *sink)
{
	(void)sink;
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
};

static const struct ktrace_proc_sink_operations operations = {
	.write = write_file,
	.lock = sink_lock,
	.unlock = sink_lock,
};

static void trace_begin(uint32_t format)
{
	static uint64_t buffer[SINK_BUFFER / 8];
	static struct ktrace_proc_sink sink;
	const struct ktrace_proc_sink_config config = { .size = sizeof(config),
							.format = format,
							.drain_at = DRAIN_AT,
							.buffer = buffer,
							.buffer_size = sizeof(buffer),
							.operations = &operations };

	if (ktrace_proc_sink_open(&sink, &config, &thread) != KTRACE_OK ||
	    ktrace_proc_control(&traced, &thread, KTRACE_PROC_SET, KTRACE_PROC_ALL, 1, &sink) != KTRACE_OK)
		exit(2);
	ktrace_proc_sink_release(&sink, &thread);
}

static void trace_end(void)
{
	if (ktrace_proc_control(&traced, &thread, KTRACE_PROC_CLEAR, KTRACE_PROC_ALL, 1, NULL) != KTRACE_OK)
		exit(2);
}

/* ---- The compared calls -------------------------------------------------------------------------- */

static void events(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		KTRACE(bench, enter, 30, i, 1, 2, 3, 4, 5);
		KTRACE(bench, leave, 30, (long long)i);
	}
}

static void calls(uint64_t n, struct ktrace_proc *process, size_t length)
{
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t argument[6] = { i, 1, 2, 3, 4, 5 };

		ktrace_proc_syscall(process, &thread, 30, 6, argument);
		if (length)
			ktrace_proc_namei(process, &thread, path, length);
		ktrace_proc_sysret(process, &thread, 30, 0, (int64_t)i);
	}
}

static void calls_untraced(uint64_t n)
{
	calls(n, &untraced, sizeof(path) - 1);
}

static void calls_plain(uint64_t n)
{
	calls(n, &traced, 0);
}

static void calls_named(uint64_t n)
{
	calls(n, &traced, sizeof(path) - 1);
}

enum { EVENTS, UNTRACED, PLAIN, NAMED, DRAGONFLY, VARIANTS };
static const struct variant {
	const char *name;
	void (*loop)(uint64_t n);
	uint32_t format;
} variants[VARIANTS] = {
	[EVENTS] = { "two events", events, KTRACE_PROC_FORMAT_KTRX },
	[UNTRACED] = { "not traced", calls_untraced, KTRACE_PROC_FORMAT_KTRX },
	[PLAIN] = { "call, return", calls_plain, KTRACE_PROC_FORMAT_KTRX },
	[NAMED] = { "call, path, return", calls_named, KTRACE_PROC_FORMAT_KTRX },
	[DRAGONFLY] = { "DragonFly's format", calls_named, KTRACE_PROC_FORMAT_DRAGONFLY },
};

static double best_ns(void (*loop)(uint64_t n))
{
	double best = 0;

	for (int run = 0; run < bench_times(RUNS); run++) {
		struct timespec begun, ended;
		double ns;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
		loop(ROUNDS);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
		ns = ((double)(ended.tv_sec - begun.tv_sec) * 1e9 + (double)(ended.tv_nsec - begun.tv_nsec)) /
		     ROUNDS;
		if (run == 0 || ns < best)
			best = ns;
	}
	return best;
}

static int bar(const char *what, double value)
{
	fprintf(stderr, "%-44s %8.3f  bar %7.2f  %s\n", what, value, BAR_RATIO,
		value <= BAR_RATIO ? "held" : "MISSED");
	printf("{\"bench\":\"proc\",\"bar\":\"%s\",\"value\":%.3f,\"most\":%.2f,\"held\":%s}\n", what, value,
	       BAR_RATIO, value <= BAR_RATIO ? "true" : "false");
	return value <= BAR_RATIO;
}

int main(void)
{
	static _Alignas(64) unsigned char lent[2 * RING_SLOTS * KTRX_SLOT_SIZE];
	const struct ktrace_memory memory = { lent, sizeof(lent) };
	const struct ktrace_config config = {
		.size = sizeof(config), .cpus = 1, .slots = RING_SLOTS, .blocks = 1, .memory = &memory
	};
	double ns[VARIANTS], steps[VARIANTS];
	int held;

	if (ktrace_init(&config) != KTRACE_OK || ktrace_cpu_online(0) != KTRACE_OK ||
	    ktrace_proc_init(&kernel) != KTRACE_OK)
		return 2;
	fprintf(stderr, "%-20s %9s %13s\n", "system call", "ns", "instructions");
	for (int i = 0; i < VARIANTS; i++) {
		trace_begin(variants[i].format);
		ns[i] = best_ns(variants[i].loop);
		steps[i] = steps_per_round(variants[i].loop);
		trace_end();
		fprintf(stderr, "%-20s %9.2f %13.0f\n", variants[i].name, ns[i], steps[i]);
		printf("{\"bench\":\"proc\",\"path\":\"%s\",\"ns\":%.2f,\"instructions\":%.0f}\n",
		       variants[i].name, ns[i], steps[i]);
	}
	held = bar("call, path, return: instructions, ratio", steps[NAMED] / steps[EVENTS]);
	held &= bar("call, path, return: time, ratio", ns[NAMED] / ns[EVENTS]);
	return held || bench_short() ? 0 : 1;
}
