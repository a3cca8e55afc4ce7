/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Folded stacks, as flame graphs are drawn from: "main;parse;strlen 123", a line for each stack that was met, with the
 * instructions that ran on it, or the nanoseconds that it took.
 */
#ifndef FLOW_FOLDED_H
#define FLOW_FOLDED_H

#include "base/output.h"
#include "flow/calls.h"
#include "flow/flow.h"

#define FLOW_FOLDED_MOST (1u << 20) /* stacks; what is met beyond counts for its caller */

enum flow_weight { FLOW_BY_INSTRUCTIONS, FLOW_BY_TIME };

struct flow_folded;

/* 0 or KTREAD_E_MEMORY. */
int flow_folded_new(struct flow_folded **folded, struct flow *flow, enum flow_weight weight);
void flow_folded_free(struct flow_folded *folded);
extern const struct flow_view flow_folded; /* fed to a struct flow_folded */
/* Sorted by stack. 0 or KTREAD_E_MEMORY. */
int flow_folded_write(struct flow_folded *folded, struct base_output *out);
uint64_t flow_folded_left_out(const struct flow_folded *folded); /* calls beyond FLOW_FOLDED_MOST */
const struct flow_doubts *flow_folded_doubts(const struct flow_folded *folded);

#endif
