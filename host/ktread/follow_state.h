/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A guest that is followed, from inside. */
#ifndef KTREAD_FOLLOW_STATE_H
#define KTREAD_FOLLOW_STATE_H

#include "follow_ring.h"
#include "image.h"
#include "ktread/follow.h"
#include "trace.h"

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
