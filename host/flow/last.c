/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds the last branches of a stream. A stream can only be decoded forwards. So a window, which is a range
 * of bytes at the end of the stream, is decoded first. If the window contains too few branches, a window that
 * is four times as long is decoded, and so on, up to the whole stream.
 */
#include "flow/views.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ktread/ktread.h"

#define WINDOW 65536u /* size of the first window in bytes; a branch takes about one byte */
#define WIDER  4u

struct kept {
	struct hwt_step step;
	char *text;
	struct hwt_sample *sample;
};

/* The last steps that were decoded, with up to `most` branches. */
struct ring {
	struct kept *kept;
	size_t room, first, count; /* `room` is a power of two */
	uint64_t branches, most;
};

/* The end of the steps to show. */
struct end {
	int has_offset;
	/* offset in the stream, and address, of the sequence of instructions after the last step to show */
	uint64_t offset, address;
	int has_stamp;
	uint64_t stamp; /* steps after this timestamp are not shown */
};

static void free_kept(struct kept *kept)
{
	free(kept->text);
	free(kept->sample);
	kept->text = NULL;
	kept->sample = NULL;
}

static void empty(struct ring *ring)
{
	for (size_t n = 0; n < ring->count; n++)
		free_kept(&ring->kept[(ring->first + n) & (ring->room - 1)]);
	ring->first = ring->count = 0;
	ring->branches = 0;
}

/*
 * A sequence of instructions without a branch at its end is not counted as a branch. So it does not matter at
 * which instructions the decoder divides a sequence.
 */
static int is_branch(const struct hwt_step *step)
{
	return (step->kind == HWT_RUN && step->branch != HWT_BRANCH_NONE) || step->kind == HWT_SAMPLE;
}

static int grow(struct ring *ring)
{
	size_t room = ring->room ? 2 * ring->room : 1024;
	struct kept *kept = calloc(room, sizeof(*kept));

	if (!kept)
		return KTREAD_E_MEMORY;
	for (size_t n = 0; n < ring->count; n++)
		kept[n] = ring->kept[(ring->first + n) & (ring->room - 1)];
	free(ring->kept);
	ring->kept = kept;
	ring->room = room;
	ring->first = 0;
	return 0;
}

/*
 * If there are more than `most` branches, drops the oldest steps, up to and including the oldest branch.
 * Limits the total number of steps, too.
 */
static void drop_old(struct ring *ring)
{
	while (ring->count && (ring->branches > ring->most || ring->count > 2 * ring->most + WINDOW)) {
		struct kept *first = &ring->kept[ring->first];

		ring->branches -= (uint64_t)is_branch(&first->step);
		free_kept(first);
		ring->first = (ring->first + 1) & (ring->room - 1);
		ring->count--;
	}
}

static int keep(struct ring *ring, const struct hwt_step *step)
{
	struct kept *kept;

	if (ring->count == ring->room && grow(ring) < 0)
		return KTREAD_E_MEMORY;
	kept = &ring->kept[(ring->first + ring->count) & (ring->room - 1)];
	*kept = (struct kept){ .step = *step };
	if (step->text) {
		kept->step.text = kept->text = strdup(step->text);
		if (!kept->text)
			return KTREAD_E_MEMORY;
	}
	if (step->sample) {
		kept->step.sample = kept->sample = malloc(sizeof(*kept->sample));
		if (!kept->sample)
			return KTREAD_E_MEMORY;
		*kept->sample = *step->sample;
	}
	ring->count++;
	ring->branches += (uint64_t)is_branch(step);
	drop_old(ring);
	return 0;
}

static uint64_t bytes_of(const struct flow *flow, size_t stream)
{
	size_t pieces = hwt_file_pieces(flow->file, stream);
	const struct hwt_piece *piece;

	if (pieces == 0)
		return 0;
	piece = hwt_file_piece(flow->file, stream, pieces - 1);
	return piece ? piece->position + piece->size : 0;
}

/* ---- Finding where a function was entered ---- */

/* The ranges of the function's code. An entry is the beginning of a range. */
struct entries {
	struct flow_range *range;
	size_t count;
};

static bool is_entry(const struct entries *entries, uint64_t address)
{
	const struct flow_range *range = flow_range_find(entries->range, entries->count, address);

	return range && range->begin == address;
}

/*
 * Finds the first entry into the function in a window of the stream that ends at `limit`. Later entries are
 * ignored, because a panic may enter the same function again. Returns 1; 0 if there is no entry; or an error.
 */
static int find_entry(struct flow_reader *reader, uint64_t limit, const struct entries *entries,
		      struct end *end)
{
	const struct hwt_step *step;
	int status;

	while ((status = flow_reader_next(reader, &step)) > 0 && step->offset < limit) {
		if (step->kind != HWT_RUN || !is_entry(entries, step->address))
			continue;
		*end = (struct end){ .has_offset = 1,
				     .offset = step->offset,
				     .address = step->address,
				     .has_stamp = step->has_stamp,
				     .stamp = step->stamp };
		return 1;
	}
	return status < 0 ? status : 0;
}

/*
 * Searches backwards through the stream, window after window. Returns 1; 0 if there is no entry; or an error.
 */
static int search(struct flow *flow, size_t stream, const struct entries *entries, struct end *end)
{
	/*
	 * this count is restored at the end, because losses do not count for steps that are read here but not
	 * shown
	 */
	const struct flow_loss loss = flow->loss;
	uint64_t limit = UINT64_MAX, window = WINDOW, from = bytes_of(flow, stream);
	struct flow_reader *reader;
	int status = flow_reader_open(&reader, flow, stream), more = 1;

	while (status == 0 && more) {
		from = from > window ? from - window : 0;
		more = flow_reader_seek(reader, from);
		status = more < 0 ? more : find_entry(reader, limit, entries, end);
		limit = from;
		window *= WIDER;
		more = more && from > 0;
	}
	flow_reader_close(reader);
	flow->loss = loss;
	return status;
}

/*
 * Searches each stream, from its end, for an entry into the function. Chooses the stream with the earliest of
 * these entries.
 */
static int find_first(struct flow_last *last, struct flow *flow, const struct entries *entries,
		      size_t *stream, struct end *found)
{
	for (size_t n = 0; n < hwt_file_streams(flow->file); n++) {
		struct end end = { 0 };
		int status;

		if (!flow_wants_stream(flow, hwt_file_stream(flow->file, n)))
			continue;
		status = search(flow, n, entries, &end);
		if (status < 0)
			return status;
		if (status == 0 || (last->found && (!end.has_stamp || end.stamp >= found->stamp)))
			continue;
		last->found = 1;
		*found = end;
		*stream = n;
	}
	return 0;
}

static int find_end(struct flow_last *last, struct flow *flow, size_t *stream, struct end *found)
{
	struct entries entries;
	int status;

	last->found = 0;
	if (!last->before)
		return 0;
	status = flow_find_function(flow, NULL, last->before, &entries.range, &entries.count);
	if (status < 0)
		return status == KTREAD_E_ABSENT ? 0 : status;
	status = find_first(last, flow, &entries, stream, found);
	free(entries.range);
	return status;
}

/* ---- Reading the branches before the entry ---- */

/* Reads a window into the ring. Empties the ring first, because each window includes the previous window. */
static int fill(struct flow_reader *reader, struct ring *ring, const struct end *end)
{
	const struct hwt_step *step;
	int status;

	empty(ring);
	while ((status = flow_reader_next(reader, &step)) > 0) {
		if (end->has_stamp && step->has_stamp && step->stamp > end->stamp)
			return 0;
		if (end->has_offset &&
		    (step->offset > end->offset ||
		     (step->offset == end->offset && step->kind == HWT_RUN && step->address == end->address)))
			return 0;
		if (keep(ring, step) < 0)
			return KTREAD_E_MEMORY;
	}
	return status;
}

static int read_back(struct flow *flow, size_t stream, struct ring *ring, const struct end *end)
{
	const uint64_t bytes = end->has_offset ? end->offset + 1 : bytes_of(flow, stream);
	uint64_t window = WINDOW > 2 * ring->most ? WINDOW : 2 * ring->most;
	struct flow_reader *reader;
	int status = flow_reader_open(&reader, flow, stream), more = 1;

	while (status == 0 && more && ring->branches < ring->most) {
		more = flow_reader_seek(reader, bytes > window ? bytes - window : 0);
		status = more < 0 ? more : fill(reader, ring, end);
		window = window > UINT64_MAX / WIDER ? UINT64_MAX : window * WIDER;
	}
	flow_reader_close(reader);
	return status;
}

static int show(const struct ring *ring, const struct flow_view *view, void *to,
		const struct hwt_stream *stream)
{
	int status = view->begin ? view->begin(to, stream) : 0, ended;

	for (size_t n = 0; n < ring->count && status == 0; n++)
		status = view->step(to, &ring->kept[(ring->first + n) & (ring->room - 1)].step);
	ended = view->end ? view->end(to) : 0;
	return status ? status : ended;
}

static int walk_stream(struct flow_last *last, struct flow *flow, size_t stream, const struct end *end,
		       const struct flow_view *view, void *to)
{
	struct ring ring = { .most = last->count };
	int status = read_back(flow, stream, &ring, end);

	if (status == 0)
		status = show(&ring, view, to, hwt_file_stream(flow->file, stream));
	empty(&ring);
	free(ring.kept);
	flow_count_stream(flow, hwt_file_stream(flow->file, stream));
	return status;
}

int flow_last_walk(struct flow_last *last, struct flow *flow, const struct flow_view *view, void *to)
{
	struct end end = { 0 }, others;
	size_t ended = 0;
	int status = find_end(last, flow, &ended, &end);

	others = end;
	others.has_offset = 0;
	for (size_t n = 0; n < hwt_file_streams(flow->file) && status == 0; n++)
		if (flow_wants_stream(flow, hwt_file_stream(flow->file, n)) && !(last->found && n == ended))
			status = walk_stream(last, flow, n, &others, view, to);
	return status == 0 && last->found ? walk_stream(last, flow, ended, &end, view, to) : status;
}
