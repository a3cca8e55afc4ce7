/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * One ring of a guest that goes on recording. Slots are taken in the order of their indices. One whose record
 * is not finished is waited for; when patience is over, it and all that were reserved before the waiting
 * began are passed over, kept in mind, and looked at again until they are finished or overwritten.
 *
 * Invariant: slots from `start` to `head` = decoded + overwritten + invalid + skipped + passed over + those
 * from `index` on.
 */
#ifndef KTREAD_FOLLOW_STATE_H
#define KTREAD_FOLLOW_STATE_H

#include "image.h"
#include "ktread/follow.h"
#include "trace.h"
#include "versions.h"

#define KTREAD_FOLLOW_SCRATCH 2048u /* slots read in one go */
#define KTREAD_FOLLOW_PASSED  1024u /* slots of a ring kept in mind */

/* A slot that was passed over. */
struct ktread_passed {
	uint64_t index;
	uint64_t reference; /* its stamp is nearest to this one */
};

struct ktread_follow_ring {
	bool usable;		    /* else nothing below means anything */
	struct ktread_v2_ring ring; /* its items wait to be handed out; index, reference, counts */
	uint32_t shift;		    /* of the place it has */
	uint32_t room;		    /* slots its buffer and items have room for */
	uint32_t used;		    /* slots of the buffer that are in use */
	uint32_t due;		    /* of its items, handed to a cursor */
	uint64_t handed_out;	    /* newest stamp, where rings are not merged */
	uint64_t start, head;
	uint64_t frontier;   /* no record still to come bears an earlier stamp, but late ones */
	uint64_t wait_head;  /* slots before this one … */
	uint64_t wait_until; /* … are waited for until then */
	uint64_t overwritten;
	uint64_t skipped;     /* unread, for only a sample is wanted */
	uint64_t skipped_end; /* behind the last of these */
	uint64_t untold;      /* of those overwritten, slots not told yet */
	struct ktread_passed *passed;
	uint32_t passed_count;
	bool behind;  /* the last look left finished slots unread */
	bool pressed; /* at this pace the ring may be overwritten before it is read */
};

/* What a look at a ring goes by. */
struct ktread_follow_look {
	uint64_t (*scratch)[4]; /* KTREAD_FOLLOW_SCRATCH slots */
	uint64_t now;		/* ms */
	uint64_t patience;
	uint64_t seen;	/* newest stamp of any ring read before this look began */
	uint32_t limit; /* slots a ring may keep waiting, and have read in one look */
	uint32_t most;	/* slots behind the head that are read at all; 0: all */
	bool last;	/* nobody writes any more: what is not finished never will be */
};

/* Begins with the oldest slot. follow->ring knows its layout, place and offsets already, the rest is zero. */
int ktread_follow_ring_open(struct ktread_follow_ring *follow);
void ktread_follow_ring_close(struct ktread_follow_ring *follow);
/* Takes in what was recorded. Returns 0 or an error. */
int ktread_follow_ring_look(struct ktread_follow_ring *follow, const struct ktread_follow_look *look);
/* How many of the items bear a stamp up to `stamp`. */
uint32_t ktread_follow_ring_upto(const struct ktread_follow_ring *follow, uint64_t stamp);
/* Drops the first `count` items. */
void ktread_follow_ring_drop(struct ktread_follow_ring *follow, uint32_t count);

static inline uint64_t ktread_follow_ring_newest(const struct ktread_follow_ring *follow)
{
	return follow->ring.items ? follow->ring.item[follow->ring.items - 1].stamp : 0;
}

/* A guest that is followed, from inside. */

struct ktread_follow {
	struct ktread_follow_options options;
	char *path; /* of a file that is this handle's own; NULL: the memory is the caller's */
	struct ktread_memory *memory;
	struct ktread_image *image; /* NULL: ktrace is still looked for */
	struct ktread *trace;	    /* of the image; its rings are read here */
	struct ktread_version version;
	struct ktread_follow_ring *ring;
	uint32_t rings;
	uint64_t (*scratch)[4];
	uint64_t boots;
	uint64_t seen;	      /* newest stamp read */
	uint64_t handed_out;  /* newest stamp handed out, where rings are merged */
	uint64_t first_stamp; /* of what was handed out first in this boot */
	uint64_t opened, now, look_again, guess_again, clocks_again, names_again; /* ms */
	uint32_t interval;							  /* ms to the next look */
	bool behind;  /* the last look left something unread */
	bool pressed; /* looks are too rare */
	bool idle;    /* the last look found nothing new */
	bool any_due; /* the cursors have events */
	bool leaving; /* this boot is over once they have none */
	bool stopping, finished;
	int status;
	struct ktread_follow_account account; /* of the boots that are over */
};

/* Makes a trace of the image's layout. Rings that were followed before go on where they were. */
int ktread_follow_attach(struct ktread_follow *follow);
/* Takes what the root says by now. */
void ktread_follow_refresh(struct ktread_follow *follow, const struct ktrx_root *root);
/* Takes what the guest has measured of its clocks since. */
int ktread_follow_clocks(struct ktread_follow *follow);
/* Forgets trace and rings. */
void ktread_follow_detach(struct ktread_follow *follow);
/* Adds up what one ring has come to. */
void ktread_follow_count(const struct ktread_follow_ring *ring, struct ktread_follow_account *account);
/* Lets each ring of the trace say how far it has come. */
void ktread_follow_describe(struct ktread_follow *follow);

#endif
