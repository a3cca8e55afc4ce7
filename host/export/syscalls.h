/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Names of system calls: the trace's own table, else the Linux numbers of the guest's machine. */
#ifndef EXPORT_SYSCALLS_H
#define EXPORT_SYSCALLS_H

#include <stdint.h>

#include "export/linux_calls.h"
#include "ktread/ktread.h"

#define SYSCALLS_CACHED 1024u

struct syscalls {
	const struct ktread *trace;
	struct linux_calls linux_calls;
	uint8_t asked[SYSCALLS_CACHED / 8];
	uint8_t owned[SYSCALLS_CACHED / 8]; /* name[] is to be freed */
	const char *name[SYSCALLS_CACHED];
};

/* `machine` is x86_64, aarch64 or riscv64; NULL: as the trace says, and x86_64 for version 1. */
void syscalls_open(struct syscalls *calls, const struct ktread *trace, const char *machine);
void syscalls_close(struct syscalls *calls);
/* NULL if it has no name. Owned by `calls`. Bytes from the trace may be anything: escape before printing. */
const char *syscalls_name(struct syscalls *calls, uint32_t number);

/* From now on `number` (below SYSCALLS_CACHED) has this name, which must outlive `calls`. */
void syscalls_rename(struct syscalls *calls, uint32_t number, const char *name);

#endif
