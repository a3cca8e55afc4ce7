/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What is traced: files that records go to, and the threads that are recorded into them. */
#ifndef RECORD_TRACEES_H
#define RECORD_TRACEES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ktrx/proc.h"

/*
 * A file that records go to (ktrx/proc.h). Counted: each process that is recorded into it has a reference.
 * What cannot be written any more is lost and counted, and why is told when it closes, in the file, too;
 * other sinks are not concerned.
 */

struct record_sink;

/* How a file is come by. None of them follows a link, and all want a regular file. */
enum record_sink_mode {
	RECORD_SINK_NEW,    /* made anew, 0600, in place of the one of that name */
	RECORD_SINK_APPEND, /* goes behind a trace that is the caller's own, or is made anew */
	/* goes behind what a file holds that is there; one that is a sink already is shared */
	RECORD_SINK_JOIN,
};

/*
 * 0 and a reference, or a positive errno: EACCES for what is no regular file, EPERM for somebody else's,
 * EINVAL for no trace.
 */
int record_sink_open(struct record_sink **sink, const char *path, enum record_sink_mode mode);

struct record_sink *record_sink_hold(struct record_sink *sink);
/* The last reference closes it. NULL is nothing. */
void record_sink_release(struct record_sink *sink);

/* That of a file, without a reference; NULL: there is none. */
struct record_sink *record_sink_find(dev_t device, ino_t inode);

/* Bytes of a payload, of which the second part may be nothing. */
struct record_payload {
	const void *first;
	size_t first_size;
	const void *second;
	size_t second_size;
};

/* Adds a record, stamped now. Of the head, type, flags, pid, tid and lost are the caller's. */
void record_sink_put(struct record_sink *sink, const struct ktrx_proc_record *head,
		     const struct record_payload *payload);

/* Writes what waits in all of them: from time to time, for those who follow a file. */
void record_sink_flush_all(void);

/* What befell the sinks that have been closed, a line each; "" if nothing. */
const char *record_sink_troubles(void);

/* Who is traced: processes, and the threads by which ptrace(2) knows them. */

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
	/* voluntary ones by the kernel's count, when last looked at; 0: not looked at yet */
	uint64_t switches;
	uint64_t stops; /* for us, since then: each is one of them */
	uint64_t waits; /* voluntary ones of its own since it was first looked at */
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

/*
 * All of them, from NULL to NULL. The one that was returned may be removed before the next call where `next`
 * was taken first.
 */
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
