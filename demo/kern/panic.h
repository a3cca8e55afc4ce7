/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef DEMO_PANIC_H
#define DEMO_PANIC_H

/* The machine's exit status after a panic. */
#define PANIC_STATUS 101

/*
 * Stops the other CPUs (by IPI, then by NMI if the architecture has one), prints the message and a backtrace,
 * and exits with PANIC_STATUS. With the boot argument panic=prompt, the debugger's prompt comes before the
 * exit. Any context. A CPU that panics during another CPU's panic is stopped like the others.
 */
_Noreturn void panic(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* Stops this CPU for ever if another CPU has panicked, otherwise returns. For interrupt and NMI handlers. */
void panic_check(void);

#endif
