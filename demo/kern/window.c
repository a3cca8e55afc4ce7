/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "ipi.h"
#include "page.h"
#include "spinlock.h"
#include "window.h"

static struct spinlock lock = SPINLOCK("window");

bool window_fill(uintptr_t address)
{
	uintptr_t page_address = address & -(uintptr_t)PAGE_SIZE;
	bool irq_on, present, mapped = false;
	void *page;

	if (address - ARCH_WINDOW_BASE >= ARCH_WINDOW_SIZE)
		return false;
	page = page_alloc(1);
	if (!page)
		return false;

	irq_on = spin_lock(&lock);
	present = arch_is_mapped(page_address); /* true if another CPU has mapped the page in between */
	if (!present)
		mapped = arch_map(page_address, (uintptr_t)page);
	spin_unlock(&lock, irq_on);
	if (!mapped)
		page_free(page, 1);
	return mapped || present;
}

struct drop {
	size_t first, count;
	struct dropped_page {
		struct dropped_page *next;
	} * pages;
};

static void unmap(struct drop *drop)
{
	bool irq_on = spin_lock(&lock);

	for (size_t i = 0; i < drop->count; i++) {
		struct dropped_page *page = (void *)arch_unmap(window_address(drop->first + i));

		if (!page)
			continue;
		page->next = drop->pages;
		drop->pages = page;
	}
	spin_unlock(&lock, irq_on);
}

static void flush(void *argument)
{
	const struct drop *drop = argument;

	for (size_t i = 0; i < drop->count; i++)
		arch_tlb_flush(window_address(drop->first + i));
}

void window_drop(size_t first, size_t count)
{
	struct drop drop = { .first = first, .count = count };

	unmap(&drop);
	ipi_call_all(flush, &drop);

	/* Frees the pages. Before this, all CPUs must have flushed them from their TLBs. */
	while (drop.pages) {
		struct dropped_page *page = drop.pages;

		drop.pages = page->next;
		page_free(page, 1);
	}
}
