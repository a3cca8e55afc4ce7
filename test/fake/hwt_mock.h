/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A trace unit that does not trace. Each time that it is disabled, it has written a given number of bytes.
 * For tests of the library and of a kernel's hooks where there is no real unit.
 */
#ifndef TEST_HWT_MOCK_H
#define TEST_HWT_MOCK_H

#include <ktrace/hwt_backend.h>

/*
 * Makes a backend "mock" for ktrace_hwt_add(). Each enable writes `bytes` (a multiple of 8; the position as
 * 64 bits, repeatedly) into the buffer, at the address where the kernel has mapped it.
 */
void hwt_mock_make(struct ktrace_hwt_backend *backend, uint64_t bytes);

/*
 * Lets an enabled unit write so many more bytes, a multiple of 8. Returns how many bytes there was room for.
 */
uint64_t hwt_mock_run(struct ktrace_hwt_unit *unit, uint64_t bytes);

#endif
