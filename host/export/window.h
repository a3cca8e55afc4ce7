/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A stretch of a trace as a picture: for each CPU who runs, what system calls, faults and interrupts are under way, and
 * every other event as a mark. The whole trace up to the end of the window is read, so that what began before it is
 * there.
 *
 * The picture is bounded: what is too close together to be told apart at its width is drawn once and counted.
 */
#ifndef EXPORT_WINDOW_H
#define EXPORT_WINDOW_H

#include <stdint.h>

#include "base/output.h"
#include "ktread/ktread.h"

#define WINDOW_CPUS 64u /* drawn; those beyond are counted */

struct window {
	struct ktread *trace;
	struct base_output *out;
	uint64_t from, to; /* stamps; `to` UINT64_MAX: the end of the trace */
	/* Results. */
	uint64_t events;   /* in the window */
	uint64_t close;	   /* pieces not drawn, as one is there already that looks the same */
	uint64_t left_out; /* events of CPUs that are not drawn, pieces beyond the limit */
};

/* 0, or KTREAD_E_MEMORY, or what ktread_next() said; what could be read is drawn. */
int window_write(struct window *window);

#endif
