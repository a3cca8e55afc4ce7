/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef RECORD_PRIVILEGE_H
#define RECORD_PRIVILEGE_H

#include "record/tracees.h"

/*
 * The thread is about to become another program: has that rights which the thread lacks (set-id)? Nobody may watch that but
 * root; and traced by anybody else, it would not get them. False where we are root.
 */
bool record_is_privileged_exec(const struct record_thread *thread);

#endif
