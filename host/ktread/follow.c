/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Follows a guest while it records. Polls the guest periodically: each poll reads the new slots of all rings.
 * In names, a poll is called a look.
 *
 * Merging relies on one fact: if a record is reserved after a poll began, its timestamp is not earlier than
 * any timestamp that was read before that poll began. So the records that one poll reads are returned after
 * the next poll, because only the next poll shows that no ring has an earlier record. After the next poll,
 * the records are "due". A ring that records nothing causes no delay. No clock of the host is compared with
 * the guest's clock.
 *
 * A guest has a trace object, as a file has: after each poll, the cursors of its rings get the records that
 * are due, and ktread_next() merges, filters and decodes these records.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "follow_state.h"
#include "message.h"
#include "source.h"
#include "versions.h"

#define PATIENCE_MS 100u
#define APPEAR_MS   10000u
#define INTERVAL_MS 10u
#define IDLE_MS	    100u /* time in ms between two polls of a guest that records nothing */
/* ratio of the pause after a search of the memory to the duration of the search */
#define SEARCH_PART 10u
/* maximum time in ms between two searches of a memory in which ktrace has not been found yet */
#define SEARCH_MS 1000u
#define GUESS_MS  100u /* time in ms between attempts to find a ring's reserve word */
#define CLOCKS_MS 250u /* time in ms between readings of the guest's clock measurements */
/* maximum number of slots that are read but not yet returned, of all rings together */
#define WAITING_MOST (UINT32_C(1) << 20)
/* maximum number of slots of one ring that were read but not yet returned */
#define WAITING_RING (UINT32_C(1) << 18)
#define NAMES_MS     1000u /* time in ms between readings of the names of threads */
/* used with options.sample: a poll may read at least this number of slots of each ring */
#define SAMPLE_LEAST  16u
#define WAITING_LEAST (4u * KTREAD_FOLLOW_SCRATCH)

static uint64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int fail(struct ktread_follow *follow, int status)
{
	follow->status = status;
	return status;
}

static int take_options(struct ktread_follow *follow, const struct ktread_follow_options *options)
{
	if (options && options->size != sizeof(*options))
		return ktread_fail(KTREAD_E_ARGUMENT, "the options have the wrong size");
	if (options)
		follow->options = *options;
	if (!follow->options.patience_ms)
		follow->options.patience_ms = PATIENCE_MS;
	if (!follow->options.appear_ms)
		follow->options.appear_ms = APPEAR_MS;
	if (!follow->options.interval_ms)
		follow->options.interval_ms = INTERVAL_MS;
	return 0;
}

static int create(struct ktread_follow **follow, const struct ktread_follow_options *options)
{
	struct ktread_follow *created = calloc(1, sizeof(*created));
	int status;

	*follow = NULL;
	if (!created)
		return ktread_fail_memory();
	created->scratch = malloc(KTREAD_FOLLOW_SCRATCH * sizeof(*created->scratch));
	status = created->scratch ? take_options(created, options) : ktread_fail_memory();
	if (status < 0) {
		ktread_follow_close(created);
		return status;
	}
	created->opened = milliseconds();
	created->interval = created->options.interval_ms;
	*follow = created;
	return 0;
}

/*
 * Returns an error for a trace file or a core dump, because these do not change. Accepts an empty file,
 * because QEMU may soon map it as the memory of a guest.
 */
static int check_kind(struct ktread_memory *memory)
{
	struct ktread_dump dump;

	if (ktread_core_is(memory) || ktread_dump_at(memory, 0, &dump))
		return ktread_fail(KTREAD_E_UNSUPPORTED,
				   "%s: not the memory of a running guest, but a trace or a core",
				   memory->name);
	return 0;
}

static int open_file(struct ktread_follow *follow)
{
	int status = ktread_source_open_regular(&follow->memory, follow->path);

	if (status < 0)
		return status;
	return ktread_ram_map(follow->memory, follow->options.machine, follow->options.ram_base);
}

int ktread_follow_open(struct ktread_follow **follow, const char *path,
		       const struct ktread_follow_options *options)
{
	int status = create(follow, options);

	if (status < 0)
		return status;
	(*follow)->path = strdup(path);
	status = (*follow)->path ? open_file(*follow) : ktread_fail_memory();
	if (status == 0)
		status = check_kind((*follow)->memory);
	if (status < 0) {
		ktread_follow_close(*follow);
		*follow = NULL;
	}
	return status;
}

int ktread_follow_open_memory(struct ktread_follow **follow, struct ktread_memory *memory,
			      const struct ktread_follow_options *options)
{
	int status = create(follow, options);

	if (status == 0)
		(*follow)->memory = memory;
	return status;
}

void ktread_follow_close(struct ktread_follow *follow)
{
	if (!follow)
		return;
	ktread_follow_detach(follow);
	ktread_image_close(follow->image);
	if (follow->path)
		ktread_memory_close(follow->memory);
	free(follow->path);
	free(follow->scratch);
	free(follow);
}

/* ---- Polling the guest ---- */

static bool has_ended(const struct ktread_follow *follow)
{
	return ktread_memory_ended(follow->memory) > 0;
}

/*
 * Reads the ring descriptors again. Sets *moved if the layout has to be read again: the address of a ring's
 * reserve word has changed, or it is time to search again for a reserve word that was not found.
 */
static int refresh_rows(struct ktread_follow *follow, bool *moved)
{
	struct ktread_layout *layout = follow->image->layout;

	for (uint32_t n = 0; n < layout->rings; n++) {
		struct ktread_ring_place *place = &layout->ring[n];
		struct ktrx_ring now;
		int status;

		if (!place->usable || place->row_physical == UINT64_MAX)
			continue;
		status = ktread_memory_read(follow->memory, place->row_physical, &now, sizeof(now));
		if (status < 0)
			return status;
		*moved = *moved || now.head_where != place->row.head_where ||
			 (place->guessed && follow->now >= follow->guess_again);
		place->row.anchor_index = now.anchor_index;
		place->row.anchor_stamp = now.anchor_stamp;
		place->row.dropped = now.dropped;
		place->row.lapped = now.lapped;
	}
	return 0;
}

/*
 * Checks whether the boot that is followed still runs. If so, reads again the data that may have changed.
 * Returns 1 if the boot still runs, 0 if it has ended, or an error.
 */
static int confirm(struct ktread_follow *follow)
{
	struct ktrx_root root;
	uint64_t nonce = follow->image->root.nonce;
	bool moved = false;
	int status;

	if (ktread_root_read(follow->memory, follow->image->physical, &root) < 0 || root.self == 0 ||
	    root.nonce != nonce)
		return 0;
	ktread_follow_refresh(follow, &root);
	status = refresh_rows(follow, &moved);
	if (status < 0 || (!moved && root.sequence == follow->image->root.sequence))
		return status < 0 ? status : 1;
	follow->guess_again = follow->now + GUESS_MS;
	status = ktread_image_refresh(follow->image);
	if (status == KTREAD_E_ABSENT || (status == 0 && follow->image->root.nonce != nonce))
		return 0;
	if (status == 0)
		status = ktread_follow_attach(follow);
	return status < 0 ? status : 1;
}

static uint32_t waiting_limit(uint32_t rings)
{
	uint32_t share = WAITING_MOST / (rings ? rings : 1);

	return share > WAITING_RING ? WAITING_RING : share < WAITING_LEAST ? WAITING_LEAST : share;
}

/*
 * Returns the maximum number of slots that a poll reads of each ring; 0: no limit. The maximum is the same
 * for all rings, including the boot ring.
 */
static uint32_t sample_of_ring(const struct ktread_follow *follow)
{
	uint32_t share = follow->options.sample / (follow->rings ? follow->rings : 1);

	return follow->options.sample == 0 || share > SAMPLE_LEAST ? share : SAMPLE_LEAST;
}

static int look_at_rings(struct ktread_follow *follow, bool last)
{
	struct ktread_follow_look look = {
		.scratch = follow->scratch,
		.now = follow->now,
		.patience = follow->options.patience_ms,
		.seen = follow->seen,
		.limit = waiting_limit(follow->rings),
		.most = sample_of_ring(follow),
		.last = last,
	};
	uint64_t before = 0, after = 0;

	follow->backlog = follow->filling_fast = false;
	for (uint32_t n = 0; n < follow->rings; n++) {
		struct ktread_follow_ring *ring = &follow->ring[n];
		uint64_t newest;
		int status;

		if (!ring->usable)
			continue;
		before += ring->ring.index;
		status = ktread_follow_ring_look(ring, &look);
		if (status < 0)
			return status;
		after += ring->ring.index;
		follow->backlog = follow->backlog || ring->backlog;
		follow->filling_fast = follow->filling_fast || ring->filling_fast;
		newest = ktread_follow_ring_newest(ring);
		follow->seen = newest > follow->seen ? newest : follow->seen;
	}
	follow->idle = before == after;
	return 0;
}

/* ---- Returning records ---- */

/*
 * Gives the cursors the records that are due: the records that can be returned in order now. If `all` is set,
 * gives the cursors all records.
 */
static void hand_out(struct ktread_follow *follow, bool all)
{
	struct ktread *trace = follow->trace;
	uint64_t limit = UINT64_MAX, base = UINT64_MAX;

	for (uint32_t n = 0; n < follow->rings && !all && !follow->options.by_ring; n++)
		if (follow->ring[n].usable && follow->ring[n].frontier < limit)
			limit = follow->ring[n].frontier;
	follow->any_due = false;
	for (uint32_t n = 0; n < follow->rings; n++) {
		struct ktread_follow_ring *ring = &follow->ring[n];
		struct ktread_cursor *cursor = &trace->cursor[n];
		uint64_t upto = follow->options.by_ring && !all ? ring->frontier : limit;

		cursor->item = cursor->end = NULL;
		if (!ring->usable)
			continue;
		ring->due = ktread_follow_ring_upto(ring, upto);
		cursor->item = (const unsigned char *)ring->ring.item;
		cursor->end = (const unsigned char *)(ring->ring.item + ring->due);
		if (ring->due && ring->ring.item[0].stamp < base)
			base = ring->ring.item[0].stamp;
		follow->any_due = follow->any_due || ring->due;
	}
	if (!follow->any_due)
		return;
	if (follow->first_stamp == 0)
		follow->first_stamp = trace->first_stamp = base;
	trace->unmerged = 0;
	ktread_merge_reset(&trace->merge, base);
	for (uint32_t n = 0; n < follow->rings; n++)
		ktread_merge_feed(&trace->merge, n, trace->cursor[n].item, trace->cursor[n].end);
}

/*
 * Drops the records that were given to the cursors. Requires: ktread_next() has returned all these records.
 */
static void drop(struct ktread_follow *follow)
{
	for (uint32_t n = 0; n < follow->rings; n++) {
		if (follow->ring[n].usable)
			ktread_follow_ring_drop(&follow->ring[n], follow->ring[n].due);
		follow->ring[n].due = 0;
	}
	follow->any_due = false;
}

/* Gets the next event that is due. Returns 1 with an event, 0 if none is due, or an error. */
static int next_due(struct ktread_follow *follow, struct ktread_followed *now)
{
	uint64_t *newest;
	int status;

	if (!follow->any_due)
		return 0;
	status = follow->options.by_ring ? ktread_next_by_ring(follow->trace, &now->event)
					 : ktread_next(follow->trace, &now->event);
	if (status == 0)
		drop(follow);
	if (status <= 0)
		return status;
	now->kind = KTREAD_FOLLOWED_EVENT;
	newest = follow->options.by_ring ? &follow->ring[now->event->ring].handed_out : &follow->handed_out;
	now->late = now->event->stamp < *newest;
	if (!now->late)
		*newest = now->event->stamp;
	follow->account.events++;
	follow->account.late += (uint64_t)now->late;
	return 1;
}

static bool next_loss(struct ktread_follow *follow, struct ktread_followed *now)
{
	for (uint32_t n = 0; n < follow->rings; n++) {
		struct ktread_follow_ring *ring = &follow->ring[n];

		if (!ring->usable || ring->unreported == 0)
			continue;
		*now = (struct ktread_followed){ .kind = KTREAD_FOLLOWED_LOST,
						 .ring = n,
						 .cpu = follow->trace->cursor[n].ring.cpu,
						 .slots = ring->unreported };
		ring->unreported = 0;
		return true;
	}
	return false;
}

/* ---- The end of a boot, and the search for the next one ---- */

/*
 * Stops following the current boot, and gives the cursors all its remaining records. When these records have
 * been returned, the handle waits for the next boot.
 */
static void leave_boot(struct ktread_follow *follow)
{
	hand_out(follow, true);
	follow->leaving = true;
}

static void forget_boot(struct ktread_follow *follow)
{
	ktread_follow_detach(follow);
	ktread_image_close(follow->image);
	follow->image = NULL;
	follow->leaving = false;
	follow->seen = follow->handed_out = follow->first_stamp = 0;
}

/* Searches the memory for ktrace. Returns 1 if it was found, 0 if it is not there yet, or an error. */
static int search(struct ktread_follow *follow)
{
	int status;

	if (follow->path) { /* the size of the file may have grown since the file was opened */
		ktread_memory_close(follow->memory);
		follow->memory = NULL;
		status = open_file(follow);
		if (status < 0)
			return status;
	}
	status = ktread_image_find(&follow->image, follow->memory);
	if (status == 0)
		status = ktread_follow_attach(follow);
	if (status == 0) {
		follow->boots++;
		return 1;
	}
	forget_boot(follow);
	return status == KTREAD_E_ABSENT || status == KTREAD_E_FORMAT ? 0 : status;
}

/* ---- The loop of polls ---- */

/*
 * Returns the time in ms until the next poll. The time becomes shorter if a ring fills fast, and longer if
 * the guest records nothing.
 */
static uint32_t next_interval(const struct ktread_follow *follow)
{
	const uint32_t usual = follow->options.interval_ms, now = follow->interval ? follow->interval : 1;
	const uint32_t most = !follow->image ? SEARCH_MS : follow->idle ? IDLE_MS : usual;

	if (follow->backlog)
		return 0;
	if (follow->filling_fast)
		return now > 1 ? (now < usual ? now : usual) / 2 : 1;
	return now * 2 < most ? now * 2 : most;
}

/*
 * Sets the time of the next poll. If ktrace has not been found yet, each poll is a search that reads the
 * whole memory, so there is more time between two polls.
 */
static void schedule(struct ktread_follow *follow)
{
	const uint64_t now = milliseconds(), pause = (now - follow->now) * SEARCH_PART;

	follow->interval = next_interval(follow);
	follow->look_again = now + (!follow->image && pause > follow->interval ? pause : follow->interval);
}

static int follow_boot(struct ktread_follow *follow, bool last)
{
	int status = confirm(follow);

	if (status == 0)
		leave_boot(follow);
	if (status <= 0)
		return status;
	status = 0;
	if (follow->now >= follow->clocks_again) {
		follow->clocks_again = follow->now + CLOCKS_MS;
		status = ktread_follow_clocks(follow);
	}
	if (status == 0 && follow->now >= follow->names_again) {
		follow->names_again = follow->now + NAMES_MS;
		status = ktread_v2_load_threads(follow->trace);
	}
	if (status == 0)
		status = look_at_rings(follow, last);
	if (status < 0)
		return status;
	ktread_follow_describe(follow);
	last = last && !follow->backlog;
	hand_out(follow, last);
	follow->finished = last;
	return 0;
}

static int wait_for_boot(struct ktread_follow *follow, bool last, struct ktread_followed *now)
{
	int status = search(follow);

	if (status > 0) {
		*now = (struct ktread_followed){ .kind = KTREAD_FOLLOWED_BOOT, .boot = follow->boots };
		follow->interval = 0;
		return 1;
	}
	if (status == 0)
		follow->finished = last && (follow->boots || follow->stopping ||
					    follow->now - follow->opened >= follow->options.appear_ms);
	return status;
}

/* Polls the guest once. Returns 1 if *now was filled in, 0 if there is nothing to return, or an error. */
static int look(struct ktread_follow *follow, struct ktread_followed *now)
{
	bool last = follow->stopping;
	int status;

	follow->now = milliseconds();
	follow->account.polls++;
	/*
	 * check first whether the guest has ended, and read its memory afterwards, so that the last records
	 * are not missed
	 */
	if (follow->idle || !follow->image)
		last = last || has_ended(follow);
	follow->idle = true;
	status = follow->image ? follow_boot(follow, last) : wait_for_boot(follow, last, now);
	schedule(follow);
	return status;
}

/*
 * Sleeps until `then`. Returns false if a signal has arrived, so that the caller can return early.
 */
static bool sleep_until(uint64_t then)
{
	struct timespec until = { .tv_sec = (time_t)(then / 1000), .tv_nsec = (long)(then % 1000) * 1000000 };

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0;
}

/*
 * Gets an item that can be returned without another poll of the guest. Returns 1 with an item, 0 if there is
 * none, or an error.
 */
static int next_at_hand(struct ktread_follow *follow, struct ktread_followed *now)
{
	int status;

	if (follow->trace && next_loss(follow, now))
		return 1;
	status = next_due(follow, now);
	if (status == 0 && follow->leaving) {
		forget_boot(follow);
		follow->interval = follow->options.interval_ms;
	}
	if (status == 0 && follow->finished) {
		now->kind = KTREAD_FOLLOWED_END;
		return 1;
	}
	return status;
}

int ktread_follow_next(struct ktread_follow *follow, struct ktread_followed *now, int wait_ms)
{
	const uint64_t since = milliseconds();

	memset(now, 0, sizeof(*now));
	if (follow->status < 0)
		return follow->status;
	for (;;) {
		int status = next_at_hand(follow, now);
		uint64_t time = milliseconds(), until = follow->look_again;

		if (status == 0 && (time >= until || follow->stopping)) {
			status = look(follow, now);
			if (status == 0)
				continue;
		}
		if (status != 0)
			return status < 0 ? fail(follow, status) : status;
		if (wait_ms >= 0 && time - since >= (uint64_t)wait_ms)
			return 0;
		if (wait_ms > 0 && since + (uint64_t)wait_ms < until)
			until = since + (uint64_t)wait_ms;
		if (!sleep_until(until))
			return 0;
	}
}

void ktread_follow_stop(struct ktread_follow *follow)
{
	follow->stopping = true;
}

void ktread_follow_set_frequency(struct ktread_follow *follow, uint64_t frequency)
{
	follow->options.frequency = frequency;
	if (follow->trace && frequency)
		follow->trace->info.frequency = frequency;
}

int ktread_follow_ended(const struct ktread_follow *follow)
{
	return has_ended(follow);
}

struct ktread *ktread_follow_trace(struct ktread_follow *follow)
{
	return follow->trace;
}

const char *ktread_follow_message(const struct ktread_follow *follow)
{
	(void)follow;
	return ktread_fail_text();
}

void ktread_follow_account(const struct ktread_follow *follow, struct ktread_follow_account *account)
{
	*account = follow->account;
	for (uint32_t n = 0; n < follow->rings; n++)
		ktread_follow_count(&follow->ring[n], account);
}
