/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * How often each function was called, and how long that took: in total, in itself (without what it called), and how the
 * times of single calls are spread. Calls whose beginning or end was not seen are counted, but have no time.
 * Time that a function spends in calls of itself is in its total once.
 */
#ifndef FLOW_DURATIONS_H
#define FLOW_DURATIONS_H

#include "base/output.h"
#include "flow/calls.h"
#include "flow/flow.h"

struct flow_durations;

/* 0 or KTREAD_E_MEMORY. */
int flow_durations_new(struct flow_durations **durations, struct flow *flow);
void flow_durations_free(struct flow_durations *durations);
extern const struct flow_view flow_durations; /* fed to a struct flow_durations */
/* The table, by total time, or objects. 0 or KTREAD_E_MEMORY. */
int flow_durations_write(struct flow_durations *durations, struct base_output *out, int json);
const struct flow_doubts *flow_durations_doubts(const struct flow_durations *durations);

#endif
