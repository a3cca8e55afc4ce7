/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A backend for a trace unit that does not trace: each time that the unit is enabled, it writes a given
 * number of bytes. Tests use it for the library, and for a kernel's hooks on machines without a real unit.
 */
#ifndef TEST_HWT_MOCK_H
#define TEST_HWT_MOCK_H

#include <ktrace/hwt_backend.h>

/*
 * Fills in a backend with the name "mock", for ktrace_hwt_add(). Each time that a unit is enabled, it writes
 * `bytes` bytes (a multiple of 8) into the buffer, at the address at which the kernel has mapped it. Each
 * group of 8 bytes contains its position as a 64-bit number.
 */
void hwt_mock_make(struct ktrace_hwt_backend *backend, uint64_t bytes);

/*
 * Makes an enabled unit write `bytes` more bytes (a multiple of 8). Returns how many bytes fitted into the
 * buffer.
 */
uint64_t hwt_mock_run(struct ktrace_hwt_unit *unit, uint64_t bytes);

#endif
