/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The order of events of different CPUs: how certain it is, and alignment of clocks. The events of one CPU
 * are always in order. The order of events of different CPUs depends on what is known about their clocks.
 */
#ifndef ANALYZE_ORDER_H
#define ANALYZE_ORDER_H

#include <stdint.h>

#include "ktread/ktread.h"

/* ---- How certain the order is (used by all views) ---- */

enum order_state {
	ORDER_CERTAIN,	/* the order is certain: there is one CPU, or all CPUs have the same clock */
	ORDER_MEASURED, /* the order is certain for events that are at least `doubt` apart */
	/* the order is certain for pairs of cause and effect, and for other events at least `doubt` apart */
	ORDER_ALIGNED,
	ORDER_UNMEASURED, /* the order is not certain, because the clocks of some or all CPUs are unknown */
};

struct order {
	enum order_state state;
	/*
	 * events of different CPUs that are at least this many ticks apart are in the right order; 0:
	 * unknown, for example because clocks were aligned but some clocks were not measured
	 */
	uint64_t doubt;
	/* number of CPUs with a clock that was not measured; 0 if no clock was measured at all */
	uint32_t unmeasured;
};

struct order order_between_cpus(const struct ktread *trace);

/*
 * Returns the stated error of a CPU's clock, as the guest measured it: by how many ticks the clock may differ
 * from CPU 0's at the corrected timestamp `stamp`, in either direction. Returns 0 for CPU 0, ORDER_NO_ERROR
 * if the clock was not measured or no error is stated.
 */
#define ORDER_NO_ERROR UINT64_MAX
uint64_t order_error_at(const struct ktread *trace, uint32_t cpu, uint64_t stamp);

#define ORDER_TEXT 160u
/* what follows from clocks that were not measured, and how to have a kernel measure them */
#define ORDER_CURE                                                                       \
	", so events of different CPUs may be in the wrong order; to measure them, set " \
	".clocks = KTRACE_CLOCKS_ASKED in the kernel"

/*
 * Writes one line, without a newline, about how certain the order is. Returns its length, or 0 and "" if the
 * order is certain.
 */
int order_say(const struct ktread *trace, char text[ORDER_TEXT]);
/* Writes the order as a member of a JSON object: "order":{…}. */
int order_say_json(const struct ktread *trace, char text[ORDER_TEXT]);

/* ---- Alignment of clocks ---- */

/*
 * Corrects the clocks of CPUs by means of what the trace itself shows: an effect on one CPU cannot come
 * before its cause on another (analyze/align.h). Works in addition to the guest's measurements, or without
 * them.
 *
 * The trace is read several times: first to estimate how far apart the clocks are, then to move every effect
 * after its cause, in windows of time so that drift is followed. Memory does not grow with the trace. The
 * clocks are not changed if all effects come after their causes already, or if a change does not improve the
 * order. If the guest measured a clock, alignment moves it by at most the clock's stated error
 * (order_error_at()).
 */

#define ALIGN_CPUS_MAX 256u

struct align_report {
	uint64_t pairs;	 /* number of pairs of a cause on one CPU and its effect on another */
	uint64_t before; /* number of effects earlier than their cause, in the order before the alignment */
	uint64_t after;	 /* number of effects earlier than their cause, in the order after the alignment */
	/* 1 if the clocks were left unchanged, because the alignment did not improve the order */
	int kept;
	/*
	 * number of bounds that were ignored because they contradict other bounds, for example after a wrong
	 * pair or a drift within a window
	 */
	uint64_t given_up;
	uint64_t window; /* length in ticks of a time window (see align.c) */
};

/*
 * Aligns the clocks and rewinds the trace. Requires: no filter is set. Returns 0 or an error of the trace;
 * KTREAD_E_UNSUPPORTED for a trace of records_only and for more than ALIGN_CPUS_MAX CPUs.
 */
int align_clocks(struct ktread *trace, struct align_report *report);

#endif
