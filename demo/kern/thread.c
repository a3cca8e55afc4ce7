/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <ktrace/ktrace.h>

#include "arch.h"
#include "clock.h"
#include "cpu.h"
#include "hardware_trace.h"
#include "page.h"
#include "panic.h"
#include "process.h"
#include "sched.h"
#include "string.h"
#include "thread.h"
#include "user.h"

/*
 * The pages of a thread: one page below the stack, which gives room to handle a stack overflow; the stack;
 * one page for struct thread.
 */
#define STACK_PAGES  (THREAD_STACK_SIZE / PAGE_SIZE)
#define THREAD_PAGES (1 + STACK_PAGES + 1)

KTRACE_EVENT(sched, create, "%u of process %u, %s", (uint32_t, thread), (uint32_t, process),
	     (const char *, name));

/*
 * Upper limit of thread ids, given by the number of bits that a record has for an id. An id is never used
 * again, because the trace identifies threads by their ids.
 */
#define IDS (UINT32_C(1) << KTRX_W1_CONTEXT_SHIFT)

/* last id that was allocated; a setting, so that a test can set it close to the limit */
static uint32_t last_id = THREAD_ID_INIT;
KTRACE_SETTING_RANGE("thread.last_id", last_id, 0, IDS - 1);

static void first_frame(void)
{
	struct thread *self;

	sched_switch_done();
	arch_irq_enable();
	self = thread_self();
	self->entry(self->argument);
	thread_exit();
}

/* Allocates a new thread id. Returns false if all ids have been used. */
static bool take_id(uint32_t *id)
{
	uint32_t last = __atomic_load_n(&last_id, __ATOMIC_RELAXED);

	do {
		if (last == IDS - 1)
			return false;
		*id = last + 1;
	} while (!__atomic_compare_exchange_n(&last_id, &last, *id, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return true;
}

/* Allocates a thread. Returns NULL if out of memory or ids. */
static struct thread *allocate(struct cpu *cpu, uint32_t id)
{
	char *pages = page_alloc(THREAD_PAGES);
	struct thread *thread;

	if (!pages)
		return NULL;
	if (id == THREAD_ID_NEW && !take_id(&id)) {
		page_free(pages, THREAD_PAGES);
		return NULL;
	}
	thread = (struct thread *)(pages + PAGE_SIZE + THREAD_STACK_SIZE);
	thread->stack = pages + PAGE_SIZE;
	thread->id = id;
	thread->cpu = cpu;
	thread->priority = PRIORITY_DEFAULT;
	ktrace_thread_stack(id, thread->stack, thread->stack + THREAD_STACK_SIZE);
	ktrace_thread_priority(id, thread->priority);
	return thread;
}

void thread_rename(struct thread *thread, const char *name)
{
	string_copy(thread->name, name, sizeof(thread->name));
	ktrace_thread_name(thread->id, thread->name);
}

/*
 * A thread can change only its own priority, because the priority of a thread in a run queue must not change.
 */
void thread_set_priority(uint8_t priority)
{
	struct thread *self = thread_self();

	self->priority = priority;
	ktrace_thread_priority(self->id, priority);
}

/*
 * Sets the function that the thread will call, and builds its first kernel stack frame. The stack of a
 * process's thread begins with the user frame (registers of user mode); the first kernel frame is below it.
 */
static void set_entry(struct thread *thread, void (*entry)(void *), void *argument)
{
	char *top = thread->stack + THREAD_STACK_SIZE;

	thread->entry = entry;
	thread->argument = argument;
	thread->sp = arch_thread_frame(thread->process ? top - user_frame_size : top, first_frame);
}

/* Creates a kernel thread. Returns NULL if out of memory or ids. */
static struct thread *make_own(const char *name, struct cpu *cpu)
{
	struct thread *thread = allocate(cpu, THREAD_ID_NEW);

	if (!thread)
		return NULL;
	thread_rename(thread, name);
	KTRACE(sched, create, thread->id, 0, thread->name);
	return thread;
}

struct thread *thread_new(const char *name, struct cpu *cpu)
{
	struct thread *thread = make_own(name, cpu);

	if (!thread)
		panic("out of memory or ids for thread %s", name);
	return thread;
}

/* Returns the CPU for the next new thread. The CPUs take turns. */
static struct cpu *next_cpu(void)
{
	static unsigned turn;

	return &cpus[__atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % cpu_count];
}

struct thread *thread_create(const char *name, void (*entry)(void *), void *argument, int cpu)
{
	struct thread *thread = thread_new(name, cpu == CPU_ANY ? next_cpu() : &cpus[cpu]);

	thread->pinned = cpu != CPU_ANY;
	set_entry(thread, entry, argument);
	sched_wake(thread);
	return thread;
}

struct thread *thread_try_create(const char *name, void (*entry)(void *), void *argument)
{
	struct thread *thread = make_own(name, next_cpu());

	if (!thread)
		return NULL;
	set_entry(thread, entry, argument);
	sched_wake(thread);
	return thread;
}

/*
 * Entry function of a thread that belongs to a process: enters user mode with the thread's user frame, which
 * has been prepared already.
 */
static void enter_user_mode(void *unused)
{
	(void)unused;
	arch_irq_disable();
	user_return(user_frame_of(thread_self()));
	user_frame_enter();
}

struct thread *thread_for_process(const char *name, struct process *process, uint32_t id)
{
	struct thread *thread = allocate(next_cpu(), id);

	if (!thread)
		return NULL;
	thread->process = process;
	thread->hardware_trace.tid = thread->id;
	set_entry(thread, enter_user_mode, NULL);
	thread_rename(thread, name);
	KTRACE(sched, create, thread->id, process->pid ? process->pid : thread->id, thread->name);
	return thread;
}

void thread_enter_space(struct thread *thread, struct arch_space *space)
{
	ktrace_space(space ? space->root : 0);
	arch_user_switch(thread, space);
}

void thread_set_space(struct arch_space *space)
{
	bool irq_on = arch_irq_save();
	struct thread *self = arch_this_cpu()->current;

	self->space = space;
	thread_enter_space(self, space);
	hardware_trace_switch(self);
	arch_irq_restore(irq_on);
}

void thread_exit(void)
{
	struct thread *self = thread_self();

	arch_irq_disable();
	self->state = THREAD_DEAD;
	ktrace_thread_end(self->id);
	schedule();
	panic("a dead thread ran");
}

void thread_free(struct thread *thread)
{
	ktrace_thread_end(thread->id);
	page_free(thread->stack - PAGE_SIZE, THREAD_PAGES);
}

/*
 * Turns interrupts off, so that the thread stays on this CPU during the read. This is not recorded in the
 * trace, because it takes so little time.
 */
struct thread *thread_self(void)
{
	bool irq_on = arch_irq_enabled();
	struct thread *self;

	arch_irq_mask();
	self = arch_this_cpu()->current;
	if (irq_on)
		arch_irq_unmask();
	return self;
}

void thread_check_stack(struct thread *self, uintptr_t place)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);

	if (!self || sp >= (uintptr_t)self->stack || sp < (uintptr_t)self->stack - PAGE_SIZE ||
	    self->overflowed)
		return;
	self->overflowed = true;
	panic("stack overflow: %s at %#lx, down to %#lx", self->name, place, sp);
}
