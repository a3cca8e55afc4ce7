/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Measures the cost of an event on the host. The library runs in user space and is compared with other
 * designs of a record path, alternately in one process. Times are medians of the CPU time per round. The
 * results are ratios.
 *
 *   tight     events back to back; reading the counter hides much of the other costs
 *   busy      what an event adds to a loop that keeps the ALUs busy: closest to real code
 *   no clock  tight, with the counter replaced by a variable
 *
 * Prints JSON objects, one per line, on stdout, and a table on stderr. Exits with 1 if a limit is exceeded or
 * cannot be measured.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktrace/ktrace.h>

#include "hooks.h"
#include "loops.h"
#include "moment.h"
#include "peers.h"
#include "steps.h"
#include "short.h"

#define RUNS	  15
#define TWIN_RUNS 90
#define BUSY_RUNS TWIN_RUNS
/*
 * For ratios of loops that are timed directly one after another: minimum percentage of runs that must be
 * valid. If fewer runs are valid, the ratio is "not measurable".
 */
#define LEAST_PERCENT 66
#define TRIES	      8 /* maximum number of attempts to time a loop while its core is not shared */
#define TIGHT_ROUNDS  400000u
#define BUSY_ROUNDS   200000u
#define RING_SLOTS    8192u

/*
 * Upper limits. Most of them limit a ratio to the cost of a bare read of the counter in the same
 * run.
 */
#define BAR_TIGHT_RATIO 1.02
#define BAR_BUSY_RATIO	2.0
/* The limit is generous, because an xadd takes 1.5 ns on one CPU model and 4 ns on another. */
#define BAR_NO_CLOCK_RATIO 1.05
/* The limit is generous, because CPU models execute different numbers of branches per cycle. */
#define BAR_OFF_RATIO	 1.15
#define BAR_INSTRUCTIONS 60
/* Upper limit for the hooks of a lock: the cost of taking and releasing it, relative to an event. */
#define BAR_LOCK_RATIO 1.0

volatile uint64_t bench_clock = 1;
static int shared_moments; /* number of measured times during which the core was shared */

static const struct variant {
	const char *name;
	void (*tight)(uint64_t n);
	void (*busy)(uint64_t n);
	int off; /* nonzero if the events are off while the loops run */
} variants[] = {
	{ "empty", empty_tight, empty_busy, 0 },
	{ "counter", counter_tight, counter_busy, 0 },
	{ "floor", floor_tight, floor_busy, 0 },
	{ "add, no clock", added_tight, added_busy, 0 },
	{ "add, check, no clock", add_check_tight, add_check_busy, 0 },
	{ "locked add, rdtscp", locked_tight, locked_busy, 0 },
	{ "ktrace", record_tight, record_busy, 0 },
	{ "ktrace, unpinned", checked_tight, checked_busy, 0 },
	{ "ktrace, no clock", no_clock_tight, no_clock_busy, 0 },
	{ "ktrace, system call", record_call_tight, record_call_busy, 0 },
	{ "load, branch (x 8)", branch_tight, branch_busy, 0 },
	{ "ktrace, off (x 8)", record_eight_tight, record_eight_busy, 1 },
	{ "hooks: lock", hooks_lock_tight, hooks_lock_busy, 0 },
	{ "hooks: mutex", hooks_mutex_tight, hooks_mutex_busy, 0 },
	{ "hooks: interrupts", hooks_interrupts_tight, hooks_interrupts_busy, 0 },
	{ "hooks: irq", hooks_irq_tight, hooks_irq_busy, 0 },
	{ "hooks: sleep, wake", hooks_sleep_tight, hooks_sleep_busy, 0 },
};
enum {
	EMPTY,
	COUNTER,
	FLOOR,
	ADDED,
	ADD_CHECK,
	LOCKED,
	KTRACE_ON,
	KTRACE_CHECKED,
	KTRACE_NO_CLOCK,
	KTRACE_CALL,
	BRANCH,
	KTRACE_OFF,
	HOOKS_LOCK,
	HOOKS_MUTEX,
	HOOKS_INTERRUPTS,
	HOOKS_IRQ,
	HOOKS_SLEEP,
	VARIANTS
};

struct times {
	double tight[VARIANTS], busy[VARIANTS]; /* time per round in ns */
};

static int compare(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median(double *samples, int count)
{
	qsort(samples, (size_t)count, sizeof(samples[0]), compare);
	return samples[count / 2];
}

/*
 * Returns the time of a loop. If the core was shared during the loop, measures again, up to TRIES times in
 * all.
 */
static double own_time(void (*loop)(uint64_t n), uint64_t rounds)
{
	double time = 0;
	bool own = false;

	for (int i = 0; i < bench_times(TRIES) && !own; i++) {
		own = true;
		time = moment_time(loop, rounds, &own);
	}
	shared_moments += !own;
	return time;
}

/*
 * Measures the time of all variants. Each run measures every variant once, so that anything that slows the
 * machine down affects all of them.
 */
static struct times measure(void)
{
	static double tight[VARIANTS][RUNS], busy[VARIANTS][RUNS];
	const int runs = bench_times(RUNS);
	struct times result;

	for (int run = 0; run < runs; run++) {
		for (int i = 0; i < VARIANTS; i++) {
			if (variants[i].off)
				ktrace_control("bench.*=off");
			tight[i][run] = own_time(variants[i].tight, TIGHT_ROUNDS);
			busy[i][run] = own_time(variants[i].busy, BUSY_ROUNDS);
			if (variants[i].off)
				ktrace_control("bench.*=on");
		}
	}
	for (int i = 0; i < VARIANTS; i++) {
		result.tight[i] = median(tight[i], runs);
		result.busy[i] = median(busy[i], runs);
	}
	return result;
}

/*
 * One of two threads that time loops at the same time, each with its own CPU and ring. Loops that are
 * compared run directly one after another, because other load on a machine changes quickly. `floor` is the
 * ratio of the cheapest record path: it shows how much any two threads that write to memory slow each other
 * down on this machine.
 */
struct twin {
	uint32_t cpu;
	pthread_barrier_t *start;
	/* Ratios of floor_tight and record_tight to the bare counter; 0 if too few runs are valid. */
	double floor, ktrace;
	int shared; /* number of runs left out, because the core was shared */
};

static void thread_set_up(uint32_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	/*
	 * Fails if there is only one CPU. The two threads then take turns, and the measured values are
	 * still usable.
	 */
	sched_setaffinity(0, sizeof(set), &set);
	bench_cpu = cpu;
	ktrace_cpu_online(cpu);
}

static double twin_time(const struct twin *twin, void (*loop)(uint64_t n), double *slowest)
{
	pthread_barrier_wait(twin->start);
	return moment_time_beside(loop, TIGHT_ROUNDS, slowest);
}

/*
 * Moves the values of the valid runs to the front and returns the number of valid runs. A run is valid if
 * the empty loops timed before and after its loops took at most MOMENT_SHARED_RATIO times what they took in
 * the median run of this thread. The reference is not the fastest run: if both twins run on one core, the
 * empty loop is exceptionally fast whenever the other twin waits. Requires: there are at most TWIN_RUNS runs.
 */
static int choose(double *first, double *second, const double *slowest, int runs)
{
	double sorted[TWIN_RUNS], usual;
	int kept = 0;

	memcpy(sorted, slowest, (size_t)runs * sizeof(sorted[0]));
	usual = median(sorted, runs);
	for (int run = 0; run < runs; run++) {
		if (slowest[run] > usual * MOMENT_SHARED_RATIO)
			continue;
		first[kept] = first[run];
		second[kept++] = second[run];
	}
	return kept;
}

static void *twin_main(void *argument)
{
	struct twin *twin = argument;
	double floor[TWIN_RUNS], ktrace[TWIN_RUNS], slowest[TWIN_RUNS] = { 0 };
	const int all = bench_times(TWIN_RUNS);
	int runs;

	thread_set_up(twin->cpu);
	for (int run = 0; run < all; run++) {
		double counter = twin_time(twin, counter_tight, &slowest[run]);

		floor[run] = twin_time(twin, floor_tight, &slowest[run]) / counter;
		ktrace[run] = twin_time(twin, record_tight, &slowest[run]) / counter;
	}
	runs = choose(floor, ktrace, slowest, all);
	twin->shared = all - runs;
	if (runs >= all * LEAST_PERCENT / 100) {
		twin->floor = median(floor, runs);
		twin->ktrace = median(ktrace, runs);
	}
	return NULL;
}

/* Returns the greater of two ratios; 0 if one of them is 0 (not measurable). */
static double worse(double a, double b)
{
	if (a == 0 || b == 0)
		return 0;
	return a > b ? a : b;
}

/* Runs two twins at the same time. Returns, for each ratio, the greater value of the two. */
static struct twin two_threads(void)
{
	pthread_barrier_t start;
	struct twin twins[2] = { { .cpu = 1, .start = &start }, { .cpu = 2, .start = &start } };
	pthread_t threads[2];

	pthread_barrier_init(&start, NULL, 2);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, twin_main, &twins[i]) != 0)
			exit(2);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&start);
	return (struct twin){ .floor = worse(twins[0].floor, twins[1].floor),
			      .ktrace = worse(twins[0].ktrace, twins[1].ktrace),
			      .shared = twins[0].shared + twins[1].shared };
}

/* The ratio of what an event and a bare read of the counter add to a busy loop. */
struct added {
	double ratio; /* 0 if too few runs are valid */
	int shared;   /* number of runs left out, because the core was shared */
};

/*
 * Measures this ratio. A run times the busy loop alone, with the counter, with an event, and alone again,
 * directly one after another; the loop's own time is subtracted. The valid runs are chosen as for twins.
 * The result is the median of the valid runs' ratios. (The quotient of differences between separate
 * medians varies by a tenth from one call to the next, because each difference is a small part of the
 * loop's time.)
 */
static struct added measure_added(void)
{
	double ratio[BUSY_RUNS], counters[BUSY_RUNS], slowest[BUSY_RUNS] = { 0 };
	const int all = bench_times(BUSY_RUNS);
	int runs;

	for (int run = 0; run < all; run++) {
		const double before = moment_time_beside(empty_busy, BUSY_ROUNDS, &slowest[run]),
			     counter = moment_time_beside(counter_busy, BUSY_ROUNDS, &slowest[run]),
			     event = moment_time_beside(record_busy, BUSY_ROUNDS, &slowest[run]),
			     after = moment_time_beside(empty_busy, BUSY_ROUNDS, &slowest[run]),
			     alone = (before + after) / 2;

		counters[run] = counter;
		ratio[run] = (event - alone) / (counter - alone);
	}
	runs = choose(counters, ratio, slowest, all);
	return (struct added){ .ratio = runs >= all * LEAST_PERCENT / 100 ? median(ratio, runs) : 0,
			       .shared = all - runs };
}

static void print_variants(const struct times *times)
{
	fprintf(stderr, "%-20s %9s %9s %9s %13s\n", "record path", "tight ns", "ratio", "busy+ ns",
		"instructions");
	for (int i = 0; i < VARIANTS; i++) {
		double busy = times->busy[i] - times->busy[EMPTY];
		double steps = variants[i].off ? 0 : steps_per_round(variants[i].tight);

		fprintf(stderr, "%-20s %9.3f %9.3f %9.2f %13.0f\n", variants[i].name, times->tight[i],
			times->tight[i] / times->tight[COUNTER], busy, steps);
		printf("{\"bench\":\"record\",\"path\":\"%s\",\"tight_ns\":%.3f,\"tight_ratio\":%.3f,"
		       "\"busy_ns\":%.3f,\"instructions\":%.0f}\n",
		       variants[i].name, times->tight[i], times->tight[i] / times->tight[COUNTER], busy,
		       steps);
	}
}

static int bar(const char *name, double value, double most)
{
	int held = value > 0 && value <= most; /* 0 means that the ratio was not measurable */

	fprintf(stderr, "%-44s %8.3f  bar %7.2f  %s\n", name, value, most,
		held	     ? "held"
		: value == 0 ? "NOT MEASURABLE: too many runs left out"
			     : "MISSED");
	printf("{\"bench\":\"record\",\"bar\":\"%s\",\"value\":%.3f,\"most\":%.3f,\"held\":%s}\n", name,
	       value, most,
	       held	    ? "true"
	       : value == 0 ? "null"
			    : "false");
	return held;
}

static int print_bars(const struct times *times)
{
	const struct added added = measure_added();
	const struct twin twin = two_threads();
	int held = 1;

	held &= bar("tight, ratio to bare counter", times->tight[KTRACE_ON] / times->tight[COUNTER],
		    BAR_TIGHT_RATIO);
	fprintf(stderr, "%-44s %8d of %d\n", "times taken although the core was shared", shared_moments,
		2 * VARIANTS * RUNS);
	fprintf(stderr, "%-44s %8d of %d\n", "runs of two threads left out, at most a third", twin.shared,
		2 * TWIN_RUNS);
	fprintf(stderr, "%-44s %8.3f\n", "floor, two threads, worse ratio", twin.floor);
	held &= bar("tight, two threads, worse ratio", twin.ktrace, BAR_TIGHT_RATIO);
	fprintf(stderr, "%-44s %8d of %d\n", "runs of the busy loop left out, at most a third", added.shared,
		bench_times(BUSY_RUNS));
	held &= bar("busy, ratio to bare counter", added.ratio, BAR_BUSY_RATIO);
	held &= bar("no clock, ratio to bare add, check, stores",
		    times->tight[KTRACE_NO_CLOCK] / times->tight[ADD_CHECK], BAR_NO_CLOCK_RATIO);
	held &= bar("off, ratio to bare load and branch",
		    (times->tight[KTRACE_OFF] - times->tight[EMPTY]) /
			    (times->tight[BRANCH] - times->tight[EMPTY]),
		    BAR_OFF_RATIO);
	held &= bar("hooks of a lock, ratio to an event", times->tight[HOOKS_LOCK] / times->tight[KTRACE_ON],
		    BAR_LOCK_RATIO);
	held &= bar("instructions", steps_per_round(record_tight), BAR_INSTRUCTIONS);
	return held;
}

/*
 * Facts that a kernel can report by one call, or by two calls (an event, and an update of the state). See
 * record/hooks.h.
 */
static const struct fact {
	const char *name;
	void (*one)(uint64_t n);
	void (*two)(uint64_t n);
} facts[] = {
#define FACT(name)                                             \
	{                                                      \
#name, hooks_##name##_one, hooks_##name##_two, \
	}
	FACT(switch), FACT(wake), FACT(block), FACT(lock), FACT(irq),
};
#define FACTS (sizeof(facts) / sizeof(facts[0]))

/* Measures the costs of both ways of reporting each fact, in alternating runs, and prints them. */
static void print_facts(const char *how)
{
	const int runs = bench_times(RUNS);

	for (size_t n = 0; n < FACTS; n++) {
		double one[RUNS], two[RUNS];

		for (int run = 0; run < runs; run++) {
			one[run] = own_time(facts[n].one, TIGHT_ROUNDS);
			two[run] = own_time(facts[n].two, TIGHT_ROUNDS);
		}
		const double one_ns = median(one, runs), two_ns = median(two, runs);
		const double one_steps = steps_per_round(facts[n].one),
			     two_steps = steps_per_round(facts[n].two);

		fprintf(stderr, "%-9s %-7s %10.2f %10.2f %10.0f %10.0f\n", facts[n].name, how, two_ns, one_ns,
			two_steps, one_steps);
		printf("{\"bench\":\"facts\",\"fact\":\"%s\",\"how\":\"%s\",\"two_ns\":%.3f,\"one_ns\":%.3f,"
		       "\"two_instructions\":%.0f,\"one_instructions\":%.0f}\n",
		       facts[n].name, how, two_ns, one_ns, two_steps, one_steps);
	}
}

/*
 * Must be the last measurement, because it turns the state hooks off, and they cannot be turned on
 * again.
 */
static void measure_facts(void)
{
	fprintf(stderr, "%-9s %-7s %10s %10s %10s %10s\n", "fact", "", "two, ns", "one, ns", "two, steps",
		"one, steps");
	print_facts("on");
	ktrace_control("debug.ktr.state=0");
	print_facts("event");
	ktrace_control("sched.*=off,lock.*=off,irq.*=off");
	print_facts("off");
}

int main(void)
{
	static _Alignas(64) unsigned char lent[4 * RING_SLOTS * KTRX_SLOT_SIZE];
	const struct ktrace_memory memory = { lent, sizeof(lent) };
	const struct ktrace_config config = { .size = sizeof(config),
					      .cpus = 3,
					      .slots = RING_SLOTS,
					      .holders = 64,
					      .blocks = 1,
					      .memory = &memory };
	struct times times;
	int held;

	if (ktrace_init(&config) != KTRACE_OK)
		return 2;
	thread_set_up(0);
	times = measure();
	print_variants(&times);
	held = print_bars(&times);
	measure_facts();
	return held || bench_short() ? 0 : 1;
}
