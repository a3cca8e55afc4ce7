/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * One ring of a guest that is recording. Slots are read in the order of their indices. If a record is
 * unfinished, the reader waits for it. After a time limit, it passes over the record's slot, and over all
 * unfinished slots that were reserved before the wait began. It remembers these slots, and reads them again
 * until they are finished or overwritten.
 *
 * Invariant: `head` - `start` = decoded + overwritten + invalid + skipped + passed-over slots + slots from
 * `index` to `head`.
 */
#ifndef KTREAD_FOLLOW_STATE_H
#define KTREAD_FOLLOW_STATE_H

#include "layout.h"
#include "ktread/follow.h"
#include "trace.h"
#include "versions.h"

#define KTREAD_FOLLOW_SCRATCH 2048u /* maximum number of slots that one call reads from the memory */
/* maximum number of passed-over slots that are remembered for each ring */
#define KTREAD_FOLLOW_PASSED 1024u

/* A slot that the reader has passed over. */
struct ktread_passed {
	uint64_t index;
	/* the whole timestamp from which the timestamp of this slot is counted (its reference) */
	uint64_t reference;
};

struct ktread_follow_ring {
	bool usable; /* true if the members below are valid */
	/* the reader of the ring; its items are the records that wait to be returned */
	struct ktread_v2_ring ring;
	uint32_t shift; /* base-2 logarithm of the ring's number of slots */
	uint32_t room;	/* number of slots that fit into the reader's buffer and items */
	uint32_t used;	/* number of slots in the buffer */
	uint32_t due;	/* number of the ring's items that were given to the cursor of the trace */
	/* newest timestamp returned from this ring, if rings are not merged */
	uint64_t handed_out;
	uint64_t start, head;
	/* all records with an earlier timestamp than this have been read, except records that arrive late */
	uint64_t frontier;
	uint64_t wait_head;  /* the reader waits only for unfinished slots before this index */
	uint64_t wait_until; /* time in ms at which the reader stops waiting for unfinished slots */
	uint64_t overwritten;
	uint64_t skipped;     /* number of slots that were not read because of options.sample */
	uint64_t skipped_end; /* index of the slot after the last skipped slot */
	uint64_t unreported;  /* number of overwritten slots that were not reported yet */
	struct ktread_passed *passed;
	uint32_t passed_count;
	bool backlog; /* true if finished slots were left unread by the last poll */
	/* true if the ring fills so fast that records may be overwritten before a poll reads them */
	bool filling_fast;
};

/* Parameters of one poll of the guest (a look), which reads the new slots of a ring. */
struct ktread_follow_look {
	uint64_t (*scratch)[4]; /* buffer for KTREAD_FOLLOW_SCRATCH slots */
	uint64_t now;		/* ms */
	uint64_t patience;
	uint64_t seen; /* newest timestamp that was read from any ring before this poll began */
	/*
	 * maximum number of slots of a ring that one poll reads, and also maximum number of slots of the ring
	 * that are read but not yet returned
	 */
	uint32_t limit;
	/*
	 * if a ring has more unread slots than this number, the poll skips the older ones and reads only this
	 * number of slots; 0: no limit
	 */
	uint32_t most;
	bool last; /* true if the guest no longer writes, so do not wait for unfinished records */
};

/*
 * Begins to read a ring at its oldest slot. Requires: in follow->ring, the layout, the place, the ring's
 * number and the trace are set; all other members of *follow are zero.
 */
int ktread_follow_ring_open(struct ktread_follow_ring *follow);
void ktread_follow_ring_close(struct ktread_follow_ring *follow);
/* Reads the slots that were written to the ring since the last poll. Returns 0 or an error. */
int ktread_follow_ring_look(struct ktread_follow_ring *follow, const struct ktread_follow_look *look);
/* Returns the number of items whose timestamp is not later than `stamp`. */
uint32_t ktread_follow_ring_upto(const struct ktread_follow_ring *follow, uint64_t stamp);
/* Drops the first `count` items. */
void ktread_follow_ring_drop(struct ktread_follow_ring *follow, uint32_t count);

static inline uint64_t ktread_follow_ring_newest(const struct ktread_follow_ring *follow)
{
	return follow->ring.items ? follow->ring.item[follow->ring.items - 1].stamp : 0;
}

/* State of following a guest. */

struct ktread_follow {
	struct ktread_follow_options options;
	char *path; /* path of the file that this handle opened; NULL: the caller owns the memory */
	struct ktread_memory *memory;
	/* the image that was found in the memory; NULL: ktrace has not been found yet */
	struct ktread_image *image;
	struct ktread *trace; /* trace object made from the image; the follow handle reads its rings */
	struct ktread_version version;
	struct ktread_follow_ring *ring;
	uint32_t rings;
	uint64_t (*scratch)[4];
	uint64_t boots;
	uint64_t seen;	      /* newest timestamp that was read */
	uint64_t handed_out;  /* newest timestamp that was returned, if rings are merged */
	uint64_t first_stamp; /* first timestamp of this boot that was returned */
	uint64_t opened, now, look_again, guess_again, clocks_again, names_again; /* ms */
	/* time in ms between the last poll and the next poll */
	uint32_t interval;
	bool backlog;	   /* true if finished slots were left unread by the last poll */
	bool filling_fast; /* true if some ring fills fast, so that polls must be more frequent */
	bool idle;	   /* true if the last poll found nothing new */
	bool any_due;	   /* true if the cursors have records that have not been returned yet */
	/* true if the boot has ended and the cursors have all remaining records */
	bool leaving;
	bool stopping, finished;
	int status;
	struct ktread_follow_account account; /* sums of the counts of all boots that have ended */
};

/* Makes a trace from the image's layout. Rings that were already followed continue at their current slot. */
int ktread_follow_attach(struct ktread_follow *follow);
/* Updates the trace's info from the root. */
void ktread_follow_refresh(struct ktread_follow *follow, const struct ktrx_root *root);
/* Loads the guest's clock measurements again. */
int ktread_follow_clocks(struct ktread_follow *follow);
/* Closes the trace and the rings. Adds the rings' counts of slots to follow->account. */
void ktread_follow_detach(struct ktread_follow *follow);
/* Adds the counts of slots of one ring to *account. */
void ktread_follow_count(const struct ktread_follow_ring *ring, struct ktread_follow_account *account);
/* Updates the counts of slots in the trace's rings. */
void ktread_follow_describe(struct ktread_follow *follow);

#endif
