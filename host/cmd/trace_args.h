/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What all subcommands that read a trace have in common: which file, how it is to be read, which events are
 * wanted. Functions that return an exit status have printed the message already.
 *
 *	struct trace_args args = TRACE_ARGS("ktrace show");
 *	getopt_long(…, {TRACE_READ_OPTIONS, TRACE_FILTER_OPTIONS, {0}}): trace_args_take(&args, option,
 *optarg) trace_args_file(&args, argc, argv); trace_args_open(&args, &trace); … return trace_args_close(&args,
 *trace, status);
 */
#ifndef CMD_TRACE_ARGS_H
#define CMD_TRACE_ARGS_H

#include <getopt.h>
#include <stdint.h>

#include "ktread/ktread.h"
#include "ktrx/slot.h"

#define TRACE_CPUS_MAX 4096u

struct trace_args {
	const char *name; /* signs messages */
	const char *path;
	struct ktread_options options;
	int64_t pid; /* -1: all */
	int has_cpus;
	uint8_t cpus[TRACE_CPUS_MAX / 8];
	const char *events; /* list of patterns, NULL: all */
	uint8_t event_map[(KTRX_EVENT_MAX + 1) / 8];
	const char *since;
	const char *until;
};

#define TRACE_ARGS(by)                                                                                       \
	{                                                                                                    \
		.name = (by), .options = { .size = sizeof(struct ktread_options) }, .pid = -1                \
	}

enum {
	TRACE_OPTION_FORM = 256,
	TRACE_OPTION_V1_LAYOUT,
	TRACE_OPTION_FREQUENCY,
	TRACE_OPTION_MACHINE,
	TRACE_OPTION_PID,
	TRACE_OPTION_CPU,
	TRACE_OPTION_EVENT,
	TRACE_OPTION_SINCE,
	TRACE_OPTION_UNTIL,
	TRACE_OPTION_END, /* a command's own long options start here */
};

#define TRACE_READ_OPTIONS                                                                                   \
	{ "form", required_argument, NULL, TRACE_OPTION_FORM },                                              \
		{ "v1-layout", required_argument, NULL, TRACE_OPTION_V1_LAYOUT },                            \
		{ "frequency", required_argument, NULL, TRACE_OPTION_FREQUENCY },                            \
	{                                                                                                    \
		"machine", required_argument, NULL, TRACE_OPTION_MACHINE                                     \
	}

#define TRACE_FILTER_OPTIONS                                                                                 \
	{ "pid", required_argument, NULL, TRACE_OPTION_PID },                                                \
		{ "cpu", required_argument, NULL, TRACE_OPTION_CPU },                                        \
		{ "event", required_argument, NULL, TRACE_OPTION_EVENT },                                    \
		{ "since", required_argument, NULL, TRACE_OPTION_SINCE },                                    \
	{                                                                                                    \
		"until", required_argument, NULL, TRACE_OPTION_UNTIL                                         \
	}

/* The lines on these options for --help. */
extern const char trace_read_help[];
extern const char trace_filter_help[];

/* One option from getopt_long(). 0, or EXIT_USAGE; a command's own options must be handled before. */
int trace_args_take(struct trace_args *args, int option, const char *value);
/* The one file that must be left on the command line. 0 or EXIT_USAGE. */
int trace_args_file(struct trace_args *args, int argc, char **argv);
/* Opens, sets the filter, says on stderr what must not be missed. 0, EXIT_USAGE or EXIT_BAD_INPUT. */
int trace_args_open(struct trace_args *args, struct ktread **trace);
/*
 * Says what came up while reading and closes. `result` is what the last ktread_next() returned. Returns the
 * exit status.
 */
int trace_args_close(struct trace_args *args, struct ktread *trace, int result);

/* Does it ask for less than all events? */
int trace_args_filtered(const struct trace_args *args);

/* A whole number, decimal or 0x…; 0 or -1. */
int trace_parse_number(const char *text, uint64_t limit, uint64_t *number);
/* Message for a failed write (quiet for a pipe nobody reads any more); returns EXIT_BAD_INPUT, 0 if error is
 * 0. */
int trace_output_status(const char *name, const char *to, int error);

#endif
