/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Records the accesses to watched ranges of memory in the control file. Accesses by devices are not seen.
 */
#ifndef SCHEDULE_ACCESS_H
#define SCHEDULE_ACCESS_H

#include "control.h"
#include "plugin/qemu_plugin.h"

/* Begins to watch. `target`: QEMU's name of the architecture. Returns NULL, or what went wrong. */
const char *access_open(const char *target, struct schedule_control *control);

#endif
