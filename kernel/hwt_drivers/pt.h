/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Registers of Intel PT (Intel Software Developer's Manual, volume 3, chapter "Intel Processor Trace"). */
#ifndef KTRACE_HWT_PT_INTERNAL_H
#define KTRACE_HWT_PT_INTERNAL_H

#include <stdint.h>

#include "ktrace/hwt_pt.h"

/* ---- Model-specific registers ------------------------------------------------------------------ */

#define KTRACE_PT_MSR_TSC	    0x10u
#define KTRACE_PT_MSR_PLATFORM_INFO 0xceu  /* bits 15:8 are the nominal frequency */
#define KTRACE_PT_MSR_PERF_STATUS   0x38eu /* IA32_PERF_GLOBAL_STATUS */
/* IA32_PERF_GLOBAL_STATUS_RESET; writing a bit as 1 clears that bit of the status */
#define KTRACE_PT_MSR_PERF_CLEAR   0x390u
#define KTRACE_PT_MSR_OUTPUT_BASE  0x560u
#define KTRACE_PT_MSR_OUTPUT_PLACE 0x561u /* IA32_RTIT_OUTPUT_MASK_PTRS */
#define KTRACE_PT_MSR_CTL	   0x570u
#define KTRACE_PT_MSR_STATUS	   0x571u
#define KTRACE_PT_MSR_CR3_MATCH	   0x572u
#define KTRACE_PT_MSR_ADDR_A(n)	   (0x580u + 2 * (n))
#define KTRACE_PT_MSR_ADDR_B(n)	   (0x581u + 2 * (n)) /* the last address of the range, inclusive */

#define KTRACE_PT_PERF_TOPA (KTRX_U64(1) << 55) /* a region whose entry has INT is full */

#define KTRACE_PT_CTL_TRACE	    (KTRX_U64(1) << 0)
#define KTRACE_PT_CTL_CYC	    (KTRX_U64(1) << 1)
#define KTRACE_PT_CTL_OS	    (KTRX_U64(1) << 2)
#define KTRACE_PT_CTL_USER	    (KTRX_U64(1) << 3)
#define KTRACE_PT_CTL_CR3_FILTER    (KTRX_U64(1) << 7)
#define KTRACE_PT_CTL_TOPA	    (KTRX_U64(1) << 8)
#define KTRACE_PT_CTL_MTC	    (KTRX_U64(1) << 9)
#define KTRACE_PT_CTL_TSC	    (KTRX_U64(1) << 10)
#define KTRACE_PT_CTL_NO_RET	    (KTRX_U64(1) << 11) /* DisRETC */
#define KTRACE_PT_CTL_BRANCH	    (KTRX_U64(1) << 13)
#define KTRACE_PT_CTL_MTC_SHIFT	    14u
#define KTRACE_PT_CTL_CYC_SHIFT	    19u
#define KTRACE_PT_CTL_PSB_SHIFT	    24u
#define KTRACE_PT_CTL_RANGE(n)	    (KTRX_U64(0xf) << (32 + 4 * (n)))
#define KTRACE_PT_CTL_RANGE_ONLY(n) (KTRX_U64(1) << (32 + 4 * (n))) /* ADDRn_CFG: trace in range */

#define KTRACE_PT_STATUS_ERROR	 (KTRX_U64(1) << 4)
#define KTRACE_PT_STATUS_STOPPED (KTRX_U64(1) << 5)
#define KTRACE_PT_STATUS_PACKETS (KTRX_U64(0x1ffff) << 32) /* number of bytes since the last PSB */

/*
 * IA32_RTIT_OUTPUT_MASK_PTRS when a table is used: bits 31:7 are the index of the table entry, bits 63:32 the
 * offset in the region of that entry.
 */
#define KTRACE_PT_PLACE_ENTRY_SHIFT  7u
#define KTRACE_PT_PLACE_ENTRY_MASK   KTRX_U64(0x1ffffff)
#define KTRACE_PT_PLACE_OFFSET_SHIFT 32u
#define KTRACE_PT_PLACE_ONES	     KTRX_U64(0x7f)

#define KTRACE_PT_CR3_RESERVED KTRX_U64(0x1f)

/* ---- Table of physical addresses (ToPA) -------------------------------------------------------- */

#define KTRACE_PT_TOPA_END	  (KTRX_U64(1) << 0) /* the entry contains the address of the next table */
#define KTRACE_PT_TOPA_INT	  (KTRX_U64(1) << 2)
#define KTRACE_PT_TOPA_STOP	  (KTRX_U64(1) << 4)
#define KTRACE_PT_TOPA_SIZE_SHIFT 6u /* log2 of the number of pages in the region */
#define KTRACE_PT_TOPA_SIZE_MASK  KTRX_U64(0xf)
#define KTRACE_PT_TOPA_PAGE	  KTRX_U64(4096)
#define KTRACE_PT_TOPA_REGION_MAX (KTRX_U64(128) << 20)
/*
 * Maximum number of bytes that are still free when a table with a single region causes its interrupt. Linux
 * uses the same value.
 */
#define KTRACE_PT_TOPA_EARLY KTRX_U64(512)
#define KTRACE_PT_TOPA_REGION_SIZE(entry) \
	(KTRACE_PT_TOPA_PAGE << ((entry) >> KTRACE_PT_TOPA_SIZE_SHIFT & KTRACE_PT_TOPA_SIZE_MASK))

/* ---- CPUID ------------------------------------------------------------------------------------- */

enum pt_cpuid_word { PT_EAX, PT_EBX, PT_ECX, PT_EDX };

#define KTRACE_PT_CPUID_FEATURES      7u
#define KTRACE_PT_CPUID_7_EBX_PT      (1u << 25)
#define KTRACE_PT_CPUID_PERF	      0xau
#define KTRACE_PT_CPUID_PT	      0x14u
#define KTRACE_PT_CPUID_CRYSTAL	      0x15u
#define KTRACE_PT_CPUID_BASE_MHZ      0x16u
#define KTRACE_PT_CPUID_EXTENDED      0x80000000u
#define KTRACE_PT_CPUID_ADDRESSES     0x80000008u
#define KTRACE_PT_CPUID_1_ECX_VIRTUAL (1u << 31)

#define KTRACE_PT_CPUID_EBX_CR3	    (1u << 0)
#define KTRACE_PT_CPUID_EBX_PSB_CYC (1u << 1)
#define KTRACE_PT_CPUID_EBX_RANGES  (1u << 2)
#define KTRACE_PT_CPUID_EBX_MTC	    (1u << 3)
#define KTRACE_PT_CPUID_ECX_TOPA    (1u << 0)
#define KTRACE_PT_CPUID_ECX_ENTRIES (1u << 1) /* a table may have more than one entry */

/*
 * The data that the source files of Intel PT (pt.c, pt_config.c) store in the `state` of the backend and of
 * each unit. pt.c accesses the registers. pt_config.c computes register values from a configuration, and
 * divides the buffer into regions.
 */

/* Features of the CPUs. All but `nominal` are from CPUID. */
struct ktrace_hwt_pt {
	uint64_t cr3_filter;
	uint64_t psb_and_cycles; /* nonzero: PSBFreq, CYC packets and STATUS.PacketByteCnt exist */
	uint64_t mtc;
	uint64_t many_entries; /* nonzero: a table may have more than one region */
	uint64_t interrupts;   /* IA32_PERF_GLOBAL_STATUS exists */
	uint64_t leaf[2];      /* CPUID leaf 0x14: EBX and ECX; subleaf 1: EAX and EBX */
	uint64_t mtc_periods;  /* bit n: a period of 2^n crystal ticks is possible */
	uint64_t cycle_thresholds;
	uint64_t psb_periods; /* bit n: a period of 2048 * 2^n bytes is possible */
	uint64_t physical_bits;
	uint64_t linear_bits;
	/* All members from here on contain values for decoders. */
	uint64_t signature; /* register EAX of CPUID leaf 1 */
	uint64_t crystal_eax, crystal_ebx;
	uint64_t nominal;   /* MSR_PLATFORM_INFO[15:8]; 0: unknown */
	uint64_t frequency; /* TSC ticks per second; 0: unknown */
};

/* A table entry, and the offset of its region in the buffer. */
struct ktrace_hwt_pt_cursor {
	uint64_t entry;
	uint64_t start;
};

/*
 * The data of a unit. All zero until the unit is configured. The hardware writes at unit->position modulo the
 * buffer's size; the cursor `at` refers to the region that contains that byte. `limit` is the position from
 * which on the hardware would overwrite bytes that the reader has not taken yet.
 */
struct ktrace_hwt_pt_unit {
	uint64_t control; /* IA32_RTIT_CTL while tracing */
	uint64_t cr3;
	uint64_t first[KTRACE_HWT_RANGES_MAX], last[KTRACE_HWT_RANGES_MAX];
	uint64_t ranges;
	uint64_t packets; /* STATUS.PacketByteCnt: disable saves it, and the next enable restores it */
	uint64_t running;
	uint64_t every; /* number of bytes between two interrupts; 0: no interrupts */
	uint64_t stops; /* KTRACE_HWT_STOP */
	/* nonzero: the table has a single region, which causes an interrupt before it is full */
	uint64_t alone;
	uint64_t limit;
	/* number of entries of the table, not counting the last entry, which leads back to the first entry */
	uint64_t entries;
	struct ktrace_hwt_pt_cursor at;
	struct ktrace_hwt_pt_cursor served;
	struct ktrace_hwt_pt_cursor stop; /* cursor to the entry with STOP */
};

_Static_assert(sizeof(struct ktrace_hwt_pt) <= sizeof(((struct ktrace_hwt_backend *)0)->state),
	       "does not fit into a backend's state");
_Static_assert(sizeof(struct ktrace_hwt_pt_unit) <= sizeof(((struct ktrace_hwt_unit *)0)->state),
	       "does not fit into a unit's state");

KTRACE_INLINE struct ktrace_hwt_pt *ktrace_hwt_pt(struct ktrace_hwt_backend *backend)
{
	return (struct ktrace_hwt_pt *)backend->state;
}

KTRACE_INLINE struct ktrace_hwt_pt_unit *ktrace_hwt_pt_unit(struct ktrace_hwt_unit *unit)
{
	return (struct ktrace_hwt_pt_unit *)unit->state;
}

/* ---- pt_config.c ------------------------------------------------------------------------------- */

/*
 * Computes the unit's register values, `every` and `stops` from a configuration.
 * Returns ARGUMENT if the hardware or this backend does not support it.
 */
KTRACE_HIDDEN int ktrace_hwt_pt_config(const struct ktrace_hwt_backend *backend, struct ktrace_hwt_unit *unit,
				       const struct ktrace_hwt_config *config);

/* Returns MTCFreq for that configuration. */
KTRACE_HIDDEN uint8_t ktrace_hwt_pt_mtc_frequency(const struct ktrace_hwt_pt *pt,
						  const struct ktrace_hwt_config *config);

/*
 * Divides the buffer into regions, so that none crosses a multiple of `every`, and finds the region of the
 * unit's position.
 * Returns ARGUMENT if the buffer is not as ktrace/hwt_backend.h requires, if its addresses are too large for
 * the CPU, or if it needs several regions and the CPU supports only one. Returns MEMORY if the table is too
 * small.
 */
KTRACE_HIDDEN int ktrace_hwt_pt_layout(const struct ktrace_hwt_pt *pt, struct ktrace_hwt_unit *unit);

/*
 * Moves the cursor forward to the table entry with the number `entry`. After the last entry it continues with
 * the first entry. Returns DEVICE if there is no such entry.
 */
KTRACE_HIDDEN int ktrace_hwt_pt_advance(struct ktrace_hwt_unit *unit, struct ktrace_hwt_pt_cursor *cursor,
					uint64_t entry);

/* Returns the size in bytes of the cursor's region. */
KTRACE_HIDDEN uint64_t ktrace_hwt_pt_region(const struct ktrace_hwt_unit *unit,
					    const struct ktrace_hwt_pt_cursor *cursor);

/*
 * Moves the cursor forward to the region that contains the position. Returns the offset of the position in
 * that region.
 */
KTRACE_HIDDEN uint64_t ktrace_hwt_pt_find(struct ktrace_hwt_unit *unit, struct ktrace_hwt_pt_cursor *cursor,
					  uint64_t position);

/*
 * Sets STOP in the entry at which the hardware must stop: it may write whole regions, up to one buffer size
 * after the position that the reader has reached.
 * Requires: the unit is not running.
 */
KTRACE_HIDDEN void ktrace_hwt_pt_place_stop(struct ktrace_hwt_unit *unit);

#endif
