/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Several workloads at the same time. */
#include "work.h"

static void (*const parts[])(uint64_t until_ns) = {
	work_pingpong, work_spin, work_fault, work_ipi, work_sleepers,
};

static void part(unsigned n, uint64_t until_ns)
{
	parts[n](until_ns);
}

void work_mix(uint64_t until_ns)
{
	work_crew("mix", sizeof(parts) / sizeof(parts[0]), part, until_ns);
}

void work_forever(uint64_t until_ns)
{
	(void)until_ns;
	work_mix(UINT64_MAX);
}
