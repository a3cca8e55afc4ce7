/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "symbols_image.h"

#include <stddef.h>

static void read_segments(struct symbols_image *image, Elf *elf, uint64_t bias)
{
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(elf, &count) != 0)
		return;
	for (size_t i = 0; i < count && i <= INT32_MAX && image->segments < SYMBOLS_SEGMENTS; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		image->segment[image->segments++] =
			(struct symbols_segment){ .begin = header.p_vaddr + bias,
						  .end = header.p_vaddr + bias + header.p_memsz,
						  .is_code = (header.p_flags & PF_X) != 0 };
	}
}

static void read_sections(struct symbols_image *image, Elf *elf, uint64_t bias)
{
	uint32_t number = 1;
	GElf_Shdr header;

	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)); number++) {
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) ||
		    header.sh_flags & SHF_TLS || header.sh_size == 0 || image->sections == SYMBOLS_SECTIONS)
			continue;
		image->section[image->sections++] =
			(struct symbols_section){ .begin = header.sh_addr + bias,
						  .end = header.sh_addr + bias + header.sh_size,
						  .number = number,
						  .is_code = (header.sh_flags & SHF_EXECINSTR) != 0 };
	}
}

void symbols_image_read(struct symbols_image *image, Elf *elf, uint64_t bias)
{
	image->segments = image->sections = 0;
	read_segments(image, elf, bias);
	read_sections(image, elf, bias);
}

static const struct symbols_segment *find_segment(const struct symbols_image *image, uint64_t address)
{
	for (uint32_t i = 0; i < image->segments; i++)
		if (address >= image->segment[i].begin && address < image->segment[i].end)
			return &image->segment[i];
	return NULL;
}

static const struct symbols_section *find_section(const struct symbols_image *image, uint64_t address)
{
	for (uint32_t i = 0; i < image->sections; i++)
		if (address >= image->section[i].begin && address < image->section[i].end)
			return &image->section[i];
	return NULL;
}

int symbols_image_has(const struct symbols_image *image, uint64_t address)
{
	return find_segment(image, address) != NULL;
}

int symbols_image_has_code(const struct symbols_image *image, uint64_t address)
{
	const struct symbols_segment *segment = find_segment(image, address);
	const struct symbols_section *section = find_section(image, address);

	if (!segment)
		return 0;
	return image->sections ? section && section->is_code : segment->is_code;
}

uint32_t symbols_image_section(const struct symbols_image *image, uint64_t address)
{
	const struct symbols_section *section = find_section(image, address);

	return section ? section->number : 0;
}
