/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A model of a CPU with SPE, its backend, and buffers for units. */
#ifndef TEST_UNIT_HWT_SPE_SUPPORT_H
#define TEST_UNIT_HWT_SPE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/fake/hwt_log.h"
#include "test/fake/hwt_spe.h"

#define SPE_TEST_PAGE	  4096u
#define SPE_TEST_INTERVAL 4096u /* sampling interval that the backend uses by default */

extern struct ktrace_hwt_backend spe_backend;

/*
 * Call spe_setup() before each test: it resets the model. Call spe_teardown() after each test: it checks that
 * no rule was broken.
 */
int spe_setup(void **state);
int spe_teardown(void **state);

/* Initialises the backend and the CPU, and clears the log. */
void spe_begin(void);

/* Initialises a unit with a buffer of `pages` pages. */
void spe_unit(struct ktrace_hwt_unit *unit, uint32_t pages);

/* Returns a configuration that samples user code, without options. */
struct ktrace_hwt_config spe_config(void);

int spe_configure(struct ktrace_hwt_unit *unit, const struct ktrace_hwt_config *config);
void spe_enable(struct ktrace_hwt_unit *unit);
void spe_disable(struct ktrace_hwt_unit *unit);

/* Runs as many operations as are needed for `records` samples. Returns how many records were written. */
uint64_t spe_sample(uint64_t records);

/*
 * Reads the buffer as a reader does, from position `from` to unit->position. Checks that it contains records
 * with the numbers `first`, `first` + 1, and so on, and only padding between them. Returns the number of
 * records.
 */
uint64_t spe_records(const struct ktrace_hwt_unit *unit, uint64_t from, uint64_t first);

#endif
