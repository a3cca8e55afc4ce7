/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Signals. They are sent to a process or to one thread. A thread handles them when it returns to user mode; a
 * signal ends its interruptible sleep. A signal to a process is handled by one thread that does not block it.
 */
#ifndef DEMO_SIGNAL_H
#define DEMO_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"

struct process;
struct thread;
struct user_frame;
struct wait_queue;

/* Signals that were sent and not handled yet. */
struct signals_pending {
	uint32_t set; /* bit n - 1 for signal n; accessed by any CPU, atomically */
	/* For each signal the reason of the last send: SI_*; accessed by any CPU, atomically. */
	uint8_t code[SIG_COUNT];
};

/* Signals of a process. */
struct signals {
	struct signals_pending pending;
	struct abi_sigaction action[SIG_COUNT]; /* indexed by signal number; [0] is unused */
};

/* Signals of a thread. */
struct thread_signals {
	struct signals_pending pending;
	uint32_t blocked; /* written by the thread itself */
};

/*
 * Sends a signal to a process, and wakes a thread that does not block it. Does nothing if the process ignores
 * the signal. `code` is the reason: SI_*. Requires: the table of processes is locked.
 */
void signal_send(struct process *process, int signal, int code);

/*
 * Sends a signal to one thread of a process. Any context with no wait queue's lock held. Requires: the thread
 * is the running thread, or the table of processes is locked.
 */
void signal_send_thread(struct thread *thread, int signal, int code);

/*
 * Makes a thread check for signals soon: ends its sleep, or interrupts its CPU. Context as for
 * signal_send_thread().
 */
void signal_wake(struct thread *thread);

/*
 * Sends a signal to the running thread because of a fault after which it cannot continue. Overrides blocking
 * and ignoring.
 */
void signal_force(int signal);

/* Sends a signal to all processes except the first, for Ctrl-C. */
void signal_send_all(int signal);

/*
 * Returns true if the thread has a signal to handle or must end. An interruptible sleep checks this before
 * and after sleeping, and fails with -EINTR.
 */
bool signal_pending(const struct thread *thread);

/*
 * Like wait_sleep, but a signal ends the sleep as well. Returns false if a signal ended it. Requires: the
 * queue's lock is held.
 */
bool signal_wait_sleep(struct wait_queue *queue);

/*
 * Handles signals before the return to user mode: default actions and handlers. Does not return if the thread
 * or process ends. Requires: interrupts on.
 */
void signal_deliver(struct user_frame *frame);

/* Implements SYS_sigreturn: restores all registers from before the handler's call. */
void signal_return(struct user_frame *frame);

/* Changes and returns the action of a signal. Returns 0 or -EINVAL. `old` and `change` may be NULL. */
int signal_set_action(int signal, const struct abi_sigaction *change, struct abi_sigaction *old);
void signal_set_blocked(uint32_t blocked);

void signal_exec(struct signals *signals); /* sets signals that have a handler to the default action */

#endif
