/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Processes, each of one thread or more; the pid is the id of the first one. Process 1 is init. Fields without a remark
 * belong to the process itself, which must not have several threads where it changes them; those under the table lock are
 * marked.
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

/* A new one is being made and known to nobody but its maker. */
enum process_state { PROCESS_FREE, PROCESS_NEW, PROCESS_ALIVE, PROCESS_ZOMBIE };

/*
 * Where threads wait for others to end. The count changes under the queue's lock, which is never held together with the
 * table's. A waiter reads the count, looks at the table, and sleeps until the count has changed, so it misses no end. The
 * structure outlives the process: a thread that has just ended may still count itself.
 */
struct process_ends {
	struct wait_queue queue;
	uint32_t ended; /* how many, ever */
};

struct process {
	enum process_state state; /* table lock */
	uint32_t pid;
	uint32_t group;		    /* its process group, by the pid of who founded it; table lock */
	struct process *parent;	    /* table lock; itself for init */
	int status;		    /* of wait4, once a zombie; table lock */
	char name[THREAD_NAME_MAX]; /* its main thread's, or that of its program */
	struct thread *thread;	    /* the main one; table lock */
	struct thread *threads;	    /* all that have not left, by next_in_process; table lock */
	unsigned staying;	    /* of them those that do not leave just now; table lock */
	struct thread *ender;	    /* ends all others, to be the only one; table lock */
	struct vm vm;
	struct files files;
	struct inode *cwd; /* table lock */
	struct credentials cred;
	struct signals signals;
	struct ktrace_proc trace;
	struct ktrace_hwt_process hardware_trace;
	bool is_ending;				   /* its end is recorded in process traces; table lock */
	char program[PATH_MAX];			   /* as execve was given it; table lock */
	struct mapped_code *code;		   /* mapped_code.c's; NULL: none; table lock */
	struct process_ends children, thread_ends; /* last: see above */
};

/* The running thread's process; NULL in kernel threads. */
struct process *process_self(void);

/* Process 1: loads the program at path with argument words; called once by the kernel's init thread. */
int process_start_init(const char *path, char *const argv[]);

int64_t process_fork(void);
int process_exec(const char *path, char *const argv[], char *const envp[]); /* kernel copies; 0 or -errno */
_Noreturn void process_exit(int status); /* of all threads; status as wait4 tells it */
int64_t process_wait(int64_t pid, int *status, unsigned flags);

/* ---- Threads (process_thread.c) ----------------------------------------------------------------- */

/* What a new thread of the running process begins with. */
struct thread_start {
	uintptr_t entry, argument, stack, tls; /* of user mode */
	const char *name;		       /* kernel copy; NULL: that of the running thread */
};
int64_t process_thread_create(const struct thread_start *start); /* its id or -errno */

/* The running thread ends; with the last one the process does, with status 0. */
_Noreturn void process_thread_exit(void);

/* Waits until the running process has no thread of that id. 0, -EINTR; -EDEADLK: it is the running one. */
int process_thread_join(uint32_t id);

/* The running thread is the only one and the main one on return. False: another thread ends this one. */
bool process_end_others(void);

/* The thread of the running process with that id, NULL if there is none. Table locked. */
struct thread *process_thread_find(const struct process *process, uint32_t id);

/* A thread that is just made becomes the process's. Table locked. */
void process_thread_add(struct process *process, struct thread *thread);

/* The running thread is called so from now on, and so is the process if it is its main thread. */
void process_rename(struct process *self, const char *name);

/* Waits until more have ended than `ended`: for the thread of that id, 0: for anyone. False: a signal came first. */
bool process_ends_wait(struct process_ends *ends, uint32_t ended, uint32_t thread);
uint32_t process_ends_count(const struct process_ends *ends);
/* Wakes the waiters: one more has ended, or another thread is the one to wait for. */
void process_ends_tell(struct process_ends *ends);

/* The working directory, held; and another one, whose reference goes into the process. */
struct inode *process_cwd(struct process *process);
void process_set_cwd(struct process *process, struct inode *cwd);

/*
 * A process, 0: the caller, joins a group, 0: its own. The caller and its children can be moved, into groups that exist.
 * 0 or -errno.
 */
int process_set_group(uint32_t pid, uint32_t group);

/* The running process becomes somebody else; others look at who it is with the table locked. */
void process_set_identity(struct process *self, const struct credentials *who);
void process_mark_set_id(struct process *self); /* its ids are about to change */

/* While the table is locked, what is alive stays so. No wait queue's lock may be held. */
bool process_lock(void);
void process_unlock(bool irq_on);
struct process *process_find(uint32_t pid); /* an alive one or NULL; table locked */
struct process *
process_next(const struct process *last); /* all that are alive, from NULL to NULL; table locked */
uint32_t process_parent_id(const struct process *process);

#endif
