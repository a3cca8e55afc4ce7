/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Writes an image as a v2 dump, even while the guest is recording.
 *
 * Each ring is copied from its oldest slot on. Then the ring's head is read again. The slots that the guest
 * has written during the copy are copied, too. They replace the oldest slots, which the guest has overwritten
 * in the ring itself. If a writer may have begun to overwrite a slot while it was copied, the slot is emptied
 * in the dump. So each slot below the head in the dump was either copied before a writer could overwrite it,
 * or counts as overwritten.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "layout.h"
#include "source.h"

#define ALIGNMENT 64u
#define BLOCK	  (UINT64_C(256) << 10)
/* maximum number of bytes that are copied of a section that is not a ring */
#define SECTION_LIMIT (UINT64_C(256) << 20)

struct base_output {
	int descriptor;
	uint64_t base; /* offset in the file at which the dump begins */
	unsigned char *block;
};

struct dump {
	struct ktrx_root root;
	struct ktrx_section section[KTREAD_SECTION_MAX + 3];
	uint32_t sections; /* number of sections in the dump so far */
	uint32_t rows;	   /* number of section descriptors for which the root has room */
	struct ktrx_ring *ring;
	uint64_t table; /* offset of the ring table in the dump */
	/* offset in the dump of the first free byte, after everything that was added so far */
	uint64_t end;
};

static int put(const struct base_output *output, uint64_t offset, const void *bytes, uint64_t size)
{
	const unsigned char *from = bytes;

	while (size) {
		ssize_t put = pwrite(output->descriptor, from, size, (off_t)(output->base + offset));

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return ktread_fail_errno("cannot write the dump");
		from += put;
		offset += (uint64_t)put;
		size -= (uint64_t)put;
	}
	return 0;
}

/*
 * Copies `size` bytes of a region, from `from` on, to this offset of the dump. Keeps holes of the source as
 * holes in the dump.
 */
static int put_region(const struct base_output *output, uint64_t offset, const struct ktread_region *region,
		      uint64_t from, uint64_t size)
{
	uint64_t end = from + size;

	while (from < end) {
		uint64_t data = ktread_region_next(region, from), part;
		int status;

		if (data >= end)
			return 0;
		offset += data - from;
		from = data;
		part = end - from < BLOCK ? end - from : BLOCK;
		status = ktread_region_read(region, from, output->block, part);
		if (status == 0)
			status = put(output, offset, output->block, part);
		if (status < 0)
			return status;
		offset += part;
		from += part;
	}
	return 0;
}

/* Reserves `size` bytes at the end of the dump. Returns their offset. */
static uint64_t lay_out(struct dump *dump, uint64_t size)
{
	uint64_t at = dump->end;

	dump->end = (at + size + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
	return at;
}

static void add_section(struct dump *dump, const struct ktrx_section *row, uint64_t size)
{
	struct ktrx_section *section = &dump->section[dump->sections++];

	*section = *row;
	section->where = KTRX_WHERE_FILE;
	section->extents = 1;
	section->address = lay_out(dump, size);
	section->length = size;
}

static void add_text(struct dump *dump, uint32_t type, const char *text)
{
	if (text)
		add_section(dump, &(struct ktrx_section){ .type = type }, strlen(text));
}

/*
 * Returns true if the section is not copied from memory, because the dump gets a new section of the same
 * type.
 */
static bool is_of_dump(const struct ktread_section *section)
{
	return section->row.type == KTRX_SECTION_RINGS || section->row.type == KTRX_SECTION_NOTE ||
	       section->row.type == KTRX_SECTION_REGISTERS;
}

/*
 * Returns true for the table of settings, which is not copied: a new table with the current values is written
 * instead.
 */
static bool has_settings(const struct ktread_layout *layout, const struct ktread_section *section)
{
	return section == ktread_layout_section(layout, KTRX_SECTION_SETTINGS, 0);
}

static uint64_t section_size(const struct ktread_layout *layout, const struct ktread_section *section)
{
	return has_settings(layout, section) ? layout->settings * sizeof(*layout->setting)
					     : ktread_region_readable(&section->region);
}

/* Assigns an offset in the dump to each section and each ring. */
static void plan(struct dump *dump, const struct ktread_image *image, const char *note)
{
	const struct ktread_layout *layout = image->layout;
	const struct ktrx_section rings = { .type = KTRX_SECTION_RINGS,
					    .entry_size = sizeof(struct ktrx_ring) };
	uint64_t budget = image->memory->size;

	/* leave room for all sections, the ring table, and the sections that the host adds */
	dump->rows = layout->sections + 3 > KTRX_SECTIONS ? layout->sections + 3 : KTRX_SECTIONS;
	lay_out(dump, offsetof(struct ktrx_root, section) + dump->rows * sizeof(dump->section[0]));
	add_section(dump, &rings, layout->rings * sizeof(struct ktrx_ring));
	dump->table = dump->section[0].address;
	for (uint32_t i = 0; i < layout->sections; i++) {
		const struct ktread_section *section = &layout->section[i];
		uint64_t size = section_size(layout, section);

		if (is_of_dump(section))
			continue;
		/*
		 * All sections together cannot be larger than the memory. If their stated sizes are larger,
		 * some size is wrong: limit the sizes.
		 */
		size = size < SECTION_LIMIT ? size : SECTION_LIMIT;
		size = size < budget ? size : budget;
		budget -= size;
		add_section(dump, &section->row, size);
	}
	add_text(dump, KTRX_SECTION_NOTE, note);
	add_text(dump, KTRX_SECTION_REGISTERS, image->registers);
	for (uint32_t n = 0; n < layout->rings; n++) {
		const struct ktread_ring_place *place = &layout->ring[n];
		struct ktrx_ring *ring = &dump->ring[n];
		uint64_t size = place->usable ? ktread_ring_slots(place) * KTRX_SLOT_SIZE : 0;

		*ring = place->row;
		ring->where = KTRX_WHERE_NONE;
		if (size == 0 || size > image->memory->size || ktread_region_readable(&place->slots) == 0)
			continue;
		ring->where = KTRX_WHERE_FILE;
		ring->extents = 1;
		ring->length = size;
		ring->address = lay_out(dump, size);
	}
}

/* Copies the slots from `index` to `end`, which may wrap around in the ring. */
static int put_slots(const struct base_output *output, const struct ktrx_ring *ring,
		     const struct ktread_ring_place *place, uint64_t index, uint64_t end)
{
	uint64_t slots = ktread_ring_slots(place);

	while (index < end) {
		uint64_t position = index & (slots - 1);
		uint64_t count = end - index < slots - position ? end - index : slots - position;
		int status = put_region(output, ring->address + position * KTRX_SLOT_SIZE, &place->slots,
					position * KTRX_SLOT_SIZE, count * KTRX_SLOT_SIZE);

		if (status < 0)
			return status;
		index += count;
	}
	return 0;
}

/*
 * Empties the slots from `index` to `end` in the dump. A writer may have overwritten them in memory while
 * they were copied.
 */
static int drop_slots(const struct base_output *output, const struct ktrx_ring *ring,
		      const struct ktread_ring_place *place, uint64_t index, uint64_t end)
{
	static const unsigned char empty[KTRX_SLOT_SIZE];
	uint64_t slots = ktread_ring_slots(place);
	int status = 0;

	for (; index < end && status == 0; index++)
		status = put(output, ring->address + (index & (slots - 1)) * KTRX_SLOT_SIZE, empty,
			     sizeof(empty));
	return status;
}

/*
 * Updates a ring's descriptor from memory. Updates its newest anchor only if that anchor is before the head
 * in the dump.
 */
static int refresh_row(struct ktrx_ring *ring, const struct ktread_layout *layout, uint32_t n, uint64_t head)
{
	const struct ktread_ring_place *place = &layout->ring[n];
	struct ktrx_ring now;
	int status;

	if (place->row_physical == UINT64_MAX)
		return 0;
	status = ktread_memory_read(layout->memory, place->row_physical, &now, sizeof(now));
	if (status < 0)
		return status;
	ring->dropped = now.dropped;
	ring->lapped = now.lapped;
	if (now.anchor_index < head) {
		ring->anchor_index = now.anchor_index;
		ring->anchor_stamp = now.anchor_stamp;
	}
	return 0;
}

static int put_ring(const struct base_output *output, struct ktrx_ring *ring,
		    const struct ktread_layout *layout, uint32_t n)
{
	const struct ktread_ring_place *place = &layout->ring[n];
	uint64_t before, head, after, begin, slots = ktread_ring_slots(place);
	int status = ktread_layout_head(layout, n, &before);

	if (status == 0 && before > ring->first)
		status = put_slots(output, ring, place, ktread_ring_begin(place, before), before);
	if (status == 0)
		status = ktread_layout_head(layout, n, &head);
	if (status < 0)
		return status;
	/* the guest has started the ring again: keep the slots that were copied before that */
	if (head < before)
		head = before;
	begin = head - before > slots ? head - slots : before;
	status = put_slots(output, ring, place, begin, head);
	if (status == 0)
		status = ktread_layout_head(layout, n, &after);
	if (status == 0 && after > head && after - begin > slots)
		status = drop_slots(output, ring, place, begin, after - slots < head ? after - slots : head);
	ring->word = (uint64_t)n << KTRX_WORD_INDEX_BITS | head;
	return status < 0 ? status : refresh_row(ring, layout, n, head);
}

/* Clears the pointers that only the kernel can use, because they mean nothing in a dump. */
static void clear_pointers(struct ktrx_ring *ring)
{
	ring->base = 0;
	ring->head = 0;
	ring->head_address = 0;
	ring->head_where = KTRX_WHERE_NONE;
}

static int put_rings(const struct base_output *output, struct dump *dump, const struct ktread_layout *layout)
{
	int status = 0;

	for (uint32_t n = 0; n < layout->rings && status == 0; n++) {
		struct ktrx_ring *ring = &dump->ring[n];

		if (ring->where == KTRX_WHERE_FILE)
			status = put_ring(output, ring, layout, n);
		clear_pointers(ring);
	}
	return status < 0 ? status
			  : put(output, dump->table, dump->ring, layout->rings * sizeof(*dump->ring));
}

static int put_text(const struct base_output *output, const struct dump *dump, uint32_t *next,
		    const char *text)
{
	return text ? put(output, dump->section[(*next)++].address, text, strlen(text)) : 0;
}

static int put_sections(const struct base_output *output, const struct dump *dump,
			const struct ktread_image *image, const char *note)
{
	const struct ktread_layout *layout = image->layout;
	uint32_t next = 1;
	int status = 0;

	for (uint32_t i = 0; i < layout->sections && status == 0; i++) {
		const struct ktread_section *section = &layout->section[i];

		if (is_of_dump(section))
			continue;
		if (has_settings(layout, section))
			status = put(output, dump->section[next].address, layout->setting,
				     dump->section[next].length);
		else
			status = put_region(output, dump->section[next].address, &section->region, 0,
					    dump->section[next].length);
		next++;
	}
	if (status == 0)
		status = put_text(output, dump, &next, note);
	return status < 0 ? status : put_text(output, dump, &next, image->registers);
}

/* Writes the root of the dump: the root as it is in memory now, adapted to the dump. Must be called last. */
static int put_root(const struct base_output *output, struct dump *dump, struct ktread_image *image,
		    uint64_t frequency)
{
	struct ktrx_root *root = &dump->root;
	int status = ktread_root_read(image->memory, image->physical, root);

	if (status < 0)
		*root = image->root;
	if (frequency && ktread_frequency(0, root->frequency) == 0)
		root->frequency = frequency;
	root->flags |= KTRX_FLAG_DUMP;
	root->table = offsetof(struct ktrx_root, section);
	root->sections = dump->rows;
	root->root_size = (uint32_t)(root->table + root->sections * sizeof(dump->section[0]));
	root->length = dump->end;
	root->sequence &= ~1u;
	root->checksum = ktrx_root_checksum(root);
	status = put(output, 0, root, root->table);
	return status < 0
		       ? status
		       : put(output, root->table, dump->section, root->sections * sizeof(dump->section[0]));
}

static int write_dump(const struct base_output *output, struct dump *dump, struct ktread_image *image,
		      const char *note, uint64_t frequency)
{
	const unsigned char last = 0;
	int status;

	plan(dump, image, note);

	/* Give the file its final length first, so that all parts that are not written read as zeros. */
	status = put(output, dump->end - 1, &last, 1);
	if (status == 0)
		status = put_rings(output, dump, image->layout);
	if (status == 0)
		status = put_sections(output, dump, image, note);
	return status < 0 ? status : put_root(output, dump, image, frequency);
}

/* Copies a finished dump to a descriptor that permits only sequential writes, such as a pipe. */
static int copy_out(int from, int to, uint64_t size, unsigned char *block)
{
	for (uint64_t at = 0; at < size;) {
		ssize_t got = pread(from, block, BLOCK, (off_t)at);

		if (got <= 0)
			return ktread_fail_errno("cannot read the temporary dump");
		for (ssize_t done = 0; done < got;) {
			ssize_t put = write(to, block + done, (size_t)(got - done));

			if (put < 0 && errno == EINTR)
				continue;
			if (put < 0)
				return ktread_fail_errno("cannot write the dump");
			done += put;
		}
		at += (uint64_t)got;
	}
	return 0;
}

static int write_through_file(struct base_output *output, struct dump *dump, struct ktread_image *image,
			      int fd, const char *note, uint64_t frequency)
{
	int status;

	output->descriptor = ktread_file_temporary();
	if (output->descriptor < 0)
		return output->descriptor;
	status = write_dump(output, dump, image, note, frequency);
	if (status == 0)
		status = copy_out(output->descriptor, fd, dump->end, output->block);
	close(output->descriptor);
	return status;
}

static int write_to(struct base_output *output, struct dump *dump, struct ktread_image *image, int fd,
		    const char *note, uint64_t frequency)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	int status;

	if (at < 0 || (fcntl(fd, F_GETFL) & O_APPEND))
		return write_through_file(output, dump, image, fd, note, frequency);
	output->descriptor = fd;
	output->base = (uint64_t)at;
	status = write_dump(output, dump, image, note, frequency);
	if (status == 0 && lseek(fd, at + (off_t)dump->end, SEEK_SET) < 0)
		status = ktread_fail_errno("cannot write the dump");
	return status;
}

int ktread_image_write(struct ktread_image *image, int fd, const char *note, uint64_t frequency)
{
	struct base_output output = { 0 };
	struct dump *dump;
	int status = ktread_image_refresh(image);

	if (status < 0)
		return status;
	dump = calloc(1, sizeof(*dump));
	output.block = malloc(BLOCK);
	if (dump)
		dump->ring = calloc(image->layout->rings ? image->layout->rings : 1, sizeof(*dump->ring));
	if (dump && dump->ring && output.block)
		status = write_to(&output, dump, image, fd, note, frequency);
	else
		status = ktread_fail_memory();
	if (dump)
		free(dump->ring);
	free(dump);
	free(output.block);
	return status;
}
