/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A subcommand is one file that defines `const struct command command_NAME`. A dash in its name becomes an
 * underscore.
 * Listing NAME in COMMANDS of host/host.mk registers it.
 */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include <limits.h>

/* Exit statuses of all subcommands. Data goes to stdout, messages to stderr. */
#define EXIT_BAD_INPUT 1 /* input unreadable or output not writable; everything readable was shown */
#define EXIT_USAGE     2

struct command {
	const char *name;    /* as typed: "show" */
	const char *tool;    /* program name (a symlink) that runs this subcommand; NULL: none */
	const char *purpose; /* description for `ktrace --help`, half a line */
	/*
	 * Runs the subcommand. argv[0] is the name that begins its messages: "ktrace show". Returns the exit
	 * status.
	 */
	int (*run)(int argc, char **argv);
};

/* Prints a message on stderr: "ktrace show: …" and a newline. */
__attribute__((format(printf, 2, 3))) void command_message(const char *name, const char *format, ...);
/* Prints "…: try 'ktrace show --help'". Returns EXIT_USAGE. */
int command_usage(const char *name);
/*
 * Prints "invalid value for OPTION: 'VALUE' (ALLOWED)"; without parentheses if `allowed` is "". Returns
 * EXIT_USAGE.
 */
int command_bad_value(const char *name, const char *option, const char *value, const char *allowed);
/*
 * Writes out what is buffered for standard output. Returns EXIT_SUCCESS, or EXIT_BAD_INPUT if this or an
 * earlier write failed: after a message, or without a message if the reader of a pipe has ended.
 */
int command_flush(const char *name);
/* Writes the path of this program; "" if unknown. */
void command_self(char path[PATH_MAX]);

#endif
