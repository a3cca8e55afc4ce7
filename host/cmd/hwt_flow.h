/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The recording that `ktrace hwt` looks at: opened, narrowed down, and what is missing of it told. */
#ifndef CMD_HWT_FLOW_H
#define CMD_HWT_FLOW_H

#include "cmd/hwt_args.h"

/* 0, or an exit status after a message. */
int hwt_flow_open(struct hwt_args *args, struct flow **flow);
/* Says what is missing or damaged. EXIT_BAD_INPUT if something is damaged, else 0. */
int hwt_flow_say_loss(const struct hwt_args *args, const struct flow *flow);
/* Says that code has no names, and that nothing was as asked for. EXIT_BAD_INPUT if so, else 0. */
int hwt_flow_say_nothing(const struct hwt_args *args, const struct flow *flow);

#endif
