/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The loop: threads are stopped at each system call, signal, birth and exec, records are made of it
 * (content.h), and they go on. By ptrace(2), seized, without PTRACE_O_EXITKILL: whatever becomes of us, they
 * run on.
 */
#ifndef RECORD_TRACER_H
#define RECORD_TRACER_H

#include "record/tracees.h"

/*
 * Attaches to all threads of a process that is not traced yet: 0 or a positive errno. The sink gets a
 * reference more.
 */
int record_attach(pid_t pid, struct record_sink *sink, uint32_t facilities, bool inherit);

/*
 * A program to be started: it is ours and waits, until record_tracer_run(), to become the command. 0 or a
 * positive errno.
 */
int record_attach_child(pid_t pid, struct record_sink *sink, uint32_t facilities, bool inherit);

/* Its threads go on untraced, each from its next stop on, to which it is brought. */
void record_let_go(struct record_process *process);

/*
 * Returns when nobody is traced any more. attend() is called behind each stop, and whenever a signal has
 * interrupted the wait: who is busy never lets it be interrupted. *status is that of `command`, as wait() has
 * it, if that has ended.
 */
void record_tracer_run(void (*attend)(void), pid_t command, int *status);

/* How many became privileged, and were let go for that. */
unsigned record_became_privileged(void);

/* A thread that is stopped where a system call begins or returns. */

/* Records it. True where the call is an exec that begins. */
bool record_see_call(struct record_thread *thread);

#endif
