/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "unit/support/ktread_writer.h"

#define ANCHOR_TICKS (UINT64_C(1) << 35)

void writer_open(struct writer *writer, uint32_t rings, uint32_t shift)
{
	memset(writer, 0, sizeof(*writer));
	memcpy(writer->root.magic, KTRX_MAGIC, 4);
	memcpy(writer->root.tag, KTRX_TAG, 8);
	writer->root.version = KTRX2_VERSION;
	writer->root.frequency = 1000000000;
	writer->root.cpus = rings - 1;
	writer->root.slots = 1u << shift;
	writer->root.slot_size = KTRX_SLOT_SIZE;
	writer->root.slot_format = KTRX_SLOTS_CHECKED;
	writer->root.root_size = sizeof(writer->root);
	writer->root.sections = KTRX_SECTIONS;
	writer->root.table = offsetof(struct ktrx_root, section);
	writer->root.machine = 62;
	writer->root.nonce = 0x1234567890abcd03;
	writer->root.self = 0xffffffff80010000;
	writer->root.checksum = ktrx_root_checksum(&writer->root);
	strcpy(writer->root.kernel, "test 1.0");
	writer->rings = rings;
	writer->ring = calloc(rings, sizeof(*writer->ring));
	assert_non_null(writer->ring);
	for (uint32_t n = 0; n < rings; n++) {
		struct writer_ring *ring = &writer->ring[n];

		ring->slot = calloc(1u << shift, sizeof(*ring->slot));
		assert_non_null(ring->slot);
		ring->row.mask = (1u << shift) - 1;
		ring->row.shift = shift;
		ring->row.first = (writer->root.nonce & 0xff) << shift;
		ring->row.kind = n ? KTRX_RING_PER_CPU : KTRX_RING_SHARED;
		ring->row.cpu = n ? n - 1 : KTRX_NO_CPU;
		ring->head = ring->row.first;
	}
}

void writer_close(struct writer *writer)
{
	for (uint32_t n = 0; n < writer->rings; n++)
		free(writer->ring[n].slot);
	free(writer->ring);
	bytes_free(&writer->events);
	bytes_free(&writer->threads);
	bytes_free(&writer->syscalls);
	bytes_free(&writer->offsets);
	bytes_free(&writer->settings);
	bytes_free(&writer->clocks);
	bytes_free(&writer->cpus);
	bytes_free(&writer->holders);
	bytes_free(&writer->note);
	bytes_free(&writer->registers);
	bytes_free(&writer->build_id);
}

void writer_event(struct writer *writer, const uint8_t *types, const char *strings, size_t size)
{
	struct ktrx_event row = { .magic = KTRX_EVENT_MAGIC,
				  .state = KTRX_STATE_RECORD,
				  .v1_id = KTRX_V1_NONE };
	size_t end;

	for (; types[row.fields]; row.fields++)
		row.type[row.fields] = types[row.fields];
	row.size = (uint16_t)((sizeof(row) + size + 7) / 8 * 8);
	end = writer->events.size + row.size;
	bytes_append(&writer->events, &row, sizeof(row));
	bytes_append(&writer->events, strings, size);
	bytes_grow(&writer->events, end);
}

void writer_thread(struct writer *writer, uint32_t thread, const char *name)
{
	struct ktrx_thread row = { .id = thread + 1 };

	strncpy(row.name, name, sizeof(row.name) - 1);
	bytes_append(&writer->threads, &row, sizeof(row));
}

struct writer_slot *writer_slot_at(struct writer *writer, uint32_t ring, uint64_t index)
{
	return &writer->ring[ring].slot[index % (writer->ring[ring].row.mask + 1u)];
}

uint64_t writer_reserve(struct writer *writer, uint32_t ring, uint32_t slots)
{
	uint64_t index = writer->ring[ring].head;

	writer->ring[ring].head += slots;
	return index;
}

static uint64_t generation(const struct writer_ring *ring, uint64_t index)
{
	return index / (ring->row.mask + 1u) % 256;
}

static void put_first(struct writer *writer, uint32_t n, uint64_t index, unsigned kind, uint64_t stamp,
		      uint64_t id, uint64_t second, const unsigned char *payload)
{
	struct writer_slot *slot = writer_slot_at(writer, n, index);
	uint64_t lap = generation(&writer->ring[n], index);

	slot->word[0] = kind | lap << 3 | id << 16 | stamp << 28;
	slot->word[1] = second;
	memcpy((unsigned char *)slot + 12, payload, 20);
	if (writer->root.slot_format == KTRX_SLOTS_COPIED)
		slot->word[1] |= (lap & 0x7f) << 25;
}

/* The function mix() of spec/ktrx.md, section 5, "The check". */
static uint64_t mix(uint64_t a, uint64_t b)
{
	const uint64_t key = UINT64_C(0x9e3779b97f4a7c15);
	unsigned __int128 product = (unsigned __int128)(a + key) * (b * key);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Returns the lap modulo 2^32, multiplied by the factor. */
static uint32_t scaled_lap(const struct writer *writer, uint32_t n, uint64_t index, uint32_t added)
{
	uint64_t word = (uint64_t)n << 51 | index;

	return ((uint32_t)(word >> writer->ring[n].row.shift) + added) * 0xe2b84105u;
}

static uint64_t check_more(struct writer *writer, uint32_t n, uint64_t index)
{
	const uint64_t *word = writer_slot_at(writer, n, index)->word;

	return mix(word[2],
		   word[3] + mix(word[0] & ~UINT64_C(0xf800), word[1] + scaled_lap(writer, n, index, 0)));
}

static void put_check(struct writer *writer, uint32_t n, uint64_t index, uint64_t rest)
{
	unsigned char *slot = (unsigned char *)writer_slot_at(writer, n, index);
	uint32_t part[8];
	uint64_t a, b, check;

	memcpy(part, slot, sizeof(part));
	memcpy(&a, slot + 12, 8);
	memcpy(&b, slot + 20, 8);
	check = mix(a, b + scaled_lap(writer, n, index, part[7] + part[2] * 8) + rest);
	part[0] |= (uint32_t)check & 0xf800;
	part[2] |= (uint32_t)check & 0xfe000000;
	memcpy(slot, part, sizeof(part));
}

static void put_more(struct writer *writer, uint32_t n, uint64_t index, unsigned kind,
		     const unsigned char *payload)
{
	struct writer_slot *slot = writer_slot_at(writer, n, index);
	uint64_t mixed;

	memcpy((unsigned char *)slot + 2, payload, 30);
	slot->word[0] = (slot->word[0] & ~UINT64_C(0xffff)) | kind | generation(&writer->ring[n], index) << 3;
	if (writer->root.slot_format != KTRX_SLOTS_COPIED) {
		slot->word[0] |= check_more(writer, n, index) & 0xf800;
		return;
	}
	mixed = slot->word[0] ^ slot->word[1] * 3 ^ slot->word[2] * 5 ^ slot->word[3] * 7;
	slot->word[0] |= mixed * UINT64_C(0x9e3779b97f4a7c15) >> 59 << 11;
}

static uint64_t put_record(struct writer *writer, uint32_t ring, uint64_t stamp, uint32_t id, uint64_t second,
			   const void *payload, uint32_t bytes)
{
	unsigned char padded[20 + 7 * 30] = { 0 };
	uint32_t more = bytes > 20 ? (bytes - 20 + 29) / 30 : 0;
	uint64_t index = writer_reserve(writer, ring, 1 + more), rest = 0;

	memcpy(padded, payload, bytes);
	put_first(writer, ring, index, more ? KTRX_KIND_FIRST : KTRX_KIND_SINGLE, stamp, id, second, padded);
	for (uint32_t i = 0; i < more; i++)
		put_more(writer, ring, index + 1 + i, i + 1 == more ? KTRX_KIND_LAST : KTRX_KIND_MORE,
			 padded + 20 + 30 * i);
	if (writer->root.slot_format != KTRX_SLOTS_COPIED) {
		for (uint32_t i = more; i > 0; i--)
			rest = (rest ^ check_more(writer, ring, index + i)) * UINT64_C(0x9e3779b97f4a7c15);
		put_check(writer, ring, index, rest);
	}
	return index;
}

void writer_anchor(struct writer *writer, uint32_t n, uint64_t stamp)
{
	struct ktrx_ring *row = &writer->ring[n].row;
	struct ktrx_anchor anchor = { stamp, row->anchor_stamp, 0 };

	if (row->anchor_stamp)
		anchor.distance = (uint32_t)(writer->ring[n].head - row->anchor_index);
	row->anchor_index = put_record(writer, n, stamp, KTRX_EVENT_ANCHOR, 0, &anchor, sizeof(anchor));
	row->anchor_stamp = stamp;
}

static void anchor_if_due(struct writer *writer, uint32_t n, uint64_t stamp)
{
	const struct ktrx_ring *row = &writer->ring[n].row;

	if (row->anchor_stamp == 0 ||
	    (stamp > row->anchor_stamp && stamp - row->anchor_stamp >= ANCHOR_TICKS))
		writer_anchor(writer, n, stamp);
}

uint64_t writer_record(struct writer *writer, uint32_t ring, uint64_t stamp, uint32_t id, uint32_t thread,
		       const void *payload, uint32_t bytes)
{
	anchor_if_due(writer, ring, stamp);
	return put_record(writer, ring, stamp, id, thread, payload, bytes);
}

uint64_t writer_record_extended(struct writer *writer, uint32_t ring, uint64_t stamp, uint32_t id,
				uint32_t thread, const void *payload, uint32_t bytes)
{
	anchor_if_due(writer, ring, stamp);
	return put_record(writer, ring, stamp, id, thread | KTRX_W1_EXTENDED_BIT, payload, bytes);
}

static void put_section(struct ktrx_root *root, uint32_t n, uint32_t type, uint32_t entry, struct bytes *dump,
			size_t start, const void *data, size_t size)
{
	root->section[n] = (struct ktrx_section){ .type = type,
						  .where = KTRX_WHERE_FILE,
						  .entry_size = (uint16_t)entry,
						  .extents = 1,
						  .address = dump->size - start,
						  .length = size };
	bytes_append(dump, data, size);
	bytes_grow(dump, start + (dump->size - start + 63) / 64 * 64);
}

void writer_dump(struct writer *writer, struct bytes *dump)
{
	struct ktrx_root root = writer->root;
	struct ktrx_ring *row = calloc(writer->rings, sizeof(*row));
	size_t start = dump->size, table, slots = (size_t)writer->ring[0].row.mask + 1;

	assert_non_null(row);
	bytes_append(dump, &root, sizeof(root));
	put_section(&root, 1, KTRX_SECTION_EVENTS, 0, dump, start, writer->events.data, writer->events.size);
	put_section(&root, 2, KTRX_SECTION_THREADS, 32, dump, start, writer->threads.data,
		    writer->threads.size);
	put_section(&root, 3, KTRX_SECTION_SYSCALLS, 0, dump, start, writer->syscalls.data,
		    writer->syscalls.size);
	put_section(&root, 4, KTRX_SECTION_OFFSETS, 8, dump, start, writer->offsets.data,
		    writer->offsets.size);
	root.section[5].type = 77; /* a number that no reader knows */
	if (writer->settings.size)
		put_section(&root, 6, KTRX_SECTION_SETTINGS, 0, dump, start, writer->settings.data,
			    writer->settings.size);
	if (writer->clocks.size)
		put_section(&root, 7, KTRX_SECTION_CLOCKS, sizeof(struct ktrx_clock), dump, start,
			    writer->clocks.data, writer->clocks.size);
	if (writer->cpus.size)
		put_section(&root, 8, KTRX_SECTION_CPUS, sizeof(struct ktrx_cpu), dump, start,
			    writer->cpus.data, writer->cpus.size);
	if (writer->holders.size)
		put_section(&root, 9, KTRX_SECTION_HOLDERS, sizeof(struct ktrx_holder), dump, start,
			    writer->holders.data, writer->holders.size);
	if (writer->note.size)
		put_section(&root, 10, KTRX_SECTION_NOTE, 0, dump, start, writer->note.data,
			    writer->note.size);
	if (writer->registers.size)
		put_section(&root, 11, KTRX_SECTION_REGISTERS, 0, dump, start, writer->registers.data,
			    writer->registers.size);
	if (writer->build_id.size)
		put_section(&root, 12, KTRX_SECTION_BUILD_ID, 0, dump, start, writer->build_id.data,
			    writer->build_id.size);
	table = dump->size;
	put_section(&root, 0, KTRX_SECTION_RINGS, sizeof(row[0]), dump, start, row,
		    writer->rings * sizeof(row[0]));
	for (uint32_t n = 0; n < writer->rings; n++) {
		row[n] = writer->ring[n].row;
		row[n].word = (uint64_t)n << KTRX_WORD_INDEX_BITS | writer->ring[n].head;
		row[n].where = KTRX_WHERE_FILE;
		row[n].extents = 1;
		row[n].address = dump->size - start;
		row[n].length = slots * KTRX_SLOT_SIZE;
		bytes_append(dump, writer->ring[n].slot, slots * KTRX_SLOT_SIZE);
	}
	memcpy(dump->data + table, row, writer->rings * sizeof(row[0]));
	free(row);
	root.flags = KTRX_FLAG_DUMP;
	root.length = dump->size - start;
	memcpy(dump->data + start, &root, sizeof(root));
}

/* Offsets from the start of memory to the parts of the image. */
#define BOOT_ROW    0x11000u
#define EXTENTS	    0x11100u
#define WORDS	    0x11200u /* offset of the reserve words, which are in the order of the rings */
#define EVENTS	    0x12000u
#define BOOT_SLOTS  0x20000u
#define LENT_ROWS   (WRITER_BLOCK + 64)
#define LENT_CPUS   (WRITER_BLOCK + 0x1000)
#define LENT_SLOTS  (WRITER_BLOCK + 0x2000)
#define BLOCK_LEAST 0x100000u

static uint64_t image_address(uint32_t offset)
{
	return WRITER_IMAGE_OFFSET + offset;
}

static uint64_t lent_address(uint64_t offset)
{
	return WRITER_BLOCK_OFFSET + offset;
}

/*
 * Returns the offset of the slots of ring `n`. If `n` is the number of rings, returns the offset of the end
 * of ktrace's memory.
 */
static uint64_t slots_offset(const struct writer *writer, uint32_t n)
{
	uint64_t offset = LENT_SLOTS;

	for (uint32_t before = 1; before < n; before++)
		offset += (writer->ring[before].row.mask + UINT64_C(1)) * KTRX_SLOT_SIZE;
	return n ? offset : BOOT_SLOTS;
}

uint64_t writer_memory_end(const struct writer *writer)
{
	return slots_offset(writer, writer->rings);
}

void writer_memory_update(struct writer *writer, unsigned char *memory)
{
	for (uint32_t n = 0; n < writer->rings; n++) {
		struct ktrx_ring row = writer->ring[n].row;
		uint64_t word = (uint64_t)n << KTRX_WORD_INDEX_BITS | writer->ring[n].head;

		row.where = KTRX_WHERE_VIRTUAL;
		row.extents = 1;
		row.length = (row.mask + UINT64_C(1)) * KTRX_SLOT_SIZE;
		row.address = n ? lent_address(slots_offset(writer, n)) : image_address(BOOT_SLOTS);
		row.word = word;
		if (n) {
			row.word = UINT64_C(0xdeadbeef);
			row.head_where = KTRX_WHERE_VIRTUAL;
			row.head_address = image_address(WORDS + 8 * n);
			memcpy(memory + WORDS + 8 * n, &word, sizeof(word));
		}
		memcpy(memory + (n ? LENT_ROWS + (n - 1) * sizeof(row) : BOOT_ROW), &row, sizeof(row));
		memcpy(memory + slots_offset(writer, n), writer->ring[n].slot, row.length);
	}
}

static void memory_section(struct ktrx_root *root, uint32_t n, uint32_t type, uint32_t entry,
			   uint32_t extents, uint64_t address, uint64_t length)
{
	root->section[n] = (struct ktrx_section){
		type, KTRX_WHERE_VIRTUAL, (uint16_t)entry, extents, 0, address, length
	};
}

void writer_memory(struct writer *writer, unsigned char *memory, uint64_t base)
{
	struct ktrx_root root = writer->root;
	struct ktrx_block block = { .nonce = root.nonce,
				    .self = lent_address(WRITER_BLOCK),
				    .length = writer_memory_end(writer) - WRITER_BLOCK };
	const struct ktrx_extent extent[2] = {
		{ image_address(BOOT_ROW), sizeof(struct ktrx_ring) },
		{ lent_address(LENT_ROWS), (writer->rings - 1) * sizeof(struct ktrx_ring) },
	};
	const struct ktrx_cpu cpu[2] = { { .heartbeats = 5, .online = 1, .mode = KTRX_MODE_IDLE },
					 { .heartbeats = 7, .online = 1, .mode = KTRX_MODE_USER } };

	if (block.length < BLOCK_LEAST)
		block.length = BLOCK_LEAST;
	root.self = image_address(WRITER_ROOT);
	root.self_phys = base ? base + WRITER_ROOT : 0;
	root.checksum = ktrx_root_checksum(&root);
	memcpy(block.magic, KTRX_BLOCK_MAGIC, sizeof(block.magic));
	memory_section(&root, 0, KTRX_SECTION_RINGS, sizeof(struct ktrx_ring), 2, image_address(EXTENTS),
		       writer->rings * sizeof(struct ktrx_ring));
	memory_section(&root, 1, KTRX_SECTION_EVENTS, 0, 1, image_address(EVENTS), writer->events.size);
	memory_section(&root, 2, KTRX_SECTION_CPUS, sizeof(cpu[0]), 1, lent_address(LENT_CPUS), sizeof(cpu));
	memory_section(&root, 3, KTRX_SECTION_SETTINGS, 0, 1, image_address(WRITER_SETTINGS),
		       writer->settings.size);
	if (writer->settings.size)
		memcpy(memory + WRITER_SETTINGS, writer->settings.data, writer->settings.size);
	memcpy(memory + WRITER_ROOT, &root, sizeof(root));
	memcpy(memory + EXTENTS, extent, sizeof(extent));
	memcpy(memory + EVENTS, writer->events.data, writer->events.size);
	memcpy(memory + WRITER_BLOCK, &block, sizeof(block));
	memcpy(memory + LENT_CPUS, cpu, sizeof(cpu));
	writer_memory_update(writer, memory);
}
