/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Matches files with the code in the recording: where a file was loaded, how alike both are, and which file
 * is at an address.
 */
#include "images.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"

/* ---- Finds the addresses at which a position-independent file was loaded ---- */

#define PAGE	     4096u /* files are loaded at addresses that are multiples of this number */
#define SAMPLE	     16u   /* size in bytes of a sample: the first bytes of an executed block */
#define PROVEN_LEAST 4u	   /* minimum number of matching samples that can prove a base */
/* minimum number of matching samples that prove a base even if only 1/SHARE of the blocks match */
#define MANY 64u
/*
 * if MANY samples match, one block in SHARE must match; the other blocks may belong to other programs at the
 * same addresses
 */
#define SHARE	     16u
#define VOTES_MOST   (UINT32_C(1) << 22)
#define SAMPLES_MOST (UINT32_C(1) << 22)

/* The first bytes of an executed block. */
struct sample {
	uint64_t address;
	unsigned char bytes[SAMPLE];
};

struct search {
	const struct hwt_file *file;
	const struct hwt_binary *binary;
	struct sample *sample;
	uint32_t samples, sample_room;
	struct base_index index; /* index for finding samples by key_of() */
	uint64_t *sorted;	 /* addresses of the samples */
	/*
	 * array of votes. For each place in the file whose bytes equal a sample, there is a vote for the base
	 * that moves this place to the sample's address.
	 */
	uint64_t *vote;
	size_t votes;
	uint32_t vote_room;
	struct hwt_base *base;
	size_t bases;
	uint32_t base_room;
};

/*
 * Returns a hash of the bytes and of their offset in a page. The hash does not depend on where the file is
 * loaded.
 */
static uint64_t key_of(const unsigned char *bytes, uint64_t address)
{
	uint64_t half[2];

	memcpy(half, bytes, sizeof(half));
	return base_hash(base_hash(base_hash(0, half[0]), half[1]), address % PAGE);
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* ---- Samples of the executed blocks ---- */

static int add_sample(struct search *search, const struct sample *sample)
{
	const uint64_t key = key_of(sample->bytes, sample->address);
	struct sample *grown;

	for (uint32_t probe = 0, at; base_index_next(&search->index, key, &probe, &at);)
		if (search->sample[at].address == sample->address &&
		    memcmp(search->sample[at].bytes, sample->bytes, SAMPLE) == 0)
			return 0;
	grown = base_grow(search->sample, &search->sample_room, search->samples + 1u, sizeof(*grown));
	if (!grown)
		return KTREAD_E_MEMORY;
	search->sample = grown;
	if (base_index_add(&search->index, key, search->samples) != 0)
		return KTREAD_E_MEMORY;
	grown[search->samples++] = *sample;
	return 0;
}

static int take_samples(struct search *search)
{
	const struct hwt_file *file = search->file;
	int status = 0;

	for (size_t i = 0; i < file->codes && status == 0 && search->samples < SAMPLES_MOST; i++) {
		struct sample sample = { .address = file->code[i].address };

		if (file->code[i].size >= SAMPLE &&
		    hwt_store_read(&file->store, file->code[i].offset, sample.bytes, SAMPLE) == SAMPLE)
			status = add_sample(search, &sample);
	}
	if (status < 0)
		return status;
	search->sorted = calloc((size_t)search->samples + 1, sizeof(*search->sorted));
	if (!search->sorted)
		return KTREAD_E_MEMORY;
	for (uint32_t i = 0; i < search->samples; i++)
		search->sorted[i] = search->sample[i].address;
	qsort(search->sorted, search->samples, sizeof(*search->sorted), compare);
	return 0;
}

static size_t count_before(const struct search *search, uint64_t address)
{
	return base_count_below(search->sorted, search->samples, sizeof(*search->sorted), 0, address);
}

/* Returns the number of samples that are within the file's code if the file is loaded at `base`. */
static size_t count_inside(const struct search *search, uint64_t base)
{
	size_t inside = 0;

	for (uint32_t i = 0; i < search->binary->segments; i++) {
		const struct hwt_segment *segment = &search->binary->segment[i];
		const uint64_t begin = segment->address + base, end = begin + segment->size;

		if (segment->access & HWT_EXECUTE && begin < end)
			inside += count_before(search, end) - count_before(search, begin);
	}
	return inside;
}

/* ---- Bases ---- */

static int add_vote(struct search *search, uint64_t base)
{
	uint64_t *grown;

	if (search->votes == VOTES_MOST)
		return 0;
	grown = base_grow(search->vote, &search->vote_room, search->votes + 1, sizeof(*grown));
	if (!grown)
		return KTREAD_E_MEMORY;
	search->vote = grown;
	grown[search->votes++] = base;
	return 0;
}

/*
 * The file contains `bytes` at its own address `own`. For each sample with the same bytes, adds a vote for
 * the base that moves these bytes to the sample's address.
 */
static int vote(struct search *search, uint64_t own, const unsigned char *bytes)
{
	const uint64_t key = key_of(bytes, own);
	int status = 0;

	for (uint32_t probe = 0, at; status == 0 && base_index_next(&search->index, key, &probe, &at);) {
		const struct sample *sample = &search->sample[at];

		if ((sample->address - own) % PAGE == 0 && memcmp(sample->bytes, bytes, SAMPLE) == 0)
			status = add_vote(search, sample->address - own);
	}
	return status;
}

static int add_base(struct search *search, uint64_t base, size_t blocks)
{
	struct hwt_base *grown;

	grown = base_grow(search->base, &search->base_room, search->bases + 1, sizeof(*grown));
	if (!grown)
		return KTREAD_E_MEMORY;
	search->base = grown;
	grown[search->bases++] = (struct hwt_base){ base, blocks };
	return 0;
}

/*
 * Returns true if `same` matching blocks, out of the `inside` executed blocks in the file's range, are enough
 * to prove a base. Two programs that contain the same library code may share the bytes of a few blocks, but
 * not of other blocks.
 */
static bool is_proven(size_t same, size_t inside)
{
	return same >= PROVEN_LEAST && (same >= inside / 2 || (same >= MANY && same >= inside / SHARE));
}

static int count_votes(struct search *search)
{
	int status = 0;

	if (search->votes)
		qsort(search->vote, search->votes, sizeof(*search->vote), compare);
	for (size_t i = 0, end; i < search->votes && status == 0; i = end) {
		for (end = i + 1; end < search->votes && search->vote[end] == search->vote[i]; end++)
			;
		if (is_proven(end - i, count_inside(search, search->vote[i])))
			status = add_base(search, search->vote[i], end - i);
	}
	return status;
}

static int search_segments(struct search *search)
{
	int status = 0;

	for (uint32_t i = 0; i < search->binary->segments && search->samples; i++) {
		const struct hwt_segment *segment = &search->binary->segment[i];
		const unsigned char *bytes = search->binary->bytes + segment->offset;

		if (!(segment->access & HWT_EXECUTE))
			continue;
		for (uint64_t at = 0; at + SAMPLE <= segment->size && status == 0; at++)
			status = vote(search, segment->address + at, bytes + at);
	}
	return status;
}

int hwt_bases_find(const struct hwt_file *file, const struct hwt_binary *binary, struct hwt_base **base,
		   size_t *bases)
{
	struct search search = { .file = file, .binary = binary };
	int status = take_samples(&search);

	if (status == 0)
		status = search_segments(&search);
	if (status == 0)
		status = count_votes(&search);
	free(search.sample);
	free(search.sorted);
	free(search.vote);
	base_index_free(&search.index);
	if (status < 0) {
		free(search.base);
		return status;
	}
	*base = search.base;
	*bases = search.bases;
	return 0;
}

/* ---- Compares the code of a file with the executed code ---- */

/* maximum number of address spaces for which there are separate counts */
#define SPACES_MOST 1024u
#define CHUNK	    4096u /* number of bytes that are compared in one step */
/*
 * minimum number of compared bytes that can show that code has moved; in a smaller block, a patch may change
 * most bytes
 */
#define MOVED_LEAST 8u

/*
 * Counts separately for each address space, because other programs may have been at the same addresses in
 * other spaces. The result is the counts of the space that matches the file best.
 */
struct tallies {
	const struct hwt_file *file;
	const struct hwt_binary *binary;
	uint64_t base;
	struct hwt_likeness *tally;
	size_t count, last;
	uint32_t room;
};

/*
 * Returns a pointer to the file's bytes from an address on, and sets *size to the number of bytes, at most
 * its previous value. Returns NULL if there are none.
 */
static const unsigned char *bytes_at(const struct tallies *tallies, uint64_t address, size_t *size)
{
	const uint64_t own = address - tallies->base;

	for (uint32_t i = 0; i < tallies->binary->segments; i++) {
		const struct hwt_segment *segment = &tallies->binary->segment[i];

		if (own < segment->address || own - segment->address >= segment->size)
			continue;
		if (*size > segment->size - (own - segment->address))
			*size = (size_t)(segment->size - (own - segment->address));
		return tallies->binary->bytes + segment->offset + (own - segment->address);
	}
	return NULL;
}

/* Returns the counts of a space; NULL if out of memory, or if there are too many spaces. */
static struct hwt_likeness *tally_of(struct tallies *tallies, uint64_t space)
{
	struct hwt_likeness *grown;

	if (tallies->last < tallies->count && tallies->tally[tallies->last].space == space)
		return &tallies->tally[tallies->last];
	for (size_t i = 0; i < tallies->count; i++)
		if (tallies->tally[i].space == space) {
			tallies->last = i;
			return &tallies->tally[i];
		}
	if (tallies->count == SPACES_MOST)
		return NULL;
	grown = base_grow(tallies->tally, &tallies->room, tallies->count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	tallies->tally = grown;
	tallies->last = tallies->count++;
	grown[tallies->last] = (struct hwt_likeness){ .space = space };
	return &grown[tallies->last];
}

/*
 * Returns how many bytes of a block differ from the file. Sets the index of the first different byte, and the
 * number of compared bytes.
 */
static size_t count_others(const struct tallies *tallies, const struct hwt_code *code, size_t *first,
			   size_t *compared)
{
	unsigned char run[CHUNK];
	size_t size = code->size < sizeof(run) ? code->size : sizeof(run), others = 0;
	const unsigned char *bytes = bytes_at(tallies, code->address, &size);

	*compared = bytes ? hwt_store_read(&tallies->file->store, code->offset, run, size) : 0;
	for (size_t i = *compared; i-- > 0;)
		if (run[i] != bytes[i]) {
			*first = i;
			others++;
		}
	return others;
}

static int take(struct tallies *tallies, const struct hwt_code *code)
{
	size_t first = 0, compared, others = count_others(tallies, code, &first, &compared);
	struct hwt_likeness *likeness;

	if (compared == 0)
		return 0;
	likeness = tally_of(tallies, code->space);
	if (!likeness)
		return tallies->count == SPACES_MOST ? 0 : KTREAD_E_MEMORY;
	likeness->blocks++;
	if (others == 0)
		return 0;
	if (!likeness->differing++ || code->address + first < likeness->first)
		likeness->first = code->address + first;
	likeness->moved += compared >= MOVED_LEAST && others > compared / 2;
	return 0;
}

int hwt_likeness(const struct hwt_file *file, const struct hwt_binary *binary, uint64_t base,
		 struct hwt_likeness *likeness)
{
	struct tallies tallies = { .file = file, .binary = binary, .base = base };
	int status = 0;

	*likeness = (struct hwt_likeness){ 0 };
	for (size_t i = 0; i < file->codes && status == 0; i++)
		status = take(&tallies, &file->code[i]);
	for (size_t i = 0; i < tallies.count && status == 0; i++) {
		const struct hwt_likeness *other = &tallies.tally[i];

		if (i == 0 || other->blocks - other->differing > likeness->blocks - likeness->differing)
			*likeness = *other;
	}
	free(tallies.tally);
	return status;
}

/* ---- Finds the program or library whose code is at an address ---- */

#define WINDOW 64u /* maximum number of bytes that are compared, beginning at the address */
/* minimum number of equal bytes that identify a file; if fewer bytes are known, all of them must be equal */
#define SAME_LEAST 8u

/* Finds the address range of the file's code. Returns false if the file contains no code. */
static bool find_bounds(const struct hwt_binary *binary, uint64_t *first, uint64_t *end)
{
	*first = UINT64_MAX;
	*end = 0;
	for (uint32_t i = 0; i < binary->segments; i++) {
		const struct hwt_segment *segment = &binary->segment[i];

		if (!(segment->access & HWT_EXECUTE))
			continue;
		if (segment->address < *first)
			*first = segment->address;
		if (segment->address + segment->size > *end)
			*end = segment->address + segment->size;
	}
	return *first < *end;
}

int hwt_found_add(struct hwt_images *images, struct hwt_binary *binary, uint64_t base)
{
	struct hwt_found made = { .binary = binary, .base = base }, *grown;
	size_t at = images->founds;

	if (!find_bounds(binary, &made.first, &made.end))
		return 0;
	made.first += base;
	made.end += base;
	grown = base_grow(images->found, &images->found_room, images->founds + 1, sizeof(*grown));
	if (!grown)
		return KTREAD_E_MEMORY;
	images->found = grown;
	for (; at > 0 && grown[at - 1].first > made.first; at--)
		grown[at] = grown[at - 1];
	grown[at] = made;
	images->founds++;
	for (; at < images->founds; at++) {
		const uint64_t before = at ? grown[at - 1].reach : 0;

		grown[at].reach = before > grown[at].end ? before : grown[at].end;
	}
	return 0;
}

/*
 * Compares the recorded code with the file's code, from `address` on. Returns the number of equal bytes up to
 * the first difference; 0 if they are too few to identify the file.
 */
static size_t count_same(const struct hwt_found *found, uint64_t address, const unsigned char *code,
			 size_t size)
{
	const uint64_t own = address - found->base;
	size_t same = 0;

	for (uint32_t i = 0; i < found->binary->segments; i++) {
		const struct hwt_segment *segment = &found->binary->segment[i];
		const unsigned char *bytes;

		if (!(segment->access & HWT_EXECUTE) || own < segment->address ||
		    own - segment->address >= segment->size)
			continue;
		if (size > segment->size - (own - segment->address))
			size = (size_t)(segment->size - (own - segment->address));
		bytes = found->binary->bytes + segment->offset + (own - segment->address);
		while (same < size && code[same] == bytes[same])
			same++;
		return same == size || same >= SAME_LEAST ? same : 0;
	}
	return 0;
}

/* Narrows [*from, *until) to the timestamps at which the code from `address` to `last` does not change. */
static void narrow(const struct hwt_codes *codes, uint64_t stamp, uint64_t address, uint64_t last,
		   uint64_t *from, uint64_t *until)
{
	uint64_t begins, ends;

	for (uint64_t at = address; at <= last; at += HWT_CODE_LINE - at % HWT_CODE_LINE) {
		hwt_codes_period(codes, stamp, at, &begins, &ends);
		*from = begins > *from ? begins : *from;
		*until = ends < *until ? ends : *until;
	}
}

const struct hwt_found *hwt_found_at(const struct hwt_images *images, uint64_t stamp, uint64_t address,
				     uint64_t *from, uint64_t *until)
{
	const struct hwt_found *best = NULL;
	unsigned char code[WINDOW];
	size_t low = base_count_up_to(images->found, images->founds, sizeof(*images->found),
				      offsetof(struct hwt_found, first), address),
	       known = 0, most = 0;

	if (low && images->found[low - 1].reach > address)
		known = hwt_codes_read(images->codes, 0, stamp, address, code, sizeof(code), true);
	for (; known && low && images->found[low - 1].reach > address; low--) {
		const size_t same = count_same(&images->found[low - 1], address, code, known);

		if (same > most) {
			most = same;
			best = &images->found[low - 1];
		}
	}
	if (known)
		narrow(images->codes, stamp, address, address + (known - 1), from, until);
	return best;
}
