/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Clock correction: piecewise linear functions from recorded timestamps to corrected timestamps. */
#include "trace.h"

#include <stdlib.h>

#include "message.h"

#define SLOPE_BITS 32

int ktread_clocks_init(struct ktread_clocks *clocks, uint32_t cpus)
{
	clocks->clock = calloc(cpus ? cpus : 1, sizeof(*clocks->clock));
	clocks->cpus = clocks->clock ? cpus : 0;
	return clocks->clock ? 0 : ktread_fail_memory();
}

void ktread_clocks_free(struct ktread_clocks *clocks)
{
	for (uint32_t cpu = 0; cpu < clocks->cpus; cpu++)
		free(clocks->clock[cpu].piece);
	free(clocks->clock);
	*clocks = (struct ktread_clocks){ NULL, 0 };
}

/*
 * Returns true if `next` can follow `point`: `next` has a later timestamp, and the offset changes by less
 * than half of the time between the two points.
 */
static bool follows(const struct ktread_clock_point *next, const struct ktread_clock_piece *point)
{
	__int128 change = (__int128)next->offset - point->offset;
	uint64_t distance = next->stamp - point->from;

	return next->stamp > point->from && change < (__int128)(distance / 2) &&
	       -change < (__int128)(distance / 2);
}

/*
 * Returns the slope between two points. All divisions round down, so that the corrected time at the end of a
 * piece is never later than at the start of the next piece.
 */
static int64_t slope_between(const struct ktread_clock_piece *from, const struct ktread_clock_point *to)
{
	__int128 change = ((__int128)to->offset - from->offset) * ((__int128)1 << SLOPE_BITS);
	__int128 distance = to->stamp - from->from;

	return (int64_t)(change / distance - (change % distance < 0));
}

int ktread_clock_set(struct ktread_clock *clock, const struct ktread_clock_point *point, uint32_t count,
		     const int64_t slopes[2])
{
	struct ktread_clock_piece *piece = malloc(((size_t)count + 1) * sizeof(*piece));
	uint32_t pieces = 0;

	if (!piece)
		return ktread_fail_memory();
	for (uint32_t i = 0; i < count; i++) {
		/*
		 * Make two pieces that begin at the timestamp of the first point. The first piece is for
		 * timestamps before the point.
		 */
		if (pieces == 0)
			piece[pieces++] =
				(struct ktread_clock_piece){ point[i].stamp, point[i].offset, slopes[0] };
		else if (!follows(&point[i], &piece[pieces - 1]))
			continue;
		else if (pieces > 1)
			piece[pieces - 1].slope = slope_between(&piece[pieces - 1], &point[i]);
		piece[pieces++] = (struct ktread_clock_piece){ point[i].stamp, point[i].offset, slopes[1] };
	}
	free(clock->piece);
	*clock = (struct ktread_clock){ piece, pieces, 0 };
	return 0;
}

uint64_t ktread_clock_apply(struct ktread_clock *clock, uint64_t stamp)
{
	const struct ktread_clock_piece *piece;
	__int128 corrected;

	while (clock->at > 0 && stamp < clock->piece[clock->at].from)
		clock->at--;
	while (clock->at + 1 < clock->pieces && stamp >= clock->piece[clock->at + 1].from)
		clock->at++;
	piece = &clock->piece[clock->at];
	corrected = ((__int128)stamp - piece->from) * piece->slope;
	corrected = (corrected >> SLOPE_BITS) + stamp + piece->offset;
	return corrected < 0 ? 0 : corrected > (__int128)UINT64_MAX ? UINT64_MAX : (uint64_t)corrected;
}

/*
 * Describes the current points in info->clock and info->clock_aligned. Points that newer points have replaced
 * have no effect.
 */
static void describe_alignment(struct ktread *trace)
{
	struct ktread_info *info = &trace->info;

	info->clock = info->clock_samples ? KTREAD_CLOCK_MEASURED : KTREAD_CLOCK_RAW;
	info->clock_aligned = 0;
	for (uint32_t cpu = 0; cpu < trace->aligned.cpus; cpu++) {
		const struct ktread_clock *clock = &trace->aligned.clock[cpu];

		if (clock->pieces > 0)
			info->clock = KTREAD_CLOCK_ALIGNED;
		for (uint32_t i = 0; i < clock->pieces; i++) {
			int64_t offset = clock->piece[i].offset;
			uint64_t size = offset < 0 ? -(uint64_t)offset : (uint64_t)offset;

			if (size > info->clock_aligned)
				info->clock_aligned = size;
		}
	}
}

int ktread_clock_is_measured(const struct ktread *trace, uint32_t cpu)
{
	return cpu < trace->measured.cpus && trace->measured.clock[cpu].pieces > 0;
}

int ktread_align(struct ktread *trace, uint32_t cpu, const struct ktread_clock_point *point, uint32_t count)
{
	static const int64_t level[2] = { 0, 0 };
	int status;

	if (trace->info.version < KTRX2_VERSION || trace->options.raw_clock)
		return ktread_fail(KTREAD_E_UNSUPPORTED, "cannot align the clocks of this trace: %s",
				   trace->options.raw_clock ? "raw timestamps were requested"
							    : "it is of version 1");
	if (!trace->aligned.clock && ktread_clocks_init(&trace->aligned, trace->info.cpus) < 0)
		return KTREAD_E_MEMORY;
	if (cpu >= trace->aligned.cpus)
		return ktread_fail(KTREAD_E_ARGUMENT, "the trace has no CPU %u", cpu);
	status = ktread_clock_set(&trace->aligned.clock[cpu], point, count, level);
	describe_alignment(trace);
	return status;
}
