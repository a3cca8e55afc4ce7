/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* From the kernel's last word to the first program's first. */
#ifndef DEMO_USERLAND_H
#define DEMO_USERLAND_H

/* Starts /bin/init with the boot arguments as its words. If that cannot be, switches the machine off with status 1. */
void userland_start(void);

#endif
