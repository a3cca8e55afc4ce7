/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Measuring clocks. The CPU that asks takes the one cell, and for each round trip leaves a number in `ping`; CPU 0
 * answers with its stamp and the same number in `pong`. Numbers never come again, so an answer that is late by a
 * whole measurement is not taken for another one's.
 *
 * Nothing here waits without bound. Who asks gives the cell back in every case; only a CPU that is stopped for
 * good in between keeps it, and then nothing is measured any more.
 */
#include "clock.h"

#include "ktrace/clock.h"
#include "ktrace/settings.h"

#define KTRACE_ROUNDS	    16u
#define KTRACE_ROUNDS_LEAST 3u /* the first one waits for CPU 0 to come, and says little */
#define KTRACE_ROUND_BITS   8
#define KTRACE_ROUND_END    0xffu /* behind the last round: CPU 0 may go */

/* Polls, a few nanoseconds each: until CPU 0 is there, and from then on. */
#define KTRACE_PATIENCE_FIRST 200000u
#define KTRACE_PATIENCE_NEXT  20000u

#define KTRACE_DRIFT 10000u /* ticks in which clocks drift apart by one, at most: 100 ppm */

#define KTRACE_BEATS_APART 10u /* where the frequency is unknown */
#define KTRACE_A_SECOND	   10u /* measurements */
#define KTRACE_RETRY	   10u /* a failed one is repeated after this part of the interval */

/* Who asks and who answers write lines of their own. */
static KTRACE_IN_DATA struct {
	uint64_t owner __attribute__((__aligned__(64))); /* CPU that asks, plus 1 */
	uint64_t ping;
	uint64_t pong __attribute__((__aligned__(64)));
	uint64_t pong_stamp; /* valid for the number in `pong` */
	uint32_t serving;    /* CPU 0 alone: in an interrupt of its own answer it does nothing */
} cell = { 0 };

static KTRACE_IN_DATA struct ktrace_clock_rows rows = { 0 };
static KTRACE_IN_DATA void (*ask)(uint32_t cpu) = KTRACE_NULL;
static KTRACE_IN_DATA uint32_t resynchronize = 0;
KTRACE_SETTING_RANGE("debug.ktr.resynchronize", resynchronize, 0, 1);

/* From 1: 0 is no stamp. */
KTRACE_IN_DATA uint64_t ktrace_ticks = 1;

void ktrace_clock_open(const struct ktrace_clock_rows *given, void (*request)(uint32_t cpu))
{
	ktrace_copy(&rows, given, sizeof(rows));
	ask = request;
}

/* The clock, not read before what stands in front of it nor after what stands behind. */
static uint64_t clock_between(void)
{
	uint64_t stamp;

	ktrace_arch_clock_fence();
	stamp = ktrace_arch_clock();
	ktrace_arch_clock_fence();
	return stamp;
}

/* ---- CPU 0's side ------------------------------------------------------------------------------- */

static void answer(void)
{
	uint64_t answered = cell.pong;
	uint32_t answers = 0, polls = 0;

	while (polls++ < KTRACE_PATIENCE_NEXT && answers < 2 * KTRACE_ROUNDS) {
		uint64_t ping = __atomic_load_n(&cell.ping, __ATOMIC_ACQUIRE);

		if (ping == answered)
			continue;
		if ((ping & ((1u << KTRACE_ROUND_BITS) - 1)) == KTRACE_ROUND_END)
			return;
		*(volatile uint64_t *)&cell.pong_stamp = clock_between();
		ktrace_arch_publish(&cell.pong, ping);
		answered = ping;
		answers++;
		polls = 0;
	}
}

void ktrace_clock_serve(void)
{
	if (__atomic_load_n(&cell.owner, __ATOMIC_RELAXED) == 0 ||
	    KTRX_WORD_RING(ktrace_arch_reserve_read()) != 1 || cell.serving)
		return;
	*(volatile uint32_t *)&cell.serving = 1;
	answer();
	*(volatile uint32_t *)&cell.serving = 0;
}

/* ---- The side of the CPU that asks --------------------------------------------------------------- */

static int await(uint64_t number, uint32_t patience)
{
	while (patience--)
		if (__atomic_load_n(&cell.pong, __ATOMIC_ACQUIRE) == number)
			return 1;
	return 0;
}

/* One round trip: 0 if there was no answer. */
static int round_trip(uint64_t number, uint32_t patience, struct ktrx_clock_sample *sample)
{
	uint64_t left = clock_between(), there, back;

	ktrace_arch_publish(&cell.ping, number);
	if (patience == KTRACE_PATIENCE_FIRST && ask)
		ask(0);
	if (!await(number, patience))
		return 0;
	back = clock_between();
	there = *(volatile uint64_t *)&cell.pong_stamp;
	sample->stamp = left + (back - left) / 2;
	sample->offset = (int64_t)(there - sample->stamp);
	sample->error = (back - left + 1) / 2;
	return 1;
}

/*
 * The quickest of the round trips that were answered. A hypervisor may take CPU 0 away after any of them; those before
 * are as good as ever. Returns how many there were.
 */
static uint32_t best_trip(uint64_t session, struct ktrx_clock_sample *best)
{
	struct ktrx_clock_sample sample;
	uint32_t round;

	best->stamp = 0;
	best->offset = 0;
	best->error = UINT64_MAX;
	for (round = 1; round <= KTRACE_ROUNDS; round++) {
		if (!round_trip(session | round, round == 1 ? KTRACE_PATIENCE_FIRST : KTRACE_PATIENCE_NEXT,
				&sample))
			break;
		if (sample.error < best->error)
			*best = sample;
	}
	return round - 1;
}

/* The cell is ours alone. Returns how many round trips were answered. */
static uint32_t measure_in_cell(struct ktrx_clock_sample *sample)
{
	uint64_t session = ((cell.ping >> KTRACE_ROUND_BITS) + 1) << KTRACE_ROUND_BITS;
	uint32_t answered = best_trip(session, sample);

	ktrace_arch_publish(&cell.ping, session | KTRACE_ROUND_END);
	return answered;
}

/*
 * Does the sample say more than what is known? The newest one is right to its error and to what the clocks have drifted
 * since. Only a measurement that was broken off can be worse.
 */
static int is_better(const struct ktrx_clock *row, const struct ktrx_clock_sample *sample)
{
	const struct ktrx_clock_sample *newest;

	if (row->samples == 0)
		return 1;
	newest = &row->sample[row->samples - 1];
	return sample->error <= newest->error + (sample->stamp - newest->stamp) / KTRACE_DRIFT;
}

/* ---- What is kept -------------------------------------------------------------------------------- */

/* Readers tell by the check word what is being written just now. */
static void sample_write(struct ktrx_clock_sample *at, const struct ktrx_clock_sample *sample)
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

static void thin(struct ktrx_clock *row)
{
	for (uint32_t i = 1; i < KTRX_CLOCK_SAMPLES / 2; i++)
		sample_write(&row->sample[i], &row->sample[2 * i]);
	*(volatile uint32_t *)&row->samples = KTRX_CLOCK_SAMPLES / 2;
	row->spacing *= 2;
}

/* The last sample is the newest; it is replaced until it lies `spacing` measurements behind the one before. */
static void keep(struct ktrx_clock *row, const struct ktrx_clock_sample *sample)
{
	uint32_t at = row->samples;

	if (row->spacing == 0)
		row->spacing = 1;
	if (at > 1 && row->since < row->spacing) {
		sample_write(&row->sample[at - 1], sample);
		row->since++;
		return;
	}
	if (at == KTRX_CLOCK_SAMPLES) {
		thin(row);
		at = row->samples;
	}
	sample_write(&row->sample[at], sample);
	*(volatile uint32_t *)&row->samples = at + 1;
	row->since = 1;
}

static int measure(uint32_t cpu)
{
	struct ktrx_clock *row = &rows.clock[cpu];
	struct ktrx_clock_sample sample;
	uint32_t answered;

	if (!ktrace_arch_compare_swap(&cell.owner, 0, cpu + 1))
		return KTRACE_ERROR_BUSY;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	answered = measure_in_cell(&sample);
	ktrace_arch_publish(&cell.owner, 0);
	if (answered < KTRACE_ROUNDS && (answered < KTRACE_ROUNDS_LEAST || !is_better(row, &sample))) {
		*(volatile uint64_t *)&row->failed += 1;
		return KTRACE_ERROR_BUSY;
	}
	keep(row, &sample);
	*(volatile uint64_t *)&row->measured += 1;
	*(volatile int64_t *)&rows.offset[cpu] = sample.offset;
	return KTRACE_OK;
}

int ktrace_clock_measure(void)
{
	uint32_t ring = ktrace_state.initialised ? KTRX_WORD_RING(ktrace_arch_reserve_read()) : 0;

	if (ring == 0 || !rows.clock)
		return KTRACE_ERROR_STATE;
	return ring == 1 ? KTRACE_OK : measure(ring - 1);
}

int64_t ktrace_clock_offset(uint32_t cpu)
{
	if (!rows.offset || cpu >= ktrace_state.cpus)
		return 0;
	return *(volatile int64_t *)&rows.offset[cpu];
}

void ktrace_clock_beat(uint32_t cpu, uint64_t heartbeats)
{
	uint64_t frequency = ktrace_root.frequency;
	uint64_t interval = frequency ? frequency / KTRACE_A_SECOND : KTRACE_BEATS_APART;
	uint64_t now = frequency ? ktrace_arch_clock() : heartbeats;
	struct ktrx_clock *row;

	if (cpu == 0) {
		*(volatile uint64_t *)&ktrace_ticks += 1;
		ktrace_clock_serve();
	}
	if (cpu == 0 || !rows.clock)
		return;
	row = &rows.clock[cpu];
	if (!*(volatile uint32_t *)&resynchronize && !(rows.once && row->measured == 0))
		return;
	if (row->due != 0 && (int64_t)(now - row->due) < 0)
		return;
	if (measure(cpu) != KTRACE_OK)
		interval = interval / KTRACE_RETRY + 1;
	row->due = now + interval;
}
