/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Processes: one thread each; the thread's id is the pid. Process 1 is init. Fields without a remark belong to the
 * process itself; those under the table lock are marked.
 */
#ifndef DEMO_PROCESS_H
#define DEMO_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "file.h"
#include "signal.h"
#include "vm.h"
#include "wait.h"

#define PROCESS_MAX 64
#define PROCESS_FILES 32

struct credentials {
	uint32_t uid, gid;
};

enum process_state { PROCESS_FREE, PROCESS_ALIVE, PROCESS_ZOMBIE };

struct process {
	enum process_state state;      /* table lock */
	uint32_t pid;
	struct process *parent;	       /* table lock */
	int status;		       /* of wait4, once a zombie */
	struct thread *thread;
	struct vm vm;
	struct files files;
	struct inode *cwd;
	struct credentials cred;
	struct signals signals;
	struct wait_queue children;    /* its lock is not the table's: a child becomes a zombie, then wakes it */
	char name[THREAD_NAME_MAX];
};

/* The running thread's process; NULL in kernel threads. */
struct process *process_self(void);

/* Process 1: loads the program at path with argument words; called once by the kernel's init thread. */
int process_start_init(const char *path, char *const argv[]);

int64_t process_fork(void);
int process_exec(const char *path, char *const argv[], char *const envp[]); /* kernel copies; 0 or -errno */
_Noreturn void process_exit(int status);				    /* status as wait4 tells it */
int64_t process_wait(int64_t pid, int *status, unsigned flags);
struct process *process_find(uint32_t pid); /* table lock held by the caller: process_lock() */
bool process_lock(void);
void process_unlock(bool irq_on);

#endif
