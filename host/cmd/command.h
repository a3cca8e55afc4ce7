/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A subcommand is one file that defines `const struct command command_NAME` (a dash in its name is an
 * underscore in NAME); NAME in COMMANDS of host/host.mk is all that registers it.
 */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include <limits.h>

/* Exit statuses shared by all subcommands. Data goes to stdout, messages to stderr. */
#define EXIT_BAD_INPUT 1 /* or output that could not be written; what was readable has been shown */
#define EXIT_USAGE     2

struct command {
	const char *name;    /* as typed: "show" */
	const char *tool;    /* also runs as a program of this name, through a symlink; NULL: no */
	const char *purpose; /* half a line for `ktrace --help` */
	/* argv[0] is the name by which messages are signed: "ktrace show". Returns the exit status. */
	int (*run)(int argc, char **argv);
};

/* Message on stderr: "ktrace show: …" and a newline. */
__attribute__((format(printf, 2, 3))) void command_message(const char *name, const char *format, ...);
/* "…: try 'ktrace show --help'"; returns EXIT_USAGE. */
int command_usage(const char *name);
/* "unusable value for OPTION: 'VALUE' (ALLOWED)", where `allowed` may be ""; returns EXIT_USAGE. */
int command_bad_value(const char *name, const char *option, const char *value, const char *allowed);
/* The answer to --help; returns the exit status. */
int command_help(const char *usage);
/* Where this program lies; "" where that cannot be told. */
void command_self(char path[PATH_MAX]);

#endif
