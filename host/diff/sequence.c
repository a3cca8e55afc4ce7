/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "diff/pairs.h"

#include <stdbool.h>
#include <stdlib.h>

/* A part of each sequence: elements a0 to a1 - 1 of `a`, and b0 to b1 - 1 of `b`. */
struct part {
	int64_t a0, a1, b0, b1;
};

struct align {
	const uint64_t *a, *b;
	uint32_t *pair;
	/*
	 * Indices of `a`: how far the path from the beginning of a part (`forward`), or from its end
	 * (`backward`), has come on each diagonal. The number of a diagonal, an index of `a` minus an index
	 * of `b`, is the index into these arrays.
	 */
	int64_t *forward, *backward;
};

struct point {
	int64_t a, b;
};

static void extend_forward(struct align *align, const struct part *part, int64_t diagonal)
{
	const int64_t below = align->forward[diagonal - 1], above = align->forward[diagonal + 1];
	int64_t a = below >= above ? below + 1 : above, b = a - diagonal;

	while (a < part->a1 && b < part->b1 && align->a[a] == align->b[b]) {
		a++;
		b++;
	}
	align->forward[diagonal] = a;
}

static void extend_backward(struct align *align, const struct part *part, int64_t diagonal)
{
	const int64_t below = align->backward[diagonal - 1], above = align->backward[diagonal + 1];
	int64_t a = below < above ? below : above - 1, b = a - diagonal;

	while (a > part->a0 && b > part->b0 && align->a[a - 1] == align->b[b - 1]) {
		a--;
		b--;
	}
	align->backward[diagonal] = a;
}

/* The range of diagonals that the paths from one end of a part have reached: `low` to `high`. */
struct reach {
	int64_t low, high;
};

/*
 * Widens the range by one diagonal on each side. On a side where the wider range would leave the part,
 * narrows the range by one diagonal instead.
 */
static void widen(struct reach *reach, int64_t *furthest, int64_t least, int64_t most, int64_t empty)
{
	if (reach->low > least)
		furthest[--reach->low - 1] = empty;
	else
		reach->low++;
	if (reach->high < most)
		furthest[++reach->high + 1] = empty;
	else
		reach->high--;
}

/*
 * Returns the point that is farthest from one end of the part, among the points that paths from that end have
 * reached.
 */
static struct point farthest(const struct part *part, const int64_t *furthest, struct reach reach,
			     bool forward, int64_t *sum)
{
	struct point best = { part->a0, part->b0 };

	*sum = forward ? -1 : INT64_MAX;
	for (int64_t d = reach.low; d <= reach.high; d += 2) {
		int64_t a = furthest[d];

		if (forward)
			a = a > part->a1 ? part->a1 : a;
		else
			a = a < part->a0 ? part->a0 : a;
		if (forward && a - d > part->b1)
			a = part->b1 + d;
		if (!forward && a - d < part->b0)
			a = part->b0 + d;
		if (forward ? 2 * a - d > *sum : 2 * a - d < *sum) {
			*sum = 2 * a - d;
			best = (struct point){ a, a - d };
		}
	}
	return best;
}

static struct point give_up(const struct align *align, const struct part *part, struct reach from_begin,
			    struct reach from_end)
{
	int64_t forward, backward;
	const struct point ahead = farthest(part, align->forward, from_begin, true, &forward);
	const struct point back = farthest(part, align->backward, from_end, false, &backward);

	return forward - (part->a0 + part->b0) >= part->a1 + part->b1 - backward ? ahead : back;
}

/*
 * Finds a point near the middle of a shortest path. Requires: the parts of both sequences are not empty, and
 * differ.
 */
static struct point find_middle(struct align *align, const struct part *part)
{
	const int64_t least = part->a0 - part->b1, most = part->a1 - part->b0;
	const int64_t first = part->a0 - part->b0, last = part->a1 - part->b1;
	const bool odd = (first - last) & 1;
	struct reach ahead = { first, first }, back = { last, last };

	align->forward[first] = part->a0;
	align->backward[last] = part->a1;
	for (int cost = 1;; cost++) {
		widen(&ahead, align->forward, least, most, -1);
		for (int64_t d = ahead.high; d >= ahead.low; d -= 2) {
			extend_forward(align, part, d);
			if (odd && d >= back.low && d <= back.high && align->backward[d] <= align->forward[d])
				return (struct point){ align->forward[d], align->forward[d] - d };
		}
		widen(&back, align->backward, least, most, INT64_MAX);
		for (int64_t d = back.high; d >= back.low; d -= 2) {
			extend_backward(align, part, d);
			if (!odd && d >= ahead.low && d <= ahead.high &&
			    align->backward[d] <= align->forward[d])
				return (struct point){ align->backward[d], align->backward[d] - d };
		}
		if (cost >= SEQUENCE_COST)
			return give_up(align, part, ahead, back);
	}
}

/* Pairs the equal elements at the beginning and at the end of a part, and removes them from the part. */
static void trim(struct align *align, struct part *part)
{
	while (part->a0 < part->a1 && part->b0 < part->b1 && align->a[part->a0] == align->b[part->b0])
		align->pair[part->a0++] = (uint32_t)part->b0++;
	while (part->a0 < part->a1 && part->b0 < part->b1 && align->a[part->a1 - 1] == align->b[part->b1 - 1])
		align->pair[--part->a1] = (uint32_t)--part->b1;
}

/* Recurses into the smaller half, so that the depth is at most the logarithm of the length. */
static void align_part(struct align *align, struct part part)
{
	for (;;) {
		struct part first, second;
		struct point middle;

		trim(align, &part);
		if (part.a0 == part.a1 || part.b0 == part.b1)
			return;
		middle = find_middle(align, &part);
		first = (struct part){ part.a0, middle.a, part.b0, middle.b };
		second = (struct part){ middle.a, part.a1, middle.b, part.b1 };
		if (first.a1 - first.a0 + first.b1 - first.b0 >
		    second.a1 - second.a0 + second.b1 - second.b0) {
			align_part(align, second);
			part = first;
		} else {
			align_part(align, first);
			part = second;
		}
	}
}

int sequence_align(const uint64_t *a, uint32_t as, const uint64_t *b, uint32_t bs, uint32_t *pair)
{
	const size_t diagonals = (size_t)as + bs + 3;
	struct align align = { .a = a, .b = b, .pair = pair };
	int64_t *memory = malloc(2 * diagonals * sizeof(*memory));

	if (!memory)
		return -1;
	for (uint32_t n = 0; n < as; n++)
		pair[n] = SEQUENCE_NONE;
	align.forward = memory + bs + 1;
	align.backward = align.forward + diagonals;
	align_part(&align, (struct part){ 0, as, 0, bs });
	free(memory);
	return 0;
}
