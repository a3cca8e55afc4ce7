/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The functions of libipt, found when the first stream of Intel PT is opened. */
#ifndef HWT_PT_LIBRARY_H
#define HWT_PT_LIBRARY_H

#include <intel-pt.h>

#include "library.h"

#define PT_LIBRARY(USE)             \
	USE(pt_errstr)              \
	USE(pt_cpu_errata)          \
	USE(pt_blk_alloc_decoder)   \
	USE(pt_blk_free_decoder)    \
	USE(pt_blk_sync_forward)    \
	USE(pt_blk_sync_set)        \
	USE(pt_blk_get_offset)      \
	USE(pt_blk_get_sync_offset) \
	USE(pt_blk_set_image)       \
	USE(pt_blk_time)            \
	USE(pt_blk_next)            \
	USE(pt_blk_event)           \
	USE(pt_image_alloc)         \
	USE(pt_image_free)          \
	USE(pt_image_add_cached)    \
	USE(pt_image_set_callback)  \
	USE(pt_iscache_alloc)       \
	USE(pt_iscache_free)        \
	USE(pt_iscache_set_limit)   \
	USE(pt_iscache_add_file)    \
	USE(pt_pkt_alloc_decoder)   \
	USE(pt_pkt_free_decoder)    \
	USE(pt_pkt_sync_forward)    \
	USE(pt_pkt_get_offset)      \
	USE(pt_pkt_next)

struct pt_library {
	HWT_LIBRARY_MEMBERS(PT_LIBRARY)
};

/* NULL: it is not there, or too old. It stays loaded. */
const struct pt_library *pt_library_load(void);

struct hwt_stream;
struct hwt_piece;

/* What libipt must know of a stream. */
void pt_library_configure(const struct pt_library *library, struct pt_config *config,
			  const struct hwt_stream *stream, const struct hwt_piece *piece);

#endif
