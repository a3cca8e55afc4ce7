/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes streams. First come all bytes outside of the rings, because the rings cannot be read without them.
 * Then come the rings: one block of each ring in turn, beginning with the ring's oldest slots. So if the
 * stream is truncated, all CPUs lose about the same time. Blocks whose bytes are all zero are left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "layout.h"
#include "message.h"
#include "stream.h"
#include "versions.h"

#define LEVEL	    1
#define BLOCK_LEAST (UINT32_C(8) << 10)
#define BLOCK_ROOM  (KTREAD_COLUMNS_MAX + 1024u)

/* A stretch: the range of the dump's memory that contains the slots of one ring. */
struct stretch {
	uint64_t start, bytes;
	uint64_t oldest; /* number of the block that is written first, because it contains the oldest slot */
	uint32_t coding;
	struct ktread_columns_ring ring; /* set only if the slots are of version 2 */
	/* data from which the index of blocks is made */
	struct ktread_stream_ring times;
	uint64_t first_slot; /* number, within the ring, of the oldest slot */
	/* number of the span that contains the newest slots, plus 1; 0: there is no such span */
	uint32_t newest;
};

/* The data to write as a stream: a dump, or records without a header. */
struct dump {
	struct ktread_memory *memory;
	/* the memory if this code has opened it and must close it; otherwise NULL */
	struct ktread_memory *own;
	struct ktread_layout *layout;
	struct ktread_layout *own_layout;
	uint64_t start, length;
	uint32_t form;
	struct stretch *stretch; /* the stretches of all rings, sorted by start */
	uint32_t stretches;
	uint32_t block; /* number of bytes of a ring that one block contains */
};

struct writer {
	const struct dump *dump;
	int descriptor;
	int error;
	uint64_t blocks;
	uint64_t offset; /* number of bytes written so far */
	struct ktread_stream_index index;
	ZSTD_CCtx *compressor;
	struct ktread_columns *columns;
	unsigned char *bytes, *content;
	unsigned char *packed; /* buffer for the head and the frame of a block */
};

/* ---- Describing the dump ---- */

static void add_stretch(struct dump *dump, uint32_t coding, uint64_t start, uint64_t bytes, uint64_t oldest)
{
	if (bytes >= KTRX_SLOT_SIZE)
		dump->stretch[dump->stretches++] =
			(struct stretch){ .start = start,
					  .bytes = bytes / KTRX_SLOT_SIZE * KTRX_SLOT_SIZE,
					  .oldest = oldest,
					  .coding = coding };
}

static void describe_v1(struct dump *dump, const struct ktread *trace)
{
	uint64_t slots = 0;

	dump->form = trace->info.cpus ? KTRX_STREAM_DUMP : KTRX_STREAM_BARE;
	for (uint32_t n = 0; n < trace->cursors; n++) {
		const struct ktread_v1_ring *ring = trace->cursor[n].state;

		uint32_t before = dump->stretches;

		add_stretch(dump, KTRX_STREAM_SLOTS_V1, ring->position, ring->slots * KTRX1_RECORD_SIZE,
			    ring->start * KTRX1_RECORD_SIZE / dump->block);
		if (dump->stretches > before)
			dump->stretch[before].first_slot = ring->start;
		slots += trace->cursor[n].ring.slots;
	}
	dump->start = trace->info.offset;
	dump->length = ktread_memory_run(dump->memory, dump->start);
	if (dump->form == KTRX_STREAM_DUMP &&
	    dump->length > sizeof(struct ktrx1_header) + slots * KTRX1_RECORD_SIZE)
		dump->length = sizeof(struct ktrx1_header) + slots * KTRX1_RECORD_SIZE;
}

static int describe_v2(struct dump *dump)
{
	const struct ktread_layout *layout = dump->layout;
	uint64_t length = layout->root.length;
	int status = 0;

	dump->form = KTRX_STREAM_DUMP;
	dump->start = layout->physical;
	dump->length = ktread_memory_run(dump->memory, dump->start);
	if (length < layout->root.root_size)
		length = layout->root.root_size;
	if (dump->length > length)
		dump->length = length;
	for (uint32_t n = 0; n < layout->rings && status == 0; n++) {
		const struct ktread_ring_place *place = &layout->ring[n];
		uint32_t coding = place->form.format == KTRX_SLOTS_COPIED ? KTRX_STREAM_SLOTS_V2
									  : KTRX_STREAM_CHECKED,
			 before = dump->stretches;
		uint64_t oldest;

		/*
		 * No dump has a ring in several pieces. If a memory has one, the ring is written as plain
		 * bytes.
		 */
		if (!place->usable || place->slots.pieces != 1)
			continue;
		oldest = ktread_ring_begin(place, place->head) & (ktread_ring_slots(place) - 1);
		add_stretch(dump, coding, place->slots.piece[0].physical, place->slots.piece[0].readable,
			    oldest * KTRX_SLOT_SIZE / dump->block);
		if (dump->stretches == before)
			continue;
		dump->stretch[before].ring = (struct ktread_columns_ring){ place->form, place->head, 0 };
		dump->stretch[before].first_slot = oldest;
		status = ktread_stream_ring_init(&dump->stretch[before].times, layout, n);
	}
	return status;
}

/* Makes a dump of a memory that was read directly until now. */
static int dump_image(struct dump *dump, struct ktread *trace)
{
	struct ktread_image *image;
	int descriptor, status = ktread_image_find_boot(&image, trace->memory, 0);

	if (status < 0)
		return status;
	status = descriptor = ktread_file_temporary();
	if (descriptor >= 0)
		status = ktread_image_write(image, descriptor, NULL, 0);
	ktread_image_close(image);
	if (status < 0) {
		if (descriptor >= 0)
			close(descriptor);
		return status;
	}
	status = ktread_source_open_descriptor(&dump->own, descriptor, trace->memory->name);
	if (status == 0)
		status = ktread_layout_open_dump(&dump->own_layout, dump->own, 0);
	dump->memory = dump->own;
	dump->layout = dump->own_layout;
	return status;
}

static int compare_stretches(const void *left, const void *right)
{
	const struct stretch *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/*
 * Drops each stretch (the slots of a ring) that is not within the dump, or that overlaps a stretch before it.
 */
static void tidy_stretches(struct dump *dump)
{
	uint64_t end = dump->start;
	uint32_t kept = 0;

	qsort(dump->stretch, dump->stretches, sizeof(*dump->stretch), compare_stretches);
	for (uint32_t n = 0; n < dump->stretches; n++) {
		struct stretch *stretch = &dump->stretch[n];

		if (stretch->start < end || stretch->start - dump->start > dump->length ||
		    stretch->bytes > dump->length - (stretch->start - dump->start))
			continue;
		end = stretch->start + stretch->bytes;
		dump->stretch[kept++] = *stretch;
	}
	dump->stretches = kept;
}

/*
 * Returns the number of bytes of a ring in one block. The number is so small that a reader can cache one
 * block of each ring, unless there are very many rings.
 */
static uint32_t block_bytes(uint32_t rings)
{
	uint32_t bytes = KTRX_STREAM_BLOCK_MAX;

	while (bytes > BLOCK_LEAST && (uint64_t)bytes * rings > KTREAD_STREAM_CACHE)
		bytes /= 2;
	return bytes;
}

static int describe(struct dump *dump, struct ktread *trace)
{
	uint32_t rings = trace->cursors;
	int status = 0;

	dump->memory = trace->memory;
	dump->layout = trace->layout;
	if (trace->image)
		status = dump_image(dump, trace);
	if (status < 0)
		return status;
	if (dump->layout)
		rings = dump->layout->rings;
	dump->block = block_bytes(rings);
	dump->stretch = calloc(rings ? rings : 1, sizeof(*dump->stretch));
	if (!dump->stretch)
		return ktread_fail_memory();
	if (dump->layout)
		status = describe_v2(dump);
	else
		describe_v1(dump, trace);
	tidy_stretches(dump);
	return status;
}

static void forget(struct dump *dump)
{
	free(dump->stretch);
	ktread_layout_close(dump->own_layout);
	ktread_memory_close(dump->own);
}

/* ---- Writing blocks ---- */

static int put(struct writer *writer, const void *bytes, size_t size)
{
	writer->offset += size;
	if (ktread_file_write(writer->descriptor, bytes, size) == 0)
		return 0;
	writer->error = errno;
	return ktread_fail_errno("cannot write the stream");
}

static int put_head(struct writer *writer, const struct ktread *trace)
{
	struct ktrx_stream head = { .version = KTRX_STREAM_VERSION,
				    .head_size = sizeof(head),
				    .length = writer->dump->length,
				    .frequency = trace->options.frequency,
				    .form = writer->dump->form,
				    .v1_layout = trace->options.v1_layout };

	memcpy(head.magic, KTRX_STREAM_MAGIC, sizeof(head.magic));
	head.check = ktrx_stream_check(&head, offsetof(struct ktrx_stream, check));
	return put(writer, &head, sizeof(head));
}

static struct ktrx_stream_block block_head(uint32_t coding, uint64_t position, uint32_t length, uint32_t size)
{
	struct ktrx_stream_block block = {
		.coding = (uint16_t)coding, .size = size, .length = length, .position = position
	};

	block.check = ktrx_stream_check(&block.coding, sizeof(block) - sizeof(block.check));
	return block;
}

static bool is_zero(const unsigned char *bytes, uint32_t length)
{
	return bytes[0] == 0 && memcmp(bytes, bytes + 1, length - 1) == 0;
}

/*
 * Measures the bytes [from, to) of the block in writer->bytes; the first bytes are slot `slot` of the ring.
 */
static void measure(struct writer *writer, struct stretch *stretch, struct ktrx_stream_span *span,
		    uint64_t slot, uint32_t from, uint32_t to)
{
	const struct ktread_layout *layout = stretch->times.layout;
	const uint64_t slots = layout ? ktread_ring_slots(&layout->ring[stretch->times.ring])
				      : stretch->bytes / KTRX_SLOT_SIZE;
	uint64_t index =
		stretch->times.begin + (slot + from / KTRX_SLOT_SIZE + slots - stretch->first_slot) % slots;

	span->position += from;
	span->length = to - from;
	ktread_stream_ring_measure(&stretch->times, span, index, writer->bytes + from,
				   (to - from) / KTRX_SLOT_SIZE);
}

/*
 * Adds a block to the index. If the block contains the ring's oldest slot, the slots before the oldest slot
 * are the newest slots of the ring. They get a span of their own, which measure_newest() measures last.
 */
static int add_spans(struct writer *writer, struct stretch *stretch, const struct ktrx_stream_span *block)
{
	struct ktrx_stream_span span = *block, *added;
	uint64_t slot, oldest;

	span.last = UINT64_MAX;
	if (!stretch)
		return ktread_stream_index_add(&writer->index, &span) ? 0 : ktread_fail_memory();
	slot = (block->position + writer->dump->start - stretch->start) / KTRX_SLOT_SIZE;
	oldest = stretch->first_slot > slot ? (stretch->first_slot - slot) * KTRX_SLOT_SIZE : 0;
	oldest = oldest < block->length ? oldest : 0;
	measure(writer, stretch, &span, slot, (uint32_t)oldest, block->length);
	if (!ktread_stream_index_add(&writer->index, &span))
		return ktread_fail_memory();
	if (oldest == 0)
		return 0;
	span = *block;
	span.last = UINT64_MAX;
	span.length = (uint32_t)oldest;
	added = ktread_stream_index_add(&writer->index, &span);
	if (!added)
		return ktread_fail_memory();
	stretch->newest = writer->index.spans;
	return 0;
}

/* Measures the newest slots of a ring if they are in one block with the ring's oldest slot. */
static int measure_newest(struct writer *writer, struct stretch *stretch)
{
	struct ktrx_stream_span *span;
	int status;

	if (stretch->newest == 0)
		return 0;
	span = &writer->index.span[stretch->newest - 1];
	status = ktread_memory_read(writer->dump->memory, writer->dump->start + span->position, writer->bytes,
				    span->length);
	if (status == 0)
		measure(writer, stretch, span,
			(span->position + writer->dump->start - stretch->start) / KTRX_SLOT_SIZE, 0,
			span->length);
	return status;
}

static int put_index(struct writer *writer)
{
	unsigned char *bytes = NULL;
	size_t size;
	int status = 0;

	for (uint32_t n = 0; n < writer->dump->stretches && status == 0; n++)
		status = measure_newest(writer, &writer->dump->stretch[n]);
	if (status == 0)
		status = ktread_stream_index_make(&writer->index, writer->offset, &bytes, &size);
	if (status == 0)
		status = put(writer, bytes, size);
	free(bytes);
	return status;
}

/*
 * Writes a block that contains `length` bytes of the dump's memory from `start` on. `ring` is the position of
 * the slots if they are of version 2, otherwise NULL. `stretch` is the ring that contains the bytes, or NULL.
 */
static int put_block(struct writer *writer, uint32_t coding, const struct ktread_columns_ring *ring,
		     struct stretch *stretch, uint64_t start, uint32_t length)
{
	const struct dump *dump = writer->dump;
	const unsigned char *content = writer->bytes;
	struct ktrx_stream_span span = { .position = start - dump->start, .length = length };
	struct ktrx_stream_block block;
	size_t size = length;
	int status;

	if (ktread_memory_next_data(dump->memory, start) >= start + length)
		return 0;
	status = ktread_memory_read(dump->memory, start, writer->bytes, length);
	if (status < 0 || is_zero(writer->bytes, length))
		return status;
	if (coding != KTRX_STREAM_BYTES) {
		size = ktread_columns_encode(writer->columns, coding, ring,
					     (const uint32_t(*)[8])(const void *)writer->bytes,
					     length / KTRX_SLOT_SIZE, writer->content);
		content = writer->content;
	}
	size = ZSTD_compress2(writer->compressor, writer->packed + sizeof(block), BLOCK_ROOM, content, size);
	if (ZSTD_isError(size))
		return ktread_fail(KTREAD_E_MEMORY, "zstd: %s", ZSTD_getErrorName(size));
	block = block_head(coding, start - dump->start, length, (uint32_t)size);
	memcpy(writer->packed, &block, sizeof(block));
	writer->blocks++;
	span.offset = writer->offset;
	span.size = (uint32_t)size;
	status = add_spans(writer, stretch, &span);
	return status < 0 ? status : put(writer, writer->packed, sizeof(block) + size);
}

static int put_bytes(struct writer *writer, uint64_t start, uint64_t end)
{
	int status = 0;

	while (start < end && status == 0) {
		uint32_t length =
			end - start < KTRX_STREAM_BLOCK_MAX ? (uint32_t)(end - start) : KTRX_STREAM_BLOCK_MAX;

		status = put_block(writer, KTRX_STREAM_BYTES, NULL, NULL, start, length);
		start += length;
	}
	return status;
}

/* Writes all bytes of the dump except the stretches, which are the slots of the rings. */
static int put_surroundings(struct writer *writer)
{
	const struct dump *dump = writer->dump;
	uint64_t at = dump->start;
	int status = 0;

	for (uint32_t n = 0; n < dump->stretches && status == 0; n++) {
		status = put_bytes(writer, at, dump->stretch[n].start);
		at = dump->stretch[n].start + dump->stretch[n].bytes;
	}
	return status == 0 ? put_bytes(writer, at, dump->start + dump->length) : status;
}

/* Writes block `n` of a stretch, the slots of a ring. Block 0 contains the oldest slot. */
static int put_slots(struct writer *writer, struct stretch *stretch, uint64_t n)
{
	uint64_t blocks = (stretch->bytes + writer->dump->block - 1) / writer->dump->block;
	uint64_t skip = (stretch->oldest + n) % blocks * writer->dump->block;
	uint64_t left = stretch->bytes - skip;
	struct ktread_columns_ring ring = stretch->ring;

	ring.position = skip / KTRX_SLOT_SIZE;
	return put_block(writer, stretch->coding, &ring, stretch, stretch->start + skip,
			 left < writer->dump->block ? (uint32_t)left : writer->dump->block);
}

static int put_rings(struct writer *writer)
{
	const struct dump *dump = writer->dump;
	bool more = true;
	int status = 0;

	for (uint64_t n = 0; more && status == 0; n++) {
		more = false;
		for (uint32_t i = 0; i < dump->stretches && status == 0; i++) {
			if (n * dump->block >= dump->stretch[i].bytes)
				continue;
			more = true;
			status = put_slots(writer, &dump->stretch[i], n);
		}
	}
	return status;
}

static int put_all(struct writer *writer, const struct ktread *trace)
{
	struct ktrx_stream_block end;
	int status = put_head(writer, trace);

	if (status == 0)
		status = put_surroundings(writer);
	if (status == 0)
		status = put_rings(writer);
	end = block_head(KTRX_STREAM_END, writer->blocks, 0, 0);
	if (status == 0)
		status = put(writer, &end, sizeof(end));
	return status == 0 ? put_index(writer) : status;
}

static int prepare(struct writer *writer)
{
	writer->compressor = ZSTD_createCCtx();
	writer->columns = ktread_columns_create();
	writer->bytes = malloc(KTRX_STREAM_BLOCK_MAX);
	writer->content = malloc(KTREAD_COLUMNS_MAX);
	writer->packed = malloc(sizeof(struct ktrx_stream_block) + BLOCK_ROOM);
	if (!writer->compressor || !writer->columns || !writer->bytes || !writer->content ||
	    !writer->packed ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(writer->compressor, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(writer->compressor, ZSTD_c_checksumFlag, 1)))
		return ktread_fail_memory();
	return 0;
}

static void finish(struct writer *writer)
{
	ZSTD_freeCCtx(writer->compressor);
	ktread_columns_free(writer->columns);
	free(writer->bytes);
	free(writer->content);
	free(writer->packed);
	free(writer->index.span);
}

int ktread_write_stream(struct ktread *trace, int fd, int *output_error)
{
	struct dump dump = { 0 };
	struct writer writer = { .dump = &dump, .descriptor = fd };
	int status = 0;

	if (trace->selection.active)
		status = ktread_fail(KTREAD_E_ARGUMENT,
				     "%s: a stream always has the whole trace: filter when reading it",
				     trace->memory->name);
	if (status == 0)
		status = describe(&dump, trace);
	if (status == 0)
		status = prepare(&writer);
	if (status == 0)
		status = put_all(&writer, trace);
	finish(&writer);
	forget(&dump);
	*output_error = writer.error;
	return status < 0 ? ktread_keep_message(trace, status) : 0;
}
