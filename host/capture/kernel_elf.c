/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "kernel_elf.h"

struct file {
	const unsigned char *bytes;
	uint64_t size;
};

/* Copies `bytes` at `offset`; 0, or -1 past the end. */
static int copy(const struct file *file, uint64_t offset, void *to, size_t bytes)
{
	if (offset > file->size || bytes > file->size - offset)
		return -1;
	memcpy(to, file->bytes + offset, bytes);
	return 0;
}

/* *found becomes the offset of the build id. */
static void read_notes(struct capture_kernel *kernel, const struct file *file, uint64_t at, uint64_t length,
		       uint64_t *found)
{
	uint64_t end = at + length;
	Elf64_Nhdr note;
	char name[4];

	while (end - at >= sizeof(note) && copy(file, at, &note, sizeof(note)) == 0) {
		uint64_t description = at + sizeof(note) + (((uint64_t)note.n_namesz + 3) & ~UINT64_C(3));
		uint64_t next = description + (((uint64_t)note.n_descsz + 3) & ~UINT64_C(3));

		if (next > end || next <= at)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    copy(file, at + sizeof(note), name, 4) == 0 && memcmp(name, "GNU", 4) == 0 &&
		    note.n_descsz <= CAPTURE_BUILD_ID_MAX &&
		    copy(file, description, kernel->build_id, note.n_descsz) == 0) {
			kernel->build_id_size = note.n_descsz;
			*found = description;
		}
		at = next;
	}
}

static void read_sections(struct capture_kernel *kernel, const struct file *file, const Elf64_Ehdr *header,
			  uint64_t *found)
{
	Elf64_Shdr section;

	for (uint32_t i = 0; i < header->e_shnum; i++) {
		if (copy(file, header->e_shoff + i * sizeof(section), &section, sizeof(section)) != 0)
			return;
		if (section.sh_type == SHT_NOTE && section.sh_size <= file->size)
			read_notes(kernel, file, section.sh_offset, section.sh_size, found);
	}
}

static void read_segments(struct capture_kernel *kernel, const struct file *file, const Elf64_Ehdr *header,
			  uint64_t *found)
{
	Elf64_Phdr segment;

	for (uint32_t i = 0; i < header->e_phnum; i++) {
		if (copy(file, header->e_phoff + i * sizeof(segment), &segment, sizeof(segment)) != 0)
			return;
		if (segment.p_type == PT_NOTE && segment.p_filesz <= file->size)
			read_notes(kernel, file, segment.p_offset, segment.p_filesz, found);
	}
}

static uint64_t load_address(const struct file *file, const Elf64_Ehdr *header, uint64_t offset)
{
	Elf64_Phdr segment;

	for (uint32_t i = 0; i < header->e_phnum; i++)
		if (copy(file, header->e_phoff + i * sizeof(segment), &segment, sizeof(segment)) == 0 &&
		    segment.p_type == PT_LOAD && offset >= segment.p_offset &&
		    offset - segment.p_offset < segment.p_filesz)
			return segment.p_paddr + (offset - segment.p_offset);
	return 0;
}

/* Where a loader puts a virtual address, 0 if nowhere. */
static uint64_t physical_of(const struct file *file, const Elf64_Ehdr *header, uint64_t address)
{
	Elf64_Phdr segment;

	for (uint32_t i = 0; i < header->e_phnum; i++)
		if (copy(file, header->e_phoff + i * sizeof(segment), &segment, sizeof(segment)) == 0 &&
		    segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_memsz)
			return segment.p_paddr + (address - segment.p_vaddr);
	return 0;
}

/* Looks through a symbol table for ktrace_root. */
static void read_symbols(struct capture_kernel *kernel, const struct file *file, const Elf64_Shdr *table,
			 const Elf64_Shdr *strings)
{
	static const char wanted[] = "ktrace_root";
	char name[sizeof(wanted)];
	Elf64_Sym symbol;

	for (uint64_t at = 0; table->sh_size - at >= sizeof(symbol) && at < table->sh_size;
	     at += sizeof(symbol)) {
		if (copy(file, table->sh_offset + at, &symbol, sizeof(symbol)) != 0)
			return;
		if (symbol.st_name < strings->sh_size && symbol.st_shndx != SHN_UNDEF &&
		    copy(file, strings->sh_offset + symbol.st_name, name, sizeof(name)) == 0 &&
		    memcmp(name, wanted, sizeof(name)) == 0)
			kernel->root_address = symbol.st_value;
	}
}

static void read_tables(struct capture_kernel *kernel, const struct file *file, const Elf64_Ehdr *header)
{
	Elf64_Shdr table, strings;

	for (uint32_t i = 0; i < header->e_shnum && !kernel->root_address; i++)
		if (copy(file, header->e_shoff + i * sizeof(table), &table, sizeof(table)) == 0 &&
		    table.sh_type == SHT_SYMTAB && table.sh_size <= file->size &&
		    table.sh_offset <= file->size && table.sh_link < header->e_shnum &&
		    copy(file, header->e_shoff + table.sh_link * sizeof(strings), &strings,
			 sizeof(strings)) == 0 &&
		    strings.sh_offset <= file->size)
			read_symbols(kernel, file, &table, &strings);
	if (kernel->root_address)
		kernel->root_physical = physical_of(file, header, kernel->root_address);
}

static int read_file(struct capture_kernel *kernel, const struct file *file, const char *path)
{
	uint64_t found = 0;
	Elf64_Ehdr header;

	*kernel = (struct capture_kernel){ 0 };
	if (copy(file, 0, &header, sizeof(header)) != 0 || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return capture_fail(CAPTURE_E_FORMAT, "%s: not an ELF file", path);
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_shoff > file->size || header.e_phoff > file->size ||
	    (header.e_shnum && header.e_shentsize != sizeof(Elf64_Shdr)) ||
	    (header.e_phnum && header.e_phentsize != sizeof(Elf64_Phdr)))
		return capture_fail(CAPTURE_E_FORMAT, "%s: not a usable 64-bit little-endian ELF file", path);
	kernel->machine = header.e_machine;
	read_sections(kernel, file, &header, &found);
	read_segments(kernel, file, &header, &found);
	read_tables(kernel, file, &header);
	if (found)
		kernel->build_id_physical = load_address(file, &header, found);
	return 0;
}

int capture_kernel_read(struct capture_kernel *kernel, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct file file = { 0 };
	struct stat status;
	void *bytes;
	int error;

	if (fd < 0 || fstat(fd, &status) != 0) {
		capture_fail_errno("%s", path);
		if (fd >= 0)
			close(fd);
		return CAPTURE_E_SYSTEM;
	}
	file.size = (uint64_t)status.st_size;
	bytes = S_ISREG(status.st_mode) && file.size ? mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0)
						     : MAP_FAILED;
	close(fd);
	if (bytes == MAP_FAILED)
		return capture_fail(CAPTURE_E_FORMAT, "%s: not an ELF file", path);
	file.bytes = bytes;
	error = read_file(kernel, &file, path);
	munmap(bytes, file.size);
	return error;
}
