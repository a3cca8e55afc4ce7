/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The threads of a process, from creation to end. The table's lock guards the list. A thread that ends first
 * decrements `staying`, then stops using the memory of the process, then leaves the list. After that, the
 * thread does not access the process. The last thread that counts as staying does not leave the list: it ends
 * the process, or runs the next program.
 */
#include <ktrace/ktrace.h>

#include "process.h"

#include "arch.h"
#include "exec.h"
#include "sched.h"
#include "signal.h"
#include "string.h"
#include "user.h"
#include "vfs.h"

/* ---- Waiting for the end of a thread or process -------------------------------------------------- */

uint32_t process_ends_count(const struct process_ends *ends)
{
	return __atomic_load_n(&ends->ended, __ATOMIC_ACQUIRE);
}

void process_ends_wake(struct process_ends *ends)
{
	bool irq_on = spin_lock(&ends->queue.lock);

	ends->ended++;
	wait_wake_all(&ends->queue);
	spin_unlock(&ends->queue.lock, irq_on);
}

/*
 * Sets what the trace shows for the next thread that sleeps in the queue: the id of the thread for which it
 * waits. Requires: queue locked.
 */
static void name_awaited(struct wait_queue *queue, uint32_t thread)
{
	queue->kind = thread ? KTRX_WAIT_THREAD : 0;
	queue->thread = thread;
}

bool process_ends_wait(struct process_ends *ends, uint32_t ended, uint32_t thread)
{
	bool irq_on = spin_lock(&ends->queue.lock), woken = true;

	while (woken && ends->ended == ended) {
		name_awaited(&ends->queue, thread);
		woken = signal_wait_sleep(&ends->queue);
	}
	spin_unlock(&ends->queue.lock, irq_on);
	return woken;
}

/* Like process_ends_wait, but signals do not end the wait. */
static void wait_uninterruptibly(struct process_ends *ends, uint32_t ended, uint32_t thread)
{
	bool irq_on = spin_lock(&ends->queue.lock);

	while (ends->ended == ended) {
		name_awaited(&ends->queue, thread);
		wait_sleep(&ends->queue);
	}
	spin_unlock(&ends->queue.lock, irq_on);
}

/* ---- The list of a process's threads ------------------------------------------------------------- */

void process_thread_add(struct process *process, struct thread *thread)
{
	thread->next_in_process = process->threads;
	process->threads = thread;
	process->staying++;
}

struct thread *process_thread_find(const struct process *process, uint32_t id)
{
	struct thread *thread = process->threads;

	while (thread && thread->id != id)
		thread = thread->next_in_process;
	return thread;
}

static void remove_from_list(struct process *process, const struct thread *thread)
{
	struct thread **at = &process->threads;

	while (*at != thread)
		at = &(*at)->next_in_process;
	*at = thread->next_in_process;
}

/* ---- Start of a thread --------------------------------------------------------------------------- */

/*
 * Adds a new thread to the process. Returns false if the process is about to end or to run another program.
 */
static bool join_process(struct process *process, struct thread *thread)
{
	bool irq_on = process_lock(), may = !process->ender;

	if (may)
		process_thread_add(process, thread);
	process_unlock(irq_on);
	return may;
}

int64_t process_thread_create(const struct thread_start *start)
{
	struct thread *self = thread_self(), *thread;
	struct process *process = self->process;
	struct user_frame *frame;
	uint32_t id;

	vm_share(&process->vm);
	thread = thread_for_process(start->name ? start->name : self->name, process, THREAD_ID_NEW);
	if (!thread)
		return -EAGAIN;
	thread->space = &process->vm.space;
	thread->signals.blocked = self->signals.blocked;
	frame = user_frame_of(thread);
	user_frame_start(frame, start->entry, start->stack);
	user_frame_set_argument(frame, start->argument);
	user_frame_set_tls(frame, start->tls);
	/*
	 * The id is read before the thread starts, because the thread may end before this function returns.
	 */
	id = thread->id;
	if (!join_process(process, thread)) {
		thread_free(thread);
		return -EAGAIN;
	}
	ktrace_hwt_thread_create(&process->hardware_trace, &thread->hardware_trace);
	ktrace_hwt_thread_name(&process->hardware_trace, &thread->hardware_trace, thread->name);
	sched_wake(thread);
	return id;
}

/* ---- End of a thread ----------------------------------------------------------------------------- */

/*
 * Decrements `staying` for the running thread and returns true. Exception: if `staying` is 1, does not change
 * it and returns false.
 */
static bool stop_staying(struct process *process)
{
	bool irq_on = process_lock(), others = process->staying > 1;

	if (others)
		process->staying--;
	process_unlock(irq_on);
	return others;
}

/*
 * Removes the running thread from its process. If it is the main thread, another thread becomes the main
 * thread. Then wakes those threads of the parent that wait for the process, so that they wait again: the
 * trace shows the main thread as the thread for which they wait.
 */
static void leave_list(struct process *process, struct thread *self)
{
	struct process *parent = NULL;
	bool irq_on = process_lock();

	remove_from_list(process, self);
	if (process->thread == self) {
		process->thread = process->threads;
		parent = process->parent;
	}
	self->process = NULL;
	process_unlock(irq_on);
	process_ends_wake(&process->thread_ends);
	if (parent)
		process_ends_wake(&parent->children);
}

void process_thread_exit(void)
{
	struct thread *self = thread_self();
	struct process *process = self->process;

	if (!stop_staying(process))
		process_exit(0);
	ktrace_hwt_thread_exit(&process->hardware_trace, &self->hardware_trace);
	thread_set_space(NULL);
	leave_list(process, self);
	thread_exit();
}

static bool is_in(const struct process *process, uint32_t id)
{
	bool irq_on = process_lock(), found = process_thread_find(process, id);

	process_unlock(irq_on);
	return found;
}

int process_thread_join(uint32_t id)
{
	struct process *self = process_self();

	if (id == thread_self()->id)
		return -EDEADLK;
	for (;;) {
		uint32_t ended = process_ends_count(&self->thread_ends);

		if (!is_in(self, id))
			return 0;
		if (!process_ends_wait(&self->thread_ends, ended, id))
			return -EINTR;
	}
}

/*
 * Makes all threads except the running thread end. Returns false if another thread has already done that: the
 * running thread itself must then end.
 */
static bool begin_to_end_others(struct process *process, struct thread *self)
{
	bool irq_on = process_lock(), is_first = !process->ender;

	if (is_first) {
		process->ender = self;
		for (struct thread *thread = process->threads; thread; thread = thread->next_in_process) {
			if (thread == self)
				continue;
			__atomic_store_n(&thread->is_ending, 1, __ATOMIC_SEQ_CST);
			signal_wake(thread);
		}
	}
	process_unlock(irq_on);
	return is_first;
}

/* Returns the id of another thread that is still in the list, or 0 if there is none. */
static uint32_t find_other(const struct process *process, const struct thread *self)
{
	bool irq_on = process_lock();
	const struct thread *thread = process->threads;
	uint32_t id = 0;

	while (thread && id == 0) {
		id = thread == self ? 0 : thread->id;
		thread = thread->next_in_process;
	}
	process_unlock(irq_on);
	return id;
}

bool process_end_others(void)
{
	struct thread *self = thread_self();
	struct process *process = self->process;
	bool irq_on;

	if (!begin_to_end_others(process, self))
		return false;
	for (;;) {
		uint32_t ended = process_ends_count(&process->thread_ends);
		uint32_t other = find_other(process, self);

		if (!other)
			break;
		wait_uninterruptibly(&process->thread_ends, ended, other);
	}
	irq_on = process_lock();
	process->ender = NULL;
	process_unlock(irq_on);
	return true;
}

/* ---- State that all threads of a process share --------------------------------------------------- */

void process_rename(struct process *self, const char *name)
{
	struct thread *thread = thread_self();

	thread_rename(thread, name);
	if (thread != self->thread)
		return;
	string_copy(self->name, name, sizeof(self->name));
	ktrace_proc_renamed(&self->trace);
}

struct inode *process_cwd(struct process *process)
{
	bool irq_on = process_lock();
	struct inode *cwd = inode_get(process->cwd);

	process_unlock(irq_on);
	return cwd;
}

void process_set_cwd(struct process *process, struct inode *cwd)
{
	bool irq_on = process_lock();
	struct inode *old = process->cwd;

	process->cwd = cwd;
	process_unlock(irq_on);
	inode_put(old);
}
