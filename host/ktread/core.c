/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ELF cores as QEMU's dump-guest-memory writes them: each PT_LOAD is a range of guest physical memory at
 * p_paddr. The class follows the CPU's mode when the dump was made, so a 64-bit guest may come as a 32-bit
 * core.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"
#include "message.h"

#define MAX_SEGMENTS 65536u

bool ktread_core_is(struct ktread_memory *memory)
{
	unsigned char ident[EI_NIDENT];

	return ktread_memory_run(memory, 0) >= sizeof(ident) &&
	       ktread_memory_read(memory, 0, ident, sizeof(ident)) == 0 &&
	       memcmp(ident, ELFMAG, SELFMAG) == 0;
}

/* What both classes say. */
struct headers {
	uint64_t offset; /* of the program headers */
	uint64_t count;
	uint16_t stride;
	uint16_t type;
	bool wide; /* 64 bit */
};

static int bad(const struct ktread_memory *memory, const char *what)
{
	return ktread_fail(KTREAD_E_FORMAT, "%s: ELF file %s", memory->name, what);
}

/* The number of segments where it does not fit into the ELF header: in the first section's. */
static int read_count(struct ktread_memory *memory, uint64_t section, struct headers *headers)
{
	uint64_t at =
		section + (headers->wide ? offsetof(Elf64_Shdr, sh_info) : offsetof(Elf32_Shdr, sh_info));
	uint32_t count;

	if (ktread_memory_read(memory, at, &count, sizeof(count)) < 0)
		return bad(memory, "lacks the section header that counts its segments");
	headers->count = count;
	return 0;
}

static int read_class(struct ktread_memory *memory, bool wide, struct headers *headers)
{
	union {
		Elf64_Ehdr wide;
		Elf32_Ehdr narrow;
	} elf;
	uint64_t section;

	if (ktread_memory_read(memory, 0, &elf, wide ? sizeof(elf.wide) : sizeof(elf.narrow)) < 0)
		return bad(memory, "is cut off");
	if (wide) {
		*headers = (struct headers){ elf.wide.e_phoff, elf.wide.e_phnum, elf.wide.e_phentsize,
					     elf.wide.e_type, true };
		section = elf.wide.e_shoff;
	} else {
		*headers = (struct headers){ elf.narrow.e_phoff, elf.narrow.e_phnum, elf.narrow.e_phentsize,
					     elf.narrow.e_type, false };
		section = elf.narrow.e_shoff;
	}
	return headers->count == PN_XNUM ? read_count(memory, section, headers) : 0;
}

static int read_headers(struct ktread_memory *memory, struct headers *headers)
{
	unsigned char ident[EI_NIDENT];
	int status = ktread_memory_read(memory, 0, ident, sizeof(ident));

	if (status < 0)
		return status;
	if (ident[EI_DATA] != ELFDATA2LSB)
		return bad(memory, "is not little-endian");
	status = read_class(memory, ident[EI_CLASS] == ELFCLASS64, headers);
	if (status < 0)
		return status;
	if (headers->type != ET_CORE)
		return bad(memory, "is not a core");
	if (headers->stride < (headers->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) ||
	    headers->count > MAX_SEGMENTS)
		return bad(memory, "has unusable program headers");
	return 0;
}

/* What lies behind the end of the file is counted, and no part of the range. */
static void cut_to_file(struct ktread_memory *memory, struct ktread_span *span, uint64_t file)
{
	uint64_t here = span->position < file ? file - span->position : 0;
	uint64_t lacks = span->length > here ? span->length - here : 0;

	span->length -= lacks;
	memory->missing = lacks < UINT64_MAX - memory->missing ? memory->missing + lacks : UINT64_MAX;
}

/* Reads segment `n`; a length of 0 stands for one that holds no memory. */
static int read_segment(struct ktread_memory *memory, const struct headers *headers, uint64_t n,
			struct ktread_span *span)
{
	uint64_t at = headers->offset + n * headers->stride, file = ktread_memory_run(memory, 0);
	Elf64_Phdr wide;
	Elf32_Phdr narrow;
	int status;

	*span = (struct ktread_span){ 0, 0, 0 };
	if (headers->wide) {
		status = ktread_memory_read(memory, at, &wide, sizeof(wide));
		if (status == 0 && wide.p_type == PT_LOAD)
			*span = (struct ktread_span){ wide.p_paddr, wide.p_filesz, wide.p_offset };
	} else {
		status = ktread_memory_read(memory, at, &narrow, sizeof(narrow));
		if (status == 0 && narrow.p_type == PT_LOAD)
			*span = (struct ktread_span){ narrow.p_paddr, narrow.p_filesz, narrow.p_offset };
	}
	cut_to_file(memory, span, file);
	return status;
}

int ktread_core_map(struct ktread_memory *memory)
{
	struct headers headers = { 0 };
	struct ktread_span *span;
	int status = read_headers(memory, &headers);

	if (status < 0)
		return status;
	span = malloc((headers.count ? headers.count : 1) * sizeof(*span));
	if (!span)
		return ktread_fail_memory();
	for (uint64_t n = 0; n < headers.count && status == 0; n++)
		status = read_segment(memory, &headers, n, &span[n]);
	if (status == 0)
		status = ktread_source_map(memory, span, (uint32_t)headers.count);
	if (status == 0 && memory->spans == 0)
		status = bad(memory, "has no memory in it");
	free(span);
	return status;
}

int ktread_memory_open_core(struct ktread_memory **memory, const char *path)
{
	struct ktread_memory *opened;
	int status = ktread_source_open_regular(&opened, path);

	if (status < 0)
		return status;
	status = ktread_core_is(opened) ? ktread_core_map(opened) : bad(opened, "expected: no ELF magic");
	if (status < 0) {
		ktread_memory_close(opened);
		return status;
	}
	*memory = opened;
	return 0;
}
