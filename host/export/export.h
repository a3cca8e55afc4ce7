/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * An output format is one struct of operations. `ktrace export --format NAME` looks NAME up among the formats
 * that were built in: those in EXPORT_FORMATS of host/host.mk, each of which defines
 * `const struct export_format export_NAME` in a source of this room.
 *
 * Formats use the reader's API alone. They neither print nor exit: what went wrong is left in the report.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "ktread/ktread.h"

/* What a format says about its work. Set to zero by the caller. */
struct export_report {
	uint64_t events;   /* events of the trace that went into the output */
	uint64_t unpaired; /* ends without a beginning and the reverse, for lack of records */
	/* sched.switch gives state 0 every time, so states of threads may be missing … */
	bool states_unknown;
	bool announced;	  /* … but sched.block says which threads sleep */
	int output_error; /* errno of a failed write to `fd`, 0 if none */
};

struct export_format {
	const char *name;    /* as given to --format */
	const char *purpose; /* half a line for --help */
	/*
	 * Names of options of `ktrace export` that would have no effect on the output, with blanks between,
	 * and why, in words that follow the option's name. Such an option is refused. NULL: it honours all.
	 */
	const char *refuses, *why_refused;
	/*
	 * Writes all events of `trace` that pass its filter to `fd`, from the present position of both. `fd`
	 * stays open and may be a pipe. 0, or a negative KTREAD_E_*: either ktread_message() tells the
	 * reason, or report->output_error is set and KTREAD_E_SYSTEM returned. Output is complete and
	 * well-formed up to the event at which reading failed.
	 */
	int (*write)(struct ktread *trace, int fd, struct export_report *report);
};

/* NULL if there is no such format. */
const struct export_format *export_format_find(const char *name);
/* The built-in formats in order of name; NULL past the last. */
const struct export_format *export_format_at(unsigned n);

#endif
