/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Scripts of steps (fake/hwt_script.h) looked at by a view, and what it wrote. */
#ifndef TEST_FLOW_SUPPORT_H
#define TEST_FLOW_SUPPORT_H

#include "base/output.h"
#include "flow/flow.h"

/* Opens the script; fails the test if it is none. */
struct flow *flow_test_open(const char *script);
/* An output that is kept. */
void flow_test_output(struct base_output *out);
/* Ends it and fails the test unless `expected` is what was written. */
void flow_test_expect(struct base_output *out, const char *expected);

/* For who tells of something: keeps the last text. */
extern char flow_test_noted[512];
void flow_test_note(void *to, const char *text);
/* A view that counts steps in an unsigned. */
extern const struct flow_view flow_test_counter;

/* A small kernel: functions a to e of 0x100 bytes each, from 0x1000 on, and irq at 0x8000; in the image "kernel". */
#define FLOW_TEST_KERNEL                                                                               \
	"frequency 1000000000\nimage kernel -\n"                                                       \
	"symbol 0x1000 0x100 a\nsymbol 0x1100 0x100 b\nsymbol 0x1200 0x100 c\nsymbol 0x1300 0x100 d\n" \
	"symbol 0x1400 0x100 e\nsymbol 0x8000 0x100 irq\n"

#endif
