/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* System calls, which abi/syscalls.def lists. Their functions are found by a table. */
#ifndef DEMO_SYSCALL_H
#define DEMO_SYSCALL_H

#include <stdint.h>

struct file;
struct inode;

/* The arguments of a system call, taken from the user frame. */
struct call {
	uint64_t a[6];
};

/*
 * The functions of the system calls: sys_NAME, in syscall_process.c, syscall_identity.c, syscall_memory.c,
 * syscall_file.c and so on.
 */
#define CALL(number, name, ...) int64_t sys_##name(const struct call *call);
#include "syscalls.def"

/*
 * Copies a path from the program to path[PATH_MAX], and records it in process traces. Argument n of the call
 * is the path's address in user memory. Returns 0 or -errno.
 */
int call_path(const struct call *call, unsigned n, char *path);

/*
 * Returns the file of a descriptor, or NULL if the descriptor is not open. Argument n of the call is the
 * descriptor. The reference to the file is released when the system call ends. May be called once per system
 * call.
 */
struct file *call_file(const struct call *call, unsigned n);

/* Returns the working directory. The reference to it is released when the system call ends. */
struct inode *call_cwd(void);

/* Checks that the caller is the superuser. Returns 0 or -EPERM. */
int call_superuser(void);

/*
 * The table for process traces: lines "number name result, type argument…", "error number name" and so on,
 * see spec/ktrx-proc.md, Tables.
 */
extern const char syscall_table_text[];

#endif
