/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Handles one trace from block to block. Decides which code is traced, when tracing begins and ends, when to
 * read the clock, and when to write a synchronization point. flow.c finds out which block followed which.
 */
#include <time.h>

#include "trace.h"

/* ---- Clocks ---- */

#define SECOND	       UINT64_C(1000000000)
#define STEPS_A_SECOND 500000u /* maximum number of time packets per second */

static uint64_t (*other_clock)(void);

void clock_use(uint64_t (*clock)(void))
{
	other_clock = clock;
}

uint64_t clock_nanoseconds(void)
{
	static _Atomic uint64_t first;
	struct timespec now;
	uint64_t nanoseconds, none = 0;

	if (other_clock != NULL)
		return other_clock();
	clock_gettime(CLOCK_MONOTONIC, &now);
	nanoseconds = (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
	if (first == 0)
		atomic_compare_exchange_strong(&first, &none, nanoseconds);
	return nanoseconds - first;
}

static uint64_t read_clock(const struct trace *trace)
{
	uint64_t passed = clock_nanoseconds() - trace->clock_start;

	if (trace->clock_frequency == SECOND)
		return trace->clock_base + passed;
	return trace->clock_base + passed / SECOND * trace->clock_frequency +
	       passed % SECOND * trace->clock_frequency / SECOND;
}

/* Returns the current time of the trace's clock, but at least the time that was written last. */
static uint64_t clock_of(const struct trace *trace)
{
	uint64_t now = read_clock(trace);

	return now > trace->time ? now : trace->time;
}

void clock_catch_up(struct trace *trace, uint64_t stamp)
{
	uint64_t now = read_clock(trace);

	if (stamp > now)
		trace->clock_base += stamp - now;
}

void clock_set(struct trace *trace, uint64_t stamp, uint64_t frequency)
{
	/*
	 * with a higher frequency, which no real clock has, the multiplication in read_clock() could overflow
	 */
	int sane = frequency != 0 && frequency < UINT64_MAX / SECOND;

	trace->time = 0;
	trace->clock_start = sane ? clock_nanoseconds() : 0;
	trace->clock_base = sane ? stamp : 0;
	trace->clock_frequency = sane ? frequency : SECOND;
	trace->clock_step = trace->clock_frequency / STEPS_A_SECOND;
}

/* ---- A trace: what is traced, and when ---- */

#define LOOK_LEAST 8u  /* minimum number of bytes of packets between two readings of the clock */
#define LOOK_MOST  64u /* maximum number of bytes of packets between two readings of the clock */
/*
 * number of clock steps: if the time has increased by more than this since it was last written, the clock was
 * read too rarely
 */
#define SLOW_STEPS 8u
#define SYNC_BYTES 4096u /* after this many bytes of packets, a synchronization point is due */
#define MARGIN	   (4 * ENCODER_MOST)

void trace_levels(struct trace *trace, int user, int kernel, uint64_t start, uint64_t end)
{
	trace->low = start;
	trace->span = user == kernel || end < start ? 0 : end - start;
	trace->others = kernel != 0;
}

/* Updates trace->simple. Must be called when `on`, the mode or the filters of a trace have changed. */
static void settle(struct trace *trace)
{
	int all = trace->span == 0 && trace->others && trace->ranges == 0;

	trace->simple = trace->on && all ? trace->mode : 0;
}

/*
 * Writes the time if it has increased enough since it was written last. Returns by how much it has increased.
 */
static uint64_t write_time(struct trace *trace)
{
	uint64_t before = trace->time, passed;

	if (!trace->timed)
		return 0;
	passed = clock_of(trace) - before;
	if (passed == 0 || (passed < trace->clock_step && !trace->renew))
		return passed;
	trace->time = before + passed;
	trace->encoder->time(trace, atomic_exchange(&trace->renew, 0) ? 0 : before);
	return passed;
}

/*
 * Reads the clock, and writes the time if it is due. Then adapts the number of bytes until the next reading:
 * if packets come more slowly, this number becomes smaller.
 */
static void look_at_clock(struct trace *trace)
{
	uint64_t passed = write_time(trace);

	if (passed < trace->clock_step || !trace->timed)
		trace->look = trace->look < LOOK_MOST ? 2 * trace->look : LOOK_MOST;
	else if (passed > SLOW_STEPS * trace->clock_step)
		trace->look = LOOK_LEAST;
}

void trace_break_off(struct trace *trace)
{
	trace->encoder->overflow(trace);
	trace->on = 0;
	settle(trace);
	output_set_reached(&trace->output, 0);
	trace->output.lost++;
	output_publish(&trace->output);
}

/*
 * Does what is due at this position of the output. If code has been replaced (`renew` is set), a decoder must
 * know the time before it decodes the code at `address`. But a decoder of Intel PT applies a time packet only
 * from the next branch on. So for Intel PT, a synchronization point is written, too.
 */
static void attend(struct trace *trace, uint64_t address, int reported)
{
	int renewed = trace->timed && trace->renew && trace->encoder->sync_anywhere;

	if (!output_fits(&trace->output, MARGIN)) {
		trace_break_off(trace);
		trace->full = 1;
		return;
	}
	look_at_clock(trace);
	if (renewed || (reported && output_position(&trace->output) >= trace->sync_at)) {
		trace->encoder->sync(trace, address);
		trace->sync_at = output_position(&trace->output) + SYNC_BYTES;
	}
	trace->attention = output_position(&trace->output) + trace->look;
	/* flow_renew_time() was called after the check above */
	if (trace->timed && trace->renew)
		trace->attention = 0;
	output_publish(&trace->output);
}

void trace_attend(struct trace *trace, uint64_t address)
{
	attend(trace, address, 1);
}

void trace_attend_unreported(struct trace *trace, uint64_t address)
{
	attend(trace, address, trace->encoder->sync_anywhere);
}

/*
 * Returns the mode in which the processor runs a block; `modes` is the set of possible modes. Returns 0 if
 * this mode cannot be traced.
 */
static uint8_t mode_of(const struct trace *trace, uint8_t modes)
{
	return modes & trace->mode ? trace->mode : trace->encoder->mode(trace->mode, modes);
}

void trace_turn_on(struct trace *trace, uint64_t address, uint8_t modes)
{
	if (trace->full) {
		trace->output.lost++;
		return;
	}
	trace->mode = mode_of(trace, modes);
	if (trace->mode == 0)
		return;
	write_time(trace);
	trace->encoder->on(trace, address);
	trace->on = 1;
	settle(trace);
	trace_written(trace, address);
}

void trace_turn_off(struct trace *trace, uint64_t address)
{
	trace->encoder->off(trace, address);
	trace->on = 0;
	settle(trace);
	output_set_reached(&trace->output, 0);
	trace_written(trace, address);
}

void trace_cross(struct trace *trace, const struct block *from, const struct block *to, int taken)
{
	int known = from->end < END_INDIRECT;
	uint8_t mode = mode_of(trace, to->modes);

	if (!trace->on) {
		if (trace_wants(trace, to->start))
			trace_turn_on(trace, to->start, to->modes);
		return;
	}
	if (!known && (mode == 0 || !trace_wants(trace, to->start))) {
		trace->encoder->off_branch(trace, from, to->start);
		trace->on = 0;
		settle(trace);
		output_set_reached(&trace->output, 0);
		trace_written(trace, to->start);
		return;
	}
	if (!known) {
		trace->mode = mode;
		settle(trace);
	}
	if (from->reported)
		trace->encoder->branch(trace, from, to->start, taken);
	if (known) {
		trace_turn_off(trace, to->start);
		if (trace_wants(trace, to->start))
			trace_turn_on(trace, to->start, to->modes);
		return;
	}
	trace_written(trace, to->start);
}

void trace_interrupt(struct trace *trace, uint64_t from, const struct block *to)
{
	uint8_t mode = mode_of(trace, to->modes);

	if (!trace->on) {
		if (trace_wants(trace, to->start))
			trace_turn_on(trace, to->start, to->modes);
		return;
	}
	if (mode == 0 || !trace_wants(trace, to->start)) {
		trace_turn_off(trace, from);
		return;
	}
	trace->mode = mode;
	settle(trace);
	/*
	 * The virtual CPU may have waited for the interrupt. Write the time here, so that the wait is shown
	 * before the interrupt and not in its handler.
	 */
	write_time(trace);
	trace->encoder->async(trace, from, to->start);
	trace_written(trace, to->start);
}

void trace_begin(struct trace *trace, uint64_t address)
{
	trace->enabled = 1;
	trace->on = 0;
	settle(trace);
	trace->full = !output_fits(&trace->output, MARGIN);
	trace->time = clock_of(trace);
	trace->look = LOOK_LEAST;
	trace->encoder->start(trace);
	if (trace->full)
		return;
	trace->encoder->sync(trace, address);
	trace->sync_at = output_position(&trace->output) + SYNC_BYTES;
	trace->attention = output_position(&trace->output) + trace->look;
}
