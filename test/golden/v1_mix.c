/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * v1-mix FILE CPUS SLOTS SEED [LOST]: writes a version 1 dump like that of a busy kernel. Threads make
 * system calls, fault, sleep in calls and are woken, are preempted and continue on another CPU. The rings
 * have wrapped, so the entries of some calls are missing, and the oldest event of each ring has a
 * different time. LOST percent of the events (default 0) are not recorded.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktrx/v1.h"

#define THREADS 24u
#define CPUS	8u

enum state { RUNNABLE, RUNNING, SLEEPING };

struct thread {
	enum state state;
	int in_call;
	uint32_t call, queue;
};

static struct thread thread[THREADS];
static uint32_t on[CPUS]; /* for each CPU: index of the running thread */
static struct ktrx1_record *ring[CPUS];
static uint64_t head[CPUS], slots, clock_now = 5000000000u, seed;
static unsigned lost;

static uint32_t random_below(uint32_t most)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 20) % most;
}

static void record(uint32_t cpu, uint32_t event, uint32_t a, uint32_t b)
{
	clock_now += 50 + random_below(2000);
	if (random_below(100) < lost)
		return;
	ring[cpu][head[cpu]++ % slots] = (struct ktrx1_record){ clock_now,
								KTRX1_HEADER(event, cpu, 10 + on[cpu], 0),
								{ a, b, 0, 0x401000, 4 } };
}

/* Switches from the thread that runs on `cpu` to another runnable thread, if there is one. */
static void leave(uint32_t cpu, enum state state)
{
	uint32_t next = random_below(THREADS), tries = 0, prev = on[cpu];

	while (thread[next].state != RUNNABLE && ++tries < THREADS)
		next = (next + 1) % THREADS;
	if (thread[next].state != RUNNABLE)
		return;
	record(cpu, KTRX1_CTX_SWITCH, 10 + prev, 10 + next);
	thread[prev].state = state;
	thread[next].state = RUNNING;
	on[cpu] = next;
}

static void wake(uint32_t cpu)
{
	uint32_t sleeper = random_below(THREADS);

	if (thread[sleeper].state != SLEEPING)
		return;
	record(cpu, KTRX1_WAITQ_WAKE, thread[sleeper].queue, 10 + sleeper);
	thread[sleeper].state = RUNNABLE;
}

static void step(uint32_t cpu)
{
	struct thread *current = &thread[on[cpu]];
	uint32_t what = random_below(100);

	if (what < 15)
		wake(cpu);
	else if (what < 25)
		leave(cpu, RUNNABLE);
	else if (what < 35)
		record(cpu, KTRX1_PAGE_FAULT, 0x7000 + what, 0);
	else if (!current->in_call) {
		current->call = random_below(300);
		current->in_call = 1;
		record(cpu, KTRX1_SYSCALL_ENTER, current->call, what);
	} else if (what < 55) {
		current->queue = 0x1000 + 64 * random_below(16);
		record(cpu, KTRX1_WAITQ_SLEEP, current->queue, 0);
		leave(cpu, SLEEPING);
	} else {
		current->in_call = 0;
		record(cpu, KTRX1_SYSCALL_EXIT, current->call, what);
	}
}

int main(int argc, char **argv)
{
	struct ktrx1_header header = {
		{ 'K', 'T', 'R', 'X' }, KTRX1_VERSION, 1000000000, 0, 0, KTRX1_RECORD_SIZE, 0, { 0 }
	};
	FILE *file = argc >= 5 ? fopen(argv[1], "wb") : NULL;
	uint32_t cpus = argc >= 5 ? (uint32_t)atoi(argv[2]) : 0;

	if (!file || cpus == 0 || cpus > CPUS) {
		fprintf(stderr, "usage: v1-mix FILE CPUS SLOTS SEED [LOST]\n");
		return EXIT_FAILURE;
	}
	slots = strtoull(argv[3], NULL, 0);
	seed = 88172645463325252u + 7919 * strtoull(argv[4], NULL, 0);
	lost = argc > 5 ? (unsigned)atoi(argv[5]) : 0;
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		ring[cpu] = calloc(slots, sizeof(*ring[cpu]));
		on[cpu] = cpu;
		thread[cpu].state = RUNNING;
	}
	for (uint64_t n = 0; n < 3 * slots * cpus; n++)
		step(random_below(3 * cpus) % cpus / (1 + random_below(2)));
	header.cpus = cpus;
	header.slots = (uint32_t)slots;
	fwrite(&header, sizeof(header), 1, file);
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		fwrite(ring[cpu], sizeof(*ring[cpu]), slots, file);
		free(ring[cpu]);
	}
	return fclose(file) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
