/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "extract.h"

#define MOST_PIECES 4096u
/* maximum number of bytes that are copied; other memory is read from the machine later */
#define MOST_BYTES (UINT64_C(512) << 20)
/*
 * maximum gap, in bytes, between two pieces that are copied together, because copying the gap costs less than
 * another request
 */
#define CLOSE_BYTES (UINT64_C(64) << 10)

/*
 * Minimum size, in bytes, of a read that is assumed to be a read of slots. The contents of slots do not
 * affect which parts are read, so such a read returns zeros while reads are recorded.
 */
#define SLOTS_BYTES ((size_t)128 << 10)

struct piece {
	uint64_t physical, end;
	unsigned char *bytes; /* buffer for the copy; NULL: not allocated */
};

struct capture_snapshot {
	struct ktread_memory *below, *memory;
	struct piece piece[MOST_PIECES]; /* sorted and disjoint after a call of join() */
	uint32_t pieces;
	bool remembers, taken;
};

static int compare(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;

	return (a->physical > b->physical) - (a->physical < b->physical);
}

/* Sorts the pieces, and joins pieces that overlap or touch. */
static void join(struct capture_snapshot *snapshot)
{
	struct piece *piece = snapshot->piece;
	uint32_t kept = 0;

	qsort(piece, snapshot->pieces, sizeof(*piece), compare);
	for (uint32_t i = 0; i < snapshot->pieces; i++) {
		struct piece *last = kept ? &piece[kept - 1] : NULL;

		if (!last || piece[i].physical > last->end)
			piece[kept++] = piece[i];
		else if (piece[i].end > last->end)
			last->end = piece[i].end;
	}
	snapshot->pieces = kept;
}

static void remember(struct capture_snapshot *snapshot, uint64_t physical, uint64_t bytes)
{
	struct piece *last = snapshot->pieces ? &snapshot->piece[snapshot->pieces - 1] : NULL;

	/* this read begins within the last piece or at its end */
	if (last && physical >= last->physical && physical <= last->end) {
		if (physical + bytes > last->end)
			last->end = physical + bytes;
		return;
	}
	if (snapshot->pieces == MOST_PIECES)
		join(snapshot);
	if (snapshot->pieces < MOST_PIECES)
		snapshot->piece[snapshot->pieces++] = (struct piece){ physical, physical + bytes, NULL };
}

static int snapshot_read(void *context, uint64_t physical, void *buffer, size_t bytes)
{
	struct capture_snapshot *snapshot = context;

	for (uint32_t i = 0; snapshot->taken && i < snapshot->pieces; i++) {
		const struct piece *piece = &snapshot->piece[i];

		if (piece->bytes && physical >= piece->physical && physical < piece->end &&
		    bytes <= piece->end - physical) {
			memcpy(buffer, piece->bytes + (physical - piece->physical), bytes);
			return 0;
		}
	}
	if (snapshot->remembers)
		remember(snapshot, physical, bytes);
	if (snapshot->remembers && bytes >= SLOTS_BYTES) {
		memset(buffer, 0, bytes);
		return 0;
	}
	return ktread_memory_read(snapshot->below, physical, buffer, bytes);
}

static uint64_t snapshot_next_data(void *context, uint64_t physical)
{
	struct capture_snapshot *snapshot = context;

	return ktread_memory_next_data(snapshot->below, physical);
}

int capture_snapshot_open(struct capture_snapshot **snapshot, struct ktread_memory *below)
{
	static const struct ktread_memory_ops ops = { .read = snapshot_read,
						      .next_data = snapshot_next_data,
						      .message = capture_memory_message };
	struct ktread_range range[KTREAD_RANGES_MOST];
	struct capture_snapshot *opened = calloc(1, sizeof(*opened));
	uint32_t ranges = ktread_memory_ranges(below, range, KTREAD_RANGES_MOST);

	if (!opened)
		return capture_fail_errno("snapshot");
	opened->below = below;
	if (ktread_memory_open(&opened->memory, &ops, opened, range, ranges) != 0) {
		free(opened);
		return capture_fail(CAPTURE_E_SYSTEM, "%s", ktread_image_message());
	}
	*snapshot = opened;
	return 0;
}

struct ktread_memory *capture_snapshot_memory(struct capture_snapshot *snapshot)
{
	return snapshot->memory;
}

void capture_snapshot_remember(struct capture_snapshot *snapshot)
{
	snapshot->remembers = true;
}

/* Joins pieces across small gaps, if the gap is readable memory. */
static void widen(struct capture_snapshot *snapshot)
{
	join(snapshot);
	for (uint32_t i = 0; i + 1 < snapshot->pieces; i++) {
		uint64_t end = snapshot->piece[i].end, next = snapshot->piece[i + 1].physical;

		if (next - end <= CLOSE_BYTES && ktread_memory_run(snapshot->below, end) >= next - end)
			snapshot->piece[i].end = next;
	}
	join(snapshot);
}

void capture_snapshot_prepare(struct capture_snapshot *snapshot)
{
	uint64_t budget = MOST_BYTES;

	widen(snapshot);
	snapshot->remembers = false;
	for (uint32_t i = 0; i < snapshot->pieces; i++) {
		struct piece *piece = &snapshot->piece[i];
		uint64_t bytes = piece->end - piece->physical;

		piece->bytes = bytes <= budget ? malloc(bytes) : NULL;
		if (!piece->bytes)
			continue;
		budget -= bytes;
		/* touches the pages, so that they are allocated now and not while the machine is halted */
		memset(piece->bytes, 1, bytes);
	}
}

int capture_snapshot_take(struct capture_snapshot *snapshot)
{
	for (uint32_t i = 0; i < snapshot->pieces; i++) {
		struct piece *piece = &snapshot->piece[i];
		int status = piece->bytes ? ktread_memory_read(snapshot->below, piece->physical, piece->bytes,
							       piece->end - piece->physical)
					  : 0;

		if (status < 0)
			return capture_fail(CAPTURE_E_SYSTEM, "%s", ktread_image_message());
	}
	snapshot->taken = true;
	return 0;
}

void capture_snapshot_close(struct capture_snapshot *snapshot)
{
	if (!snapshot)
		return;
	ktread_memory_close(snapshot->memory);
	for (uint32_t i = 0; i < snapshot->pieces; i++)
		free(snapshot->piece[i].bytes);
	free(snapshot);
}
