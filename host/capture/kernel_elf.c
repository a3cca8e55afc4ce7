/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kernel_elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/open.h"
#include "error.h"
#include "ktrx/v2.h"

#define NAME_MOST 23u /* "ktrace_thread_switch_at" */

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

/* A name of a string table; false if it is longer than any of interest. */
static bool copy_name(const struct file *file, const Elf64_Shdr *strings, uint64_t at,
		      char name[NAME_MOST + 1])
{
	uint64_t room = at < strings->sh_size ? strings->sh_size - at : 0;

	room = room < NAME_MOST + 1 ? room : NAME_MOST + 1;
	return room && copy(file, strings->sh_offset + at, name, room) == 0 && memchr(name, '\0', room);
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

/* A hook's function, or the one that is told the caller's place besides. 0: it is none. */
static uint32_t hook_of(const char *name)
{
	static const struct {
		const char *name;
		uint32_t hook;
	} hooks[] = {
		{ "ktrace_lock_wait", KTRX_HOOK_LOCK },	      { "ktrace_lock_acquire", KTRX_HOOK_LOCK },
		{ "ktrace_thread_switch", KTRX_HOOK_THREAD }, { "ktrace_irq_enter", KTRX_HOOK_IRQ },
		{ "ktrace_irq_eoi", KTRX_HOOK_EOI },	      { "ktrace_ipi_wait", KTRX_HOOK_IPI },
		{ "ktrace_preempt", KTRX_HOOK_PREEMPT },      { "ktrace_space", KTRX_HOOK_SPACE },
		{ "ktrace_thread_exit", KTRX_HOOK_EXIT },
	};

	for (size_t n = 0; n < sizeof(hooks) / sizeof(hooks[0]); n++) {
		size_t length = strlen(hooks[n].name);

		if (strncmp(name, hooks[n].name, length) == 0 &&
		    (name[length] == '\0' || strcmp(name + length, "_at") == 0))
			return hooks[n].hook;
	}
	return 0;
}

/* The one of some names that this is; NULL: none of them. */
static const char *one_of(const char *const *names, size_t count, const char *name)
{
	for (size_t n = 0; n < count; n++)
		if (strcmp(names[n], name) == 0)
			return names[n];
	return NULL;
}

/* The symbols between which start code clears memory have no fixed names; these are usual. */
static void take_bss(struct capture_kernel_bss *bss, const Elf64_Sym *symbol, const char *name)
{
	static const char *const starts[] = { "__bss_start",
					      "bss_start",
					      "_bss_start",
					      "__bss_start__",
					      "__bss_begin",
					      "bss_begin",
					      "_sbss",
					      "__sbss",
					      "sbss",
					      "_bss",
					      "__bss",
					      "bss",
					      "kernel_bss_start",
					      "_kernel_bss_start" };
	static const char *const stops[] = {
		"__bss_end", "bss_end", "_bss_end", "__bss_end__", "__bss_stop",     "bss_stop",
		"_ebss",     "__ebss",	"ebss",	    "__BSS_END__", "kernel_bss_end", "_kernel_bss_end"
	};
	const char *start = one_of(starts, sizeof(starts) / sizeof(starts[0]), name);
	const char *stop = one_of(stops, sizeof(stops) / sizeof(stops[0]), name);

	/* Linkers make a __bss_start of their own beside the one that the kernel's script has. */
	if (start && (!bss->start_name || strcmp(bss->start_name, starts[0]) == 0)) {
		bss->start = symbol->st_value;
		bss->start_name = start;
	}
	if (stop) {
		bss->stop = symbol->st_value;
		bss->stop_name = stop;
	}
}

/* The bounds of what lies in another section. The size is the end until both are known. */
static void take_bound(struct capture_kernel *kernel, const Elf64_Sym *symbol, const char *name)
{
	static const char *const names[] = { "ktrace_events", "ktrace_settings" };
	struct capture_kernel_section *const sections[] = { &kernel->events, &kernel->settings };

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		if (strncmp(name, "__start_", 8) == 0 && strcmp(name + 8, names[n]) == 0)
			sections[n]->address = symbol->st_value;
		if (strncmp(name, "__stop_", 7) == 0 && strcmp(name + 7, names[n]) == 0)
			sections[n]->size = symbol->st_value;
	}
}

const char *const capture_kernel_object_names[CAPTURE_KERNEL_OBJECTS] = { "ktrace_root", "ktrace_ring",
									  "ktrace_state",
									  "ktrace_boot_slot" };

static void take_object(struct capture_kernel *kernel, const Elf64_Sym *symbol, const char *name)
{
	for (size_t n = 0; n < CAPTURE_KERNEL_OBJECTS; n++)
		if (strcmp(name, capture_kernel_object_names[n]) == 0)
			kernel->object[n] = (struct capture_kernel_section){ .size = symbol->st_size,
									     .address = symbol->st_value };
}

static void take_symbol(struct capture_kernel *kernel, const Elf64_Sym *symbol, const char *name)
{
	static const char *const ends[] = { "_end",	  "end",	 "image_end",
					    "kernel_end", "_kernel_end", "__kernel_end" };

	if (ELF64_ST_BIND(symbol->st_info) != STB_LOCAL)
		take_bss(&kernel->bss, symbol, name);
	take_bound(kernel, symbol, name);
	take_object(kernel, symbol, name);
	if (strcmp(name, "ktrace_root") == 0)
		kernel->root_address = symbol->st_value;
	if (strcmp(name, "ktrace_init") == 0)
		kernel->init_address = symbol->st_value;
	if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
		kernel->hooks |= hook_of(name);
	for (size_t n = 0; n < sizeof(ends) / sizeof(ends[0]); n++)
		if (strcmp(name, ends[n]) == 0 && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL)
			kernel->image_end = symbol->st_value;
}

/* Looks through a symbol table for those of interest. */
static void read_symbols(struct capture_kernel *kernel, const struct file *file, const Elf64_Shdr *table,
			 const Elf64_Shdr *strings)
{
	char name[NAME_MOST + 1];
	Elf64_Sym symbol;

	for (uint64_t at = 0; table->sh_size - at >= sizeof(symbol) && at < table->sh_size;
	     at += sizeof(symbol)) {
		if (copy(file, table->sh_offset + at, &symbol, sizeof(symbol)) != 0)
			return;
		kernel->has_symbols = 1;
		if (symbol.st_shndx != SHN_UNDEF && copy_name(file, strings, symbol.st_name, name))
			take_symbol(kernel, &symbol, name);
	}
}

static void take_section(struct capture_kernel *kernel, const struct file *file, const Elf64_Ehdr *header,
			 const Elf64_Shdr *section, const char *name)
{
	struct capture_kernel_section *taken = strcmp(name, "ktrace_events") == 0     ? &kernel->events
					       : strcmp(name, "ktrace_settings") == 0 ? &kernel->settings
										      : NULL;

	if (strcmp(name, ".bss") == 0) {
		kernel->bss.section = section->sh_addr;
		kernel->bss.section_size = section->sh_size;
	}
	if (taken && section->sh_type == SHT_PROGBITS)
		*taken = (struct capture_kernel_section){
			.size = section->sh_size,
			.offset = section->sh_offset,
			.address = section->sh_addr,
			.loaded = (section->sh_flags & SHF_ALLOC) &&
				  load_address(file, header, section->sh_offset) != 0,
		};
}

/* Where the file has what lies at a virtual address, 0 if nowhere. */
static uint64_t offset_of(const struct file *file, const Elf64_Ehdr *header, uint64_t address)
{
	Elf64_Phdr segment;

	for (uint32_t i = 0; i < header->e_phnum; i++)
		if (copy(file, header->e_phoff + i * sizeof(segment), &segment, sizeof(segment)) == 0 &&
		    segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_filesz)
			return segment.p_offset + (address - segment.p_vaddr);
	return 0;
}

/* Both bounds are known now. */
static void settle_bounds(struct capture_kernel_section *section, const struct file *file,
			  const Elf64_Ehdr *header)
{
	section->size = section->size > section->address ? section->size - section->address : 0;
	section->offset = section->size ? offset_of(file, header, section->address) : 0;
	section->loaded = section->offset != 0;
}

static void read_section_names(struct capture_kernel *kernel, const struct file *file,
			       const Elf64_Ehdr *header)
{
	Elf64_Shdr section, strings;
	char name[NAME_MOST + 1];

	if (header->e_shstrndx >= header->e_shnum ||
	    copy(file, header->e_shoff + header->e_shstrndx * sizeof(strings), &strings, sizeof(strings)) !=
		    0)
		return;
	for (uint32_t i = 0; i < header->e_shnum; i++)
		if (copy(file, header->e_shoff + i * sizeof(section), &section, sizeof(section)) == 0 &&
		    (section.sh_type == SHT_PROGBITS || section.sh_type == SHT_NOBITS) &&
		    copy_name(file, &strings, section.sh_name, name))
			take_section(kernel, file, header, &section, name);
}

static void read_tables(struct capture_kernel *kernel, const struct file *file, const Elf64_Ehdr *header)
{
	Elf64_Shdr table, strings;

	for (uint32_t i = 0; i < header->e_shnum; i++)
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
	settle_bounds(&kernel->events, file, &header);
	settle_bounds(&kernel->settings, file, &header);
	for (size_t n = 0; n < CAPTURE_KERNEL_OBJECTS; n++) {
		kernel->object[n].offset = offset_of(file, &header, kernel->object[n].address);
		kernel->object[n].loaded = kernel->object[n].offset != 0;
	}
	read_section_names(kernel, file, &header);
	if (found)
		kernel->build_id_physical = load_address(file, &header, found);
	return 0;
}

int capture_kernel_read(struct capture_kernel *kernel, const char *path)
{
	int fd = base_open_regular(path, O_RDONLY);
	struct file file = { 0 };
	struct stat status;
	void *bytes;
	int error;

	if (fd < 0 && (errno == ENOTSUP || errno == EISDIR))
		return capture_fail(CAPTURE_E_FORMAT, "%s: not an ELF file: %s", path,
				    base_open_message(errno));
	if (fd < 0 || fstat(fd, &status) != 0) {
		capture_fail_errno("%s", path);
		if (fd >= 0)
			close(fd);
		return CAPTURE_E_SYSTEM;
	}
	file.size = (uint64_t)status.st_size;
	bytes = file.size ? mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	close(fd);
	if (bytes == MAP_FAILED)
		return capture_fail(CAPTURE_E_FORMAT, "%s: not an ELF file", path);
	file.bytes = bytes;
	error = read_file(kernel, &file, path);
	munmap(bytes, file.size);
	return error;
}

const char *capture_kernel_machine(const struct capture_kernel *kernel)
{
	return base_machine_name(kernel->machine);
}

struct build_id {
	unsigned char bytes[CAPTURE_BUILD_ID_MAX];
	uint32_t size; /* 0: unknown */
};

static void of_trace(struct build_id *id, uint16_t *machine, const char *path)
{
	const struct ktread_info *info;
	struct ktread *trace = NULL;

	if (ktread_open(&trace, path, NULL) == 0) {
		info = ktread_info(trace);
		*machine = info->machine;
		if (info->build_id_size && info->build_id_size <= sizeof(id->bytes)) {
			memcpy(id->bytes, info->build_id, info->build_id_size);
			id->size = info->build_id_size;
		}
	}
	ktread_close(trace);
}

/*
 * A kernel that names no build id still has it in memory, as a part of its image: where a loader puts it, unless the kernel was
 * moved. Only bytes that follow the header of such a note are a build id.
 */
static void of_memory(struct build_id *id, struct ktread_memory *memory, const struct capture_kernel *kernel)
{
	struct {
		Elf64_Nhdr note;
		char name[4];
	} header;
	uint64_t at = kernel->build_id_physical;

	if (!memory || at < sizeof(header) ||
	    ktread_memory_read(memory, at - sizeof(header), &header, sizeof(header)) != 0 ||
	    header.note.n_type != NT_GNU_BUILD_ID || header.note.n_namesz != sizeof(header.name) ||
	    memcmp(header.name, "GNU", sizeof(header.name)) != 0 || header.note.n_descsz == 0 ||
	    header.note.n_descsz > sizeof(id->bytes))
		return;
	if (ktread_memory_read(memory, at, id->bytes, header.note.n_descsz) == 0)
		id->size = header.note.n_descsz;
}

static const char *hex(const unsigned char *bytes, uint32_t size, char text[2 * CAPTURE_BUILD_ID_MAX + 1])
{
	text[0] = '\0';
	for (uint32_t i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return text;
}

int capture_kernel_check(const char *elf, struct ktread_memory *memory, const char *trace, char *warning,
			 size_t size)
{
	char wanted[2 * CAPTURE_BUILD_ID_MAX + 1], seen[2 * CAPTURE_BUILD_ID_MAX + 1];
	struct capture_kernel kernel;
	struct build_id id = { 0 };
	uint16_t machine = 0;

	if (capture_kernel_read(&kernel, elf) != 0) {
		snprintf(warning, size, "%s", capture_message());
		return CAPTURE_E_FORMAT;
	}
	of_trace(&id, &machine, trace);
	if (machine && machine != kernel.machine) {
		snprintf(warning, size, "WARNING: %s is for another architecture than the guest", elf);
		return CAPTURE_E_FORMAT;
	}
	if (!id.size)
		of_memory(&id, memory, &kernel);
	if (!id.size || !kernel.build_id_size) {
		snprintf(warning, size, "%s: %s has no build id (%s): is it the kernel that was traced?", elf,
			 kernel.build_id_size ? "the trace" : "the file",
			 kernel.build_id_size ? "ktrace_config.build_id" : "ld --build-id");
		return CAPTURE_E_ABSENT;
	}
	if (id.size == kernel.build_id_size && memcmp(id.bytes, kernel.build_id, id.size) == 0)
		return 0;
	snprintf(warning, size, "WARNING: %s is not the kernel that ran: its build id is %s, the guest's %s",
		 elf, hex(kernel.build_id, kernel.build_id_size, wanted), hex(id.bytes, id.size, seen));
	return CAPTURE_E_FORMAT;
}
