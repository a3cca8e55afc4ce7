/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The files of /dev. */
#ifndef DEMO_DEVICE_H
#define DEMO_DEVICE_H

void device_init(void); /* makes them; last part of vfs_init */

#endif
