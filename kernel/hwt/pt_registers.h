/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Registers of Intel PT, as the Software Developer's Manual, volume 3, chapter "Intel Processor Trace" has them. */
#ifndef KTRACE_HWT_PT_REGISTERS_H
#define KTRACE_HWT_PT_REGISTERS_H

#include <stdint.h>

/* ---- Model-specific registers ------------------------------------------------------------------ */

#define KTRACE_PT_MSR_TSC	    0x10u
#define KTRACE_PT_MSR_PLATFORM_INFO 0xceu  /* 15:8 nominal frequency */
#define KTRACE_PT_MSR_PERF_STATUS   0x38eu /* IA32_PERF_GLOBAL_STATUS */
#define KTRACE_PT_MSR_PERF_CLEAR \
	0x390u /* IA32_PERF_GLOBAL_STATUS_RESET; a bit that is written is cleared there */
#define KTRACE_PT_MSR_OUTPUT_BASE  0x560u
#define KTRACE_PT_MSR_OUTPUT_PLACE 0x561u /* IA32_RTIT_OUTPUT_MASK_PTRS */
#define KTRACE_PT_MSR_CTL	   0x570u
#define KTRACE_PT_MSR_STATUS	   0x571u
#define KTRACE_PT_MSR_CR3_MATCH	   0x572u
#define KTRACE_PT_MSR_ADDR_A(n)	   (0x580u + 2 * (n))
#define KTRACE_PT_MSR_ADDR_B(n)	   (0x581u + 2 * (n)) /* the last address of the range */

#define KTRACE_PT_PERF_TOPA (UINT64_C(1) << 55) /* a region with INT has been filled */

#define KTRACE_PT_CTL_TRACE	    (UINT64_C(1) << 0)
#define KTRACE_PT_CTL_CYC	    (UINT64_C(1) << 1)
#define KTRACE_PT_CTL_OS	    (UINT64_C(1) << 2)
#define KTRACE_PT_CTL_USER	    (UINT64_C(1) << 3)
#define KTRACE_PT_CTL_CR3_FILTER    (UINT64_C(1) << 7)
#define KTRACE_PT_CTL_TOPA	    (UINT64_C(1) << 8)
#define KTRACE_PT_CTL_MTC	    (UINT64_C(1) << 9)
#define KTRACE_PT_CTL_TSC	    (UINT64_C(1) << 10)
#define KTRACE_PT_CTL_NO_RET	    (UINT64_C(1) << 11) /* DisRETC */
#define KTRACE_PT_CTL_BRANCH	    (UINT64_C(1) << 13)
#define KTRACE_PT_CTL_MTC_SHIFT	    14u
#define KTRACE_PT_CTL_CYC_SHIFT	    19u
#define KTRACE_PT_CTL_PSB_SHIFT	    24u
#define KTRACE_PT_CTL_RANGE(n)	    (UINT64_C(0xf) << (32 + 4 * (n)))
#define KTRACE_PT_CTL_RANGE_ONLY(n) (UINT64_C(1) << (32 + 4 * (n))) /* ADDRn_CFG: trace within */

#define KTRACE_PT_STATUS_ERROR	 (UINT64_C(1) << 4)
#define KTRACE_PT_STATUS_STOPPED (UINT64_C(1) << 5)
#define KTRACE_PT_STATUS_PACKETS (UINT64_C(0x1ffff) << 32) /* bytes since the last PSB */

/* IA32_RTIT_OUTPUT_MASK_PTRS with a table: 31:7 its entry, 63:32 the byte in that entry's region. */
#define KTRACE_PT_PLACE_ENTRY_SHIFT  7u
#define KTRACE_PT_PLACE_ENTRY_MASK   UINT64_C(0x1ffffff)
#define KTRACE_PT_PLACE_OFFSET_SHIFT 32u
#define KTRACE_PT_PLACE_ONES	     UINT64_C(0x7f)

#define KTRACE_PT_CR3_RESERVED UINT64_C(0x1f)

/* ---- Table of physical addresses (ToPA) -------------------------------------------------------- */

#define KTRACE_PT_TOPA_END	  (UINT64_C(1) << 0) /* the address is that of the next table */
#define KTRACE_PT_TOPA_INT	  (UINT64_C(1) << 2)
#define KTRACE_PT_TOPA_STOP	  (UINT64_C(1) << 4)
#define KTRACE_PT_TOPA_SIZE_SHIFT 6u /* log2 of the region's pages */
#define KTRACE_PT_TOPA_SIZE_MASK  UINT64_C(0xf)
#define KTRACE_PT_TOPA_PAGE	  UINT64_C(4096)
#define KTRACE_PT_TOPA_REGION_MAX (UINT64_C(128) << 20)
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
#define KTRACE_PT_CPUID_ECX_ENTRIES (1u << 1) /* a table has more than one entry */

#endif
