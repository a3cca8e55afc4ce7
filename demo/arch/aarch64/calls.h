/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Calls to the firmware and to a semihosting debugger. */
#ifndef DEMO_ARCH_CALLS_H
#define DEMO_ARCH_CALLS_H

#include <stdint.h>

/*
 * Make a PSCI call by HVC or by SMC; the device tree specifies which one the firmware expects. Return 0 or a
 * negative error.
 */
int64_t psci_hvc(uint64_t function, uint64_t a1, uint64_t a2, uint64_t a3);
int64_t psci_smc(uint64_t function, uint64_t a1, uint64_t a2, uint64_t a3);

/*
 * Makes a semihosting call. If there is no debugger, the call returns -1, because trap.c handles the
 * undefined instruction.
 */
int64_t semihosting(uint64_t operation, const void *block);

#endif
