/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds the addresses at which a position-independent file was loaded, by comparing it with the code in the
 * recording.
 */
#include "images.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"

#define PAGE   4096u /* files are loaded at addresses that are multiples of this number */
#define SAMPLE 16u   /* size in bytes of a sample: the first bytes of an executed block */
#define LEAST  4u    /* minimum number of matching samples that can prove a base */
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
	return same >= LEAST && (same >= inside / 2 || (same >= MANY && same >= inside / SHARE));
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
