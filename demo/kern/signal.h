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
	struct abi_sigaction action[SIG_COUNT]; /* [0] unused */
};

/* Any context with no wait queue's lock held; wakes the process if it sleeps interruptibly. */
void signal_send(struct process *process, int signal);

/* The same to all processes but the first: Ctrl-C, kill(-1). */
void signal_send_all(int signal);

/* Is anything to be delivered? Sleeps that signals may end look at it before and after: then -EINTR. */
bool signal_pending(const struct process *process);

/*
 * Like wait_sleep, but a signal ends it, too: false then. Lock held as there.
 */
bool signal_wait_sleep(struct wait_queue *queue);

/* On the way to user mode: default actions, handlers. May not return (the process ends). Interrupts on. */
void signal_deliver(struct user_frame *frame);

int64_t signal_return(struct user_frame *frame); /* SYS_sigreturn */
void signal_exec(struct signals *signals);	 /* handlers back to default */

#endif
