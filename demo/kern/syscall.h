/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* System calls: dispatch by the table in abi/syscalls.def. */
#ifndef DEMO_SYSCALL_H
#define DEMO_SYSCALL_H

#include <stdint.h>

struct file;
struct inode;

/* Arguments of a call in flight, as the frame has them. */
struct call {
	uint64_t a[6];
};

/* One function a call: sys_NAME, in syscall_process.c, syscall_identity.c, syscall_memory.c, syscall_file.c and so on. */
#define CALL(number, name, ...) int64_t sys_##name(const struct call *call);
#include "syscalls.def"

/* The path at argument n, copied to path[PATH_MAX], about to be looked up. 0 or -errno. */
int call_path(const struct call *call, unsigned n, char *path);

/* The file that argument n is a descriptor of, held until the call ends; NULL: -EBADF. One for each call. */
struct file *call_file(const struct call *call, unsigned n);

/* The working directory, held until the call ends. */
struct inode *call_cwd(void);

/* For what the superuser alone may: 0 or -EPERM. */
int call_superuser(void);

/* Lines "number name result, type argument…", "error number name" and so on for traces: spec/ktrx-proc.md, Tables. */
extern const char syscall_table_text[];

#endif
