/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* System registers of the Statistical Profiling Extension (Arm Architecture Reference Manual). */
#ifndef KTRACE_HWT_SPE_INTERNAL_H
#define KTRACE_HWT_SPE_INTERNAL_H

#include "ktrace/hwt_backend.h"
#include "ktrace/hwt_spe.h"

/* selects what is sampled; at EL2 with E2H, this encoding accesses PMSCR_EL2 */
#define KTRACE_SPE_PMSCR  KTRACE_HWT_SYSREG(3, 0, 9, 9, 0)
#define KTRACE_SPE_PMSICR KTRACE_HWT_SYSREG(3, 0, 9, 9, 2) /* current value of the interval's counter */
/* value from which the interval's counter is reloaded */
#define KTRACE_SPE_PMSIRR   KTRACE_HWT_SYSREG(3, 0, 9, 9, 3)
#define KTRACE_SPE_PMSFCR   KTRACE_HWT_SYSREG(3, 0, 9, 9, 4) /* enables filters of samples */
#define KTRACE_SPE_PMSEVFR  KTRACE_HWT_SYSREG(3, 0, 9, 9, 5) /* selects the events to filter by */
#define KTRACE_SPE_PMSLATFR KTRACE_HWT_SYSREG(3, 0, 9, 9, 6) /* minimum latency to filter by */
#define KTRACE_SPE_PMSIDR   KTRACE_HWT_SYSREG(3, 0, 9, 9, 7) /* features of SPE on this CPU */
/* address of the end of the buffer, and the enable bit of the buffer */
#define KTRACE_SPE_PMBLIMITR KTRACE_HWT_SYSREG(3, 0, 9, 10, 0)
#define KTRACE_SPE_PMBPTR    KTRACE_HWT_SYSREG(3, 0, 9, 10, 1) /* address of the next record */
#define KTRACE_SPE_PMBSR     KTRACE_HWT_SYSREG(3, 0, 9, 10, 3) /* reason why sampling has stopped */
#define KTRACE_SPE_PMBIDR    KTRACE_HWT_SYSREG(3, 0, 9, 10, 7)
#define KTRACE_SPE_DFR0	     KTRACE_HWT_SYSREG(3, 0, 0, 5, 0) /* ID_AA64DFR0_EL1 */
#define KTRACE_SPE_CNTFRQ    KTRACE_HWT_SYSREG(3, 3, 14, 0, 0)
#define KTRACE_SPE_CNTVCT    KTRACE_HWT_SYSREG(3, 3, 14, 0, 2)

#define KTRACE_SPE_DFR0_VERSION(dfr0) ((dfr0) >> 32 & 0xf)

#define KTRACE_SPE_PMSCR_USER	 (KTRX_U64(1) << 0)
#define KTRACE_SPE_PMSCR_KERNEL	 (KTRX_U64(1) << 1)
#define KTRACE_SPE_PMSCR_CONTEXT (KTRX_U64(1) << 3) /* records contain CONTEXTIDR */
/* records contain a timestamp; bits 7:6 are 0, which selects the virtual counter */
#define KTRACE_SPE_PMSCR_TIME (KTRX_U64(1) << 5)

#define KTRACE_SPE_PMSIRR_RANDOM      (KTRX_U64(1) << 0)
#define KTRACE_SPE_PMSIRR_UNIT	      256u
#define KTRACE_SPE_PMSIRR_UNITS_SHIFT 8u
#define KTRACE_SPE_PMSIRR_UNITS_MOST  KTRX_U64(0xffffff)

#define KTRACE_SPE_PMSFCR_EVENT	   (KTRX_U64(1) << 0)
#define KTRACE_SPE_PMSFCR_TYPE	   (KTRX_U64(1) << 1)
#define KTRACE_SPE_PMSFCR_LATENCY  (KTRX_U64(1) << 2)
#define KTRACE_SPE_PMSFCR_BRANCHES (KTRX_U64(1) << 16)
#define KTRACE_SPE_PMSFCR_LOADS	   (KTRX_U64(1) << 17)
#define KTRACE_SPE_PMSFCR_STORES   (KTRX_U64(1) << 18)

#define KTRACE_SPE_PMSIDR_EVENT	       (KTRX_U64(1) << 0)
#define KTRACE_SPE_PMSIDR_TYPE	       (KTRX_U64(1) << 1)
#define KTRACE_SPE_PMSIDR_LATENCY      (KTRX_U64(1) << 2)
#define KTRACE_SPE_PMSIDR_INTERVAL(id) ((id) >> 8 & 0xf)
/* size in bytes of the longest record */
#define KTRACE_SPE_PMSIDR_MAX_SIZE(id)	 (KTRX_U64(1) << ((id) >> 12 & 0xf))
#define KTRACE_SPE_PMSIDR_COUNT_SIZE(id) ((id) >> 16 & 0xf)
/* value of COUNT_SIZE if latencies have 16 bits; the value 2 means 12 bits */
#define KTRACE_SPE_PMSIDR_COUNT_16 3u

#define KTRACE_SPE_PMBIDR_ALIGN(id) (KTRX_U64(1) << ((id)&0xf))
#define KTRACE_SPE_PMBIDR_TAKEN	    (KTRX_U64(1) << 4) /* a higher exception level owns the buffer */

/* bits 2:1 stay 0: the hardware stops when the buffer is full */
#define KTRACE_SPE_PMBLIMITR_ENABLE (KTRX_U64(1) << 0)

/* a sample was due while the hardware took another sample */
#define KTRACE_SPE_PMBSR_COLLISION  (KTRX_U64(1) << 16)
#define KTRACE_SPE_PMBSR_SERVICE    (KTRX_U64(1) << 17) /* sampling has stopped and raised an interrupt */
#define KTRACE_SPE_PMBSR_LOSS	    (KTRX_U64(1) << 19) /* the last record is incomplete */
#define KTRACE_SPE_PMBSR_CLASS(bsr) ((bsr) >> 26 & 0x3f)
#define KTRACE_SPE_PMBSR_CODE(bsr)  ((bsr)&0x3f)
#define KTRACE_SPE_PMBSR_CODE_FULL  1u /* code of class 0: the buffer is full */

/*
 * The data that the source files of SPE (spe.c, spe_config.c) store in the `state` of the backend and of each
 * unit. spe.c accesses the registers; spe_config.c computes register values from a configuration.
 */

#define KTRACE_SPE_PAGE KTRX_U64(4096)

struct ktrace_hwt_spe {
	uint64_t version; /* ID_AA64DFR0_EL1.PMSVer */
	uint64_t id;	  /* PMSIDR_EL1 */
	uint64_t record;  /* size in bytes of the longest record; the hardware stops if less room is left */
	uint64_t align;	  /* alignment of records, in bytes */
};

/* The data of a unit. All zero until the unit is configured. */
struct ktrace_hwt_spe_unit {
	uint64_t control; /* PMSCR_EL1 while sampling */
	uint64_t interval;
	uint64_t filters;
	uint64_t events;
	uint64_t latency;
	uint64_t counter; /* PMSICR_EL1: disable saves it, and the next enable restores it */
	uint64_t portion; /* size of a portion in bytes; the last portion may be smaller */
	uint64_t stops;	  /* KTRACE_HWT_STOP */
	uint64_t running;
};

_Static_assert(sizeof(struct ktrace_hwt_spe) <= sizeof(((struct ktrace_hwt_backend *)0)->state),
	       "does not fit into a backend's state");
_Static_assert(sizeof(struct ktrace_hwt_spe_unit) <= sizeof(((struct ktrace_hwt_unit *)0)->state),
	       "does not fit into a unit's state");

KTRACE_INLINE struct ktrace_hwt_spe *ktrace_hwt_spe(struct ktrace_hwt_backend *backend)
{
	return (struct ktrace_hwt_spe *)backend->state;
}

KTRACE_INLINE struct ktrace_hwt_spe_unit *ktrace_hwt_spe_unit(struct ktrace_hwt_unit *unit)
{
	return (struct ktrace_hwt_spe_unit *)unit->state;
}

/*
 * Computes register values from a configuration. Returns ARGUMENT if the hardware or this backend does not
 * support it.
 */
KTRACE_HIDDEN int ktrace_hwt_spe_config(const struct ktrace_hwt_backend *backend,
					struct ktrace_hwt_unit *unit, const struct ktrace_hwt_config *config);

/*
 * Returns how many of the `size` bytes belong to whole records. Requires: `bytes` is the beginning of a
 * record.
 */
KTRACE_HIDDEN uint64_t ktrace_hwt_spe_whole(const struct ktrace_hwt_spe *spe, const uint8_t *bytes,
					    uint64_t size);

#endif
