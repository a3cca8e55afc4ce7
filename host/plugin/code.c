/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Records the executed code of each address space. code.h describes when code is recorded. */
#include "code.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "trace.h"

#define BUCKETS	   16384u
#define PAGE_SHIFT 12
#define ALL	   UINT64_MAX

/*
 * A page of code: a list of the blocks that begin in this page and have been seen in at least one address
 * space.
 */
struct page {
	uint64_t number;
	/* set of spaces in which new bytes have replaced bytes that were recorded in this page */
	uint64_t replaced;
	struct block *first;
	struct page *chain;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct page *bucket[BUCKETS];
static uint64_t replaced; /* set of spaces for which it is no longer known which bytes were recorded */
static uint64_t user_from, user_until;

/* ---- Address spaces ---------------------------------------------------------------------------- */

/*
 * Numbers of address spaces in which virtual CPUs run. Numbers are below 64, so that a set of spaces is one
 * 64-bit word. Number 0 means that the space is unknown. Callers of these functions hold the lock.
 */

#define NUMBERS 64u

static struct {
	uint64_t space;
	unsigned users; /* number of virtual CPUs that run in the space */
	uint8_t recent; /* the space was entered after the last call of make_room() that freed numbers */
} spaces[NUMBERS];

static uint8_t *number_of; /* number of the space in which each virtual CPU runs */

/* Prepares virtual CPUs 0 to count - 1, in space 0. Returns nonzero if out of memory. */
static int spaces_open(unsigned count)
{
	number_of = calloc(count, sizeof(*number_of));
	spaces[0].users = count;
	return number_of != NULL ? 0 : -1;
}

/* Returns the number of a space or, if `space` is 0, a free number. Returns 0 if there is no such number. */
static unsigned find(uint64_t space)
{
	for (unsigned i = 1; i < NUMBERS; i++) {
		if (spaces[i].space == space)
			return i;
	}
	return 0;
}

/*
 * Frees the numbers of spaces in which no virtual CPU runs. If `recent_too` is 0, does not free the numbers
 * of spaces that virtual CPUs entered recently. Returns the set of the numbers that were freed.
 */
static uint64_t make_room(int recent_too)
{
	uint64_t dropped = 0;

	for (unsigned i = 1; i < NUMBERS; i++) {
		if (spaces[i].users == 0 && (recent_too || !spaces[i].recent)) {
			spaces[i].space = 0;
			dropped |= UINT64_C(1) << i;
		}
		spaces[i].recent = 0;
	}
	return dropped;
}

/*
 * Records that the virtual CPU enters a space. If the space has no number, and no number is free, frees
 * numbers of spaces in which no virtual CPU runs. If possible, frees only those of spaces that no virtual CPU
 * has entered recently. If all numbers are in use, the virtual CPU is in space 0. Returns the set of the
 * numbers that were freed and may now be the number of another space.
 */
static uint64_t spaces_enter(unsigned cpu, uint64_t space)
{
	unsigned number = space != 0 ? find(space) : 0;
	uint64_t dropped = 0;

	spaces[number_of[cpu]].users--;
	if (space != 0 && number == 0 && (number = find(0)) == 0) {
		dropped = make_room(0);
		if (dropped == 0)
			dropped = make_room(1);
		number = find(0);
	}
	if (number != 0) {
		spaces[number].space = space;
		spaces[number].recent = 1;
	}
	spaces[number].users++;
	number_of[cpu] = (uint8_t)number;
	return dropped;
}

/* The first function returns the number of the virtual CPU's space, the second returns the space itself. */
static unsigned spaces_number(unsigned cpu)
{
	return number_of[cpu];
}

static uint64_t spaces_space(unsigned cpu)
{
	return spaces[number_of[cpu]].space;
}

int code_open(unsigned count)
{
	return spaces_open(count);
}

/* ---- Pages ------------------------------------------------------------------------------------- */

static struct page **place_of(uint64_t number)
{
	struct page **place = &bucket[(number * UINT64_C(0x9e3779b97f4a7c15) >> 40) % BUCKETS];

	while (*place != NULL && (*place)->number != number)
		place = &(*place)->chain;
	return place;
}

/*
 * Returns the page that contains an address. Makes the page if necessary. Returns NULL if out of memory;
 * blocks of this page are then recorded each time that they run.
 */
static struct page *page_of(uint64_t address)
{
	struct page **place = place_of(address >> PAGE_SHIFT);

	if (*place == NULL && (*place = calloc(1, sizeof(**place))) != NULL)
		(*place)->number = address >> PAGE_SHIFT;
	return *place;
}

/* Returns true if two blocks have different bytes at a common address. */
static int contradict(const struct block *one, const struct block *other)
{
	uint64_t from = one->start > other->start ? one->start : other->start;
	uint64_t until = one->next < other->next ? one->next : other->next;

	return from < until && memcmp(one->bytes + (from - one->start), other->bytes + (from - other->start),
				      until - from) != 0;
}

/*
 * Marks blocks of a page that contradict the block `by` as not seen in the spaces `in`. Two blocks contradict
 * each other if they have different bytes at a common address.
 */
static void replace_blocks(struct page *page, const struct block *by, uint64_t in)
{
	struct block **place = &page->first;

	while (*place != NULL) {
		struct block *block = *place;

		if ((block->seen & in) != 0 && contradict(block, by)) {
			atomic_fetch_and(&block->seen, ~in);
			page->replaced |= in;
		}
		if (block->seen == 0) {
			block->listed = 0;
			*place = block->page_chain;
		} else {
			place = &block->page_chain;
		}
	}
}

/*
 * Records that `block` replaces other blocks at its addresses, in the spaces `in`. Returns nonzero if other
 * bytes may have been recorded at these addresses before.
 */
static int take_place(struct page *page, struct block *block, uint64_t in)
{
	uint64_t first = block->start >> PAGE_SHIFT, last = (block->next - 1) >> PAGE_SHIFT;
	uint64_t before = replaced;

	/*
	 * Check the previous and the next page, too, because the last instruction of a block may extend into
	 * the next page.
	 */
	for (uint64_t i = 0; i <= last - first + 1; i++) {
		struct page *nearby = *place_of(first - 1 + i);

		if (nearby == NULL)
			continue;
		replace_blocks(nearby, block, in);
		before |= nearby->replaced;
	}
	if (!block->listed) {
		block->page_chain = page->first;
		page->first = block;
		block->listed = 1;
	}
	return (before & in) != 0;
}

/* ---- Spaces ------------------------------------------------------------------------------------ */

static void mark_unseen(uint64_t dropped)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		for (struct page *page = bucket[i]; page != NULL; page = page->chain) {
			for (struct block *block = page->first; block != NULL; block = block->page_chain)
				atomic_fetch_and(&block->seen, ~dropped);
		}
	}
	replaced |= dropped;
}

uint64_t code_enter(unsigned cpu, uint64_t space, uint64_t user_start, uint64_t user_end)
{
	uint64_t dropped, bit;

	pthread_mutex_lock(&lock);
	user_from = user_start;
	user_until = user_end;
	dropped = spaces_enter(cpu, user_end != 0 ? space : 0);
	if (dropped != 0)
		mark_unseen(dropped);
	bit = UINT64_C(1) << spaces_number(cpu);
	pthread_mutex_unlock(&lock);
	return bit;
}

/* ---- Blocks ------------------------------------------------------------------------------------ */

static void record(struct block *block, uint64_t space, uint64_t in)
{
	struct page *page = page_of(block->start);
	int again = page == NULL || take_place(page, block, in);

	rings_code(block, space);
	/* the times must be written again before a virtual CPU reports that it has run the block */
	if (again)
		flow_renew_all_times();
	if (page != NULL)
		atomic_fetch_or(&block->seen, in);
}

void code_see(unsigned cpu, struct block *block)
{
	int user, kernel;
	uint64_t in;

	if (!rings_are_open()) {
		block->seen = ALL;
		return;
	}
	pthread_mutex_lock(&lock);
	user = block->start >= user_from && block->start < user_until;
	kernel = user_until != 0 && !user;
	in = user ? UINT64_C(1) << spaces_number(cpu) : 1;
	if ((block->seen & in) == 0)
		record(block, user ? spaces_space(cpu) : 0, kernel ? ALL : in);
	else if (kernel)
		atomic_fetch_or(&block->seen, ALL);
	pthread_mutex_unlock(&lock);
}

void code_forget(void)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < BUCKETS; i++) {
		while (bucket[i] != NULL) {
			struct page *page = bucket[i];

			bucket[i] = page->chain;
			replaced = ALL;
			free(page);
		}
	}
	pthread_mutex_unlock(&lock);
}
