/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Translates the text of ktrace_control() into requests for the guest's mailbox. Finds names in the trace's
 * own tables. Also accepts the words start, stop and clear.
 */
#ifndef ANALYZE_REQUESTS_H
#define ANALYZE_REQUESTS_H

#include <stddef.h>

#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/*
 * Groups of events, and the bit of each event in the mask of its group: the bit that it was declared with, or
 * the next free one, in order of file, line and id (spec/ktrx.md section 10).
 */

struct masks {
	const struct ktread_type **type; /* all events, grouped, each group sorted by file, line and id */
	uint32_t *bit;			 /* bit of each event in the mask of its group */
	uint32_t types;
};

/* Returns 0 or KTREAD_E_MEMORY. */
int masks_open(struct masks *masks, const struct ktread *trace);
void masks_close(struct masks *masks);

/* Returns the index of the first event after the group that contains event `n`. */
uint32_t masks_end(const struct masks *masks, uint32_t n);
/* Returns the index of the first event of a group. If there is no such group, returns masks->types. */
uint32_t masks_group(const struct masks *masks, const char *group, size_t length);

/*
 * Write a mask as "0x…". masks_put_enable() sets the bits of the events that are requested to be on in the
 * group that begins with event `first`; masks_put_bits() sets the bits of all events of this group that have
 * the same name as event `n`. These two functions write at most MASKS_TEXT bytes, and return the end of the
 * text.
 */
#define MASKS_TEXT (KTRX_EVENT_MAX / 4 + 4)
char *masks_put_enable(const struct masks *masks, uint32_t first, char *at);
char *masks_put_bits(const struct masks *masks, uint32_t first, uint32_t n, char *at);
/* Returns true if no event from `first` up to `n` - 1 has the same name as event `n`. */
int masks_leads_name(const struct masks *masks, uint32_t first, uint32_t n);

/* ---- Translating text into requests ---- */

#define REQUESTS_MAX 65536u

enum requests_error {
	REQUESTS_E_TEXT = -1,	/* the text is not valid, or contains an unknown name */
	REQUESTS_E_MEMORY = -2, /* out of memory, or more than REQUESTS_MAX requests */
};

struct requests {
	const struct ktread *trace;
	struct masks masks;
	struct ktrx_request *request; /* requests without sequence and check; the sender fills these in */
	uint32_t count;
	uint32_t room;
	char message[384]; /* text of the last error, one sentence */
};

int requests_open(struct requests *requests, const struct ktread *trace);
void requests_close(struct requests *requests);
/*
 * Adds requests for the items of a text, from left to right up to the first error. Returns 0 or enum
 * requests_error.
 */
int requests_add(struct requests *requests, const char *text);

#endif
