/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <ktrace/ktrace.h>

#include "arch.h"
#include "args.h"
#include "clock.h"
#include "cpu.h"
#include "print.h"
#include "sched.h"
#include "thread.h"
#include "timer.h"
#include "trace.h"

KTRACE_EVENT(boot, cpu_online, "CPU %u, hardware %#llx", (uint32_t, cpu), (unsigned long long, hardware));

/* A CPU of a guest starts late if the host is busy. */
#define START_TIMEOUT_NS (60 * NS_PER_S)

struct cpu cpus[CPU_MAX];
unsigned cpu_count = 1;
static bool all_started; /* true when cpu_count no longer changes */

static void set_up(struct cpu *cpu, uint32_t id)
{
	char name[THREAD_NAME_MAX];

	cpu->self = cpu;
	cpu->id = id;
	cpu->queue.lock.name = "run queue";
	cpu->timers.lock.name = "timers";
	format(name, sizeof(name), "idle/%u", id);
	cpu->idle = thread_new(name, cpu);
	cpu->idle->pinned = true;
	cpu->idle->on_cpu = true;
	cpu->idle->state = THREAD_RUNNING;
	cpu->current = cpu->idle;
	cpu->trace_context = cpu->idle->id;
}

void cpu_init(void)
{
	set_up(&cpus[0], 0);
	/* The boot CPU's idle thread keeps the boot stack. */
	ktrace_thread_stack(cpus[0].idle->id, NULL, NULL);
	cpus[0].online = true;
}

static bool start(struct cpu *cpu)
{
	uint64_t end = clock_ns() + START_TIMEOUT_NS;

	if (!arch_cpu_start(cpu))
		return false;
	while (!__atomic_load_n(&cpu->online, __ATOMIC_ACQUIRE)) {
		if (clock_ns() > end)
			return false;
		arch_relax();
	}
	return true;
}

void cpu_start_others(void)
{
	unsigned wanted = arch_cpu_count();

	if (wanted > arg_number("cpus", CPU_MAX))
		wanted = (unsigned)arg_number("cpus", CPU_MAX);
	if (wanted > CPU_MAX)
		wanted = CPU_MAX;

	/* CPU numbers have no gaps: if a CPU does not start, no further CPUs are started. */
	while (cpu_count < wanted) {
		set_up(&cpus[cpu_count], cpu_count);
		if (!start(&cpus[cpu_count])) {
			kprintf("CPU %u did not start\n", cpu_count);
			break;
		}
		__atomic_store_n(&cpu_count, cpu_count + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&all_started, true, __ATOMIC_RELEASE);
}

/*
 * Waits until cpu_count includes this CPU. If this CPU has started too late to be counted, halts it for ever.
 */
static void wait_to_be_counted(const struct cpu *self)
{
	bool over, counted;

	do {
		over = __atomic_load_n(&all_started, __ATOMIC_ACQUIRE);
		counted = __atomic_load_n(&cpu_count, __ATOMIC_ACQUIRE) > self->id;
		arch_relax();
	} while (!over && !counted);
	if (!counted)
		arch_halt();
}

void cpu_main(void)
{
	struct cpu *self = arch_this_cpu();

	trace_cpu_online();
	KTRACE(boot, cpu_online, self->id, self->hardware_id);
	self->idle->started_ns = clock_ns();
	__atomic_store_n(&self->online, true, __ATOMIC_RELEASE);
	wait_to_be_counted(self);
	timer_run();
	sched_idle();
}
