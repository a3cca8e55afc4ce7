/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Measures the differences between the clocks of CPUs. A timestamp is always the counter of the CPU that
 * records. ktrace does not change timestamps; it stores the measured offsets in the trace, and a reader
 * applies them.
 *
 * A measurement finds a lower and an upper bound of the offset. Half of the difference between the two bounds
 * is the maximum error. A CPU gets one bound when it reads a timestamp of another CPU. A round trip between a
 * CPU and CPU 0 gives two close bounds. If a busy host never runs both CPUs at the same time, ktrace uses
 * timestamps that the two CPUs stored for each other earlier: in timer ticks, in interrupts and context
 * switches (ktrace/hooks.h), and in round trips, including failed ones. ktrace assumes that clocks drift
 * apart by at most 500 millionths.
 *
 * Both CPUs poll a bounded number of times and then give up. If CPU 0 cannot answer (because it holds a
 * spinlock with interrupts disabled, for example), only the round trip fails.
 *
 * While debug.ktr.resynchronize is 1, ktrace_heartbeat() measures every 100 ms on each CPU. Requires:
 * config.clocks is not 0. CPU 0 calls ktrace_clock_serve() while the other CPU polls: in ktrace_heartbeat(),
 * or in the handler of the interrupt that config.interrupt sends.
 */
#ifndef KTRACE_CLOCK_H
#define KTRACE_CLOCK_H

#include <stdint.h>

#include "ktrace/compiler.h"

KTRACE_BEGIN_C

/* Values of config.clocks. */
enum ktrace_clocks {
	KTRACE_CLOCKS_NONE = 0, /* clocks are not measured */
	/* measurements are made only when ktrace_clock_measure() or debug.ktr.resynchronize requests them */
	KTRACE_CLOCKS_ASKED = 1,
	/* each CPU is also measured after it comes online, until a round trip succeeds */
	KTRACE_CLOCKS_ONLINE = 2,
};

/*
 * Measures this CPU's clock against that of CPU 0. Does nothing on CPU 0.
 * Returns KTRACE_OK, or:
 * STATE: this CPU is not online, or config.clocks was 0.
 * BUSY: another CPU is measuring, or CPU 0 did not answer in time and earlier timestamps give no better
 * bounds than those that are stored. Requires: interrupts disabled.
 */
int ktrace_clock_measure(void);

/*
 * Replies to another CPU that is measuring its clock. Has an effect on CPU 0 only. Costs a few instructions
 * if there is no request. Polls a bounded number of times. Requires: interrupts disabled.
 */
void ktrace_clock_serve(void);

/*
 * Returns the number of ticks to add to a timestamp of `cpu` to get the time of CPU 0, as last measured; 0 if
 * it was never measured.
 */
int64_t ktrace_clock_offset(uint32_t cpu);

KTRACE_END_C

#endif
