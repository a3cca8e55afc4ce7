/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The thread-local variables of the port in ktrace_port.h. */
#include "ktrace/ktrace.h"

__thread uint64_t bench_reserve;
/* the thread's ring; the boot ring until the thread calls ktrace_cpu_online() */
__thread struct ktrx_ring *bench_ring = ktrace_ring;
__thread uint32_t bench_thread = 42;
__thread uint32_t bench_cpu;
