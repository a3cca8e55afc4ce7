/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "clock.h"

#define KTRACE_DRIFT 2000u /* ticks in which clocks drift apart by one, at most: 500 ppm */

int64_t ktrace_clock_drift(uint64_t from, uint64_t to)
{
	return to > from ? (int64_t)((to - from) / KTRACE_DRIFT + 1) : 0;
}

void ktrace_clock_write(struct ktrx_clock_sample *at, const struct ktrx_clock_sample *sample)
{
	volatile struct ktrx_clock_sample *to = at;

	to->check = 0;
	ktrace_arch_store_barrier();
	to->stamp = sample->stamp;
	to->offset = sample->offset;
	to->error = sample->error;
	ktrace_arch_store_barrier();
	to->check = ktrx_clock_check(sample);
}

void ktrace_clock_at_least(struct ktrace_clock_line *line, uint64_t stamp, int64_t offset)
{
	struct ktrace_clock_bound *lower = &line->lower;

	if (line->has_lower && offset < lower->offset - ktrace_clock_drift(lower->stamp, stamp))
		return;
	lower->stamp = stamp;
	lower->offset = offset;
	line->has_lower = 1;
}

void ktrace_clock_at_most(struct ktrace_clock_line *line, uint64_t stamp, int64_t offset)
{
	struct ktrace_clock_bound *upper = &line->upper;

	if (line->has_upper && offset > upper->offset + ktrace_clock_drift(upper->stamp, stamp))
		return;
	upper->stamp = stamp;
	upper->offset = offset;
	line->has_upper = 1;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * The newest stamp that a CPU left, 0 if none. Its row has stamps of hooks, too: of those that are called
 * where the thread cannot be moved, so that the clock is this CPU's.
 */
static uint64_t newest(const struct ktrace_clock_line *line, const volatile struct ktrx_cpu *row)
{
	uint64_t stamp = __atomic_load_n(&line->stamp, __ATOMIC_ACQUIRE);

	stamp = later(stamp, row->heartbeat_stamp);
	stamp = later(stamp, row->irq_stamp);
	return later(stamp, row->switch_stamp);
}

void ktrace_clock_look(struct ktrace_clock_line *line, const struct ktrace_clock_line *first,
		       const volatile struct ktrx_cpu *row)
{
	uint64_t there = newest(first, row), here;

	if (there == 0)
		return;
	here = ktrace_clock_between();
	ktrace_clock_at_least(line, here, (int64_t)(there - here));
}

void ktrace_clock_look_from_first(struct ktrace_clock_line *line, const volatile struct ktrx_cpu *row)
{
	uint32_t forgotten = *(const volatile uint32_t *)&line->forgotten;
	const struct ktrx_clock_sample *seen = &line->seen;
	struct ktrx_clock_sample sample;
	uint64_t there = newest(line, row);

	if (there == 0)
		return;
	sample.offset = (int64_t)(ktrace_clock_between() - there);
	sample.stamp = there;
	sample.error = forgotten;
	if (seen->check != 0 && seen->error == forgotten &&
	    sample.offset > seen->offset + ktrace_clock_drift(seen->stamp, there))
		return;
	ktrace_clock_write(&line->seen, &sample);
}

/* CPU 0 may be writing it just now; then it is taken the next time. */
static void take_seen(struct ktrace_clock_line *line)
{
	const volatile struct ktrx_clock_sample *seen = &line->seen;
	struct ktrx_clock_sample sample;

	sample.check = seen->check;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	sample.stamp = seen->stamp;
	sample.offset = seen->offset;
	sample.error = seen->error;
	if (sample.check != ktrx_clock_check(&sample) || sample.error != line->forgotten)
		return;
	if (!line->has_upper || sample.stamp > line->upper.stamp)
		ktrace_clock_at_most(line, sample.stamp, sample.offset);
	else if (sample.offset + ktrace_clock_drift(sample.stamp, line->upper.stamp) < line->upper.offset) {
		line->upper.stamp = sample.stamp;
		line->upper.offset = sample.offset;
	}
}

int ktrace_clock_estimate(struct ktrace_clock_line *line, struct ktrx_clock_sample *sample)
{
	uint64_t now = ktrace_clock_between();
	int64_t least, most;

	take_seen(line);
	if (!line->has_lower || !line->has_upper)
		return 0;
	least = line->lower.offset - ktrace_clock_drift(line->lower.stamp, now);
	most = line->upper.offset + ktrace_clock_drift(line->upper.stamp, now);
	if (least > most) {
		line->has_lower = line->has_upper = 0;
		*(volatile uint32_t *)&line->forgotten += 1;
		return 0;
	}
	sample->stamp = now;
	sample->error = ((uint64_t)most - (uint64_t)least + 1) / 2;
	sample->offset = least + (int64_t)(sample->error);
	return 1;
}
