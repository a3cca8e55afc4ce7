/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* `ktrace extract`: the trace out of a guest's memory, of a guest that runs, ran or was dumped. */
#ifndef CAPTURE_EXTRACT_H
#define CAPTURE_EXTRACT_H

#include <limits.h>
#include <stdbool.h>

#include "ktread/ktread.h"
#include "ktread/memory.h"
#include "peer.h"
#include "output.h"

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

/*
 * A memory that remembers what was read of it, so that all of it can be read again in few large pieces, in
 * the shortest time a machine can be halted for. From then on those pieces are what is read; what lies
 * outside of them still comes from the machine.
 */

struct capture_snapshot;

/* `below` is borrowed and must outlive it. 0 or an error. */
int capture_snapshot_open(struct capture_snapshot **snapshot, struct ktread_memory *below);
/* To read through; owned by the snapshot. */
struct ktread_memory *capture_snapshot_memory(struct capture_snapshot *snapshot);
/* From here on reads are remembered; of large ones nothing but that. */
void capture_snapshot_remember(struct capture_snapshot *snapshot);
/* Makes room for what is remembered: what takes time before the machine is halted. */
void capture_snapshot_prepare(struct capture_snapshot *snapshot);
/* Reads all that is remembered. 0, or an error of what is below. */
int capture_snapshot_take(struct capture_snapshot *snapshot);
void capture_snapshot_close(struct capture_snapshot *snapshot);

#endif
