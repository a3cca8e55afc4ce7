/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Words of the command line as values. Each returns 0, or -1 if the word means nothing. */
#ifndef CMD_TRACE_ARGS_H
#define CMD_TRACE_ARGS_H

#include <getopt.h>
#include <stdint.h>

#include "ktread/ktread.h"
#include "ktrx/slot.h"

/* A whole number up to `limit`, decimal or 0x…. */
int trace_parse_number(const char *text, uint64_t limit, uint64_t *number);
/* "1.5", "250ms": nanoseconds. */
int trace_parse_time(const char *text, uint64_t *nanoseconds);
/*
 * The same and `slack` nanoseconds more, in ticks; of an unknown frequency (0) it is a number of ticks, no
 * more.
 */
int trace_parse_ticks(const char *text, uint64_t frequency, int64_t slack, uint64_t *ticks);
/* "0,2-5" into a bit map of `limit` CPUs. */
int trace_parse_cpus(const char *list, uint8_t *map, uint32_t limit);
int trace_parse_form(const char *name, enum ktread_form *form);
int trace_parse_layout(const char *name, enum ktread_v1_layout *layout);
/* The machine's usual name, whichever of its names is given. */
int trace_parse_machine(const char *name, const char **machine);

/*
 * What all subcommands that read a trace have in common: which file, how it is to be read, which events are
 * wanted. Functions that return an exit status have printed the message already.
 *
 *	struct trace_args args = TRACE_ARGS("ktrace show");
 *	status = trace_args_parse(&args, &syntax, &show, argc, argv);	done if >= 0
 *	status = trace_args_open(&args, &trace);			failed if not 0
 *	…
 *	return trace_args_close(&args, trace, result);
 */

#define TRACE_CPUS_MAX	4096u
#define TRACE_ELFS_MOST 32u

/* What of hardware trace stands beside what a command reads. */
enum trace_beside {
	TRACE_BESIDE_NOTHING, /* only process traces do */
	TRACE_BESIDE_ENTRIES, /* functions that are entered … */
	TRACE_BESIDE_CALLS,   /* … and left */
};

struct trace_args {
	const char *name; /* signs messages */
	const char *path;
	const char *with; /* a process trace or hardware trace beside it; NULL: none */
	const char
		*with_elf[TRACE_ELFS_MOST]; /* where hardware trace finds code and names: FILE or FILE@BASE */
	uint32_t with_elfs;
	const char *with_root;	  /* folder below which its files lie; NULL: as it names them */
	const char *calls;	  /* table that names system calls; NULL: the trace's */
	int shows_calls;	  /* of its syntax */
	int branches;		  /* of hardware trace all branches, not only functions */
	enum trace_beside beside; /* of its syntax */
	struct ktread_options options;
	int align;	      /* --align */
	int64_t pid;	      /* -1: all */
	const char *cpu_list; /* of --cpu, NULL: all */
	uint8_t cpus[TRACE_CPUS_MAX / 8];
	const char *events; /* list of patterns, NULL: all */
	uint8_t event_map[(KTRX_EVENT_MAX + 1) / 8];
	const char *since;
	const char *until;
	int reports_order; /* the command's own output says how certain the order between CPUs is */
	uint32_t given;	   /* shared options that were given, a bit each: ask trace_args_gave() */
};

#define TRACE_ARGS(by)                                                                        \
	{                                                                                     \
		.name = (by), .options = { .size = sizeof(struct ktread_options) }, .pid = -1 \
	}

/* Options of a command's own have numbers from here on, or letters. */
#define TRACE_OPTION_OWN 512

enum trace_filters {
	TRACE_FILTERS_ALL,
	TRACE_FILTERS_PID_CPU,
	TRACE_FILTERS_NONE, /* for what a missing event would mislead */
};

/* What a command does with the names of system calls. */
enum trace_calls {
	TRACE_CALLS_IGNORED, /* nothing: --calls is refused */
	TRACE_CALLS_USED,
	TRACE_CALLS_SHOWN, /* says so if there are none */
};

/* A command's own side of its command line. */
struct trace_syntax {
	const char *usage;	/* the first lines of its --help */
	void (*describe)(void); /* prints what follows them, may be NULL */
	const char *help;	/* on its own options */
	const char *examples;
	const struct option *own; /* ends with zeros; at most TRACE_OWN_MAX */
	const char *usual_file;	  /* meant where none is given; NULL: there must be one */
	const char *letters;	  /* of own options that have one, as for getopt(3) */
	enum trace_filters filters;
	const char *useless; /* shared options that would change nothing, without dashes; NULL: none */
	/* Takes one of its own options: 0, or EXIT_USAGE after a message. `command` is the caller's. */
	int (*take)(void *command, int option, const char *value);
	enum trace_beside beside;
	enum trace_calls calls;
	/*
	 * Asked behind all options: is the trace got from elsewhere, so that no file is to be named? NULL:
	 * no.
	 */
	int (*no_file)(const void *command);
};
#define TRACE_HARDWARE_OPTIONS "with-elf with-root branches"
#define TRACE_OWN_MAX	       16
#define TRACE_USUAL_FILE       "ktrace.ktrx" /* what `ktrace run` leaves */

/* -1: go on; otherwise the exit status, --help included. */
int trace_args_parse(struct trace_args *args, const struct trace_syntax *syntax, void *command, int argc,
		     char **argv);
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

/*
 * The first of these shared options that was given, NULL if none was. `names` lack their dashes; blanks
 * separate them.
 */
const char *trace_args_gave(const struct trace_args *args, const char *names);

/* Does it ask for less than all events? */
int trace_args_filtered(const struct trace_args *args);

/* "unusable value for OPTION"; returns EXIT_USAGE. */
int trace_bad_value(const struct trace_args *args, const char *option, const char *value);
/* Message for a failed write (quiet for a pipe nobody reads any more); returns EXIT_BAD_INPUT, 0 if error is
 * 0. */
int trace_output_status(const char *name, const char *to, int error);

#endif
