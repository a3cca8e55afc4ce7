/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A stream of Intel PT that is being decoded: pt.c has the flow, pt_events.c what is beside it. */
#ifndef HWT_PT_H
#define HWT_PT_H

#include <stdbool.h>

#include "decoder.h"
#include "pt_branch.h"
#include "pt_configure.h"
#include "pt_image.h"

#define PT_KNOWN      2048u /* branches whose kind is kept */
#define PT_NO_SECTION (-1)  /* no block is ever said to be in it */

/* An instruction that blocks end with. */
struct pt_last {
	uint64_t address;
	int section; /* libipt's number of it; 0: the place is empty */
	enum pt_exec_mode mode;
	/* As in a step: taken, if it always is. */
	uint8_t branch, taken, bits;
	uint8_t length; /* 0 of what is no branch, or is not all there */
	uint8_t within; /* it leads from one place of a function to another */
};

struct pt_decoder {
	const struct hwt_stream *stream;
	struct hwt_images *images;
	struct pt_sections *sections;
	struct pt_image *image;
	uint64_t since, until; /* stamps for which it is right */
	struct pt_block_decoder *block_decoder;
	struct hwt_piece piece;
	int status; /* of libipt's last answer */
	bool synced, begun, ended;
	uint64_t synced_at; /* the PSB that decoding began at */
	uint64_t offset;    /* in the piece, of what was read */
	uint64_t time;	    /* that libipt has read of; 0: unknown */
	uint64_t read;	    /* stamp of that time; runs may still be of an earlier one */
	uint64_t asked;	    /* stamp of the last code that libipt has asked for */
	/* A run as it begins: where and when the unit is, and whose it is. */
	struct hwt_step now;
	uint64_t blocks, blocks_read; /* how many there were, and up to when a packet was read last */
	uint64_t last, wanted;	      /* instruction that was run, and 0 or one that was to be */
	bool holds;		      /* a run of which it is not known what follows it */
	struct hwt_step held;
	struct pt_event event;
	unsigned event_parts; /* steps that are still to be made of it */
	char text[160];
	struct pt_last known[PT_KNOWN];
};

/* What comes is of that time of the unit. False: out of memory. */
bool pt_decoder_set_time(struct pt_decoder *decoder, uint64_t time);
/* A step of which nothing is known but where and when it is. */
void pt_decoder_begin_step(const struct pt_decoder *decoder, struct hwt_step *step, enum hwt_kind kind);

/* Fetches an event: 1, 0: it is none that becomes a step, or KTREAD_E_MEMORY. */
int pt_decoder_take_event(struct pt_decoder *decoder);
/* Where the flow was when it came, if it says so. */
bool pt_decoder_event_follows(const struct pt_decoder *decoder, uint64_t *next);
/* The next step of it. */
void pt_decoder_event(struct pt_decoder *decoder, struct hwt_step *step);

void pt_packets(const struct hwt_stream *stream, const struct hwt_piece *piece,
		void (*line)(void *to, uint64_t offset, const char *name, const char *text), void *to);

#endif
