/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A kernel with processes that is a few arrays, for tests of kernel/proc: files in memory that can be as full as a disk, and
 * locks that see who breaks their order.
 */
#ifndef TEST_PROC_SUPPORT_H
#define TEST_PROC_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktrace/proc.h>

#include "unit/support/proc_walk.h"

#define PROC_PROCESSES 2048
#define PROC_FILE_MAX  (4u << 20)

/* As the fake kernel numbers errors. */
#define PROC_EIO    5
#define PROC_ENOSPC 28

/* The buffer of each sink. */
#define PROC_BUFFER (64u << 10)

/* What copy_in() reads: addresses from here on are good. */
#define PROC_USER_BASE 0x10000u
#define PROC_USER_SIZE 65536u

struct proc_process {
	struct ktrace_proc trace;
	struct ktrace_proc_thread thread;
	struct ktrace_proc_identity id;
	struct proc_process *parent;
	char name[KTRACE_PROC_NAME_MAX];
	bool alive;
};

struct proc_file {
	uint8_t *bytes;
	size_t size;
	size_t capacity; /* of the disk, of which this file has all */
	size_t most;	 /* bytes that one write takes; 0: any */
	bool silent;	 /* a full disk is a write of 0 bytes, not an error */
	uint32_t writes, truncations;
	void (*in_write)(struct proc_file *file); /* happens meanwhile */
};

struct proc_sink {
	struct ktrace_proc_sink sink;
	struct proc_file file;
	uint64_t buffer[PROC_BUFFER / 8];
	bool locked;
	uint32_t closed; /* times */
};

extern struct proc_process proc_process[PROC_PROCESSES];
extern uint8_t proc_user[PROC_USER_SIZE];

/* What the kernel around it does; tests change it. */
struct proc_kernel {
	const char *table;
	uint64_t (*wall_ns)(uint64_t stamp);
	void (*in_copy)(void); /* happens during copy_in() */
	uint32_t copies;
};
extern struct proc_kernel proc_kernel;

/* What sinks can do: all of it, or as little as may be. */
extern const struct ktrace_proc_sink_operations proc_operations, proc_operations_bare;

/* The fake machine, an unused library, no process but the first, whose pid is 1. Call before each test. */
int proc_reset(void **state);
/* Everything was closed, every lock is free. After each test. */
int proc_check(void **state);

/* ktrace_proc_init() with the fake kernel as it is. */
void proc_start(void);

/* A child of another one, or of nobody, by ktrace_proc_fork(); same ids. */
struct proc_process *proc_fork(struct proc_process *parent);
struct proc_process *proc_first(void);
void proc_exit(struct proc_process *process);

/* Ids: real, effective, saved, of user and group alike. */
void proc_ids(struct proc_process *process, uint32_t uid, uint32_t gid);

/* Opens a sink with the defaults, or as the configuration says, whose buffer, file and operations are filled in. */
struct ktrace_proc_sink_config proc_config(void);
int proc_open(struct proc_sink *sink, const struct ktrace_proc_sink_config *config);
void proc_open_default(struct proc_sink *sink);
void proc_free(struct proc_sink *sink); /* its file */

int proc_control(struct proc_process *caller, uint32_t operation, uint32_t facilities, int64_t pid,
		 struct proc_sink *sink);
void proc_release(struct proc_sink *sink);

/* The process traces itself into the sink, and the opener's reference is given up. */
void proc_trace(struct proc_process *process, struct proc_sink *sink, uint32_t facilities);

/* ---- Reading what was written ------------------------------------------------------------------ */

void proc_walk(struct proc_walk *walk, const struct proc_sink *sink);

/* How many records, of a type or all (0), NAME, TABLE and END included. The file must be clean. */
uint32_t proc_count(const struct proc_sink *sink, uint32_t type);

#endif
