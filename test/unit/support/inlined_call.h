/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Functions in a header, as kernels have for their locks. They are always inlined. */
#ifndef TEST_INLINED_CALL_H
#define TEST_INLINED_CALL_H

#include <stdint.h>

__attribute__((always_inline)) static inline uint64_t inlined_call(uint64_t (*function)(void))
{
	uint64_t address = function();

	return address;
}

/* has a name like a hook of ktrace */
__attribute__((always_inline)) static inline uint64_t ktrace_inlined_hook(uint64_t (*function)(void))
{
	uint64_t address = function();

	return address;
}

/* a lock function that calls a hook */
__attribute__((always_inline)) static inline uint64_t inlined_lock(uint64_t (*function)(void))
{
	uint64_t address = ktrace_inlined_hook(function);

	return address;
}

#endif
