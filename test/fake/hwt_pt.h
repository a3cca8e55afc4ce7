/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A model of Intel PT. Its trace unit follows tables of regions in memory, and checks each access against the
 * rules of the Software Developer's Manual, volume 3, chapter "Intel Processor Trace". Instead of trace, it
 * writes a pattern that identifies each byte's position. Accesses and broken rules are reported by
 * test/fake/hwt_log.h.
 *
 * The model is stricter than the manual: what the manual calls undefined or not recommended is a broken rule,
 * too. For example, software must execute a fence after it disables tracing and before it enables tracing
 * again or reads the output position or the status. Software must not write IA32_RTIT_CTL unchanged while
 * TraceEn is 1.
 */
#ifndef TEST_FAKE_HWT_PT_H
#define TEST_FAKE_HWT_PT_H

#include <stddef.h>
#include <stdint.h>

#include "ktrace/hwt_pt.h"

/* Features of the CPU. Set them between fake_pt_reset() and the backend's init. */
struct fake_pt_features {
	uint32_t leaves; /* highest basic leaf of CPUID */
	uint32_t leaf_7_ebx;
	uint32_t perf_version;
	uint32_t leaf_14_eax, leaf_14_ebx, leaf_14_ecx;
	uint32_t options_eax, options_ebx; /* EAX and EBX of CPUID leaf 0x14, subleaf 1 */
	uint32_t crystal_hz;
	uint32_t base_mhz;
	uint32_t virtual; /* nonzero: CPUID reports that a hypervisor runs */
	uint32_t physical_bits, linear_bits;
	/* The manual does not define the behaviour that the following fields select. */
	/*
	 * nonzero: at the end of a table, the output position stays at the END entry until another byte is
	 * written
	 */
	uint32_t lazy;
	/* nonzero: after a region with STOP has been filled, the output position is in the next entry */
	uint32_t stops_behind;
	/*
	 * The interrupt of a region with INT occurs this many bytes before the end of the region, once per
	 * lap. If not 0, the table must have only one region.
	 */
	uint32_t early;
};
extern struct fake_pt_features fake_pt_features;

/* Properties of the code that the CPU runs, which the unit's filters check. */
struct fake_pt_place {
	uint32_t user; /* nonzero: user level; 0: kernel level */
	uint64_t cr3;
	uint64_t ip;
};
extern struct fake_pt_place fake_pt_place;

extern const struct ktrace_hwt_access_msr fake_pt_access;

/* Resets the CPU. It then has all features of Intel PT and no memory, and runs user code. */
void fake_pt_reset(void);

/*
 * Gives physical memory to the model, or replaces the memory at the same address. The model accepts at most
 * 256 ranges of memory.
 */
void fake_pt_memory(uint64_t physical, void *host, uint64_t size);

/* Runs code until the CPU has made `bytes` bytes of trace. Returns how many bytes were written. */
uint64_t fake_pt_run(uint64_t bytes);

/* Returns the byte that the unit has written at this position of the output that `table` describes. */
uint8_t fake_pt_byte(uint64_t table, uint64_t position);

/* Returns true if an interrupt was raised since the last call. */
int fake_pt_interrupted(void);

/* Returns the number of PSB packets since reset. */
unsigned fake_pt_psbs(void);

/* Write and read a register as other software does. These accesses are neither checked nor logged. */
void fake_pt_poke(uint32_t msr, uint64_t value);
uint64_t fake_pt_peek(uint32_t msr);

#endif
