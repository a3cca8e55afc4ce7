/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * One ring of a guest that is recording. Slots are read in the order of their indices. If a record is not
 * finished, the reader waits for it. After a time limit, the reader passes over that slot, and over all
 * unfinished slots that were reserved before the wait began. It remembers these slots and looks at them again
 * until they are finished or overwritten.
 * 
 * Invariant: slots from `start` to `head` = decoded + overwritten + invalid + skipped + passed over + slots
 * from `index` on.
 */
#ifndef KTREAD_FOLLOW_STATE_H
#define KTREAD_FOLLOW_STATE_H

#include "image.h"
#include "ktread/follow.h"
#include "trace.h"
#include "versions.h"

#define KTREAD_FOLLOW_SCRATCH 2048u /* number of slots that are read together */
#define KTREAD_FOLLOW_PASSED  1024u /* number of passed-over slots of a ring that are remembered */

/* A slot that was passed over. */
struct ktread_passed {
	uint64_t index;
	uint64_t reference; /* reference from which its timestamp is computed */
};

struct ktread_follow_ring {
	bool usable; /* false: the fields below are not valid */
	/* the reader of the ring; its items are those that wait to be handed out */
	struct ktread_v2_ring ring;
	uint32_t shift;	     /* log2 of the ring's number of slots */
	uint32_t room;	     /* number of slots that its buffer and items have room for */
	uint32_t used;	     /* number of slots of the buffer that are in use */
	uint32_t due;	     /* number of items that were given to the cursor */
	uint64_t handed_out; /* newest timestamp handed out, if rings are not merged */
	uint64_t start, head;
	/* all records with an earlier timestamp were read, except records that arrive late */
	uint64_t frontier;
	uint64_t wait_head;  /* the reader waits for unfinished slots before this index */
	uint64_t wait_until; /* end of that wait, in ms */
	uint64_t overwritten;
	uint64_t skipped;     /* slots not read because only a sample is wanted */
	uint64_t skipped_end; /* index after the last skipped slot */
	uint64_t unreported;  /* overwritten slots that were not reported yet */
	struct ktread_passed *passed;
	uint32_t passed_count;
	bool backlog;	   /* the last look left finished slots unread */
	bool filling_fast; /* the ring fills so fast that records may be overwritten before they are read */
};

/* Parameters of a look at a ring. */
struct ktread_follow_look {
	uint64_t (*scratch)[4]; /* KTREAD_FOLLOW_SCRATCH slots */
	uint64_t now;		/* ms */
	uint64_t patience;
	uint64_t seen; /* newest timestamp of any ring read before this look began */
	/* most slots of a ring that are read in one look, and most that may wait to be handed out */
	uint32_t limit;
	uint32_t most; /* most slots before the head that are read; 0: no limit */
	bool last;     /* the guest no longer writes, so do not wait for unfinished records */
};

/*
 * Starts reading a ring at its oldest slot. Requires: layout, place, ring number and trace in follow->ring
 * are set, and all other fields are zero.
 */
int ktread_follow_ring_open(struct ktread_follow_ring *follow);
void ktread_follow_ring_close(struct ktread_follow_ring *follow);
/* Reads what was recorded since the last look. Returns 0 or an error. */
int ktread_follow_ring_look(struct ktread_follow_ring *follow, const struct ktread_follow_look *look);
/* Returns how many items have a timestamp up to `stamp`. */
uint32_t ktread_follow_ring_upto(const struct ktread_follow_ring *follow, uint64_t stamp);
/* Drops the first `count` items. */
void ktread_follow_ring_drop(struct ktread_follow_ring *follow, uint32_t count);

static inline uint64_t ktread_follow_ring_newest(const struct ktread_follow_ring *follow)
{
	return follow->ring.items ? follow->ring.item[follow->ring.items - 1].stamp : 0;
}

/* The state of a guest that is followed. */

struct ktread_follow {
	struct ktread_follow_options options;
	char *path; /* path of the file that this handle opened; NULL: the caller owns the memory */
	struct ktread_memory *memory;
	struct ktread_image *image; /* the memory's image; NULL: ktrace has not been found yet */
	struct ktread *trace;	    /* trace object made from the image; the follow handle reads its rings */
	struct ktread_version version;
	struct ktread_follow_ring *ring;
	uint32_t rings;
	uint64_t (*scratch)[4];
	uint64_t boots;
	uint64_t seen;	      /* newest timestamp read */
	uint64_t handed_out;  /* newest timestamp handed out, if rings are merged */
	uint64_t first_stamp; /* first timestamp that was handed out in this boot */
	uint64_t opened, now, look_again, guess_again, clocks_again, names_again; /* ms */
	/* time to the next look, in ms */
	uint32_t interval;
	bool backlog;	   /* the last look left finished slots unread */
	bool filling_fast; /* some ring fills fast: look more often */
	bool idle;	   /* the last look found nothing new */
	bool any_due;	   /* the cursors have records */
	bool leaving;	   /* the boot has ended: leave it when the cursors have no more records */
	bool stopping, finished;
	int status;
	struct ktread_follow_account account; /* sums over the boots that have ended */
};

/* Makes a trace from the image's layout. Rings that were already followed continue where they were. */
int ktread_follow_attach(struct ktread_follow *follow);
/* Updates the trace's info from the root. */
void ktread_follow_refresh(struct ktread_follow *follow, const struct ktrx_root *root);
/* Loads the guest's clock measurements again. */
int ktread_follow_clocks(struct ktread_follow *follow);
/* Closes the trace and the rings, and adds up their counts. */
void ktread_follow_detach(struct ktread_follow *follow);
/* Adds the counts of one ring. */
void ktread_follow_count(const struct ktread_follow_ring *ring, struct ktread_follow_account *account);
/* Updates the counts in the trace's rings. */
void ktread_follow_describe(struct ktread_follow *follow);

#endif
