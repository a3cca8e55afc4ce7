/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A prompt on the serial line, for whoever has no other way to look at the trace. It comes when DEBUGGER_KEY is
 * typed, and after a panic with the boot argument panic=prompt; `help` there names its commands.
 *
 * It runs on one CPU with interrupts off and polls for keys. At run time the others go on, and that CPU does what
 * they ask of it; its own threads and timers wait until `c`. The key is seen by CPU 0's tick: a CPU 0 that is stuck
 * with interrupts off does not see it.
 */
#ifndef DEMO_DEBUGGER_H
#define DEMO_DEBUGGER_H

/* Ctrl-\ on the serial line. */
#define DEBUGGER_KEY ('\\' & 31)

/* From an interrupt handler, no lock held. Returns when the user has seen enough. */
void debugger_enter(void);

/* From a panic that has stopped the other CPUs and seized the console: returns when the machine is to end. */
void debugger_enter_after_panic(void);

#endif
