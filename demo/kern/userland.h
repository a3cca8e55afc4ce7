/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The start of the first user program. */
#ifndef DEMO_USERLAND_H
#define DEMO_USERLAND_H

/*
 * Starts /bin/init with the boot arguments as its arguments. If that fails, switches the machine off with
 * status 1.
 */
void userland_start(void);

#endif
