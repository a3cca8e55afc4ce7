/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Signals: sent by anyone to a process or to one thread, delivered to a thread on its way back to user mode, interrupting
 * its sleeps. A signal to a process is taken by any one thread that does not block it.
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

/* Signals that were sent and not taken. */
struct signals_pending {
	uint32_t set;		 /* bit n - 1; any CPU, atomically */
	uint8_t code[SIG_COUNT]; /* why each was sent the last time: SI_*; as set */
};

/* Signals of a process. */
struct signals {
	struct signals_pending pending;
	struct abi_sigaction action[SIG_COUNT]; /* [0] unused */
};

/* Signals of a thread. */
struct thread_signals {
	struct signals_pending pending;
	uint32_t blocked; /* written by the thread itself */
};

/*
 * Wakes a thread of the process that sleeps interruptibly and does not block the signal. Requires: the table of processes
 * is locked. What the process ignores is dropped. `code` says why: SI_*.
 */
void signal_send(struct process *process, int signal, int code);

/*
 * The same to one thread of a process. Any context with no wait queue's lock held. Requires: it is the running thread, or
 * the table of processes is locked.
 */
void signal_send_thread(struct thread *thread, int signal, int code);

/* Wakes a thread for what it has to look at on its way to user mode. As signal_send_thread(). */
void signal_wake(struct thread *thread);

/* To the running thread, which has done something that it cannot go on after: blocking and ignoring do not help. */
void signal_force(int signal);

/* The same to all processes but the first: Ctrl-C. */
void signal_send_all(int signal);

/*
 * Returns whether a signal is to be delivered to the thread, or the thread is to end. An interruptible sleep asks before and
 * after it sleeps, and fails with -EINTR.
 */
bool signal_pending(const struct thread *thread);

/*
 * Like wait_sleep, but a signal ends it, too: false then. Lock held as there.
 */
bool signal_wait_sleep(struct wait_queue *queue);

/* On the way to user mode: default actions, handlers. May not return (the thread or process ends). Interrupts on. */
void signal_deliver(struct user_frame *frame);

/* SYS_sigreturn: all registers are as they were when the handler was called. */
void signal_return(struct user_frame *frame);

/* 0 or -EINVAL. old may be NULL, and change as well. */
int signal_set_action(int signal, const struct abi_sigaction *change, struct abi_sigaction *old);
void signal_set_blocked(uint32_t blocked);

void signal_exec(struct signals *signals); /* handlers back to default */

#endif
