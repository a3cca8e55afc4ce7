/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds the guest's physical address of each byte of a RAM file of QEMU, and the reverse. On AArch64 and
 * RISC-V, the file is one range of addresses from a known base. On
 * x86, memory that does not fit below the PCI hole is at 4 GiB and above. The size of the memory below the
 * hole depends on QEMU's machine type, which is not in the file. So each possible size is tried.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "message.h"
#include "source.h"

#define MIB	     (UINT64_C(1) << 20)
#define FOUR_GIB     (UINT64_C(1) << 32)
#define AARCH64_BASE UINT64_C(0x40000000)
#define RISCV_BASE   UINT64_C(0x80000000)

/*
 * Sizes in bytes of the memory below the PCI hole on these machines, in this order: pc; q35; q35 with little
 * memory; microvm, and pc with a narrow hole.
 */
static const uint64_t below_hole[] = { UINT64_C(0xc0000000), UINT64_C(0x80000000), UINT64_C(0xb0000000),
				       UINT64_C(0xe0000000) };

#define SPLITS (sizeof(below_hole) / sizeof(below_hole[0]))

static int map_flat(struct ktread_memory *memory, uint64_t base)
{
	struct ktread_span span = { base, memory->size, 0 };

	return ktread_source_map(memory, &span, 1);
}

static int map_split(struct ktread_memory *memory, uint64_t below)
{
	uint64_t size = memory->size;
	struct ktread_span span[2] = { { 0, size, 0 }, { FOUR_GIB, 0, below } };

	if (size > below) {
		span[0].length = below;
		span[1].length = size - below;
	}
	return ktread_source_map(memory, span, 2);
}

int ktread_ram_map(struct ktread_memory *memory, const char *machine, uint64_t base)
{
	memory->live = true;
	memory->ram = base == 0;
	memory->machine = EM_NONE;
	if (base)
		return map_flat(memory, base);
	if (!machine)
		return 0;
	memory->machine = base_machine_number(machine);
	if (memory->machine == EM_NONE)
		return ktread_fail(KTREAD_E_ARGUMENT,
				   "unknown machine %s: known are x86_64, aarch64 and riscv64", machine);
	return 0;
}

static int try_flat(struct ktread_memory *memory, uint64_t base, uint32_t n)
{
	int status = n ? 0 : map_flat(memory, base);

	return status < 0 || n ? status : 1;
}

int ktread_ram_try(struct ktread_memory *memory, uint16_t machine, uint64_t offset, uint64_t self_phys,
		   uint32_t n)
{
	int status;

	if (memory->machine != EM_NONE)
		machine = memory->machine;
	if (machine == EM_AARCH64 || machine == EM_RISCV) {
		uint64_t base = machine == EM_RISCV ? RISCV_BASE : AARCH64_BASE;

		if (self_phys != 0 && self_phys >= offset && (self_phys - offset) % MIB == 0)
			base = self_phys - offset;
		return try_flat(memory, base, n);
	}
	if (machine != EM_X86_64 || memory->size <= below_hole[1])
		return try_flat(memory, 0, n);
	/*
	 * if the root is above the hole, the distance between its address and its file offset shows how much
	 * memory is below the hole
	 */
	if (self_phys >= FOUR_GIB && self_phys > offset && self_phys - offset < FOUR_GIB) {
		status = n ? 0 : map_split(memory, FOUR_GIB - (self_phys - offset));
		return status < 0 || n ? status : 1;
	}
	if (n >= SPLITS)
		return 0;
	status = map_split(memory, below_hole[n]);
	return status < 0 ? status : 1;
}

int ktread_memory_open_ram(struct ktread_memory **memory, const char *path, const char *machine)
{
	struct ktread_memory *opened;
	int status = ktread_source_open_regular(&opened, path);

	if (status < 0)
		return status;
	status = ktread_ram_map(opened, machine, 0);
	if (status < 0) {
		ktread_memory_close(opened);
		return status;
	}
	*memory = opened;
	return 0;
}

int ktread_memory_assume(struct ktread_memory *memory)
{
	const int status = memory->ram && memory->machine != EM_NONE
				   ? ktread_ram_try(memory, memory->machine, 0, 0, 0)
				   : 0;

	return status < 0 ? status : 0;
}

/*
 * ELF cores, as QEMU's dump-guest-memory writes them: each PT_LOAD segment is a range of guest physical
 * memory at p_paddr. The ELF class depends on the mode that the CPU was in, so a 64-bit guest may have a
 * 32-bit core.
 */

#define MAX_SEGMENTS 65536u
#define RAM_UNIT     0x100000u /* sizes of RAM are multiples of this */

/*
 * A RAM file may begin with the header of an ELF file that is no core: qboot, a firmware for PCs, leaves that
 * of the kernel there.
 */
bool ktread_core_is(struct ktread_memory *memory)
{
	const uint64_t size = ktread_memory_run(memory, 0);
	Elf32_Ehdr elf; /* its type is at the same place in a 64-bit file */

	return size >= sizeof(elf) && ktread_memory_read(memory, 0, &elf, sizeof(elf)) == 0 &&
	       memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0 && (elf.e_type == ET_CORE || size % RAM_UNIT != 0);
}

/* Values from the ELF header, in the same form for both ELF classes. */
struct headers {
	uint64_t offset; /* file offset of the program headers */
	uint64_t count;
	uint16_t stride;
	uint16_t type;
	bool wide; /* true for the 64-bit ELF class */
};

static int bad(const struct ktread_memory *memory, const char *what)
{
	return ktread_fail(KTREAD_E_FORMAT, "%s: ELF file %s", memory->name, what);
}

/*
 * Reads the number of segments from the first section header, which contains the number if it is too large
 * for the ELF header.
 */
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
	int status;

	if (!ktread_core_is(memory))
		return ktread_fail(KTREAD_E_FORMAT, "%s: not an ELF core", memory->name);
	status = ktread_memory_read(memory, 0, ident, sizeof(ident));
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

/* Shortens a range if it extends beyond the end of the file, and counts the bytes that are missing. */
static void cut_to_file(struct ktread_memory *memory, struct ktread_span *span, uint64_t file)
{
	uint64_t here = span->position < file ? file - span->position : 0;
	uint64_t lacks = span->length > here ? span->length - here : 0;

	span->length -= lacks;
	memory->missing = lacks < UINT64_MAX - memory->missing ? memory->missing + lacks : UINT64_MAX;
}

/* Reads program header `n` as a range. A segment that contains no memory becomes a range of length 0. */
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
		status = bad(memory, "contains no memory");
	free(span);
	return status;
}

int ktread_memory_open_core(struct ktread_memory **memory, const char *path)
{
	struct ktread_memory *opened;
	int status = ktread_source_open_regular(&opened, path);

	if (status < 0)
		return status;
	status = ktread_core_map(opened);
	if (status < 0) {
		ktread_memory_close(opened);
		return status;
	}
	*memory = opened;
	return 0;
}
