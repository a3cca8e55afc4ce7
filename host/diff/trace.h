/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A trace as ktrace diff compares it: for each thread, the steps of its program in order. A step is a system
 * call, or another event that the thread records because of what its program does. What depends on time and
 * on the scheduler is not a step: it is only counted, as noise. Waits and wakeups are kept apart, because
 * they are the causes that join the threads.
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
#define DIFF_STEPS_MAX	 (4u << 20) /* steps that are read from one trace */
#define DIFF_WAKES_MAX	 (4u << 20)
#define DIFF_THREADS_MAX 65536u
#define DIFF_KINDS_MAX	 16384u
#define DIFF_GAPS_MAX	 4096u
#define DIFF_RECENT	 8u /* steps of a call among which a repeated step is looked for */
#define DIFF_EXITS	 4u /* ends of a process that are kept: it may run several programs */
/* number of bytes of a path that are compared: process traces contain no more */
#define DIFF_PATH 120u

/* What is known of a value: an argument or a result. Only values of the same form can be compared. */
enum diff_form {
	DIFF_FORM_UNKNOWN, /* of a result: the call did not return, or its end is not in the trace */
	DIFF_FORM_OPAQUE,  /* an address or the hash of a text, which is not compared with the other trace */
	DIFF_FORM_NUMBER,
	DIFF_FORM_FILE, /* a file descriptor */
	DIFF_FORM_PROCESS,
	DIFF_FORM_ERROR, /* of a result: the hash of the error's name */
	DIFF_FORM_NONE,	 /* of a result: strace shows that there is none */
};

struct diff_kind {
	char name[DIFF_NAME]; /* "openat" for a system call, "vfs.open" for other events; not escaped */
	uint64_t hash;
	bool call;
	bool excluded; /* the other trace does not record events of this kind */
	bool sync;     /* a call by which threads wait for each other: how often it is made depends on time */
	bool transfer; /* a call that reads or writes a number of bytes */
	bool poll;     /* a call that waits for one of several files */
	bool leaves;   /* a call by which a thread ends itself or its process */
	bool exits;    /* a call by which a thread ends the other threads of its process */
	bool pauses;   /* a call by which a program only lets time pass */
	bool handled;  /* a call that ends the handler of a signal */
	uint8_t kills; /* 1 + index of the argument that names the target of a signal; 0: it sends none */
	bool hidden;   /* a structure that the trace does not show decides what the call does */
	bool served;   /* threads of the kernel that serve several threads record it, or interrupts do */
	uint32_t type; /* id of the event; 0 for a call */
	uint64_t count;
};

struct diff_step {
	uint64_t key; /* hash of what the step means: its kind, its strings */
	uint64_t stamp;
	uint64_t slot; /* index in the ring; for the text of strace, the number of the line */
	uint64_t took; /* time on a CPU in ticks from the beginning of the call to its end; 0: unknown */
	uint64_t result;
	uint32_t ring;
	uint32_t thread;
	uint32_t kind;
	uint32_t value; /* index of the first value */
	uint8_t values;
	uint8_t result_form;
	bool begins_thread; /* the result names a new thread */
	bool interrupted;   /* a signal that the trace shows has interrupted the call */
	bool inside;	    /* not a call, but recorded within a call */
	bool dropped;	    /* a failed try, or the pause after it */
	uint8_t form[DIFF_VALUES];
};

/* A time in which a thread slept, or announced to sleep. */
struct diff_wait {
	uint64_t stamp, end; /* `end`: UINT64_MAX if the trace does not show the end */
	uint64_t object;
	uint64_t slot;
	uint32_t ring, thread;
	uint32_t wake; /* the wakeup that ended the wait, or DIFF_NONE */
	uint32_t next; /* the next wait of the thread, or DIFF_NONE */
};

struct diff_wake {
	uint64_t stamp, slot, object; /* `object`: 0 if unknown */
	uint32_t ring;
	uint32_t thread; /* the thread that wakes; DIFF_NONE: an interrupt */
	uint32_t target; /* the thread that is woken; DIFF_NONE: no thread slept */
};

struct diff_thread {
	uint32_t id;
	uint32_t cpu;		 /* for thread 0, which runs on several CPUs; otherwise DIFF_NONE */
	uint32_t parent;	 /* index of the thread that made this one, or DIFF_NONE */
	uint32_t nth;		 /* number of threads that the parent made before */
	uint32_t made;		 /* number of threads that this thread made */
	char name[DIFF_NAME];	 /* "" if unknown; not escaped */
	uint32_t first, steps;	 /* its part of diff_trace.order */
	uint64_t seen;		 /* stamp of its last event */
	uint64_t off_since, off; /* off its CPU: since when, or 0; and for how long so far */
	uint64_t call_off;	 /* `off` at the beginning of the open call */
	uint32_t call;		 /* the step of the call that it is in, or DIFF_NONE */
	uint32_t wait, last_wait, first_wait; /* the open wait, the last and the first one, or DIFF_NONE */
	uint32_t peer;			      /* the same thread in the other trace, or DIFF_NONE */
	uint32_t waker;			      /* the first thread that woke it, or DIFF_NONE */
	bool serves;			      /* several threads have woken it */
	bool calls;			      /* it makes system calls */
	bool polls;			      /* it waits for one of several files or senders */
	bool leaves;			      /* its last call ends it */
	bool guessed;			      /* other threads have the same name, and no parent is known */
	uint64_t recent[DIFF_RECENT];	      /* keys of other steps in the open call: a ring buffer */
	uint32_t recents;
	uint32_t broken;  /* its last step, if this is a call that returned EINTR; otherwise DIFF_NONE */
	bool signalled;	  /* a signal has arrived since its last step began */
	uint32_t signal;  /* the last one that was sent to it; 0: none, or its handler has returned */
	uint64_t sent;	  /* when another thread sent this signal; 0: none did, or unknown */
	uint64_t arrived; /* when this signal came to this thread; 0: unknown, as of a fault of another one */
	uint32_t process; /* the first thread of its process; itself if unknown */
	uint64_t exit[DIFF_EXITS]; /* of the first thread: stamps of ends of the process: a ring buffer */
	uint32_t exits;
	bool ended;
};

struct diff_gap {
	uint64_t from, to; /* stamps: from the last event before the gap to the first one after it */
};

struct diff_trace {
	const char *path;
	struct ktread *trace; /* NULL: the file is text of strace; borrowed */
	uint64_t frequency;
	uint64_t begin, end; /* stamps of the first and the last event */
	uint64_t events;
	uint64_t lost; /* slots, records or lines that are missing or cannot be read */
	bool calls;    /* system calls are recorded, if there are any */
	bool full;     /* there was no room for the rest of the trace */
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
	uint32_t *order; /* steps, thread by thread */
	struct base_index kind_index, thread_index;
};

struct diff_trace *diff_trace_new(const char *path);
/* Returns the number of the kind with this name, which it adds if necessary; DIFF_NONE if memory is short. */
uint32_t diff_trace_kind(struct diff_trace *trace, const char *name, size_t length, bool call);
/*
 * Returns the thread with this id that was made last; adds it if necessary. Returns DIFF_NONE if there is no
 * room; sets `full` then.
 */
uint32_t diff_trace_thread(struct diff_trace *trace, uint32_t id, uint32_t cpu);
/* Adds a thread that `parent` has made, which may be DIFF_NONE. An id may be used again. */
uint32_t diff_trace_child(struct diff_trace *trace, uint32_t parent, uint32_t id);
/* Returns the thread with this id that was made last; DIFF_NONE if there is none. `id` is not 0. */
uint32_t diff_trace_find(const struct diff_trace *trace, uint32_t id);
void diff_trace_name(struct diff_thread *thread, const char *name, size_t length);
/* Adds a step. The pointer is valid until the next one is added. Returns NULL if there is no room. */
struct diff_step *diff_trace_step(struct diff_trace *trace, uint32_t thread, uint32_t kind, uint64_t stamp,
				  uint32_t ring, uint64_t slot);
/* Adds a value to the last step of the trace, up to DIFF_VALUES. */
void diff_trace_value(struct diff_trace *trace, enum diff_form form, uint64_t value);
/*
 * Note that a signal arrives at a thread, and that the call of its last step returned EINTR. If both happen,
 * in any order, without another step between them, the call is interrupted.
 */
void diff_trace_signal(struct diff_trace *trace, uint32_t thread);
void diff_trace_broken(struct diff_trace *trace, uint32_t step);
/* Notes that something is missing between two stamps. */
void diff_trace_gap(struct diff_trace *trace, uint64_t from, uint64_t to);
/* Returns whether something is missing between two events with these stamps. */
bool diff_trace_gap_between(const struct diff_trace *trace, uint64_t from, uint64_t to);
/* Call after the last event. Sorts the steps by thread. Returns 0 or KTREAD_E_MEMORY. */
int diff_trace_end(struct diff_trace *trace);
/*
 * Joins calls that transfer one piece of data in several parts, such as a read that returned less than it
 * asked for, and the next read of the same file, which asks for the rest. Removes all but the first of them
 * from `order`. How many parts there are depends on time. Requires: the steps are sorted by thread.
 */
void diff_transfers_join(struct diff_trace *trace);
/*
 * Removes the failed tries of calls that a program makes again after a pause, and these pauses. Their number
 * depends on time. The last try, after which the program goes on, remains, and so do other calls between the
 * tries. Requires: the steps are sorted by thread.
 */
void diff_retries_drop(struct diff_trace *trace);

/* ---- Why threads end ---- */

enum diff_end {
	DIFF_END_ITSELF,    /* by a call, by a fault, or not at all */
	DIFF_END_BY_OTHER,  /* the trace shows that another thread sent a signal, or ended the process */
	DIFF_END_BY_SIGNAL, /* by a signal that no fault causes; its sender is not in the trace */
};

/*
 * Notes a signal. `arrived`: when it was sent to this thread; 0: the trace shows only that it has ended the
 * thread. `by_other`: another thread sent it.
 */
void diff_end_signal(struct diff_thread *thread, uint32_t number, uint64_t arrived, bool by_other);
/* Notes that something ends the process of a thread, unless a handler for a signal prevents this. */
void diff_end_process(struct diff_trace *trace, uint32_t thread, uint64_t stamp);
/* Notes that `child` is a thread of the same process as `parent` if `step`, which made it, shows this. */
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
	bool narrow[DIFF_VALUES];  /* the value has 32 bits */
	uint8_t result;
	bool wide;		  /* the result has 64 bits */
	uint8_t paths;		  /* number of arguments that are paths */
	bool socket;		  /* an argument is the address of a socket's address */
	bool stored[DIFF_VALUES]; /* an argument is the address at which the kernel stores something */
	int8_t path;		  /* index of the first argument that is a path; -1: none */
	uint8_t values;
	bool known;
};

/* Reads the types of a call: "size, fd fd, data buf, size count". `text` NULL or "": nothing is known. */
void diff_types_read(struct diff_types *types, const char *name, const char *text, size_t length);
/* Returns the form of a result that is not an error. */
uint8_t diff_types_result(const struct diff_types *types, uint64_t result);
/* Continues the key of a call with a path. */
uint64_t diff_path_key(uint64_t key, const char *path, size_t length);
/* Returns whether threads wait for each other by this call, so that it is made only if a lock is busy. */
bool diff_is_sync(const char *name);
/* Returns whether the call reads or writes, and its result is the number of bytes. */
bool diff_is_transfer(const char *name);
/* Returns whether the call waits for one of several files. */
bool diff_is_poll(const char *name);
/* Returns whether a thread ends itself or its process by this call. */
bool diff_is_leave(const char *name);
/*
 * Returns whether a thread ends the other threads of its process by this call, if it succeeds. On Linux,
 * exit() ends only the thread.
 */
bool diff_is_exit(const char *name);
/*
 * Returns 1 + the index of the argument that names the target, if the call sends a signal. The next argument
 * is the signal. Returns 0 for other calls.
 */
uint8_t diff_kills(const char *name);
/* Returns whether the call makes a thread of the same process. */
bool diff_shares_process(const char *name);
/* Returns whether a program only lets time pass by this call. */
bool diff_is_pause(const char *name);
/* Returns whether the result of this call is the id of a new thread or process. */
bool diff_makes_thread(const char *name);

#endif
