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
	present = arch_is_mapped(page_address); /* another CPU was faster */
	if (!present)
		mapped = arch_map(page_address, (uintptr_t)page);
	spin_unlock(&lock, irq_on);
	if (!mapped)
		page_free(page, 1);
	return mapped || present;
}

static void flush(void *address)
{
	arch_tlb_flush((uintptr_t)address);
}

static void drop_page(uintptr_t address)
{
	bool irq_on = spin_lock(&lock);
	uintptr_t page = arch_unmap(address);

	spin_unlock(&lock, irq_on);
	if (!page)
		return;

	/* Only when no CPU can reach the page any more may it be used again. */
	flush((void *)address);
	ipi_call_others(flush, (void *)address);
	page_free((void *)page, 1);
}

void window_drop(size_t first, size_t count)
{
	for (size_t page = first; page < first + count; page++)
		drop_page(window_address(page));
}
