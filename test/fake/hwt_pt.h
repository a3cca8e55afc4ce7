/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Intel PT as its registers show it: a CPU whose trace unit follows tables of regions in memory, and checks each access
 * against the rules of the Software Developer's Manual, volume 3, chapter "Intel Processor Trace". What it writes is not
 * trace but a pattern by which each byte's position is known. Accesses and broken rules are in test/fake/hwt_log.h.
 *
 * Stricter than the manual: what it calls undefined, or no good idea, is a broken rule, too. Among that: to enable without a
 * fence since the last disable, to look at the place or the status before one, to write CTL as it is while TraceEn is 1.
 */
#ifndef TEST_FAKE_HWT_PT_H
#define TEST_FAKE_HWT_PT_H

#include <stddef.h>
#include <stdint.h>

#include "ktrace/hwt_pt.h"

/* What the CPU has. Set between fake_pt_reset() and the backend's init. */
struct fake_pt_features {
	uint32_t leaves; /* highest basic leaf of CPUID */
	uint32_t leaf_7_ebx;
	uint32_t perf_version;
	uint32_t leaf_14_eax, leaf_14_ebx, leaf_14_ecx;
	uint32_t options_eax, options_ebx; /* leaf 0x14, subleaf 1 */
	uint32_t crystal_hz;
	uint32_t base_mhz;
	uint32_t virtual; /* a hypervisor says that it is there */
	uint32_t physical_bits, linear_bits;
	/* What the manual leaves open. */
	uint32_t lazy;	       /* at a table's end it stays at the entry that leads on until there is more */
	uint32_t stops_behind; /* a region with STOP, not at its end */
	/* with one region alone: it interrupts so many bytes before it is full, once a lap; 0: when it is full */
	uint32_t early;
};
extern struct fake_pt_features fake_pt_features;

/* Where the CPU is, for the filters. */
struct fake_pt_place {
	uint32_t user; /* else the kernel's level */
	uint64_t cr3;
	uint64_t ip;
};
extern struct fake_pt_place fake_pt_place;

extern const struct ktrace_hwt_access_msr fake_pt_access;

/* A CPU as it is after reset, with all that PT has, no memory, in user code. */
void fake_pt_reset(void);

/* Physical memory, lent by the test, anew if it is known by that address. At most 256 of them. */
void fake_pt_memory(uint64_t physical, void *host, uint64_t size);

/* The CPU runs something worth so many bytes of trace; returns how many were written. */
uint64_t fake_pt_run(uint64_t bytes);

/* What is written at a position of the output that has its table there. */
uint8_t fake_pt_byte(uint64_t table, uint64_t position);

/* Has the interrupt been raised since this was asked last? */
int fake_pt_interrupted(void);

/* PSB packets since reset. */
unsigned fake_pt_psbs(void);

/* Somebody else's hands: no rule applies, nothing is logged. */
void fake_pt_poke(uint32_t msr, uint64_t value);
uint64_t fake_pt_peek(uint32_t msr);

#endif
