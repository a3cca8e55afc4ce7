/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Puts the terminal back as it was: a QEMU that is killed leaves it raw and non-blocking. */
#ifndef CAPTURE_TERMINAL_H
#define CAPTURE_TERMINAL_H

#include <stdbool.h>
#include <termios.h>

struct capture_terminal {
	bool present; /* stdin is a terminal */
	int flags;    /* of stdin's open file, -1 unknown */
	struct termios state;
};

void capture_terminal_save(struct capture_terminal *terminal);
void capture_terminal_restore(const struct capture_terminal *terminal);

#endif
