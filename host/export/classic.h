/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Version 1 as its first decoder showed it, byte for byte. The timeline:
 *
 *	[    0.066302] CPU0 PID=6    SYSCALL_ENTER    nr=59 (execve) a1=0x7ffc10 a2=0x7ffc30
 *
 * The summary: counts by type, by PID (the 20 busiest) and by CPU.
 */
#ifndef EXPORT_CLASSIC_H
#define EXPORT_CLASSIC_H

#include "base/output.h"
#include "export/summary.h"
#include "export/timeline.h"

/* As timeline_write(), which shows the traces of other versions. */
int classic_timeline(struct timeline *timeline);

/* 0 or KTREAD_E_MEMORY. */
int classic_summary(struct base_output *out, const struct ktread *trace, const struct tally *tally);

#endif
