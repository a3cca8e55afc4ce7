/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads streams. First reads the heads of all blocks, which needs only a few bytes of each. Decodes a block
 * when its bytes are needed, and caches the decoded bytes until their memory is needed for another block.
 *
 * Invariants: places are sorted by position, do not overlap and are within the dump.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/grow.h"
#include "message.h"
#include "source.h"
#include "stream.h"

#define PLACES_MAX (UINT32_C(1) << 20)
/*
 * maximum size of a frame in bytes; it is larger than the maximum size of the data, because compression can
 * make data a little longer
 */
#define SIZE_MAX_OF  (KTREAD_COLUMNS_MAX + 1024u)
#define SEARCH_CHUNK 4096u
#define MAGIC_SIZE   (sizeof(KTREAD_ZSTD_MAGIC) - 1)
#define NOT_CACHED   UINT32_MAX
/* number of decoded blocks that are cached in addition to one block of each ring */
#define SPARE 2u

/* A block of the stream, and the position of the block's bytes in the dump. */
struct place {
	uint64_t position;
	uint64_t offset; /* offset of the block's head in the stream */
	uint32_t length;
	/* index of the block's decoded bytes in stream->cached; NOT_CACHED: they are not cached */
	uint32_t cached;
};

struct cached {
	uint32_t place;
	/* value of stream->clock when the block was last used; 0: it was read up to its end */
	uint64_t used;
	unsigned char *bytes;
};

struct stream {
	struct ktread *trace; /* the trace that gets the warnings */
	struct ktread_memory *file;
	struct ktrx_stream head;
	struct place *place;
	uint32_t places, room;
	uint64_t damaged;		  /* number of bytes of the stream that belong to no block */
	struct ktread_stream_index index; /* no spans: the stream has no index, or the index is not used */
	uint64_t ending; /* number of blocks, as the END block states; UINT64_MAX: there is no END block */
	struct cached *cached;
	/*
	 * elements of `cached`: the number in use, the maximum number in use, and the number allocated
	 */
	uint32_t cached_count, cached_limit, cached_room;
	uint32_t longest;
	uint64_t clock;
	ZSTD_DCtx *reader;
	struct ktread_columns *columns;
	unsigned char *packed, *content;
};

static void stream_close(void *context)
{
	struct stream *stream = context;

	ZSTD_freeDCtx(stream->reader);
	for (uint32_t n = 0; n < stream->cached_count; n++)
		free(stream->cached[n].bytes);
	ktread_columns_free(stream->columns);
	ktread_memory_close(stream->file);
	free(stream->cached);
	free(stream->place);
	free(stream->index.span);
	free(stream->packed);
	free(stream->content);
	free(stream);
}

/* ---- Finding the blocks ---- */

static bool is_sound(const struct stream *stream, const struct ktrx_stream_block *block)
{
	if (block->check != ktrx_stream_check(&block->coding, sizeof(*block) - sizeof(block->check)))
		return false;
	if (block->coding == KTRX_STREAM_END)
		return block->size == 0 && block->length == 0;
	return block->coding <= KTRX_STREAM_CHECKED && block->size > 0 && block->size <= SIZE_MAX_OF &&
	       block->length > 0 && block->length <= KTRX_STREAM_BLOCK_MAX &&
	       (block->coding == KTRX_STREAM_BYTES || block->length % KTRX_SLOT_SIZE == 0) &&
	       block->length <= stream->head.length && block->position <= stream->head.length - block->length;
}

static bool block_at(const struct stream *stream, uint64_t offset, struct ktrx_stream_block *block)
{
	return ktread_memory_run(stream->file, offset) >= sizeof(*block) &&
	       ktread_memory_read(stream->file, offset, block, sizeof(*block)) == 0 &&
	       is_sound(stream, block);
}

/*
 * Searches `size` bytes, which were read at offset `at`, for a sound block head that is followed by a frame.
 * Returns the offset of that head; UINT64_MAX if there is none.
 */
static uint64_t head_before_frame(const struct stream *stream, const unsigned char *bytes, size_t size,
				  uint64_t at)
{
	const unsigned char *found = bytes, *end = bytes + size;
	struct ktrx_stream_block block;

	while ((found = memmem(found, (size_t)(end - found), KTREAD_ZSTD_MAGIC, MAGIC_SIZE))) {
		uint64_t offset = at + (uint64_t)(found - bytes) - sizeof(block);

		if (block_at(stream, offset, &block))
			return offset;
		found++;
	}
	return UINT64_MAX;
}

/*
 * Returns the offset of the first sound block head, from `from` on, that is followed by a frame. Returns the
 * size of the file if there is none.
 */
static uint64_t next_block(const struct stream *stream, uint64_t from, uint64_t size)
{
	uint64_t at = from + sizeof(struct ktrx_stream_block);
	unsigned char buffer[SEARCH_CHUNK];

	while (at < size && size - at >= MAGIC_SIZE) {
		size_t bytes = size - at < sizeof(buffer) ? (size_t)(size - at) : sizeof(buffer);
		uint64_t found;

		if (ktread_memory_read(stream->file, at, buffer, bytes) < 0)
			break;
		found = head_before_frame(stream, buffer, bytes, at);
		if (found != UINT64_MAX)
			return found;
		at += bytes - (MAGIC_SIZE - 1);
	}
	return size;
}

static int add_place(struct stream *stream, uint64_t offset, const struct ktrx_stream_block *block)
{
	struct place *grown;

	if (stream->places == PLACES_MAX)
		return ktread_fail(KTREAD_E_FORMAT, "%s: the stream has more than %u blocks",
				   stream->file->name, PLACES_MAX);
	grown = base_grow(stream->place, &stream->room, (size_t)stream->places + 1, sizeof(*grown));
	if (!grown)
		return ktread_fail_memory();
	stream->place = grown;
	stream->place[stream->places++] =
		(struct place){ block->position, offset, block->length, NOT_CACHED };
	if (block->length > stream->longest)
		stream->longest = block->length;
	return 0;
}

/* Finds all blocks. Reads head after head. If a head is damaged, searches for the next head. */
static int search_places(struct stream *stream)
{
	uint64_t size = ktread_memory_run(stream->file, 0), at = stream->head.head_size;
	int status = 0;

	stream->ending = UINT64_MAX;
	while (at < size && status == 0) {
		struct ktrx_stream_block block;

		if (!block_at(stream, at, &block)) {
			uint64_t next = next_block(stream, at + 1, size);

			stream->damaged += next - at;
			at = next;
		} else if (block.coding == KTRX_STREAM_END) {
			stream->ending = block.position;
			break;
		} else if (block.size > size - at - sizeof(block)) {
			break;
		} else {
			status = add_place(stream, at, &block);
			at += sizeof(block) + block.size;
		}
	}
	return status;
}

static int compare_spans(const void *left, const void *right)
{
	const struct ktrx_stream_span *a = left, *b = right;

	return a->position < b->position ? -1 : a->position > b->position;
}

/* Makes the list of blocks from the index. */
static int list_places(struct stream *stream)
{
	struct ktread_stream_index *index = &stream->index;
	int status = 0;

	for (uint32_t n = 0; n < index->spans && status == 0; n++) {
		const struct ktrx_stream_span *span = &index->span[n];
		const struct ktrx_stream_block block = { .position = span->position, .length = span->length };

		if (n > 0 && span[-1].offset == span->offset) {
			struct place *place = &stream->place[stream->places - 1];

			place->position = span->position;
			place->length += span->length;
			stream->longest = place->length > stream->longest ? place->length : stream->longest;
		} else {
			status = add_place(stream, span->offset, &block);
		}
	}
	stream->ending = stream->places;
	qsort(index->span, index->spans, sizeof(*index->span), compare_spans);
	return status;
}

/*
 * Finds all blocks. Uses the index only if the caller wants no more than a time window, because without a
 * search for all blocks, some damage is not found.
 */
static int find_places(struct stream *stream)
{
	int status = 0;

	if (stream->trace->options.window)
		status = ktread_stream_index_load(&stream->index, stream->file, stream->head.head_size,
						  stream->head.length);
	if (status > 0)
		return list_places(stream);
	if (status == KTREAD_E_FORMAT)
		ktread_warn(
			stream->trace,
			"%s: the index of the stream is damaged or does not fit it: the index is not used",
			stream->file->name);
	return status < 0 && status != KTREAD_E_FORMAT ? status : search_places(stream);
}

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->position != b->position)
		return a->position < b->position ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Drops each block that overlaps a block before it. */
static void tidy_places(struct stream *stream)
{
	uint32_t found = stream->places, kept = 0;
	uint64_t end = 0;

	if (found)
		qsort(stream->place, found, sizeof(*stream->place), compare_places);
	for (uint32_t n = 0; n < found; n++) {
		if (stream->place[n].position < end)
			continue;
		stream->place[kept++] = stream->place[n];
		end = stream->place[n].position + stream->place[n].length;
	}
	stream->places = kept;
	if (kept < found)
		ktread_warn(stream->trace, "%s: %u blocks overlap others and are skipped", stream->file->name,
			    found - kept);
}

static void report_loss(const struct stream *stream)
{
	const char *name = stream->file->name;
	uint64_t there = 0;

	for (uint32_t n = 0; n < stream->places; n++)
		there += stream->place[n].length;
	if (stream->damaged)
		ktread_warn(stream->trace, "%s: %" PRIu64 " bytes of the stream are damaged and skipped",
			    name, stream->damaged);
	if (stream->ending == UINT64_MAX)
		ktread_warn(stream->trace,
			    "%s: the stream is cut short: %" PRIu64 " of the %" PRIu64
			    " bytes of its dump are present; the missing bytes count as never written",
			    name, there, stream->head.length);
	else if (stream->ending != stream->places)
		ktread_warn(stream->trace,
			    "%s: %u of %" PRIu64
			    " blocks are usable: the contents of the others count as never written",
			    name, stream->places, stream->ending);
}

/* ---- Decoding blocks ---- */

/*
 * Decodes a block. Returns 0, KTREAD_E_SYSTEM, or, if the block is damaged, KTREAD_E_FORMAT without setting a
 * message.
 */
static int decode(struct stream *stream, const struct ktrx_stream_block *block, unsigned char *to)
{
	bool plain = block->coding == KTRX_STREAM_BYTES;
	size_t got =
		ZSTD_decompressDCtx(stream->reader, plain ? to : stream->content,
				    plain ? block->length : KTREAD_COLUMNS_MAX, stream->packed, block->size);

	if (ZSTD_isError(got) || (plain && got != block->length))
		return KTREAD_E_FORMAT;
	return plain ? 0
		     : ktread_columns_decode(stream->columns, block->coding, stream->content, got,
					     (uint32_t(*)[8])(void *)to, block->length / KTRX_SLOT_SIZE);
}

static int load(struct stream *stream, const struct place *place, unsigned char *to)
{
	struct ktrx_stream_block block;
	int status = ktread_memory_read(stream->file, place->offset, &block, sizeof(block));

	/* the file may have changed since the heads were read */
	if (status == 0 &&
	    (!is_sound(stream, &block) || block.length != place->length || block.position != place->position))
		status = KTREAD_E_FORMAT;
	else if (status == 0)
		status = ktread_memory_read(stream->file, place->offset + sizeof(block), stream->packed,
					    block.size);
	if (status == 0)
		status = decode(stream, &block, to);
	if (status != KTREAD_E_FORMAT)
		return status;
	ktread_warn(stream->trace,
		    "%s: offset %" PRIu64 ": the block is damaged: the %u bytes of the dump from %" PRIu64
		    " on count as never written",
		    stream->file->name, place->offset, place->length, place->position);
	memset(to, 0, place->length);
	return 0;
}

/*
 * Returns a buffer for the bytes of a decoded block. If no more buffers may be allocated, reuses the buffer
 * of a block that was read up to its end or, if there is none, of the block that was used least recently.
 * Returns NULL if out of memory.
 */
static struct cached *make_room(struct stream *stream)
{
	struct cached *oldest = stream->cached;

	if (stream->cached_count < stream->cached_limit) {
		oldest = &stream->cached[stream->cached_count];
		oldest->bytes = malloc(stream->longest);
		stream->cached_count += oldest->bytes != NULL;
		return oldest->bytes ? oldest : NULL;
	}
	for (uint32_t n = 1; n < stream->cached_count; n++)
		if (stream->cached[n].used < oldest->used)
			oldest = &stream->cached[n];
	if (oldest->place != NOT_CACHED)
		stream->place[oldest->place].cached = NOT_CACHED;
	return oldest;
}

static int load_cached(struct stream *stream, uint32_t n, struct cached **cached)
{
	struct place *place = &stream->place[n];
	int status = 0;

	if (place->cached == NOT_CACHED) {
		*cached = make_room(stream);
		if (!*cached)
			return ktread_fail_memory();
		status = load(stream, place, (*cached)->bytes);
		(*cached)->place = status == 0 ? n : NOT_CACHED;
		if (status == 0)
			place->cached = (uint32_t)(*cached - stream->cached);
	} else {
		*cached = &stream->cached[place->cached];
	}
	(*cached)->used = ++stream->clock;
	return status;
}

/*
 * Returns the index in stream->place[] of the first block that ends after this position of the dump. If there
 * is none, returns stream->places.
 */
static uint32_t place_after(const struct stream *stream, uint64_t position)
{
	uint32_t low = 0, high = stream->places;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct place *place = &stream->place[middle];

		if (place->position + place->length <= position)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int stream_read(void *context, uint64_t position, void *buffer, size_t bytes)
{
	struct stream *stream = context;
	unsigned char *to = buffer;

	for (uint32_t n = place_after(stream, position); bytes; n++) {
		const struct place *place = &stream->place[n];
		uint64_t gap =
			n < stream->places && place->position > position ? place->position - position : 0;
		uint64_t skip, part;
		struct cached *cached;
		int status;

		if (n == stream->places || gap > bytes)
			gap = bytes;
		memset(to, 0, gap);
		to += gap;
		position += gap;
		bytes -= gap;
		if (bytes == 0)
			break;
		status = load_cached(stream, n, &cached);
		if (status < 0)
			return status;
		skip = position - place->position;
		part = place->length - skip < bytes ? place->length - skip : bytes;
		memcpy(to, cached->bytes + skip, part);
		if (skip + part == place->length)
			cached->used = 0;
		to += part;
		position += part;
		bytes -= part;
	}
	return 0;
}

static uint64_t stream_next_data(void *context, uint64_t position)
{
	const struct stream *stream = context;
	uint32_t n = place_after(stream, position);

	if (n == stream->places)
		return UINT64_MAX;
	return stream->place[n].position > position ? stream->place[n].position : position;
}

void ktread_stream_expect(struct ktread_memory *memory, uint32_t rings)
{
	struct stream *stream = memory->ops.read == stream_read ? memory->context : NULL;

	if (stream && rings + SPARE < stream->cached_room)
		stream->cached_limit = rings + SPARE;
	else if (stream)
		stream->cached_limit = stream->cached_room;
}

const struct ktread_stream_index *ktread_stream_index_of(const struct ktread_memory *memory)
{
	const struct stream *stream = memory->ops.read == stream_read ? memory->context : NULL;

	return stream && stream->index.spans ? &stream->index : NULL;
}

/* ---- Opening a stream ---- */

bool ktread_stream_is(struct ktread_memory *memory)
{
	char magic[sizeof(KTRX_STREAM_MAGIC) - 1];

	return ktread_memory_run(memory, 0) >= sizeof(magic) &&
	       ktread_memory_read(memory, 0, magic, sizeof(magic)) == 0 &&
	       memcmp(magic, KTRX_STREAM_MAGIC, sizeof(magic)) == 0;
}

static int read_head(struct stream *stream)
{
	struct ktrx_stream *head = &stream->head;
	const char *name = stream->file->name;
	uint64_t size = ktread_memory_run(stream->file, 0);
	int status;

	if (size < sizeof(*head))
		return ktread_fail(KTREAD_E_FORMAT, "%s: the stream ends within its header", name);
	status = ktread_memory_read(stream->file, 0, head, sizeof(*head));
	if (status < 0)
		return status;
	if (head->check != ktrx_stream_check(head, offsetof(struct ktrx_stream, check)))
		return ktread_fail(KTREAD_E_FORMAT, "%s: the stream's header is damaged", name);
	if (head->version != KTRX_STREAM_VERSION)
		return ktread_fail(KTREAD_E_UNSUPPORTED,
				   "%s: stream of version %u; this program reads version %u", name,
				   head->version, KTRX_STREAM_VERSION);
	if (head->head_size < sizeof(*head) || head->form < KTRX_STREAM_DUMP ||
	    head->form > KTRX_STREAM_BARE || head->length > INT64_MAX)
		return ktread_fail(KTREAD_E_FORMAT, "%s: the stream's header has impossible values", name);
	return 0;
}

static int make_buffers(struct stream *stream)
{
	stream->cached_room = KTREAD_STREAM_CACHE / (stream->longest ? stream->longest : KTREAD_STREAM_CACHE);
	if (stream->cached_room > stream->places)
		stream->cached_room = stream->places ? stream->places : 1;
	stream->cached_limit = stream->cached_room < SPARE ? stream->cached_room : SPARE;
	stream->cached = calloc(stream->cached_room, sizeof(*stream->cached));
	stream->packed = malloc(SIZE_MAX_OF);
	stream->content = malloc(KTREAD_COLUMNS_MAX);
	stream->columns = ktread_columns_create();
	stream->reader = ZSTD_createDCtx();
	return stream->cached && stream->packed && stream->content && stream->columns && stream->reader
		       ? 0
		       : ktread_fail_memory();
}

static void take_head(struct ktread *trace, const struct ktrx_stream *head)
{
	if (!trace->options.frequency)
		trace->options.frequency = ktread_settle_frequency(trace, head->frequency);
	if (trace->options.v1_layout == KTREAD_V1_KEVLAR && head->v1_layout == KTREAD_V1_SPEC)
		trace->options.v1_layout = KTREAD_V1_SPEC;
}

int ktread_stream_enter(struct ktread *trace, uint32_t *form)
{
	static const struct ktread_memory_ops ops = { .read = stream_read,
						      .next_data = stream_next_data,
						      .close = stream_close };
	struct stream *stream = calloc(1, sizeof(*stream));
	struct ktread_span whole = { 0 };
	struct ktrx_stream head;
	int status;

	if (!stream)
		return ktread_fail_memory();
	stream->trace = trace;
	stream->file = trace->memory;
	trace->memory = NULL;
	status = read_head(stream);
	if (status == 0)
		status = find_places(stream);
	if (status == 0) {
		tidy_places(stream);
		report_loss(stream);
		status = make_buffers(stream);
	}
	if (status < 0) {
		stream_close(stream);
		return status;
	}
	trace->is_lossy = stream->ending != stream->places;
	*form = stream->head.form;
	whole.length = stream->head.length;
	head = stream->head;
	status = ktread_source_create(&trace->memory, &ops, stream, &whole, 1, stream->file->name);
	if (status == 0)
		take_head(trace, &head); /* warnings name the memory */
	return status;
}
