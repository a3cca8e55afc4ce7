/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What a control text asks of a guest, as requests for its mailbox: the grammar of ktrace_control(), with the
 * names found in the trace's own tables, and the words start, stop and clear.
 */
#ifndef ANALYZE_REQUESTS_H
#define ANALYZE_REQUESTS_H

#include "analyze/masks.h"
#include "ktrx/v2.h"

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
