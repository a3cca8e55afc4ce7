/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Device files in /dev. */
#ifndef DEMO_DEVICE_H
#define DEMO_DEVICE_H

void device_init(void); /* creates the device files; vfs_init calls it after it has unpacked the archive */

#endif
