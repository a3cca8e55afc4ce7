/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A model of the Statistical Profiling Extension. It samples operations into a buffer, and checks each access
 * against the rules of the Arm Architecture Reference Manual. Writes take effect at the next ISB. Each record
 * begins with a packet that contains its number, so that a lost record is detected. Accesses and broken rules
 * are reported by test/fake/hwt_log.h.
 *
 * The model is stricter than the manual: what the manual calls unpredictable, unknown or not recommended is a
 * broken rule, too.
 */
#ifndef TEST_FAKE_HWT_SPE_H
#define TEST_FAKE_HWT_SPE_H

#include <stddef.h>
#include <stdint.h>

#include "ktrace/hwt_spe.h"

/* Features of the CPU. Set them between fake_spe_reset() and the backend's init. */
struct fake_spe_features {
	uint32_t version; /* value of ID_AA64DFR0_EL1.PMSVer */
	uint64_t pmsidr, pmbidr;
	/*
	 * size of a record in bytes, from 10 to the maximum in PMSIDR; in memory each record is padded to the
	 * alignment in PMBIDR
	 */
	uint32_t record_size;
	uint64_t frequency;
};
extern struct fake_spe_features fake_spe_features;

/* Properties of the operation that the CPU runs, which the unit's filters check. */
struct fake_spe_operation {
	uint32_t user; /* nonzero: user level; 0: kernel level */
	uint32_t
		types; /* types of the operation: bits 0 to 2 are B, LD and ST, which are bits 16 to 18 of PMSFCR */
	uint64_t events;
	uint32_t latency;
};
extern struct fake_spe_operation fake_spe_operation;

extern const struct ktrace_hwt_access_sysreg fake_spe_access;

/* Resets the CPU. It then has all features of SPE and no memory, and runs user code. */
void fake_spe_reset(void);

/*
 * Gives memory to the model, which may then write to it. Replaces a range that the model already has at the
 * same address. The log shows addresses in the memory as BASE + n. The model accepts at most 256 ranges of
 * memory.
 */
void fake_spe_memory(void *host, uint64_t size);

/* Runs `operations` operations. Returns how many records were written to memory. */
uint64_t fake_spe_run(uint64_t operations);

/* Returns how many bytes a record takes in memory, with its padding. */
uint64_t fake_spe_slot(void);

/*
 * Returns the number of the next record that is written to the range of memory that contains `host`. The
 * first record of each range has number 1.
 */
uint64_t fake_spe_next(const void *host);

/* Returns the byte that the record with this number has at the offset. */
uint8_t fake_spe_byte(uint64_t number, uint64_t offset);

/* Makes the write of the next record fail after `bytes` bytes. */
void fake_spe_fault(uint32_t bytes);

/*
 * Makes the unit report a collision, as a CPU does if a sample is due while the previous sample is still
 * being taken.
 */
void fake_spe_collide(void);

/* Returns true if the buffer's interrupt is asserted. */
int fake_spe_interrupting(void);

/* Write and read a register as other software does. These accesses are neither checked nor logged. */
void fake_spe_poke(uint32_t encoding, uint64_t value);
uint64_t fake_spe_peek(uint32_t encoding);

#endif
