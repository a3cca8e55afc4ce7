/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Packets of ETMv4 in OpenCSD's words. */
#ifndef HWT_ETM4_PACKETS_H
#define HWT_ETM4_PACKETS_H

#include "hwt/hwt.h"

/* As struct hwt_encoding has it. */
void etm4_packets(const struct hwt_stream *stream, const struct hwt_piece *piece,
		  void (*line)(void *to, uint64_t offset, const char *name, const char *text), void *to);

#endif
