/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * OpenCSD's "tree" for one unit, and the bytes of a piece fed to it as far as it takes them.
 */
#ifndef HWT_ETM4_TREE_H
#define HWT_ETM4_TREE_H

#include <stdbool.h>

#include <opencsd/c_api/opencsd_c_api.h>
#include <opencsd/etmv4/trc_pkt_types_etmv4.h>

#include "hwt/hwt.h"

/* Why there is no tree. */
#define ETM4_TREE_REFUSED "OpenCSD does not decode what a unit with such registers writes"

struct etm4_tree {
	dcd_tree_handle_t handle;
	const struct hwt_piece *piece;
	size_t at, end; /* what is fed next; formatted: whole frames */
	bool formatted;
	bool waiting; /* it has been told to wait, and is to be flushed */
	unsigned char id;
};

enum etm4_fed {
	ETM4_FED,     /* or it waits */
	ETM4_FED_ALL, /* the piece has been fed, and its end told */
	ETM4_FED_BAD, /* it cannot go on with what came before `at`, and has been reset */
};

/* 0; or -1, with *message. `flags`: OCSD_CREATE_FLG_*. */
int etm4_tree_open(struct etm4_tree *tree, const struct hwt_stream *stream, const struct hwt_piece *piece,
		   int flags, const char **message);
void etm4_tree_close(struct etm4_tree *tree);
/* Some bytes more. */
enum etm4_fed etm4_tree_feed(struct etm4_tree *tree);
/* Offset in the piece of what the library calls an index, which has 32 bits. */
uint64_t etm4_tree_offset(const struct etm4_tree *tree, ocsd_trc_index_t index);

#endif
