/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A command prompt on the serial line, at which a user can inspect the trace on the machine itself. It starts
 * when DEBUGGER_KEY is typed, and after a panic with the boot argument panic=prompt. Its command `help` lists
 * the commands.
 *
 * The prompt runs on one CPU with interrupts off and polls for keys. If a key started the prompt, the other
 * CPUs continue to run. The prompt's CPU answers their IPIs, but its threads and timers wait until the user
 * enters the command `c`. DEBUGGER_KEY has no effect while CPU 0 is stuck with interrupts off, because the
 * timer tick of CPU 0 polls for the key.
 */
#ifndef DEMO_DEBUGGER_H
#define DEMO_DEBUGGER_H

/* The key Ctrl-\ on the serial line. */
#define DEBUGGER_KEY ('\\' & 31)

/* Runs the prompt until the user leaves it. Requires: called from an interrupt handler, no lock is held. */
void debugger_enter(void);

/*
 * Runs the prompt after a panic that stopped the other CPUs and seized the console. Returns when the user
 * wants to end the machine.
 */
void debugger_enter_after_panic(void);

#endif
