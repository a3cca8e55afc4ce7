/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Makes requests to disks complete at the same virtual time each time. QEMU's threads read and write disks in
 * real time. So after each access to a device, no CPU runs before all requests are complete: to the guest, a
 * request takes no time.
 */
#ifndef SCHEDULE_DISKS_H
#define SCHEDULE_DISKS_H

#include "plugin/qemu_plugin.h"

/*
 * Begins to watch accesses to devices. `target`: name of the architecture. Returns NULL, or what is missing.
 */
const char *disks_open(const char *target);

#endif
