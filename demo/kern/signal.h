/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Signals. They are sent to a process or to one thread. A signal ends an interruptible sleep of the thread;
 * the thread handles it when it returns to user mode. A signal to a process is handled by one of its threads
 * that do not block it.
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

/* Pending signals, which were sent but not handled yet. */
struct signals_pending {
	uint32_t set; /* bit n - 1 is set if signal n is pending; accessed by any CPU, atomically */
	/* For each signal: the reason for which it was last sent, SI_*. Accessed by any CPU, atomically. */
	uint8_t code[SIG_COUNT];
};

/* The state of signals that all threads of a process share. */
struct signals {
	struct signals_pending pending;
	struct abi_sigaction action[SIG_COUNT]; /* indexed by signal number; [0] is unused */
};

/* The state of signals that each thread has for itself. */
struct thread_signals {
	struct signals_pending pending;
	/* Bit n - 1 is set if the thread blocks signal n; written only by the thread itself. */
	uint32_t blocked;
};

/*
 * Sends a signal to a process, and wakes a thread that does not block it. Does nothing if the process ignores
 * the signal. `code` is the reason: SI_*. Requires: the table of processes is locked.
 */
void signal_send(struct process *process, int signal, int code);

/*
 * Sends a signal to one thread of a process. May be called in any context in which no wait queue's lock is held. Requires: the
 * thread is the running thread, or the table of processes is locked.
 */
void signal_send_thread(struct thread *thread, int signal, int code);

/*
 * Makes a thread check for signals soon: ends its sleep, or interrupts its CPU. Requires the same as
 * signal_send_thread().
 */
void signal_wake(struct thread *thread);

/*
 * Sends a signal to the running thread because of a fault after which it cannot continue. Sends the signal
 * even if the process blocks or ignores it.
 */
void signal_force(int signal);

/* Sends a signal to all processes except the first one. Used for Ctrl-C. */
void signal_send_all(int signal);

/*
 * Returns true if the thread must handle a signal, or must end. An interruptible system call checks this
 * before and after it sleeps, and then fails with -EINTR.
 */
bool signal_pending(const struct thread *thread);

/*
 * Like wait_sleep, but a signal ends the sleep as well. Returns false if a signal ended it. Requires: the
 * queue's lock is held.
 */
bool signal_wait_sleep(struct wait_queue *queue);

/*
 * Called before the return to user mode. For each pending signal that is not blocked, performs the default
 * action or prepares the call of the handler. Does not return if the thread or process ends. Requires:
 * interrupts on.
 */
void signal_deliver(struct user_frame *frame);

/* Implements SYS_sigreturn: restores the registers that the thread had before the handler was called. */
void signal_return(struct user_frame *frame);

/*
 * Stores the action of a signal in *old and then changes it to *change. `old` and `change` may be NULL.
 * Returns 0 or -EINVAL.
 */
int signal_set_action(int signal, const struct abi_sigaction *change, struct abi_sigaction *old);
void signal_set_blocked(uint32_t blocked);

/* Sets the signals for which there is a handler to the default action. */
void signal_exec(struct signals *signals);

#endif
