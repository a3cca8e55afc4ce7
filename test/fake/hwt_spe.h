/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The Statistical Profiling Extension as its registers show it: a CPU that samples operations into a buffer, and checks each
 * access against the rules of the Arm Architecture Reference Manual. Writes take effect at the next ISB. Its records begin
 * with a packet that has their number, so that a lost one shows. Accesses and broken rules are in test/fake/hwt_log.h.
 *
 * Stricter than the manual: what it calls unpredictable, unknown, or no good idea, is a broken rule, too.
 */
#ifndef TEST_FAKE_HWT_SPE_H
#define TEST_FAKE_HWT_SPE_H

#include <stddef.h>
#include <stdint.h>

#include "ktrace/hwt_spe.h"

/* What the CPU has. Set between fake_spe_reset() and the backend's init. */
struct fake_spe_features {
	uint32_t version; /* ID_AA64DFR0_EL1.PMSVer */
	uint64_t pmsidr, pmbidr;
	uint32_t record_size; /* bytes, at least 10, at most what PMSIDR says; padded to what PMBIDR says */
	uint64_t frequency;
};
extern struct fake_spe_features fake_spe_features;

/* What the CPU does, for the filters. */
struct fake_spe_operation {
	uint32_t user;	/* else the kernel's level */
	uint32_t types; /* PMSFCR's B, LD and ST, from bit 0 */
	uint64_t events;
	uint32_t latency;
};
extern struct fake_spe_operation fake_spe_operation;

extern const struct ktrace_hwt_access_sysreg fake_spe_access;

/* A CPU as it is after reset, with all that SPE has, no memory, in user code. */
void fake_spe_reset(void);

/* Memory that it may write, lent by the test, anew if it is known; the log calls its addresses BASE + n. At most 256 of them. */
void fake_spe_memory(void *host, uint64_t size);

/* So many operations are done; returns how many of them became records in memory. */
uint64_t fake_spe_run(uint64_t operations);

/* Room that a record takes. */
uint64_t fake_spe_slot(void);

/* The number of the next record in the memory that has this byte; they are counted from 1. */
uint64_t fake_spe_next(const void *host);

/* What a record of that number has at an offset in its room. */
uint8_t fake_spe_byte(uint64_t number, uint64_t offset);

/* The next sample's record ends after so many bytes, for the memory behind cannot be written. */
void fake_spe_fault(uint32_t bytes);

/* Samples were due while another was taken. */
void fake_spe_collide(void);

/* Does the interrupt line say that the buffer wants service? */
int fake_spe_interrupting(void);

/* Somebody else's hands: no rule applies, nothing is logged. */
void fake_spe_poke(uint32_t encoding, uint64_t value);
uint64_t fake_spe_peek(uint32_t encoding);

#endif
