/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The backend `coresight` of ktrace/hwt.h: a trace unit (ETMv4, or a memory-mapped ETE) for each CPU, and the
 * components that carry its trace to memory. The kernel describes the components and their connections, as in
 * its device tree; everything else is read from the components. This driver has not been run on real hardware
 * yet (kernel/hwt_drivers/README.md).
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
 *	ktrace_hwt_add(&backend);		after DEVICE: see backend.why
 *
 * A trace goes to the nearest ETR that it can reach. The ETR writes it into the unit's buffer, in frames of
 * the formatter, for one unit at a time: while the ETR works for another CPU, a unit cannot be enabled
 * (BUSY). An ETF on the path works as a FIFO. No trace goes to a TPIU: the port that leads to it is closed.
 *
 * All CPUs share an ETR that has memory of its own (member `store`), or an ETF if no ETR is reachable. When a
 * unit is read or disabled, the library removes the frames and copies the trace of each unit to the unit's
 * own buffer, which must be mapped (ktrace_hwt_buffer.base).
 *
 * If an ETR does not have the flag KTRACE_CORESIGHT_COHERENT, its buffers must be mapped uncached, because
 * caches may contain older data than the ETR has written. An ETR has only one bit to report that it has
 * wrapped: several wraps between two reads count as one.
 *
 * Trace units identify an address space only by the context id. For context packets, or for KTRACE_HWT_SPACE,
 * the kernel must keep the lower half of the value of its `space` callback in CONTEXTIDR_EL1, or, at EL2, in
 * CONTEXTIDR_EL2.
 * Requires: all CPUs are on when the backend is added, because the features of their units are read then.
 */
#ifndef KTRACE_HWT_CORESIGHT_H
#define KTRACE_HWT_CORESIGHT_H

#include "ktrace/hwt_backend.h"

KTRACE_BEGIN_C

#define KTRACE_CORESIGHT_MAX  64u /* maximum number of components */
#define KTRACE_CORESIGHT_HOPS 16u /* maximum number of components between a CPU and its memory */

enum ktrace_coresight_type {
	KTRACE_CORESIGHT_ETM4 = 1, /* trace unit; its output port is 0 */
	/*
	 * input ports: 0 to 7, output port: 0. If `base` is 0, the funnel has no registers and its ports are
	 * always open
	 */
	KTRACE_CORESIGHT_FUNNEL,
	/* input port: 0, output ports: 0 and 1. If `base` is 0, the replicator has no registers */
	KTRACE_CORESIGHT_REPLICATOR,
	KTRACE_CORESIGHT_ETF,  /* input port: 0, output port: 0 or none */
	KTRACE_CORESIGHT_ETR,  /* input port: 0 */
	KTRACE_CORESIGHT_TPIU, /* TPIU, or any other component that consumes trace. Input port: 0 */
};

/*
 * ETR: the ETR may use scatter-gather, which works with the memory system of this machine. Without this flag
 * a buffer must be one contiguous piece.
 */
#define KTRACE_CORESIGHT_SCATTER 1u
/*
 * ETR: continues at the address in RWP when it is enabled (CoreSight SoC-600). Without this flag the ETR
 * starts at the beginning of the buffer. It then supports CPU mode only, unless it has memory of its own
 * (member `store`).
 */
#define KTRACE_CORESIGHT_RESTORE 2u
/* ETR: its writes are coherent with the CPUs' caches. */
#define KTRACE_CORESIGHT_COHERENT 4u

struct ktrace_coresight_hop {
	uint16_t component;
	uint8_t in, out; /* numbers of the input port and of the output port through which the path passes */
};

/* Private to the library, for each component. Requires: all zero at first. */
struct ktrace_coresight_own {
	uint32_t users; /* number of sources whose trace now passes through the component */
	/* number of sources for each port: inputs of a funnel, outputs of a replicator */
	uint8_t port_users[8];
	uint8_t ports;	  /* bit map of the ports that have users */
	uint8_t trace_id; /* ETM4: trace id that the formatter gives to this unit's bytes */
	/* ETM4: number of entries of path[]; the last entry is the component at which the trace ends */
	uint8_t hops;
	uint8_t collected; /* ETM4: nonzero: the trace ends in memory that several CPUs share */
	uint8_t scatters;  /* ETR: nonzero: register DEVID reports support for scatter-gather */
	struct ktrace_coresight_hop path[KTRACE_CORESIGHT_HOPS];
	uint32_t idr[14]; /* ETM4: values of the registers TRCIDR0 to TRCIDR13 */
	/* ETM4: value of TRCDEVARCH of an ETE; 0: the component is not an ETE */
	uint32_t devarch;
	/* ETM4, ETR: the unit whose trace the component produces or writes now */
	struct ktrace_hwt_unit *unit;
};

struct ktrace_coresight_component {
	uint32_t type;	/* enum ktrace_coresight_type */
	uint32_t flags; /* KTRACE_CORESIGHT_* */
	uintptr_t base; /* virtual address of the component's 4 KiB of registers */
	uint32_t cpu;	/* ETM4: number of the CPU that it traces */
	/*
	 * ETR: memory of its own, to which this ETR writes: one mapped piece, uncached unless the flag
	 * KTRACE_CORESIGHT_COHERENT is set. NULL: the ETR writes directly into the buffers of the units.
	 */
	const struct ktrace_hwt_buffer *store;
	struct ktrace_coresight_own own;
};

struct ktrace_coresight_link {
	uint16_t from;
	uint8_t from_port;
	uint16_t to;
	uint8_t to_port;
};

/* The description of all components. Requires: stays valid as long as the kernel. */
struct ktrace_coresight {
	struct ktrace_coresight_component *component;
	const struct ktrace_coresight_link *link;
	uint32_t components;
	uint32_t links;
	/* nonzero: the kernel runs at EL2 (VHE), so the context id is in CONTEXTIDR_EL2 */
	uint32_t kernel_at_el2;
	uint32_t polls;				     /* maximum number of polls of a register; 0: 100000 */
	const struct ktrace_hwt_access_mmio *access; /* always &ktrace_hwt_mmio, except in tests */
	uint64_t lock;				     /* private to the library; zero at first */
};

/* Accesses registers with loads and stores, on AArch64. */
extern const struct ktrace_hwt_access_mmio ktrace_hwt_mmio;

void ktrace_hwt_coresight_make(struct ktrace_hwt_backend *backend, struct ktrace_coresight *coresight);

KTRACE_END_C

#endif
