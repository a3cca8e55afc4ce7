/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The trace file that a command leaves: how it is written, the note in it, and what it holds in numbers. */
#ifndef CAPTURE_OUTPUT_H
#define CAPTURE_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/ktread.h"
#include "ktread/memory.h"

/*
 * A trace file that appears whole or not at all: written under another name in its own folder, then renamed
 * over whatever was there.
 */

struct capture_output {
	int fd;
	const char *path;     /* borrowed */
	char fresh[PATH_MAX]; /* what it is called until it is complete */
};

/* Whether a file could be made at `path`, before anything is started. 0 or CAPTURE_E_SYSTEM. */
int capture_output_check(const char *path);
int capture_output_open(struct capture_output *output, const char *path);
/* Writes a dump of the image. 0, or an error that names the file. */
int capture_output_dump(struct capture_output *output, struct ktread_image *image, const char *note,
			uint64_t frequency);
/* Gives the file its name. 0 or CAPTURE_E_SYSTEM, and then nothing is left of it. */
int capture_output_commit(struct capture_output *output);
void capture_output_abandon(struct capture_output *output);

/*
 * A small file of keys and values, by which `ktrace run` and the QEMU shim that it planted talk across
 * whatever make or script lies between them. Written whole or not at all (rename).
 */

struct capture_record {
	char *bytes; /* "key=value\0" one after the other */
	size_t length;
	bool failed; /* out of memory: capture_record_save() will say so */
};

__attribute__((format(printf, 3, 4))) void capture_record_set(struct capture_record *record, const char *key,
							      const char *format, ...);
/* Value of `key`, "" if there is none. Owned by the record. */
const char *capture_record_get(const struct capture_record *record, const char *key);
void capture_record_free(struct capture_record *record);

/* 0 or CAPTURE_E_SYSTEM. */
int capture_record_save(const struct capture_record *record, const char *path);
/* 0, CAPTURE_E_ABSENT if there is no such file yet, CAPTURE_E_SYSTEM or CAPTURE_E_FORMAT. */
int capture_record_load(struct capture_record *record, const char *path);

/* What the host knows of a dump that the guest has sent by itself, put into that dump. */

/*
 * Appends `note` to the file and makes it a NOTE section (spec/ktrx.md) of the dump that readers of the file
 * show. Changes nothing else in the file, and nothing at all if that dump is of version 1, is cut off, has a
 * note already, or has no room in its table of sections: these are no errors. Returns 0, or CAPTURE_E_SYSTEM.
 */
int capture_dump_note(const char *path, const char *note);

/* What is in a finished trace, in numbers for one line. */

struct capture_summary {
	uint64_t events;
	uint64_t overwritten; /* slots */
	uint64_t unreadable;  /* slots */
	uint64_t unusable;    /* rings, with all that they held */
	uint64_t refused;     /* records, by full rings and before there was one */
	uint32_t cpus;	      /* that are online or have recorded */
	uint32_t outcome;     /* KTRX_OUTCOME_* */
	int32_t status;
	uint64_t frequency;
	bool cut;	/* of a dump the end is missing */
	double seconds; /* from its first event to its last; 0: unknown, or no two events */
};

#define CAPTURE_LOSS_TEXT 160u

/* Reads the whole trace. 0 or CAPTURE_E_FORMAT. */
int capture_summary_read(struct capture_summary *summary, const char *path);
/*
 * "1 ring unusable, 7 slots overwritten, 2 slots unreadable, 1 record refused", without what is none; or
 * "nothing lost".
 */
void capture_summary_loss(const struct capture_summary *summary, char *text, size_t size);

#endif
