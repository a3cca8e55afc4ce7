/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A trace file that appears whole or not at all: written under another name in its own folder, then renamed
 * over whatever was there.
 */
#ifndef CAPTURE_OUTPUT_H
#define CAPTURE_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "ktread/memory.h"

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

#endif
