/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* System calls: dispatch by the table in abi/syscalls.def. */
#ifndef DEMO_SYSCALL_H
#define DEMO_SYSCALL_H

#include <stdint.h>

/* Arguments of a call in flight, as the frame has them. */
struct call {
	uint64_t a[6];
};

/* One function a call: sys_NAME, in syscall_process.c, syscall_identity.c, syscall_memory.c, syscall_file.c and so on. */
#define CALL(number, name, ...) int64_t sys_##name(const struct call *call);
#include "syscalls.def"

/* Lines "number name result type …" and "error number name" for the trace. */
extern const char syscall_table_text[];

#endif
