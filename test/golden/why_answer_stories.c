/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Invented traces ("stories") of CPUs that wait until other CPUs answer an interrupt. No lock is involved. */
#include "test/golden/why_stories.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ktrace/hooks.h"
#include "test/fake/machine.h"
#include "test/golden/why_story.h"

#define FLUSH 2u

/* CPU 0 sends the interrupt at 22 ms, and then waits for the answer. */
static void ask(uint32_t whom)
{
	fake.cpu = 0;
	fake.thread = 5;
	at(22);
	ktrace_ipi_wait_at(whom, FLUSH, PLACE + 0x1);
}

static void beat_to(uint64_t ms, uint32_t first_cpu)
{
	for (uint64_t now = 40; now <= ms; now += 10) {
		at(now);
		for (fake.cpu = first_cpu; fake.cpu < FAKE_CPUS; fake.cpu++)
			ktrace_heartbeat(PLACE + 0x900);
	}
}

/* CPU 1 spins with interrupts off. The trace does not contain the reason. */
static void make_off(uint32_t whom, const char *file)
{
	boot();
	run(0, 5, 20);
	run(1, 6, 21);
	ktrace_interrupts_at(0, PLACE + 0x20);
	ask(whom);
	fake.cpu = 2;
	ktrace_ipi_answer();
	beat_to(2040, 2);
	save(file);
}

/*
 * Like the previous story, but CPU 0 gets timer ticks while it waits. Blue (thread 7) is runnable on CPU
 * 0, but cannot run.
 */
static void make_starves(void)
{
	boot();
	run(0, 7, 10);
	at(11);
	rest();
	run(0, 5, 20);
	run(1, 6, 21);
	ktrace_interrupts_at(0, PLACE + 0x20);
	ask(1);
	wake(7);
	for (uint64_t now = 40; now <= 2040; now += 10) {
		at(now);
		for (fake.cpu = 0; fake.cpu < FAKE_CPUS; fake.cpu += 2)
			ktrace_heartbeat(PLACE + 0x900);
	}
	save("answer-starves.ktrx");
}

/* CPU 1 gets timer ticks, so its interrupts are on. But the interrupt from CPU 0 was lost. */
static void make_lost(void)
{
	boot();
	run(0, 5, 20);
	run(1, 6, 21);
	ktrace_interrupts_at(1, PLACE + 0x20);
	ask(1);
	beat_to(2040, 1);
	save("answer-lost.ktrx");
}

/* CPU 0 has waited for such a short time that CPU 1 may still answer. */
static void make_soon(void)
{
	boot();
	run(1, 6, 21);
	run(0, 5, 1000);
	at(1035);
	fake.cpu = 0;
	ktrace_ipi_wait_at(1, FLUSH, PLACE + 0x1);
	beat_to(1040, 0);
	save("answer-soon.ktrx");
}

/*
 * CPU 0 waits for an answer from a CPU that does not exist, or from itself. If `idle` is true, the mode of
 * CPU 0 is idle.
 */
static void make_impossible(uint32_t whom, int idle, const char *file)
{
	boot();
	if (!idle)
		run(0, 5, 20);
	fake.cpu = 0;
	fake.thread = idle ? IDLE : 5;
	at(22);
	ktrace_ipi_wait_at(whom, FLUSH, PLACE + 0x1);
	beat_to(2040, 0);
	save(file);
}

void make_answers(void)
{
	make_impossible(7, 0, "ask-absent.ktrx");
	make_impossible(7, 1, "ask-absent-idle.ktrx");
	make_impossible(0, 0, "ask-itself.ktrx");
	make_impossible(0, 1, "ask-itself-idle.ktrx");

	make_off(1, "answer-off.ktrx");
	make_off(KTRX_ALL_CPUS, "answers-off.ktrx");
	make_starves();
	make_lost();
	make_soon();
}
