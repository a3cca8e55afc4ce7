/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What commands that read traces share. */
#ifndef CMD_TRACE_ARGS_H
#define CMD_TRACE_ARGS_H

#include <stdint.h>

#include "base/output.h"
#include "cmd/options.h"
#include "export/export.h"
#include "ktread/follow.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"

/* Words of the command line as values. Each returns 0, or -1 if the word means nothing. */

/*
 * Reads a whole number, decimal also with zeros in front, or hexadecimal after 0x. Returns what follows it,
 * or NULL if no number that fits is there.
 */
const char *trace_read_number(const char *text, uint64_t *number);
/* A whole number up to `limit`, and nothing after it. */
int trace_parse_number(const char *text, uint64_t limit, uint64_t *number);
/* "1.5", "250ms": nanoseconds. */
int trace_parse_time(const char *text, uint64_t *nanoseconds);
/*
 * The same and `slack` nanoseconds more, in ticks; of an unknown frequency (0) it is a number of ticks, no
 * more.
 */
int trace_parse_ticks(const char *text, uint64_t frequency, int64_t slack, uint64_t *ticks);
/* "0,2-5" into a bit map of `limit` CPUs, and the message for other words if the limit is TRACE_CPUS_MAX. */
#define TRACE_CPUS_MAX	  4096u
#define TRACE_CPUS_WANTED "is not a list of CPUs up to 4095, as in 0,2-5"
int trace_parse_cpus(const char *list, uint8_t *map, uint32_t limit);
/* The machine's usual name, whichever of its names is given. */
int trace_parse_machine(const char *name, const char **machine);

/*
 * What all subcommands that read a trace have in common: which file, how it is to be read, which events are
 * wanted. A command's structure begins with it: the rows of the options below need that. Functions that
 * return an exit status have printed the message already.
 *
 *	struct summary summary = { .args = { TRACE_ARGS(&syntax, argv[0]) } };
 *	status = trace_args_parse(&summary.args, argc, argv);		done if >= 0
 *	status = trace_args_open(&summary.args, &trace);		failed if not 0
 *	…
 *	return trace_args_close(&summary.args, trace, result);
 */

#define TRACE_FREQUENCY_MOST UINT64_C(1000000000000) /* Hz that --frequency takes */

/* What of hardware trace stands beside what a command reads. */
enum trace_beside {
	TRACE_BESIDE_NOTHING, /* only process traces do */
	TRACE_BESIDE_ENTRIES, /* functions that are entered … */
	TRACE_BESIDE_CALLS,   /* … and left */
};

struct trace_args {
	const char *name; /* signs messages */
	struct options line;
	const char *path;
	const char *with;	      /* a process trace or hardware trace beside it; NULL: none */
	struct options_list with_elf; /* where hardware trace finds code and names: FILE or FILE@BASE */
	const char *with_root;	      /* folder below which its files lie; NULL: as it names them */
	const char *calls;	      /* table that names system calls; NULL: the trace's */
	bool branches;		      /* of hardware trace all branches, not only functions */
	struct ktread_options options;
	bool align;	      /* --align */
	int64_t pid;	      /* -1: all */
	const char *cpu_list; /* of --cpu, NULL: all */
	uint8_t cpus[TRACE_CPUS_MAX / 8];
	const char *events; /* list of patterns, NULL: all */
	uint8_t event_map[(KTRX_EVENT_MAX + 1) / 8];
	const char *since;
	const char *until;
	/* What the command is like. */
	enum trace_beside beside;
	bool shows_calls;   /* calls by name, and says so if there are no names */
	bool reports_order; /* its own output says how certain the order between CPUs is */
	bool file_needed;   /* TRACE_USUAL_FILE is not meant where no file is given */
	bool elsewhere;	    /* set by its options: the trace is a machine's, and no file is named */
};

#define TRACE_USUAL_FILE "ktrace.ktrx" /* what `ktrace run` leaves */

#define TRACE_ARGS(rows, signs)                                       \
	.name = (signs), .line = { .syntax = (rows), .by = (signs) }, \
	.options = { .size = sizeof(struct ktread_options) }, .pid = -1

/* Options that commands share. Those that a command cannot honour are not among its lists. */
extern const struct option_row trace_thread_options[];	 /* --pid, --cpu */
extern const struct option_row trace_event_options[];	 /* --event, --since, --until */
extern const struct option_row trace_file_options[];	 /* --form, --with, --raw-clock, --align */
extern const struct option_row trace_hardware_options[]; /* more on --with; not with TRACE_BESIDE_NOTHING */
extern const struct option_row trace_machine_options[];	 /* --frequency, --machine */
extern const struct option_row trace_layout_options[];	 /* --v1-layout */
extern const struct option_row trace_calls_options[];	 /* --calls */
#define TRACE_HARDWARE_OPTIONS "with-elf with-root branches"

option_set trace_set_machine; /* const char *: the machine's usual name */

/* -1: go on; otherwise the exit status, --help included. */
int trace_args_parse(struct trace_args *args, int argc, char **argv);
/* Opens, sets the filter, says on stderr what must not be missed. 0, EXIT_USAGE or EXIT_BAD_INPUT. */
int trace_args_open(struct trace_args *args, struct ktread **trace);
/*
 * Says what came up while reading and closes. `result` is what the last ktread_next() returned. Returns the
 * exit status.
 */
int trace_args_close(struct trace_args *args, struct ktread *trace, int result);

/*
 * Sets the bits of all events that a list of patterns means, which can be told only once the trace has said
 * which there are. `map` has KTRX_EVENT_MAX + 1 bits. 0, or EXIT_USAGE if one means none.
 */
int trace_mark_events(const struct trace_args *args, const struct ktread *trace, const char *patterns,
		      uint8_t *map);

/* A time as --since takes it, and `slack` nanoseconds more, as a stamp. 0, or -1 if it means nothing. */
int trace_stamp(struct ktread *trace, const char *text, int64_t slack, uint64_t *stamp);

/* Says so if what an event cost cannot be taken off, as the trace does not know it. */
void trace_warn_of_cost(const struct trace_args *args, const struct ktread *trace);

/* Does it ask for less than all events? */
int trace_args_filtered(const struct trace_args *args);

/* --with FILE: what processes asked of the kernel, or which code ran, beside the kernel's own trace. */

struct flow;

/* 0, or an exit status after a message. */
int trace_with(const struct trace_args *args, struct ktread *trace);

/* Adds "FILE" or "FILE@BASE" to the images. 0, or an exit status after a message signed `name`. */
int trace_add_elf(const char *name, struct flow *flow, const char *word);
/* The same, of a list of the kernel's symbols. */
int trace_add_symbols(const char *name, struct flow *flow, const char *word);
/* Is `to` the file of "FILE" or "FILE@BASE"? As output_file_is(). */
int trace_output_is_based(const char *to, const char *word);

/* Says that trace_parse_ticks() refused the value; returns EXIT_USAGE. */
int trace_bad_time(const char *name, const char *option, const char *value, uint64_t frequency);
/* Message for a failed write (quiet for a pipe nobody reads any more); returns EXIT_BAD_INPUT, 0 if error is
 * 0. */
int trace_output_status(const char *name, const char *to, int error);

/* Commands that go on with what a running guest records, until it ends or a signal comes. */

struct followed {
	const struct trace_args *args;
	struct base_output *out; /* flushed whenever nothing is at hand */
	int by_ring;
	/*
	 * What came next, its end included. 0: go on; 1: enough; 2: it has said why not; or a negative
	 * KTREAD_E_*.
	 */
	int (*take)(void *context, struct ktread_follow *follow, const struct ktread_followed *now);
	void *context;
};

/* -1 after a message: there is nothing to follow in such a file; otherwise the exit status. */
int followed_run(const struct followed *followed);

/* The file that a command writes beside the trace it reads. Messages are printed. */

/* Writing to `to` would destroy what is read from `from`. */
int output_file_is(const char *to, const char *from);
/* A descriptor, standard output for "-"; -1 after a message. What is read has to be asked about before. */
int output_file_create(const char *name, const char *to);
/* The same, refused for the trace itself and for what is read beside it. */
int output_file_open(const struct trace_args *args, const char *to);
/*
 * Closes what output_file_open() gave. `error`: errno of the first failed write, 0 if none; nothing remains
 * of a file that could not be written. Returns the exit status.
 */
int output_file_close(const struct trace_args *args, const char *to, int fd, int error);

/*
 * Writes `trace` to the file `to` ("-": standard output), says so on stderr, closes the trace. A file that
 * could not be written to its end is removed. Returns the exit status.
 */
int write_export(struct trace_args *args, struct ktread *trace, const struct export_format *format,
		 const char *to);

/* Names of system calls. */

/*
 * A process trace that does not bring a table of its kernel's calls gets the one that was built in for that
 * kernel, as kdump does it. 0, or a negative KTREAD_E_*.
 */
int foreign_calls_set(struct ktread *trace);

/*
 * Names the trace's system calls by `table` and by nothing else (share/tables, spec/ktrx-proc.md). A table of
 * calls without numbers, as Linux's, is of the trace's machine, else of `machine`, and of x86_64 if that is
 * 0. Returns that machine, 0 for a table that brings its numbers, or a negative KTREAD_E_*.
 */
int foreign_calls_set_table(struct ktread *trace, const char *table, uint16_t machine);

/*
 * A table of calls named on a command line: one that was built in, or a file. 0, or EXIT_BAD_INPUT after a
 * message. `*text` lives as long as `*owned`, which is to be freed and may be NULL.
 */
int kdump_table_read(const char *by, const char *name, char **owned, const char **text);

struct rules;

/* Rules that every kernel keeps, parsed: to be freed with free(); NULL after a message signed by `name`. */
struct rules *default_rules(const char *name);

/* The verdict of `ktrace why` on a trace file alone, on stderr. `elf` may be NULL. */
void explain_file(const char *name, const char *path, const char *elf);

#endif
