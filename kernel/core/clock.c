/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Measures clocks. All CPUs share one structure, the cell. A CPU owns the cell while it measures its clock
 * ("the CPU that asks"), and writes a number to `ping` for each round trip. CPU 0 answers with its
 * timestamp and the same number in `pong`. Numbers are never reused, so a very late answer is not taken for
 * the answer to another measurement.
 *
 * A round trip needs both CPUs to run at the same time, which a busy host rarely provides for a guest. So
 * both CPUs also store timestamps for each other: in round trips, timer ticks, interrupts and thread
 * switches. Each of these timestamps gives a lower or an upper bound of the offset.
 *
 * All waits have a limit. The CPU that asks always releases the cell at the end. But if that CPU is stopped
 * for ever before it has released the cell, no CPU can make a round trip any more.
 */
#include "core.h"

#include "ktrace/clock.h"

#define KTRACE_CLOCK_ROUNDS 16u
#define KTRACE_ROUND_BITS   8
#define KTRACE_ROUND_END    0xffu /* value of `ping` after the last round trip: CPU 0 may stop polling */

/*
 * Maximum numbers of polls: while waiting for the first answer, and for each later answer. A poll takes a few
 * nanoseconds.
 */
#define KTRACE_PATIENCE_FIRST 160000u
#define KTRACE_PATIENCE_NEXT  16000u
/* number of polls after which a new timestamp is stored for the other CPU */
#define KTRACE_SHOW_POLLS 256u

/* number of heartbeats between two measurements if the clock's frequency is unknown */
#define KTRACE_BEATS_APART 10u
#define KTRACE_A_SECOND	   10u /* number of measurements per second */
#define KTRACE_RETRY	   10u /* a failed measurement is repeated after 1/KTRACE_RETRY of the interval */
/* maximum number of measurements of a CPU's clock while no round trip has succeeded */
#define KTRACE_ONCE_MOST 64u
#define KTRACE_ROUNDING	 2u  /* tolerance for rounding errors, in ticks */
#define KTRACE_LOOKS	 16u /* number of CPUs whose timestamps CPU 0 reads per tick */
/* number of ticks in which two clocks drift apart by at most one tick: 500 ppm */
#define KTRACE_DRIFT 2000u

/* ---- bounds of an offset ---------------------------------------------------------------------- */

/*
 * Bounds of a CPU's offset to CPU 0's clock, from timestamps that one CPU stores in memory and the other
 * reads later.
 *
 * CPU 0 stored its timestamp before this CPU reads it. So CPU 0's clock now shows at least that timestamp: a
 * lower bound. In the same way, this CPU's timestamp that CPU 0 reads gives an upper bound. Neither bound
 * needs both CPUs to run at the same time. A timestamp that is read late gives a loose bound, but never a
 * wrong one. The tightest lower and upper bounds are stored; they widen with age by the greatest drift that
 * is possible.
 */

/* Reads the clock, ordered after the preceding and before the following memory accesses. */
KTRACE_INLINE uint64_t clock_between(void)
{
	uint64_t stamp;

	ktrace_arch_clock_fence();
	stamp = ktrace_arch_clock();
	ktrace_arch_clock_fence();
	return stamp;
}

/* Stores a timestamp of this CPU's clock in the CPU's cache line, where other CPUs read it. */
KTRACE_INLINE void clock_show(struct ktrace_clock_line *line)
{
	ktrace_arch_publish(&line->stamp, clock_between());
}

/* Returns how many ticks two clocks can drift apart between the times `from` and `to`. */
static int64_t clock_drift(uint64_t from, uint64_t to)
{
	return to > from ? (int64_t)((to - from) / KTRACE_DRIFT + 1) : 0;
}

/* Writes a sample. Its check shows readers whether it is complete. */
static void clock_write(struct ktrx_clock_sample *at, const struct ktrx_clock_sample *sample)
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

/*
 * Stores a lower bound if it is tighter than the stored bound, which has widened with its age. Requires:
 * `stamp` is not lower than in the previous call.
 */
static void clock_at_least(struct ktrace_clock_line *line, uint64_t stamp, int64_t offset)
{
	struct ktrace_clock_bound *lower = &line->lower;

	if (line->has_lower && offset < lower->offset - clock_drift(lower->stamp, stamp))
		return;
	lower->stamp = stamp;
	lower->offset = offset;
	line->has_lower = 1;
}

static void clock_at_most(struct ktrace_clock_line *line, uint64_t stamp, int64_t offset)
{
	struct ktrace_clock_bound *upper = &line->upper;

	if (line->has_upper && offset > upper->offset + clock_drift(upper->stamp, stamp))
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
 * Returns the newest timestamp that a CPU has stored for other CPUs; 0 if there is none. Also uses the
 * timestamps that the hooks for heartbeats, interrupts and thread switches have stored in `row`. No thread
 * can migrate while these hooks run, so these timestamps are from the clock of the CPU that `row` belongs to.
 */
static uint64_t newest(const struct ktrace_clock_line *line, const volatile struct ktrx_cpu *row)
{
	uint64_t stamp = __atomic_load_n(&line->stamp, __ATOMIC_ACQUIRE);

	stamp = later(stamp, row->heartbeat_stamp);
	stamp = later(stamp, row->irq_stamp);
	return later(stamp, row->switch_stamp);
}

/*
 * Reads the newest timestamp of CPU 0, and stores the bound that it gives in `line`. `first` and `row` are
 * the entries of CPU 0 in the two tables. Requires: the caller is the CPU that owns `line`.
 */
static void clock_look(struct ktrace_clock_line *line, const struct ktrace_clock_line *first,
		       const volatile struct ktrx_cpu *row)
{
	uint64_t there = newest(first, row), here;

	if (there == 0)
		return;
	here = clock_between();
	clock_at_least(line, here, (int64_t)(there - here));
}

/*
 * Reads the newest timestamp of the CPU that `line` and `row` belong to, and stores the bound that it gives.
 * Requires: the caller is CPU 0.
 */
static void clock_look_from_first(struct ktrace_clock_line *line, const volatile struct ktrx_cpu *row)
{
	uint32_t forgotten = *(const volatile uint32_t *)&line->forgotten;
	const struct ktrx_clock_sample *seen = &line->seen;
	struct ktrx_clock_sample sample;
	uint64_t there = newest(line, row);

	if (there == 0)
		return;
	sample.offset = (int64_t)(clock_between() - there);
	sample.stamp = there;
	sample.error = forgotten;
	if (seen->check != 0 && seen->error == forgotten &&
	    sample.offset > seen->offset + clock_drift(seen->stamp, there))
		return;
	clock_write(&line->seen, &sample);
}

/* Reads the bound that CPU 0 found. If CPU 0 is writing the bound at this moment, this call has no effect. */
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
		clock_at_most(line, sample.stamp, sample.offset);
	else if (sample.offset + clock_drift(sample.stamp, line->upper.stamp) < line->upper.offset) {
		line->upper.stamp = sample.stamp;
		line->upper.offset = sample.offset;
	}
}

/*
 * Computes the current offset and its error. Requires: the caller is the CPU that owns `line`.
 * Returns 0 if a bound is missing, or if bounds contradict each other. If bounds contradict each other,
 * software has changed a clock: then all bounds are discarded.
 */
static int clock_estimate(struct ktrace_clock_line *line, struct ktrx_clock_sample *sample)
{
	uint64_t now = clock_between();
	int64_t least, most;

	take_seen(line);
	if (!line->has_lower || !line->has_upper)
		return 0;
	least = line->lower.offset - clock_drift(line->lower.stamp, now);
	most = line->upper.offset + clock_drift(line->upper.stamp, now);
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

/* ---- the cell, which all CPUs share ----------------------------------------------------------- */

/* The cell. The CPU that asks writes to one cache line of the cell, and CPU 0 writes to the other. */
static KTRACE_IN_DATA struct {
	/* number of the CPU that asks, plus 1; 0: the cell is free */
	uint64_t owner __attribute__((__aligned__(64)));
	uint64_t ping;
	uint64_t pong __attribute__((__aligned__(64)));
	uint64_t pong_stamp; /* CPU 0's timestamp for the number in `pong` */
	/* nonzero while CPU 0 answers: an interrupt handler on CPU 0 must not answer then */
	uint32_t serving;
	uint32_t look; /* number of the CPU whose timestamp CPU 0 reads next */
} cell = { 0 };

static KTRACE_IN_DATA struct ktrace_clock_rows clock_rows = { 0 };
static KTRACE_IN_DATA void (*ask)(uint32_t cpu) = KTRACE_NULL;
static KTRACE_IN_DATA uint32_t resynchronize = 0;
KTRACE_SETTING_RANGE("debug.ktr.resynchronize", resynchronize, 0, 1);

/* The count starts at 1, because a timestamp of 0 means that there is no timestamp. */
KTRACE_IN_DATA uint64_t ktrace_ticks = 1;

void ktrace_clock_open(const struct ktrace_clock_rows *given, void (*request)(uint32_t cpu))
{
	ktrace_copy(&clock_rows, given, sizeof(clock_rows));
	ask = request;
}

/* ---- CPU 0's side ------------------------------------------------------------------------------- */

static void look_at(uint32_t cpu)
{
	if (cpu < ktrace_state.cpus)
		clock_look_from_first(&clock_rows.line[cpu], &ktrace_state.cpu[cpu]);
}

static void answer(uint32_t asker)
{
	uint64_t answered = cell.pong;
	uint32_t answers = 0, polls = 0;

	while (polls++ < KTRACE_PATIENCE_NEXT && answers < 2 * KTRACE_CLOCK_ROUNDS) {
		uint64_t ping = __atomic_load_n(&cell.ping, __ATOMIC_ACQUIRE);

		if (polls % KTRACE_SHOW_POLLS == 1) {
			look_at(asker);
			clock_show(&clock_rows.line[0]);
		}
		if (ping == answered)
			continue;
		if ((ping & ((1u << KTRACE_ROUND_BITS) - 1)) == KTRACE_ROUND_END)
			return;
		*(volatile uint64_t *)&cell.pong_stamp = clock_between();
		ktrace_arch_publish(&cell.pong, ping);
		answered = ping;
		answers++;
		polls = 1;
	}
}

void ktrace_clock_serve(void)
{
	uint64_t owner = __atomic_load_n(&cell.owner, __ATOMIC_RELAXED);

	if (owner == 0 || KTRX_WORD_RING(ktrace_arch_reserve_read()) != 1 || cell.serving)
		return;
	*(volatile uint32_t *)&cell.serving = 1;
	answer((uint32_t)owner - 1);
	*(volatile uint32_t *)&cell.serving = 0;
}

/*
 * Reads timestamps of other CPUs. Called from CPU 0's heartbeat, after the heartbeat has stored CPU 0's
 * timestamp.
 */
static void look_around(void)
{
	uint32_t looks = ktrace_state.cpus < KTRACE_LOOKS ? ktrace_state.cpus : KTRACE_LOOKS;

	while (looks--) {
		uint32_t cpu = cell.look < ktrace_state.cpus ? cell.look : 0;

		*(volatile uint32_t *)&cell.look = cpu + 1;
		if (*(volatile uint8_t *)&clock_rows.line[cpu].wanted)
			look_at(cpu);
	}
}

/* ---- The side of the CPU that asks --------------------------------------------------------------- */

static void look_at_first(uint32_t cpu)
{
	clock_look(&clock_rows.line[cpu], &clock_rows.line[0], &ktrace_state.cpu[0]);
}

static int await(uint32_t cpu, uint64_t number, uint32_t patience)
{
	while (patience--) {
		if (__atomic_load_n(&cell.pong, __ATOMIC_ACQUIRE) == number)
			return 1;
		if (patience % KTRACE_SHOW_POLLS != 0)
			continue;
		look_at_first(cpu);
		clock_show(&clock_rows.line[cpu]);
	}
	return 0;
}

/* Makes one round trip, which bounds the offset from both sides. Returns 0 if there was no answer. */
static int round_trip(uint32_t cpu, uint64_t number, uint32_t patience)
{
	uint64_t left = clock_between(), there, back;

	ktrace_arch_publish(&clock_rows.line[cpu].stamp, left);
	ktrace_arch_publish(&cell.ping, number);
	if (patience == KTRACE_PATIENCE_FIRST && ask)
		ask(0);
	if (!await(cpu, number, patience))
		return 0;
	back = clock_between();
	there = *(volatile uint64_t *)&cell.pong_stamp;
	clock_at_most(&clock_rows.line[cpu], left, (int64_t)(there - left));
	clock_at_least(&clock_rows.line[cpu], back, (int64_t)(there - back));
	return 1;
}

/*
 * Makes round trips and returns how many were answered. A hypervisor may stop CPU 0 after any round trip; the
 * results of earlier round trips stay valid.
 * Requires: this CPU owns the cell.
 */
static uint32_t measure_in_cell(uint32_t cpu)
{
	uint64_t session = ((cell.ping >> KTRACE_ROUND_BITS) + 1) << KTRACE_ROUND_BITS;
	uint32_t round;

	for (round = 1; round <= KTRACE_CLOCK_ROUNDS; round++)
		if (!round_trip(cpu, session | round,
				round == 1 ? KTRACE_PATIENCE_FIRST : KTRACE_PATIENCE_NEXT))
			break;
	ktrace_arch_publish(&cell.ping, session | KTRACE_ROUND_END);
	return round - 1;
}

/* Returns nonzero if the sample is better than the newest stored sample, whose error grows with its age. */
static int is_better(const struct ktrx_clock *row, const struct ktrx_clock_sample *sample)
{
	const struct ktrx_clock_sample *newest;

	if (row->samples == 0)
		return 1;
	newest = &row->sample[row->samples - 1];
	return sample->error + KTRACE_ROUNDING <
	       newest->error + (uint64_t)clock_drift(newest->stamp, sample->stamp);
}

/* ---- Samples in the table of measurements -------------------------------------------------------- */

static void thin(struct ktrx_clock *row)
{
	for (uint32_t i = 1; i < KTRX_CLOCK_SAMPLES / 2; i++)
		clock_write(&row->sample[i], &row->sample[2 * i]);
	*(volatile uint32_t *)&row->samples = KTRX_CLOCK_SAMPLES / 2;
	row->spacing *= 2;
}

/*
 * Stores a sample. The last sample of the table is always the newest sample. A new sample replaces it, until
 * `spacing` measurements have been made since the last sample but one.
 */
static void keep(struct ktrx_clock *row, const struct ktrx_clock_sample *sample)
{
	uint32_t at = row->samples;

	if (row->spacing == 0)
		row->spacing = 1;
	if (at > 1 && row->since < row->spacing) {
		clock_write(&row->sample[at - 1], sample);
		row->since++;
		return;
	}
	if (at == KTRX_CLOCK_SAMPLES) {
		thin(row);
		at = row->samples;
	}
	clock_write(&row->sample[at], sample);
	*(volatile uint32_t *)&row->samples = at + 1;
	row->since = 1;
}

/* Returns the number of round trips that were answered; 0 if another CPU owns the cell. */
static uint32_t exchange(uint32_t cpu, int *asked)
{
	uint32_t answered;

	*asked = ktrace_arch_compare_swap(&cell.owner, 0, cpu + 1);
	if (!*asked)
		return 0;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	answered = measure_in_cell(cpu);
	ktrace_arch_publish(&cell.owner, 0);
	return answered;
}

static int measure(uint32_t cpu)
{
	struct ktrx_clock *row = &clock_rows.clock[cpu];
	struct ktrx_clock_sample sample;
	uint32_t answered;
	int asked;

	look_at_first(cpu);
	answered = exchange(cpu, &asked);
	if (!clock_estimate(&clock_rows.line[cpu], &sample) || (answered == 0 && !is_better(row, &sample))) {
		*(volatile uint64_t *)&row->failed += asked ? 1 : 0;
		return KTRACE_ERROR_BUSY;
	}
	if (answered > 0)
		clock_rows.line[cpu].answered = 1;
	keep(row, &sample);
	*(volatile uint64_t *)&row->measured += 1;
	*(volatile int64_t *)&clock_rows.offset[cpu] = sample.offset;
	return KTRACE_OK;
}

int ktrace_clock_measure(void)
{
	uint32_t ring = ktrace_state.initialised ? KTRX_WORD_RING(ktrace_arch_reserve_read()) : 0;

	if (ring == 0 || !clock_rows.clock)
		return KTRACE_ERROR_STATE;
	return ring == 1 ? KTRACE_OK : measure(ring - 1);
}

int64_t ktrace_clock_offset(uint32_t cpu)
{
	if (!clock_rows.offset || cpu >= ktrace_state.cpus)
		return 0;
	return *(volatile int64_t *)&clock_rows.offset[cpu];
}

/*
 * Returns nonzero if the clock of this CPU must be measured. With debug.ktr.resynchronize it is always
 * measured. With KTRACE_CLOCKS_ONLINE it is measured until a round trip succeeds; without a successful round
 * trip, the number of measurements is limited.
 */
static int cpu_is_wanted(uint32_t cpu)
{
	const struct ktrx_clock *row = &clock_rows.clock[cpu];

	if (*(volatile uint32_t *)&resynchronize)
		return 1;
	if (!clock_rows.once || clock_rows.line[cpu].answered)
		return 0;
	return row->measured == 0 || row->measured + row->failed < KTRACE_ONCE_MOST;
}

void ktrace_clock_beat(uint32_t cpu, uint64_t heartbeats)
{
	uint64_t frequency = ktrace_root.frequency;
	uint64_t interval = frequency ? frequency / KTRACE_A_SECOND : KTRACE_BEATS_APART;
	uint64_t now = frequency ? ktrace_arch_clock() : heartbeats;
	struct ktrx_clock *row;

	if (cpu == 0)
		*(volatile uint64_t *)&ktrace_ticks += 1;
	if (!clock_rows.clock)
		return;
	if (cpu == 0) {
		ktrace_clock_serve();
		look_around();
		return;
	}
	row = &clock_rows.clock[cpu];
	*(volatile uint8_t *)&clock_rows.line[cpu].wanted = (uint8_t)cpu_is_wanted(cpu);
	if (!clock_rows.line[cpu].wanted)
		return;
	look_at_first(cpu);
	if (row->due != 0 && (int64_t)(now - row->due) < 0)
		return;
	if (measure(cpu) != KTRACE_OK)
		interval = interval / KTRACE_RETRY + 1;
	row->due = now + interval;
}
