/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads files written with hwt_write.h, step by step. An unexpected step fails the test. */
#ifndef HWT_READING_H
#define HWT_READING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hwt/hwt.h"
#include "ktread/ktread.h"
#include "unit/support/hwt_write.h"

/* A file that is being read. */
struct reading {
	char path[64];
	struct hwt_file *file;
	struct hwt_images *images;
	struct hwt_decoder *decoder;
};

struct reading read_file(struct hwt_file_writer *writer);
void open_stream(struct reading *reading, size_t n);
/* Closes the file. If a stream was opened, closes it, too; it must have been read to its end. */
void end(struct reading *reading);
const struct hwt_step *next(struct reading *reading, enum hwt_kind kind);
/*
 * Checks that the next step is this run of instructions. `to`: target of the branch, or 0 if it is unknown.
 */
const struct hwt_step *next_run(struct reading *reading, uint64_t address, uint64_t end_at,
				enum hwt_branch branch, uint64_t to);
/* Checks that the next step is a gap whose text contains `text`. */
const struct hwt_step *next_gap(struct reading *reading, const char *text);

#endif
