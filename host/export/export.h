/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * An output format is a struct export_format. `ktrace export --format NAME` looks NAME up among the formats
 * that are built in: those in EXPORT_FORMATS of host/host.mk. Each defines `const struct export_format
 * export_NAME` in a source file of this directory.
 *
 * Formats use only the reader's API. They neither print messages nor exit: they store errors in the report.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "ktread/ktread.h"

/* Facts that a format reports about its output. Requires: the caller has set all bytes to zero. */
struct export_report {
	uint64_t events; /* number of the trace's events that were written */
	/* number of events that were written with the format's maximum time instead of their own time */
	uint64_t too_late;
	/* number of spans of which only the beginning, or only the end, was recorded */
	uint64_t unpaired;
	/* true if every sched.switch has state 0: the states of threads may then be unknown */
	bool states_unknown;
	bool announced;	  /* true if sched.block shows which threads sleep */
	int output_error; /* errno of the write to `fd` that failed; 0 if no write failed */
	/*
	 * name of the thing that `output_error` is about, such as a directory for temporary files; NULL: the
	 * output
	 */
	const char *failed;
	/*
	 * Set by the caller while a format writes a directory: the number of a signal that ends the export.
	 * The format then removes what it wrote, and stores EINTR in output_error.
	 */
	volatile sig_atomic_t interrupted;
};

/* The kind of output that a format writes. */
enum export_place {
	EXPORT_FILE,
	EXPORT_NEW_FOLDER, /* a directory that is new or empty */
	EXPORT_FOLDER,	   /* a directory to which each export adds files with new names */
	EXPORT_DATABASE,   /* a regular file, which another library opens by its name */
};

struct export_format {
	const char *name;    /* name, as given to --format */
	const char *purpose; /* description for --help, at most half a line */
	/*
	 * Names of options of `ktrace export` that have no effect on this format, separated by blanks. The
	 * command refuses them. `why_refused` follows the option's name in the message. NULL: all options
	 * have an effect on this format.
	 */
	const char *refuses, *why_refused;
	enum export_place place;
	/*
	 * Writes all events of `trace` that pass its filter, from its current position on, to `fd`. `fd`
	 * stays open. It is a directory if `place` is one of the kinds of directories; otherwise it may be
	 * a pipe. If reading fails, the output is complete and well-formed up to the previous event.
	 * Returns 0. Returns KTREAD_E_SYSTEM with report->output_error set if writing failed. Returns
	 * another negative KTREAD_E_* if reading failed; ktread_message() has the reason.
	 */
	int (*write)(struct ktread *trace, int fd, struct export_report *report);
};

/* Returns the format of that name, or NULL. */
const struct export_format *export_format_find(const char *name);
/* Returns built-in format number `n`, in the order of their names; NULL after the last format. */
const struct export_format *export_format_at(unsigned n);

#endif
