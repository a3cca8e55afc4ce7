/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Which views of the other commands a trace is good for. */
#ifndef DOCTOR_EXAMINE_VIEWS_H
#define DOCTOR_EXAMINE_VIEWS_H

#include <stdint.h>

#include "base/output.h"

/*
 * What a kernel can light in the tools, and the line of C that does it: the one table of these.
 * doc/porting.md shows it as views_write() writes it; `ktrace doctor` names the rows that are still dark.
 */

/* What a trace shows of views that are no events: bits. */
enum view_fact {
	VIEW_RINGS = 1u << 0,	    /* a CPU has a ring of its own */
	VIEW_NAMES = 1u << 1,	    /* a thread has a name */
	VIEW_BEATS = 1u << 2,	    /* a CPU has a heartbeat */
	VIEW_MODES = 1u << 3,	    /* a CPU has said user, kernel or interrupt */
	VIEW_IDLE = 1u << 4,	    /* a CPU has said that it idles */
	VIEW_COST = 1u << 5,	    /* what an event costs is known */
	VIEW_SYSCALLS = 1u << 6,    /* there is a table of system calls */
	VIEW_BUILD_ID = 1u << 7,    /* the kernel tells its build id */
	VIEW_CLOCKS = 1u << 8,	    /* clocks can be measured */
	VIEW_EXIT = 1u << 9,	    /* it said that it ended */
	VIEW_PANIC = 1u << 10,	    /* it said that it panicked */
	VIEW_STACKS = 1u << 11,	    /* a thread's stack is known */
	VIEW_INTERRUPTS = 1u << 12, /* a CPU has said whether interrupts are on */
	VIEW_CPUS = 1u << 13,	    /* CPUs other than 0 are told apart */
	VIEW_THREADS = 1u << 14,    /* threads are told apart */
	VIEW_CALLERS = 1u << 15,    /* an event tells its callers */
	VIEW_FREQUENCY = 1u << 16,  /* ticks can be told as time */
	VIEW_PRIORITY = 1u << 18,   /* a thread's priority is known */
	VIEW_HOLDERS = 1u << 17,    /* there is a table of what threads hold and wait for */
};

enum view_sign {
	VIEW_BY_EVENT, /* it is lit if `event` fires */
	VIEW_BY_FACT,  /* by bits of enum view_fact */
	VIEW_BY_HOOK,  /* by KTRX_HOOK_* bits of a CPU's row */
	VIEW_UNTOLD,   /* no trace tells */
};

struct view {
	const char *name;
	const char *where;
	const char *line; /* several places: a line each, with " … " between them */
	const char *lights;
	enum view_sign sign;
	uint32_t bits;
	const char *event;
};

/* The table as Markdown. */
void views_write(struct base_output *out);

#endif
