/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Calls to the firmware and to the debugger outside. */
#ifndef DEMO_ARCH_CALLS_H
#define DEMO_ARCH_CALLS_H

#include <stdint.h>

/* A PSCI call by either way; the device tree says which one the firmware listens to. 0 or a negative error.
 */
int64_t psci_hvc(uint64_t function, uint64_t a1, uint64_t a2, uint64_t a3);
int64_t psci_smc(uint64_t function, uint64_t a1, uint64_t a2, uint64_t a3);

/* A semihosting call; -1 too when nobody listens, for which trap.c provides. */
int64_t semihosting(uint64_t operation, const void *block);

#endif
