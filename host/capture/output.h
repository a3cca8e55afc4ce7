/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Functions for the trace file that a command writes: they write the file, add the host's note (a section of
 * the trace), and summarize the contents.
 */
#ifndef CAPTURE_OUTPUT_H
#define CAPTURE_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/ktread.h"
#include "ktread/memory.h"

/*
 * A trace file that is either complete or does not appear: it is written under a temporary name in the same
 * directory, and then renamed, which replaces an older file of that name.
 */

struct capture_output {
	int fd;
	const char *path;     /* final path of the file; borrowed */
	char fresh[PATH_MAX]; /* name of the file until it is complete */
};

/*
 * Checks that a new file may get the name `path`. This is permitted if no file has this name, or if a regular
 * file has this name; the regular file is then replaced. A symbolic link, a device, a FIFO, a socket or a
 * directory is never replaced. Returns 0 or CAPTURE_E_SYSTEM.
 */
int capture_output_may_replace(const char *path);
/*
 * Checks that a file can be created at `path`, or that the file there can be replaced. Call this function
 * before the run is started. Returns 0 or CAPTURE_E_SYSTEM.
 */
int capture_output_check(const char *path);
/*
 * Renames the complete file `fresh` to `path`, if capture_output_may_replace() permits it. Returns 0 or
 * CAPTURE_E_SYSTEM.
 */
int capture_output_rename(const char *fresh, const char *path);
/* Creates the temporary file. `path` is borrowed. Returns 0 or CAPTURE_E_SYSTEM. */
int capture_output_open(struct capture_output *output, const char *path);
/* Writes a dump of the image. Returns 0, or an error whose message names the file. */
int capture_output_dump(struct capture_output *output, struct ktread_image *image, const char *note,
			uint64_t frequency);
/* Gives the file its final name. Returns 0 or CAPTURE_E_SYSTEM; after an error, the file is removed. */
int capture_output_commit(struct capture_output *output);
/* Removes the temporary file and creates no trace. */
void capture_output_abandon(struct capture_output *output);

/*
 * A small file of keys and values for exchanging data between `ktrace run` and its QEMU shim. They exchange
 * files because ktrace run may start a make or a script, which then starts the shim. The file is written
 * completely or not at all (by a rename).
 */

struct capture_record {
	char *bytes; /* pairs, each as "key=value\0", one after the other */
	size_t length;
	bool failed; /* out of memory: capture_record_save() will fail */
};

/* Appends a key with a formatted value. */
__attribute__((format(printf, 3, 4))) void capture_record_set(struct capture_record *record, const char *key,
							      const char *format, ...);
/* Returns the value of `key`; "" if there is none. The record owns the value. */
const char *capture_record_get(const struct capture_record *record, const char *key);
void capture_record_free(struct capture_record *record);

/* Writes the record to `path`. Returns 0 or CAPTURE_E_SYSTEM. */
int capture_record_save(const struct capture_record *record, const char *path);
/*
 * Reads a record. Returns 0; CAPTURE_E_ABSENT if there is no such file yet; CAPTURE_E_SYSTEM or
 * CAPTURE_E_FORMAT.
 */
int capture_record_load(struct capture_record *record, const char *path);

/* A note that the host adds to a dump that the guest has sent. */

/*
 * Appends `note` to the file and makes it a NOTE section (spec/ktrx.md) of the dump that readers of the file
 * use. Changes nothing if that dump is of version 1, is truncated, has a note already, or has no free entry
 * in its section table. This is not an error. Returns 0 or CAPTURE_E_SYSTEM.
 */
int capture_dump_note(const char *path, const char *note);

/* A summary of a finished trace, from which a message of one line is made. */

struct capture_summary {
	uint64_t events;
	uint64_t overwritten; /* number of slots that were overwritten */
	uint64_t unreadable;  /* number of slots that are unreadable */
	uint64_t unusable;    /* number of unusable rings, all records of which are lost */
	/* number of records that were not stored because their ring was full or did not exist yet */
	uint64_t refused;
	uint32_t cpus;	  /* number of CPUs that are online or have recorded events */
	uint32_t outcome; /* KTRX_OUTCOME_* */
	int32_t status;
	uint64_t frequency;
	bool cut; /* the file was truncated: the end of a dump is missing */
	/* seconds from the first event to the last; 0: unknown, or there are fewer than two events */
	double seconds;
};

#define CAPTURE_LOSS_TEXT 160u

/* Reads the whole trace at `path`. Returns 0 or CAPTURE_E_FORMAT. */
int capture_summary_read(struct capture_summary *summary, const char *path);
/*
 * Formats, for example, "1 ring unusable, 7 slots overwritten, 2 slots unreadable, 1 record refused". Leaves
 * out items whose number is 0; if all are 0, the text is "nothing lost".
 */
void capture_summary_loss(const struct capture_summary *summary, char *text, size_t size);

#endif
