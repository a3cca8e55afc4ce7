/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Version 1 dumps and bare records. */
#ifndef KTREAD_V1_H
#define KTREAD_V1_H

#include "dumps.h"
#include "trace.h"

int ktread_v1_open(struct ktread *trace, const struct ktread_dump *dump);
/* Records of version 1 without a header, from all CPUs in one sequence. */
int ktread_bare_open(struct ktread *trace);

#endif
