/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * How often each source line was run, as an .info file of lcov: for every file of which anything ran, all of its lines that have
 * code. A line counts as often as that of its instructions which was run most often.
 */
#ifndef FLOW_COVERAGE_H
#define FLOW_COVERAGE_H

#include "base/output.h"
#include "flow/flow.h"

struct flow_coverage;

/* 0 or KTREAD_E_MEMORY. */
int flow_coverage_new(struct flow_coverage **coverage, struct flow *flow);
void flow_coverage_free(struct flow_coverage *coverage);
extern const struct flow_view flow_coverage; /* fed to a struct flow_coverage */
/* What of the code has no lines is told by `warn`, a text each. 0 or KTREAD_E_MEMORY. */
int flow_coverage_write(struct flow_coverage *coverage, struct base_output *out,
			void (*warn)(void *to, const char *text), void *to);

#endif
