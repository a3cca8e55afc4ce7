/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace has no driver for trace hardware of RISC-V. */
#include <stddef.h>

#include "arch.h"

struct ktrace_hwt_backend *arch_trace_unit(unsigned n)
{
	(void)n;
	return NULL;
}
