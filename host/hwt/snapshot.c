/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads code from the memory image of a machine. Page tables in the image give the addresses. */
#include "images.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/open.h"
#include "ktread/memory.h"

/*
 * number of recently used address spaces that are tried if an address is not mapped in the wanted address
 * space
 */
#define SPACES 8u
/* maximum distance in bytes between ktrace's root and another address in the kernel's image */
#define REACH (UINT64_C(64) << 20)

struct hwt_snapshot {
	struct ktread_memory *memory;
	uint16_t machine;
	uint64_t space[SPACES];
	unsigned spaces;
	/*
	 * Virtual and physical address of ktrace's root. The kernel's image is contiguous, so these two
	 * addresses suffice to translate any address in it. 0: unknown.
	 */
	uint64_t virtual, physical;
};

static _Thread_local char message[512];

const char *hwt_snapshot_message(void)
{
	return message;
}

static int find_kernel(struct hwt_snapshot *snapshot)
{
	struct ktread_image *image;

	if (ktread_image_find(&image, snapshot->memory) != 0)
		return ktread_memory_assume(snapshot->memory);
	snapshot->virtual = ktread_image_virtual(image);
	snapshot->physical = ktread_image_physical(image);
	if (!snapshot->machine)
		snapshot->machine = ktread_image_machine(image);
	ktread_image_close(image);
	return 0;
}

static const char *name_of(uint16_t machine)
{
	return machine == HWT_WALK_X86_64 ? "x86_64" : machine == HWT_WALK_AARCH64 ? "aarch64" : NULL;
}

/* Returns true if the file is a core: a RAM file may begin with the header of another ELF file. */
static bool is_core(const char *path)
{
	int fd = base_open_regular(path, O_RDONLY);
	Elf32_Ehdr head = { 0 }; /* its type is at the same place in a 64-bit file */
	const bool core = fd >= 0 && read(fd, &head, sizeof(head)) == (ssize_t)sizeof(head) &&
			  memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_type == ET_CORE;

	if (fd >= 0)
		close(fd);
	return core;
}

static bool is_pages(const struct ktread_memory *memory)
{
	struct ktread_range range[KTREAD_RANGES_MOST];
	const uint32_t ranges = ktread_memory_ranges(memory, range, KTREAD_RANGES_MOST);

	for (uint32_t i = 0; i < ranges; i++)
		if (range[i].physical % HWT_WALK_PAGE || range[i].length % HWT_WALK_PAGE || !range[i].length)
			return false;
	return ranges > 0;
}

int hwt_snapshot_open(struct hwt_snapshot **opened, const char *path, uint16_t machine)
{
	struct hwt_snapshot *snapshot = calloc(1, sizeof(*snapshot));
	int status;

	*opened = NULL;
	if (!snapshot) {
		snprintf(message, sizeof(message), "%s: out of memory", path);
		return KTREAD_E_MEMORY;
	}
	snapshot->machine = machine;
	status = is_core(path) ? ktread_memory_open_core(&snapshot->memory, path)
			       : ktread_memory_open_ram(&snapshot->memory, path, name_of(machine));
	if (status == 0)
		status = find_kernel(snapshot);
	if (status < 0)
		snprintf(message, sizeof(message), "%s", ktread_image_message());
	if (status == 0 && !is_pages(snapshot->memory)) {
		snprintf(message, sizeof(message),
			 "%s: not the memory of a machine: it does not consist of whole pages", path);
		status = KTREAD_E_FORMAT;
	}
	if (status < 0) {
		hwt_snapshot_close(snapshot);
		return status;
	}
	*opened = snapshot;
	return 0;
}

void hwt_snapshot_close(struct hwt_snapshot *snapshot)
{
	if (!snapshot)
		return;
	ktread_memory_close(snapshot->memory);
	free(snapshot);
}

/* Moves `space` to the front of the address spaces that are tried. */
static void keep(struct hwt_snapshot *snapshot, uint64_t space)
{
	unsigned at;

	for (at = 0; at < snapshot->spaces && snapshot->space[at] != space; at++)
		;
	if (at == snapshot->spaces && snapshot->spaces < SPACES)
		snapshot->spaces++;
	if (at == SPACES)
		at--;
	memmove(&snapshot->space[1], &snapshot->space[0], at * sizeof(snapshot->space[0]));
	snapshot->space[0] = space;
}

static bool is_near_root(const struct hwt_snapshot *snapshot, uint64_t address)
{
	return snapshot->virtual && address - snapshot->virtual + REACH < 2 * REACH;
}

/*
 * Returns true if the page tables of an address space have been reused, because its process has ended. Reused
 * page tables map the root's address elsewhere, or do not map it. But some page tables of programs do not map
 * the kernel. So if page tables do not map the root, they have certainly been reused only if `address` is in
 * the kernel's image and they map it.
 */
static bool is_reused(const struct hwt_snapshot *snapshot, uint64_t space, uint64_t address)
{
	uint64_t physical;

	if (!snapshot->virtual)
		return false;
	if (hwt_walk(snapshot->memory, snapshot->machine, space, snapshot->virtual, &physical))
		return physical != snapshot->physical;
	return is_near_root(snapshot, address);
}

static bool translate(struct hwt_snapshot *snapshot, uint64_t space, uint64_t address, uint64_t *physical)
{
	if (space && hwt_walk(snapshot->memory, snapshot->machine, space, address, physical) &&
	    !is_reused(snapshot, space, address)) {
		keep(snapshot, space);
		return true;
	}
	for (unsigned i = 0; i < snapshot->spaces; i++)
		if (snapshot->space[i] != space &&
		    hwt_walk(snapshot->memory, snapshot->machine, snapshot->space[i], address, physical))
			return true;
	if (!is_near_root(snapshot, address))
		return false;
	*physical = address - snapshot->virtual + snapshot->physical;
	return true;
}

size_t hwt_snapshot_read(struct hwt_snapshot *snapshot, uint64_t space, uint64_t address, void *to,
			 size_t size)
{
	const uint64_t left = HWT_WALK_PAGE - address % HWT_WALK_PAGE;
	uint64_t physical, run;

	if (!translate(snapshot, space, address, &physical))
		return 0;
	run = ktread_memory_run(snapshot->memory, physical);
	if (size > left)
		size = (size_t)left;
	if (size > run)
		size = (size_t)run;
	return size && ktread_memory_read(snapshot->memory, physical, to, size) == 0 ? size : 0;
}

/* Page table walks. */

#define FRAME	 UINT64_C(0x0000fffffffff000)
#define PRESENT	 UINT64_C(1)
#define LARGE	 UINT64_C(0x80) /* x86_64: the entry maps a page; otherwise it refers to a table */
#define IS_TABLE UINT64_C(2)	/* AArch64: the entry refers to a table or, at the last level, maps a page */
#define LEVELS	 4u

static bool read_entry(struct ktread_memory *memory, uint64_t table, uint64_t address, unsigned shift,
		       uint64_t *entry)
{
	const uint64_t at = table + ((address >> shift) & 511) * 8;

	return ktread_memory_run(memory, at) >= sizeof(*entry) &&
	       ktread_memory_read(memory, at, entry, sizeof(*entry)) == 0 && (*entry & PRESENT);
}

static bool is_page(uint16_t machine, uint64_t entry, unsigned level)
{
	if (level == 0)
		return machine == HWT_WALK_X86_64 || (entry & IS_TABLE);
	return machine == HWT_WALK_X86_64 ? (entry & LARGE) && level < 3 : !(entry & IS_TABLE) && level < 3;
}

static bool descend(struct ktread_memory *memory, uint16_t machine, uint64_t table, uint64_t address,
		    unsigned levels, uint64_t *physical)
{
	for (unsigned level = levels; level-- > 0;) {
		const unsigned shift = 12 + 9 * level;
		const uint64_t within = (UINT64_C(1) << shift) - 1;
		uint64_t entry;

		if (!read_entry(memory, table, address, shift, &entry))
			return false;
		if (is_page(machine, entry, level)) {
			*physical = (entry & FRAME & ~within) | (address & within);
			return true;
		}
		table = entry & FRAME;
	}
	return false;
}

/*
 * Tables for 39-bit addresses have one level less. If they are read as tables for 48 bits, the result may be
 * an address, too, because they contain device mappings. If only one of the two results is an address in
 * memory, it is the right one.
 */
static bool descend_arm(struct ktread_memory *memory, uint64_t table, uint64_t address, uint64_t *physical)
{
	uint64_t shorter;
	bool found = descend(memory, HWT_WALK_AARCH64, table, address, LEVELS, physical);

	if (address >> 39 || (found && ktread_memory_run(memory, *physical)) ||
	    !descend(memory, HWT_WALK_AARCH64, table, address, LEVELS - 1, &shorter) ||
	    (found && !ktread_memory_run(memory, shorter)))
		return found;
	*physical = shorter;
	return true;
}

bool hwt_walk(struct ktread_memory *memory, uint16_t machine, uint64_t space, uint64_t address,
	      uint64_t *physical)
{
	const uint64_t upper = address >> 47;

	if (machine == HWT_WALK_X86_64)
		return (upper == 0 || upper == 0x1ffff) &&
		       descend(memory, machine, space & FRAME, address, LEVELS, physical);
	return machine == HWT_WALK_AARCH64 && !(address >> 48) &&
	       descend_arm(memory, space & FRAME, address, physical);
}
