/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Who is traced: processes, and the threads by which ptrace(2) knows them. */
#ifndef RECORD_TRACEES_H
#define RECORD_TRACEES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/sink.h"

#define RECORD_SIGNALS 65 /* of Linux, from 1 */

struct record_process {
	struct record_process *next; /* in its chain */
	pid_t pid, parent;
	unsigned threads;
	uint32_t facilities; /* 1 << KTRX_PROC_* */
	bool inherit;
	bool leaving;		  /* all of its threads are, also those that are yet to be made */
	bool named;		  /* the sink knows its name */
	struct record_sink *sink; /* a reference; NULL: nothing is recorded */
	char name[32];
	uint64_t handler[RECORD_SIGNALS];
};

struct record_thread {
	struct record_thread *next; /* in its chain */
	pid_t tid;
	struct record_process *process;
	bool quiet;    /* ours, until it becomes the command */
	bool in_call;  /* argument and number are those of the call it is in */
	bool leaving;  /* to be let go at its next stop */
	bool own_call; /* the call is one that only we know */
	int64_t own_result;
	uint64_t number, argument[6];
	uint64_t
		switches; /* voluntary ones by the kernel's count, when last looked at; 0: not looked at yet */
	uint64_t stops;	  /* for us, since then: each is one of them */
	uint64_t waits;	  /* voluntary ones of its own since it was first looked at */
};

/* NULL: unknown. */
struct record_thread *record_thread_find(pid_t tid);
struct record_process *record_process_find(pid_t pid);

/* NULL: out of memory. A process that is new has no sink; a thread that is new counts for its process. */
struct record_process *record_process_add(pid_t pid, pid_t parent);
struct record_thread *record_thread_add(pid_t tid, struct record_process *process);
/* The process goes with its last thread, and with it its reference to a sink. */
void record_thread_remove(struct record_thread *thread);
/* One of its threads. */
struct record_thread *record_thread_of(const struct record_process *process);
/* One that has no thread. */
void record_process_remove(struct record_process *process);
/* After an exec by another thread than the first: it goes on under the process's number. */
void record_thread_renumber(struct record_thread *thread, pid_t tid);

/* All of them, from NULL to NULL. The one that was returned may be removed before the next call where `next` was taken first. */
struct record_thread *record_thread_next(const struct record_thread *last);
struct record_process *record_process_next(const struct record_process *last);
size_t record_threads(void);

/* What /proc says: the process of a thread, and its parent; 0 if it is gone. */
pid_t record_proc_process(pid_t tid);
pid_t record_proc_parent(pid_t pid);
/* The effective user of a thread; -1 if it is gone. */
uid_t record_proc_user(pid_t tid);
/* Its name as it is now; "" if it is gone. */
void record_proc_name(pid_t pid, char *name, size_t room);
/* How often it has waited for something. */
uint64_t record_proc_switches(pid_t tid);
/* Handlers of signals, of which only that there is one can be known. */
void record_proc_handlers(pid_t pid, uint64_t handler[static RECORD_SIGNALS]);

#endif
