/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kernel_elf.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/open.h"
#include "ktrx/v2.h"
#include "error.h"

/*
 * Looks for a build id in these notes. Stores the build id in *kernel, and the offset of the build id in the
 * file in *found.
 */
static void read_notes(struct capture_kernel *kernel, Elf *elf, uint64_t offset, uint64_t bytes,
		       uint64_t *found)
{
	Elf_Data *notes = elf_getdata_rawchunk(elf, (int64_t)offset, bytes, ELF_T_NHDR);
	size_t next, name, description;
	GElf_Nhdr note;

	for (size_t at = 0; notes && (next = gelf_getnote(notes, at, &note, &name, &description)) > 0;
	     at = next) {
		const char *content = notes->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp(content + name, "GNU", sizeof("GNU")) != 0 || note.n_descsz > CAPTURE_BUILD_ID_MAX)
			continue;
		memcpy(kernel->build_id, content + description, note.n_descsz);
		kernel->build_id_size = note.n_descsz;
		*found = offset + description;
	}
}

/* Finds the first loaded segment with an index of at least `n`. Returns its index + 1; 0 if there is none. */
static size_t next_loaded(Elf *elf, size_t n, GElf_Phdr *segment)
{
	size_t count;

	if (elf_getphdrnum(elf, &count) != 0)
		return 0;
	for (; n < count && n <= INT32_MAX; n++)
		if (gelf_getphdr(elf, (int)n, segment) && segment->p_type == PT_LOAD)
			return n + 1;
	return 0;
}

/*
 * Returns the physical address at which a loader puts the byte of the file at `offset`; 0 if that byte is not
 * loaded.
 */
static uint64_t load_address(Elf *elf, uint64_t offset)
{
	GElf_Phdr segment;

	for (size_t n = 0; (n = next_loaded(elf, n, &segment)) > 0;)
		if (offset >= segment.p_offset && offset - segment.p_offset < segment.p_filesz)
			return segment.p_paddr + (offset - segment.p_offset);
	return 0;
}

/*
 * Converts a virtual address to a physical address, using the loaded segments. Returns 0 if no segment
 * contains the address.
 */
static uint64_t physical_of(Elf *elf, uint64_t address)
{
	GElf_Phdr segment;

	for (size_t n = 0; (n = next_loaded(elf, n, &segment)) > 0;)
		if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_memsz)
			return segment.p_paddr + (address - segment.p_vaddr);
	return 0;
}

/*
 * Returns the offset in the file of the byte at a virtual address; 0 if the file does not contain this byte.
 */
static uint64_t offset_of(Elf *elf, uint64_t address)
{
	GElf_Phdr segment;

	for (size_t n = 0; (n = next_loaded(elf, n, &segment)) > 0;)
		if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
			return segment.p_offset + (address - segment.p_vaddr);
	return 0;
}

/*
 * Returns the KTRX_HOOK_* bit of the hook that the function `name` is part of; 0 if the function is not part
 * of a hook. A name that ends in _at is a variant that also takes the caller's address.
 */
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

/*
 * Records the address of a hook function for locks or threads. The functions of ktrace/facts.h replace those
 * of ktrace/hooks.h while an event is recorded.
 */
static void take_switch_point(struct capture_kernel *kernel, const GElf_Sym *symbol, const char *name)
{
	static const char *const names[] = {
		"ktrace_lock_wait",	    "ktrace_lock_wait_at",	"ktrace_lock_acquire",
		"ktrace_lock_acquire_at",   "ktrace_lock_release",	"ktrace_lock_release_at",
		"ktrace_thread_block",	    "ktrace_thread_block_at",	"ktrace_thread_wake",
		"ktrace_thread_switch",	    "ktrace_fact_lock_contend", "ktrace_fact_lock_acquire",
		"ktrace_fact_lock_release", "ktrace_fact_sched_block",	"ktrace_fact_sched_wake",
		"ktrace_fact_sched_switch",
	};

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (strcmp(name, names[n]) == 0 && kernel->switch_points < CAPTURE_KERNEL_SWITCH_POINTS)
			kernel->switch_point[kernel->switch_points++] = symbol->st_value;
}

/* Returns the index of the element of `names` that equals `name`, `count` if there is none. */
static uint32_t index_of(const char *const *names, uint32_t count, const char *name)
{
	uint32_t n = 0;

	while (n < count && strcmp(names[n], name) != 0)
		n++;
	return n;
}

/*
 * Records `symbol` if it marks the start or the end of the memory that the kernel's start code clears. Such
 * symbols have no fixed names; the lists contain common names. If a kernel has several symbols from `starts`,
 * the one that comes first in the list counts. __bss_start is the last, because the linker may define it by
 * itself; the other names come only from the kernel's own linker script.
 */
static void take_bss(struct capture_kernel_bss *bss, const GElf_Sym *symbol, const char *name)
{
	static const char *const starts[] = { "bss_start",
					      "_bss_start",
					      "__bss_start__",
					      "__bss_begin",
					      "bss_begin",
					      "kernel_bss_start",
					      "_kernel_bss_start",
					      "_sbss",
					      "__sbss",
					      "sbss",
					      "_bss",
					      "__bss",
					      "bss",
					      "__bss_start" };
	static const char *const stops[] = {
		"__bss_end", "bss_end", "_bss_end", "__bss_end__", "__bss_stop",     "bss_stop",
		"_ebss",     "__ebss",	"ebss",	    "__BSS_END__", "kernel_bss_end", "_kernel_bss_end"
	};
	const uint32_t count = sizeof(starts) / sizeof(starts[0]);
	const uint32_t start = index_of(starts, count, name);
	const uint32_t stop = index_of(stops, sizeof(stops) / sizeof(stops[0]), name);

	if (start < count && (!bss->start_name || start < index_of(starts, count, bss->start_name))) {
		bss->start = symbol->st_value;
		bss->start_name = starts[start];
	}
	if (stop < sizeof(stops) / sizeof(stops[0])) {
		bss->stop = symbol->st_value;
		bss->stop_name = stops[stop];
	}
}

/*
 * Records `symbol` if it marks the start or the end of ktrace's data within a larger section. Until
 * settle_bounds() is called, `size` holds the end address.
 */
static void take_bound(struct capture_kernel *kernel, const GElf_Sym *symbol, const char *name)
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

/* Returns whether the symbol is that object. The names of some objects are followed by one of `ends`. */
static bool is_object(const char *symbol, const char *object)
{
	static const char *const ends[] = { "", "_with_ktrace_port_h", "_without_ktrace_port_h" };
	const uint32_t count = sizeof(ends) / sizeof(ends[0]);
	const size_t length = strlen(object);

	return strncmp(symbol, object, length) == 0 && index_of(ends, count, symbol + length) < count;
}

static void take_object(struct capture_kernel *kernel, const GElf_Sym *symbol, const char *name)
{
	for (size_t n = 0; n < CAPTURE_KERNEL_OBJECTS; n++)
		if (is_object(name, capture_kernel_object_names[n]))
			kernel->object[n] = (struct capture_kernel_section){ .size = symbol->st_size,
									     .address = symbol->st_value };
}

static void take_symbol(struct capture_kernel *kernel, const GElf_Sym *symbol, const char *name)
{
	static const char *const ends[] = { "_end",	  "end",	 "image_end",
					    "kernel_end", "_kernel_end", "__kernel_end" };

	if (GELF_ST_BIND(symbol->st_info) != STB_LOCAL)
		take_bss(&kernel->bss, symbol, name);
	take_bound(kernel, symbol, name);
	take_object(kernel, symbol, name);
	if (strcmp(name, "ktrace_root") == 0)
		kernel->root_address = symbol->st_value;
	if (strcmp(name, "ktrace_init") == 0)
		kernel->init_address = symbol->st_value;
	if (GELF_ST_TYPE(symbol->st_info) == STT_FUNC) {
		kernel->hooks |= hook_of(name);
		take_switch_point(kernel, symbol, name);
	}
	for (size_t n = 0; n < sizeof(ends) / sizeof(ends[0]); n++)
		if (strcmp(name, ends[n]) == 0 && GELF_ST_BIND(symbol->st_info) != STB_LOCAL)
			kernel->image_end = symbol->st_value;
}

/* Reads the symbols that ktrace needs from a symbol table. */
static void read_symbols(struct capture_kernel *kernel, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *table = elf_getdata(section, NULL);
	size_t count = table ? table->d_size / gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT) : 0;
	GElf_Sym symbol;

	for (size_t n = 0; n < count && n <= INT32_MAX && gelf_getsym(table, (int)n, &symbol); n++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

		kernel->has_symbols = 1;
		if (symbol.st_shndx != SHN_UNDEF && name)
			take_symbol(kernel, &symbol, name);
	}
}

static void take_section(struct capture_kernel *kernel, Elf *elf, const GElf_Shdr *section, const char *name)
{
	struct capture_kernel_section *taken = strcmp(name, "ktrace_events") == 0     ? &kernel->events
					       : strcmp(name, "ktrace_settings") == 0 ? &kernel->settings
										      : NULL;

	if (strcmp(name, ".bss") == 0)
		kernel->bss.section = section->sh_addr;
	if (taken && section->sh_type == SHT_PROGBITS)
		*taken = (struct capture_kernel_section){
			.size = section->sh_size,
			.offset = section->sh_offset,
			.address = section->sh_addr,
			.loaded =
				(section->sh_flags & SHF_ALLOC) && load_address(elf, section->sh_offset) != 0,
		};
}

/* Replaces the end address in `size` by the size in bytes, after all symbols have been read. */
static void settle_bounds(struct capture_kernel_section *section, Elf *elf)
{
	section->size = section->size > section->address ? section->size - section->address : 0;
	section->offset = section->size ? offset_of(elf, section->address) : 0;
	section->loaded = section->offset != 0;
}

static void read_sections(struct capture_kernel *kernel, Elf *elf, uint64_t *found)
{
	GElf_Shdr header;
	size_t names;

	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_NOTE)
			read_notes(kernel, elf, header.sh_offset, header.sh_size, found);
		else if (header.sh_type == SHT_SYMTAB)
			read_symbols(kernel, elf, section, &header);
	}
	settle_bounds(&kernel->events, elf);
	settle_bounds(&kernel->settings, elf);
	if (elf_getshdrstrndx(elf, &names) != 0)
		return;
	/* sections with one of ktrace's names take precedence over bounds from symbols */
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		const char *name =
			gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (name && (header.sh_type == SHT_PROGBITS || header.sh_type == SHT_NOBITS))
			take_section(kernel, elf, &header, name);
	}
}

static void read_note_segments(struct capture_kernel *kernel, Elf *elf, uint64_t *found)
{
	GElf_Phdr segment;
	size_t count;

	if (elf_getphdrnum(elf, &count) != 0)
		return;
	for (size_t n = 0; n < count && n <= INT32_MAX; n++)
		if (gelf_getphdr(elf, (int)n, &segment) && segment.p_type == PT_NOTE)
			read_notes(kernel, elf, segment.p_offset, segment.p_filesz, found);
}

static int read_file(struct capture_kernel *kernel, Elf *elf, const char *path)
{
	uint64_t found = 0;
	GElf_Ehdr header;
	GElf_Phdr first;
	size_t segments;

	*kernel = (struct capture_kernel){ 0 };
	if (elf_kind(elf) != ELF_K_ELF)
		return capture_fail(CAPTURE_E_FORMAT, "%s: not an ELF file", path);
	if (!gelf_getehdr(elf, &header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB || elf_getphdrnum(elf, &segments) != 0 ||
	    (segments && !gelf_getphdr(elf, 0, &first)))
		return capture_fail(CAPTURE_E_FORMAT, "%s: not a usable 64-bit little-endian ELF file", path);
	kernel->machine = header.e_machine;
	read_sections(kernel, elf, &found);
	read_note_segments(kernel, elf, &found);
	if (kernel->root_address)
		kernel->root_physical = physical_of(elf, kernel->root_address);
	for (size_t n = 0; n < CAPTURE_KERNEL_OBJECTS; n++) {
		kernel->object[n].offset = offset_of(elf, kernel->object[n].address);
		kernel->object[n].loaded = kernel->object[n].offset != 0;
	}
	if (found)
		kernel->build_id_physical = load_address(elf, found);
	return 0;
}

int capture_kernel_read(struct capture_kernel *kernel, const char *path)
{
	int fd = base_open_regular(path, O_RDONLY), error;
	Elf *elf;

	if (fd < 0 && (errno == ENOTSUP || errno == EISDIR))
		return capture_fail(CAPTURE_E_FORMAT, "%s: not an ELF file: %s", path,
				    base_open_message(errno));
	if (fd < 0)
		return capture_fail_errno("%s", path);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	error = read_file(kernel, elf, path);
	elf_end(elf);
	close(fd);
	return error;
}

const char *capture_kernel_machine(const struct capture_kernel *kernel)
{
	return base_machine_name(kernel->machine);
}

static void read_trace_id(struct capture_build_id *id, uint16_t *machine, const char *path)
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
 * Reads the build id from the guest's memory, for a trace that has no build id. The note with the build id is
 * part of the kernel's image, at the address where a loader puts it unless the kernel was moved. The bytes
 * are accepted only if the header of a build-id note precedes them.
 */
static void read_memory_id(struct capture_build_id *id, struct ktread_memory *memory,
			   const struct capture_kernel *kernel)
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

void capture_build_id_find(struct capture_build_id *id, const struct ktread_image *image,
			   struct ktread_memory *memory, const struct capture_kernel *kernel)
{
	*id = (struct capture_build_id){ .size = 0 };
	if (image)
		id->size = ktread_image_build_id(image, id->bytes, sizeof(id->bytes));
	if (!id->size && kernel)
		read_memory_id(id, memory, kernel);
}

void capture_build_id_find_by_file(struct capture_build_id *id, const struct ktread_image *image,
				   struct ktread_memory *memory, const char *elf)
{
	struct capture_kernel kernel;

	capture_build_id_find(id, image, NULL, NULL);
	if (!id->size && elf && capture_kernel_read(&kernel, elf) == 0)
		capture_build_id_find(id, NULL, memory, &kernel);
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
	struct capture_build_id id = { 0 };
	uint16_t machine = 0;

	if (capture_kernel_read(&kernel, elf) != 0) {
		snprintf(warning, size, "%s", capture_message());
		return CAPTURE_E_FORMAT;
	}
	read_trace_id(&id, &machine, trace);
	if (machine && machine != kernel.machine) {
		snprintf(warning, size, "WARNING: %s is for another architecture than the guest", elf);
		return CAPTURE_E_FORMAT;
	}
	if (!id.size)
		read_memory_id(&id, memory, &kernel);
	if (!id.size || !kernel.build_id_size) {
		snprintf(warning, size, "%s: %s has no build id (%s): is it the kernel that was traced?", elf,
			 kernel.build_id_size ? "the trace" : "the file",
			 kernel.build_id_size ? "set ktrace_config.build_id" : "link with --build-id");
		return CAPTURE_E_ABSENT;
	}
	if (id.size == kernel.build_id_size && memcmp(id.bytes, kernel.build_id, id.size) == 0)
		return 0;
	snprintf(warning, size, "WARNING: %s is not the kernel that ran: its build id is %s, the guest's %s",
		 elf, hex(kernel.build_id, kernel.build_id_size, wanted), hex(id.bytes, id.size, seen));
	return CAPTURE_E_FORMAT;
}

/* ---- The file of the kernel that a running QEMU has booted ---- */

#define PROCESS 300u /* size, in bytes, of a buffer for a path such as "/proc/123/fd" */

/* Returns whether the process has the file open. */
static bool has_open(const char *process, const struct stat *file)
{
	char path[PROCESS];
	struct dirent *entry;
	struct stat status;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%.32s/fd", process);
	folder = opendir(path);
	while (folder && !found && (entry = readdir(folder)))
		found = fstatat(dirfd(folder), entry->d_name, &status, 0) == 0 &&
			status.st_dev == file->st_dev && status.st_ino == file->st_ino;
	if (folder)
		closedir(folder);
	return found;
}

/*
 * Converts the path `word` to an absolute path. A relative path is relative to the process's working
 * directory. Returns false if the result does not fit or that directory is unknown.
 */
static bool make_absolute(const char *process, const char *word, char *path, size_t size)
{
	char link[PROCESS], folder[PATH_MAX];
	ssize_t length;

	if (*word == '/')
		return snprintf(path, size, "%s", word) < (int)size;
	snprintf(link, sizeof(link), "/proc/%.32s/cwd", process);
	length = readlink(link, folder, sizeof(folder));
	return length > 0 && length < (ssize_t)sizeof(folder) &&
	       snprintf(path, size, "%.*s/%s", (int)length, folder, word) < (int)size;
}

/* Stores the argument of -kernel on the process's command line, as an absolute path. */
static bool find_kernel(const char *process, char *path, size_t size)
{
	bool wanted = false, found = false;
	char file[PROCESS], *word = NULL;
	size_t room = 0;
	FILE *words;

	snprintf(file, sizeof(file), "/proc/%.32s/cmdline", process);
	words = fopen(file, "re");
	while (words && !found && getdelim(&word, &room, '\0', words) > 0) {
		found = wanted && make_absolute(process, word, path, size);
		wanted = strcmp(word, "-kernel") == 0 || strcmp(word, "--kernel") == 0;
	}
	free(word);
	if (words)
		fclose(words);
	return found;
}

bool capture_ram_kernel(const char *ram, char *path, size_t size)
{
	struct dirent *entry;
	struct stat file;
	bool found = false;
	DIR *processes;

	if (stat(ram, &file) != 0 || !S_ISREG(file.st_mode))
		return false;
	processes = opendir("/proc");
	while (processes && !found && (entry = readdir(processes)))
		found = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			has_open(entry->d_name, &file) && find_kernel(entry->d_name, path, size);
	if (processes)
		closedir(processes);
	return found;
}
