/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What happens to a thread that is stopped, as records into its process's sink, if that facility is traced.
 */
#ifndef RECORD_CONTENT_H
#define RECORD_CONTENT_H

#include <signal.h>

#include "record/tracees.h"

#define RECORD_FACILITY(type) (UINT32_C(1) << (type))
#define RECORD_ALL	      UINT32_C(0xfffe)
#define RECORD_LIVES	      (RECORD_FACILITY(KTRX_PROC_PROCCTOR) | RECORD_FACILITY(KTRX_PROC_PROCDTOR))

/* A process is new here: KTRX_PROC_CTOR_*. */
void record_put_born(struct record_thread *thread, uint32_t how);
void record_put_died(struct record_thread *thread, int status);

/*
 * Number and arguments are in the thread. `abi`: 0, or the ELF machine of a program that is not the machine's
 * own.
 */
void record_put_enter(struct record_thread *thread, uint32_t abi);
/* The call in the thread returns: error 0 or positive. */
void record_put_leave(struct record_thread *thread, uint32_t abi, int32_t error, int64_t result);

void record_put_signal(struct record_thread *thread, int signal, const siginfo_t *info, uint64_t mask);
/* At each stop: whether it has waited since the last one for something else than us. */
void record_put_switches(struct record_thread *thread);
/* utrace(): 0 or a positive errno. */
int record_put_user(struct record_thread *thread, uint64_t address, uint64_t size);

#endif
