/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A model of a CPU with Intel PT, its backend, and buffers for units, of one or several pieces. */
#ifndef TEST_UNIT_HWT_PT_SUPPORT_H
#define TEST_UNIT_HWT_PT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/fake/hwt_log.h"
#include "test/fake/hwt_pt.h"

#define PT_PAGE 4096u

extern struct ktrace_hwt_backend pt_backend;

/*
 * Call pt_setup() before each test: it resets the model. Call pt_teardown() after each test: it checks that
 * no rule was broken.
 */
int pt_setup(void **state);
int pt_teardown(void **state);

/* Initialises the backend and the CPU, and clears the log. */
void pt_begin(void);

/*
 * Initialises a unit whose buffer consists of pieces that are not adjacent. Piece i has pages[i] pages; 0
 * ends the list.
 */
void pt_unit(struct ktrace_hwt_unit *unit, const uint32_t *pages);

/* Initialises a unit whose buffer is a single piece of `pages` pages. */
void pt_unit_whole(struct ktrace_hwt_unit *unit, uint32_t pages);

/* Returns a configuration that traces user code, without options. */
struct ktrace_hwt_config pt_config(void);

int pt_configure(struct ktrace_hwt_unit *unit, const struct ktrace_hwt_config *config);
void pt_enable(struct ktrace_hwt_unit *unit);
void pt_disable(struct ktrace_hwt_unit *unit);

/*
 * Checks that the buffer contains the trace from position `from` to unit->position. If this trace is larger
 * than the buffer, checks its newest part.
 */
void pt_check_bytes(const struct ktrace_hwt_unit *unit, uint64_t from);

#endif
