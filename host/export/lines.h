/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A timeline for programs: a JSON object a line. */
#ifndef EXPORT_LINES_H
#define EXPORT_LINES_H

#include "export/timeline.h"

/* As timeline_write(). Lost slots are an object of their own: {"lost":4093,"cpu":2}. */
int lines_write(struct timeline *timeline);

#endif
