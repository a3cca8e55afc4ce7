/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The data of the port in ktrace_port.h for each thread. */
#include "ktrace/ktrace.h"

__thread uint64_t bench_reserve;
/* initially the boot ring, until the thread acts as a CPU */
__thread struct ktrx_ring *bench_ring = ktrace_ring;
__thread uint32_t bench_thread = 42;
__thread uint32_t bench_cpu;
