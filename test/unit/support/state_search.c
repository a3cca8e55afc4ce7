/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/state_search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Stores a state. Returns false if it was visited before. */
static bool remember(struct state_search *search, const uint8_t *state)
{
	uint64_t hash = 14695981039346656037u;

	for (size_t n = 0; n < search->size; n++)
		hash = (hash ^ state[n]) * 1099511628211u;
	for (uint32_t at = (uint32_t)(hash >> 32);; at++) {
		at &= STATE_SEARCH_MOST - 1;
		if (!search->is_taken[at]) {
			search->is_taken[at] = 1;
			memcpy(search->visited + at * search->size, state, search->size);
			search->states++;
			assert_true(search->states < STATE_SEARCH_MOST / 4 * 3);
			return true;
		}
		if (memcmp(search->visited + at * search->size, state, search->size) == 0)
			return false;
	}
}

static void visit(struct state_search *search, const uint8_t *state)
{
	_Alignas(8) uint8_t next[STATE_SEARCH_BYTES];
	bool may_write = false;

	if ((search->wanted && *search->wanted) || !remember(search, state))
		return;
	for (unsigned writer = 0; writer < 2; writer++)
		for (unsigned choice = 0; choice < search->write_choices; choice++) {
			memcpy(next, state, search->size);
			if (!search->write(next, writer, choice))
				continue;
			may_write = true;
			visit(search, next);
		}
	if (!may_write)
		search->rest(state);
	for (unsigned choice = 0; choice < search->read_choices; choice++) {
		memcpy(next, state, search->size);
		if (search->read(next, choice))
			visit(search, next);
	}
}

int state_search_open(struct state_search *search)
{
	if (search->size > STATE_SEARCH_BYTES)
		return -1;
	search->visited = malloc(STATE_SEARCH_MOST * search->size);
	search->is_taken = malloc(STATE_SEARCH_MOST);
	return search->visited && search->is_taken ? 0 : -1;
}

void state_search_close(struct state_search *search)
{
	free(search->visited);
	free(search->is_taken);
}

void state_search_run(struct state_search *search, const void *start)
{
	search->states = 0;
	memset(search->is_taken, 0, STATE_SEARCH_MOST);
	visit(search, start);
}
