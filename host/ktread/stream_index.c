/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The index at the end of a stream: the time of each block, and the set of its events. No byte of the index
 * is trusted: an index that does not fit the stream is not used.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/grow.h"
#include "message.h"
#include "stream.h"
#include "versions.h"

/* maximum number of spans: each block has at most two */
#define SPANS_MAX (UINT32_C(2) << 20)

/* ---- Reading an index ---- */

/*
 * Reads the end of the file, where the index is. Returns 1 on success, 0 if there is no index, or an error.
 */
static int read_end(struct ktread_memory *file, struct ktrx_stream_index *end)
{
	uint64_t size = ktread_memory_run(file, 0);
	int status;

	if (size < sizeof(*end))
		return 0;
	status = ktread_memory_read(file, size - sizeof(*end), end, sizeof(*end));
	if (status < 0)
		return status;
	if (memcmp(end->magic, KTRX_STREAM_INDEX_MAGIC, sizeof(end->magic)) != 0)
		return 0;
	if (end->check != ktrx_stream_check(end, offsetof(struct ktrx_stream_index, check)) ||
	    end->spans > SPANS_MAX || end->spans > end->offset / sizeof(struct ktrx_stream_block) * 2 ||
	    end->size > ZSTD_compressBound(end->spans * sizeof(struct ktrx_stream_span)) ||
	    end->offset > size || size - end->offset != end->size + sizeof(*end))
		return KTREAD_E_FORMAT;
	return 1;
}

static int unpack(struct ktread_stream_index *index, struct ktread_memory *file,
		  const struct ktrx_stream_index *end)
{
	size_t bytes = end->spans * sizeof(*index->span);
	void *packed = malloc(end->size ? end->size : 1);
	int status;

	index->span = malloc(bytes ? bytes : 1);
	if (!packed || !index->span) {
		free(packed);
		return ktread_fail_memory();
	}
	status = ktread_memory_read(file, end->offset, packed, end->size);
	if (status == 0 && ZSTD_decompress(index->span, bytes, packed, end->size) != bytes)
		status = KTREAD_E_FORMAT;
	index->spans = end->spans;
	free(packed);
	return status;
}

/* Returns true if span `n` belongs to the same block as the span before it. */
static bool is_second(const struct ktread_stream_index *index, uint32_t n)
{
	const struct ktrx_stream_span *span = &index->span[n];

	return n > 0 && span[-1].offset == span->offset && span[-1].size == span->size &&
	       (n < 2 || span[-2].offset != span->offset) && span[-1].position >= span->length &&
	       span[-1].position - span->length == span->position &&
	       span->length <= KTRX_STREAM_BLOCK_MAX - span[-1].length;
}

/* Returns true if the blocks of the spans follow each other without gaps, from the head to the END block. */
static bool fits(const struct ktread_stream_index *index, struct ktread_memory *file, uint64_t head_size,
		 uint64_t length, uint64_t frame)
{
	struct ktrx_stream_block end;
	uint64_t at = head_size, blocks = 0;

	for (uint32_t n = 0; n < index->spans; n++) {
		const struct ktrx_stream_span *span = &index->span[n];

		if (span->length > KTRX_STREAM_BLOCK_MAX || span->length > length ||
		    span->position > length - span->length)
			return false;
		if (is_second(index, n))
			continue;
		if (span->offset != at || span->length == 0)
			return false;
		at += sizeof(end) + span->size;
		blocks++;
	}
	return at + sizeof(end) == frame && ktread_memory_read(file, at, &end, sizeof(end)) == 0 &&
	       end.check == ktrx_stream_check(&end.coding, sizeof(end) - sizeof(end.check)) &&
	       end.coding == KTRX_STREAM_END && end.position == blocks;
}

int ktread_stream_index_load(struct ktread_stream_index *index, struct ktread_memory *file,
			     uint64_t head_size, uint64_t length)
{
	struct ktrx_stream_index end;
	int status = read_end(file, &end);

	*index = (struct ktread_stream_index){ NULL, 0, 0 };
	if (status <= 0)
		return status;
	status = unpack(index, file, &end);
	if (status == 0 && !fits(index, file, head_size, length, end.offset))
		status = KTREAD_E_FORMAT;
	if (status == 0)
		return 1;
	free(index->span);
	*index = (struct ktread_stream_index){ NULL, 0, 0 };
	return status;
}

/* ---- Finding a time window with the index ---- */

/* The spans of a ring. They are in order of time if reading begins at the span of the oldest slot. */
struct ring_spans {
	const struct ktrx_stream_span *span;
	uint32_t spans;
	uint32_t oldest; /* number of the span that contains the oldest slot; may be equal to `spans` */
};

/* Returns the number of the first span that ends after `position`. */
static uint32_t span_after(const struct ktread_stream_index *index, uint64_t position)
{
	uint32_t low = 0, high = index->spans;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (index->span[middle].position + index->span[middle].length <= position)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct ring_spans spans_of(const struct ktread_stream_index *index, uint64_t position, uint64_t bytes,
				  uint64_t oldest)
{
	uint32_t first = span_after(index, position), last = span_after(index, position + bytes - 1);

	last += last < index->spans && index->span[last].position < position + bytes;
	/* the spans may overlap in a damaged index, so that no span is found */
	if (last < first)
		last = first;
	return (struct ring_spans){ index->span + first, last - first,
				    span_after(index, position + oldest) - first };
}

bool ktread_stream_find(const struct ktread_memory *memory, uint64_t position, uint64_t bytes,
			uint64_t oldest, const uint64_t window[2], uint64_t *from, uint64_t *to)
{
	const struct ktread_stream_index *index = ktread_stream_index_of(memory);
	struct ring_spans ring;
	bool found = false;

	if (!index || bytes == 0)
		return false;
	ring = spans_of(index, position, bytes, oldest);
	*from = *to = bytes;
	for (uint32_t n = 0; n < ring.spans; n++) {
		const struct ktrx_stream_span *span = &ring.span[(ring.oldest + n) % ring.spans];
		uint64_t at = (span->position + bytes - position - oldest) % bytes;

		if (span->last < window[0] || span->first > window[1] || span->first > span->last)
			continue;
		*from = found ? *from : at;
		*to = at + span->length < bytes ? at + span->length : bytes;
		found = true;
	}
	return true;
}

bool ktread_stream_oldest(const struct ktread_memory *memory, uint64_t position, uint64_t bytes,
			  uint64_t *oldest)
{
	const struct ktread_stream_index *index = ktread_stream_index_of(memory);
	uint64_t lowest = UINT64_MAX, before = 0;
	struct ring_spans ring;
	uint32_t first = 0;

	if (!index || bytes == 0)
		return false;
	ring = spans_of(index, position, bytes, 0);
	for (uint32_t n = 0; n < ring.spans; n++)
		if (ring.span[n].first < lowest) {
			lowest = ring.span[n].first;
			first = n;
		}
	for (uint32_t n = 0; n < ring.spans; n++) {
		const struct ktrx_stream_span *span = &ring.span[(first + n) % ring.spans];

		if (span->first > span->last)
			continue;
		if (span->first < before || span->position < position)
			return false;
		before = span->first;
	}
	*oldest = ring.spans ? ring.span[first].position - position : 0;
	return *oldest < bytes;
}

/* ---- Writing an index ---- */

struct ktrx_stream_span *ktread_stream_index_add(struct ktread_stream_index *index,
						 const struct ktrx_stream_span *span)
{
	struct ktrx_stream_span *grown =
		base_grow(index->span, &index->room, (size_t)index->spans + 1, sizeof(*grown));

	if (!grown)
		return NULL;
	index->span = grown;
	index->span[index->spans] = *span;
	return &index->span[index->spans++];
}

int ktread_stream_index_make(const struct ktread_stream_index *index, uint64_t at, unsigned char **bytes,
			     size_t *size)
{
	const size_t plain = index->spans * sizeof(*index->span), room = ZSTD_compressBound(plain);
	struct ktrx_stream_index end = { .offset = at, .spans = index->spans };
	ZSTD_CCtx *compressor = ZSTD_createCCtx();

	*bytes = malloc(room + sizeof(end));
	if (!*bytes || !compressor ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, 1)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(compressor, ZSTD_c_checksumFlag, 1))) {
		ZSTD_freeCCtx(compressor);
		return ktread_fail_memory();
	}
	*size = ZSTD_compress2(compressor, *bytes, room, index->span, plain);
	ZSTD_freeCCtx(compressor);
	if (ZSTD_isError(*size))
		return ktread_fail(KTREAD_E_MEMORY, "zstd: %s", ZSTD_getErrorName(*size));
	end.size = (uint32_t)*size;
	end.check = ktrx_stream_check(&end, offsetof(struct ktrx_stream_index, check));
	memcpy(end.magic, KTRX_STREAM_INDEX_MAGIC, sizeof(end.magic));
	memcpy(*bytes + *size, &end, sizeof(end));
	*size += sizeof(end);
	return 0;
}

/* ---- Measuring the slots of a ring for the index ---- */

int ktread_stream_ring_init(struct ktread_stream_ring *ring, const struct ktread_layout *layout,
			    uint32_t number)
{
	const struct ktread_ring_place *place = &layout->ring[number];
	struct ktread_stamp_start start;
	int status;

	*ring = (struct ktread_stream_ring){ .layout = layout, .ring = number, .head = place->head };
	ring->begin = ktread_ring_begin(place, place->head);
	status = ktread_stamp_find_start(layout, number, ring->begin, ring->head, &start);
	ring->reference = start.reference;
	ring->known = !start.broken && start.missing_index == UINT64_MAX &&
		      ktread_region_readable(&place->slots) >= place->slots.length;
	return status;
}

static void count(struct ktrx_stream_span *span, uint64_t stamp, uint32_t event)
{
	span->first = stamp < span->first ? stamp : span->first;
	span->last = stamp > span->last ? stamp : span->last;
	span->events |= UINT64_C(1) << event % 64;
}

static void measure_v1(struct ktrx_stream_span *span, const unsigned char *bytes, uint32_t slots)
{
	for (uint32_t n = 0; n < slots; n++) {
		struct ktrx1_record record;

		memcpy(&record, bytes + (size_t)n * sizeof(record), sizeof(record));
		if (record.stamp)
			count(span, record.stamp, KTRX1_EVENT(record.header));
	}
}

/* Takes a slot in which a record may begin. `left` is the number of slots in the span from there on. */
static void measure_record(struct ktread_stream_ring *ring, struct ktrx_stream_span *span, uint64_t index,
			   uint64_t (*slot)[4], uint32_t left)
{
	const struct ktread_slot_form *form = &ring->layout->ring[ring->ring].form;
	uint64_t stamp;

	if (index >= ring->head || !ktread_slot_is_first(form, slot[0], index))
		return;
	if (ktread_slot_record(form, slot, index, left) == 0) {
		/* the record is incomplete, or continues in the next block */
		if (left < KTRX_RECORD_MAX_SLOTS)
			count(span, ktread_stamp_extend(ring->reference, KTRX_W0_STAMP(slot[0][0])),
			      KTRX_W0_EVENT(slot[0][0]));
		return;
	}
	if (KTRX_W0_EVENT(slot[0][0]) == KTRX_EVENT_ANCHOR) {
		ring->reference = ktread_stamp_of_anchor(slot[0], ring->reference);
		return;
	}
	stamp = ktread_stamp_extend(ring->reference, KTRX_W0_STAMP(slot[0][0]));
	ring->reference = stamp;
	count(span, stamp, KTRX_W0_EVENT(slot[0][0]));
}

void ktread_stream_ring_measure(struct ktread_stream_ring *ring, struct ktrx_stream_span *span,
				uint64_t index, unsigned char *bytes, uint32_t slots)
{
	uint64_t(*slot)[4] = (uint64_t(*)[4])(void *)bytes;

	span->first = UINT64_MAX;
	span->last = span->events = 0;
	if (!ring->layout)
		measure_v1(span, bytes, slots);
	for (uint32_t n = 0; ring->layout && n < slots; n++)
		measure_record(ring, span, index + n, slot + n, slots - n);
	if (ring->layout && !ring->known) {
		span->first = 0;
		span->last = UINT64_MAX;
	}
}
