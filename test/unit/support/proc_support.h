/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A simulated kernel with processes, for tests of kernel/proc. Its files are in memory. They have a maximum
 * size, so that the disk can be full. Its locks fail the test if the library breaks their order.
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

/* Error numbers of the simulated kernel. */
#define PROC_EIO    5
#define PROC_ENOSPC 28

/* Size of the buffer of each sink. */
#define PROC_BUFFER (64u << 10)

/* The lowest address that copy_in() can read. */
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
	size_t capacity; /* size of the disk, which contains only this file */
	size_t most;	 /* maximum number of bytes that one write accepts; 0: no limit */
	bool silent;	 /* true if a write to the full disk returns 0 instead of an error */
	uint32_t writes, truncations;
	void (*in_write)(struct proc_file *file); /* if not NULL, called during each write */
};

struct proc_sink {
	struct ktrace_proc_sink sink;
	struct proc_file file;
	uint64_t buffer[PROC_BUFFER / 8];
	bool locked;
	uint32_t closed; /* number of times that the file was closed */
};

extern struct proc_process proc_process[PROC_PROCESSES];
extern uint8_t proc_user[PROC_USER_SIZE];

/* State of the simulated kernel. Tests change it. */
struct proc_kernel {
	const char *table;
	uint64_t (*wall_ns)(uint64_t stamp);
	void (*in_copy)(void); /* if not NULL, called during copy_in() */
	uint32_t copies;
};
extern struct proc_kernel proc_kernel;

/* Two tables of operations of a sink: the first has all operations, the second only the required ones. */
extern const struct ktrace_proc_sink_operations proc_operations, proc_operations_bare;

/* Call before each test. Resets the simulated machine and the library. The only process has pid 1. */
int proc_reset(void **state);
/* Call after each test. Returns nonzero unless everything is closed and every lock is free. */
int proc_check(void **state);

/* Calls ktrace_proc_init() with the current settings of the simulated kernel. */
void proc_start(void);

/*
 * Makes a child of `parent`, which may be NULL, with ktrace_proc_fork(). The child has the user and group ids
 * of the parent.
 */
struct proc_process *proc_fork(struct proc_process *parent);
struct proc_process *proc_first(void);
void proc_exit(struct proc_process *process);

/* Sets the real, effective and saved ids of user and group. */
void proc_ids(struct proc_process *process, uint32_t uid, uint32_t gid);

/*
 * proc_config() returns the default configuration. proc_open() opens a sink with a configuration, and fills
 * in the buffer and the file. proc_open_default() opens a sink with the default configuration.
 */
struct ktrace_proc_sink_config proc_config(void);
int proc_open(struct proc_sink *sink, const struct ktrace_proc_sink_config *config);
void proc_open_default(struct proc_sink *sink);
void proc_free(struct proc_sink *sink); /* frees the file of the sink */

int proc_control(struct proc_process *caller, uint32_t operation, uint32_t facilities, int64_t pid,
		 struct proc_sink *sink);
void proc_release(struct proc_sink *sink);

/*
 * Lets the process trace itself into the sink, then releases the reference to the sink that its opener has.
 */
void proc_trace(struct proc_process *process, struct proc_sink *sink, uint32_t facilities);

/* ---- Reading the files -------------------------------------------------------------------------- */

void proc_walk(struct proc_walk *walk, const struct proc_sink *sink);

/*
 * Returns how many records of a type the file has. Type 0 counts all records, including NAME, TABLE and END.
 * Fails if the file is damaged.
 */
uint32_t proc_count(const struct proc_sink *sink, uint32_t type);

#endif
