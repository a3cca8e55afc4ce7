/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A kernel with one CPU, cooperative threads, queues on which threads sleep, and a mutex. A producer puts
 * numbers into a box, and a consumer takes them out. doc/howto/threads.md explains the calls of ktrace.
 * RISC-V 64: `qemu-system-riscv64 -M virt -bios none -kernel kernel.elf`.
 */
#include "ktrace.h"

#define THREADS 3 /* with thread 0, which is the idle thread */
#define NUMBERS 500
#define ENTRY	0 /* registers in a context: return address and stack pointer */
#define STACK	1

#ifndef EARLY
#define EARLY 0
#endif

KTRACE_EVENT(box, put, "number %u", (uint32_t, n));
KTRACE_EVENT(box, take, "number %u", (uint32_t, n));
KTRACE_EVENT(boot, error, "ktrace error %d", (int, error));

enum state { RUNNABLE = 0, ASLEEP = 1, ENDED = 4 }; /* the numbers that ktrace_switch() expects */

struct queue {
	const char *name;
};

struct mutex {
	uint32_t holder; /* id of the thread that holds the mutex; 0: free */
	struct queue queue;
};

struct thread {
	uint32_t id; /* from 1 on; 0 is the idle thread */
	enum state state;
	const struct queue *queue; /* the queue on which the thread sleeps */
	uint64_t context[14];
	uint8_t stack[8192] __attribute__((__aligned__(16)));
};

void kernel_main(void);
void context_switch(uint64_t from[14], uint64_t to[14]);

static struct thread threads[THREADS];
static struct thread *current = &threads[0];
static uint32_t created, ended;

static struct queue filled = { "box filled" }, emptied = { "box emptied" };
static struct mutex sum_mutex = { 0, { "sum" } };
static uint32_t sum;
static uint32_t box; /* the number in the box; 0: the box is empty */

/* For ktrace_port.h: ktrace.c is another file and cannot use `current`. */
unsigned ktrace_my_thread(void)
{
	return current->id;
}

/* Returns the next runnable thread, or the idle thread. */
static struct thread *choose(void)
{
	for (uint32_t n = 1; n < THREADS; n++) {
		struct thread *thread = &threads[1 + (current->id + n - 1) % (THREADS - 1)];

		if (thread->id && thread->state == RUNNABLE)
			return thread;
	}
	return &threads[0];
}

static void schedule(void)
{
	struct thread *prev = current, *next = choose();

	ktrace_switch(prev->id, next->id, prev->state);
	if (next == prev)
		return;
	current = next;
	context_switch(prev->context, next->context);
}

/* Not inlined, because KTRACE_RETURN_ADDRESS must be in the function that calls sleep_on(). */
__attribute__((noinline)) static void sleep_on(struct queue *queue)
{
	ktrace_block_at(queue, queue->name, KTRX_WAIT_EVENT, 0, KTRACE_RETURN_ADDRESS);
	current->queue = queue;
	current->state = ASLEEP;
	schedule();
}

static void wake(struct queue *queue)
{
	uint32_t woken = 0;

	for (uint32_t n = 1; n < THREADS; n++) {
		if (threads[n].state != ASLEEP || threads[n].queue != queue)
			continue;
		ktrace_wake(threads[n].id);
		threads[n].state = RUNNABLE;
		woken++;
	}
	if (!woken)
		ktrace_wake_nobody(queue);
}

__attribute__((noinline)) static void mutex_lock(struct mutex *mutex)
{
	if (mutex->holder)
		ktrace_contend_at(mutex, mutex->queue.name, KTRACE_BY_THREAD, mutex->holder,
				  KTRACE_RETURN_ADDRESS);
	while (mutex->holder)
		sleep_on(&mutex->queue);
	mutex->holder = current->id;
	ktrace_acquire_at(mutex, KTRACE_BY_THREAD, KTRACE_RETURN_ADDRESS);
}

static void mutex_unlock(struct mutex *mutex)
{
	ktrace_release(mutex, KTRACE_BY_THREAD);
	mutex->holder = 0;
	wake(&mutex->queue);
}

static void thread_create(const char *name, void (*run)(void))
{
	struct thread *thread = &threads[++created];

	thread->id = created;
	thread->context[ENTRY] = (uintptr_t)run;
	thread->context[STACK] = (uintptr_t)(thread->stack + sizeof(thread->stack));
	ktrace_thread_stack(thread->id, thread->stack, thread->stack + sizeof(thread->stack));
	ktrace_thread_name(thread->id, name);
	ktrace_wake(thread->id); /* schedule() can choose the new thread from now on */
}

static void thread_end(void)
{
	ended++;
	ktrace_thread_end(current->id);
	current->state = ENDED;
	schedule();
}

static void add_to_sum(uint32_t n)
{
	mutex_lock(&sum_mutex);
	schedule(); /* lets the other thread find the mutex taken */
	sum += n;
	mutex_unlock(&sum_mutex);
}

static void producer(void)
{
	for (uint32_t n = 1; n <= NUMBERS; n++) {
		while (box)
			sleep_on(&emptied);
		box = n;
		KTRACE(box, put, n);
		wake(&filled);
		add_to_sum(n);
	}
	thread_end();
}

static void consumer(void)
{
	for (uint32_t n = 1; n <= NUMBERS; n++) {
		while (!box) {
			while (EARLY && n >= NUMBERS / 2 && !box)
				schedule(); /* the producer fills the box between the check and the sleep */
			sleep_on(&filled);
		}
		KTRACE(box, take, box);
		box = 0;
		wake(&emptied);
		add_to_sum(n);
	}
	thread_end();
}

/* Records an error of ktrace. The kernel need not stop: recording continues in the boot ring. */
static void trace_check(int error)
{
	if (error)
		KTRACE(boot, error, error);
}

static void trace_init(void)
{
	trace_check(KTRACE_INIT(1 << 20, .cpus = 1, .threads = 16, .holders = 16, .kernel = "threads"));
	trace_check(ktrace_cpu_online(0));
}

void kernel_main(void)
{
	trace_init();
	thread_create("producer", producer);
	thread_create("consumer", consumer);
	while (ended < created) {
		schedule(); /* returns when no other thread is runnable */
		if (ended == created)
			break;
		ktrace_mode(KTRX_MODE_IDLE);
		__asm__ volatile("wfi");
		ktrace_mode(KTRX_MODE_KERNEL);
	}
	ktrace_exit(0);
	*(volatile uint32_t *)0x100000 = 0x5555; /* QEMU's device for power off */
}
