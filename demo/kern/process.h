/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Processes, each with one or more threads. The pid is the id of the first thread. Process 1 is init. Fields
 * marked "table lock" are guarded by process_lock(). The other fields belong to the process, which changes
 * them only while it has a single thread.
 */
#ifndef DEMO_PROCESS_H
#define DEMO_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <ktrace/hwt.h>

#include "credentials.h"
#include "file.h"
#include "signal.h"
#include "thread.h"
#include "vm.h"
#include "wait.h"

#define PROCESS_MAX 64

/* A NEW process is being created; only its creator can access it. */
enum process_state { PROCESS_FREE, PROCESS_NEW, PROCESS_ALIVE, PROCESS_ZOMBIE };

/*
 * Threads wait here for the end of other threads or processes. `ended` changes under the queue's lock, which
 * is never held together with the table's lock. A waiter reads the count, checks the table, and sleeps until
 * the count has changed, so a waiter always notices an end. The structure outlives the process, because a
 * thread that has just ended may still increment the count.
 */
struct process_ends {
	struct wait_queue queue;
	uint32_t ended; /* number of threads or processes that have ended so far */
};

struct process {
	enum process_state state; /* table lock */
	uint32_t pid;
	/* The process group: the pid of the process that created the group; table lock. */
	uint32_t group;
	struct process *parent;	    /* parent process; init is its own parent; table lock */
	int status;		    /* status for wait4, valid in a zombie; table lock */
	char name[THREAD_NAME_MAX]; /* name of the main thread or the program */
	struct thread *thread;	    /* the main thread; table lock */
	struct thread *threads;	    /* list of threads, linked by next_in_process; table lock */
	unsigned staying;	    /* number of threads that are not ending; table lock */
	struct thread *ender;	    /* the thread that is ending all others; table lock */
	struct vm vm;
	struct files files;
	struct inode *cwd; /* table lock */
	struct credentials cred;
	struct signals signals;
	struct ktrace_proc trace;
	struct ktrace_hwt_process hardware_trace;
	/* True: the process is ending, and process traces already contain its end; table lock. */
	bool is_ending;
	char program[PATH_MAX];			   /* path of the program, as given to execve; table lock */
	struct mapped_code *code;		   /* list of mapped_code.c; NULL: none; table lock */
	struct process_ends children, thread_ends; /* must be last: claim_slot does not clear these fields */
};

/* Returns the process of the running thread; NULL for kernel threads. */
struct process *process_self(void);

/*
 * Starts process 1 with the program at path. Called once, by the kernel's init thread. Returns 0 or -errno.
 */
int process_start_init(const char *path, char *const argv[]);

int64_t process_fork(void);
/* Replaces the program of the running process. The strings are in kernel memory. Returns 0 or -errno. */
int process_exec(const char *path, char *const argv[], char *const envp[]);
/* Ends the running process with all its threads. `status` has the form that wait4 returns. */
_Noreturn void process_exit(int status);
int64_t process_wait(int64_t pid, int *status, unsigned flags);

/* ---- Threads (process_thread.c) ----------------------------------------------------------------- */

/* The initial state of a new thread of the running process. */
struct thread_start {
	uintptr_t entry, argument, stack, tls; /* in user mode */
	const char *name;		       /* in kernel memory; NULL: the name of the running thread */
};
/* Creates a thread of the running process. Returns its id or -errno. */
int64_t process_thread_create(const struct thread_start *start);

/* Ends the running thread. If it is the last one, the process ends with status 0. */
_Noreturn void process_thread_exit(void);

/*
 * Waits until the running process has no thread with that id. Returns 0, -EINTR, or -EDEADLK if the id is the
 * running thread's own.
 */
int process_thread_join(uint32_t id);

/*
 * Ends all other threads. On return the running thread is the only one and the main one. Returns false if
 * another thread is already ending the running thread.
 */
bool process_end_others(void);

/* Returns the thread of a process with that id, or NULL. Requires: table locked. */
struct thread *process_thread_find(const struct process *process, uint32_t id);

/* Adds a new thread to a process. Requires: table locked. */
void process_thread_add(struct process *process, struct thread *thread);

/* Renames the running thread. Also renames the process if the running thread is its main thread. */
void process_rename(struct process *self, const char *name);

/*
 * Waits until `ended`, a count from process_ends_count(), is no longer the number of ended threads or
 * processes. `thread` is the id that the trace shows for the awaited thread; 0: any. Returns false if a
 * signal came first.
 */
bool process_ends_wait(struct process_ends *ends, uint32_t ended, uint32_t thread);
uint32_t process_ends_count(const struct process_ends *ends);
/* Wakes all waiters: one more thread or process has ended, or waiters must now wait for another thread. */
void process_ends_wake(struct process_ends *ends);

/*
 * process_cwd returns the working directory; the caller owns the reference. process_set_cwd replaces it and
 * takes ownership of the reference.
 */
struct inode *process_cwd(struct process *process);
void process_set_cwd(struct process *process, struct inode *cwd);

/*
 * Moves a process (0: the caller) to a group (0: its own). Only the caller and its children can be moved, and
 * the group must exist. Returns 0 or -errno.
 */
int process_set_group(uint32_t pid, uint32_t group);

/* Changes the ids of the running process. Other threads read them with the table locked. */
void process_set_identity(struct process *self, const struct credentials *who);
/* Marks the process as set-id before its ids change. */
void process_mark_set_id(struct process *self);

/* While the table is locked, no process ends. Requires: no wait queue's lock is held. */
bool process_lock(void);
void process_unlock(bool irq_on);
struct process *process_find(uint32_t pid); /* an alive process, or NULL; table locked */
/* Iterates over the alive processes; starts with NULL and returns NULL at the end. Requires: table locked. */
struct process *process_next(const struct process *last);
uint32_t process_parent_id(const struct process *process);

#endif
