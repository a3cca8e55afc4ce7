/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The transition from the kernel's start to the first program. */
#ifndef DEMO_USERLAND_H
#define DEMO_USERLAND_H

/*
 * Starts /bin/init with the boot arguments as its arguments. If that fails, switches the machine off with
 * status 1.
 */
void userland_start(void);

#endif
