/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Hardware trace as events beside those of a kernel's trace (ktread/beside.h), a ring for each stream:
 * functions that are entered, and as it is wanted when they are left, or every branch. Where something is
 * missing is an event, too.
 */
#ifndef FLOW_BESIDE_H
#define FLOW_BESIDE_H

#include "flow/flow.h"
#include "ktread/ktread.h"

enum flow_grain {
	FLOW_ENTRIES,  /* hwt.call */
	FLOW_CALLS,    /* and hwt.return */
	FLOW_BRANCHES, /* hwt.branch instead */
};

/* Makes `flow` the trace's, which closes it, also after an error. As ktread_beside_source(). */
int flow_beside(struct ktread *trace, struct flow *flow, const char *path, enum flow_grain grain);

/*
 * What a kernel's own trace says of its CPUs, for hardware trace beside it: which event came when, and which
 * thread ran then. Read once, before anything stands beside the trace, and kept: 16 bytes an event.
 */

#define FLOW_KERNEL_EVENTS_MOST (UINT64_C(1) << 25) /* that are kept; nothing is known of what comes later */

struct flow_kernel_event {
	uint64_t stamp;
	uint32_t thread; /* that runs behind it; KTREAD_NO_THREAD: unknown */
	uint16_t type;	 /* id */
};

struct flow_kernel;

/* Leaves the trace rewound. 0 or an error. */
int flow_kernel_read(struct flow_kernel **kernel, struct ktread *trace);
void flow_kernel_free(struct flow_kernel *kernel);
/*
 * The first event of a CPU behind a stamp; NULL: none is known. Those that follow it stand behind it, up to
 * `end`.
 */
const struct flow_kernel_event *flow_kernel_behind(const struct flow_kernel *kernel, uint32_t cpu,
						   uint64_t stamp, const struct flow_kernel_event **end);
/* KTREAD_NO_THREAD: not known. */
uint32_t flow_kernel_thread(const struct flow_kernel *kernel, uint32_t cpu, uint64_t stamp);
/* Where a thread ran; KTRX_NO_CPU: not known. */
uint32_t flow_kernel_cpu(const struct flow_kernel *kernel, uint32_t thread, uint64_t stamp);

#endif
