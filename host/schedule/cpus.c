/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cpus.h"

#include <stddef.h>

#include "qemu.h"

#define CPUS_MOST 4096

static int cpus;
static int last_chosen = -1;
static bool thawing;
static struct {
	bool busy; /* not idle, as of the last cpus_thaw() */
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
	for (int i = 0; i < cpus; i++) {
		struct CPUState *cpu = qemu_get_cpu(i);

		if (cpu != NULL && state[i].frozen)
			cpu_resume(cpu);
		state[i].frozen = false;
		state[i].busy = cpu != NULL && !cpu_thread_is_idle(cpu);
		busy += state[i].busy;
	}
	thawing = false;
	return busy;
}

bool cpus_is_thawing(void)
{
	return thawing;
}

/*
 * QEMU exports only a function that stops the CPU whose code the thread runs, `current_cpu`. One thread runs
 * all CPUs, so another CPU may be made the current one for this call.
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

#define CALLS 4

static void (*called[CALLS])(void);

static void call_all(struct CPUState *cpu, void *data)
{
	(void)cpu;
	(void)data;
	for (unsigned n = 0; n < CALLS; n++) {
		void (*call)(void) = called[n];

		called[n] = NULL;
		if (call != NULL)
			call();
	}
}

/* QEMU runs no CPU for which such a call waits. So the call waits for all CPUs. */
void cpus_call(void (*call)(void))
{
	unsigned n = 0;

	while (n + 1 < CALLS && called[n] != NULL && called[n] != call)
		n++;
	if (called[n] == call)
		return;
	called[n] = call;
	for (int i = 0; i < cpus; i++) {
		struct CPUState *cpu = qemu_get_cpu(i);

		if (cpu != NULL)
			async_run_on_cpu(cpu, call_all, NULL);
	}
}
