/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef DEMO_PANIC_H
#define DEMO_PANIC_H

/* The machine's exit status after a panic. */
#define PANIC_STATUS 101

/*
 * Stops the other CPUs (by IPI, then by NMI where there is one), prints, and exits with PANIC_STATUS, after a visit
 * to the debugger's prompt if the boot argument panic=prompt asks for that. Any context. A CPU that panics while
 * another does is stopped like the rest.
 */
_Noreturn void panic(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* For interrupt and NMI handlers: stops this CPU for good if a panic wants it stopped, else returns. */
void panic_check(void);

#endif
