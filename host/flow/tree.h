/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Calls as an indented tree, as they happen, with how long each took:
 *
 *	CPU 0
 *	[    0.000012345]               main {
 *	[    0.000013001]      0.250 us   strlen
 *	[    0.000014800]      2.455 us } main
 *
 * A function that called nothing is one line. Constant memory but for the stacks.
 */
#ifndef FLOW_TREE_H
#define FLOW_TREE_H

#include "base/output.h"
#include "flow/calls.h"
#include "flow/flow.h"

struct flow_tree;

/* 0 or KTREAD_E_MEMORY. As JSON a line is an object: {"time":…,"id":0,"depth":1,"event":"enter","function":…}. */
int flow_tree_new(struct flow_tree **tree, struct flow *flow, struct base_output *out, int json);
void flow_tree_free(struct flow_tree *tree);
extern const struct flow_view flow_tree; /* fed to a struct flow_tree */
const struct flow_doubts *flow_tree_doubts(const struct flow_tree *tree);

#endif
