/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What the files of SPE share: what is kept with the backend and with each unit, in their `state`. spe.c drives the
 * registers, spe_config.c turns a configuration into their values, spe_record.c finds the ends of records.
 */
#ifndef KTRACE_HWT_SPE_INTERNAL_H
#define KTRACE_HWT_SPE_INTERNAL_H

#include "ktrace/hwt_spe.h"

#include "spe_registers.h"

#define KTRACE_SPE_PAGE UINT64_C(4096)

struct ktrace_hwt_spe {
	uint64_t version; /* ID_AA64DFR0_EL1.PMSVer */
	uint64_t id;	  /* PMSIDR_EL1 */
	uint64_t record;  /* bytes of the longest record: with less room than that the hardware stops */
	uint64_t align;	  /* of records, in bytes */
};

/* All zero while nothing has been configured. */
struct ktrace_hwt_spe_unit {
	uint64_t control; /* PMSCR_EL1, sampling */
	uint64_t interval;
	uint64_t filters;
	uint64_t events;
	uint64_t latency;
	uint64_t counter; /* PMSICR_EL1, from disable to enable */
	uint64_t portion; /* bytes; the last one may be shorter */
	uint64_t stops;	  /* KTRACE_HWT_STOP */
	uint64_t running;
};

_Static_assert(sizeof(struct ktrace_hwt_spe) <= sizeof(((struct ktrace_hwt_backend *)0)->state),
	       "fits into a backend's state");
_Static_assert(sizeof(struct ktrace_hwt_spe_unit) <= sizeof(((struct ktrace_hwt_unit *)0)->state),
	       "fits into a unit's state");

KTRACE_INLINE struct ktrace_hwt_spe *ktrace_hwt_spe(struct ktrace_hwt_backend *backend)
{
	return (struct ktrace_hwt_spe *)backend->state;
}

KTRACE_INLINE struct ktrace_hwt_spe_unit *ktrace_hwt_spe_unit(struct ktrace_hwt_unit *unit)
{
	return (struct ktrace_hwt_spe_unit *)unit->state;
}

/* Fills in what is asked of the unit. ARGUMENT: the hardware, or this backend, cannot do that. */
KTRACE_HIDDEN int ktrace_hwt_spe_config(const struct ktrace_hwt_backend *backend,
					struct ktrace_hwt_unit *unit, const struct ktrace_hwt_config *config);

/* Bytes that whole records take, of so many from the start of one on. */
KTRACE_HIDDEN uint64_t ktrace_hwt_spe_whole(const struct ktrace_hwt_spe *spe, const uint8_t *bytes,
					    uint64_t size);

#endif
