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

/*
 * States of an entry of the process table. A NEW process is being created, and only its creator may access
 * it.
 */
enum process_state { PROCESS_FREE, PROCESS_NEW, PROCESS_ALIVE, PROCESS_ZOMBIE };

/*
 * A queue in which threads wait for the end of other threads or processes. `ended` changes under the queue's
 * lock, which is never held together with the process table's lock. A waiting thread reads the count, checks
 * the table, and sleeps until the count has changed, so it notices each end. The structure remains valid
 * after the end of the process, because a thread that is about to end may still increment the count.
 */
struct process_ends {
	struct wait_queue queue;
	uint32_t ended; /* number of threads or processes that have ended */
};

struct process {
	enum process_state state; /* table lock */
	uint32_t pid;
	/* The process group: the pid of the process that created the group; table lock. */
	uint32_t group;
	struct process *parent;	    /* parent process; init is its own parent; table lock */
	int status;		    /* status for wait4, valid in a zombie; table lock */
	char name[THREAD_NAME_MAX]; /* name of the main thread, or of the program */
	struct thread *thread;	    /* the main thread; table lock */
	struct thread *threads;	    /* list of threads, linked by next_in_process; table lock */
	unsigned staying;	    /* number of threads that have not begun to end; table lock */
	/* The thread that makes all other threads end, or NULL; table lock. */
	struct thread *ender;
	struct vm vm;
	struct files files;
	struct inode *cwd; /* working directory; guarded by the table lock */
	struct credentials cred;
	struct signals signals;
	struct ktrace_proc trace;
	struct ktrace_hwt_process hardware_trace;
	/* True: the process is ending, and process traces already contain its end; table lock. */
	bool is_ending;
	char program[PATH_MAX]; /* path of the program, as given to execve; table lock */
	/* The list of mapped_code.h, or NULL if there is none; table lock. */
	struct mapped_code *code;
	/* These must be the last fields, because claim_slot does not clear them. */
	struct process_ends children, thread_ends;
};

/* Returns the process of the running thread; NULL for kernel threads. */
struct process *process_self(void);

/*
 * Starts process 1 with the program at `path`. Called only once, by the kernel's init thread. Returns 0 or
 * -errno.
 */
int process_start_init(const char *path, char *const argv[]);

int64_t process_fork(void);
/*
 * Replaces the program of the running process. path, argv and envp are in kernel memory. Returns 0 or -errno.
 */
int process_exec(const char *path, char *const argv[], char *const envp[]);
/* Ends the running process with all its threads. `status` is what wait4 will store for the parent. */
_Noreturn void process_exit(int status);
int64_t process_wait(int64_t pid, int *status, unsigned flags);

/* ---- Threads (process_thread.c) ----------------------------------------------------------------- */

/* The initial state of a new thread of the running process. */
struct thread_start {
	uintptr_t entry, argument, stack, tls; /* addresses in user mode */
	/* Name in kernel memory; NULL means the name of the running thread. */
	const char *name;
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
 * Ends all other threads. Returns true when the running thread is the only thread and the main thread of the
 * process. Returns false if another thread called this function first: the running thread must then end.
 */
bool process_end_others(void);

/* Returns the thread with that id if it belongs to the process, otherwise NULL. Requires: table locked. */
struct thread *process_thread_find(const struct process *process, uint32_t id);

/* Adds a new thread to a process. Requires: table locked. */
void process_thread_add(struct process *process, struct thread *thread);

/* Renames the running thread. Also renames the process if the running thread is its main thread. */
void process_rename(struct process *self, const char *name);

/*
 * Waits for the end of another thread or process: until process_ends_count() no longer returns `ended`, which
 * an earlier call has returned. For the trace, `thread` is the id of the thread that is awaited, 0 if it may
 * be any thread. Returns false if a signal ended the wait.
 */
bool process_ends_wait(struct process_ends *ends, uint32_t ended, uint32_t thread);
uint32_t process_ends_count(const struct process_ends *ends);
/*
 * Wakes all threads that wait in `ends`. Called when a thread or process has ended, and when a process has
 * got another main thread.
 */
void process_ends_wake(struct process_ends *ends);

/*
 * process_cwd returns the working directory; the caller owns the reference. process_set_cwd replaces it and
 * takes ownership of the reference.
 */
struct inode *process_cwd(struct process *process);
void process_set_cwd(struct process *process, struct inode *cwd);

/*
 * Moves a process to a process group. pid 0 means the calling process; group 0 means a group of the process's
 * own, whose number is its pid. Only the caller and its children can be moved. Another group must exist.
 * Returns 0 or -errno.
 */
int process_set_group(uint32_t pid, uint32_t group);

/*
 * Changes the ids of the running process. Other threads read these ids only while they hold the table's lock.
 */
void process_set_identity(struct process *self, const struct credentials *who);
/* Sets cred.set_id of the running process. Called before its ids change. */
void process_mark_set_id(struct process *self);

/*
 * Lock and unlock the process table. While it is locked, no process ends. Requires: no wait queue's lock is
 * held.
 */
bool process_lock(void);
void process_unlock(bool irq_on);
/* Returns an alive process, or NULL if there is none with that pid; requires: table locked. */
struct process *process_find(uint32_t pid);
/*
 * Returns the alive process after `last`, or the first one if `last` is NULL. Returns NULL at the end.
 * Requires: table locked.
 */
struct process *process_next(const struct process *last);
uint32_t process_parent_id(const struct process *process);

#endif
