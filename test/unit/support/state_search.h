/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Visits all states that a model of two writers and a reader can reach. */
#ifndef STATE_SEARCH_H
#define STATE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATE_SEARCH_BYTES 256u /* maximum size of a state */
/* number of places for states; a test fails if a search fills more than three quarters of them */
#define STATE_SEARCH_MOST (1u << 21)

struct state_search {
	size_t size; /* size of a state in bytes; bytes without a value must always be zero */
	unsigned write_choices, read_choices;
	/* Does one possible step in a copy of a state. Returns false if `choice` is not a possible step. */
	bool (*write)(void *state, unsigned writer, unsigned choice);
	bool (*read)(void *state, unsigned choice);
	/* Judges a state in which all writers have finished. */
	void (*rest)(const void *state);
	/* The search ends when this counter becomes nonzero. If NULL, all states are visited. */
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
