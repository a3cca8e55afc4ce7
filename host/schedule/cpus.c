/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "parts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "qemu.h"

#define CPUS_MOST 4096

static int cpus;
static int last_chosen = -1;
static bool thawing;
static void (*call_woken)(void); /* if not NULL, cpus_interrupted() is called for each interrupt */
/* true if a CPU other than the chosen one may be able to run; set by cpus_thaw() and by interrupts */
static _Atomic bool others_may_run;
static struct {
	bool busy; /* true if the CPU was not idle at the last cpus_thaw() */
	bool frozen;
} state[CPUS_MOST];

const char *cpus_open(int number)
{
	cpus = number;
	return number <= CPUS_MOST ? NULL : "too many CPUs";
}

unsigned cpus_thaw(void)
{
	unsigned busy = 0;

	thawing = true;
	atomic_store_explicit(&others_may_run, false, memory_order_relaxed);
	for (int i = 0; i < cpus; i++) {
		struct CPUState *cpu = qemu_get_cpu(i);

		if (cpu != NULL && state[i].frozen)
			cpu_resume(cpu);
		state[i].frozen = false;
		state[i].busy = cpu != NULL && !cpu_thread_is_idle(cpu);
		busy += state[i].busy;
	}
	thawing = false;
	if (busy > 1 || call_woken == NULL)
		atomic_store_explicit(&others_may_run, true, memory_order_relaxed);
	return busy;
}

void cpus_see_interrupts(void (*woken)(void))
{
	call_woken = woken;
}

void cpus_interrupted(const struct CPUState *cpu)
{
	if (cpus_others_may_run() || (last_chosen >= 0 && cpu == qemu_get_cpu(last_chosen)))
		return;
	atomic_store_explicit(&others_may_run, true, memory_order_relaxed);
	if (cpus_are_frozen() && call_woken != NULL)
		cpus_call(call_woken);
}

bool cpus_others_may_run(void)
{
	return atomic_load_explicit(&others_may_run, memory_order_relaxed);
}

bool cpus_is_thawing(void)
{
	return thawing;
}

/*
 * QEMU exports only a function that stops `current_cpu`, the CPU whose code this thread runs. One thread runs
 * all CPUs, so another CPU may be made the current one during this call.
 */
static void freeze(int number)
{
	struct CPUState *self = current_cpu;

	current_cpu = qemu_get_cpu(number);
	cpu_stop_current();
	current_cpu = self;
	state[number].frozen = true;
}

void cpus_choose(unsigned chosen)
{
	unsigned n = 0;

	for (int i = 0; i < cpus; i++) {
		const bool runs = state[i].busy && n == chosen;

		n += state[i].busy;
		if (runs)
			last_chosen = i;
		else if (qemu_get_cpu(i) != NULL)
			freeze(i);
	}
}

unsigned cpus_next(void)
{
	unsigned before = 0, after = 0;

	for (int i = 0; i < cpus; i++) {
		before += state[i].busy && i <= last_chosen;
		after += state[i].busy && i > last_chosen;
	}
	return after > 0 ? before : 0;
}

int cpus_number(unsigned cpu)
{
	int n = 0;

	if (cpu >= (unsigned)cpus || !state[cpu].busy)
		return -1;
	for (unsigned i = 0; i < cpu; i++)
		n += state[i].busy;
	return n;
}

bool cpus_are_frozen(void)
{
	bool frozen = false;

	for (int i = 0; i < cpus; i++)
		frozen |= state[i].frozen;
	return frozen;
}

#define CALLS 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void (*called[CALLS])(void); /* guarded by the lock */

static void call_all(struct CPUState *cpu, void *data)
{
	(void)cpu;
	(void)data;
	for (unsigned n = 0; n < CALLS; n++) {
		void (*call)(void);

		pthread_mutex_lock(&lock);
		call = called[n];
		called[n] = NULL;
		pthread_mutex_unlock(&lock);
		if (call != NULL)
			call();
	}
}

/* Returns false if the same call is already queued. */
static bool add(void (*call)(void))
{
	unsigned n = 0;
	bool is_new;

	pthread_mutex_lock(&lock);
	while (n + 1 < CALLS && called[n] != NULL && called[n] != call)
		n++;
	is_new = called[n] != call;
	called[n] = call;
	pthread_mutex_unlock(&lock);
	return is_new;
}

/*
 * Before QEMU runs a CPU, it makes the calls that are queued for this CPU. So the call is queued for all
 * CPUs.
 */
void cpus_call(void (*call)(void))
{
	if (!add(call))
		return;
	for (int i = 0; i < cpus; i++) {
		struct CPUState *cpu = qemu_get_cpu(i);

		if (cpu != NULL)
			async_run_on_cpu(cpu, call_all, NULL);
	}
}
