/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef HWT_PT_CONFIGURE_H
#define HWT_PT_CONFIGURE_H

#include <intel-pt.h>

struct hwt_stream;
struct hwt_piece;

/* Fills in what libipt must know of a piece of a stream: its bytes, the CPU, the clocks and the filters of addresses. */
void hwt_pt_configure(struct pt_config *config, const struct hwt_stream *stream,
		      const struct hwt_piece *piece);

#endif
