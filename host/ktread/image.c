/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds ktrace in a memory:
 *
 *	1. Scans the memory once, for roots and for the heads of lent blocks.
 *	2. For a RAM file whose map is unknown, tries each map that is possible for the root's machine.
 *	3. If there are several roots, uses the root whose rings have the newest anchor.
 *
 * A virtual address is resolved with the lent block that contains the address. If no block contains it, it is
 * resolved with the distance between the root's virtual and physical address.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"
#include "layout.h"
#include "message.h"

#define STABLE_TRIES 100u

/*
 * Reads the root again and again until its sequence number shows that the guest did not change the section
 * table during the reading. After STABLE_TRIES attempts, returns the root as it was read last.
 */
static int read_stable(struct ktread_memory *memory, uint64_t physical, struct ktrx_root *root)
{
	for (unsigned i = 0; i < STABLE_TRIES; i++) {
		uint32_t sequence;
		int status = ktread_root_read(memory, physical, root);

		if (status == 0)
			status = ktread_memory_read(memory, physical + offsetof(struct ktrx_root, sequence),
						    &sequence, sizeof(sequence));
		if (status < 0)
			return status;
		if (sequence == root->sequence && !(sequence & 1))
			break;
	}
	return 0;
}

static bool is_readable(const struct ktread_memory *memory, uint64_t physical)
{
	return ktread_memory_run(memory, physical) > 0;
}

/*
 * Examines `guess`, one of several possible addresses. Ignores an address that cannot be read. *attempt is
 * the number of readable addresses that still have to be skipped. If this number is 0, sets *physical to
 * `guess` and returns true. Otherwise subtracts 1 from *attempt and returns false.
 */
static bool is_turn(const struct ktread_image *image, uint64_t guess, uint32_t *attempt, uint64_t *physical)
{
	if (!is_readable(image->memory, guess) || (*attempt)-- > 0)
		return false;
	*physical = guess;
	return true;
}

static int resolve_virtual(const struct ktread_image *image, uint64_t address, uint32_t attempt,
			   uint64_t *physical)
{
	for (uint32_t i = 0; i < image->blocks; i++) {
		const struct ktread_image_block *block = &image->block[i];
		uint64_t offset = address - block->self;

		if (offset < block->length && is_turn(image, block->physical + offset, &attempt, physical))
			return 0;
	}
	if (!ktread_root_is_persistent(&image->root) &&
	    is_turn(image, address - image->root.self + image->physical, &attempt, physical))
		return 0;
	/*
	 * memory outside of the lent blocks may be in the same mapping as a lent block: try the distance
	 * between virtual and physical address of each block
	 */
	for (uint32_t i = 0; i < image->blocks; i++) {
		const struct ktread_image_block *block = &image->block[i];

		if (is_turn(image, block->physical + (address - block->self), &attempt, physical))
			return 0;
	}
	return KTREAD_E_FORMAT;
}

static int resolve(void *context, uint16_t where, uint64_t address, uint64_t length, uint32_t attempt,
		   uint64_t *physical)
{
	const struct ktread_image *image = context;

	(void)length;
	if (where == KTRX_WHERE_VIRTUAL)
		return resolve_virtual(image, address, attempt, physical);
	if (where != KTRX_WHERE_PHYSICAL || attempt || !is_readable(image->memory, address))
		return KTREAD_E_FORMAT;
	*physical = address;
	return 0;
}

/* Selects the scanned blocks that have the nonce of the root. */
static void pick_blocks(struct ktread_image *image)
{
	image->blocks = 0;
	for (uint32_t i = 0; i < image->scan.blocks && image->blocks < KTREAD_IMAGE_BLOCKS; i++) {
		const struct ktread_block_found *found = &image->scan.block[i];
		uint64_t physical = ktread_source_physical(image->memory, found->position);

		if (found->head.nonce == image->root.nonce && physical != UINT64_MAX)
			image->block[image->blocks++] =
				(struct ktread_image_block){ found->head.self, found->head.length, physical,
							     found->head.boot };
	}
}

static int open_layout(struct ktread_image *image, struct ktread_layout **layout)
{
	struct ktread_resolver resolver = { resolve, image };
	int status;

	image->physical = ktread_source_physical(image->memory, image->position);
	status = read_stable(image->memory, image->physical, &image->root);
	if (status < 0)
		return status;
	pick_blocks(image);
	return ktread_layout_open(layout, image->memory, image->physical, &resolver);
}

/*
 * Returns the number of plausible rings. A ring is plausible if the slot of its newest anchor is not empty,
 * and either has the generation that its index requires or has been overwritten.
 */
static uint32_t count_sound_rings(const struct ktread_layout *layout)
{
	uint32_t sound = 0;

	for (uint32_t n = 0; n < layout->rings; n++) {
		const struct ktread_ring_place *place = &layout->ring[n];
		uint64_t index = place->row.anchor_index, word;

		if (!place->usable || place->head <= place->row.first)
			continue;
		if (ktread_region_read(&place->slots,
				       (index & (ktread_ring_slots(place) - 1)) * KTRX_SLOT_SIZE, &word,
				       sizeof(word)) == 0 &&
		    KTRX_TAG_KIND(word) != KTRX_KIND_EMPTY &&
		    (index < ktread_ring_begin(place, place->head) ||
		     KTRX_TAG_GENERATION(word) == ktrx_generation(index, place->row.shift)))
			sound++;
	}
	return sound;
}

static int try_map(struct ktread_image *image, uint32_t n)
{
	struct ktrx_root root;
	uint64_t at = ktread_source_physical(image->memory, image->position);
	int status = ktread_root_read(image->memory, at, &root);

	if (status < 0)
		return status;
	if (!image->memory->ram)
		return n == 0;
	return ktread_ram_try(image->memory, root.machine, image->position, root.self_phys, n);
}

/*
 * Opens the root at image->position. Tries all possible memory maps, and uses the map that makes the most
 * rings plausible.
 */
static int open_best_map(struct ktread_image *image, struct ktread_layout **layout)
{
	uint32_t best = 0, most = 0, n;
	int status;

	for (n = 0; (status = try_map(image, n)) > 0; n++) {
		struct ktread_layout *tried;
		uint32_t sound;

		if (open_layout(image, &tried) < 0)
			continue;
		sound = count_sound_rings(tried);
		ktread_layout_close(tried);
		best = sound > most ? n : best;
		most = sound > most ? sound : most;
	}
	if (status == 0)
		status = try_map(image, best);
	return status < 0 ? status : open_layout(image, layout);
}

static uint64_t newest_anchor(const struct ktread_layout *layout)
{
	uint64_t newest = 0;

	for (uint32_t n = 0; n < layout->rings; n++) {
		const struct ktread_ring_place *place = &layout->ring[n];

		if (place->usable && place->head > place->row.first && place->row.anchor_stamp > newest)
			newest = place->row.anchor_stamp;
	}
	return newest;
}

struct boot {
	uint64_t position, nonce, stamp;
	bool persistent;
	uint64_t order; /* number of the boot, from the root's blocks in persistent memory; 0: none */
};

static struct boot describe_boot(const struct ktread_image *image, const struct ktread_layout *layout)
{
	struct boot boot = { .position = image->position,
			     .nonce = layout->root.nonce,
			     .stamp = newest_anchor(layout),
			     .persistent = ktread_root_is_persistent(&layout->root) };

	for (uint32_t i = 0; i < image->blocks; i++)
		if (image->block[i].boot > boot.order)
			boot.order = image->block[i].boot;
	return boot;
}

/*
 * Compares two boots for sorting: the newest boot comes first. A root in ordinary memory comes before boots
 * in persistent memory, because a reset wipes ordinary memory. Boots in persistent memory are compared by
 * their numbers and not by their timestamps, because on some machines the clock starts again at a reset.
 */
static int compare_boots(const void *left, const void *right)
{
	const struct boot *a = left, *b = right;

	if (a->persistent != b->persistent)
		return a->persistent - b->persistent;
	if (a->persistent && a->order != b->order)
		return (a->order < b->order) - (a->order > b->order);
	return a->stamp != b->stamp ? (a->stamp < b->stamp) - (a->stamp > b->stamp)
				    : (a->position > b->position) - (a->position < b->position);
}

/* Keeps only the first root of each boot. Returns the number of roots kept. */
static uint32_t drop_copies(struct boot *boot, uint32_t boots)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < boots; i++) {
		uint32_t n = 0;

		while (n < kept && boot[n].nonce != boot[i].nonce)
			n++;
		if (n == kept)
			boot[kept++] = boot[i];
	}
	return kept;
}

/*
 * Lists the root of each boot, the newest boot first. Returns the number of roots, or an error if there is
 * none.
 */
static int list_boots(struct ktread_image *image, struct boot boot[KTREAD_SCAN_ROOTS])
{
	int status = KTREAD_E_ABSENT;
	uint32_t boots = 0;

	for (uint32_t i = 0; i < image->scan.roots; i++) {
		struct ktread_layout *layout;

		image->position = image->scan.root[i];
		status = open_best_map(image, &layout);
		if (status == KTREAD_E_MEMORY)
			return status;
		if (status < 0)
			continue;
		if (image->persistent || !ktread_root_is_persistent(&layout->root))
			boot[boots++] = describe_boot(image, layout);
		ktread_layout_close(layout);
	}
	qsort(boot, boots, sizeof(*boot), compare_boots);
	if (boots || (status < 0 && status != KTREAD_E_ABSENT))
		return boots ? (int)drop_copies(boot, boots) : status;
	return ktread_fail(KTREAD_E_ABSENT, "%s: no ktrace data in its %" PRIu64 " bytes of memory",
			   image->memory->name, image->memory->size);
}

/*
 * Opens the root of a boot. `back` is the number of boots to go back from the newest boot, so 0 is the newest
 * boot.
 */
static int choose_root(struct ktread_image *image, uint32_t back)
{
	struct boot boot[KTREAD_SCAN_ROOTS];
	int boots = list_boots(image, boot);

	if (boots < 0)
		return boots;
	image->boots = (uint32_t)boots;
	if (back >= image->boots)
		return ktread_fail(KTREAD_E_ABSENT,
				   "%s: boot %" PRIu32 " not found: there are %" PRIu32 ", and 0 is the last",
				   image->memory->name, back, image->boots);
	image->position = boot[back].position;
	return open_best_map(image, &image->layout);
}

static int find(struct ktread_image **image, struct ktread_memory *memory, uint32_t boot, bool persistent)
{
	struct ktread_image *found = calloc(1, sizeof(*found));
	int status;

	if (!found)
		return ktread_fail_memory();
	found->memory = memory;
	found->persistent = persistent;
	status = ktread_scan_run(&found->scan, memory);
	if (status == 0)
		status = choose_root(found, boot);
	if (status < 0) {
		ktread_image_close(found);
		return status;
	}
	*image = found;
	return 0;
}

int ktread_image_find(struct ktread_image **image, struct ktread_memory *memory)
{
	return find(image, memory, 0, false);
}

int ktread_image_find_boot(struct ktread_image **image, struct ktread_memory *memory, uint32_t boot)
{
	return find(image, memory, boot, true);
}

bool ktread_image_is_kept(const struct ktread_image *image)
{
	return image->root.flags & KTRX_FLAG_KEPT;
}

/* Returns the number of rings that have records. */
static uint32_t count_used_rings(const struct ktread_layout *layout)
{
	uint32_t used = 0;

	for (uint32_t n = 0; n < layout->rings; n++)
		used += layout->ring[n].head > layout->ring[n].row.first;
	return used;
}

static int open_root(struct ktread_image *image, uint64_t physical)
{
	struct ktread_memory *memory = image->memory;
	int status = memory->ram ? ktread_ram_try(memory, memory->machine, 0, 0, 0) : 0;

	if (status >= 0)
		status = ktread_source_position(memory, physical, offsetof(struct ktrx_root, section),
						&image->position);
	if (status == 0)
		status = memory->ram ? open_best_map(image, &image->layout)
				     : open_layout(image, &image->layout);
	if (status < 0)
		return status == KTREAD_E_FORMAT ? KTREAD_E_ABSENT : status;
	if (image->root.self && image->layout->rings &&
	    count_sound_rings(image->layout) == count_used_rings(image->layout))
		return 0;
	return ktread_fail(KTREAD_E_ABSENT,
			   image->root.self
				   ? "%s: root at 0x%" PRIx64 ": its rings cannot be found without a search"
				   : "%s: root at 0x%" PRIx64 ": the kernel has not initialised ktrace yet",
			   image->memory->name, physical);
}

int ktread_image_open(struct ktread_image **image, struct ktread_memory *memory, uint64_t physical)
{
	struct ktread_image *opened = calloc(1, sizeof(*opened));
	int status;

	if (!opened)
		return ktread_fail_memory();
	opened->memory = memory;
	opened->boots = 1;
	opened->fixed = true;
	status = open_root(opened, physical);
	if (status < 0) {
		ktread_image_close(opened);
		return status;
	}
	*image = opened;
	return 0;
}

uint32_t ktread_image_boots(const struct ktread_image *image)
{
	return image->boots;
}

int ktread_image_set_registers(struct ktread_image *image, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return ktread_fail_memory();
	free(image->registers);
	image->registers = copy;
	return 0;
}

void ktread_image_close(struct ktread_image *image)
{
	if (!image)
		return;
	ktread_layout_close(image->layout);
	ktread_scan_free(&image->scan);
	free(image->registers);
	free(image->idle);
	free(image);
}

uint16_t ktread_image_machine(const struct ktread_image *image)
{
	return image->root.machine;
}

uint64_t ktread_image_physical(const struct ktread_image *image)
{
	return image->physical;
}

uint64_t ktread_image_virtual(const struct ktread_image *image)
{
	return image->root.self;
}

uint32_t ktread_image_build_id(const struct ktread_image *image, unsigned char *id, uint32_t room)
{
	const struct ktread_section *section = ktread_layout_section(image->layout, KTRX_SECTION_BUILD_ID, 0);
	const struct ktread_region *region = section ? &section->region : NULL;
	unsigned char any = 0;

	if (!region || region->length > room || ktread_region_readable(region) < region->length ||
	    ktread_region_read(region, 0, id, region->length) < 0)
		return 0;
	for (uint64_t n = 0; n < region->length; n++)
		any |= id[n];
	return any ? (uint32_t)region->length : 0; /* zeros: the kernel's image has no build id there */
}

int ktread_image_place(const struct ktread_image *image, uint32_t type, uint64_t bytes, uint64_t *position)
{
	const struct ktread_section *section = ktread_layout_section(image->layout, type, 0);
	const struct ktread_piece *piece = section ? section->region.piece : NULL;

	if (!piece || piece->readable < bytes)
		return ktread_fail(KTREAD_E_ABSENT,
				   "%s: root at 0x%" PRIx64 ": no section %u of %" PRIu64
				   " bytes in one piece",
				   image->memory->name, image->physical, type, bytes);
	return ktread_source_position(image->memory, piece->physical, bytes, position);
}

uint32_t ktread_image_rings(const struct ktread_image *image)
{
	return image->layout->rings;
}

int ktread_image_ring_piece(const struct ktread_image *image, uint32_t ring, uint32_t n,
			    struct ktread_ring_piece *piece)
{
	const struct ktread_ring_place *place;
	const struct ktread_piece *from;

	if (ring >= image->layout->rings || !image->layout->ring[ring].usable)
		return ktread_fail(KTREAD_E_ABSENT, "%s: no usable ring %" PRIu32, image->memory->name, ring);
	place = &image->layout->ring[ring];
	if (n >= place->slots.pieces)
		return 0;
	from = &place->slots.piece[n];
	*piece = (struct ktread_ring_piece){ .offset = from->offset, .length = from->length };
	if (from->readable < from->length)
		return ktread_fail(KTREAD_E_ABSENT, "%s: ring %" PRIu32 " is not in the file",
				   image->memory->name, ring);
	if (ktread_source_position(image->memory, from->physical, from->length, &piece->position) < 0)
		return KTREAD_E_ABSENT;
	return 1;
}

int ktread_image_refresh(struct ktread_image *image)
{
	struct ktrx_root root;
	struct ktread_layout *layout;
	int status = read_stable(image->memory, image->physical, &root);

	if (status < 0 || root.self == 0)
		return ktread_fail(KTREAD_E_ABSENT,
				   "%s: root at 0x%" PRIx64 ": it is gone, as after a reset of the guest",
				   image->memory->name, image->physical);
	if (!image->fixed && (root.nonce != image->root.nonce || root.sequence != image->root.sequence)) {
		/*
		 * scan again, because since the last scan the kernel has given memory to ktrace, or the guest
		 * has booted again
		 */
		ktread_scan_free(&image->scan);
		status = ktread_scan_run(&image->scan, image->memory);
		if (status < 0)
			return status;
	}
	status = open_layout(image, &layout);
	if (status < 0)
		return status;
	ktread_layout_close(image->layout);
	image->layout = layout;
	return 0;
}
