/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Helpers for tests of the CoreSight backend: machines with CoreSight components, and trace units on these
 * machines.
 */
#ifndef TEST_HWT_CORESIGHT_SUPPORT_H
#define TEST_HWT_CORESIGHT_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "ktrace/hwt_coresight.h"
#include "test/fake/hwt_coresight.h"

#define CS_PAGE	 UINT64_C(4096)
#define CS_UNITS 4u
#define CS_MOST	 64u /* maximum number of pieces of a buffer */

/*
 * The description of a machine. cs_machine() copies a description to `cs`, so that each test begins with an
 * unmodified copy.
 */
struct cs_machine {
	const struct ktrace_coresight_component *component;
	const struct ktrace_coresight_link *link;
	uint32_t components, links;
};
extern const struct cs_machine cs_flat;	    /* ETM → ETR */
extern const struct cs_machine cs_restore;  /* ETMs → funnel → ETR that continues at its write pointer */
extern const struct cs_machine cs_scatter;  /* ETM → funnel → ETF → ETR with scatter-gather */
extern const struct cs_machine cs_four;	    /* four ETMs → two funnels → funnel → ETF */
extern const struct cs_machine cs_store;    /* two ETMs → funnel → ETR with 8 KiB of its own memory */
extern const struct cs_machine cs_two_ways; /* ETM → replicator → TPIU and ETR */

struct cs {
	struct ktrace_coresight_component component[KTRACE_CORESIGHT_MAX];
	struct ktrace_coresight_link link[KTRACE_CORESIGHT_MAX];
	struct ktrace_coresight all;
	struct ktrace_hwt_backend backend;
	struct ktrace_hwt_unit unit[CS_UNITS];
	struct ktrace_hwt_piece piece[CS_UNITS][CS_MOST];
	struct ktrace_hwt_config config;
};
extern struct cs cs;

/* Resets the machine, and makes a backend for it. Does not call init(). */
void cs_machine(const struct cs_machine *machine);
/* Does the same as cs_machine(), then calls init(), which must succeed. */
void cs_boot(const struct cs_machine *machine);

const struct ktrace_hwt_backend_operations *cs_op(void);

/*
 * Gives a unit an empty buffer of `pages` pages in `pieces` pieces. The last piece has the lowest address. A
 * single piece is mapped at a virtual address.
 */
void cs_lend(uint32_t unit, uint32_t pages, uint32_t pieces);
/* Does the same as cs_lend(), then calls unit_init() and configure() with cs.config, which must succeed. */
void cs_unit(uint32_t unit, uint32_t pages, uint32_t pieces);

/*
 * cs_on() enables a unit on a CPU, cs_off() disables it, and cs_read() reads its position. Each operation
 * must succeed.
 */
void cs_on(uint32_t unit, uint32_t cpu);
void cs_off(uint32_t unit);
void cs_read(uint32_t unit);

/* Copies the trace of the unit at positions [from, to). */
void cs_copy(uint32_t unit, uint64_t from, uint64_t to, uint8_t *bytes);

/*
 * Checks the frames of a unit at positions [from, to): their bytes with trace id `id` must be exactly the
 * bytes [first, first + count) of the trace of `cpu`.
 */
void cs_assert_frames(uint32_t unit, uint64_t from, uint64_t to, uint32_t cpu, uint32_t id, uint64_t first,
		      uint64_t count);
/* Checks that these frames contain the newest bytes of the trace of `cpu`. Their number does not matter. */
void cs_assert_newest_frames(uint32_t unit, uint64_t from, uint64_t to, uint32_t cpu, uint32_t id);
/*
 * Checks that the unit's bytes at positions [from, to) are the bytes of the trace of `cpu` from `first` on.
 */
void cs_assert_bytes(uint32_t unit, uint64_t from, uint64_t to, uint32_t cpu, uint64_t first);

/* Checks that no rule of the hardware was broken, and no byte was written outside of buffers. */
void cs_assert_clean(void);

#endif
