/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/symbols_file.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/index.h"
#include "base/open.h"

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

static int by_address(const void *a, const void *b)
{
	const struct symbols_section *x = a, *y = b;

	return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
				    : (x->number > y->number) - (x->number < y->number);
}

static int read_sections(struct symbols_image *image, Elf *elf, uint64_t bias)
{
	uint32_t number = 1;
	GElf_Shdr header;
	size_t count;

	if (elf_getshdrnum(elf, &count) != 0 || count == 0)
		return 0;
	image->section = calloc(count, sizeof(*image->section));
	if (!image->section)
		return -1;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)); number++) {
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) ||
		    header.sh_flags & SHF_TLS || header.sh_size == 0 || image->sections == count)
			continue;
		image->section[image->sections++] =
			(struct symbols_section){ .begin = header.sh_addr + bias,
						  .end = header.sh_addr + bias + header.sh_size,
						  .number = number,
						  .is_code = (header.sh_flags & SHF_EXECINSTR) != 0 };
	}
	qsort(image->section, image->sections, sizeof(*image->section), by_address);
	return 0;
}

int symbols_image_read(struct symbols_image *image, Elf *elf, uint64_t bias)
{
	read_segments(image, elf, bias);
	return read_sections(image, elf, bias);
}

void symbols_image_free(struct symbols_image *image)
{
	free(image->section);
	*image = (struct symbols_image){ 0 };
}

static const struct symbols_segment *find_segment(const struct symbols_image *image, uint64_t address)
{
	for (uint32_t i = 0; i < image->segments; i++)
		if (address >= image->segment[i].begin && address < image->segment[i].end)
			return &image->segment[i];
	return NULL;
}

/* If sections overlap, checks only the section that begins last. */
static const struct symbols_section *find_section(const struct symbols_image *image, uint64_t address)
{
	const size_t n = base_count_up_to(image->section, image->sections, sizeof(*image->section),
					  offsetof(struct symbols_section, begin), address);

	return n && address < image->section[n - 1].end ? &image->section[n - 1] : NULL;
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

/* Returns the index of the section that contains the address; 0 if unknown. */
static uint32_t symbols_image_section(const struct symbols_image *image, uint64_t address)
{
	const struct symbols_section *section = find_section(image, address);

	return section ? section->number : 0;
}

/*
 * libdw calls these two functions to find further files of the kernel. They always report that there is no
 * further file.
 */
static int find_no_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			      const char *file, const char *link, GElf_Word crc, char **found)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
	return -1;
}

static int find_no_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **found,
		       Elf **elf)
{
	(void)module, (void)data, (void)name, (void)base, (void)found, (void)elf;
	return -1;
}

int symbols_file_open(struct symbols_file *file, const char *path)
{
	int fd = base_open_regular(path, O_RDONLY);

	if (fd < 0)
		return SYMBOLS_FILE_E_SYSTEM;
	file->callbacks = (Dwfl_Callbacks){
		.find_elf = find_no_elf,
		.find_debuginfo = find_no_debug_file,
		.section_address = dwfl_offline_section_address,
	};
	file->dwfl = dwfl_begin(&file->callbacks);
	if (file->dwfl) {
		dwfl_report_begin(file->dwfl);
		file->module = dwfl_report_offline(file->dwfl, path, path, fd);
		dwfl_report_end(file->dwfl, NULL, NULL);
	}
	if (file->module)
		return 0;
	close(fd);
	return SYMBOLS_FILE_E_FORMAT;
}

void symbols_file_close(struct symbols_file *file)
{
	dwfl_end(file->dwfl);
	file->dwfl = NULL;
	file->module = NULL;
}

/*
 * Resolves a name relative to the directory of the module's file, as libdw does. Returns false if the path is
 * too long.
 */
static bool resolve(Dwfl_Module *module, const char *name, char path[PATH_MAX])
{
	const char *file = NULL;
	char real[PATH_MAX];

	if (name[0] == '/')
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, NULL);
	if (!file || !realpath(file, real))
		return false;
	*strrchr(real, '/') = '\0';
	return snprintf(path, PATH_MAX, "%s/%s", real, name) < PATH_MAX;
}

static bool may_open_alternate(Dwfl_Module *module)
{
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(module, &bias);
	const void *build_id;
	const char *name;
	char path[PATH_MAX];
	int fd;

	if (!dwarf || dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &build_id) <= 0)
		return true;
	if (!resolve(module, name, path))
		return false;
	fd = base_open_regular(path, O_RDONLY);
	if (fd < 0)
		return errno == ENOENT; /* there is no file to open */
	close(fd);
	return true;
}

Dwarf_Die *symbols_file_next_unit(const struct symbols_file *file, Dwarf_Die *unit, Dwarf_Addr *bias)
{
	if (!unit && !may_open_alternate(file->module))
		return NULL;
	return dwfl_module_nextcu(file->module, unit, bias);
}

int symbols_file_code(const struct symbols_file *file, const struct symbols_image *image, uint64_t address,
		      void *bytes, size_t size)
{
	const struct symbols_section *section = find_section(image, address);
	GElf_Addr bias;
	Elf_Data *data;
	Elf *elf;

	if (!section || !section->is_code)
		return -1;
	elf = dwfl_module_getelf(file->module, &bias);
	data = elf_rawdata(elf_getscn(elf, section->number), NULL);
	address -= section->begin;
	if (!data || !data->d_buf || address > data->d_size || size > data->d_size - address)
		return -1;
	memcpy(bytes, (const char *)data->d_buf + address, size);
	return 0;
}

/* ---- Names ---- */

/*
 * Returns whether a name is a mapping symbol of an assembler ($x, $d, $xrv64i2p0 ...), or a label in a macro
 * of NASM (..@7.out).
 */
static int is_mark(const char *name)
{
	if (strncmp(name, "..@", 3) == 0)
		return 1;
	return name[0] == '$' && (name[1] == 'x' || name[1] == 'd' || name[1] == 't');
}

int symbols_file_is_place(const char *name, const GElf_Sym *symbol)
{
	return name && *name && !is_mark(name) && GELF_ST_TYPE(symbol->st_info) <= STT_FUNC &&
	       symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_LORESERVE;
}

/* Returns whether a symbol at the address `at` can be the name of `address`. */
static int can_name(const GElf_Sym *symbol, uint64_t at, uint64_t address, int is_code)
{
	return at <= address && (symbol->st_size == 0 || address - at < symbol->st_size) &&
	       !(is_code && GELF_ST_TYPE(symbol->st_info) == STT_OBJECT);
}

/*
 * Returns the start of the last function with a size in the section `section` (0: any) that starts at or
 * below the address; 0 if there is none.
 */
static uint64_t last_function(const struct symbols_file *file, uint64_t address, uint32_t section)
{
	int count = dwfl_module_getsymtab(file->module);
	uint64_t last = 0;

	for (int i = 0; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr at;

		if (dwfl_module_getsym_info(file->module, i, &symbol, &at, NULL, NULL, NULL) &&
		    GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size > 0 &&
		    (!section || symbol.st_shndx == section) && at <= address && at > last)
			last = at;
	}
	return last;
}

/*
 * Searches all symbols in the section `section` (0: any) for the nearest symbol, at or below the address,
 * that can be the name of the address. A symbol without a size ends where the next function with a size
 * starts, and at `object`: the start of the object that contains the address, 0 if there is none.
 */
static const char *find_below(const struct symbols_file *file, uint64_t address, int is_code,
			      uint32_t section, uint64_t object, GElf_Off *offset)
{
	const uint64_t function = is_code ? last_function(file, address, section) : 0;
	const uint64_t last = function > object ? function : object;
	int count = dwfl_module_getsymtab(file->module);
	const char *best = NULL;

	for (int i = 0; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr at;
		const char *name = dwfl_module_getsym_info(file->module, i, &symbol, &at, NULL, NULL, NULL);

		if (!symbols_file_is_place(name, &symbol) || (section && symbol.st_shndx != section) ||
		    !can_name(&symbol, at, address, is_code) || (symbol.st_size == 0 && at < last) ||
		    (best && address - at >= *offset))
			continue;
		best = name;
		*offset = address - at;
	}
	return best;
}

const char *symbols_file_name(const struct symbols_file *file, const struct symbols_image *image,
			      uint64_t address, int is_code, GElf_Off *offset)
{
	const uint32_t section = symbols_image_section(image, address);
	GElf_Sym symbol;
	const char *name = dwfl_module_addrinfo(file->module, address, offset, &symbol, NULL, NULL, NULL);
	const int here = symbols_file_is_place(name, &symbol) && symbol.st_size > 0 &&
			 (!section || symbol.st_shndx == section) &&
			 can_name(&symbol, address - *offset, address, 0);
	const char *nearest;

	if (here && can_name(&symbol, address - *offset, address, is_code))
		return name;
	nearest = find_below(file, address, is_code, section, here ? address - *offset : 0, offset);
	return nearest || !here ? nearest : name;
}

/* ---- Call frame information ---- */

/*
 * DWARF's numbers of the registers that are followed from frame to frame, from the ABI of each architecture.
 */
struct registers {
	uint16_t machine;
	uint8_t sp, frame, back; /* the stack pointer, the frame pointer, the return address */
};

static const struct registers machines[] = {
	{ EM_X86_64, 7, 6, 16 },
	{ EM_AARCH64, 31, 29, 30 },
	{ EM_RISCV, 2, 8, 1 },
};

static const struct registers *registers_of(uint16_t machine)
{
	for (size_t n = 0; n < sizeof(machines) / sizeof(machines[0]); n++)
		if (machines[n].machine == machine)
			return &machines[n];
	return NULL;
}

/* If the operation means "register + offset", stores both. */
static bool is_register(const Dwarf_Op *op, unsigned *number, int64_t *offset)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*number = op->atom - DW_OP_breg0;
		*offset = (int64_t)op->number;
	} else if (op->atom == DW_OP_bregx && op->number <= UINT8_MAX) {
		*number = (unsigned)op->number;
		*offset = (int64_t)op->number2;
	} else {
		return false;
	}
	return true;
}

static bool read_cfa(Dwarf_Frame *found, const struct registers *registers, struct symbols_frame *frame)
{
	Dwarf_Op *ops;
	unsigned number;
	size_t count;

	if (dwarf_frame_cfa(found, &ops, &count) != 0 || count != 1 ||
	    !is_register(ops, &number, &frame->cfa))
		return false;
	frame->by_frame = number == registers->frame;
	return frame->by_frame || number == registers->sp;
}

enum place { NOWHERE, UNCHANGED, STORED, UNKNOWN };

/* Finds where the caller's value of a register is. *offset: for STORED, its address relative to the CFA. */
static enum place place_of(Dwarf_Frame *found, unsigned number, int64_t *offset)
{
	Dwarf_Op room[3], *ops;
	size_t count;

	if (dwarf_frame_register(found, (int)number, room, &ops, &count) != 0)
		return UNKNOWN;
	if (count == 0)
		return ops ? NOWHERE : UNCHANGED;
	if (ops[0].atom != DW_OP_call_frame_cfa || count > 2 ||
	    (count == 2 && ops[1].atom != DW_OP_plus_uconst))
		return UNKNOWN;
	*offset = count == 2 ? (int64_t)ops[1].number : 0;
	return STORED;
}

static bool read_frame(Dwarf_Frame *found, const struct registers *registers, struct symbols_frame *frame)
{
	bool is_signal = false;
	const int back = dwarf_frame_info(found, NULL, NULL, &is_signal);
	enum place place;

	*frame = (struct symbols_frame){ .is_interrupt = is_signal };
	if (back != registers->back || !read_cfa(found, registers, frame))
		return false;
	place = place_of(found, registers->back, &frame->back);
	frame->is_outermost = place == NOWHERE;
	frame->back_stored = place == STORED;
	if (place == UNKNOWN || (place == UNCHANGED && registers->machine == EM_X86_64))
		return false;
	place = place_of(found, registers->frame, &frame->frame);
	frame->frame_stored = place == STORED;
	return place != UNKNOWN;
}

int symbols_file_frame(const struct symbols_file *file, uint16_t machine, uint64_t address,
		       struct symbols_frame *frame)
{
	const struct registers *registers = registers_of(machine);
	Dwarf_CFI *(*const tables[])(Dwfl_Module *, Dwarf_Addr *) = { dwfl_module_dwarf_cfi,
								      dwfl_module_eh_cfi };

	for (size_t n = 0; registers && n < sizeof(tables) / sizeof(tables[0]); n++) {
		Dwarf_Addr bias = 0;
		Dwarf_CFI *table = tables[n](file->module, &bias);
		Dwarf_Frame *found = NULL;
		bool usable;

		if (!table || dwarf_cfi_addrframe(table, address - bias, &found) != 0)
			continue;
		usable = read_frame(found, registers, frame);
		free(found);
		if (usable)
			return 0;
	}
	return -1;
}
