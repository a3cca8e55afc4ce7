/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A port for tests that trace nothing. Headers that these tests include need a port. */
#ifndef FAKE_DEMO_KTRACE_PORT_H
#define FAKE_DEMO_KTRACE_PORT_H

#include <stdint.h>

#define ktrace_arch_clock ktrace_arch_clock
static inline uint64_t ktrace_arch_clock(void)
{
	return 0;
}

#endif
