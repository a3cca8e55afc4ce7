/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Functions and options that are shared by the commands that read traces. */
#ifndef CMD_TRACE_ARGS_H
#define CMD_TRACE_ARGS_H

#include <stdint.h>

#include "base/output.h"
#include "cmd/options.h"
#include "export/export.h"
#include "filter/filter.h"
#include "ktread/follow.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"

/* Functions that parse values of options. Each returns 0, or -1 if the value is invalid. */

/*
 * Reads a whole number, decimal (also with leading zeros) or hexadecimal after 0x. Returns a pointer to the
 * text after the number, or NULL if there is no number or it does not fit in 64 bits.
 */
const char *trace_read_number(const char *text, uint64_t *number);
/* Parses a whole number of at most `limit`. Refuses text after the number. */
int trace_parse_number(const char *text, uint64_t limit, uint64_t *number);
/* Parses a time such as "1.5" (seconds) or "250ms", and stores nanoseconds. */
int trace_parse_time(const char *text, uint64_t *nanoseconds);
/*
 * What a time on the command line means: a moment, or the first or the last moment that timelines show as
 * this time. Timelines show rounded microseconds, and a time that was copied from a timeline must select its
 * event.
 */
enum trace_moment { TRACE_MOMENT, TRACE_MOMENT_FIRST, TRACE_MOMENT_LAST };
/* Parses a time and converts it to ticks. If the frequency is unknown (0), the text is a number of ticks. */
int trace_parse_ticks(const char *text, uint64_t frequency, enum trace_moment moment, uint64_t *ticks);
/*
 * Parses a list such as "0,2-5" into a bit map. `limit`: number of bits in the map, one for each CPU.
 * TRACE_CPUS_WANTED is the error message for a `limit` of TRACE_CPUS_MAX.
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

/* Which events a command makes from a hardware trace (--with) and merges into the trace. */
enum trace_beside {
	TRACE_BESIDE_NOTHING, /* no events: --with accepts only process traces */
	TRACE_BESIDE_ENTRIES, /* an event for each function that is entered */
	TRACE_BESIDE_CALLS,   /* an event for each function that is entered, and one when it is left */
};

struct trace_args {
	const char *name; /* text that begins each message */
	struct options line;
	const char *path;
	const char *shown; /* name of the trace in messages, if `path` is a temporary file; otherwise NULL */
	const char *with;  /* process trace or hardware trace to merge; NULL: nothing to merge */
	struct options_list with_elf; /* code and names for hardware trace: FILE or FILE@BASE */
	/* directory to which the paths in the hardware trace are relative; NULL: use the paths as they are */
	const char *with_root;
	const char *calls; /* table with names of system calls; NULL: use the trace's own table */
	bool branches;	   /* true: show all branches of the hardware trace, not only functions */
	struct ktread_options options;
	bool align;	      /* the option --align was given */
	int64_t pid;	      /* id of the thread; -1: all threads */
	const char *cpu_list; /* argument of --cpu; NULL if all CPUs are shown */
	uint8_t cpus[TRACE_CPUS_MAX / 8];
	const char *events; /* list of patterns that select events; NULL if all events are shown */
	uint8_t event_map[(KTRX_EVENT_MAX + 1) / 8];
	const char *since;
	const char *until;
	const char *where;     /* expression of --where; NULL: it selects nothing further */
	struct filter *filter; /* the parsed expression; NULL if there is none, or if it was not parsed yet */
	/* Properties of the command, not of the command line. */
	enum trace_beside beside;
	/* true if the command prints names of system calls: then it warns about a trace without names */
	bool shows_calls;
	/* true if the command itself reports how certain the order of events of different CPUs is */
	bool reports_order;
	/* true if the command needs the whole trace, not only the events that the filter selects */
	bool whole;
	/* variable for an argument after the file; NULL: the command takes no argument after the file */
	const char **word;
	bool file_needed; /* true if a file must be given: the command does not use TRACE_USUAL_FILE */
	/* set by the command's options: the trace comes from a machine, not from a file */
	bool elsewhere;
};

#define TRACE_USUAL_FILE "ktrace.ktrx" /* usual name of a trace, which `ktrace run` writes */

#define TRACE_ARGS(rows, signs)                                       \
	.name = (signs), .line = { .syntax = (rows), .by = (signs) }, \
	.options = { .size = sizeof(struct ktread_options) }, .pid = -1

/* Options that commands share. A command lists only those that it supports. */
extern const struct option_row trace_thread_options[]; /* the options --pid and --cpu */
extern const struct option_row trace_event_options[];  /* the options --event, --since and --until */
extern const struct option_row trace_where_options[];  /* the option --where */
/* the options --form, --with, --raw-clock and --align */
extern const struct option_row trace_file_options[];
/* options of --with for a hardware trace; commands with TRACE_BESIDE_NOTHING must not list them */
extern const struct option_row trace_hardware_options[];
extern const struct option_row trace_machine_options[]; /* the options --frequency and --machine */
extern const struct option_row trace_layout_options[];	/* the option --v1-layout */
extern const struct option_row trace_calls_options[];	/* the option --calls */
#define TRACE_HARDWARE_OPTIONS "with-elf with-root branches"

option_set trace_set_machine; /* const char *: stores the machine's canonical name */

/* Returns the path of the file that the command line names: "-" is standard input. */
const char *trace_input(const char *path);
/* Reads the command line. Returns -1 to continue; otherwise the exit status, also for --help. */
int trace_args_parse(struct trace_args *args, int argc, char **argv);
/* Opens the trace, sets the filter, and prints warnings. Returns 0, EXIT_USAGE or EXIT_BAD_INPUT. */
int trace_args_open(struct trace_args *args, struct ktread **trace);
/*
 * Opens the trace once more, without a filter and without messages, for a command that reads the trace at
 * several positions at a time. Returns NULL if this fails. `window`: as in struct ktread_options. Requires:
 * trace_args_open() has succeeded.
 */
struct ktread *trace_args_reopen(const struct trace_args *args, bool window);
struct symbols;

/*
 * Opens the kernel's file `elf`. If `elf` is NULL, opens the kernel that the trace's note names, if there is
 * one. Stores NULL in *symbols if there are no names. It is an error only if the user named a file that
 * cannot be opened. Symbols of another build are not used, because they would name the wrong code. Returns 0,
 * or EXIT_BAD_INPUT after a message.
 */
int trace_symbols_open(const char *name, const char *elf, const struct ktread *trace,
		       struct symbols **symbols);
/*
 * Sets the names of system calls in a trace that was opened once more, as trace_args_open() does, but without
 * messages. Returns a negative KTREAD_E_* on failure.
 */
int trace_name_calls_quietly(const struct trace_args *args, struct ktread *trace);
/*
 * Prints warnings about problems found while reading, and closes the trace. `result` is the last result of
 * ktread_next(). Returns the exit status.
 */
int trace_args_close(struct trace_args *args, struct ktread *trace, int result);

/*
 * Sets the bit of each event that matches one of the patterns. `map` has KTRX_EVENT_MAX + 1 bits. Returns
 * 0, or EXIT_USAGE if a pattern matches no event. Requires: the trace is open, because it declares the
 * events.
 */
int trace_mark_events(const struct trace_args *args, const struct ktread *trace, const char *patterns,
		      uint8_t *map);

/*
 * Parses a time in the same form as --since, and converts it to a timestamp. Returns 0, or -1 if the time is
 * invalid.
 */
int trace_stamp(struct ktread *trace, const char *text, enum trace_moment moment, uint64_t *stamp);

/*
 * trace_where_parse() parses the expression of --where, and trace_where_bind() binds it to the events of a
 * trace. These two functions return 0, or an exit status after a message. The caller frees *filter with
 * filter_free().
 */
int trace_where_parse(const char *name, const char *text, struct filter **filter);
int trace_where_bind(const char *name, const char *text, struct filter *filter, struct ktread *trace);
/* Does the same as trace_where_parse() and then trace_where_bind(), for args->where and args->filter. */
int trace_where_open(struct trace_args *args);
void trace_where_close(struct trace_args *args);
/*
 * Does the same as trace_where_open(), for a guest that is followed. Refuses expressions that contain times.
 */
int trace_where_follow(struct trace_args *args);
/*
 * Adds the bound expression args->filter to a filter of the reader. That filter then uses bit maps in `args`.
 */
void trace_where_narrow(struct trace_args *args, struct ktread_filter *filter);

/* Warns if the cost of events cannot be subtracted, because the trace does not contain it. */
void trace_warn_of_cost(const struct trace_args *args, const struct ktread *trace);

/* Returns whether the options filter the trace, so that some events are not shown. */
int trace_args_filtered(const struct trace_args *args);

/*
 * --with FILE: merges a process trace (system calls) or a hardware trace (executed code) into the kernel's
 * trace.
 */

struct flow;

/* Merges the file. Returns 0, or an exit status after a message. */
int trace_with(const struct trace_args *args, struct ktread *trace);

/*
 * Adds "FILE" or "FILE@BASE" to the code images. `name` begins messages. Returns 0, or an exit status after a
 * message.
 */
int trace_add_elf(const char *name, struct flow *flow, const char *word);
/* Adds a list of the kernel's symbols. Returns 0, or an exit status after a message. */
int trace_add_symbols(const char *name, struct flow *flow, const char *word);
/*
 * Returns whether `to` is the same file as the FILE of "FILE" or "FILE@BASE". Compares them in the same way
 * as output_file_is().
 */
int trace_output_is_based(const char *to, const char *word);

/* Prints a message after trace_parse_ticks() has refused a value. Returns EXIT_USAGE. */
int trace_bad_time(const char *name, const char *option, const char *value, uint64_t frequency);
/* Reports a failed write, except to a closed pipe. Returns EXIT_BAD_INPUT, or 0 if `error` is 0. */
int trace_output_status(const char *name, const char *to, int error);

/* Functions for commands that read what a running guest records, until the guest ends or a signal arrives. */

struct followed {
	const struct trace_args *args;
	struct base_output *out; /* output buffer, which is flushed when no event is available */
	int by_ring;
	/*
	 * Called for each item, including the one that reports the end. Returns 0 to continue, 1 to end, 2 to
	 * end after it has printed a message, or a negative KTREAD_E_*.
	 */
	int (*take)(void *context, struct ktread_follow *follow, const struct ktread_followed *now);
	void *context;
};

/* Follows the guest. Returns -1 after a message if the file cannot be followed; otherwise the exit status. */
int followed_run(const struct followed *followed);

/* Functions for the output file of a command that reads a trace. They print messages. */

/* Returns whether `to` and `from` are the same file, so that writing would destroy the input. */
int output_file_is(const char *to, const char *from);
/*
 * Creates a file. Returns its descriptor, the descriptor of standard output for "-", or -1 after a message.
 * Requires: output_file_is() was called for all input files and returned 0.
 */
int output_file_create(const char *name, const char *to);
/*
 * Creates the file as output_file_create() does, but refuses to overwrite an input file, such as the trace.
 */
int output_file_open(const struct trace_args *args, const char *to);
/*
 * Closes the descriptor of output_file_open(). `error` is the errno of the first failed write, or 0. If
 * writing failed, removes the file. Returns the exit status.
 */
int output_file_close(const struct trace_args *args, const char *to, int fd, int error);

/*
 * Writes `trace` to the file `to`, or to standard output if `to` is "-". Reports the result on stderr, and
 * closes the trace. If writing failed, removes the file. Returns the exit status.
 */
int write_export(struct trace_args *args, struct ktread *trace, const struct export_format *format,
		 const char *to);

/* Functions that set names of system calls. */

/*
 * Sets a built-in table of system calls for a process trace that has no table of its own: the table of the
 * kernel that recorded the trace. Returns 0 or a negative KTREAD_E_*.
 */
int foreign_calls_set(struct ktread *trace);

/*
 * Names the trace's system calls only by `table` (share/tables, spec/ktrx-proc.md). A table without call
 * numbers, such as Linux's, gets the numbers of a machine: the trace's machine or, if it is unknown,
 * `machine`; if `machine` is 0, too, x86_64. Returns that machine, 0 if the table has numbers of its own, or
 * a negative KTREAD_E_*.
 */
int foreign_calls_set_table(struct ktread *trace, const char *table, uint16_t machine);

/*
 * Reads the table of system calls that was given on the command line: a built-in table or a file. The caller
 * frees `*owned`, which is NULL for a built-in table; `*text` is valid until then. Returns 0, or
 * EXIT_BAD_INPUT after a message.
 */
int kdump_table_read(const char *by, const char *name, char **owned, const char **text);

struct rules;

/*
 * Returns the rules that every kernel must obey, parsed. The caller frees them with free(). Returns NULL
 * after a message.
 */
struct rules *default_rules(const char *name);
/*
 * Reads a file of rules. Returns 0 with *rules, which the caller frees, or an exit status after a message.
 */
int trace_rules_load(const char *name, const char *path, struct rules **rules);

/*
 * Writes a whole trace as a page to the file `to`, as `ktrace html` does, and prints its name on stderr.
 * Opens the trace again, as `args` describes it. If `elf` is NULL, uses the kernel named in the trace.
 * Returns 0, or EXIT_BAD_INPUT after a message.
 */
int html_file(const struct trace_args *args, const char *elf, const char *to);

/*
 * Prints the verdict of `ktrace why` on a trace file to stderr. `elf`: the kernel's file; NULL: the file
 * named in the trace.
 */
void explain_file(const char *name, const char *path, const char *elf);

/* The options --budget and --cursor (budget.c): an answer in pages of a limited size. */

/* Options of a command whose exit status depends on the whole answer. */
extern const struct option_row budget_options[];
/* Options of a command that prints a list. The command is ended when the page is full. */
extern const struct option_row budget_list_options[];

/*
 * Prints a page if --budget or --cursor was given. Call it after the options were read, before anything is
 * printed. Returns -1 if the caller must continue and print the answer; otherwise the exit status, after a
 * page was printed.
 */
int budget_begin(const char *name);

#endif
