/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A subcommand is one file that defines `const struct command command_NAME`. A dash in its name becomes an
 * underscore.
 * Listing NAME in COMMANDS of host/host.mk registers it.
 */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include <limits.h>
#include <stddef.h>

/* Exit statuses of all subcommands. Data goes to stdout, messages to stderr. */
/*
 * exit status if input is unreadable or output cannot be written; everything that could be read was shown
 * nevertheless
 */
#define EXIT_BAD_INPUT 1
#define EXIT_USAGE     2

struct command {
	const char *name; /* name of the subcommand on the command line: "show" */
	/* name of a symlink to ktrace that runs this subcommand; NULL if there is none */
	const char *tool;
	const char *purpose; /* description for `ktrace --help`, at most half a line */
	/*
	 * Runs the subcommand. argv[0] is the name that begins its messages: "ktrace show". Returns the exit
	 * status.
	 */
	int (*run)(int argc, char **argv);
	int unreadable; /* exit status if a file could not be read to its end; 0 means EXIT_BAD_INPUT */
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
/* Prepares standard input, output and error. Requires: nothing was printed, and no file was opened. */
void command_begin(void);
/*
 * Writes the buffered bytes to standard output. Returns EXIT_SUCCESS if this and all earlier writes
 * succeeded, otherwise EXIT_BAD_INPUT. Prints a message for a failed write, unless standard output is a pipe
 * without a reader.
 */
int command_flush(const char *name);
/* Returns the version of ktrace: "1.2.3". */
const char *command_version(void);
/*
 * Quotes an argument for a shell if it contains characters with a meaning for the shell. Control characters
 * become '?'. The result is truncated to `size`. Returns `to`.
 */
const char *command_word(const char *word, char *to, size_t size);
/* Writes the path of this program; "" if unknown. */
void command_self(char path[PATH_MAX]);

#endif
