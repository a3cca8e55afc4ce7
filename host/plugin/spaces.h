/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Address spaces that virtual CPUs run in, told apart by a number below 64, so that a set of them is a word. Number 0 is the
 * space 0: not told. Not locked: the caller has seen to it.
 */
#ifndef PLUGIN_SPACES_H
#define PLUGIN_SPACES_H

#include <stdint.h>

/* Virtual CPUs 0 to count - 1, in space 0. Nonzero: no memory. */
int spaces_open(unsigned count);

/*
 * The virtual CPU runs in this space from now on. A bit for each number that means another space than before, or none: where there
 * were no more, those went that no virtual CPU had been in for long. Where all are in use, the virtual CPU is in space 0.
 */
uint64_t spaces_enter(unsigned cpu, uint64_t space);

/* Where it is. */
unsigned spaces_number(unsigned cpu);
uint64_t spaces_space(unsigned cpu);

#endif
