/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Checks whether a list of symbols belongs to the executed kernel, and how far that kernel was moved. */
#include "binary.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "file.h"

#define CALLS_MOST (UINT32_C(1) << 20) /* maximum number of calls that are examined */
#define CHUNK	   4096u	       /* number of bytes of a block that one call reads */
#define CALL_SIZE  5u		       /* size of a call on x86_64, in bytes: e8 and a displacement */
/* minimum number of calls that can prove or disprove a list */
#define LEAST	     8u
#define VOTERS	     1024u /* maximum number of calls that vote for a base */
#define VOTES_MOST   (UINT32_C(1) << 22)
#define HIGH_HALF(a) ((a) >> 63)

/* Linux relocates a kernel by multiples of these numbers of bytes. */
#define STEP_X86_64  (UINT64_C(2) << 20)
#define STEP_AARCH64 (UINT64_C(64) << 10)

struct calls {
	const struct hwt_file *file;
	/* true if the code of the kernel and of programs has different address spaces in the recording */
	bool kernel_apart;
	uint64_t *start; /* array of the addresses at which blocks begin, sorted */
	uint64_t *to;	 /* array of the targets of calls, sorted, each target once */
	size_t count;
	uint32_t room;
};

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* ---- Calls in the executed code -------- */

static int add(struct calls *calls, uint64_t to)
{
	uint64_t *grown;

	if (calls->count == CALLS_MOST)
		return 0;
	grown = base_grow(calls->to, &calls->room, calls->count + 1, sizeof(*grown));
	if (!grown)
		return KTREAD_E_MEMORY;
	calls->to = grown;
	grown[calls->count++] = to;
	return 0;
}

static bool begins_block(const struct calls *calls, uint64_t address)
{
	return bsearch(&address, calls->start, calls->file->codes, sizeof(address), compare) != NULL;
}

/*
 * Finds calls, opcode e8. That byte may also be part of another instruction. So it counts as a call only if
 * the block ends after it (blocks end at branches), or if an executed block begins at its target.
 */
static int find_calls_x86_64(struct calls *calls, uint64_t address, const unsigned char *bytes, size_t size,
			     bool ends)
{
	int status = 0;

	for (size_t i = 0; i + CALL_SIZE <= size && status == 0; i++) {
		const uint64_t next = address + i + CALL_SIZE;
		int32_t far;

		if (bytes[i] != 0xe8)
			continue;
		memcpy(&far, bytes + i + 1, sizeof(far));
		/* a call to the next instruction calls no function, but is a way to read the address */
		if (far &&
		    ((ends && i + CALL_SIZE == size) || begins_block(calls, next + (uint64_t)(int64_t)far)))
			status = add(calls, next + (uint64_t)(int64_t)far);
	}
	return status;
}

/* Finds calls: bl instructions. */
static int find_calls_aarch64(struct calls *calls, uint64_t address, const unsigned char *bytes, size_t size)
{
	int status = 0;

	for (size_t i = 0; i + 4 <= size && status == 0; i += 4) {
		uint32_t word;

		memcpy(&word, bytes + i, sizeof(word));
		if (word >> 26 == 0x25)
			status = add(calls, address + i + (uint64_t)((int64_t)((uint64_t)word << 38) >> 36));
	}
	return status;
}

static int take_block(struct calls *calls, const struct hwt_code *code)
{
	unsigned char bytes[CHUNK];
	int status = 0;

	/* chunks overlap, so that a call at their border is found */
	for (uint32_t done = 0; done < code->size && status == 0; done += CHUNK - 2 * CALL_SIZE + 2) {
		const uint32_t left = code->size - done, size = left < CHUNK ? left : CHUNK;

		if (hwt_store_read(&calls->file->store, code->offset + done, bytes, size) != size)
			break;
		status = calls->file->machine == EM_AARCH64
				 ? find_calls_aarch64(calls, code->address + done, bytes, size)
				 : find_calls_x86_64(calls, code->address + done, bytes, size, size == left);
		if (size == left)
			break;
	}
	return status;
}

static void settle(struct calls *calls)
{
	size_t kept = 0;

	if (calls->count)
		qsort(calls->to, calls->count, sizeof(*calls->to), compare);
	for (size_t i = 0; i < calls->count; i++)
		if (kept == 0 || calls->to[kept - 1] != calls->to[i])
			calls->to[kept++] = calls->to[i];
	calls->count = kept;
}

static void close_calls(struct calls *calls)
{
	free(calls->start);
	free(calls->to);
}

static int open_calls(struct calls *calls, const struct hwt_file *file)
{
	int status = 0;

	*calls = (struct calls){ .file = file, .start = calloc(file->codes + 1, sizeof(*calls->start)) };
	if (!calls->start)
		return KTREAD_E_MEMORY;
	for (size_t i = 0; i < file->codes; i++) {
		calls->start[i] = file->code[i].address;
		calls->kernel_apart |= file->code[i].space == 0;
	}
	qsort(calls->start, file->codes, sizeof(*calls->start), compare);
	for (size_t i = 0; i < file->codes && status == 0; i++)
		if (!calls->kernel_apart || file->code[i].space == 0)
			status = take_block(calls, &file->code[i]);
	settle(calls);
	return status;
}

/* ---- How a map fits ---- */

static void count(struct hwt_map_fit *fit, const struct hwt_map *map, const struct calls *calls,
		  uint64_t base)
{
	const uint64_t half = HIGH_HALF(map->function[map->functions / 2].address + base);

	*fit = (struct hwt_map_fit){ .base = base };
	for (size_t i = 0; i < calls->count; i++) {
		const uint64_t own = calls->to[i] - base;
		const struct hwt_map_function *function;

		/* ignores calls in programs; most kernels are in the other half of the address space */
		if (HIGH_HALF(calls->to[i]) != half)
			continue;
		fit->calls++;
		function = hwt_map_find(map, own);
		fit->inside += function != NULL;
		fit->entries += function && function->address == own;
	}
}

static uint64_t step_of(const struct hwt_file *file)
{
	return file->machine == EM_AARCH64 ? STEP_AARCH64 : STEP_X86_64;
}

struct residue {
	uint64_t rest, address;
};

static int compare_rests(const void *left, const void *right)
{
	const struct residue *a = left, *b = right;

	return a->rest < b->rest ? -1 : a->rest > b->rest;
}

/*
 * Returns the functions sorted by their addresses modulo `step`, the unit of relocation. NULL: out of memory.
 */
static struct residue *residues_of(const struct hwt_map *map, uint64_t step)
{
	struct residue *residue = calloc(map->functions, sizeof(*residue));

	for (size_t i = 0; residue && i < map->functions; i++)
		residue[i] = (struct residue){ map->function[i].address % step, map->function[i].address };
	if (residue)
		qsort(residue, map->functions, sizeof(*residue), compare_rests);
	return residue;
}

struct votes {
	uint64_t *base;
	size_t count;
	uint32_t room;
};

/*
 * Votes for bases. For each function that a call may have called, the vote is for the base that puts the
 * function at the called address.
 */
static int vote(struct votes *votes, const struct residue *residue, size_t residues, uint64_t to,
		uint64_t step)
{
	size_t low = base_count_below(residue, residues, sizeof(*residue), offsetof(struct residue, rest),
				      to % step);

	for (; low < residues && residue[low].rest == to % step; low++) {
		uint64_t *grown = votes->count == VOTES_MOST ? NULL
							     : base_grow(votes->base, &votes->room,
									 votes->count + 1, sizeof(*grown));

		if (!grown)
			return votes->count == VOTES_MOST ? 0 : KTREAD_E_MEMORY;
		votes->base = grown;
		grown[votes->count++] = to - residue[low].address;
	}
	return 0;
}

/* Returns the base with the most votes, or 0 if there are none. */
static uint64_t winner(struct votes *votes)
{
	uint64_t best = 0;
	size_t most = 0;

	if (votes->count)
		qsort(votes->base, votes->count, sizeof(*votes->base), compare);
	for (size_t i = 0, end; i < votes->count; i = end) {
		for (end = i + 1; end < votes->count && votes->base[end] == votes->base[i]; end++)
			;
		if (end - i > most) {
			most = end - i;
			best = votes->base[i];
		}
	}
	return best;
}

static int find_base(const struct hwt_map *map, const struct calls *calls, uint64_t *base)
{
	const uint64_t step = step_of(calls->file),
		       half = HIGH_HALF(map->function[map->functions / 2].address);
	struct residue *residue = residues_of(map, step);
	struct votes votes = { 0 };
	size_t in_half = 0, each, seen = 0;
	int status = residue ? 0 : KTREAD_E_MEMORY;

	for (size_t i = 0; i < calls->count; i++)
		in_half += HIGH_HALF(calls->to[i]) == half;
	each = in_half / VOTERS + 1;
	for (size_t i = 0; i < calls->count && status == 0; i++)
		if (HIGH_HALF(calls->to[i]) == half && seen++ % each == 0)
			status = vote(&votes, residue, map->functions, calls->to[i], step);
	*base = winner(&votes);
	free(votes.base);
	free(residue);
	return status;
}

int hwt_map_fit_at(struct hwt_map_fit *fit, const struct hwt_map *map, const struct hwt_file *file,
		   uint64_t base)
{
	struct calls calls;
	const int status = open_calls(&calls, file);

	*fit = (struct hwt_map_fit){ 0 };
	if (status == 0)
		count(fit, map, &calls, base);
	close_calls(&calls);
	return status;
}

int hwt_map_fit_find(struct hwt_map_fit *fit, const struct hwt_map *map, const struct hwt_file *file)
{
	struct hwt_map_fit moved;
	struct calls calls;
	uint64_t base = 0;
	int status = open_calls(&calls, file);

	*fit = (struct hwt_map_fit){ 0 };
	if (status == 0) {
		count(fit, map, &calls, 0);
		if (!hwt_map_fit_is_good(fit))
			status = find_base(map, &calls, &base);
	}
	if (status == 0 && base) {
		count(&moved, map, &calls, base);
		if (moved.entries > fit->entries)
			*fit = moved;
	}
	close_calls(&calls);
	return status;
}

bool hwt_map_fit_is_known(const struct hwt_map_fit *fit)
{
	return fit->calls >= LEAST;
}

/*
 * Up to half of the called addresses may be outside the list, because they may be functions of modules, which
 * System.map does not contain.
 */
bool hwt_map_fit_is_good(const struct hwt_map_fit *fit)
{
	return fit->entries > 0 && fit->entries * 16 >= fit->inside * 15 && fit->inside * 2 >= fit->calls;
}
