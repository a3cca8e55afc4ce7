/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What a step says beyond its address, in words. */
#ifndef FLOW_PAYLOAD_H
#define FLOW_PAYLOAD_H

#include <stddef.h>

#include "flow/flow.h"

#define FLOW_PAYLOAD_ROOM 1024u

/*
 * Ends in NUL; returns the length. Texts are escaped. Where it goes is told with the name that `flow` has for
 * it.
 */
size_t flow_put_payload(char *to, const struct flow *flow, const struct hwt_step *step);
/* Where the step is. 0: it is nowhere in particular. */
int flow_address(const struct hwt_step *step, uint64_t *address);

#endif
