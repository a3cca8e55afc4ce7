/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A trace file that appears whole or not at all: written under another name in its own folder, then renamed
 * over whatever was there.
 */
#ifndef CAPTURE_OUTPUT_H
#define CAPTURE_OUTPUT_H

#include <limits.h>

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

#endif
