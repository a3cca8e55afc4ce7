/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A CPU with Intel PT, its backend, and buffers for units, whole or in pieces. */
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

/* A test's own beginning and end: the model reset; no rule broken. */
int pt_setup(void **state);
int pt_teardown(void **state);

/* The backend, its hardware found, and the CPU at rest; the log empty. */
void pt_begin(void);

/* A unit whose buffer has pieces of so many pages, 0 behind the last; pieces never touch. */
void pt_unit(struct ktrace_hwt_unit *unit, const uint32_t *pages);

/* The same in one piece. */
void pt_unit_whole(struct ktrace_hwt_unit *unit, uint32_t pages);

/* User code, no option. */
struct ktrace_hwt_config pt_config(void);

int pt_configure(struct ktrace_hwt_unit *unit, const struct ktrace_hwt_config *config);
void pt_enable(struct ktrace_hwt_unit *unit);
void pt_disable(struct ktrace_hwt_unit *unit);

/* All that the buffer must hold of [from, unit->position) is there. */
void pt_check_bytes(const struct ktrace_hwt_unit *unit, uint64_t from);

#endif
