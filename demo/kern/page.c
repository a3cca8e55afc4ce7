/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Free memory is a list of runs of adjacent pages, sorted by address and stored in the first bytes of each
 * run. Adjacent runs are merged. Allocation is first fit.
 *
 * Most allocations are single pages. So each CPU has a stock of single pages, from which it allocates and
 * to which it frees pages. An empty stock is filled from the list until it is half full. Half of a full
 * stock is moved to the list. Any CPU may put a page into any stock or take one out, in one atomic step.
 * Therefore stocks need no lock, and a thread may move to another CPU during the access. If the list has too
 * few pages for an allocation, the pages of all stocks are moved to the list.
 */
#include <stdint.h>

#include <ktrace/ktrace.h>

#include "arch.h"
#include "cpu.h"
#include "page.h"
#include "spinlock.h"
#include "string.h"

KTRACE_EVENT(counter, memory, "%llu pages free", (unsigned long long, free, pages));
/*
 * This event is off by default, because a program that ends frees thousands of pages. To record when a
 * page is freed, set mm.free=on+rare.
 */
KTRACE_EVENT_WITH(KTRX_STATE_OFF, 0, KTRX_V1_NONE, mm, free, "%p, %u pages", (const void *, first),
		  (uint32_t, pages));

struct run {
	struct run *next;
	size_t pages;
};

#define STOCK_PAGES 16u

struct stock {
	void *page[STOCK_PAGES]; /* each entry is a free page or NULL */
};

static struct spinlock lock = SPINLOCK("page");
static struct run *runs;
static struct stock stocks[CPU_MAX];
static size_t free_pages; /* number of free pages, both in the list and in stocks */
static uintptr_t middle;  /* address of the middle of the largest range of RAM */

/* The number of free pages. Tests read it to find out whether programs leak pages. */
KTRACE_SETTING_U64("vm.free_pages", free_pages, KTRX_SETTING_READ_ONLY);

#define RECORD_STEP 16 /* minimum change of the number of free pages that is recorded */

/*
 * Records the number of free pages, unless it differs from the last recorded number by less than RECORD_STEP:
 * a record for each allocated page would fill the trace.
 */
static void record_free_pages(void)
{
	static size_t recorded;
	size_t now = page_free_count(), then = __atomic_load_n(&recorded, __ATOMIC_RELAXED);

	if (now + RECORD_STEP > then && now < then + RECORD_STEP)
		return;
	__atomic_store_n(&recorded, now, __ATOMIC_RELAXED);
	KTRACE(counter, memory, now);
}

static char *run_end(struct run *run)
{
	return (char *)run + run->pages * PAGE_SIZE;
}

void page_init(void)
{
	struct memory_range ranges[MEMORY_RANGES_MAX];
	size_t count = arch_memory_map(ranges, MEMORY_RANGES_MAX), largest = 0;

	for (size_t i = 0; i < count; i++) {
		page_free((void *)ranges[i].base, ranges[i].size / PAGE_SIZE);
		if (ranges[i].size > largest) {
			largest = ranges[i].size;
			middle = (ranges[i].base + largest / 2) & ~(uintptr_t)(PAGE_SIZE - 1);
		}
	}
}

/* ---- The list of runs; requires: lock held ------------------------------------------------------ */

/*
 * Allocates adjacent pages from the end of a run of pages. So the links of the list change only when a run
 * becomes empty.
 */
static void *list_take(size_t count)
{
	for (struct run **at = &runs; *at; at = &(*at)->next) {
		struct run *run = *at;

		if (run->pages < count)
			continue;
		run->pages -= count;
		if (run->pages > 0)
			return run_end(run);
		*at = run->next;
		return run;
	}
	return NULL;
}

/*
 * Allocates exactly these pages, which must be inside one run of pages and not at its start or end; otherwise
 * returns NULL.
 */
static void *list_take_at(uintptr_t address, size_t count)
{
	for (struct run *run = runs; run; run = run->next) {
		uintptr_t end = (uintptr_t)run_end(run);
		struct run *rest = (struct run *)(address + count * PAGE_SIZE);

		if (address <= (uintptr_t)run || end <= (uintptr_t)rest)
			continue;
		rest->next = run->next;
		rest->pages = (end - (uintptr_t)rest) / PAGE_SIZE;
		run->next = rest;
		run->pages = (address - (uintptr_t)run) / PAGE_SIZE;
		return (void *)address;
	}
	return NULL;
}

static void list_put(void *pages, size_t count)
{
	struct run *run = pages, *before = NULL, *after = runs;

	while (after && after < run) {
		before = after;
		after = after->next;
	}
	run->next = after;
	run->pages = count;
	if (after && run_end(run) == (char *)after) {
		run->pages += after->pages;
		run->next = after->next;
	}
	if (!before) {
		runs = run;
	} else if (run_end(before) == (char *)run) {
		before->pages += run->pages;
		before->next = run->next;
	} else {
		before->next = run;
	}
}

/* ---- The stocks of the CPUs --------------------------------------------------------------------- */

/*
 * Returns the stock of this CPU. If the thread then moves to another CPU, it may nevertheless use this stock.
 */
static struct stock *own_stock(void)
{
	return &stocks[arch_this_cpu()->id];
}

/* Takes a page out of the stock, or returns NULL if the stock is empty. */
static void *stock_take(struct stock *stock)
{
	for (unsigned i = 0; i < STOCK_PAGES; i++) {
		void **place = &stock->page[i];
		void *page = __atomic_load_n(place, __ATOMIC_RELAXED);

		if (page)
			page = __atomic_exchange_n(place, NULL, __ATOMIC_ACQUIRE);
		if (page)
			return page;
	}
	return NULL;
}

/* Puts a page into the stock, or returns false if the stock is full. */
static bool stock_put(struct stock *stock, void *page)
{
	for (unsigned i = 0; i < STOCK_PAGES; i++) {
		void *empty = NULL;

		if (__atomic_load_n(&stock->page[i], __ATOMIC_RELAXED) == NULL &&
		    __atomic_compare_exchange_n(&stock->page[i], &empty, page, false, __ATOMIC_RELEASE,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

/* Moves at most `count` pages from a stock to the list. Requires: lock held. */
static void stock_return(struct stock *stock, unsigned count)
{
	void *page;

	while (count-- > 0 && (page = stock_take(stock)))
		list_put(page, 1);
}

/*
 * Moves pages from the list to a stock: half as many as a stock can contain, or fewer if the list has fewer.
 * Requires: lock held.
 */
static void stock_refill(struct stock *stock)
{
	for (unsigned i = 0; i < STOCK_PAGES / 2; i++) {
		void *page = list_take(1);

		if (!page)
			return;
		if (!stock_put(stock, page))
			list_put(page, 1);
	}
}

/* ---- Functions that use both list and stocks ----------------------------------------------------- */

static void *take_locked(size_t count)
{
	bool irq_on = spin_lock(&lock);
	void *pages = list_take(count);

	if (!pages) {
		for (unsigned i = 0; i < cpu_count; i++)
			stock_return(&stocks[i], STOCK_PAGES);
		pages = list_take(count);
	}
	if (count == 1)
		stock_refill(own_stock());
	spin_unlock(&lock, irq_on);
	return pages;
}

void *page_alloc(size_t count)
{
	void *pages = count == 1 ? stock_take(own_stock()) : NULL;

	if (!pages)
		pages = take_locked(count);
	if (!pages)
		return NULL;
	__atomic_sub_fetch(&free_pages, count, __ATOMIC_RELAXED);
	record_free_pages();
	return memset(pages, 0, count * PAGE_SIZE);
}

void *page_reserve(size_t count)
{
	bool irq_on = spin_lock(&lock);
	void *pages = list_take_at(middle, count);

	spin_unlock(&lock, irq_on);
	if (pages)
		__atomic_sub_fetch(&free_pages, count, __ATOMIC_RELAXED);
	return pages;
}

static void put_locked(void *pages, size_t count)
{
	bool irq_on = spin_lock(&lock);

	list_put(pages, count);
	if (count == 1)
		stock_return(own_stock(), STOCK_PAGES / 2);
	spin_unlock(&lock, irq_on);
}

/*
 * Increases `free_pages` before another CPU can allocate the pages: otherwise the number could drop below 0.
 */
void page_free(void *pages, size_t count)
{
	__atomic_add_fetch(&free_pages, count, __ATOMIC_RELAXED);
	if (count != 1 || !stock_put(own_stock(), pages))
		put_locked(pages, count);
	KTRACE(mm, free, pages, (uint32_t)count);
	record_free_pages();
}

size_t page_free_count(void)
{
	return __atomic_load_n(&free_pages, __ATOMIC_RELAXED);
}
