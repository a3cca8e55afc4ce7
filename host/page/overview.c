/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* How many events each CPU has in each part of the time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ktrx/v2.h"
#include "page/pass.h"

#define BUCKETS_MOST 65536u

struct overview {
	struct page *page;
	uint64_t last; /* timestamp of the last event */
	uint32_t buckets;
	uint64_t width; /* of a bucket, in ns */
	uint32_t **cpu; /* by CPU: number of events in each bucket; NULL: the CPU has none */
	uint32_t cpus;	/* number of elements of `cpu`; the last one is for events of unknown CPUs */
};

/* Returns the counts of a CPU, or NULL if memory is short. */
static uint32_t *counts_of(struct overview *overview, uint32_t cpu)
{
	const uint32_t n = cpu < THREADS_CPUS_MAX ? cpu : THREADS_CPUS_MAX;
	uint32_t **larger = base_grow(overview->cpu, &overview->cpus, (size_t)n + 1, sizeof(*larger));

	if (!larger)
		return NULL;
	overview->cpu = larger;
	if (!larger[n])
		larger[n] = calloc(overview->buckets, sizeof(*larger[n]));
	return larger[n];
}

static int count(struct overview *overview)
{
	struct ktread_brief brief[256];
	int status;

	while ((status = ktread_next_briefs(overview->page->trace, brief, 256)) > 0) {
		for (int n = 0; n < status; n++) {
			uint32_t *counts = counts_of(overview, brief[n].cpu);
			uint64_t bucket = page_time(overview->page, brief[n].stamp) / overview->width;

			if (!counts)
				return KTREAD_E_MEMORY;
			/* A guest that runs may have recorded later events since the page was opened. */
			bucket = bucket < overview->buckets ? bucket : overview->buckets - 1;
			counts[bucket] += counts[bucket] < UINT32_MAX;
		}
	}
	return status;
}

static void write_density(const struct overview *overview, uint32_t lane, const uint32_t *counts,
			  struct page_block *block)
{
	struct page_bytes head = { .byte = NULL }, column[3] = { { .byte = NULL } };
	uint32_t used = 0;

	for (uint32_t n = 0, last = 0; n < overview->buckets; n++) {
		if (counts[n] == 0)
			continue;
		page_put(&column[0], n - last);
		page_put(&column[1], counts[n]);
		page_put(&column[2], PAGE_CLASS_OTHER);
		last = n;
		used++;
	}
	page_put(&head, lane);
	page_put(&head, overview->width);
	page_put(&head, used);
	page_block_section(block, PAGE_DENSITY, &head, column, 3);
	page_bytes_free(&head);
	for (unsigned n = 0; n < 3; n++)
		page_bytes_free(&column[n]);
}

/* Adds the gaps. The number of slots that are missing in a gap is not known here. */
static int write_gaps(const struct overview *overview, struct page_block *block)
{
	const struct page *page = overview->page;
	struct page_gaps gaps = { .gap = NULL };
	struct gaps_gap gap;
	int status = 0;

	for (uint32_t n = 0; status == 0 && gaps_at(page->gaps, n, &gap); n++)
		status = page_gaps_add(
			&gaps,
			&(struct page_gap){
				.begin = page_time(page, gap.from),
				.end = page_time(page, gap.to < overview->last ? gap.to : overview->last),
				.cpu = gap.cpu,
			});
	page_gaps_write(&gaps, block);
	free(gaps.gap);
	return status;
}

static int write_all(const struct overview *overview, struct page_block *block)
{
	struct page_strings strings = { .text = NULL };
	struct page_lanes lanes = { .count = 0 };
	char name[32];

	for (uint32_t cpu = 0; cpu < overview->cpus; cpu++) {
		const bool known = cpu < THREADS_CPUS_MAX;

		if (!overview->cpu[cpu])
			continue;
		snprintf(name, sizeof(name), known ? "CPU %u" : "CPU unknown", cpu);
		page_lane_add(&lanes, known ? PAGE_LANE_CPU : PAGE_LANE_OTHER, cpu,
			      page_string(&strings, name, strlen(name)), 0, 0);
	}
	page_strings_write(&strings, block);
	page_lanes_write(&lanes, block);
	for (uint32_t cpu = 0, lane = 0; cpu < overview->cpus; cpu++)
		if (overview->cpu[cpu])
			write_density(overview, lane++, overview->cpu[cpu], block);
	page_strings_free(&strings);
	page_bytes_free(&lanes.new);
	return write_gaps(overview, block);
}

int page_write_overview(struct page *page, uint32_t buckets, page_take *take, void *context)
{
	struct page_block *block = page_block_create(take, context);
	struct overview overview = { .page = page, .last = page->last };
	int status = block ? 0 : KTREAD_E_MEMORY;

	overview.buckets = buckets < 1 ? 1 : buckets < BUCKETS_MOST ? buckets : BUCKETS_MOST;
	overview.width = page_time(page, page->last) / overview.buckets + 1;
	if (status == 0)
		status = count(&overview);
	if (status == 0)
		status = write_all(&overview, block);
	if (status == 0)
		status = page_block_end(block);
	page_block_free(block);
	for (uint32_t cpu = 0; cpu < overview.cpus; cpu++)
		free(overview.cpu[cpu]);
	free(overview.cpu);
	return status < 0 ? status : ktread_rewind(page->trace);
}
