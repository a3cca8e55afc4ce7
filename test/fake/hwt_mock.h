/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A trace unit that traces nothing: while it is enabled it counts, and fills the buffer by so many bytes each
 * time it is disabled. For tests of the library and of a kernel's hooks, where no other unit is.
 */
#ifndef TEST_HWT_MOCK_H
#define TEST_HWT_MOCK_H

#include <ktrace/hwt_backend.h>

/*
 * Fills in a backend "mock" for ktrace_hwt_add(): each enable writes `bytes` (a multiple of 8; the position
 * as 64 bits, over and over) into the buffer where the kernel has it mapped.
 */
void hwt_mock_make(struct ktrace_hwt_backend *backend, uint64_t bytes);

/* An enabled unit of it writes so many more at once, a multiple of 8; returns how many found room. */
uint64_t hwt_mock_run(struct ktrace_hwt_unit *unit, uint64_t bytes);

#endif
