/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reading what hwt_write.h has written, step by step; what is not as expected fails the test. */
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

/* Everything of a file that is being read. */
struct reading {
	char path[64];
	struct hwt_file *file;
	struct hwt_images *images;
	struct hwt_decoder *decoder;
};

struct reading read_file(struct hwt_file_writer *writer);
void open_stream(struct reading *reading, size_t n);
/* Of a stream that was opened nothing may be left. */
void end(struct reading *reading);
const struct hwt_step *next(struct reading *reading, enum hwt_kind kind);
/* `to`: 0 if it is not known. */
const struct hwt_step *next_run(struct reading *reading, uint64_t address, uint64_t end_at,
				enum hwt_branch branch, uint64_t to);
/* The next step is a gap, in the text of which this is. */
const struct hwt_step *next_gap(struct reading *reading, const char *text);

#endif
