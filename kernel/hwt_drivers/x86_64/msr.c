/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Model-specific registers of the running CPU, and CPUID. */
#include "ktrace/hwt_pt.h"

static uint64_t msr_read(uint32_t msr)
{
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr) : "memory");
	return (uint64_t)high << 32 | low;
}

static void msr_write(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

static void msr_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
	__asm__ volatile("cpuid"
			 : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3])
			 : "a"(leaf), "c"(subleaf));
}

/*
 * The trace unit writes packets without using the cache, so a barrier for cached loads and stores is not
 * sufficient.
 */
static void msr_barrier(void)
{
	__asm__ volatile("mfence" : : : "memory");
}

const struct ktrace_hwt_access_msr ktrace_hwt_msr = {
	.read = msr_read,
	.write = msr_write,
	.cpuid = msr_cpuid,
	.barrier = msr_barrier,
};
