/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Signals that end a program (Ctrl-C), while something has to be put in order first: they are held back, work that takes
 * long looks for them, and they take effect in the end.
 */
#ifndef CAPTURE_INTERRUPT_H
#define CAPTURE_INTERRUPT_H

#include <signal.h>

void capture_hold_signals(sigset_t *before);
/* 0; CAPTURE_E_SYSTEM if one has come that is held back, with a message about `what`. */
int capture_check_interrupt(const char *what);
/* Takes one that has come, so that what tidies up is not hurried by it. 0: none has. */
int capture_take_signal(void);
/* As it was before; the one that was taken (0: none) comes again. */
void capture_release_signals(const sigset_t *before, int taken);

#endif
