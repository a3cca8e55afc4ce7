/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The parts of the ELF-64 little-endian format that the demo uses. */
#ifndef DEMO_ABI_ELF_H
#define DEMO_ABI_ELF_H

#include <stdint.h>

#define ELF_CLASS_64   2
#define ELF_LITTLE     1
#define ELF_EXECUTABLE 2
#define ELF_LOAD       1
#define ELF_EXECUTE    1
#define ELF_WRITE      2
#define ELF_READ       4
#define ELF_SYMBOLS    2 /* section type: symbol table */
#define ELF_FUNCTION   2 /* symbol type, in the low four bits of a symbol's info */

struct elf_header {
	uint8_t magic[4];
	uint8_t class, order, version, abi, padding[8];
	uint16_t type, machine;
	uint32_t file_version;
	uint64_t entry, segments_offset, sections_offset;
	uint32_t flags;
	uint16_t header_size, segment_size, segments, section_size, sections, names;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, address, physical, file_size, memory_size, alignment;
};

_Static_assert(sizeof(struct elf_header) == 64, "laid down by the format");
struct elf_section {
	uint32_t name, type;
	uint64_t flags, address, offset, size;
	uint32_t link, info;
	uint64_t alignment, entry_size;
};

struct elf_symbol {
	uint32_t name;
	uint8_t info, other;
	uint16_t section;
	uint64_t value, size;
};

_Static_assert(sizeof(struct elf_segment) == 56, "laid down by the format");
_Static_assert(sizeof(struct elf_section) == 64, "laid down by the format");
_Static_assert(sizeof(struct elf_symbol) == 24, "laid down by the format");

#endif
