/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Events by pattern, as on command lines: "group.name", name or group alone, with * and ?, whatever the case. */
#ifndef ANALYZE_PATTERN_H
#define ANALYZE_PATTERN_H

#include <stdbool.h>

#include "ktread/ktread.h"

bool pattern_means(const char *pattern, const struct ktread_type *type);

#endif
