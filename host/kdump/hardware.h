/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Records of hardware trace (ktrx/hwt.h) that stand in a process trace: what they are about, not what was
 * run.
 */
#ifndef KDUMP_HARDWARE_H
#define KDUMP_HARDWARE_H

#include "ktread/proc.h"

/* Four letters for a type; NULL: it is none of these. */
const char *kdump_hardware_word(uint16_t type);
/* What a record says, without the line's end. */
char *kdump_put_hardware(char *at, const struct ktread_proc_record *record);

#endif
