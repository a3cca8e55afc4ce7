/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A trace in the form in which ktrace diff compares it: for each thread, the steps of its program in order. A
 * step is a system call, or another event that the thread records because of what its program does. Events
 * that depend on timing or on the scheduler are not steps: they are only counted, as noise. Waits and wakeups
 * are stored separately, because they show how one thread causes what another thread does.
 */
#ifndef DIFF_TRACE_H
#define DIFF_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"
#include "diff/diff.h"
#include "ktread/ktread.h"

#define DIFF_NONE	 UINT32_MAX
#define DIFF_NAME	 48u /* bytes of the name of a thread or of a kind of step; a longer name is cut */
#define DIFF_VALUES	 6u
#define DIFF_STEPS_MAX	 (4u << 20) /* maximum number of steps of a trace; further steps are not read */
#define DIFF_WAKES_MAX	 (4u << 20)
#define DIFF_THREADS_MAX 65536u
#define DIFF_KINDS_MAX	 16384u
#define DIFF_GAPS_MAX	 4096u
/* number of newest steps within a call that are remembered, to recognise a repeated step */
#define DIFF_RECENT 8u
/* number of ends of a process that are stored: a process that runs several programs has several */
#define DIFF_EXITS 4u
/* number of bytes of a path that are compared: process traces do not contain longer paths */
#define DIFF_PATH 120u

/*
 * What is known about a value, which is an argument or a result. Only values with the same DIFF_FORM_* can be
 * compared.
 */
enum diff_form {
	DIFF_FORM_UNKNOWN, /* results only: the call did not return, or its end is not in the trace */
	DIFF_FORM_OPAQUE,  /* an address, or the hash of a string; not compared with the other trace */
	DIFF_FORM_NUMBER,
	DIFF_FORM_FILE, /* the value is a file descriptor */
	DIFF_FORM_PROCESS,
	DIFF_FORM_ERROR, /* results only: an error; the value is the hash of the error's name */
	DIFF_FORM_NONE,	 /* results only: strace shows that the call has no result */
};

struct diff_kind {
	char name[DIFF_NAME]; /* "openat" for a system call, "vfs.open" for other events; not escaped */
	uint64_t hash;
	bool call;
	bool excluded; /* the other trace does not record events of this kind */
	bool sync;     /* threads wait for each other by this call: the number of calls depends on timing */
	bool transfer; /* a call that reads or writes, and returns the number of bytes */
	bool poll;     /* a call that waits for one of several files */
	bool leaves;   /* a call by which a thread ends itself or its process */
	bool exits;    /* a call by which a thread ends the other threads of its process */
	bool pauses;   /* a call that only waits until some time has passed */
	bool handled;  /* a call that returns from a signal handler */
	/* 1 + index of the argument that is the target of a signal; 0: the call sends no signal */
	uint8_t kills;
	bool hidden; /* what the call does depends on a structure that is not in the trace */
	/*
	 * steps of this kind are recorded by interrupts, or by kernel threads that work for several threads
	 */
	bool served;
	uint32_t type; /* id of the event; 0 for a call */
	uint64_t count;
};

struct diff_step {
	uint64_t key; /* hash of what identifies the step: its kind and its strings */
	uint64_t stamp;
	uint64_t slot; /* slot's index in the ring; for output of strace, the number of the line */
	/*
	 * number of ticks for which the thread ran during the call; for output of strace, the whole duration
	 * of the call; 0: unknown
	 */
	uint64_t took;
	uint64_t result;
	uint32_t ring;
	uint32_t thread;
	uint32_t kind;
	uint32_t value; /* index in diff_trace.value of the first value */
	uint8_t values;
	uint8_t result_form;
	bool begins_thread; /* the result is the id of a new thread */
	bool interrupted;   /* a signal interrupted the call, and that signal is in the trace */
	bool inside;	    /* not a call, but an event that was recorded during a call */
	bool dropped;	    /* a failed attempt, or the sleep that follows a failed attempt */
	uint8_t form[DIFF_VALUES];
};

/* A wait: a time in which a thread slept, or had announced that it will sleep. */
struct diff_wait {
	/* timestamps; `end` is UINT64_MAX if the trace does not show when the wait ended */
	uint64_t stamp, end;
	uint64_t object;
	uint64_t slot;
	uint32_t ring, thread;
	uint32_t wake; /* index of the wakeup that ended the wait, or DIFF_NONE */
	uint32_t next; /* index of the thread's next wait, or DIFF_NONE */
};

struct diff_wake {
	/* `object`: what the wakeup applies to, such as a queue; 0 if unknown */
	uint64_t stamp, slot, object;
	uint32_t ring;
	uint32_t thread; /* thread that made the wakeup; DIFF_NONE: an interrupt made it */
	uint32_t target; /* thread that was woken; DIFF_NONE: no thread slept on the object */
};

struct diff_thread {
	uint32_t id;
	/* only for thread 0, which runs on several CPUs: number of the CPU; otherwise DIFF_NONE */
	uint32_t cpu;
	uint32_t parent;      /* index of the thread that created this thread, or DIFF_NONE */
	uint32_t nth;	      /* number of threads that the parent had created before this thread */
	uint32_t made;	      /* number of threads that this thread created */
	char name[DIFF_NAME]; /* name of the thread, not escaped; "" if unknown */
	/* the thread's steps: index in diff_trace.order of the first step, and number of steps */
	uint32_t first, steps;
	uint64_t seen; /* timestamp of the thread's last event */
	/*
	 * timestamp since which the thread does not run (0: it runs), and ticks for which it did not run so
	 * far
	 */
	uint64_t off_since, off;
	uint64_t call_off;		      /* value of `off` when the current call began */
	uint32_t call;			      /* step of the call that has not returned yet, or DIFF_NONE */
	uint32_t wait, last_wait, first_wait; /* current, last and first wait, or DIFF_NONE */
	/* the thread with which this thread is paired in the other trace, or DIFF_NONE */
	uint32_t peer;
	uint32_t waker; /* the first thread that woke this thread, or DIFF_NONE */
	bool serves;	/* several threads have woken this thread */
	bool calls;	/* the thread makes system calls */
	bool polls;	/* the thread waits for any of several files or senders */
	bool leaves;	/* the thread's last call ends the thread */
	/* the parent is unknown, and other threads have the same name */
	bool guessed;
	/* ring buffer: keys of the steps that were recorded during the current call */
	uint64_t recent[DIFF_RECENT];
	uint32_t recents;
	/* the thread's last step, if it is a call that returned EINTR; otherwise DIFF_NONE */
	uint32_t broken;
	bool signalled; /* a signal has arrived since the thread's last step began */
	/* the last signal that was sent to the thread; 0: none, or the handler has returned */
	uint32_t signal;
	/*
	 * timestamp at which another thread sent `signal`; 0: no other thread sent it, or the sender is
	 * unknown
	 */
	uint64_t sent;
	/*
	 * timestamp at which `signal` was sent to this thread; 0: the time is unknown, or another thread
	 * caused the fault
	 */
	uint64_t arrived;
	uint32_t process; /* first thread of the process; if that is unknown, this thread */
	/* only in the first thread of a process: ring buffer of the timestamps at which the process ended */
	uint64_t exit[DIFF_EXITS];
	uint32_t exits;
	bool ended;
};

struct diff_gap {
	/* timestamps of the last event before the gap and of the first event after the gap */
	uint64_t from, to;
};

struct diff_trace {
	const char *path;
	struct ktread *trace; /* borrowed; NULL: the file is output of strace */
	uint64_t frequency;
	uint64_t begin, end; /* timestamps of the first and the last event */
	uint64_t events;
	uint64_t lost; /* number of slots, records or lines that are missing or cannot be read */
	bool calls;    /* true if system calls are recorded whenever a thread makes any */
	bool full;     /* true if the last part of the trace was not read, because there was no room for it */
	uint64_t noise[DIFF_NOISES];

	struct diff_kind *kind;
	struct diff_thread *thread;
	struct diff_step *step;
	uint64_t *value;
	struct diff_wait *wait;
	struct diff_wake *wake;
	struct diff_gap *gap;
	uint32_t kinds, threads, steps, values, waits, wakes, gaps;
	uint32_t kind_room, thread_room, step_room, value_room, wait_room, wake_room, gap_room;
	uint32_t *order; /* indices of the steps, grouped by thread */
	struct base_index kind_index, thread_index;
};

struct diff_trace *diff_trace_new(const char *path);
/* Finds or adds the kind with this name. Returns its number; DIFF_NONE if out of memory. */
uint32_t diff_trace_kind(struct diff_trace *trace, const char *name, size_t length, bool call);
/*
 * Finds the newest thread with this id, or adds a thread. Returns its index. If there is no room, returns
 * DIFF_NONE and sets `full`.
 */
uint32_t diff_trace_thread(struct diff_trace *trace, uint32_t id, uint32_t cpu);
/*
 * Adds a thread that the thread `parent` (DIFF_NONE: unknown) has created, unless it was added before. The id
 * of a thread that has ended may be reused. Returns the thread's index; DIFF_NONE if there is no room.
 */
uint32_t diff_trace_child(struct diff_trace *trace, uint32_t parent, uint32_t id);
/*
 * Returns the index of the newest thread with this id; DIFF_NONE if there is none. Requires: `id` is not 0.
 */
uint32_t diff_trace_find(const struct diff_trace *trace, uint32_t id);
void diff_trace_name(struct diff_thread *thread, const char *name, size_t length);
/* Adds a step. Returns a pointer that is valid until the next step is added; NULL if there is no room. */
struct diff_step *diff_trace_step(struct diff_trace *trace, uint32_t thread, uint32_t kind, uint64_t stamp,
				  uint32_t ring, uint64_t slot);
/* Adds a value to the last step of the trace. Does nothing if that step has DIFF_VALUES values. */
void diff_trace_value(struct diff_trace *trace, enum diff_form form, uint64_t value);
/*
 * diff_trace_signal() records that a signal arrives at a thread, diff_trace_broken() that the call in the
 * thread's last step returned EINTR. If both are recorded, in any order, and no other step is recorded
 * between them, the call counts as interrupted.
 */
void diff_trace_signal(struct diff_trace *trace, uint32_t thread);
void diff_trace_broken(struct diff_trace *trace, uint32_t step);
/* Adds a gap: events between two timestamps may be missing. */
void diff_trace_gap(struct diff_trace *trace, uint64_t from, uint64_t to);
/* Returns whether events between two events with these timestamps may be missing. */
bool diff_trace_gap_between(const struct diff_trace *trace, uint64_t from, uint64_t to);
/* Call after the last event. Sorts the steps by thread. Returns 0 or KTREAD_E_MEMORY. */
int diff_trace_end(struct diff_trace *trace);
/*
 * Joins calls that transfer one block of data in several parts: for example, a read that returned fewer bytes
 * than requested, and the next read of the same file, which requests the rest. Removes all calls of a
 * transfer except the first from `order`, because the number of parts depends on timing. Requires: the steps
 * are sorted by thread.
 */
void diff_transfers_join(struct diff_trace *trace);
/*
 * If a program repeats a failed call after a sleep, removes the failed attempts and these sleeps, because
 * their number depends on timing. The last attempt remains, and so do other calls between the attempts.
 * Requires: the steps are sorted by thread.
 */
void diff_retries_drop(struct diff_trace *trace);

/* ---- Why threads end ---- */

enum diff_end {
	DIFF_END_ITSELF,    /* the thread ended itself, by a call or a fault; or it has not ended */
	DIFF_END_BY_OTHER,  /* another thread sent a signal, or ended the process; this is in the trace */
	DIFF_END_BY_SIGNAL, /* a signal not caused by a fault; the trace lacks its sender */
};

/*
 * Records that a signal was sent to a thread. `arrived`: timestamp at which it was sent to this thread; 0:
 * the trace shows only that the signal has ended the thread. `by_other`: another thread sent it.
 */
void diff_end_signal(struct diff_thread *thread, uint32_t number, uint64_t arrived, bool by_other);
/* Records that the process of a thread is about to end. A signal handler may prevent the end. */
void diff_end_process(struct diff_trace *trace, uint32_t thread, uint64_t stamp);
/*
 * If `step`, which created the thread `child`, shows that `child` is in the same process as `parent`, records
 * this.
 */
void diff_end_child(struct diff_trace *trace, uint32_t parent, uint32_t child, const struct diff_step *step);
/* Finds the calls and faults that end other threads. Requires: the steps are sorted by thread. */
void diff_ends_find(struct diff_trace *trace);
enum diff_end diff_end_of(const struct diff_trace *trace, const struct diff_thread *thread);

static inline const struct diff_step *diff_step_of(const struct diff_trace *trace,
						   const struct diff_thread *thread, uint32_t n)
{
	return &trace->step[trace->order[thread->first + n]];
}

/* ---- System calls: what their arguments mean, by the types in a table (spec/ktrx-proc.md) ---- */

struct diff_types {
	uint8_t form[DIFF_VALUES]; /* enum diff_form */
	bool narrow[DIFF_VALUES];  /* true if the argument's value has 32 bits */
	uint8_t result;
	bool wide;		  /* true if the result has 64 bits */
	uint8_t paths;		  /* number of arguments that are paths */
	bool socket;		  /* an argument is a pointer to the address of a socket */
	bool stored[DIFF_VALUES]; /* an argument is a pointer to memory in which the kernel stores data */
	int8_t path;		  /* index of the first argument that is a path; -1: none */
	uint8_t values;
	bool known;
};

/*
 * Parses the types of a call: "size, fd fd, data buf, size count". If `text` is NULL or "", the types are
 * unknown.
 */
void diff_types_read(struct diff_types *types, const char *name, const char *text, size_t length);
/* Returns the DIFF_FORM_* of a result that is not an error. */
uint8_t diff_types_result(const struct diff_types *types, uint64_t result);
/* Adds a path to the key of a call. Returns the new key. */
uint64_t diff_path_key(uint64_t key, const char *path, size_t length);
/* Returns whether threads make this call only to wait for each other, for example if a lock is busy. */
bool diff_is_sync(const char *name);
/* Returns whether the call reads or writes, and its result is the number of bytes. */
bool diff_is_transfer(const char *name);
/* Returns whether the call waits for any of several files. */
bool diff_is_poll(const char *name);
/* Returns whether a thread ends itself or its process by this call. */
bool diff_is_leave(const char *name);
/*
 * Returns whether a thread ends the other threads of its process by this call, if it succeeds. On Linux,
 * exit() ends only the thread.
 */
bool diff_is_exit(const char *name);
/*
 * If the call sends a signal, returns 1 + the index of the argument that is the target; the next argument is
 * the number of the signal. Returns 0 for other calls.
 */
uint8_t diff_kills(const char *name);
/* Returns whether the call creates a thread in the same process. */
bool diff_shares_process(const char *name);
/* Returns whether the call only waits until some time has passed. */
bool diff_is_pause(const char *name);
/* Returns whether the result of this call is the id of a new thread or process. */
bool diff_makes_thread(const char *name);

/* ---- The texts of events ---- */

/* Finds the texts of the events that a report shows, by reading the traces again. */

struct text {
	struct diff_event event;
	char *line; /* text of the event, without a newline; NULL if the event was not found */
	char *end; /* if the event is the beginning of a call: text of its return; NULL if it was not found */
	uint32_t thread; /* id of the thread that records the event */
};

struct texts {
	struct text *text;
	uint32_t count, room;
	/* `before`: ring buffer of the texts of the thread's last events before the event `before_of` */
	struct diff_event before_of;
	uint32_t thread; /* id of the thread; DIFF_NONE: no events before `before_of` are needed */
	char *before[DIFF_CONTEXT];
	uint32_t next;
};

/* Requests the text of an event. Returns false if out of memory. */
bool texts_want(struct texts *texts, const struct diff_event *event);
/* Reads the trace again, and finds the texts. Returns 0 or a negative enum ktread_error. */
int texts_read(struct texts *texts, const struct diff_trace *trace);
/* Returns the text of an event; "?" if it was not found. */
const char *texts_of(const struct texts *texts, const struct diff_event *event);
/* Returns the text of the return of the call that begins with this event; NULL if there is none. */
const char *texts_end_of(const struct texts *texts, const struct diff_event *event);
/*
 * Returns the text of the event number `n` (from 0) before the first difference; NULL if there are no more.
 */
const char *texts_before(const struct texts *texts, uint32_t n);
void texts_free(struct texts *texts);

#endif
