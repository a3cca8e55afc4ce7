/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the port of ktrace_port.h keeps for each thread. */
#include "ktrace/ktrace.h"

__thread uint64_t bench_reserve;
__thread struct ktrx_ring *bench_ring = ktrace_ring; /* of a thread that is no CPU yet: the boot ring */
__thread uint32_t bench_thread = 42;
__thread uint32_t bench_cpu;
