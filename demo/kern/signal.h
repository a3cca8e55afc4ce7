/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Signals: sent by anyone, delivered to a process on its way back to user mode, interrupting its sleeps. */
#ifndef DEMO_SIGNAL_H
#define DEMO_SIGNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"

struct process;
struct user_frame;
struct wait_queue;

struct signals {
	uint32_t pending; /* bit n - 1; any CPU, atomically */
	uint32_t blocked;
	uint8_t code[SIG_COUNT];		/* why each was sent the last time: SI_*; as pending */
	struct abi_sigaction action[SIG_COUNT]; /* [0] unused */
};

/*
 * Any context with no wait queue's lock held; wakes the process if it sleeps interruptibly. It is the caller's own,
 * or the table of processes is locked. What the process ignores is dropped. `code` says why: SI_*.
 */
void signal_send(struct process *process, int signal, int code);

/* To the running process, which has done something that it cannot go on after: blocking and ignoring do not help. */
void signal_force(int signal);

/* The same to all processes but the first: Ctrl-C. */
void signal_send_all(int signal);

/* Is anything to be delivered? Sleeps that signals may end look at it before and after: then -EINTR. */
bool signal_pending(const struct process *process);

/*
 * Like wait_sleep, but a signal ends it, too: false then. Lock held as there.
 */
bool signal_wait_sleep(struct wait_queue *queue);

/* On the way to user mode: default actions, handlers. May not return (the process ends). Interrupts on. */
void signal_deliver(struct user_frame *frame);

/* SYS_sigreturn: all registers are as they were when the handler was called. */
void signal_return(struct user_frame *frame);

/* 0 or -EINVAL. old may be NULL, and change as well. */
int signal_set_action(int signal, const struct abi_sigaction *change, struct abi_sigaction *old);
void signal_set_blocked(uint32_t blocked);

void signal_exec(struct signals *signals); /* handlers back to default */

#endif
