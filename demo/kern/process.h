/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Processes: one thread each; the thread's id is the pid. Process 1 is init. Fields without a remark belong to the
 * process itself; those under the table lock are marked.
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

struct process {
	enum process_state state; /* table lock */
	uint32_t pid;
	uint32_t group;		/* its process group, by the pid of who founded it; table lock */
	struct process *parent; /* table lock; itself for init */
	int status;		/* of wait4, once a zombie; table lock */
	struct thread *thread;	/* its name is the process's */
	struct vm vm;
	struct files files;
	struct inode *cwd;
	struct credentials cred;
	struct signals signals;
	struct ktrace_proc trace;
	struct ktrace_hwt_process hardware_trace;
	bool is_ending;		  /* its tracers have been told; table lock */
	char program[PATH_MAX];	  /* as execve was given it; table lock */
	struct mapped_code *code; /* mapped_code.c's; NULL: none; table lock */
	/*
	 * Children that have ended say so here, under the queue's lock; it and the table's are never held at once. Last,
	 * for it outlives the process: a child that has just ended may be late.
	 */
	struct process_children {
		struct wait_queue queue;
		uint32_t ended; /* how many, ever */
	} children;
};

/* The running thread's process; NULL in kernel threads. */
struct process *process_self(void);

/* Process 1: loads the program at path with argument words; called once by the kernel's init thread. */
int process_start_init(const char *path, char *const argv[]);

int64_t process_fork(void);
int process_exec(const char *path, char *const argv[], char *const envp[]); /* kernel copies; 0 or -errno */
_Noreturn void process_exit(int status);				    /* status as wait4 tells it */
int64_t process_wait(int64_t pid, int *status, unsigned flags);

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
