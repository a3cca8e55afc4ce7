/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Which functions were run at all, if only for an instruction, sorted by image and name. */
#ifndef FLOW_EXECUTED_H
#define FLOW_EXECUTED_H

#include "base/output.h"
#include "flow/flow.h"

struct flow_executed;

/* 0 or KTREAD_E_MEMORY. */
int flow_executed_new(struct flow_executed **executed, struct flow *flow);
void flow_executed_free(struct flow_executed *executed);
extern const struct flow_view flow_executed; /* fed to a struct flow_executed */
/* "image symbol" a line, or objects. 0 or KTREAD_E_MEMORY. */
int flow_executed_write(struct flow_executed *executed, struct base_output *out, int json);

#endif
