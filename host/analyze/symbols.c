/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/symbols.h"

#include <inttypes.h>
#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/event_name.h"
#include "analyze/symbols_file.h"
#include "base/open.h"

static _Thread_local char message[1024];

__attribute__((format(printf, 2, 3))) static int report(int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return status;
}

const char *symbols_message(void)
{
	return message;
}

#define SCOPES	       64u   /* maximum depth of nested scopes that is searched */
#define BUILD_ID_LEAST 4     /* minimum length of a build id in bytes; a shorter build id is ignored */
#define KNOWN	       4096u /* number of addresses whose symbols, or whose frames, are cached */

struct known {
	uint64_t address;
	int any;    /* 1 if the cached look-up included data */
	int status; /* result of the look-up: 0 or -1; 1 if the entry is empty */
	struct symbol symbol;
};

struct known_frame {
	uint64_t address; /* address that was looked up; 0: the entry is empty */
	bool exists;
	struct symbols_frame frame;
};

struct symbols {
	uint16_t machine; /* ELF e_machine of the kernel */
	struct symbols_file file;
	/*
	 * number to add to a linked address to get the address in the running kernel; valid for addresses
	 * in the same half of the address space as the root
	 */
	uint64_t slide;
	uint64_t root; /* linked address of the root; 0: unknown */
	int doubtful;
	struct symbols_image image; /* segments and sections of the file, with linked addresses */
	struct known known[KNOWN];
	struct known_frame known_frame[KNOWN];
};

static int load(struct symbols *symbols, const char *path)
{
	switch (symbols_file_open(&symbols->file, path)) {
	case SYMBOLS_FILE_E_SYSTEM:
		if (errno == ENOTSUP || errno == EISDIR)
			return report(SYMBOLS_E_FORMAT, "%s: not an ELF file: %s", path,
				      base_open_message(errno));
		return report(SYMBOLS_E_SYSTEM, "%s: %s", path, strerror(errno));
	case SYMBOLS_FILE_E_FORMAT:
		return report(SYMBOLS_E_FORMAT, "%s: not an ELF file with symbols: %s", path,
			      dwfl_errmsg(-1));
	default:
		return SYMBOLS_OK;
	}
}

/* Finds the linked address of the root. Returns 0, or -1 if there is none. */
static int find_root(const struct symbols *symbols, uint64_t *address)
{
	int count = dwfl_module_getsymtab(symbols->file.module);

	for (int i = 0; i < count; i++) {
		GElf_Sym symbol;
		const char *name =
			dwfl_module_getsym_info(symbols->file.module, i, &symbol, address, NULL, NULL, NULL);

		if (name && strcmp(name, "ktrace_root") == 0 && symbol.st_shndx != SHN_UNDEF)
			return 0;
	}
	return -1;
}

/* number of bytes: a kernel that is linked to fixed addresses is moved by a multiple of this number */
#define STEP (UINT64_C(2) << 20)

/*
 * Returns whether the distance of the root from its linked address shows that the file is not that of the
 * traced kernel. A kernel that is linked to fixed addresses runs at these addresses, or is moved by a
 * multiple of STEP, or by at least its own length.
 */
static int is_root_elsewhere(const struct symbols *symbols, const GElf_Ehdr *header, uint64_t self)
{
	uint64_t length = 0;

	if (header->e_type != ET_EXEC || self == 0 || symbols->slide % STEP == 0)
		return 0;
	for (uint32_t n = 0; n < symbols->image.segments; n++)
		length += symbols->image.segment[n].end - symbols->image.segment[n].begin;
	return symbols->slide < length || -symbols->slide < length;
}

/* Checks that the file belongs to the traced kernel. Returns enum symbols_status. */
static int check_build(struct symbols *symbols, const char *path, const GElf_Ehdr *header,
		       const struct ktread_info *info)
{
	const unsigned char *id;
	GElf_Addr address;
	int size = dwfl_module_build_id(symbols->file.module, &id, &address);

	symbols->doubtful = (size < BUILD_ID_LEAST || info->build_id_size < BUILD_ID_LEAST) &&
			    is_root_elsewhere(symbols, header, info->self);
	if (symbols->doubtful)
		return report(SYMBOLS_OTHER_BUILD,
			      "%s is NOT the kernel that was traced (ktrace_root is at 0x%" PRIx64
			      " there, and was at 0x%" PRIx64
			      "): names and lines marked '?' are probably wrong",
			      path, info->self - symbols->slide, info->self);
	if (size < BUILD_ID_LEAST || info->build_id_size < BUILD_ID_LEAST)
		return report(SYMBOLS_UNCHECKED, "%s: %s has no build id: is it the kernel that was traced?",
			      path, size < BUILD_ID_LEAST ? "the file" : "the trace");
	if ((uint32_t)size == info->build_id_size && memcmp(id, info->build_id, (size_t)size) == 0)
		return SYMBOLS_OK;
	symbols->doubtful = 1;
	return report(SYMBOLS_OTHER_BUILD,
		      "%s is NOT the kernel that was traced (build id %02x%02x%02x%02x..., "
		      "traced %02x%02x%02x%02x...): names and lines marked '?' are probably wrong",
		      path, id[0], id[1], id[2], id[3], info->build_id[0], info->build_id[1],
		      info->build_id[2], info->build_id[3]);
}

/*
 * Determines by how much the kernel was moved. `self`: address of the root in the running kernel; 0: unknown.
 * Returns 0, or -1 if the displacement is unknown.
 */
static int find_displacement(struct symbols *symbols, uint64_t bias, uint64_t self)
{
	symbols->slide = -bias;
	if (self == 0)
		return 0;
	if (find_root(symbols, &symbols->root) == 0) {
		symbols->slide = self - symbols->root;
		return 0;
	}
	symbols->root = self + bias;
	return symbols_image_has(&symbols->image, symbols->root) ? 0 : -1;
}

static int identify(struct symbols *symbols, const char *path, const struct ktread_info *info)
{
	GElf_Ehdr header;
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(symbols->file.module, &bias);

	if (!elf || !gelf_getehdr(elf, &header))
		return report(SYMBOLS_E_FORMAT, "%s: not a usable ELF file: %s", path, dwfl_errmsg(-1));
	symbols->machine = header.e_machine;
	if (info->machine && header.e_machine != info->machine)
		return report(SYMBOLS_E_MACHINE,
			      "%s: for another architecture (ELF machine %u) than the traced kernel (%u)",
			      path, header.e_machine, info->machine);
	if (dwfl_module_getsymtab(symbols->file.module) <= 0)
		return report(SYMBOLS_E_FORMAT, "%s: has no symbols", path);
	if (symbols_image_read(&symbols->image, elf, bias) != 0)
		return report(SYMBOLS_E_SYSTEM, "%s: out of memory", path);
	if (find_displacement(symbols, bias, info->self) != 0)
		return report(SYMBOLS_E_FORMAT,
			      "%s: has no symbol ktrace_root, so the displacement of the kernel is unknown",
			      path);
	return check_build(symbols, path, &header, info);
}

int symbols_open(struct symbols **result, const char *elf, const struct ktread_info *info)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	int status;

	*result = NULL;
	if (!symbols)
		return report(SYMBOLS_E_SYSTEM, "out of memory");
	for (uint32_t i = 0; i < KNOWN; i++)
		symbols->known[i].status = 1;
	status = load(symbols, elf);
	if (status == SYMBOLS_OK)
		status = identify(symbols, elf, info);
	if (status < 0)
		symbols_close(symbols);
	else
		*result = symbols;
	return status;
}

void symbols_close(struct symbols *symbols)
{
	if (!symbols)
		return;
	symbols_file_close(&symbols->file);
	symbols_image_free(&symbols->image);
	free(symbols);
}

static int are_in_one_half(uint64_t a, uint64_t b)
{
	return (a ^ b) >> 63 == 0;
}

/*
 * Converts an address of the running kernel to its linked address. Returns 0, or -1 if the kernel has no
 * such address. Code that is linked into a different half of the address space than the root is startup
 * code, and is not moved with the kernel.
 */
static int as_linked(const struct symbols *symbols, uint64_t address, uint64_t *linked)
{
	const uint64_t moved = address - symbols->slide;

	*linked = moved;
	if (are_in_one_half(moved, symbols->root) && symbols_image_has(&symbols->image, moved))
		return 0;
	*linked = address;
	return !are_in_one_half(address, symbols->root) && symbols_image_has(&symbols->image, address) ? 0
												       : -1;
}

/* Converts a linked address to its address in the running kernel. */
static uint64_t as_running(const struct symbols *symbols, uint64_t linked)
{
	return are_in_one_half(linked, symbols->root) ? linked + symbols->slide : linked;
}

int symbols_has(const struct symbols *symbols, uint64_t address)
{
	return symbols && as_linked(symbols, address, &address) == 0;
}

int symbols_has_code(const struct symbols *symbols, uint64_t address)
{
	return symbols && as_linked(symbols, address, &address) == 0 &&
	       symbols_image_has_code(&symbols->image, address);
}

int symbols_code(const struct symbols *symbols, uint64_t address, void *bytes, size_t size)
{
	if (!symbols || as_linked(symbols, address, &address) != 0)
		return -1;
	return symbols_file_code(&symbols->file, &symbols->image, address, bytes, size);
}

int symbols_doubtful(const struct symbols *symbols)
{
	return symbols && symbols->doubtful;
}

/* Removes the compilation directory from a path; most compilers leave it out anyway. */
static const char *short_path(Dwarf_Die *unit, const char *path)
{
	Dwarf_Attribute attribute;
	const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	size_t length = folder ? strlen(folder) : 0;

	return path && length && strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1
											   : path;
}

/* Finds the source line that calls an inlined function. Returns 0, or -1 if it is unknown. */
static int find_inlining(Dwarf_Die *unit, Dwarf_Die *inlined, struct symbol *symbol)
{
	Dwarf_Attribute attribute;
	Dwarf_Word line, file;
	Dwarf_Files *files;
	size_t count;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) ||
	    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) ||
	    dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count || line > UINT32_MAX)
		return -1;
	symbol->file = short_path(unit, dwarf_filesrc(files, file, NULL, NULL));
	symbol->line = (uint32_t)line;
	return 0;
}

static int is_event(Dwarf_Die *scope)
{
	const char *name;

	if (dwarf_tag(scope) != DW_TAG_inlined_subroutine)
		return 0;
	name = dwarf_diename(scope);
	return name && strncmp(name, "ktrace_", 7) == 0;
}

/* Returns whether a file is a header: its functions are inlined in many places. */
static int is_header(const char *path)
{
	const char *end = path ? strrchr(path, '.') : NULL;

	return end && (end[1] == 'h' || strcmp(end, ".inl") == 0);
}

/*
 * Searches the inlined functions that contain the address, from the outermost to the innermost. If functions
 * of ktrace are among them, returns 0 and sets *symbol to the line that calls the outermost function of
 * ktrace, which is the line that records an event; if this line is in a header, sets *symbol to the innermost
 * call outside headers. Otherwise returns -1 and sets *symbol to the innermost call outside headers. If there
 * is no call outside headers, *symbol is unchanged, or set to the line that records the event.
 * (dwarf_getscopes() does not find these functions after link-time optimisation.)
 */
static int find_calls(Dwarf_Die *unit, Dwarf_Die *scope, uint64_t address, uint32_t depth,
		      struct symbol *symbol)
{
	Dwarf_Die child;
	struct symbol call;

	if (depth == SCOPES || dwarf_child(scope, &child) != 0)
		return -1;
	do {
		int inside = dwarf_haspc(&child, address) == 1;

		if (inside && is_event(&child)) {
			if (find_inlining(unit, &child, &call) != 0)
				return -1;
			if (!symbol->file || !is_header(call.file)) {
				symbol->file = call.file;
				symbol->line = call.line;
			}
			return 0;
		}
		if (inside && dwarf_tag(&child) == DW_TAG_inlined_subroutine &&
		    find_inlining(unit, &child, &call) == 0 && !is_header(call.file)) {
			symbol->file = call.file;
			symbol->line = call.line;
		}
		if ((inside || dwarf_tag(&child) == DW_TAG_namespace) &&
		    find_calls(unit, &child, address, depth + 1, symbol) == 0)
			return 0;
	} while (dwarf_siblingof(&child, &child) == 0);
	return -1;
}

/*
 * Finds the source line by a search of all compilation units, because not every compiler writes an index of
 * addresses.
 */
static void find_line(struct symbols *symbols, uint64_t address, struct symbol *symbol)
{
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;
	Dwarf_Line *line;
	int number;

	while ((unit = symbols_file_next_unit(&symbols->file, unit, &bias))) {
		if (dwarf_haspc(unit, address - bias) != 1)
			continue;
		if (find_calls(unit, unit, address - bias, 0, symbol) == 0)
			return;
		line = dwarf_getsrc_die(unit, address - bias);
		if (!line || dwarf_lineno(line, &number) != 0 || number <= 0)
			continue;
		if (symbol->file && is_header(dwarf_linesrc(line, NULL, NULL)))
			return;
		symbol->file = short_path(unit, dwarf_linesrc(line, NULL, NULL));
		symbol->line = (uint32_t)number;
		return;
	}
}

/* Looks up a linked address. `any`: true for code and data, false for code only. */
static int look_up(struct symbols *symbols, uint64_t address, int any, struct symbol *symbol)
{
	const int is_code = symbols_image_has_code(&symbols->image, address);
	GElf_Off offset = 0;

	*symbol = (struct symbol){ .line = 0 };
	if (!is_code && (!any || !symbols_image_has(&symbols->image, address)))
		return -1;
	symbol->function =
		symbols_file_name(&symbols->file, &symbols->image, address, is_code && !any, &offset);
	if (!symbol->function)
		return -1;
	symbol->function = demangled(symbol->function);
	symbol->offset = offset;
	if (is_code)
		find_line(symbols, address, symbol);
	return 0;
}

static int find(struct symbols *symbols, uint64_t address, int any, struct symbol *symbol)
{
	struct known *known;

	*symbol = (struct symbol){ .line = 0 };
	if (!symbols || as_linked(symbols, address, &address) != 0)
		return -1;
	known = &symbols->known[(address ^ address >> 12 ^ (uint64_t)any) % KNOWN];
	if (known->status > 0 || known->address != address || known->any != any) {
		known->address = address;
		known->any = any;
		known->status = look_up(symbols, address, any, &known->symbol);
	}
	*symbol = known->symbol;
	return known->status;
}

int symbols_find(struct symbols *symbols, uint64_t address, struct symbol *symbol)
{
	return find(symbols, address, 0, symbol);
}

int symbols_find_any(struct symbols *symbols, uint64_t address, struct symbol *symbol)
{
	return find(symbols, address, 1, symbol);
}

int symbols_find_call(struct symbols *symbols, uint64_t address, struct symbol *symbol)
{
	if (symbols_find(symbols, address - 1, symbol) == 0) {
		symbol->offset++;
		return 0;
	}
	if (symbols_find(symbols, address, symbol) == 0 && symbol->offset == 0)
		return 0;
	*symbol = (struct symbol){ .line = 0 };
	return -1;
}

void symbols_each(struct symbols *symbols,
		  void (*each)(void *context, const char *name, uint64_t address, uint64_t size),
		  void *context)
{
	int count = symbols ? dwfl_module_getsymtab(symbols->file.module) : 0;

	for (int i = 0; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr at;
		const char *name =
			dwfl_module_getsym_info(symbols->file.module, i, &symbol, &at, NULL, NULL, NULL);

		if (symbols_file_is_place(name, &symbol) && GELF_ST_TYPE(symbol.st_info) != STT_OBJECT &&
		    symbols_image_has_code(&symbols->image, at))
			each(context, name, as_running(symbols, at), symbol.st_size);
	}
}

unsigned symbols_named(struct symbols *symbols, const char *name, uint64_t *address, uint64_t *size)
{
	int count = symbols ? dwfl_module_getsymtab(symbols->file.module) : 0;
	unsigned found = 0;

	for (int i = 0; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr at;
		const char *other =
			dwfl_module_getsym_info(symbols->file.module, i, &symbol, &at, NULL, NULL, NULL);

		if (!symbols_file_is_place(other, &symbol) || strcmp(other, name) != 0 ||
		    (found && *address == as_running(symbols, at)))
			continue;
		*address = as_running(symbols, at);
		*size = symbol.st_size;
		found++;
	}
	return found;
}

void symbols_suggest(struct symbols *symbols, const char *name, char *text, size_t size)
{
	int count = symbols ? dwfl_module_getsymtab(symbols->file.module) : 0;
	struct suggestions similar;

	suggestions_start(&similar, name, strlen(name));
	for (int i = 0; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr at;
		const char *other =
			dwfl_module_getsym_info(symbols->file.module, i, &symbol, &at, NULL, NULL, NULL);

		if (symbols_file_is_place(other, &symbol))
			suggestions_offer(&similar, other);
	}
	suggestions_text(&similar, text, size);
}

const struct symbols_frame *symbols_frame(void *context, uint64_t address)
{
	struct symbols *symbols = context;
	struct known_frame *known;

	if (!symbols || as_linked(symbols, address, &address) != 0 || !address)
		return NULL;
	known = &symbols->known_frame[(address ^ address >> 12) % KNOWN];
	if (known->address != address) {
		known->address = address;
		known->exists =
			symbols_file_frame(&symbols->file, symbols->machine, address, &known->frame) == 0;
	}
	return known->exists ? &known->frame : NULL;
}
