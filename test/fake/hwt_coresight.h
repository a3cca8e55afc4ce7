/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A model of CoreSight components. Accesses to registers are checked against the manuals; test/fake/hwt_log.h
 * reports the first rule that was broken. Trace units produce a byte pattern, not real trace. The bytes pass
 * from component to component, as the description states, into memory. So a wrong bit in any register changes
 * the bytes that arrive.
 */
#ifndef TEST_FAKE_HWT_CORESIGHT_H
#define TEST_FAKE_HWT_CORESIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "ktrace/hwt_coresight.h"

#define FAKE_CORESIGHT_RAM (4u << 20)
/* physical address of the first byte of fake_coresight_ram; it has more than 32 bits, and fewer than 40 */
#define FAKE_CORESIGHT_PHYSICAL UINT64_C(0x1280000000)

/* Memory to which ETRs write, and from which they read lists of pages. Aligned to 4096 bytes. */
extern uint8_t fake_coresight_ram[FAKE_CORESIGHT_RAM];
extern const struct ktrace_hwt_access_mmio fake_coresight_access;

/* Size of each ETF's memory in bytes: a multiple of 16. A reset sets it to 2048. */
extern uint32_t fake_coresight_sram;
#define FAKE_CORESIGHT_SRAM_MOST (512u << 10)

/* Resets the model: all components are locked and disabled. `all` must stay valid until the next reset. */
void fake_coresight_reset(const struct ktrace_coresight *all);

/*
 * These functions return a pointer to an identification register: the array TRCIDR0 to TRCIDR13 of a trace
 * unit, TRCDEVARCH of a trace unit, or DEVID of any component. A test may change the registers before it
 * calls init().
 */
uint32_t *fake_coresight_idr(uint32_t component);
uint32_t *fake_coresight_devarch(uint32_t component);
uint32_t *fake_coresight_devid(uint32_t component);

/*
 * Simulated faults of a component. A fault without a comment: the component never completes the named
 * operation.
 */
enum fake_coresight_stuck {
	FAKE_STUCK_OS_LOCK = 1,
	FAKE_STUCK_IDLE,    /* a trace unit never becomes idle after it was disabled */
	FAKE_STUCK_ENABLED, /* a trace unit stays idle after it was enabled */
	FAKE_STUCK_FLUSH,
	FAKE_STUCK_READY,
	FAKE_STUCK_POINTER, /* the register RWP has a wrong value */
	FAKE_STUCK_MEMORY,  /* writes to memory fail */
};
void fake_coresight_stick(uint32_t component, enum fake_coresight_stuck how);

/*
 * Simulates a CPU that runs code at `address`, at exception level `level` (0 to 2, non-secure), with this
 * context id, until its trace unit has produced `bytes` bytes of trace.
 */
void fake_coresight_run(uint32_t cpu, uint32_t level, uint64_t address, uint32_t context, size_t bytes);
/* Returns the n-th byte that a CPU's trace unit has produced. */
uint8_t fake_coresight_byte(uint32_t cpu, uint64_t n);
/* Returns how many bytes a CPU's trace unit has produced. */
uint64_t fake_coresight_made(uint32_t cpu);

/*
 * Returns how many bytes were lost because they were sent to a TPIU, a disabled port, or a disabled
 * component.
 */
uint64_t fake_coresight_leaked(void);

/*
 * Extracts at most `room` bytes with this trace id from formatted frames. Returns how many bytes it has
 * extracted.
 */
size_t fake_coresight_unformat(const uint8_t *frames, size_t size, uint32_t id, uint8_t *to, size_t room);

/* Returns true if the component is an enabled trace unit, or trace memory that is capturing. */
int fake_coresight_is_on(uint32_t component);

#endif
