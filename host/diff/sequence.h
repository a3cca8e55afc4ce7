/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Aligns two sequences of keys. */
#ifndef DIFF_SEQUENCE_H
#define DIFF_SEQUENCE_H

#include <stdint.h>

#define SEQUENCE_NONE UINT32_MAX

/*
 * Finds a long common subsequence of `a` and `b`, by the algorithm of E. Myers, "An O(ND) Difference
 * Algorithm and Its Variations" (1986), in linear space. Sets pair[n] to the index in `b` of the element that
 * is paired with a[n], or to SEQUENCE_NONE. The time is linear for sequences that are nearly equal. If they
 * differ in more than SEQUENCE_COST places in a row, the result may have fewer pairs than possible. So the
 * time is at most proportional to SEQUENCE_COST times the length. Returns 0, or -1 if out of memory.
 */
#define SEQUENCE_COST 256
int sequence_align(const uint64_t *a, uint32_t as, const uint64_t *b, uint32_t bs, uint32_t *pair);

#endif
