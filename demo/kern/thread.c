/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <ktrace/ktrace.h>

#include "arch.h"
#include "clock.h"
#include "cpu.h"
#include "page.h"
#include "panic.h"
#include "sched.h"
#include "string.h"
#include "thread.h"

/* A thread's pages: the stack, then the struct in a page of its own, out of reach of a small overflow. */
#define STACK_PAGES  (THREAD_STACK_SIZE / PAGE_SIZE)
#define THREAD_PAGES (STACK_PAGES + 1)

KTRACE_EVENT(sched, create, "%u %s", (uint32_t, thread), (const char *, name));
KTRACE_EVENT(sched, exit, "%u", (uint32_t, thread));

static uint32_t last_id;

static void first_frame(void)
{
	struct thread *self;

	sched_switch_done();
	arch_irq_enable();
	self = thread_self();
	self->entry(self->argument);
	thread_exit();
}

struct thread *thread_new(const char *name, struct cpu *cpu)
{
	char *pages = page_alloc(THREAD_PAGES);
	struct thread *thread;

	if (!pages)
		panic("no memory for thread %s", name);
	thread = (struct thread *)(pages + THREAD_STACK_SIZE);
	thread->stack = pages;
	thread->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	thread->cpu = cpu;
	string_copy(thread->name, name, sizeof(thread->name));
	ktrace_thread_name(thread->id, thread->name);
	KTRACE(sched, create, thread->id, thread->name);
	return thread;
}

/* Spreads new threads over the CPUs. */
static struct cpu *next_cpu(void)
{
	static unsigned turn;

	return &cpus[__atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % cpu_count];
}

struct thread *thread_create(const char *name, void (*entry)(void *), void *argument, int cpu)
{
	struct thread *thread = thread_new(name, cpu == CPU_ANY ? next_cpu() : &cpus[cpu]);

	thread->pinned = cpu != CPU_ANY;
	thread->entry = entry;
	thread->argument = argument;
	thread->sp = arch_thread_frame(thread->stack + THREAD_STACK_SIZE, first_frame);
	sched_wake(thread);
	return thread;
}

void thread_exit(void)
{
	struct thread *self = thread_self();

	arch_irq_disable();
	KTRACE(sched, exit, self->id);
	self->state = THREAD_DEAD;
	schedule();
	panic("a dead thread ran");
}

void thread_free(struct thread *thread)
{
	page_free(thread->stack, THREAD_PAGES);
}

struct thread *thread_self(void)
{
	bool irq_on = arch_irq_save();
	struct thread *self = arch_this_cpu()->current;

	arch_irq_restore(irq_on);
	return self;
}
