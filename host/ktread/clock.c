/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Clock correction: piecewise linear functions from recorded timestamps to corrected timestamps. */
#include "trace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "layout.h"
#include "message.h"

#define SLOPE_BITS 32

static int ktread_clocks_init(struct ktread_clocks *clocks, uint32_t cpus)
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

uint64_t ktread_clock_correct(const struct ktread *trace, uint32_t cpu, uint64_t stamp)
{
	return ktread_corrected(trace, cpu, stamp);
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

/* ---- Measured clocks ---- */

/*
 * Loads the measurements that a guest made of its own clocks. The error of a sample grows with its round-trip
 * time. A sample with a much longer round-trip time than most samples is left out, because the CPU was
 * interrupted or preempted during the measurement. The offset is interpolated between the remaining samples.
 */

#define SLOW_TIMES 4u /* a sample is left out if its error is more than this many times the median error */
/*
 * number of samples from which the drift at each end is computed: the first END_SAMPLES samples give the
 * drift before the first sample, the last END_SAMPLES samples the drift after the last sample
 */
#define END_SAMPLES 8u
#define PPB	    1000000000u
#define MOST_DRIFT  500000u /* largest plausible drift, in parts per billion */
#define SLOPE_ONE   ((__int128)1 << 32)

/*
 * Copies each sample whose checksum is right and whose timestamp is later than the timestamp of the
 * previously copied sample. Returns the number of samples copied.
 */
static uint32_t take_samples(const struct ktrx_clock *row, struct ktrx_clock_sample *sample)
{
	uint32_t count = row->samples < KTRX_CLOCK_SAMPLES ? row->samples : KTRX_CLOCK_SAMPLES, taken = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct ktrx_clock_sample *given = &row->sample[i];

		if (given->check != ktrx_clock_check(given) ||
		    (taken > 0 && given->stamp <= sample[taken - 1].stamp))
			continue;
		sample[taken++] = *given;
	}
	return taken;
}

static int by_error(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static uint32_t drop_slow(struct ktrx_clock_sample *sample, uint32_t count)
{
	uint64_t error[KTRX_CLOCK_SAMPLES];
	uint32_t kept = 0;

	if (count == 0)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		error[i] = sample[i].error;
	qsort(error, count, sizeof(error[0]), by_error);
	for (uint32_t i = 0; i < count; i++)
		if (sample[i].error / SLOW_TIMES <= error[count / 2])
			sample[kept++] = sample[i];
	return kept;
}

/*
 * Returns the drift between two samples, in units of 2^-32. Returns 0 if the errors of the samples can
 * explain the difference, or if the drift is implausible.
 */
static int64_t drift(const struct ktrx_clock_sample *from, const struct ktrx_clock_sample *to)
{
	__int128 change = (__int128)to->offset - from->offset, distance = (__int128)to->stamp - from->stamp;
	__int128 size = change < 0 ? -change : change;

	if (distance <= 0 || size <= (__int128)from->error + to->error || size > distance / 2)
		return 0;
	return (int64_t)(change * SLOPE_ONE / distance);
}

static void count_sample(struct ktread_info *info, const struct ktrx_clock_sample *sample)
{
	uint64_t size = sample->offset < 0 ? -(uint64_t)sample->offset : (uint64_t)sample->offset;

	info->clock = KTREAD_CLOCK_MEASURED;
	info->clock_samples++;
	if (size > info->clock_largest)
		info->clock_largest = size;
	if (sample->error > info->clock_error)
		info->clock_error = sample->error;
}

/*
 * Returns the uncertainty, in parts per billion, of the drift before the first sample or after the last
 * sample. Computes the uncertainty from the two samples near that end that give the drift.
 */
static uint64_t drift_uncertainty(const struct ktrx_clock_sample *from, const struct ktrx_clock_sample *to)
{
	uint64_t distance = to->stamp - from->stamp;
	unsigned __int128 uncertainty;

	if (distance == 0)
		return MOST_DRIFT;
	uncertainty = ((unsigned __int128)from->error + to->error) * 2 * PPB / distance;
	return uncertainty < MOST_DRIFT ? (uint64_t)uncertainty : MOST_DRIFT;
}

/*
 * Adds a clock to the description of all clocks in `info`: narrows the interval in which all clocks were
 * measured, and raises the uncertainty of the drift outside this interval.
 */
static void add_reach(struct ktread_info *info, const struct ktrx_clock_sample *sample, uint32_t count)
{
	uint32_t end = count < END_SAMPLES ? count : END_SAMPLES;
	uint64_t from = sample[0].stamp + (uint64_t)sample[0].offset;
	uint64_t to = sample[count - 1].stamp + (uint64_t)sample[count - 1].offset;
	uint64_t early = drift_uncertainty(&sample[0], &sample[end - 1]);
	uint64_t late = drift_uncertainty(&sample[count - end], &sample[count - 1]);

	if (info->clock_cpus == 1 || from > info->clock_from)
		info->clock_from = from;
	if (info->clock_cpus == 1 || to < info->clock_to)
		info->clock_to = to;
	if (early > info->clock_drift)
		info->clock_drift = early;
	if (late > info->clock_drift)
		info->clock_drift = late;
}

static int take_row(struct ktread *trace, uint32_t cpu, const struct ktrx_clock *row)
{
	struct ktrx_clock_sample sample[KTRX_CLOCK_SAMPLES];
	struct ktread_clock_point point[KTRX_CLOCK_SAMPLES];
	uint32_t count = drop_slow(sample, take_samples(row, sample));
	uint32_t end = count < END_SAMPLES ? count : END_SAMPLES;
	int64_t slopes[2];

	trace->info.clock_measured += row->measured;
	trace->info.clock_failed += row->failed;
	if (count == 0 && row->failed != 0)
		ktread_warn(trace,
			    "%s: CPU %u: all %" PRIu64
			    " measurements of its clock failed: its timestamps are not corrected",
			    trace->memory->name, cpu, row->failed);
	if (count == 0)
		return 0;
	trace->info.clock_cpus++;
	for (uint32_t i = 0; i < count; i++) {
		point[i] = (struct ktread_clock_point){ sample[i].stamp, sample[i].offset };
		count_sample(&trace->info, &sample[i]);
	}
	add_reach(&trace->info, sample, count);
	slopes[0] = drift(&sample[0], &sample[end - 1]);
	slopes[1] = drift(&sample[count - end], &sample[count - 1]);
	return ktread_clock_set(&trace->measured.clock[cpu], point, count, slopes);
}

static uint32_t row_count(const struct ktread_section *section, uint32_t stride)
{
	uint64_t rows = ktread_region_readable(&section->region) / stride;

	return rows < KTRX_MAX_RINGS - 1 ? (uint32_t)rows : KTRX_MAX_RINGS - 1;
}

static int load_rows(struct ktread *trace, const struct ktread_section *section)
{
	uint32_t stride = section->row.entry_size ? section->row.entry_size : sizeof(struct ktrx_clock);
	int status;

	if (stride < sizeof(struct ktrx_clock)) {
		ktread_warn(trace,
			    "%s: clock measurements of %u bytes cannot be read: timestamps are not corrected",
			    trace->memory->name, stride);
		return 0;
	}
	status = ktread_clocks_init(&trace->measured, row_count(section, stride));
	for (uint32_t cpu = 0; cpu < trace->measured.cpus && status == 0; cpu++) {
		struct ktrx_clock row;

		status = ktread_region_read(&section->region, (uint64_t)cpu * stride, &row, sizeof(row));
		if (status == 0)
			status = take_row(trace, cpu, &row);
	}
	return status;
}

/* Loads the last measured offset of each CPU. Used if the kernel keeps no history of samples. */
static int load_newest(struct ktread *trace, const struct ktread_section *section)
{
	static const int64_t level[2] = { 0, 0 };
	int status = ktread_clocks_init(&trace->measured, row_count(section, sizeof(int64_t)));

	for (uint32_t cpu = 0; cpu < trace->measured.cpus && status == 0; cpu++) {
		struct ktrx_clock_sample sample = { 0 };

		status = ktread_region_read(&section->region, (uint64_t)cpu * sizeof(int64_t), &sample.offset,
					    sizeof(sample.offset));
		if (status < 0 || sample.offset == 0)
			continue;
		trace->info.clock_cpus++;
		trace->info.clock_drift = MOST_DRIFT;
		count_sample(&trace->info, &sample);
		status = ktread_clock_set(&trace->measured.clock[cpu],
					  &(struct ktread_clock_point){ 0, sample.offset }, 1, level);
	}
	return status;
}

int ktread_clock_load(struct ktread *trace)
{
	const struct ktread_section *clocks = ktread_layout_section(trace->layout, KTRX_SECTION_CLOCKS, 0);
	const struct ktread_section *offsets = ktread_layout_section(trace->layout, KTRX_SECTION_OFFSETS, 0);

	if (trace->options.raw_clock || (!clocks && !offsets))
		return 0;
	return clocks ? load_rows(trace, clocks) : load_newest(trace, offsets);
}
