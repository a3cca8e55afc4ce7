/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A function in a header, as kernels have for their locks. It is always inlined. */
#ifndef TEST_INLINED_CALL_H
#define TEST_INLINED_CALL_H

#include <stdint.h>

__attribute__((always_inline)) static inline uint64_t inlined_call(uint64_t (*function)(void))
{
	uint64_t address = function();

	return address;
}

#endif
