/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Checks a trace of the demo kernel's `stress` workload, whose records contain check words
 * (demo/kern/work/stress.c). No record may fail its own check. The sequence of each source may have gaps only
 * where the reader reports loss. The numbers of slots must add up exactly. Prints one line of counts; the
 * exit status is 1 if any check fails.
 *
 * usage: stress_check TRACE
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktread/ktread.h"
#include "ktrx/v2.h"

#define CHECK_FACTOR UINT64_C(0x9e3779b97f4a7c15)
#define CPUS	     8
#define CONTEXTS     3

struct source {
	uint64_t next; /* next expected sequence number; valid if `seen` is true */
	/* number of losses in the source's ring, up to the source's last record (see losses[]) */
	uint64_t losses;
	int seen;
};

struct counts {
	uint64_t checked;
	uint64_t wrong; /* number of records that fail their own check */
	uint64_t jumps; /* number of gaps in a sequence for which no loss is reported */
	/* for each ring: number of losses that the reader has reported so far */
	uint64_t losses[KTRX_MAX_RINGS];
	struct source source[CPUS][CONTEXTS];
};

static void wrong(struct counts *counts, const struct ktread_event *event, const char *what)
{
	if (counts->wrong++ < 10)
		printf("ring %u index %" PRIu64 ": %s\n", event->ring, event->index, what);
}

static void check_words(struct counts *counts, const struct ktread_event *event, uint64_t check)
{
	struct ktread_value value;

	for (uint32_t n = 1; n <= 5; n++)
		if (ktread_value(event, 2 + n, &value) != 0 || value.number != check + n)
			wrong(counts, event, "a word of a long record belongs to another record");
}

static void check_sequence(struct counts *counts, const struct ktread_event *event, uint32_t cpu,
			   uint32_t context, uint64_t sequence)
{
	struct source *source = &counts->source[cpu][context];
	uint64_t losses = counts->losses[event->ring];

	if (source->seen && sequence != source->next && (losses == source->losses || sequence < source->next))
		if (counts->jumps++ < 10)
			printf("ring %u index %" PRIu64 ": CPU %u context %u sequence %" PRIu64
			       " after %" PRIu64 "\n",
			       event->ring, event->index, cpu, context, sequence, source->next - 1);
	source->next = sequence + 1;
	source->losses = losses;
	source->seen = 1;
}

static void check_event(struct counts *counts, const struct ktread_event *event)
{
	struct ktread_value source, sequence, check;
	uint32_t cpu, context;

	if (ktread_value(event, 0, &source) != 0 || ktread_value(event, 1, &sequence) != 0 ||
	    ktread_value(event, 2, &check) != 0) {
		wrong(counts, event, "a field is missing");
		return;
	}
	counts->checked++;
	if (check.number != (sequence.number << 18 ^ source.number) * CHECK_FACTOR) {
		wrong(counts, event, "fails its own check");
		return;
	}
	if (strcmp(event->type->name, "long") == 0)
		check_words(counts, event, check.number);
	cpu = (uint32_t)source.number & 0xffff;
	context = (uint32_t)source.number >> 16;
	if (cpu >= CPUS || context >= CONTEXTS || (event->ring != 0 && event->cpu != cpu))
		wrong(counts, event, "is in the ring of another CPU");
	else
		check_sequence(counts, event, cpu, context, sequence.number);
}

/* Returns true if the numbers of slots of every ring add up. Requires: all events were read. */
static int rings_add_up(const struct ktread *trace, uint64_t *produced, uint64_t *invalid)
{
	int right = 1;

	for (uint32_t n = 0; n < ktread_info(trace)->rings; n++) {
		const struct ktread_ring *ring = ktread_ring(trace, n);

		*produced += ring->head;
		*invalid += ring->invalid;
		if (ring->head != ring->overwritten + ring->decoded + ring->invalid) {
			printf("ring %u: %" PRIu64 " slots are not %" PRIu64 " + %" PRIu64 " + %" PRIu64 "\n",
			       n, ring->head, ring->overwritten, ring->decoded, ring->invalid);
			right = 0;
		}
	}
	return right;
}

int main(int argc, char **argv)
{
	static struct counts counts;
	struct ktread *trace;
	const struct ktread_event *event;
	uint64_t produced = 0, invalid = 0;
	int result;

	if (argc != 2) {
		fprintf(stderr, "usage: stress_check TRACE\n");
		return 2;
	}
	if (ktread_open(&trace, argv[1], NULL) != 0) {
		fprintf(stderr, "stress_check: %s\n", ktread_message(NULL));
		return 1;
	}
	while ((result = ktread_next(trace, &event)) > 0) {
		if (event->lost)
			counts.losses[event->ring]++;
		if (strcmp(event->type->group, "stress") == 0)
			check_event(&counts, event);
	}
	if (result < 0)
		printf("%s\n", ktread_message(trace));
	if (!rings_add_up(trace, &produced, &invalid))
		result = -1;
	printf("checked=%" PRIu64 " wrong=%" PRIu64 " jumps=%" PRIu64 " produced=%" PRIu64 " invalid=%" PRIu64
	       "\n",
	       counts.checked, counts.wrong, counts.jumps, produced, invalid);
	ktread_close(trace);
	return result < 0 || counts.wrong || counts.jumps || counts.checked == 0;
}
