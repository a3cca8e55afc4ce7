/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * CoreSight components as a few variables: registers that keep to the manuals' rules (test/fake/hwt_log.h says which one
 * was broken first) and bytes that go from trace units over the described connections into memory, so that a bit set
 * wrongly anywhere shows in what arrives. Trace units make bytes of a pattern, not trace.
 */
#ifndef TEST_FAKE_HWT_CORESIGHT_H
#define TEST_FAKE_HWT_CORESIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "ktrace/hwt_coresight.h"

#define FAKE_CORESIGHT_RAM	(4u << 20)
#define FAKE_CORESIGHT_PHYSICAL UINT64_C(0x1280000000) /* of the first byte; above 32 bits, below 40 */

/* What ETRs write to and read lists from; 4096-aligned. */
extern uint8_t fake_coresight_ram[FAKE_CORESIGHT_RAM];
extern const struct ktrace_hwt_access_mmio fake_coresight_access;

/* Bytes of each ETF's memory, a multiple of 16; 2048 after reset. */
extern uint32_t fake_coresight_sram;
#define FAKE_CORESIGHT_SRAM_MOST (512u << 10)

/* After reset: everything is locked, nothing has been programmed. The description must stay. */
void fake_coresight_reset(const struct ktrace_coresight *all);

/* TRCIDR0 to 13 and TRCDEVARCH of a trace unit, to be changed before init; DEVID of any component. */
uint32_t *fake_coresight_idr(uint32_t component);
uint32_t *fake_coresight_devarch(uint32_t component);
uint32_t *fake_coresight_devid(uint32_t component);

/* From now on something is not done any more that takes time: polls of it are in vain. */
enum fake_coresight_stuck {
	FAKE_STUCK_OS_LOCK = 1,
	FAKE_STUCK_IDLE,    /* a trace unit does not become idle */
	FAKE_STUCK_ENABLED, /* … does not leave idle */
	FAKE_STUCK_FLUSH,
	FAKE_STUCK_READY,
	FAKE_STUCK_POINTER, /* RWP is somewhere else */
	FAKE_STUCK_MEMORY,  /* writes to memory fail */
};
void fake_coresight_stick(uint32_t component, enum fake_coresight_stuck how);

/* A CPU runs code at an address, at an exception level (0 to 2, non-secure) and with a context id, worth so many bytes. */
void fake_coresight_run(uint32_t cpu, uint32_t level, uint64_t address, uint32_t context, size_t bytes);
/* The n-th byte that a CPU's trace unit has ever made. */
uint8_t fake_coresight_byte(uint32_t cpu, uint64_t n);
/* So many has it made. */
uint64_t fake_coresight_made(uint32_t cpu);

/* Bytes that went where nobody reads them: a TPIU; a port that was shut, a component that was off. */
uint64_t fake_coresight_leaked(void);

/* Frames taken apart: the bytes of that id, at most `room`; how many. */
size_t fake_coresight_unformat(const uint8_t *frames, size_t size, uint32_t id, uint8_t *to, size_t room);

/* Whether a CPU's unit traces, and any trace memory captures. */
int fake_coresight_is_on(uint32_t component);

#endif
