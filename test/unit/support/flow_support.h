/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Helpers for tests of views: they run views on scripts of steps (fake/hwt_script.h), and check the output of
 * the views.
 */
#ifndef TEST_FLOW_SUPPORT_H
#define TEST_FLOW_SUPPORT_H

#include "base/output.h"
#include "flow/flow.h"

/* Opens the script. Fails the test if it is not valid. */
struct flow *flow_test_open(const char *script);
/* Opens an output whose content can be checked. */
void flow_test_output(struct base_output *out);
/* Closes the output. Fails the test unless `expected` was written. */
void flow_test_expect(struct base_output *out, const char *expected);

/* Callback for notes: stores the text of the last note in flow_test_noted. */
extern char flow_test_noted[512];
void flow_test_note(void *to, const char *text);
/* A view that counts steps. Its context is an unsigned int. */
extern const struct flow_view flow_test_counter;

/*
 * A small kernel in image "kernel": functions `a` to `e` of 0x100 bytes each, from 0x1000 on, and irq at
 * 0x8000.
 */
#define FLOW_TEST_KERNEL                                                                               \
	"frequency 1000000000\nimage kernel -\n"                                                       \
	"symbol 0x1000 0x100 a\nsymbol 0x1100 0x100 b\nsymbol 0x1200 0x100 c\nsymbol 0x1300 0x100 d\n" \
	"symbol 0x1400 0x100 e\nsymbol 0x8000 0x100 irq\n"

#endif
