/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Registers of CoreSight components that the backend uses, and their bits: Arm IHI 0064 (ETMv4), DDI 0461
 * (TMC), DDI 0480 (funnel, replicator). Offsets are within the component's 4 KiB.
 */
#ifndef KTRACE_HWT_CORESIGHT_INTERNAL_H
#define KTRACE_HWT_CORESIGHT_INTERNAL_H

#include "ktrace/hwt_coresight.h"
#include "ktrace/port.h"

/* ---- Registers of all components --------------------------------------------------------------- */

#define KTRACE_CORESIGHT_LAR	 0xfb0u
#define KTRACE_CORESIGHT_LSR	 0xfb4u
#define KTRACE_CORESIGHT_DEVID	 0xfc8u
#define KTRACE_CORESIGHT_LAR_KEY 0xc5acce55u
#define KTRACE_LSR_IMPLEMENTED	 1u
#define KTRACE_LSR_LOCKED	 2u

/* ---- Registers of a trace unit ----------------------------------------------------------------- */

#define KTRACE_TRCPRGCTLR    0x004u
#define KTRACE_TRCSTATR	     0x00cu
#define KTRACE_TRCCONFIGR    0x010u
#define KTRACE_TRCEVENTCTL0R 0x020u
#define KTRACE_TRCEVENTCTL1R 0x024u
#define KTRACE_TRCSTALLCTLR  0x02cu
#define KTRACE_TRCTSCTLR     0x030u
#define KTRACE_TRCSYNCPR     0x034u
#define KTRACE_TRCCCCTLR     0x038u
#define KTRACE_TRCTRACEIDR   0x040u
#define KTRACE_TRCVICTLR     0x080u
#define KTRACE_TRCVIIECTLR   0x084u
#define KTRACE_TRCVISSCTLR   0x088u
#define KTRACE_TRCIDR8	     0x180u /* TRCIDR9 to TRCIDR13 follow it */
#define KTRACE_TRCDEVARCH    0xfbcu
#define KTRACE_TRCIDR0	     0x1e0u /* TRCIDR1 to TRCIDR7 follow it */
#define KTRACE_TRCOSLAR	     0x300u
#define KTRACE_TRCOSLSR	     0x304u
#define KTRACE_TRCPDCR	     0x310u
/* TRCACVR to TRCVMIDCVR have 64 bits: each is two 32-bit registers, the lower half first. */
#define KTRACE_TRCACVR(n)    (0x400u + 8 * (n))
#define KTRACE_TRCACATR(n)   (0x480u + 8 * (n))
#define KTRACE_TRCCIDCVR(n)  (0x600u + 8 * (n))
#define KTRACE_TRCVMIDCVR(n) (0x640u + 8 * (n))
#define KTRACE_TRCCIDCCTLR0  0x680u
#define KTRACE_TRCVMIDCCTLR0 0x688u

#define KTRACE_PRGCTLR_EN      1u
#define KTRACE_STATR_IDLE      1u
#define KTRACE_STATR_PMSTABLE  2u
#define KTRACE_OSLSR_OSLK      2u
#define KTRACE_PDCR_PU	       8u
#define KTRACE_CONFIGR_RES1    1u
#define KTRACE_CONFIGR_CCI     (1u << 4)
#define KTRACE_CONFIGR_CID     (1u << 6)
#define KTRACE_CONFIGR_VMID    (1u << 7)
#define KTRACE_CONFIGR_TS      (1u << 11)
#define KTRACE_CONFIGR_RS      (1u << 12)
#define KTRACE_CONFIGR_VMIDOPT (1u << 15)
#define KTRACE_VICTLR_ALWAYS   1u /* the event is resource 1, which is always true */
#define KTRACE_VICTLR_SSSTATUS (1u << 9)
/* position of the exclusion bits: secure EL0 to EL3, then non-secure EL0 to EL3 */
#define KTRACE_VICTLR_LEVEL  16
#define KTRACE_ACATR_CONTEXT (1u << 2)
#define KTRACE_ACATR_VMID    (2u << 2)
#define KTRACE_ACATR_LEVEL   8

#define KTRACE_IDR0_CCI		(1u << 7)
#define KTRACE_IDR0_RETSTACK	(1u << 9)
#define KTRACE_IDR0_TSSIZE(idr) ((idr) >> 24 & 0x1fu)
#define KTRACE_IDR1_MAJOR(idr)	((idr) >> 8 & 0xfu)
/* size in bytes; CIDSIZE and VMIDSIZE are sizes in bytes, too */
#define KTRACE_IDR2_IASIZE(idr)	  ((idr)&0x1fu)
#define KTRACE_IDR2_CIDSIZE(idr)  ((idr) >> 5 & 0x1fu)
#define KTRACE_IDR2_VMIDSIZE(idr) ((idr) >> 10 & 0x1fu)
#define KTRACE_IDR2_VMIDOPT(idr)  ((idr) >> 29 & 3u)
#define KTRACE_IDR3_CCITMIN(idr)  ((idr)&0xfffu)
/* one bit for each exception level: secure EL0 to 3, then non-secure EL0 to 3 */
#define KTRACE_IDR3_LEVELS(idr) ((idr) >> 16 & 0xffu)
#define KTRACE_IDR3_SYNCPR	(1u << 25) /* the register TRCSYNCPR is read-only */
#define KTRACE_IDR3_STALLCTL	(1u << 26)
#define KTRACE_IDR4_PAIRS(idr)	((idr)&0xfu)
#define KTRACE_IDR4_CIDC(idr)	((idr) >> 24 & 0xfu)
#define KTRACE_IDR4_VMIDC(idr)	((idr) >> 28 & 0xfu)

#define KTRACE_MAJOR_ETM4 4u
/* Value in TRCIDR1 for an ETE; the version of the ETE is in TRCDEVARCH. */
#define KTRACE_MAJOR_ETE	  15u
#define KTRACE_DEVARCH_TYPE(arch) ((arch)&0xffffu)
#define KTRACE_DEVARCH_ETE	  0x5a13u

/* ---- Registers of links ------------------------------------------------------------------------ */

#define KTRACE_FUNNEL_FUNCTL 0x000u
/* a port sends n + 1 times before the next port may send */
#define KTRACE_FUNCTL_HOLD_TIME(n)  ((n) << 8)
#define KTRACE_FUNCTL_HOLD	    0x7u
#define KTRACE_FUNCTL_PORTS(bits)   ((uint32_t)(bits))
#define KTRACE_REPLICATOR_IDFILTER0 0x000u /* register with the filter of port 0 */
#define KTRACE_REPLICATOR_IDFILTER1 0x004u
#define KTRACE_IDFILTER_OPEN	    0x00u
#define KTRACE_IDFILTER_SHUT	    0xffu /* all bits set; each bit blocks 16 trace ids */

/* ---- Trace memory controller ------------------------------------------------------------------- */

#define KTRACE_TMC_RSZ	  0x004u /* size of the memory in 32-bit words */
#define KTRACE_TMC_STS	  0x00cu
#define KTRACE_TMC_RRD	  0x010u
#define KTRACE_TMC_RRP	  0x014u
#define KTRACE_TMC_RWP	  0x018u
#define KTRACE_TMC_TRG	  0x01cu
#define KTRACE_TMC_CTL	  0x020u
#define KTRACE_TMC_MODE	  0x028u
#define KTRACE_TMC_BUFWM  0x034u
#define KTRACE_TMC_RRPHI  0x038u
#define KTRACE_TMC_RWPHI  0x03cu
#define KTRACE_TMC_AXICTL 0x110u
#define KTRACE_TMC_DBALO  0x118u
#define KTRACE_TMC_DBAHI  0x11cu
#define KTRACE_TMC_FFCR	  0x304u

#define KTRACE_STS_FULL		1u
#define KTRACE_STS_READY	4u
#define KTRACE_STS_MEMERR	(1u << 5)
#define KTRACE_CTL_CAPTURE	1u
#define KTRACE_MODE_CIRCULAR	0u
#define KTRACE_MODE_FIFO	2u /* the controller works as a FIFO in hardware */
#define KTRACE_AXICTL_NONSECURE (1u << 1)
#define KTRACE_AXICTL_CACHED	(0xfu << 2)
#define KTRACE_AXICTL_SCATTER	(1u << 7)
#define KTRACE_AXICTL_BURST16	(0xfu << 8)
#define KTRACE_FFCR_FORMAT	1u
#define KTRACE_FFCR_TRIGGERS	2u
/* software starts the flush with this bit; the bit reads as 1 until the flush is done */
#define KTRACE_FFCR_FLUSH	     (1u << 6)
#define KTRACE_FFCR_STOP_ON_FLUSH    (1u << 12)
#define KTRACE_RRD_EMPTY	     0xffffffffu
#define KTRACE_TMC_DEVID_TYPE(devid) ((devid) >> 6 & 3u)
#define KTRACE_TMC_TYPE_ETB	     0u
#define KTRACE_TMC_TYPE_ETR	     1u
#define KTRACE_TMC_TYPE_ETF	     2u
#define KTRACE_TMC_DEVID_NOSCAT	     (1u << 24)
#define KTRACE_TMC_ADDRESS_BITS	     40

/* Scatter lists: pages of 32-bit entries, with bits 39:12 of an address in bits 31:4. */
#define KTRACE_SCATTER_ENTRY(address, type) ((uint32_t)((address) >> 12 << 4) | (type))
#define KTRACE_SCATTER_LAST		    1u
#define KTRACE_SCATTER_PAGE		    2u
#define KTRACE_SCATTER_LINK		    3u

/*
 * Declarations that the source files of the backend `coresight` share. coresight.c is the backend;
 * coresight_graph.c finds the path from each CPU to memory, coresight_etm.c controls trace units,
 * coresight_path.c controls the components after them, coresight_memory.c reads the memory at the end of a
 * path.
 *
 * CPUs share components: a CPU holds the lock while it uses any registers except those of its own trace unit.
 * Each wait for a component has a limit and returns DEVICE when the limit is reached.
 */

/*
 * Stored in ktrace_hwt_backend.state: the features that all trace units have in common. A thread may run on
 * any CPU, so the backend uses only these features.
 */
struct ktrace_coresight_found {
	uint32_t first; /* index of the first ETM4 component; decoders get the values of its registers */
	uint32_t collected;
	uint32_t scatters; /* nonzero: all ETRs support scatter lists */
	uint32_t pairs, context_comparators, vmid_comparators;
	/* each of these is nonzero if the trace can contain that kind of data */
	uint32_t contexts, vmids, timestamps, cycles, returns;
	uint32_t cycle_least;
};

/*
 * Stored in ktrace_hwt_unit.state: register values, which configure sets, and the position of the unit's ETR.
 */
struct ktrace_coresight_request {
	uint32_t configr, syncpr, ccctlr, acatr;
	uint32_t levels; /* exception levels to be traced, one bit each as in IDR3_LEVELS */
	uint32_t ranges; /* number of pairs of comparators in use */
	uint64_t first[KTRACE_HWT_RANGES_MAX], last[KTRACE_HWT_RANGES_MAX];
	uint64_t context; /* value that is compared; `acatr` selects what the hardware compares with it */
	uint32_t stops;	  /* KTRACE_HWT_STOP */
	uint32_t scatter; /* nonzero: buffer.table is a scatter list */
	uint64_t offset;  /* offset in the buffer of the ETR's write pointer when the pointer was last read */
	uint32_t full;	  /* value of STS.Full when it was last read */
};

_Static_assert(sizeof(struct ktrace_coresight_found) <= sizeof(((struct ktrace_hwt_backend *)0)->state),
	       "does not fit into a backend's state");
_Static_assert(sizeof(struct ktrace_coresight_request) <= sizeof(((struct ktrace_hwt_unit *)0)->state),
	       "does not fit into a unit's state");

KTRACE_INLINE struct ktrace_coresight_found *ktrace_coresight_found(struct ktrace_hwt_backend *backend)
{
	return (struct ktrace_coresight_found *)(void *)backend->state;
}

KTRACE_INLINE struct ktrace_coresight_request *ktrace_coresight_request(struct ktrace_hwt_unit *unit)
{
	return (struct ktrace_coresight_request *)(void *)unit->state;
}

/* ---- Access to registers ----------------------------------------------------------------------- */

KTRACE_INLINE uint32_t ktrace_coresight_read(const struct ktrace_coresight *all,
					     const struct ktrace_coresight_component *component,
					     uint32_t offset)
{
	return all->access->read(component->base, offset);
}

KTRACE_INLINE void ktrace_coresight_write(const struct ktrace_coresight *all,
					  const struct ktrace_coresight_component *component, uint32_t offset,
					  uint32_t value)
{
	all->access->write(component->base, offset, value);
}

KTRACE_INLINE void ktrace_coresight_unlock(const struct ktrace_coresight *all,
					   const struct ktrace_coresight_component *component)
{
	ktrace_coresight_write(all, component, KTRACE_CORESIGHT_LAR, KTRACE_CORESIGHT_LAR_KEY);
}

/* Polls until the bits of the mask have that value. Returns DEVICE if this takes too many polls. */
KTRACE_HIDDEN int ktrace_coresight_poll(const struct ktrace_coresight *all,
					const struct ktrace_coresight_component *component, uint32_t offset,
					uint32_t mask, uint32_t value);

/* ---- Functions of each source ------------------------------------------------------------------ */

/*
 * Checks the description and finds each path[]. Returns NULL if the description is correct, otherwise a text
 * that states what is wrong.
 */
KTRACE_HIDDEN const char *ktrace_coresight_graph(struct ktrace_coresight *all);

/*
 * Reads idr[]. Returns NULL if the trace unit is usable, otherwise a text that states what is wrong with it.
 */
KTRACE_HIDDEN const char *ktrace_coresight_etm_find(const struct ktrace_coresight *all,
						    struct ktrace_coresight_component *etm);
KTRACE_HIDDEN uint32_t ktrace_coresight_etm_configr(const struct ktrace_coresight *all,
						    const struct ktrace_coresight_found *found,
						    const struct ktrace_hwt_config *config);
KTRACE_HIDDEN int ktrace_coresight_etm_configure(const struct ktrace_coresight *all,
						 const struct ktrace_coresight_found *found,
						 struct ktrace_hwt_unit *unit,
						 const struct ktrace_hwt_config *config);
KTRACE_HIDDEN int ktrace_coresight_etm_start(const struct ktrace_coresight *all,
					     const struct ktrace_coresight_component *etm,
					     const struct ktrace_coresight_request *request);
KTRACE_HIDDEN int ktrace_coresight_etm_stop(const struct ktrace_coresight *all,
					    const struct ktrace_coresight_component *etm);

/*
 * Open and close the components between the trace unit and the end of its trace. They are opened in the order
 * from the end to the trace unit, and closed in the opposite order.
 */
KTRACE_HIDDEN int ktrace_coresight_links_open(struct ktrace_coresight *all,
					      const struct ktrace_coresight_component *etm);
KTRACE_HIDDEN int ktrace_coresight_links_shut(struct ktrace_coresight *all,
					      const struct ktrace_coresight_component *etm);

/*
 * Checks the type of a trace memory controller. Returns NULL if the controller is usable, otherwise a text
 * that states what is wrong with the controller.
 */
KTRACE_HIDDEN const char *ktrace_coresight_tmc_find(const struct ktrace_coresight *all,
						    struct ktrace_coresight_component *tmc);
/* Waits until the controller is disabled and ready to be programmed. */
KTRACE_HIDDEN int ktrace_coresight_tmc_rest(const struct ktrace_coresight *all,
					    const struct ktrace_coresight_component *tmc);
/* Writes the registers that all types of controllers have, and starts capturing. */
KTRACE_HIDDEN void ktrace_coresight_tmc_run(const struct ktrace_coresight *all,
					    const struct ktrace_coresight_component *tmc);
/* Flushes the trace data that is still in other components into the controller. Capturing continues. */
KTRACE_HIDDEN int ktrace_coresight_tmc_flush(const struct ktrace_coresight *all,
					     const struct ktrace_coresight_component *tmc);
/*
 * Flushes the trace data that is still in other components into the controller, and stops capturing. After
 * that, pointers and status may be read until ktrace_coresight_tmc_off() is called.
 */
KTRACE_HIDDEN int ktrace_coresight_tmc_stop(const struct ktrace_coresight *all,
					    const struct ktrace_coresight_component *tmc);
KTRACE_HIDDEN int ktrace_coresight_tmc_off(const struct ktrace_coresight *all,
					   const struct ktrace_coresight_component *tmc);
/* Starts an ETF in circular mode, with its own memory as the end of the trace. */
KTRACE_HIDDEN int ktrace_coresight_etf_start(const struct ktrace_coresight *all,
					     const struct ktrace_coresight_component *etf);
/* Starts an ETF as a FIFO in the middle of a path. */
KTRACE_HIDDEN int ktrace_coresight_etf_pass(const struct ktrace_coresight *all,
					    const struct ktrace_coresight_component *etf);

/* Checks the buffer, and builds a scatter list if it needs one. */
KTRACE_HIDDEN int ktrace_coresight_etr_lend(const struct ktrace_coresight_found *found,
					    struct ktrace_hwt_unit *unit);
KTRACE_HIDDEN int ktrace_coresight_etr_start(const struct ktrace_coresight *all,
					     const struct ktrace_coresight_component *etr,
					     struct ktrace_hwt_unit *unit);
KTRACE_HIDDEN int ktrace_coresight_etr_read(const struct ktrace_coresight *all,
					    const struct ktrace_coresight_component *etr,
					    struct ktrace_hwt_unit *unit);
KTRACE_HIDDEN int ktrace_coresight_etr_stop(const struct ktrace_coresight *all,
					    const struct ktrace_coresight_component *etr,
					    struct ktrace_hwt_unit *unit);

/* Starts an ETR that writes to memory of its own (its store), from the beginning of that memory. */
KTRACE_HIDDEN int ktrace_coresight_etr_start_store(const struct ktrace_coresight *all,
						   const struct ktrace_coresight_component *etr);
/*
 * Finds the bytes that the ETR wrote to its store: *count bytes from offset *from on, the oldest first. The
 * bytes may continue at the beginning of the store. Requires: the ETR is stopped.
 */
KTRACE_HIDDEN int ktrace_coresight_etr_stored(const struct ktrace_coresight *all,
					      const struct ktrace_coresight_component *etr, uint64_t *from,
					      uint64_t *count);

/* Starts capturing into memory that several CPUs share: an ETF's own memory or an ETR's store. */
KTRACE_HIDDEN int ktrace_coresight_collect_start(struct ktrace_coresight *all,
						 const struct ktrace_coresight_component *end);
/*
 * Stops capturing into shared memory, and copies each unit's bytes to the buffer of the unit. Starts
 * capturing again if a unit still traces into this memory.
 */
KTRACE_HIDDEN int ktrace_coresight_collect(struct ktrace_coresight *all,
					   const struct ktrace_coresight_component *end);

/* Updates unit->wraps after a change of unit->position. */
KTRACE_INLINE void ktrace_coresight_wraps(struct ktrace_hwt_unit *unit)
{
	unit->wraps = unit->position / unit->buffer.size;
}

#endif
