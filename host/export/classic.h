/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The summary that ktrace-decode prints: counts by type, by PID (the 20 busiest) and by CPU. */
#ifndef EXPORT_CLASSIC_H
#define EXPORT_CLASSIC_H

#include "base/output.h"
#include "export/tally.h"

/* 0 or KTREAD_E_MEMORY. */
int classic_summary(struct base_output *out, const struct ktread *trace, const struct tally *tally);

#endif
