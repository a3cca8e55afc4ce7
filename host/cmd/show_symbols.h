/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The option --elf of commands that show addresses by name. */
#ifndef CMD_SHOW_SYMBOLS_H
#define CMD_SHOW_SYMBOLS_H

#include "analyze/symbols.h"

/*
 * Opens the kernel's file; `elf` NULL: there is none, and *symbols becomes NULL. What is doubtful about it is said
 * on stderr. 0, or EXIT_BAD_INPUT after a message.
 */
int show_symbols_open(struct symbols **symbols, const char *elf, const struct ktread *trace,
		      const char *name);

#endif
