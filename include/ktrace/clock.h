/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Clocks that differ from CPU to CPU. Stamps are each CPU's own counter, always; what there is to be known
 * about how these lie to each other is measured beside them and left in the trace, where a reader applies it.
 *
 * A measurement finds the least and the most that the offset can be; half of the distance is its error. Each
 * stamp of one CPU that the other one sees bounds the offset from one side. In a round trip between a CPU and
 * CPU 0 both sides are tight. Where a busy host never runs both at the same time, stamps that they left for
 * each other earlier have to do: in ticks, in interrupts and context switches (ktrace/hooks.h), and in
 * attempts at a round trip. Clocks are taken to drift apart by 500 millionths at most.
 *
 * Both sides wait for a bounded number of polls and give up then, so a CPU
 * that cannot come (it holds a spinlock, say, with interrupts off) makes a round trip fail and nothing else.
 *
 * ktrace_heartbeat() measures by itself, on each CPU, while debug.ktr.resynchronize is 1: every 100 ms. It
 * needs the memory that config.clocks asks for, and CPU 0 to call ktrace_clock_serve() in time: from its
 * heartbeat, which does so, or in an interrupt that config.interrupt sends it.
 */
#ifndef KTRACE_CLOCK_H
#define KTRACE_CLOCK_H

#include <stdint.h>

#include "ktrace/compiler.h"

KTRACE_BEGIN_C

/* Values of config.clocks. */
enum ktrace_clocks {
	KTRACE_CLOCKS_NONE = 0,	  /* nothing is measured */
	KTRACE_CLOCKS_ASKED = 1,  /* when ktrace_clock_measure() or debug.ktr.resynchronize asks for it */
	KTRACE_CLOCKS_ONLINE = 2, /* and by itself after each CPU came online, until a round trip succeeds */
};

/*
 * Measures this CPU's clock against CPU 0's, now. Interrupts off, on a CPU that is online. On CPU 0 there is
 * nothing to be done. Errors: STATE (not online, or config.clocks was 0), BUSY (another CPU measures, or CPU
 * 0 did not answer in time, and no earlier stamps tell more than is known).
 */
int ktrace_clock_measure(void);

/*
 * CPU 0's part, if another CPU asks for it just now; otherwise, and on any other CPU, a few instructions. Any
 * context with interrupts off. Ends after a bounded number of polls.
 */
void ktrace_clock_serve(void);

/* Ticks to be added to a CPU's stamps to have CPU 0's, as last measured; 0 if never. */
int64_t ktrace_clock_offset(uint32_t cpu);

KTRACE_END_C

#endif
