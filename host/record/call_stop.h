/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A thread that is stopped where a system call begins or returns. */
#ifndef RECORD_CALL_STOP_H
#define RECORD_CALL_STOP_H

#include "record/tracees.h"

/* Records it. True where the call is an exec that begins. */
bool record_see_call(struct record_thread *thread);

#endif
