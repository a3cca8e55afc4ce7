/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "code.h"

#include <stdlib.h>

#define NUMBERS 64u

static struct {
	uint64_t space;
	unsigned users; /* virtual CPUs that are in it */
	uint8_t recent; /* one has come since the last time that there were no more numbers */
} spaces[NUMBERS];

static uint8_t *number_of; /* of each virtual CPU */

int spaces_open(unsigned count)
{
	number_of = calloc(count, sizeof(*number_of));
	spaces[0].users = count;
	return number_of != NULL ? 0 : -1;
}

/* Number of a space, or of a free place if it is 0; 0: there is none. */
static unsigned find(uint64_t space)
{
	for (unsigned i = 1; i < NUMBERS; i++) {
		if (spaces[i].space == space)
			return i;
	}
	return 0;
}

/* Frees the places of those that no virtual CPU is in. A bit each. */
static uint64_t make_room(int recent_too)
{
	uint64_t gone = 0;

	for (unsigned i = 1; i < NUMBERS; i++) {
		if (spaces[i].users == 0 && (recent_too || !spaces[i].recent)) {
			spaces[i].space = 0;
			gone |= UINT64_C(1) << i;
		}
		spaces[i].recent = 0;
	}
	return gone;
}

uint64_t spaces_enter(unsigned cpu, uint64_t space)
{
	unsigned number = space != 0 ? find(space) : 0;
	uint64_t gone = 0;

	spaces[number_of[cpu]].users--;
	if (space != 0 && number == 0 && (number = find(0)) == 0) {
		gone = make_room(0);
		if (gone == 0)
			gone = make_room(1);
		number = find(0);
	}
	if (number != 0) {
		spaces[number].space = space;
		spaces[number].recent = 1;
	}
	spaces[number].users++;
	number_of[cpu] = (uint8_t)number;
	return gone;
}

unsigned spaces_number(unsigned cpu)
{
	return number_of[cpu];
}

uint64_t spaces_space(unsigned cpu)
{
	return spaces[number_of[cpu]].space;
}
