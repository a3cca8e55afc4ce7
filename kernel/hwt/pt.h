/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What the files of Intel PT share: what is kept with the backend and with each unit, in their `state`.
 * pt.c drives the registers, pt_config.c turns a configuration into their values, pt_table.c lays the buffer out.
 */
#ifndef KTRACE_HWT_PT_INTERNAL_H
#define KTRACE_HWT_PT_INTERNAL_H

#include "ktrace/hwt_pt.h"

#include "pt_registers.h"

/* What the CPUs can do, all of it from CPUID. */
struct ktrace_hwt_pt {
	uint64_t cr3_filter;
	uint64_t psb_and_cycles; /* PSBFreq, CYC packets and STATUS.PacketByteCnt are there */
	uint64_t mtc;
	uint64_t many_entries; /* tables have more than one region */
	uint64_t interrupts;   /* IA32_PERF_GLOBAL_STATUS is there */
	uint64_t mtc_periods;  /* bit n: 2^n ticks of the crystal */
	uint64_t cycle_thresholds;
	uint64_t psb_periods; /* bit n: 2048 * 2^n bytes */
	uint64_t physical_bits;
	uint64_t linear_bits;
	/* For decoders. */
	uint64_t signature; /* CPUID 1, EAX */
	uint64_t crystal_eax, crystal_ebx;
	uint64_t nominal;   /* MSR_PLATFORM_INFO[15:8]; 0: unknown */
	uint64_t frequency; /* ticks of the TSC a second; 0: unknown */
};

/* An entry of the table, and where in the buffer its region begins. */
struct ktrace_hwt_pt_cursor {
	uint64_t entry;
	uint64_t start;
};

/*
 * All zero while nothing has been configured. Where the unit writes is unit->position modulo the buffer's size, and the
 * cursor is at the region which that is in. `limit` is a position: what is behind it would overwrite what nobody has taken.
 */
struct ktrace_hwt_pt_unit {
	uint64_t control; /* IA32_RTIT_CTL, tracing */
	uint64_t cr3;
	uint64_t first[KTRACE_HWT_RANGES_MAX], last[KTRACE_HWT_RANGES_MAX];
	uint64_t ranges;
	uint64_t packets; /* STATUS.PacketByteCnt, from disable to enable */
	uint64_t running;
	uint64_t every; /* bytes between two interrupts; 0: there are none */
	uint64_t stops; /* KTRACE_HWT_STOP */
	uint64_t limit;
	uint64_t entries; /* of the table, but for the last, which leads back */
	struct ktrace_hwt_pt_cursor at;
	struct ktrace_hwt_pt_cursor served;
	struct ktrace_hwt_pt_cursor stop; /* the entry with STOP */
};

_Static_assert(sizeof(struct ktrace_hwt_pt) <= sizeof(((struct ktrace_hwt_backend *)0)->state),
	       "fits into a backend's state");
_Static_assert(sizeof(struct ktrace_hwt_pt_unit) <= sizeof(((struct ktrace_hwt_unit *)0)->state),
	       "fits into a unit's state");

KTRACE_INLINE struct ktrace_hwt_pt *ktrace_hwt_pt(struct ktrace_hwt_backend *backend)
{
	return (struct ktrace_hwt_pt *)backend->state;
}

KTRACE_INLINE struct ktrace_hwt_pt_unit *ktrace_hwt_pt_unit(struct ktrace_hwt_unit *unit)
{
	return (struct ktrace_hwt_pt_unit *)unit->state;
}

/* ---- pt_config.c ------------------------------------------------------------------------------- */

/* Fills in the unit's register values, `every` and `stops`. ARGUMENT: the hardware, or this backend, cannot do that. */
KTRACE_HIDDEN int ktrace_hwt_pt_config(const struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit,
				       const struct ktrace_hwt_config *config);

/* MTCFreq for that configuration. */
KTRACE_HIDDEN uint8_t ktrace_hwt_pt_mtc_frequency(const struct ktrace_hwt_pt *pt,
						  const struct ktrace_hwt_config *config);

/* ---- pt_table.c -------------------------------------------------------------------------------- */

/*
 * Lays the buffer out in regions, none across a multiple of `every`, and finds the unit's place in it. ARGUMENT: the buffer
 * is not what ktrace/hwt_backend.h says, beyond physical memory, or in pieces and the CPU takes only one; MEMORY: the
 * table is too small.
 */
KTRACE_HIDDEN int ktrace_hwt_pt_layout(const struct ktrace_hwt_pt *pt, struct ktrace_hwt_unit *unit);

/* Moves the cursor on to that entry, past the table's end if need be. DEVICE: there is none of that number. */
KTRACE_HIDDEN int ktrace_hwt_pt_advance(struct ktrace_hwt_unit *unit, struct ktrace_hwt_pt_cursor *cursor,
					uint64_t entry);

/* Bytes of the region the cursor is at. */
KTRACE_HIDDEN uint64_t ktrace_hwt_pt_region(const struct ktrace_hwt_unit *unit,
					    const struct ktrace_hwt_pt_cursor *cursor);

/* Moves the cursor on to the region in which that position is; returns the byte of the region. */
KTRACE_HIDDEN uint64_t ktrace_hwt_pt_find(struct ktrace_hwt_unit *unit, struct ktrace_hwt_pt_cursor *cursor,
					  uint64_t position);

/* Lets the hardware write up to what has been served and one buffer more, in whole regions. Not running. */
KTRACE_HIDDEN void ktrace_hwt_pt_place_stop(struct ktrace_hwt_unit *unit);

#endif
