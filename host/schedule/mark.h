/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Determines the time of each block of code, and the time at which a word of the guest's RAM is written. */
#ifndef SCHEDULE_MARK_H
#define SCHEDULE_MARK_H

#include "control.h"

/* Makes virtual_now() (plugin/virtual.h) valid in parts that blocks_add() adds later. */
void mark_times(void);

/*
 * Begins to watch the word of control->mark, and stores the time at which the word is written. Returns NULL,
 * or what went wrong.
 */
const char *mark_open(struct schedule_control *control);

#endif
