/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Threads, implemented with the system calls. A thread's local storage consists of the thread-local variables
 * and a struct tls_head, in the order that the architecture needs. It is above the thread's stack; for the
 * first thread it is in the variable first_own.
 */
#include <stdbool.h>
#include <string.h>
#include <thread.h>
#include <unistd.h>

#include "arch_tls.h"

#define STACK_SIZE ((size_t)64 << 10)
#define GUARD_SIZE ((size_t)4 << 10) /* size of the unmapped memory below each stack */
/* Maximum size of a thread's local storage: its variables and struct tls_head. */
#define OWN_SIZE  ((size_t)2 << 10)
#define ALIGNMENT 16

extern const char tls_image[], tls_image_end[], tls_end[]; /* defined by the linker script user.ld */

unsigned thread_several;

static char first_own[OWN_SIZE] __attribute__((aligned(ALIGNMENT)));
static bool is_prepared;

void thread_entry(void); /* defined in arch/…/start.S */
_Noreturn void thread_main(struct thread *self);

/* Returns the size of the thread-local variables, rounded up to a multiple of ALIGNMENT. */
static size_t variables_size(void)
{
	size_t size = (uintptr_t)tls_end - (uintptr_t)tls_image;

	return (size + ALIGNMENT - 1) & -(size_t)ALIGNMENT;
}

/*
 * Initializes thread-local storage in `memory`, which has OWN_SIZE bytes. Returns the value for the
 * thread-local storage register, or 0 if that is too small.
 */
static uintptr_t make_own(char *memory)
{
	size_t size = variables_size();
	char *variables = ARCH_TLS_BELOW ? memory : memory + sizeof(struct tls_head);
	char *head = ARCH_TLS_BELOW ? memory + size : memory;
	struct tls_head *made = (struct tls_head *)(void *)head;
	uintptr_t tls = (uintptr_t)head;

	if (size + sizeof(*made) > OWN_SIZE)
		return 0;
	if (arch_tls_head(tls) != made)
		tls = (uintptr_t)variables;
	memset(memory, 0, OWN_SIZE);
	memcpy(variables, tls_image, (uintptr_t)tls_image_end - (uintptr_t)tls_image);
	made->self = tls;
	return tls;
}

void thread_prepare(void)
{
	if (is_prepared)
		return;
	is_prepared = true;
	thread_tls((void *)make_own(first_own));
}

int thread_id(void)
{
	struct tls_head *head;

	thread_prepare();
	head = arch_tls_head(arch_tls());
	if (!head->id)
		head->id = (uint64_t)thread_self();
	return (int)head->id;
}

/*
 * Called in the child after fork: the id of its only thread differs from that of the parent's thread, so the
 * stored id is outdated.
 */
void thread_forked(void)
{
	if (is_prepared)
		arch_tls_head(arch_tls())->id = 0;
}

_Noreturn void thread_main(struct thread *self)
{
	self->run(self->argument);
	thread_exit();
}

static void give_back(const struct thread *thread)
{
	munmap(thread->memory + GUARD_SIZE, STACK_SIZE + OWN_SIZE);
}

/*
 * Allocates the memory of a stack and of thread-local storage, with unmapped memory below it. Returns 0 or
 * -errno.
 */
static int get_memory(struct thread *thread)
{
	int64_t at = mmap(NULL, GUARD_SIZE + STACK_SIZE + OWN_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at < 0)
		return (int)at;
	thread->memory = (char *)(uintptr_t)at;
	return munmap(thread->memory, GUARD_SIZE);
}

int thread_start(struct thread *thread, const char *name, void (*run)(void *argument), void *argument)
{
	char *own;
	int error;

	thread_prepare();
	error = get_memory(thread);
	if (error)
		return error;
	thread->run = run;
	thread->argument = argument;
	thread_several = 1;
	own = thread->memory + GUARD_SIZE + STACK_SIZE;
	error = thread_create((void *)(uintptr_t)thread_entry, thread, own, (void *)make_own(own), name);
	if (error < 0) {
		give_back(thread);
		return error;
	}
	thread->id = error;
	return 0;
}

int thread_await(struct thread *thread)
{
	int error;

	do
		error = thread_join(thread->id);
	while (error == -EINTR);
	if (!error)
		give_back(thread);
	return error;
}

/* ---- Locks --------------------------------------------------------------------------------------- */

static bool exchange(uint32_t *word, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/*
 * A thread that has waited for the mutex cannot find out whether other threads still wait for it, so it sets
 * MUTEX_AWAITED when it takes the mutex. If no thread waits, the later wakeup has no effect.
 */
void mutex_lock(struct mutex *mutex)
{
	uint32_t id = (uint32_t)thread_id(), taken = id;

	while (!exchange(&mutex->word, 0, taken)) {
		uint32_t held = __atomic_load_n(&mutex->word, __ATOMIC_RELAXED);

		if (held == 0 ||
		    (!(held & MUTEX_AWAITED) && !exchange(&mutex->word, held, held | MUTEX_AWAITED)))
			continue;
		wait_on(&mutex->word, (int)(held | MUTEX_AWAITED), -1, WAIT_OWNER, mutex->name);
		taken = id | MUTEX_AWAITED;
	}
}

void mutex_unlock(struct mutex *mutex)
{
	if (__atomic_exchange_n(&mutex->word, 0, __ATOMIC_SEQ_CST) & MUTEX_AWAITED)
		wake(&mutex->word, 1);
}
