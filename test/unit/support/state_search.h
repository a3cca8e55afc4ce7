/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Visits all states that a model of two writers and a reader can reach. */
#ifndef STATE_SEARCH_H
#define STATE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATE_SEARCH_BYTES 256u /* maximum size of a state */
/*
 * number of entries of the table of states; if a search fills more than three quarters of them, the test
 * fails
 */
#define STATE_SEARCH_MOST (1u << 21)

struct state_search {
	size_t size; /* size of a state in bytes; padding bytes in a state must always be zero */
	unsigned write_choices, read_choices;
	/* Does step `choice` in `state`, which is a copy. Returns false if this step is not possible. */
	bool (*write)(void *state, unsigned writer, unsigned choice);
	bool (*read)(void *state, unsigned choice);
	/* Called with each state in which all writers have finished. */
	void (*rest)(const void *state);
	/* If not NULL, the search ends when this counter is not 0 any more. */
	const uint64_t *wanted;
	uint64_t states; /* number of states that were visited */
	uint8_t *visited, *is_taken;
};

/* Allocates the tables of a search. Returns 0, or -1 if there is no memory. */
int state_search_open(struct state_search *search);
void state_search_close(struct state_search *search);
/* Visits all states that can be reached from `start`. */
void state_search_run(struct state_search *search, const void *start);

#endif
