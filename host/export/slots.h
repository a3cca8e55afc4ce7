/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A version 2 trace as bytes: each event's text, then its slots in hexadecimal, field by field. */
#ifndef EXPORT_SLOTS_H
#define EXPORT_SLOTS_H

#include "export/timeline.h"

/* As timeline_write(). Events of version 1 are their text alone. */
int slots_write(struct timeline *timeline);

#endif
