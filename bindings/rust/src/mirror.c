/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* event.rs mirrors these numbers and transport.rs these structures; a change here has to be made there. */
#include <ktrace/record.h>
#include <ktrace/transport.h>

KTRX_STATIC_ASSERT(KTRACE_PAYLOAD_MAX == 226, "PAYLOAD_MAX");
KTRX_STATIC_ASSERT((KTRACE_CAPACITY(KTRACE_PAYLOAD_MAX) + 7u) / 8u * 8u == 232, "PAYLOAD_ROOM");
KTRX_STATIC_ASSERT(KTRACE_HEADER_SLOW == 0x80000000u, "HEADER_SLOW");

KTRX_ASSERT_SIZE(struct ktrace_transport, 40);
KTRX_ASSERT_OFFSET(struct ktrace_transport, patience, 32);
KTRX_ASSERT_OFFSET(struct ktrace_transport, ready, 36);
KTRX_ASSERT_SIZE(struct ktrace_io, 16);
KTRX_ASSERT_SIZE(struct ktrace_debugcon, 48);
KTRX_ASSERT_SIZE(struct ktrace_semihosting, 568);
KTRX_ASSERT_OFFSET(struct ktrace_semihosting, handle, 48);
KTRX_ASSERT_SIZE(struct ktrace_uart16550, 64);
KTRX_ASSERT_OFFSET(struct ktrace_uart16550, shift, 56);
KTRX_ASSERT_SIZE(struct ktrace_pl011, 56);
