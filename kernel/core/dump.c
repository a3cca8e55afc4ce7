/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Version 2 dumps: the trace as it is in memory, but with every address replaced by an offset from the root.
 *
 *   1. the head of every ring is stored
 *   2. one pass over the section table and the rings computes the offset of each piece
 *   3. the root with the new section table is written, then the pieces in the same order, then the slots
 *
 * Other CPUs may continue to write records during a dump. If a slot is reserved again after the head of its
 * ring was stored, the dump contains an empty slot instead. Otherwise readers would detect the newer contents
 * by the generation, except after exactly 256 laps.
 *
 * The output stream comes first in this file (version 1 dumps use it, too), dumps into memory come last.
 */
#include "core.h"
#include "reader.h"

#define KTRACE_ALIGN_OF_PIECES 32u
/*
 * the size of a dump is a multiple of this number, so that the root of the next dump in the same output is
 * aligned
 */
#define KTRACE_DUMP_ALIGN 64u
#define KTRACE_SLOT_WORDS (KTRX_SLOT_SIZE / sizeof(uint64_t))
#define KTRACE_ROOM_SLOTS (KTRACE_STREAM_ROOM / KTRX_SLOT_SIZE)

/* ---- the output stream ------------------------------------------------------------------------ */

int ktrace_stream_open(struct ktrace_stream *stream, struct ktrace_sink *sink, const struct ktrx_root *root,
		       uint32_t limit)
{
	uint32_t rings = 0;
	const struct ktrx_ring *ring = ktrace_root_rings(root, &rings);
	size_t heads;

	if (rings > limit)
		rings = limit;
	heads = sizeof(uint64_t) * rings;
	if (!ring || sink->buffer_size < heads + KTRACE_STREAM_ROOM)
		return KTRACE_OUTPUT_ARGUMENT;
	stream->sink = sink;
	stream->heads = (uint64_t *)sink->buffer;
	stream->rings = rings;
	stream->buffer = (unsigned char *)sink->buffer + heads;
	stream->size = (sink->buffer_size - heads) & ~(size_t)(KTRX_SLOT_SIZE - 1);
	stream->fill = 0;
	stream->at = 0;
	stream->error = 0;
	for (uint32_t i = 0; i < rings; i++)
		stream->heads[i] = ktrace_ring_head(&ring[i]);
	return 0;
}

void ktrace_stream_begin(struct ktrace_stream *stream, uint64_t bytes)
{
	if (stream->sink->begin)
		stream->error = stream->sink->begin(stream->sink, bytes);
}

static void flush(struct ktrace_stream *stream)
{
	if (!stream->error && stream->fill > 0)
		stream->error = stream->sink->write(stream->sink, stream->buffer, stream->fill);
	stream->fill = 0;
}

void *ktrace_stream_room(struct ktrace_stream *stream, size_t bytes)
{
	void *room;

	if (bytes > stream->size - stream->fill)
		flush(stream);
	room = stream->buffer + stream->fill;
	stream->fill += bytes;
	stream->at += bytes;
	return room;
}

void ktrace_stream_put(struct ktrace_stream *stream, const void *data, uint64_t bytes)
{
	const uint8_t *from = data;

	while (bytes > 0) {
		size_t piece = bytes < KTRACE_STREAM_ROOM ? (size_t)bytes : KTRACE_STREAM_ROOM;

		ktrace_copy(ktrace_stream_room(stream, piece), from, piece);
		from += piece;
		bytes -= piece;
	}
}

void ktrace_stream_zero(struct ktrace_stream *stream, uint64_t bytes)
{
	while (bytes > 0) {
		size_t piece = bytes < KTRACE_STREAM_ROOM ? (size_t)bytes : KTRACE_STREAM_ROOM;

		ktrace_zero(ktrace_stream_room(stream, piece), piece);
		bytes -= piece;
	}
}

int ktrace_stream_close(struct ktrace_stream *stream)
{
	flush(stream);
	return stream->error;
}

/* ---- version 2 -------------------------------------------------------------------------------- */

static uint64_t align_up(uint64_t offset, uint64_t alignment)
{
	return (offset + alignment - 1) & ~(alignment - 1);
}

/*
 * Returns the size of a section in the dump. The size is 0 if only the physical address of the section is
 * known, because such a section cannot be read here.
 */
static uint64_t section_bytes(const struct ktrx_section *section)
{
	return section->type != KTRX_SECTION_NONE && section->where == KTRX_WHERE_VIRTUAL ? section->length
											  : 0;
}

static uint64_t ring_bytes(const struct ktrx_ring *ring)
{
	return ring->where == KTRX_WHERE_NONE || !ring->base ? 0
							     : ((uint64_t)ring->mask + 1) << KTRX_SLOT_SHIFT;
}

/* Returns the offset in the dump at which the slots of the rings begin. */
static uint64_t sections_end(const struct ktrx_root *root)
{
	uint64_t at = sizeof(*root);

	for (uint32_t i = 0; i < KTRX_SECTIONS; i++)
		at = align_up(at + section_bytes(&root->section[i]), KTRACE_ALIGN_OF_PIECES);
	return at;
}

static uint64_t dump_length(const struct ktrx_root *root, const struct ktrx_ring *ring, uint32_t rings)
{
	uint64_t at = sections_end(root);

	for (uint32_t i = 0; i < rings; i++)
		at += ring_bytes(&ring[i]);
	return align_up(at, KTRACE_DUMP_ALIGN);
}

static void put_root(struct ktrace_stream *stream, const struct ktrx_root *root, uint64_t length)
{
	struct ktrx_root *copy = (struct ktrx_root *)ktrace_stream_room(stream, sizeof(*copy));
	uint64_t at = sizeof(*root);

	ktrace_copy_words(copy, root, sizeof(*copy));
	copy->flags |= KTRX_FLAG_DUMP;
	copy->length = length;
	for (uint32_t i = 0; i < KTRX_SECTIONS; i++) {
		struct ktrx_section *section = &copy->section[i];
		uint64_t bytes = section_bytes(section);

		section->where = bytes ? KTRX_WHERE_FILE : KTRX_WHERE_NONE;
		section->extents = 1;
		section->address = at;
		section->length = bytes;
		at = align_up(at + bytes, KTRACE_ALIGN_OF_PIECES);
	}
}

static void put_rings(struct ktrace_stream *stream, const struct ktrx_ring *ring, uint64_t at)
{
	for (uint32_t i = 0; i < stream->rings; i++) {
		struct ktrx_ring *copy = (struct ktrx_ring *)ktrace_stream_room(stream, sizeof(*copy));

		ktrace_copy_words(copy, &ring[i], sizeof(*copy));
		copy->word = (uint64_t)i << KTRX_WORD_INDEX_BITS | stream->heads[i];
		copy->address = at;
		copy->length = ring_bytes(&ring[i]);
		copy->extents = 1;
		copy->where = copy->length ? KTRX_WHERE_FILE : KTRX_WHERE_NONE;
		copy->head_address = 0;
		copy->head_where = KTRX_WHERE_NONE;
		copy->head = 0;
		at += copy->length;
	}
}

static void put_section(struct ktrace_stream *stream, const struct ktrx_section *section)
{
	const struct ktrx_extent *extent = (const struct ktrx_extent *)(uintptr_t)section->address;
	uint64_t left = section->length;

	if (section->extents == 1) {
		ktrace_stream_put(stream, (const void *)(uintptr_t)section->address, left);
		return;
	}
	for (uint32_t i = 0; i < section->extents && left > 0; i++) {
		uint64_t bytes = extent[i].length < left ? extent[i].length : left;

		ktrace_stream_put(stream, (const void *)(uintptr_t)extent[i].address, bytes);
		left -= bytes;
	}
	ktrace_stream_zero(stream, left);
}

/* Writes the settings with their current values. Bytes between settings become zero. */
static void put_settings(struct ktrace_stream *stream, const struct ktrx_section *section)
{
	uint64_t at = section->address, end = section->address + section->length;

	while (end - at >= sizeof(struct ktrx_setting)) {
		const struct ktrx_setting *row = (const struct ktrx_setting *)(uintptr_t)at;
		struct ktrx_setting *copy;

		if (row->magic != KTRX_SETTING_MAGIC) {
			ktrace_stream_zero(stream, sizeof(uint64_t));
			at += sizeof(uint64_t);
			continue;
		}
		copy = (struct ktrx_setting *)ktrace_stream_room(stream, sizeof(*copy));
		ktrace_copy_words(copy, row, sizeof(*copy));
		copy->value = ktrace_setting_value(row);
		at += sizeof(*row);
	}
	ktrace_stream_zero(stream, end - at);
}

#define KTRACE_FOLD_TRIES 8u

/* Returns false if the entry changed during the copy. */
static int fold_copy(struct ktrx_fold *copy, const struct ktrx_fold *row)
{
	uint64_t sequence = __atomic_load_n(&row->sequence, __ATOMIC_ACQUIRE);

	ktrace_copy_words(copy, row, sizeof(*copy));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	copy->sequence = sequence;
	return !(sequence & 1) && __atomic_load_n(&row->sequence, __ATOMIC_RELAXED) == sequence;
}

/*
 * Writes entries that CPUs may be changing. Tries to copy an entry several times. If the entry changes during
 * each of these copies, the copy is marked as being changed (bit 0 of `sequence`).
 */
static void put_folds(struct ktrace_stream *stream, const struct ktrx_section *section)
{
	const struct ktrx_fold *row = (const struct ktrx_fold *)(uintptr_t)section->address;

	for (uint64_t left = section->length / sizeof(*row); left > 0; left--, row++) {
		struct ktrx_fold *copy = (struct ktrx_fold *)ktrace_stream_room(stream, sizeof(*copy));
		uint32_t tries = KTRACE_FOLD_TRIES;

		while (!fold_copy(copy, row) && --tries > 0)
			;
		if (tries == 0)
			copy->sequence |= 1;
	}
}

static void put_sections(struct ktrace_stream *stream, const struct ktrx_root *root,
			 const struct ktrx_ring *ring)
{
	uint64_t slots_at = sections_end(root);

	for (uint32_t i = 0; i < KTRX_SECTIONS; i++) {
		const struct ktrx_section *section = &root->section[i];

		if (section_bytes(section) == 0)
			continue;
		if (section->type == KTRX_SECTION_RINGS)
			put_rings(stream, ring, slots_at);
		else if (section->type == KTRX_SECTION_SETTINGS)
			put_settings(stream, section);
		else if (section->type == KTRX_SECTION_FOLDS)
			put_folds(stream, section);
		else
			put_section(stream, section);
		ktrace_stream_zero(stream, align_up(stream->at, KTRACE_ALIGN_OF_PIECES) - stream->at);
	}
}

/*
 * Clears those of the copied slots that have been reserved again since the heads were stored. `position` is
 * the index in the ring of the first copied slot.
 */
static void drop_overwritten(uint64_t *slots, const struct ktrx_ring *ring, uint64_t frozen,
			     uint64_t position, uint32_t count)
{
	uint64_t now;

	now = ktrace_ring_head(ring);
	if (now == frozen)
		return;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t age = (frozen - 1 - (position + i)) & ring->mask;
		uint64_t index = frozen - 1 - age;

		if (now - index > (uint64_t)ring->mask + 1)
			for (uint32_t word = 0; word < KTRACE_SLOT_WORDS; word++)
				slots[i * KTRACE_SLOT_WORDS + word] = 0;
	}
}

static void put_slots(struct ktrace_stream *stream, const struct ktrx_ring *ring, uint64_t frozen)
{
	const unsigned char *base = (const unsigned char *)(uintptr_t)ring->base;
	uint64_t slots = ring_bytes(ring) >> KTRX_SLOT_SHIFT;

	for (uint64_t position = 0; position < slots; position += KTRACE_ROOM_SLOTS) {
		uint32_t count = slots - position < KTRACE_ROOM_SLOTS ? (uint32_t)(slots - position)
								      : KTRACE_ROOM_SLOTS;
		void *copy = ktrace_stream_room(stream, (size_t)count << KTRX_SLOT_SHIFT);

		ktrace_copy_slots(copy, base + (position << KTRX_SLOT_SHIFT), count);
		drop_overwritten((uint64_t *)copy, ring, frozen, position, count);
	}
}

int ktrace_dump_v2(const struct ktrx_root *root, struct ktrace_sink *sink)
{
	uint32_t sequence = __atomic_load_n(&root->sequence, __ATOMIC_ACQUIRE);
	uint32_t rings = 0;
	const struct ktrx_ring *ring = ktrace_root_rings(root, &rings);
	struct ktrace_stream stream;
	uint64_t length;
	int error;

	error = ktrace_stream_open(&stream, sink, root, KTRX_MAX_RINGS);
	if (error)
		return error;
	length = dump_length(root, ring, stream.rings);
	ktrace_stream_begin(&stream, length);
	put_root(&stream, root, length);
	put_sections(&stream, root, ring);
	for (uint32_t i = 0; i < stream.rings; i++)
		put_slots(&stream, &ring[i], stream.heads[i]);
	ktrace_stream_zero(&stream, align_up(stream.at, KTRACE_DUMP_ALIGN) - stream.at);
	error = ktrace_stream_close(&stream);
	if (!error && (stream.at != length || (sequence & 1) != 0 || root->sequence != sequence))
		error = KTRACE_OUTPUT_CHANGED;
	return error;
}

/* ---- dumps into memory ------------------------------------------------------------------------ */

/*
 * Dumps into memory. The end of that memory serves as the stream's buffer, because the caller's stack may be
 * too small for it.
 */

struct memory_sink {
	/* must be the first member, because a pointer to it is cast to a pointer to this structure */
	struct ktrace_sink sink;
	uint8_t *memory;
	uint64_t room; /* number of bytes of `memory` that the dump may use */
	uint64_t taken;
	uint64_t needed; /* size of the dump in bytes */
};

static int memory_begin(struct ktrace_sink *sink, uint64_t bytes)
{
	struct memory_sink *memory = (struct memory_sink *)sink;

	memory->needed = bytes;
	return bytes <= memory->room ? 0 : KTRACE_OUTPUT_FULL;
}

static int memory_write(struct ktrace_sink *sink, const void *data, size_t bytes)
{
	struct memory_sink *memory = (struct memory_sink *)sink;

	if (bytes > memory->room - memory->taken)
		return KTRACE_OUTPUT_FULL;
	ktrace_copy(memory->memory + memory->taken, data, bytes);
	memory->taken += bytes;
	return 0;
}

int ktrace_snapshot(void *memory, size_t size, size_t *bytes)
{
	size_t scratch = KTRACE_SINK_BUFFER_MIN + ktrace_rings() * sizeof(uint64_t);
	struct memory_sink sink;
	int error;

	ktrace_attach();
	if (!memory || !bytes || (uintptr_t)memory % 8 != 0)
		return KTRACE_ERROR_ARGUMENT;
	if (size < scratch) {
		*bytes = 2 * scratch;
		return KTRACE_ERROR_MEMORY;
	}
	sink.memory = memory;
	sink.room = (size - scratch) & ~(size_t)7;
	sink.taken = 0;
	sink.needed = 0;
	sink.sink.write = memory_write;
	sink.sink.begin = memory_begin;
	sink.sink.buffer = sink.memory + sink.room;
	sink.sink.buffer_size = scratch;
	error = ktrace_dump_v2(&ktrace_root, &sink.sink);
	*bytes = error ? sink.needed + scratch + 8 : sink.taken;
	if (error == KTRACE_OUTPUT_FULL)
		return KTRACE_ERROR_MEMORY;
	return error ? KTRACE_ERROR_STATE : KTRACE_OK;
}
