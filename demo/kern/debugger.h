/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A prompt on the serial line, to look at the trace from the machine itself. It starts when DEBUGGER_KEY is
 * typed, and after a panic with the boot argument panic=prompt. Its command `help` lists the commands.
 *
 * The prompt runs on one CPU with interrupts off and polls for keys. At run time the other CPUs continue. The
 * prompt's CPU handles their IPIs, but its own threads and timers wait until the command `c`. The timer tick
 * of CPU 0 polls for the key, so the key has no effect while CPU 0 is stuck with interrupts off.
 */
#ifndef DEMO_DEBUGGER_H
#define DEMO_DEBUGGER_H

/* Ctrl-\ on the serial line. */
#define DEBUGGER_KEY ('\\' & 31)

/* Runs the prompt until the user leaves it. Requires: interrupt handler, no lock held. */
void debugger_enter(void);

/*
 * Runs the prompt after a panic that stopped the other CPUs and seized the console. Returns when the user
 * asks to end the machine.
 */
void debugger_enter_after_panic(void);

#endif
