/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A process trace (ktread/proc.h) as a ring of events, so that whatever reads traces reads it, too: by itself, or beside
 * the trace of the kernel that it was recorded on. Its system calls are then events syscall.enter and syscall.exit, or,
 * beside a trace that has its own, proc.call and proc.return; all else is of the group proc.
 */
#ifndef KTREAD_PROCESSES_H
#define KTREAD_PROCESSES_H

#include "trace.h"

/* Does it begin as one that can be told by its first bytes? */
bool ktread_processes_is(struct ktread_memory *memory);

/* The file at `path` alone. */
int ktread_processes_open(struct ktread *trace, const char *path);

#endif
