/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Dumps of the trace through a transport, for machines whose memory the host cannot read. Boot arguments:
 *   transport=NAME  selects the device; the trace is dumped when the kernel ends, by exit or by panic
 *   file=PATH       the file, for a transport that writes a file of the host
 *   dump=v1         writes version 1 of the format
 *   dump=start      makes an additional dump as soon as the transport is set
 */
#ifndef DEMO_DUMP_H
#define DEMO_DUMP_H

#include <ktrace/transport.h>

/* Reads the boot arguments. Requires: boot CPU, after trace_init. */
void dump_init(void);

/*
 * Dumps the trace now, in the format that the boot arguments select. `how` is 0 or KTRACE_DUMP_* flags; pass
 * KTRACE_DUMP_SEIZE only if all other CPUs are stopped.
 */
void dump_now(unsigned how);

#endif
