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

/* How many threads, of new processes too, were let go because there was no memory for them. */
unsigned record_without_memory(void);

/* A thread that is stopped where a system call begins or returns. */

/* Records it. True where the call is an exec that begins. */
bool record_see_call(struct record_thread *thread);

/*
 * How recording begins: with a command, or with processes that are there; and the signals that concern us
 * meanwhile.
 */

struct record_plan {
	const char *path; /* of the file */
	bool append;
	uint32_t facilities; /* 1 << KTRX_PROC_* */
	bool inherit;
	bool descend; /* of targets, their descendants, too: of a group's as well */
	pid_t pid;    /* a target, 0: none */
	pid_t group;  /* all of that process group, 0: none */
};

/* What is to be told when it is over. */
struct record_outcome {
	const char *what; /* what failed: a path, "fork", …; NULL: nothing */
	int error;	  /* and why, an errno */
	int status;	  /* of the command, as wait() has it; -1 if it goes on */
};

/*
 * Runs a command and records it until all that is recorded has ended. 0, or a positive errno with
 * outcome->what.
 */
int record_command(const struct record_plan *plan, char *const *command, struct record_outcome *outcome);

/*
 * Attaches to the plan's targets in a process of its own, which goes on in the background; returns when all
 * are attached. 0, or a positive errno with outcome->what.
 */
int record_targets(const struct record_plan *plan, struct record_outcome *outcome);

#endif
