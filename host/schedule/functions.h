/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Records which functions of the kernel are entered, in a file. */
#ifndef SCHEDULE_FUNCTIONS_H
#define SCHEDULE_FUNCTIONS_H

#include "control.h"
#include "plugin/qemu_plugin.h"

/* Begins to record. Returns NULL, or what went wrong. */
const char *functions_open(const struct qemu_info *info, struct schedule_control *control);

/* Writes all records to the file, if functions are recorded. */
void functions_flush(void);

#endif
