/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The memory lent to ktrace_init(): physically contiguous pieces, each opened by a struct ktrx_block, from
 * which tables and rings are cut and never given back.
 */
#ifndef KTRACE_MEMORY_H
#define KTRACE_MEMORY_H

#include "state.h"

struct ktrace_arena {
	uint64_t boot; /* ordinal, where the memory is kept over resets; 0: it is not */
	uint32_t pieces;
	struct {
		uintptr_t start; /* aligned to KTRACE_PIECE_ALIGN */
		uint64_t size;	 /* bytes, a multiple of it */
		uint64_t taken;	 /* bytes, the head included */
	} piece[KTRACE_MAX_BLOCKS];
};

#define KTRACE_PIECE_ALIGN 64u

/* Finds the pieces. Pieces beyond KTRACE_MAX_BLOCKS and those too small for a head are left alone. */
KTRACE_HIDDEN void ktrace_arena_open(struct ktrace_arena *arena, const struct ktrace_config *config);

/*
 * For memory that is kept over resets: leaves of each piece one of `parts`, the one that was used the longest
 * ago, and counts the boot. Pieces too small to be divided are left alone. True if an earlier boot had this
 * nonce.
 */
KTRACE_HIDDEN int ktrace_arena_divide(struct ktrace_arena *arena, uint32_t parts, uint64_t nonce);

/* Gives everything back: the same calls of take will return the same places. */
KTRACE_HIDDEN void ktrace_arena_rewind(struct ktrace_arena *arena);

/*
 * `size` bytes, touched by nobody so far; NULL if no piece has them. For 0 bytes a place that must not be
 * used.
 */
KTRACE_HIDDEN void *ktrace_arena_take(struct ktrace_arena *arena, uint64_t size);

/* Writes the heads of all pieces. */
KTRACE_HIDDEN void ktrace_arena_mark(const struct ktrace_arena *arena, uint64_t nonce);

#endif
