/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Functions that end the machine in an orderly way: switch it off, or restart it. The trace records which
 * function was called.
 */
#ifndef DEMO_POWER_H
#define DEMO_POWER_H

_Noreturn void power_off(int status); /* `status` is 0 to 127 */
_Noreturn void power_restart(void);

#endif
