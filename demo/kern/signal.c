/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A pending signal is one bit. A thread of the process handles it when it returns to user mode: the default
 * action ends the process; before a handler is called, the thread's registers are saved on the user stack,
 * and sigreturn restores them. An ignored signal never becomes pending.
 */
#include <ktrace/ktrace.h>
#include <ktrx/v1.h>

#include "signal.h"

#include "arch.h"
#include "cpu.h"
#include "ipi.h"
#include "process.h"
#include "sched.h"
#include "thread.h"
#include "user.h"
#include "vm.h"
#include "wait.h"

KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_RARE, KTRX1_SIGNAL_SEND, signal, send, "%u to %u",
		  (uint8_t, signal), (uint32_t, thread));
KTRACE_EVENT_V1(KTRX1_SIGNAL_DELIVER, signal, deliver, "%u to handler %#llx (0 ends the process)",
		(uint8_t, signal), (unsigned long long, handler));

#define BIT(signal) (UINT32_C(1) << ((signal)-1))

#define UNBLOCKABLE (BIT(SIGKILL) | BIT(SIGSTOP))
/*
 * Signals whose default action is to do nothing. SIGSTOP is one of them, because processes cannot be stopped.
 */
#define DEFAULT_IGNORED (BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGSTOP))

/* Number of bytes below the stack pointer that a program may use; handlers must not overwrite them. */
#define RED_ZONE	128
#define STACK_ALIGNMENT 16

static bool is_ignored(const struct process *process, int signal)
{
	uint64_t handler = process->signals.action[signal].handler;

	if (handler == SIG_DFL)
		return BIT(signal) & DEFAULT_IGNORED || process->pid == THREAD_ID_INIT;
	return handler == SIG_IGN;
}

static uint32_t pending_set(const struct signals_pending *pending)
{
	return __atomic_load_n(&pending->set, __ATOMIC_SEQ_CST);
}

bool signal_pending(const struct thread *thread)
{
	const struct thread_signals *own = &thread->signals;

	return __atomic_load_n(&thread->is_ending, __ATOMIC_SEQ_CST) ||
	       (pending_set(&own->pending) | pending_set(&thread->process->signals.pending)) & ~own->blocked;
}

/*
 * If the thread is running on another CPU, interrupts that CPU. So the thread handles the signal soon even if
 * it makes no system calls.
 */
static void interrupt_user_mode(const struct thread *thread)
{
	bool irq_on = arch_irq_save();
	struct cpu *cpu = thread->cpu;

	if (cpu != arch_this_cpu() && __atomic_load_n(&cpu->current, __ATOMIC_RELAXED) == thread)
		ipi_send(cpu, IPI_RESCHEDULE);
	arch_irq_restore(irq_on);
}

void signal_wake(struct thread *thread)
{
	if (!sched_end_sleep(thread, WOKEN_BY_SIGNAL))
		interrupt_user_mode(thread);
}

static void add_pending(struct signals_pending *pending, int signal, int code)
{
	__atomic_store_n(&pending->code[signal], (uint8_t)code, __ATOMIC_RELAXED);
	__atomic_fetch_or(&pending->set, BIT(signal), __ATOMIC_SEQ_CST);
}

static bool takes(const struct thread *thread, uint32_t set)
{
	return set & ~__atomic_load_n(&thread->signals.blocked, __ATOMIC_SEQ_CST);
}

static void make_pending(struct thread *thread, int signal, int code)
{
	KTRACE(signal, send, (uint8_t)signal, thread->id);
	add_pending(&thread->signals.pending, signal, code);
	if (takes(thread, BIT(signal)))
		signal_wake(thread);
}

void signal_send_thread(struct thread *thread, int signal, int code)
{
	if (!is_ignored(thread->process, signal))
		make_pending(thread, signal, code);
}

/*
 * Returns a thread that does not block all of these signals, preferably the main thread. Returns NULL if all
 * threads block all of them. Requires: table locked.
 */
static struct thread *find_taker(const struct process *process, uint32_t set)
{
	struct thread *thread = process->thread;

	if (takes(thread, set))
		return thread;
	thread = process->threads;
	while (thread && !takes(thread, set))
		thread = thread->next_in_process;
	return thread;
}

static void wake_taker(const struct process *process, uint32_t set)
{
	struct thread *taker = find_taker(process, set);

	if (taker)
		signal_wake(taker);
}

/*
 * No wakeup is lost: this function first makes the signal pending, and then looks for a thread that does not
 * block it. A thread first unblocks a signal, and then checks whether it is pending. The event is recorded
 * before the signal becomes pending, so it contains the thread that will probably handle the signal. But
 * another thread may handle it.
 */
void signal_send(struct process *process, int signal, int code)
{
	const struct thread *taker;

	if (is_ignored(process, signal))
		return;
	taker = find_taker(process, BIT(signal));
	KTRACE(signal, send, (uint8_t)signal, taker ? taker->id : process->pid);
	add_pending(&process->signals.pending, signal, code);
	wake_taker(process, BIT(signal));
}

void signal_send_all(int signal)
{
	bool irq_on = process_lock();
	struct process *process = NULL;

	while ((process = process_next(process)))
		if (process->pid != THREAD_ID_INIT)
			signal_send(process, signal, SI_KERNEL);
	process_unlock(irq_on);
}

void signal_force(int signal)
{
	struct thread *self = thread_self();
	struct abi_sigaction *action = &self->process->signals.action[signal];

	if (self->signals.blocked & BIT(signal) || action->handler == SIG_IGN) {
		self->signals.blocked &= ~BIT(signal);
		action->handler = SIG_DFL;
	}
	make_pending(self, signal, SI_KERNEL);
}

bool signal_wait_sleep(struct wait_queue *queue)
{
	return wait_sleep_until(queue, WAIT_FOR_EVER) == WOKEN_BY_EVENT;
}

/* ---- Actions and blocked signals --------------------------------------------------------------- */

/*
 * Sets the blocked signals of the running thread. If that blocks a pending signal of the process, wakes
 * another thread that does not block the signal and can handle it.
 */
void signal_set_blocked(uint32_t blocked)
{
	struct thread *self = thread_self();
	struct process *process = self->process;
	uint32_t before = self->signals.blocked, due;
	bool irq_on;

	__atomic_store_n(&self->signals.blocked, blocked & ~UNBLOCKABLE, __ATOMIC_SEQ_CST);
	due = pending_set(&process->signals.pending) & self->signals.blocked & ~before;
	if (!due)
		return;
	irq_on = process_lock();
	wake_taker(process, due);
	process_unlock(irq_on);
}

int signal_set_action(int signal, const struct abi_sigaction *change, struct abi_sigaction *old)
{
	struct process *self = process_self();

	if (signal < 1 || signal >= SIG_COUNT)
		return -EINVAL;
	if (old)
		*old = self->signals.action[signal];
	if (!change)
		return 0;
	if (BIT(signal) & UNBLOCKABLE)
		return -EINVAL;
	self->signals.action[signal] = *change;
	if (is_ignored(self, signal))
		__atomic_fetch_and(&self->signals.pending.set, ~BIT(signal), __ATOMIC_SEQ_CST);
	return 0;
}

void signal_exec(struct signals *signals)
{
	for (int signal = 1; signal < SIG_COUNT; signal++)
		if (signals->action[signal].handler != SIG_IGN)
			signals->action[signal] = (struct abi_sigaction){ .handler = SIG_DFL };
}

/* ---- Delivery to a thread ---------------------------------------------------------------------- */

/* Data that is saved on the user stack while a handler runs. The saved user frame (registers) follows it. */
struct saved_head {
	uint64_t blocked, unused;
};

_Static_assert(sizeof(struct saved_head) % STACK_ALIGNMENT == 0, "keeps the stack aligned");

static void call_handler(struct thread *self, struct user_frame *frame, int signal)
{
	const struct abi_sigaction action = self->process->signals.action[signal];
	const struct saved_head head = { .blocked = self->signals.blocked };
	struct vm *vm = &self->process->vm;
	uintptr_t sp = user_frame_sp(frame) - RED_ZONE - sizeof(head) - user_frame_size;

	sp &= ~(uintptr_t)(STACK_ALIGNMENT - 1);
	if (vm_copy_out(vm, sp, &head, sizeof(head)) ||
	    vm_copy_out(vm, sp + sizeof(head), frame, user_frame_size))
		process_exit(SIGSEGV); /* the frame cannot be written, so the handler cannot be called */
	signal_set_blocked(self->signals.blocked | action.mask | BIT(signal));
	user_frame_call_handler(frame, action.handler, action.restorer, sp, signal);
}

void signal_return(struct user_frame *frame)
{
	struct vm *vm = &process_self()->vm;
	uintptr_t sp = user_frame_sp(frame);
	struct saved_head head;

	if (vm_copy_in(vm, &head, sp, sizeof(head)) ||
	    vm_copy_in(vm, frame, sp + sizeof(head), user_frame_size))
		process_exit(SIGSEGV);
	user_frame_sanitize(frame);
	signal_set_blocked((uint32_t)head.blocked);
}

/*
 * Returns the lowest signal in a set that is not empty. Does not use a compiler builtin, which might call a
 * library function.
 */
static int lowest(uint32_t set)
{
	int signal = 1;

	while (!(set & BIT(signal)))
		signal++;
	return signal;
}

/*
 * Removes a pending signal that is not blocked and returns it: SIGKILL first, then the lowest number. Returns
 * 0 if there is none, or if another thread has just removed it.
 */
static int take_from(struct signals_pending *pending, uint32_t blocked)
{
	uint32_t due = pending_set(pending) & ~blocked;
	int signal;

	if (!due)
		return 0;
	signal = due & BIT(SIGKILL) ? SIGKILL : lowest(due);
	return __atomic_fetch_and(&pending->set, ~BIT(signal), __ATOMIC_SEQ_CST) & BIT(signal) ? signal : 0;
}

/* Takes the next signal: first from those sent to the thread, then from those sent to the process. */
static int take(struct thread *self, uint8_t *code)
{
	struct signals_pending *from = &self->signals.pending;
	int signal = take_from(from, self->signals.blocked);

	if (!signal) {
		from = &self->process->signals.pending;
		signal = take_from(from, self->signals.blocked);
	}
	*code = __atomic_load_n(&from->code[signal], __ATOMIC_RELAXED);
	return signal;
}

/*
 * Returns true if the signal must be ignored. It was not ignored when it was sent, but another thread may
 * have changed its action since.
 */
static bool is_void(uint64_t handler, int signal)
{
	return handler == SIG_IGN || (handler == SIG_DFL && BIT(signal) & DEFAULT_IGNORED);
}

void signal_deliver(struct user_frame *frame)
{
	struct thread *self = thread_self();
	uint8_t code;
	int signal;

	if (__atomic_load_n(&self->is_ending, __ATOMIC_RELAXED))
		process_thread_exit();
	while ((signal = take(self, &code))) {
		uint64_t handler = self->process->signals.action[signal].handler;
		const uint64_t mask[2] = { self->signals.blocked };

		if (is_void(handler, signal))
			continue;
		KTRACE(signal, deliver, (uint8_t)signal, handler);
		ktrace_proc_psig(&self->process->trace, &self->trace, (uint32_t)signal, code, handler, mask);
		if (handler == SIG_DFL)
			process_exit(signal);
		call_handler(self, frame, signal);
	}
}
