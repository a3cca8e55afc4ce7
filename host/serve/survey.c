/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Counts the events of each CPU and each thread in periods of equal length. The duration of the trace is not
 * known before the trace has been read. So the periods are short at first, and their length is doubled
 * whenever an event comes after the last period.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/summary.h"
#include "ktrx/v2.h"
#include "page/pass.h"
#include "serve/answers.h"

#define PARTS	     2048u
#define THREADS_MOST 8192u

struct row {
	uint32_t part[PARTS]; /* number of events in each period */
};

struct serve_survey {
	struct ktread *trace;
	struct tally *tally;
	uint64_t base;	/* timestamp at which period 0 begins */
	unsigned shift; /* the length of a period is 2^shift ticks */
	/* rows of CPUs; NULL: the CPU has no events; the last element is for unknown CPUs */
	struct row *cpu[TALLY_CPUS];
	struct row **thread[TALLY_THREAD_PAGES];
	uint32_t threads;  /* number of threads that have a row */
	struct row rest;   /* row for the events of all threads that have no row of their own */
	uint64_t *missing; /* indexed by ring: number of missing slots */
};

static void halve(struct row *row)
{
	for (uint32_t n = 0; n < PARTS / 2; n++)
		row->part[n] = row->part[2 * n] + row->part[2 * n + 1];
	memset(&row->part[PARTS / 2], 0, sizeof(row->part) / 2);
}

/* Doubles the length of each period. */
static void widen(struct serve_survey *survey)
{
	for (uint32_t cpu = 0; cpu < TALLY_CPUS; cpu++)
		if (survey->cpu[cpu])
			halve(survey->cpu[cpu]);
	for (uint32_t page = 0; page < TALLY_THREAD_PAGES; page++)
		for (uint32_t n = 0; survey->thread[page] && n < TALLY_THREAD_PAGE; n++)
			if (survey->thread[page][n])
				halve(survey->thread[page][n]);
	survey->shift++;
}

/* Adds a row for a thread and returns it; NULL if memory runs out. */
static struct row *add_thread(struct serve_survey *survey, uint32_t thread)
{
	struct row ***page = &survey->thread[(thread & KTRX_THREAD_MAX) / TALLY_THREAD_PAGE];

	if (survey->threads == THREADS_MOST)
		return &survey->rest;
	if (!*page)
		*page = calloc(TALLY_THREAD_PAGE, sizeof(**page));
	if (!*page)
		return NULL;
	survey->threads++;
	return (*page)[thread % TALLY_THREAD_PAGE] = calloc(1, sizeof(struct row));
}

static inline struct row *row_of_thread(struct serve_survey *survey, uint32_t thread)
{
	struct row **page = survey->thread[(thread & KTRX_THREAD_MAX) / TALLY_THREAD_PAGE];

	if (__builtin_expect(page && page[thread % TALLY_THREAD_PAGE], 1))
		return page[thread % TALLY_THREAD_PAGE];
	return add_thread(survey, thread);
}

static inline struct row *row_of_cpu(struct serve_survey *survey, uint32_t cpu)
{
	struct row **row = &survey->cpu[cpu < TALLY_CPUS ? cpu : TALLY_CPUS - 1];

	if (__builtin_expect(!*row, 0))
		*row = calloc(1, sizeof(**row));
	return *row;
}

static int take(void *context, const struct ktread_brief *brief, unsigned count)
{
	struct serve_survey *survey = context;

	for (unsigned n = 0; n < count; n++) {
		struct row *cpu = row_of_cpu(survey, brief[n].cpu);
		struct row *thread = row_of_thread(survey, brief[n].thread);
		const uint64_t ticks = brief[n].stamp > survey->base ? brief[n].stamp - survey->base : 0;

		if (!cpu || !thread)
			return -1;
		while (__builtin_expect(ticks >> survey->shift >= PARTS, 0))
			widen(survey);
		cpu->part[ticks >> survey->shift]++;
		thread->part[ticks >> survey->shift]++;
	}
	return 0;
}

static uint64_t missing_of(const struct ktread_ring *ring)
{
	return ring->overwritten + ring->invalid + ring->dropped;
}

/* Copies the numbers of missing slots, because the trace forgets them when it is rewound. */
static uint64_t *copy_missing(const struct ktread *trace)
{
	const uint32_t count = ktread_info(trace)->rings;
	uint64_t *missing = calloc((size_t)count + 1, sizeof(*missing));

	for (uint32_t n = 0; missing && n < count; n++)
		missing[n] = missing_of(ktread_ring(trace, n));
	return missing;
}

int serve_survey_read(struct serve_survey **result, struct ktread *trace, uint64_t base)
{
	struct serve_survey *survey = calloc(1, sizeof(*survey));
	int status;

	*result = survey;
	if (!survey)
		return KTREAD_E_MEMORY;
	survey->trace = trace;
	survey->base = base;
	status = tally_trace_with(&survey->tally, trace, take, survey);
	survey->missing = copy_missing(trace);
	return status == 0 && !survey->missing ? KTREAD_E_MEMORY : status;
}

void serve_survey_free(struct serve_survey *survey)
{
	if (!survey)
		return;
	for (uint32_t cpu = 0; cpu < TALLY_CPUS; cpu++)
		free(survey->cpu[cpu]);
	for (uint32_t page = 0; page < TALLY_THREAD_PAGES; page++) {
		for (uint32_t n = 0; survey->thread[page] && n < TALLY_THREAD_PAGE; n++)
			free(survey->thread[page][n]);
		free(survey->thread[page]);
	}
	free(survey->missing);
	tally_free(survey->tally);
	free(survey);
}

const struct tally *serve_survey_tally(const struct serve_survey *survey)
{
	return survey->tally;
}

/* ---- Writing ---- */

/* State that is needed while a survey is written as blocks. */
struct writing {
	const struct serve_survey *survey;
	struct page page; /* a page that is used only to convert times */
	struct page_block *block;
	struct page_strings strings;
	struct page_lanes lanes;
	struct page_gaps gaps;
	uint32_t lane;	   /* number of the lane whose density is written next */
	uint64_t *missing; /* indexed by ring: number of missing slots */
};

static void write_density(const struct writing *writing, uint32_t lane, const struct row *row)
{
	const uint64_t width =
		page_time(&writing->page, writing->page.base + (UINT64_C(1) << writing->survey->shift));
	struct page_bytes head = { .byte = NULL }, column[3] = { { .byte = NULL } };
	uint32_t used = 0;

	for (uint32_t n = 0, last = 0; n < PARTS; n++) {
		if (row->part[n] == 0)
			continue;
		page_put(&column[0], n - last);
		page_put(&column[1], row->part[n]);
		page_put(&column[2], PAGE_CLASS_OTHER);
		last = n;
		used++;
	}
	page_put(&head, lane);
	page_put(&head, width ? width : 1);
	page_put(&head, used);
	page_block_section(writing->block, PAGE_DENSITY, &head, column, 3);
	page_bytes_free(&head);
	for (unsigned n = 0; n < 3; n++)
		page_bytes_free(&column[n]);
}

/* Calls `each` for each row that contains events, in the order of lanes. */
static void each_row(struct writing *writing, void (*each)(struct writing *writing, enum page_lane_kind kind,
							   uint32_t number, const struct row *row))
{
	const struct serve_survey *survey = writing->survey;

	for (uint32_t cpu = 0; cpu < TALLY_CPUS; cpu++)
		if (survey->cpu[cpu])
			each(writing, cpu == TALLY_CPUS - 1 ? PAGE_LANE_OTHER : PAGE_LANE_CPU, cpu,
			     survey->cpu[cpu]);
	for (uint32_t page = 0; page < TALLY_THREAD_PAGES; page++)
		for (uint32_t n = 0; survey->thread[page] && n < TALLY_THREAD_PAGE; n++)
			if (survey->thread[page][n])
				each(writing, PAGE_LANE_THREAD, page * TALLY_THREAD_PAGE + n,
				     survey->thread[page][n]);
}

static void add_lane(struct writing *writing, enum page_lane_kind kind, uint32_t number,
		     const struct row *row)
{
	const char *name =
		kind == PAGE_LANE_THREAD ? ktread_thread_name(writing->survey->trace, number) : NULL;
	char text[32];

	(void)row;
	snprintf(text, sizeof(text),
		 kind == PAGE_LANE_CPU	    ? "CPU %u"
		 : kind == PAGE_LANE_THREAD ? "thread %u"
					    : "CPU unknown",
		 number);
	if (!name)
		name = text;
	page_lane_add(&writing->lanes, kind, number, page_string(&writing->strings, name, strlen(name)), 0,
		      0);
}

static void add_density(struct writing *writing, enum page_lane_kind kind, uint32_t number,
			const struct row *row)
{
	(void)kind;
	(void)number;
	write_density(writing, writing->lane++, row);
}

/* State of a ring while its gaps are searched for. */
struct ring_gaps {
	/*
	 * timestamp of the ring's newest event so far; before its first event, the timestamp of the trace's
	 * first event
	 */
	uint64_t seen;
	uint64_t lost; /* number of missing slots that are in the gaps added so far */
	bool begun;
};

static int add_gap(struct writing *writing, uint32_t cpu, uint64_t from, uint64_t to, uint64_t lost)
{
	return page_gaps_add(&writing->gaps, &(struct page_gap){ .begin = page_time(&writing->page, from),
								 .end = page_time(&writing->page, to),
								 .lost = lost,
								 .cpu = cpu });
}

/*
 * Reads the rings of a CPU, and adds a gap wherever slots are missing. Stops when all missing slots are
 * found.
 */
static int read_gaps(struct writing *writing, uint32_t cpu, struct ring_gaps *rings)
{
	struct ktread *trace = writing->survey->trace;
	uint8_t map[THREADS_CPUS_MAX / 8] = { 0 };
	const struct ktread_filter filter = {
		.size = sizeof(filter), .cpus = map, .cpu_count = THREADS_CPUS_MAX, .thread = -1
	};
	const uint32_t count = ktread_info(trace)->rings;
	const struct ktread_event *event;
	uint64_t left = 0;
	int status;

	for (uint32_t n = 0; n < count; n++)
		left += ktread_ring(trace, n)->cpu == cpu ? writing->missing[n] : 0;
	map[cpu / 8] = (uint8_t)(1u << cpu % 8);
	status = ktread_set_filter(trace, &filter);
	if (status == 0)
		status = ktread_rewind(trace);
	while (status >= 0 && left > 0 && (status = ktread_next(trace, &event)) > 0) {
		struct ring_gaps *ring = &rings[event->ring];
		uint64_t lost = event->lost;

		if (ktread_ring(trace, event->ring)->cpu != cpu)
			continue;
		if (!ring->begun && lost == 0)
			lost = ktread_ring(trace, event->ring)->overwritten;
		if (lost > 0)
			status = add_gap(writing, cpu, ring->seen, event->stamp, lost);
		ring->lost += lost;
		left -= lost < left ? lost : left;
		ring->begun = true;
		ring->seen = event->stamp;
	}
	return status < 0 ? status : 0;
}

/* Adds a gap wherever slots are missing. Reads only the rings of CPUs with missing slots. */
static int add_gaps(struct writing *writing)
{
	struct ktread *trace = writing->survey->trace;
	const uint32_t count = ktread_info(trace)->rings;
	struct ring_gaps *rings = calloc((size_t)count + 1, sizeof(*rings));
	int status = rings ? 0 : KTREAD_E_MEMORY;

	for (uint32_t n = 0; status == 0 && n < count; n++) {
		const uint32_t cpu = ktread_ring(trace, n)->cpu;

		if (writing->missing[n] == 0)
			continue;
		rings[n].seen = writing->survey->base;
		if (cpu < THREADS_CPUS_MAX && !rings[n].begun)
			status = read_gaps(writing, cpu, rings);
		if (status == 0 && rings[n].lost < writing->missing[n])
			status = add_gap(writing, cpu, rings[n].seen, writing->survey->tally->last,
					 writing->missing[n] - rings[n].lost);
	}
	free(rings);
	return status;
}

static int write_all(struct writing *writing)
{
	const int status = add_gaps(writing);

	each_row(writing, add_lane);
	page_strings_write(&writing->strings, writing->block);
	page_lanes_write(&writing->lanes, writing->block);
	each_row(writing, add_density);
	page_gaps_write(&writing->gaps, writing->block);
	return status < 0 ? status : page_block_end(writing->block);
}

int serve_survey_write(const struct serve_survey *survey, page_take *take_block, void *context)
{
	struct writing *writing = calloc(1, sizeof(*writing));
	struct ktread *trace = survey->trace;
	int status = KTREAD_E_MEMORY, error;

	if (!writing)
		return status;
	writing->survey = survey;
	writing->page.base = survey->base;
	writing->missing = survey->missing;
	base_ticks_scale_init(&writing->page.scale, ktread_info(trace)->frequency);
	writing->block = page_block_create(take_block, context);
	if (writing->block)
		status = write_all(writing);
	error = ktread_set_filter(trace, NULL);
	if (error == 0)
		error = ktread_rewind(trace);
	page_block_free(writing->block);
	page_strings_free(&writing->strings);
	page_bytes_free(&writing->lanes.new);
	free(writing->gaps.gap);
	free(writing);
	return status < 0 ? status : error;
}
