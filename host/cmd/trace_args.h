/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Shared by commands that read traces. */
#ifndef CMD_TRACE_ARGS_H
#define CMD_TRACE_ARGS_H

#include <stdint.h>

#include "base/output.h"
#include "cmd/options.h"
#include "export/export.h"
#include "ktread/follow.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"

/* Parse words of the command line. Each returns 0, or -1 if the word is invalid. */

/*
 * Reads a whole number, decimal (also with leading zeros) or hexadecimal after 0x. Returns a pointer to the
 * text after it, or NULL if there is no number or it does not fit.
 */
const char *trace_read_number(const char *text, uint64_t *number);
/* Parses a whole number up to `limit`. Nothing may follow it. */
int trace_parse_number(const char *text, uint64_t limit, uint64_t *number);
/* Parses "1.5" or "250ms" as nanoseconds. */
int trace_parse_time(const char *text, uint64_t *nanoseconds);
/*
 * Parses a time, adds `slack` nanoseconds and converts to ticks. If the frequency is unknown (0), parses a
 * number of ticks.
 */
int trace_parse_ticks(const char *text, uint64_t frequency, int64_t slack, uint64_t *ticks);
/*
 * Parses "0,2-5" as a bit map of `limit` CPUs. TRACE_CPUS_WANTED is the error message for a limit of
 * TRACE_CPUS_MAX.
 */
#define TRACE_CPUS_MAX	  4096u
#define TRACE_CPUS_WANTED "is not a list of CPUs up to 4095, such as 0,2-5"
int trace_parse_cpus(const char *list, uint8_t *map, uint32_t limit);
/* Finds a machine by any of its names and stores the canonical name. */
int trace_parse_machine(const char *name, const char **machine);

/*
 * Shared by all subcommands that read a trace: the file, how to read it, and which events to show. A
 * command's structure must begin with struct trace_args, because the option rows below use offsets in it.
 * Functions that return an exit status have already printed the message.
 *
 *	struct summary summary = { .args = { TRACE_ARGS(&syntax, argv[0]) } };
 *	status = trace_args_parse(&summary.args, argc, argv);		done if >= 0
 *	status = trace_args_open(&summary.args, &trace);		failed if not 0
 *	…
 *	return trace_args_close(&summary.args, trace, result);
 */

#define TRACE_FREQUENCY_MOST UINT64_C(1000000000000) /* greatest value of --frequency in Hz */

/* The events of a hardware trace (--with) that a command merges into the trace. */
enum trace_beside {
	TRACE_BESIDE_NOTHING, /* none: --with accepts only process traces */
	TRACE_BESIDE_ENTRIES, /* functions that are entered */
	TRACE_BESIDE_CALLS,   /* functions that are entered and left */
};

struct trace_args {
	const char *name; /* begins messages */
	struct options line;
	const char *path;
	const char *with;	      /* process trace or hardware trace to merge; NULL: none */
	struct options_list with_elf; /* code and names for hardware trace: FILE or FILE@BASE */
	const char *with_root;	      /* folder that contains its files; NULL: use the paths as recorded */
	const char *calls;	      /* table with names of system calls; NULL: the trace's own */
	bool branches;		      /* show all branches of hardware trace, not only functions */
	struct ktread_options options;
	bool align;	      /* --align */
	int64_t pid;	      /* -1: all */
	const char *cpu_list; /* argument of --cpu; NULL: all CPUs */
	uint8_t cpus[TRACE_CPUS_MAX / 8];
	const char *events; /* list of patterns; NULL: all events */
	uint8_t event_map[(KTRX_EVENT_MAX + 1) / 8];
	const char *since;
	const char *until;
	/* Properties of the command. */
	enum trace_beside beside;
	bool shows_calls;   /* prints names of system calls, and warns if there are none */
	bool reports_order; /* the command's own output reports how certain the order between CPUs is */
	bool file_needed;   /* do not read TRACE_USUAL_FILE if no file is given */
	bool elsewhere;	    /* set by options: the trace comes from a machine, not from a file */
};

#define TRACE_USUAL_FILE "ktrace.ktrx" /* name of the trace that `ktrace run` writes */

#define TRACE_ARGS(rows, signs)                                       \
	.name = (signs), .line = { .syntax = (rows), .by = (signs) }, \
	.options = { .size = sizeof(struct ktread_options) }, .pid = -1

/* Options that commands share. A command lists only those that it supports. */
extern const struct option_row trace_thread_options[]; /* --pid, --cpu */
extern const struct option_row trace_event_options[];  /* --event, --since, --until */
extern const struct option_row trace_file_options[];   /* --form, --with, --raw-clock, --align */
/* more options for --with; not for commands with TRACE_BESIDE_NOTHING */
extern const struct option_row trace_hardware_options[];
extern const struct option_row trace_machine_options[]; /* --frequency, --machine */
extern const struct option_row trace_layout_options[];	/* --v1-layout */
extern const struct option_row trace_calls_options[];	/* --calls */
#define TRACE_HARDWARE_OPTIONS "with-elf with-root branches"

option_set trace_set_machine; /* const char *: the machine's canonical name */

/* Reads the command line. Returns -1 to continue; otherwise the exit status, also for --help. */
int trace_args_parse(struct trace_args *args, int argc, char **argv);
/* Opens the trace, sets the filter, and prints warnings. Returns 0, EXIT_USAGE or EXIT_BAD_INPUT. */
int trace_args_open(struct trace_args *args, struct ktread **trace);
/*
 * Prints warnings found while reading, and closes the trace. `result` is the last result of ktread_next().
 * Returns the exit status.
 */
int trace_args_close(struct trace_args *args, struct ktread *trace, int result);

/*
 * Sets the bits of all events that match a list of patterns. Needs an open trace, which declares the events.
 * `map` has KTRX_EVENT_MAX + 1 bits. Returns 0, or EXIT_USAGE if a pattern matches nothing.
 */
int trace_mark_events(const struct trace_args *args, const struct ktread *trace, const char *patterns,
		      uint8_t *map);

/*
 * Parses a time as --since does, adds `slack` nanoseconds, and converts it to a timestamp. Returns 0, or -1
 * if invalid.
 */
int trace_stamp(struct ktread *trace, const char *text, int64_t slack, uint64_t *stamp);

/* Warns that the cost of events cannot be subtracted, if the trace does not contain it. */
void trace_warn_of_cost(const struct trace_args *args, const struct ktread *trace);

/* Returns whether options exclude some events. */
int trace_args_filtered(const struct trace_args *args);

/*
 * --with FILE: merges a process trace (system calls) or a hardware trace (executed code) into the kernel's
 * trace.
 */

struct flow;

/* Merges the file. Returns 0, or an exit status after a message. */
int trace_with(const struct trace_args *args, struct ktread *trace);

/*
 * Adds "FILE" or "FILE@BASE" to the images. `name` begins messages. Returns 0, or an exit status after a
 * message.
 */
int trace_add_elf(const char *name, struct flow *flow, const char *word);
/* Adds a list of the kernel's symbols. Returns 0, or an exit status after a message. */
int trace_add_symbols(const char *name, struct flow *flow, const char *word);
/*
 * Returns whether `to` is the file that "FILE" or "FILE@BASE" names, by a comparison as in
 * output_file_is().
 */
int trace_output_is_based(const char *to, const char *word);

/* Reports that trace_parse_ticks() refused the value. Returns EXIT_USAGE. */
int trace_bad_time(const char *name, const char *option, const char *value, uint64_t frequency);
/* Reports a failed write, except to a closed pipe. Returns EXIT_BAD_INPUT, or 0 if `error` is 0. */
int trace_output_status(const char *name, const char *to, int error);

/* Commands that read what a running guest records, until it ends or a signal arrives. */

struct followed {
	const struct trace_args *args;
	struct base_output *out; /* flushed whenever no event is available */
	int by_ring;
	/*
	 * Called for each item, also for the end. Returns 0: continue; 1: enough; 2: failed, with a message
	 * printed; or a negative KTREAD_E_*.
	 */
	int (*take)(void *context, struct ktread_follow *follow, const struct ktread_followed *now);
	void *context;
};

/* Follows the guest. Returns -1 after a message if the file cannot be followed; otherwise the exit status. */
int followed_run(const struct followed *followed);

/* The output file of a command that reads a trace. The functions print messages. */

/* Returns whether `to` and `from` are the same file, so that writing would destroy the input. */
int output_file_is(const char *to, const char *from);
/*
 * Creates a file and returns a descriptor, standard output for "-"; -1 after a message.
 * Requires: output_file_is() was checked for all input files.
 */
int output_file_create(const char *name, const char *to);
/* Creates the file as output_file_create() does, but refuses the trace itself and the other input files. */
int output_file_open(const struct trace_args *args, const char *to);
/*
 * Closes the descriptor of output_file_open(). `error` is the errno of the first failed write, or 0. Removes
 * a file that could not be written. Returns the exit status.
 */
int output_file_close(const struct trace_args *args, const char *to, int fd, int error);

/*
 * Writes `trace` to the file `to` ("-": standard output), reports that on stderr, and closes the trace.
 * Removes a file that could not be written completely. Returns the exit status.
 */
int write_export(struct trace_args *args, struct ktread *trace, const struct export_format *format,
		 const char *to);

/* Names of system calls. */

/*
 * If a process trace has no table of its kernel's system calls, sets the built-in table for that kernel, as
 * kdump does.
 * Returns 0 or a negative KTREAD_E_*.
 */
int foreign_calls_set(struct ktread *trace);

/*
 * Names the trace's system calls only by `table` (share/tables, spec/ktrx-proc.md). A table without call
 * numbers, such as Linux's, gets the call numbers of the trace's machine; of `machine` if the trace's
 * machine is unknown; of x86_64 if `machine` is 0.
 * Returns the machine used, 0 for a table with numbers, or a negative KTREAD_E_*.
 */
int foreign_calls_set_table(struct ktread *trace, const char *table, uint16_t machine);

/*
 * Reads a table of system calls named on a command line: a built-in one, or a file. `*text` is valid as long
 * as `*owned`, which the caller frees and which may be NULL. Returns 0, or EXIT_BAD_INPUT after a message.
 */
int kdump_table_read(const char *by, const char *name, char **owned, const char **text);

struct rules;

/*
 * Returns the rules that every kernel must obey, parsed. The caller frees them with free(). Returns NULL
 * after a message.
 */
struct rules *default_rules(const char *name);

/* Prints on stderr the verdict of `ktrace why` for one trace file. `elf` may be NULL. */
void explain_file(const char *name, const char *path, const char *elf);

#endif
