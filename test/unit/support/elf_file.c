/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/elf_file.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MOST 16u /* maximum number of sections, and also of symbols */

/* The file contains only headers, a table of names and a table of symbols. The sections have no contents. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment[MOST];
	Elf64_Shdr section[MOST + 4];
	Elf64_Sym symbol[MOST + 1];
	char names[1024];
};

static uint32_t name_of(struct image *image, uint32_t *used, const char *name)
{
	uint32_t at = *used;

	assert_true(at + strlen(name) + 1 <= sizeof(image->names));
	strcpy(image->names + at, name);
	*used += (uint32_t)strlen(name) + 1;
	return at;
}

static uint32_t put_sections(struct image *image, const struct elf_file *file, uint32_t *names)
{
	uint32_t count = 0;

	for (const struct elf_file_section *from = file->section; from->name; from++, count++) {
		const uint32_t write = from->flags & ELF_FILE_DATA ? SHF_WRITE : 0;
		const uint32_t execute = from->flags & ELF_FILE_CODE ? SHF_EXECINSTR : 0;

		assert_true(count < MOST);
		image->section[count + 1] = (Elf64_Shdr){ .sh_name = name_of(image, names, from->name),
							  .sh_type = SHT_NOBITS,
							  .sh_flags = SHF_ALLOC | write | execute,
							  .sh_addr = from->address,
							  .sh_size = from->size,
							  .sh_addralign = 16 };
		image->segment[count] =
			(Elf64_Phdr){ .p_type = PT_LOAD,
				      .p_flags = PF_R | (write ? PF_W : 0u) | (execute ? PF_X : 0u),
				      .p_vaddr = from->address,
				      .p_paddr = from->address,
				      .p_memsz = from->size,
				      .p_align = 1 };
		if (from->flags & ELF_FILE_BOTH)
			image->segment[count].p_flags = PF_R | PF_W | PF_X;
	}
	return count;
}

static uint32_t put_symbols(struct image *image, const struct elf_file *file, uint32_t *names)
{
	uint32_t count = 1;

	for (const struct elf_file_symbol *from = file->symbol; from->name; from++, count++) {
		assert_true(count <= MOST);
		image->symbol[count] = (Elf64_Sym){ .st_name = name_of(image, names, from->name),
						    .st_info = ELF64_ST_INFO(STB_GLOBAL, from->type),
						    .st_shndx = (uint16_t)from->section,
						    .st_value = from->address,
						    .st_size = from->size };
	}
	return count;
}

static void put_tables(struct image *image, uint32_t sections, uint32_t symbols)
{
	image->section[sections + 1] = (Elf64_Shdr){ .sh_name = 1,
						     .sh_type = SHT_SYMTAB,
						     .sh_offset = offsetof(struct image, symbol),
						     .sh_size = symbols * sizeof(Elf64_Sym),
						     .sh_link = sections + 2,
						     .sh_info = 1,
						     .sh_addralign = 8,
						     .sh_entsize = sizeof(Elf64_Sym) };
	image->section[sections + 2] = (Elf64_Shdr){ .sh_name = 9,
						     .sh_type = SHT_STRTAB,
						     .sh_offset = offsetof(struct image, names),
						     .sh_size = sizeof(image->names),
						     .sh_addralign = 1 };
}

void elf_file_write(const struct elf_file *file, char *path)
{
	struct image *image = calloc(1, sizeof(*image));
	uint32_t names = 17, sections, symbols;
	int fd;

	assert_non_null(image);
	memcpy(image->names + 1, ".symtab\0.strtab", 16);
	sections = put_sections(image, file, &names);
	symbols = put_symbols(image, file, &names);
	put_tables(image, sections, symbols);
	image->header = (Elf64_Ehdr){ .e_ident = ELFMAG "\2\1\1",
				      .e_type = file->type,
				      .e_machine = file->machine,
				      .e_version = EV_CURRENT,
				      .e_phoff = offsetof(struct image, segment),
				      .e_shoff = offsetof(struct image, section),
				      .e_ehsize = sizeof(Elf64_Ehdr),
				      .e_phentsize = sizeof(Elf64_Phdr),
				      .e_phnum = (uint16_t)sections,
				      .e_shentsize = sizeof(Elf64_Shdr),
				      .e_shnum = (uint16_t)(sections + 3),
				      .e_shstrndx = (uint16_t)(sections + 2) };
	strcpy(path, "/tmp/ktrace-elf-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, image, sizeof(*image)), sizeof(*image));
	assert_int_equal(close(fd), 0);
	free(image);
}
