/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What a control text asks of a guest, as requests for its mailbox: the grammar of ktrace_control(), with the
 * names found in the trace's own tables, and the words start, stop and clear.
 */
#ifndef ANALYZE_REQUESTS_H
#define ANALYZE_REQUESTS_H

#include <stddef.h>

#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/*
 * Groups of events, and which bit of its group's mask each event has: the one it was declared with, or the
 * next that is free, by file, line and id (spec/ktrx.md section 10).
 */

struct masks {
	const struct ktread_type **type; /* all events, those of a group together, by file, line and id */
	uint32_t *bit;			 /* of each in the mask of its group */
	uint32_t types;
};

/* 0, or KTREAD_E_MEMORY. */
int masks_open(struct masks *masks, const struct ktread *trace);
void masks_close(struct masks *masks);

/* The first event behind those of the n-th one's group. */
uint32_t masks_end(const struct masks *masks, uint32_t n);
/* Does the mask of the group that begins with the n-th event have such a bit? */
int masks_have(const struct masks *masks, uint32_t n, uint32_t bit);
/* The first event of a group by its name; masks->types if there is none. */
uint32_t masks_group(const struct masks *masks, const char *group, size_t length);

/* "0x…": the events of the group that are wanted, or one bit alone. At most MASKS_TEXT bytes. */
#define MASKS_TEXT (KTRX_EVENT_MAX / 4 + 4)
char *masks_put_enable(const struct masks *masks, uint32_t first, char *at);
char *masks_put_bit(uint32_t bit, char *at);

/* ---- Requests ---- */

#define REQUESTS_MAX 65536u

enum requests_error {
	REQUESTS_E_TEXT = -1,	/* not understood, or a name that nothing has */
	REQUESTS_E_MEMORY = -2, /* or more than REQUESTS_MAX */
};

struct requests {
	const struct ktread *trace;
	struct masks masks;
	struct ktrx_request *request; /* sequence and check are left to whoever sends them */
	uint32_t count;
	uint32_t room;
	char message[384]; /* of the last error, one sentence */
};

int requests_open(struct requests *requests, const struct ktread *trace);
void requests_close(struct requests *requests);
/* Adds what the items of a text ask for, from left to right up to the first error. */
int requests_add(struct requests *requests, const char *text);

#endif
