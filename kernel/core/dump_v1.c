/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Version 1 dumps. All rings of that format have the same size, which must be known before the first record
 * is written. So a first pass counts records, and a second pass writes them. Heads are stored before both
 * passes, so the second pass never finds more records than the first. A CPU's ring in the dump contains its
 * records from all rings, ordered by timestamp.
 */
#include "../base/bytes.h"
#include "reader.h"
#include "ktrx/v1.h"

#define KTRACE_WORDS 5u

/*
 * Stores the fields in the order of their declaration: one word for each field, two words for a 64-bit field
 * (low half first). Stops when there are no more words or no more fields.
 */
static void map_fields(uint32_t data[KTRACE_WORDS], const struct ktrx_event *row,
		       const struct ktrace_walk_record *record)
{
	uint32_t at = 0, word = 0;

	ktrace_zero(data, KTRACE_WORDS * sizeof(data[0]));
	for (uint32_t i = 0; i < row->fields && i < KTRX_EVENT_FIELDS && word < KTRACE_WORDS; i++) {
		uint32_t bytes = ktrace_field_bytes(row->type[i]);
		uint64_t value;

		if (bytes == 0 || at + bytes > record->bytes)
			break;
		value = ktrace_field_value(record->payload + at, row->type[i]);
		data[word++] = (uint32_t)value;
		if (bytes == 8 && word < KTRACE_WORDS)
			data[word++] = (uint32_t)(value >> 32);
		at += bytes;
	}
}

/* Walks over the records of one ring, and skips those that version 1 cannot represent. */
struct v1_walk {
	struct ktrace_walk walk;
	const struct ktrx_root *root;
	uint32_t row_id; /* event id for which `row`, an event descriptor, was looked up */
	const struct ktrx_event *row;
	uint32_t omitted;
};

static void v1_start(struct v1_walk *v1, const struct ktrx_root *root, const struct ktrx_ring *ring,
		     uint64_t head)
{
	ktrace_walk_start(&v1->walk, ring, head);
	v1->root = root;
	v1->row_id = 0;
	v1->row = NULL;
	v1->omitted = 0;
}

static bool v1_next(struct v1_walk *v1, struct ktrace_walk_record *record)
{
	const struct ktrx_place *place;

	while (ktrace_walk_next(&v1->walk, record)) {
		if (record->event != v1->row_id) {
			v1->row_id = record->event;
			v1->row = ktrace_descriptor_of(v1->root, record->event, &place);
		}
		if (v1->row && v1->row->v1_id <= KTRX1_MAX_EVENT && record->cpu < KTRX1_MAX_CPUS)
			return true;
		v1->omitted++;
	}
	return false;
}

struct v1_plan {
	uint32_t cpus;
	uint32_t slots;	  /* number of slots of each ring in the dump */
	uint32_t omitted; /* number of records that are left out */
};

static uint32_t power_of_two(uint32_t least)
{
	uint32_t size = 1;

	while (size < least)
		size <<= 1;
	return size;
}

static void count_records(struct v1_plan *plan, const struct ktrx_root *root, const struct ktrx_ring *ring,
			  const struct ktrace_stream *stream)
{
	uint32_t count[KTRX1_MAX_CPUS];
	struct ktrace_walk_record record;
	struct v1_walk v1;

	for (uint32_t cpu = 0; cpu < KTRX1_MAX_CPUS; cpu++)
		((volatile uint32_t *)count)[cpu] = 0;
	plan->cpus = root->cpus < 1 ? 1 : root->cpus > KTRX1_MAX_CPUS ? KTRX1_MAX_CPUS : root->cpus;
	plan->slots = 1;
	plan->omitted = 0;
	for (uint32_t i = 0; i < stream->rings; i++) {
		v1_start(&v1, root, &ring[i], stream->heads[i]);
		while (v1_next(&v1, &record)) {
			if (plan->cpus <= record.cpu)
				plan->cpus = record.cpu + 1;
			if (++count[record.cpu] > plan->slots)
				plan->slots = count[record.cpu];
		}
		plan->omitted += v1.omitted;
	}
	plan->slots = power_of_two(plan->slots);
}

static void put_header(struct ktrace_stream *stream, const struct ktrx_root *root, const struct v1_plan *plan)
{
	struct ktrx1_header *header = (struct ktrx1_header *)ktrace_stream_room(stream, sizeof(*header));

	ktrace_copy(header->magic, KTRX_MAGIC, sizeof(header->magic));
	header->version = KTRX1_VERSION;
	header->frequency = root->frequency;
	header->cpus = plan->cpus;
	header->slots = plan->slots;
	header->record_size = KTRX1_RECORD_SIZE;
	header->flags = 0;
	ktrace_zero(header->reserved, sizeof(header->reserved));
}

static void put_record(struct ktrace_stream *stream, const struct ktrace_walk_record *record,
		       const struct ktrx_event *row)
{
	struct ktrx1_record *out = (struct ktrx1_record *)ktrace_stream_room(stream, sizeof(*out));

	out->stamp = record->stamp ? record->stamp : 1; /* a timestamp of 0 means an empty slot */
	out->header = KTRX1_HEADER(row->v1_id, record->cpu, record->thread & KTRX1_PID_MASK, 0);
	map_fields(out->data, row, record);
}

/*
 * Maximum number of rings that contain records of one CPU: the boot ring, the CPU's own ring, and the ring of
 * rare events.
 */
#define KTRACE_SOURCE_COUNT 3u

struct v1_source {
	struct v1_walk v1;
	uint64_t stamp; /* timestamp of the next record */
	bool is_pending;
};

static bool next_of(struct v1_walk *v1, uint32_t cpu, struct ktrace_walk_record *record)
{
	while (v1_next(v1, record))
		if (record->cpu == cpu)
			return true;
	return false;
}

/*
 * Reads the next record with a copy of the walk, so that the walk itself can read the record again. The
 * record is not stored, because one record for each source would need too much memory.
 */
static void peek(struct v1_source *source, uint32_t cpu, struct ktrace_walk_record *record)
{
	struct v1_walk ahead;

	ktrace_copy_words(&ahead, &source->v1, sizeof(ahead));
	source->is_pending = next_of(&ahead, cpu, record);
	if (source->is_pending)
		source->stamp = record->stamp;
}

static struct v1_source *oldest(struct v1_source *source, uint32_t sources)
{
	struct v1_source *found = NULL;

	for (uint32_t i = 0; i < sources; i++)
		if (source[i].is_pending && (!found || source[i].stamp < found->stamp))
			found = &source[i];
	return found;
}

/* Writes one CPU's ring. Leaves out records that were overwritten between the two passes. */
static void put_cpu(struct ktrace_stream *stream, const struct ktrx_root *root, const struct ktrx_ring *ring,
		    const struct v1_plan *plan, uint32_t cpu)
{
	struct ktrace_walk_record record;
	struct v1_source source[KTRACE_SOURCE_COUNT], *next;
	uint32_t left = plan->slots, sources = 0;

	for (uint32_t i = 0; i < stream->rings && sources < KTRACE_SOURCE_COUNT; i++) {
		if (ring[i].cpu != cpu && ring[i].kind != KTRX_RING_SHARED)
			continue;
		v1_start(&source[sources].v1, root, &ring[i], stream->heads[i]);
		peek(&source[sources++], cpu, &record);
	}
	while (left > 0 && (next = oldest(source, sources)) != NULL) {
		if (next_of(&next->v1, cpu, &record)) {
			put_record(stream, &record, next->v1.row);
			left--;
		}
		peek(next, cpu, &record);
	}
	ktrace_stream_zero(stream, (uint64_t)left * KTRX1_RECORD_SIZE);
}

int ktrace_dump_v1(const struct ktrx_root *root, struct ktrace_sink *sink, uint32_t *omitted)
{
	uint32_t rings = 0;
	const struct ktrx_ring *ring = ktrace_root_rings(root, &rings);
	struct ktrace_stream stream;
	struct v1_plan plan;
	int error;

	error = ktrace_stream_open(&stream, sink, root, KTRX_MAX_RINGS);
	if (error)
		return error;
	count_records(&plan, root, ring, &stream);
	*omitted = plan.omitted;
	ktrace_stream_begin(&stream, sizeof(struct ktrx1_header) +
					     (uint64_t)plan.cpus * plan.slots * KTRX1_RECORD_SIZE);
	put_header(&stream, root, &plan);
	for (uint32_t cpu = 0; cpu < plan.cpus; cpu++)
		put_cpu(&stream, root, ring, &plan, cpu);
	return ktrace_stream_close(&stream);
}
