/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Makes the trace of a guest that is followed: the names, types and rings of the guest's newest layout. The
 * layout changes when the kernel gives memory to ktrace, or when a CPU comes online. After such a change, a
 * new trace is made, which takes over the state of the rings that were already followed.
 */
#include <stdlib.h>
#include <string.h>

#include "follow_state.h"
#include "message.h"
#include "versions.h"

/* Adds no items, because a cursor has only the items that hand_out() gives it. */
static int no_refill(struct ktread *trace, struct ktread_cursor *cursor)
{
	(void)trace;
	(void)cursor;
	return 0;
}

/*
 * Closes a trace. Does not close the image, the memory and the rings, because they belong to the follow
 * handle.
 */
static void close_trace(struct ktread *trace)
{
	if (!trace)
		return;
	for (uint32_t n = 0; n < trace->cursors; n++)
		trace->cursor[n].state = NULL;
	trace->image = NULL;
	trace->layout = NULL;
	trace->memory = NULL;
	ktread_close(trace);
}

static int open_trace(struct ktread_follow *follow, struct ktread **trace)
{
	struct ktread *opened = calloc(1, sizeof(*opened));
	int status;

	if (!opened)
		return ktread_fail_memory();
	opened->info.kernel = opened->info.note = opened->info.registers = "";
	opened->info.form = KTREAD_FORM_RAM;
	opened->info.dumps = 1;
	opened->memory = follow->memory;
	opened->first_stamp = follow->first_stamp;
	opened->options.frequency = follow->options.frequency;
	status = ktread_v2_open(opened, follow->image->layout);
	if (status < 0) {
		opened->memory = NULL;
		opened->layout = NULL;
		ktread_close(opened);
		return status;
	}
	*trace = opened;
	return 0;
}

/* Returns the ring of the old trace that ring `n` of the new trace continues; NULL if ring `n` is new. */
static struct ktread_follow_ring *find_before(struct ktread_follow *follow,
					      const struct ktread_ring_place *place, uint32_t n)
{
	struct ktread_follow_ring *before = n < follow->rings ? &follow->ring[n] : NULL;

	return before && before->usable && before->shift == place->row.shift ? before : NULL;
}

static int open_ring(struct ktread_follow *follow, struct ktread *trace, uint32_t n,
		     struct ktread_follow_ring *ring)
{
	const struct ktread_ring_place *place = &trace->layout->ring[n];
	struct ktread_follow_ring *before = find_before(follow, place, n);
	struct ktread_cursor *cursor = &trace->cursor[n];

	trace->version->destroy(cursor);
	cursor->state = NULL;
	if (!place->usable)
		return 0;
	if (before) {
		*ring = *before;
		memset(before, 0, sizeof(*before));
	}
	ring->ring.layout = trace->layout;
	ring->ring.place = place;
	ring->ring.ring = n;
	ring->ring.trace = trace;
	cursor->state = &ring->ring;
	return before ? 0 : ktread_follow_ring_open(ring);
}

static void close_rings(struct ktread_follow_ring *ring, uint32_t rings)
{
	for (uint32_t n = 0; n < rings; n++)
		ktread_follow_ring_close(&ring[n]);
	free(ring);
}

static int open_rings(struct ktread_follow *follow, struct ktread *trace)
{
	struct ktread_follow_ring *ring = calloc(trace->cursors ? trace->cursors : 1, sizeof(*ring));
	int status = ring ? 0 : ktread_fail_memory();

	for (uint32_t n = 0; n < trace->cursors && status == 0; n++)
		status = open_ring(follow, trace, n, &ring[n]);
	close_rings(follow->ring, follow->rings);
	follow->ring = ring;
	follow->rings = ring ? trace->cursors : 0;
	return status;
}

int ktread_follow_attach(struct ktread_follow *follow)
{
	struct ktread *trace = NULL;
	int status = open_trace(follow, &trace);

	if (status < 0)
		return status;
	status = open_rings(follow, trace);
	close_trace(follow->trace);
	follow->trace = trace;
	follow->version = *trace->version;
	follow->version.refill = no_refill;
	for (uint32_t n = 0; n < trace->cursors; n++)
		trace->cursor[n].version = &follow->version;
	ktread_follow_refresh(follow, &follow->image->root);
	return status;
}

void ktread_follow_refresh(struct ktread_follow *follow, const struct ktrx_root *root)
{
	struct ktread_info *info = &follow->trace->info;

	info->frequency = ktread_frequency(follow->options.frequency, root->frequency);
	info->outcome = root->outcome;
	info->status = root->status;
	info->wall_stamp = root->wall_stamp;
	info->wall_ns = root->wall_ns;
	info->lost_events = root->lost_events;
}

int ktread_follow_clocks(struct ktread_follow *follow)
{
	struct ktread *trace = follow->trace;
	struct ktread_info *info = &trace->info;

	if (!ktread_layout_section(trace->layout, KTRX_SECTION_CLOCKS, 0))
		return 0;
	ktread_clocks_free(&trace->measured);
	info->clock = KTREAD_CLOCK_RAW;
	info->clock_samples = info->clock_cpus = 0;
	info->clock_measured = info->clock_failed = 0;
	info->clock_largest = info->clock_error = 0;
	info->clock_from = info->clock_to = info->clock_drift = 0;
	return ktread_clock_load(trace);
}

void ktread_follow_detach(struct ktread_follow *follow)
{
	close_trace(follow->trace);
	follow->trace = NULL;
	for (uint32_t n = 0; n < follow->rings; n++)
		ktread_follow_count(&follow->ring[n], &follow->account);
	follow->account.unreadable += follow->account.pending;
	follow->account.pending = 0;
	close_rings(follow->ring, follow->rings);
	follow->ring = NULL;
	follow->rings = 0;
}

static uint64_t pending(const struct ktread_follow_ring *ring)
{
	return ring->passed_count + (ring->head - ring->ring.index);
}

void ktread_follow_count(const struct ktread_follow_ring *ring, struct ktread_follow_account *account)
{
	account->produced += ring->head - ring->start;
	account->shown += ring->ring.decoded;
	account->overwritten += ring->overwritten;
	account->unreadable += ring->ring.invalid;
	account->skipped += ring->skipped;
	account->pending += pending(ring);
}

void ktread_follow_describe(struct ktread_follow *follow)
{
	for (uint32_t n = 0; n < follow->rings; n++) {
		const struct ktread_follow_ring *from = &follow->ring[n];
		struct ktread_ring *to = &follow->trace->cursor[n].ring;

		if (!from->usable)
			continue;
		to->head = from->head - from->start;
		to->overwritten = from->overwritten;
		to->decoded = from->ring.decoded;
		to->invalid = from->ring.invalid;
		to->dropped = from->ring.place->row.dropped;
		to->lapped = from->ring.place->row.lapped;
	}
}

int ktread_follow_cpus(struct ktread_follow *follow, struct ktrx_cpu *cpu, uint32_t room)
{
	return follow->image ? ktread_layout_cpus(follow->image->layout, 0, cpu, room) : 0;
}

int ktread_follow_holders(struct ktread_follow *follow, uint32_t first, struct ktrx_holder *holder,
			  uint32_t room)
{
	return follow->image ? ktread_layout_holders(follow->image->layout, first, holder, room) : 0;
}
