/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Asserts the values and layouts that event.rs, control.rs, state.rs and transport.rs copy from C. If one of
 * them changes here, change it there, too.
 */
#include <ktrace/ktrace.h>
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

KTRX_ASSERT_SIZE(struct ktrace_config, 128);
KTRX_ASSERT_OFFSET(struct ktrace_config, panic_goes_on, 36);
KTRX_ASSERT_OFFSET(struct ktrace_config, kernel, 56);
KTRX_ASSERT_OFFSET(struct ktrace_config, physical, 80);
KTRX_ASSERT_OFFSET(struct ktrace_config, interrupt, 104);
KTRX_ASSERT_OFFSET(struct ktrace_config, keep, 120);

KTRX_STATIC_ASSERT(KTRACE_BY_CPU == 1 && KTRACE_BY_THREAD == 2, "By");
KTRX_STATIC_ASSERT(KTRX_WAIT_LOCK == 2 && KTRX_WAIT_DEVICE == 6, "Wait");
KTRX_STATIC_ASSERT(KTRX_MODE_IDLE == 1 && KTRX_MODE_USER == 3, "Mode");
KTRX_STATIC_ASSERT(KTRACE_STATE, "the hooks are functions");
KTRX_STATIC_ASSERT(
	KTRACE_COUNT("" KTRACE_SWITCH_FIELDS KTRACE_WAKE_FIELDS KTRACE_BLOCK_FIELDS KTRACE_CONTEND_FIELDS
			     KTRACE_ACQUIRE_FIELDS KTRACE_INTERRUPT_FIELDS KTRACE_FAULT_FIELDS) == 0,
	"facts have no fields of the kernel's own");
