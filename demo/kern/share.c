/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* One counter for each page of RAM: the number of owners of the page, minus one. */
#include "arch.h"
#include "page.h"
#include "panic.h"
#include "share.h"

static uintptr_t lowest;
static uint32_t *others;

void share_init(void)
{
	struct memory_range range[MEMORY_RANGES_MAX];
	size_t ranges = arch_memory_map(range, MEMORY_RANGES_MAX), bytes;
	uintptr_t highest = 0;

	lowest = UINTPTR_MAX;
	for (size_t i = 0; i < ranges; i++) {
		if (range[i].base < lowest)
			lowest = range[i].base;
		if (range[i].base + range[i].size > highest)
			highest = range[i].base + range[i].size;
	}
	bytes = (highest - lowest) / PAGE_SIZE * sizeof(*others);
	others = page_alloc((bytes + PAGE_SIZE - 1) / PAGE_SIZE);
	if (!others)
		panic("out of memory for the counters of page owners");
}

static uint32_t *others_of(uintptr_t page)
{
	return &others[(page - lowest) / PAGE_SIZE];
}

void share_get(uintptr_t page)
{
	__atomic_fetch_add(others_of(page), 1, __ATOMIC_RELAXED);
}

void share_put(uintptr_t page)
{
	uint32_t *count = others_of(page);

	if (__atomic_fetch_sub(count, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	*count = 0; /* the counter was 0 and has wrapped around: the caller was the only owner */
	page_free((void *)page, 1);
}

bool share_is_shared(uintptr_t page)
{
	return __atomic_load_n(others_of(page), __ATOMIC_ACQUIRE) > 0;
}
