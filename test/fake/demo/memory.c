/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <string.h>

#include "arch.h"
#include "memory.h"
#include "page.h"
#include "panic.h"
#include "user.h"

struct fake_memory fake_memory;

static uint8_t ram[FAKE_PAGES][PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));
static unsigned char in_use[FAKE_PAGES];

void fake_memory_reset(void)
{
	fake_memory = (struct fake_memory){ .allocations_left = ~0u };
	memset(in_use, 0, sizeof(in_use));
}

void panic(const char *text, ...)
{
	(void)text;
	__builtin_trap();
}

/* ---- Allocation of single pages ---------------------------------------------------------------- */

size_t arch_memory_map(struct memory_range *ranges, size_t max)
{
	(void)max;
	ranges[0] = (struct memory_range){ (uintptr_t)ram, sizeof(ram) };
	return 1;
}

void *page_alloc(size_t count)
{
	if (count != 1)
		__builtin_trap();
	if (fake_memory.allocations_left == 0)
		return NULL;
	for (unsigned i = 0; i < FAKE_PAGES; i++) {
		if (in_use[i])
			continue;
		in_use[i] = 1;
		fake_memory.pages_used++;
		fake_memory.allocations_left--;
		return memset(ram[i], 0, PAGE_SIZE);
	}
	return NULL;
}

void page_free(void *pages, size_t count)
{
	size_t i = (size_t)((uint8_t(*)[PAGE_SIZE])pages - ram);

	if (count != 1 || i >= FAKE_PAGES || !in_use[i])
		__builtin_trap();
	memset(pages, 0xdd, PAGE_SIZE);
	in_use[i] = 0;
	fake_memory.pages_used--;
}

/* ---- Address spaces: each is a page of mappings; in a free entry, `page` is 0 -------------------- */

struct mapping {
	uintptr_t address, page;
	unsigned access;
};

#define MAPPINGS (PAGE_SIZE / sizeof(struct mapping))

static struct mapping *find(const struct arch_space *space, uintptr_t address)
{
	struct mapping *mapping = (struct mapping *)space->root;

	for (size_t i = 0; i < MAPPINGS; i++)
		if (mapping[i].page && mapping[i].address == address)
			return &mapping[i];
	return NULL;
}

bool arch_space_init(struct arch_space *space)
{
	space->root = (uintptr_t)page_alloc(1);
	return space->root != 0;
}

void arch_space_free(struct arch_space *space)
{
	page_free((void *)space->root, 1);
}

/* As with real page tables, replacing an existing mapping needs no memory. */
bool arch_space_map(struct arch_space *space, uintptr_t address, uintptr_t page, unsigned access)
{
	struct mapping *mapping = find(space, address);

	for (size_t i = 0; !mapping && i < MAPPINGS && fake_memory.allocations_left > 0; i++)
		if (!((struct mapping *)space->root)[i].page)
			mapping = &((struct mapping *)space->root)[i];
	if (mapping)
		*mapping = (struct mapping){ address, page, access };
	return mapping;
}

uintptr_t arch_space_lookup(const struct arch_space *space, uintptr_t address, unsigned *access)
{
	const struct mapping *mapping = find(space, address);

	*access = mapping ? mapping->access : 0;
	return mapping ? mapping->page : 0;
}

uintptr_t arch_space_unmap(struct arch_space *space, uintptr_t address)
{
	struct mapping *mapping = find(space, address);
	uintptr_t page = mapping ? mapping->page : 0;

	if (mapping)
		mapping->page = 0;
	return page;
}

void arch_code_written(uintptr_t page)
{
	(void)page;
}

const uint16_t user_elf_machine = 62;

/* ---- Functions of the file --------------------------------------------------------------------- */

struct inode *inode_get(struct inode *inode)
{
	inode->references++;
	return inode;
}

void inode_put(struct inode *inode)
{
	inode->references--;
}

size_t inode_read(struct inode *inode, void *to, uint64_t offset, size_t size)
{
	if (offset >= inode->size)
		return 0;
	if (size > inode->size - offset)
		size = inode->size - offset;
	memcpy(to, (const char *)fake_memory.contents + offset, size);
	return size;
}
