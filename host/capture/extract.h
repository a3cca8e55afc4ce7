/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* `ktrace extract`: the trace out of a guest's memory, of a guest that runs, ran or was dumped. */
#ifndef CAPTURE_EXTRACT_H
#define CAPTURE_EXTRACT_H

#include <limits.h>
#include <stdbool.h>

#include "ktread/ktread.h"
#include "peer.h"
#include "summary.h"

enum capture_source {
	CAPTURE_FROM_FILE, /* RAM or a core */
	CAPTURE_FROM_QMP,
	CAPTURE_FROM_GDB,
};

struct capture_extract_options {
	enum capture_source source;
	const char *path; /* of the file, or the peer's address */
	const char *out;
	const char *machine;   /* of a RAM file; NULL: as the file tells */
	enum ktread_form form; /* KTREAD_FORM_AUTO, _RAM or _CORE */
	const char *elf;       /* of a peer's kernel: its root is not searched for; NULL: it is */
	uint32_t boot;	       /* 0 the last, 1 the one before … */
	struct capture_ranges ranges;
	int timeout_ms; /* for each answer of a peer */
};

struct capture_extract_report {
	struct capture_summary summary;
	uint32_t boots; /* found; 1 where nothing was searched for */
	bool paused;	/* the guest ran, was halted and goes on */
	double pause;	/* seconds it was halted for */
	double located; /* seconds until the rings were found */
	double total;
	/* seconds for which nothing came from it while it was watched, 0: it went on, negative: not known */
	double silence;
	char warning[300]; /* about the kernel's file; "" if there is none */
};

/* 0, CAPTURE_E_ABSENT if there is no ktrace, or another error; the message names the file or the peer. */
int capture_extract(const struct capture_extract_options *options, struct capture_extract_report *report);
/*
 * The same into a file of its own below TMPDIR, for who only wants to read it: options->out does not matter.
 * `path` is the caller's to remove; "" with an error.
 */
int capture_extract_temporary(const struct capture_extract_options *options, char path[PATH_MAX],
			      struct capture_extract_report *report);

#endif
