/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Free memory is a list of runs of neighbouring pages, sorted by address, kept in the first bytes of each
 * run; no two runs touch. First fit.
 */
#include <stdint.h>

#include <ktrace/ktrace.h>

#include "arch.h"
#include "page.h"
#include "spinlock.h"
#include "string.h"

KTRACE_EVENT(counter, memory, "%llu pages free", (unsigned long long, free, pages));

struct run {
	struct run *next;
	size_t pages;
};

static struct spinlock lock = SPINLOCK("page");
static struct run *runs;
static size_t free_pages;

/* What programs leave behind shows here. */
KTRACE_SETTING_U64("vm.free_pages", free_pages, KTRX_SETTING_READ_ONLY);

#define TOLD_STEP 16 /* pages */

/* A counter track needs no step for each page. */
static void tell_free(void)
{
	static size_t told;
	size_t now = page_free_count(), then = __atomic_load_n(&told, __ATOMIC_RELAXED);

	if (now + TOLD_STEP > then && now < then + TOLD_STEP)
		return;
	__atomic_store_n(&told, now, __ATOMIC_RELAXED);
	KTRACE(counter, memory, now);
}

static char *run_end(struct run *run)
{
	return (char *)run + run->pages * PAGE_SIZE;
}

void page_init(void)
{
	struct memory_range ranges[MEMORY_RANGES_MAX];
	size_t count = arch_memory_map(ranges, MEMORY_RANGES_MAX);

	for (size_t i = 0; i < count; i++)
		page_free((void *)ranges[i].base, ranges[i].size / PAGE_SIZE);
}

/* Cuts count pages off the end of a run, so that the list changes only when the run is used up. */
static void *take(size_t count)
{
	for (struct run **at = &runs; *at; at = &(*at)->next) {
		struct run *run = *at;

		if (run->pages < count)
			continue;
		run->pages -= count;
		free_pages -= count;
		if (run->pages > 0)
			return run_end(run);
		*at = run->next;
		return run;
	}
	return NULL;
}

void *page_alloc(size_t count)
{
	bool irq_on = spin_lock(&lock);
	void *pages = take(count);

	spin_unlock(&lock, irq_on);
	tell_free();
	return pages ? memset(pages, 0, count * PAGE_SIZE) : NULL;
}

void page_free(void *pages, size_t count)
{
	struct run *run = pages, *before = NULL;
	bool irq_on = spin_lock(&lock);
	struct run *after = runs;

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
	free_pages += count;
	spin_unlock(&lock, irq_on);
	tell_free();
}

size_t page_free_count(void)
{
	return __atomic_load_n(&free_pages, __ATOMIC_RELAXED);
}
