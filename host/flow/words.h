/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Pieces of lines that several views have: times, names made harmless, what became of a branch. */
#ifndef FLOW_WORDS_H
#define FLOW_WORDS_H

#include <stddef.h>

#include "flow/flow.h"

#define FLOW_NAME_MOST	128u			  /* bytes of a name that are shown; longer ones are cut */
#define FLOW_NAME_ROOM	(4u * FLOW_NAME_MOST + 1) /* that an escaped one takes */
#define FLOW_PLACE_ROOM (2u * FLOW_NAME_ROOM + 32)

/* Each writes a text that ends in NUL and returns its length; `to` has room for it as said. */

/* "libc.so", escaped; `otherwise` for NULL. FLOW_NAME_ROOM. */
size_t flow_put_name(char *to, const char *name, const char *otherwise);
/* "main", "[sh]" for code of a file without symbols, "[unknown]". FLOW_NAME_ROOM. */
size_t flow_put_function(char *to, const struct flow_function *function);
/* "main+0x1a", "[sh]+0x3400", "0x401020". FLOW_PLACE_ROOM. */
size_t flow_put_place(char *to, const struct hwt_place *place, uint64_t address);
/* Seconds since flow->base with nine digits; of an unknown frequency ticks. 32 bytes. */
size_t flow_put_time(char *to, const struct flow *flow, uint64_t stamp);
/* Microseconds with three digits; ticks. 32 bytes. */
size_t flow_put_span(char *to, const struct flow *flow, uint64_t ticks);

const char *flow_branch_word(uint8_t branch); /* enum hwt_branch */
const char *flow_kind_word(uint8_t kind);     /* enum hwt_kind */
const char *flow_how_word(uint8_t how);	      /* enum flow_how */

/* "CPU 1", "thread 0 of process 7: sh", escaped. FLOW_NAME_ROOM + 64. */
size_t flow_put_stream(char *to, const struct hwt_stream *stream);

#endif
