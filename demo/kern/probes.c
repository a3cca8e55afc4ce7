/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "probes.h"

#include <ktrace/ktrace.h>
#include <ktrace/settings.h>

#include "arch.h"
#include "clock.h"
#include "cpu.h"
#include "ipi.h"
#include "spinlock.h"

#define RUNS_MAX   1000
#define ROW_EVENTS 6u

KTRACE_EVENT(probe, log, "%u of run %u", (uint32_t, n), (uint32_t, run));
KTRACE_EVENT(probe, cost, "%s: %llu ps each, of %u", (const char *, test), (unsigned long long, each, ps),
	     (uint32_t, count));

static uint32_t logs, ipis, stretches, spins;
KTRACE_SETTING_RANGE("debug.ktr.testlogcnt", logs, 0, RUNS_MAX);
KTRACE_SETTING_RANGE("debug.ktr.testipicnt", ipis, 0, RUNS_MAX);
KTRACE_SETTING_RANGE("debug.ktr.testcritcnt", stretches, 0, RUNS_MAX);
KTRACE_SETTING_RANGE("debug.ktr.testspincnt", spins, 0, RUNS_MAX);

static struct spinlock lock = SPINLOCK("probe");

static void record_row(uint32_t run)
{
	for (uint32_t n = 0; n < ROW_EVENTS; n++)
		KTRACE(probe, log, n, run);
}

static void answer(void *answers)
{
	__atomic_fetch_add((uint32_t *)answers, 1, __ATOMIC_RELAXED);
}

static void call_all(uint32_t run)
{
	uint32_t answers = run;

	ipi_call_all(answer, &answers);
}

/* Sends an IPI to each other CPU. Does not wait until the CPUs have handled the IPI. */
static void send_on(uint32_t run)
{
	struct cpu *self = arch_this_cpu();

	(void)run;
	for (unsigned n = 0; n < cpu_count; n++)
		if (&cpus[n] != self)
			ipi_send(&cpus[n], IPI_RESCHEDULE);
}

/* Pending interrupts are handled in the first call of this function, which is not measured. */
static void turn_on_and_off(uint32_t run)
{
	(void)run;
	arch_irq_enable();
	arch_irq_disable();
}

static void take_lock(uint32_t run)
{
	(void)run;
	spin_unlock(&lock, spin_lock(&lock));
}

/*
 * Measures `runs` calls of `once`, after a first call that is not measured. Each call performs the operation
 * `parts` times; the cost of one operation is recorded.
 */
static void measure(const char *test, void (*once)(uint32_t run), uint32_t runs, uint32_t parts)
{
	bool irq_on;
	uint64_t begin;

	once(0);
	irq_on = arch_irq_save();
	begin = clock_ns();
	for (uint32_t run = 0; run < runs; run++)
		once(run);
	begin = clock_ns() - begin;
	arch_irq_restore(irq_on);
	KTRACE(probe, cost, test, begin * 1000 / runs / parts, runs * parts);
}

static uint32_t requested(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static uint32_t take(uint32_t *word)
{
	return requested(word) ? __atomic_exchange_n(word, 0, __ATOMIC_RELAXED) : 0;
}

bool probes_pending(void)
{
	return requested(&logs) || requested(&ipis) || requested(&stretches) || requested(&spins);
}

void probes_run(void)
{
	uint32_t runs;

	/* Only CPU 0 runs the probes: when it becomes idle, all CPUs have started. */
	if (arch_this_cpu()->id != 0)
		return;
	if ((runs = take(&logs)))
		measure("event", record_row, runs, ROW_EVENTS);
	if ((runs = take(&ipis)) && cpu_count > 1) {
		measure("ipi and back", call_all, runs, 1);
		measure("ipi", send_on, runs, 1);
	}
	if ((runs = take(&stretches)))
		measure("interrupts off and on", turn_on_and_off, runs, 1);
	if ((runs = take(&spins)))
		measure("spinlock", take_lock, runs, 1);
}
