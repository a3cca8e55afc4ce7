/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Dumps of the trace through a transport, for machines whose memory the host cannot read. Boot arguments:
 * transport=NAME chooses the device (file=PATH, where it is a file of the host) and asks for a dump when the
 * kernel ends, by exit or by panic; dump=v1 writes version 1 of the format; dump=start asks for one more as
 * soon as there is a transport.
 */
#ifndef DEMO_DUMP_H
#define DEMO_DUMP_H

#include <ktrace/transport.h>

/* Boot CPU, after trace_init. */
void dump_init(void);

/* Dumps now, as the boot arguments say. How is KTRACE_DUMP_SEIZE where all other CPUs are stopped, else 0. */
void dump_now(unsigned how);

#endif
