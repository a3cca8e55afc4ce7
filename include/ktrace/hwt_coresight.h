/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The backend `coresight` of ktrace/hwt.h: a trace unit (ETMv4, or an ETE that is mapped) at each CPU, and
 * what leads its trace to memory. The kernel says what there is and how it is connected, as its device tree
 * has it; everything else is read from the components. Never run on hardware
 * (kernel/hwt_drivers/README.md).
 *
 *	static struct ktrace_coresight_component component[] = {
 *		{ .type = KTRACE_CORESIGHT_ETM4, .base = …, .cpu = 0 },
 *		{ .type = KTRACE_CORESIGHT_FUNNEL, .base = … },
 *		{ .type = KTRACE_CORESIGHT_ETR, .base = …, .flags = KTRACE_CORESIGHT_SCATTER },
 *	};
 *	static const struct ktrace_coresight_link link[] = { { 0, 0, 1, 3 }, { 1, 0, 2, 0 } };
 *	static struct ktrace_coresight coresight = { … };
 *
 *	ktrace_hwt_coresight_make(&backend, &coresight);
 *	ktrace_hwt_add(&backend);		DEVICE and backend.why: what is wrong with the description
 *
 * A trace ends in the nearest ETR that it can reach, which writes it into the unit's buffer by itself, in
 * frames of the formatter, for one unit at a time: while another CPU has it, a unit cannot be enabled (BUSY).
 * Any ETF on the way is a FIFO. A TPIU or the like is closed, not used.
 *
 * An ETR that is lent a store of its own, and an ETF where no ETR is reached, are shared by all CPUs: what is
 * in there is taken out of its frames and copied to each unit's own buffer (which must be mapped,
 * ktrace_hwt_buffer.base) whenever one of them is read or disabled.
 *
 * What an ETR writes is seen through caches only if it is COHERENT: else buffers must be mapped uncached. An
 * ETR tells by one bit that it has begun anew, so of several laps between two reads one is counted.
 *
 * Trace units know an address space by the context id alone: a kernel that wants it told, or filtered by
 * (KTRACE_HWT_SPACE), keeps the lower half of what its `space` callback says in CONTEXTIDR_EL1, or at EL2 in
 * CONTEXTIDR_EL2. All CPUs are on when the backend is added: their units are asked what they can do.
 */
#ifndef KTRACE_HWT_CORESIGHT_H
#define KTRACE_HWT_CORESIGHT_H

#include "ktrace/hwt_backend.h"

KTRACE_BEGIN_C

#define KTRACE_CORESIGHT_MAX  64u /* components */
#define KTRACE_CORESIGHT_HOPS 16u /* most components between a CPU and its memory */

enum ktrace_coresight_type {
	KTRACE_CORESIGHT_ETM4 = 1,   /* out: port 0 */
	KTRACE_CORESIGHT_FUNNEL,     /* in: 0 to 7, out: 0. Base 0: it has no registers, all ports are open */
	KTRACE_CORESIGHT_REPLICATOR, /* in: 0, out: 0 and 1. Base 0: likewise */
	KTRACE_CORESIGHT_ETF,	     /* in: 0, out: 0, or none */
	KTRACE_CORESIGHT_ETR,	     /* in: 0 */
	KTRACE_CORESIGHT_TPIU,	     /* in: 0. Anything else that swallows trace */
};

/* ETR: scatter-gather is safe with this memory system; without it buffers must be one piece. */
#define KTRACE_CORESIGHT_SCATTER 1u
/*
 * ETR: goes on where RWP says (CoreSight SoC-600). Those without begin anew when enabled, and serve CPU mode
 * alone unless they have a store.
 */
#define KTRACE_CORESIGHT_RESTORE 2u
/* ETR: its writes are coherent with the CPUs' caches. */
#define KTRACE_CORESIGHT_COHERENT 4u

struct ktrace_coresight_hop {
	uint16_t component;
	uint8_t in, out; /* ports */
};

/* The library's own of each component, zero at first. */
struct ktrace_coresight_own {
	uint32_t users;	       /* sources whose trace goes through it now … */
	uint8_t port_users[8]; /* … and by which port: in of a funnel, out of a replicator */
	uint8_t ports;	       /* bit of each port that has some */
	uint8_t trace_id;      /* ETM4 */
	uint8_t hops;	       /* ETM4: of path[]; the last is where it ends */
	uint8_t collected;     /* ETM4: the trace ends where CPUs share the memory */
	uint8_t scatters;      /* ETR: DEVID says that it can */
	struct ktrace_coresight_hop path[KTRACE_CORESIGHT_HOPS];
	uint32_t idr[14];	      /* ETM4: TRCIDR0 to 13 */
	uint32_t devarch;	      /* ETM4: TRCDEVARCH of an ETE; 0: it is none */
	struct ktrace_hwt_unit *unit; /* ETM4, ETR: whose trace it is */
};

struct ktrace_coresight_component {
	uint32_t type;	/* enum ktrace_coresight_type */
	uint32_t flags; /* KTRACE_CORESIGHT_* */
	uintptr_t base; /* of its 4 KiB of registers, as mapped */
	uint32_t cpu;	/* ETM4: whose */
	/* ETR: one mapped piece, uncached unless COHERENT; NULL: it writes into the buffers of units. */
	const struct ktrace_hwt_buffer *store;
	struct ktrace_coresight_own own;
};

struct ktrace_coresight_link {
	uint16_t from;
	uint8_t from_port;
	uint16_t to;
	uint8_t to_port;
};

/* Lives as long as the kernel. */
struct ktrace_coresight {
	struct ktrace_coresight_component *component;
	const struct ktrace_coresight_link *link;
	uint32_t components;
	uint32_t links;
	/* Nonzero: the kernel runs at EL2 (VHE), so that its context id is that of EL2. */
	uint32_t kernel_at_el2;
	uint32_t polls; /* how often a register is read before it is given up; 0: 100000 */
	const struct ktrace_hwt_access_mmio *access; /* &ktrace_hwt_mmio */
	uint64_t lock;				     /* the library's, zero at first */
};

/* Loads and stores, on AArch64. */
extern const struct ktrace_hwt_access_mmio ktrace_hwt_mmio;

void ktrace_hwt_coresight_make(struct ktrace_hwt_backend *backend, struct ktrace_coresight *coresight);

KTRACE_END_C

#endif
