/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/open.h"
#include "cpu_state.h"
#include "error.h"

#define NAME_BYTES 16u
#define MOST_CPUS  4096u
/* maximum number of registers of a CPU; no machine has so many, but the peer may not be QEMU */
#define MOST_REGISTERS 256u

/*
 * Returns ktrace's name of a register, which is the same on all machines, such as pc for rip. Returns any
 * other name unchanged.
 */
static const char *usual_name(const char *name)
{
	return strcmp(name, "rip") == 0 || strcmp(name, "eip") == 0   ? "pc"
	       : strcmp(name, "rsp") == 0 || strcmp(name, "esp") == 0 ? "sp"
	       : strcmp(name, "rfl") == 0 || strcmp(name, "efl") == 0 ? "flags"
								      : name;
}

/*
 * Reads a register name: "RAX" as rax, "x1/ra" as ra. Returns the text after the name; NULL if no name begins
 * at `at`.
 */
static const char *read_name(const char *at, char name[NAME_BYTES])
{
	size_t used = 0;

	if (!isalpha((unsigned char)*at))
		return NULL;
	for (; isalnum((unsigned char)*at) || *at == '/' || *at == '_'; at++) {
		if (*at == '/')
			used = 0;
		else if (used < NAME_BYTES - 1)
			name[used++] = (char)tolower((unsigned char)*at);
	}
	name[used] = '\0';
	return at;
}

/*
 * Reads a hexadecimal number of 1 to 16 digits that is not part of a longer word. Returns the text after the
 * number; NULL if there is no such number.
 */
static const char *read_value(const char *at, uint64_t *value)
{
	size_t digits = strspn(at, "0123456789abcdefABCDEF");

	if (digits == 0 || digits > 16 || isalnum((unsigned char)at[digits]) || at[digits] == ':')
		return NULL;
	*value = strtoull(at, NULL, 16);
	return at + digits;
}

/*
 * Returns false for registers of other units, such as floating-point registers: they do not show what the CPU
 * was doing.
 */
static bool is_wanted(const char *name)
{
	static const char *const other[] = { "fpr", "xmm", "ymm", "mxcsr", "fpcr", "fpsr", "fcw", "dpl",
					     "ft",  "fa",  "ii",  "a20",   "smm",  "v",	   "dr" };

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		if (strncmp(name, other[i], strlen(other[i])) == 0)
			return false;
	/* RISC-V has registers fs0, fs1 …; "fs" alone is x86's segment register */
	if (strncmp(name, "fs", 2) == 0 && isdigit((unsigned char)name[2]))
		return false;
	/*
	 * A word of 3 or more hexadecimal digits is not a name, but a segment register's value that begins
	 * with a letter.
	 */
	return name[0] && (strlen(name) < 3 || name[strspn(name, "0123456789abcdef")]);
}

/*
 * Finds the next "NAME=HEX", "NAME =HEX" or "NAME HEX" before the end of the line, and moves *at past it.
 * Returns false if there is none.
 */
static bool next_register(const char **at, char name[NAME_BYTES], uint64_t *value)
{
	while (**at && **at != '\n') {
		const char *after = read_name(*at, name), *end;

		if (!after) {
			size_t digits = strspn(*at, "0123456789abcdefABCDEF");

			*at += digits ? digits : 1;
			continue;
		}
		after += strspn(after, " ");
		after += *after == '=';
		after += strspn(after, " ");
		end = read_value(after, value);
		*at = end ? end : *at + strcspn(*at, " =\n");
		if (end && is_wanted(name))
			return true;
	}
	return false;
}

/*
 * Adds a register to its CPU's line, unless the line already has a register of that name. QEMU prints some
 * names again as flags of segments.
 */
static void add(FILE *line, char *const *text, const char *name, uint64_t value)
{
	char key[NAME_BYTES + 3];

	fflush(line);
	snprintf(key, sizeof(key), " %s=", name);
	if (!*text || !strstr(*text, key))
		fprintf(line, " %s=%" PRIx64, name, value);
}

/* Converts the registers of one CPU, which end at the next "CPU#". Returns false if memory runs out. */
static bool add_cpu(FILE *all, const char **at)
{
	char name[NAME_BYTES], *front = NULL, *rest = NULL;
	size_t front_size, rest_size;
	FILE *first = open_memstream(&front, &front_size), *others = open_memstream(&rest, &rest_size);
	unsigned count = 0;
	uint64_t value;

	while (first && others && **at && strncmp(*at, "CPU#", 4) != 0) {
		while (next_register(at, name, &value)) {
			const char *usual = usual_name(name);
			bool leads = strcmp(usual, "pc") == 0 || strcmp(usual, "sp") == 0;

			if (count++ < MOST_REGISTERS)
				add(leads ? first : others, leads ? &front : &rest, usual, value);
		}
		*at += **at == '\n';
	}
	if (first)
		fclose(first);
	if (others)
		fclose(others);
	if (front && rest)
		fprintf(all, "%s%s\n", front, rest);
	free(front);
	free(rest);
	return first && others;
}

char *capture_registers_of_qemu(const char *printed)
{
	char *text = NULL;
	size_t size;
	FILE *all = open_memstream(&text, &size);
	const char *at = strstr(printed, "CPU#");
	bool complete = all != NULL;

	for (unsigned n = 0; complete && at && *at && n < MOST_CPUS; n++) {
		char *end;
		unsigned long cpu = strtoul(at + 4, &end, 10);

		fprintf(all, "cpu %lu", cpu);
		at = end;
		complete = add_cpu(all, &at);
	}
	if (all && fclose(all) != 0)
		complete = false;
	if (!complete) {
		free(text);
		return NULL;
	}
	return text;
}

/*
 * Registers in gdb's order, 8 bytes each, followed by the registers that hold the CPU's mode, 4 bytes each.
 * RISC-V has no registers of the second group.
 */
static const char *const names_x86_64[] = { "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "sp", "r8",
					    "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "pc", NULL };
static const char *const names_aarch64[] = { "x0",  "x1",  "x2",  "x3",	 "x4",	"x5",  "x6",  "x7",  "x8",
					     "x9",  "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
					     "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26",
					     "x27", "x28", "x29", "x30", "sp",	"pc",  NULL };
static const char *const names_riscv64[] = { "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0",
					     "s1",   "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
					     "s2",   "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10",
					     "s11",  "t3", "t4", "t5", "t6", "pc", NULL };

static const char *const modes_x86_64[] = { "flags", "cs", "ss", NULL };
static const char *const modes_aarch64[] = { "pstate", NULL };

static const char *const *modes_of(uint16_t machine)
{
	return machine == EM_X86_64 ? modes_x86_64 : machine == EM_AARCH64 ? modes_aarch64 : NULL;
}

static const char *const *names_of(uint16_t machine)
{
	return machine == EM_X86_64    ? names_x86_64
	       : machine == EM_AARCH64 ? names_aarch64
	       : machine == EM_RISCV   ? names_riscv64
				       : NULL;
}

static uint64_t value_at(const unsigned char *bytes, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = size; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

/* If `leading` is set, writes pc and sp, with which a line begins. Otherwise writes all other registers. */
static void put_named(FILE *line, const char *const *name, const unsigned char *bytes, size_t size,
		      bool leading)
{
	for (size_t i = 0; name && name[i] && (i + 1) * 8 <= size; i++)
		if ((strcmp(name[i], "pc") == 0 || strcmp(name[i], "sp") == 0) == leading)
			fprintf(line, " %s=%" PRIx64, name[i], value_at(bytes + i * 8, 8));
}

static void put_modes(FILE *line, uint16_t machine, const unsigned char *bytes, size_t size)
{
	const char *const *name = names_of(machine), *const *mode = modes_of(machine);
	size_t at = 0;

	while (name && name[at / 8])
		at += 8;
	for (; mode && *mode && at + 4 <= size; mode++, at += 4)
		fprintf(line, " %s=%" PRIx64, *mode, value_at(bytes + at, 4));
}

void capture_registers_of_gdb(FILE *text, uint32_t cpu, uint16_t machine, const unsigned char *bytes,
			      size_t size)
{
	fprintf(text, "cpu %" PRIu32, cpu);
	put_named(text, names_of(machine), bytes, size, true);
	put_named(text, names_of(machine), bytes, size, false);
	put_modes(text, machine, bytes, size);
	fputc('\n', text);
}

int capture_registers_finish(FILE *stream, char **text)
{
	const bool failed = fclose(stream) != 0;

	if (failed || !**text) {
		free(*text);
		*text = NULL;
	}
	return failed ? capture_fail_errno("registers") : 0;
}

/* Registers from the NT_PRSTATUS notes of an ELF core, as text (spec/ktrx.md section 3). */

#define MOST_NOTES	((size_t)64 << 20) /* maximum size of the notes in bytes */
#define MOST_NOTED_CPUS 4096u
/* on 64-bit machines: offset in bytes of the registers in the note */
#define PRSTATUS_AT 112u
/* maximum number of 8-byte registers that any machine has in gdb's order */
#define MOST_WORDS 33u
/* maximum number of 4-byte registers that hold the CPU's mode on any machine */
#define MOST_MODES 3u

/*
 * Element n is the index in the note of the n-th register in gdb's order. ZERO: the register is always 0 and
 * is not in the note.
 */
#define ZERO 0xffu
static const unsigned char order_x86_64[] = { 10, 5, 11, 12, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16 };
static const unsigned char order_riscv64[] = { ZERO, 1,	 2,  3,	 4,  5,	 6,  7,	 8,  9,	 10,
					       11,   12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
					       22,   23, 24, 25, 26, 27, 28, 29, 30, 31, 0 };
static const unsigned char order_aarch64[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
					       11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
					       22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 };

static const unsigned char note_modes_x86_64[MOST_MODES] = { 18, 17, 20 };
static const unsigned char note_modes_aarch64[MOST_MODES] = { 33 };

struct notes {
	uint16_t machine;
	unsigned char *bytes;
	size_t size;
};

static const unsigned char *order_of(uint16_t machine, size_t *words)
{
	*words = machine == EM_X86_64 ? sizeof(order_x86_64) : sizeof(order_aarch64);
	return machine == EM_X86_64    ? order_x86_64
	       : machine == EM_AARCH64 ? order_aarch64
	       : machine == EM_RISCV   ? order_riscv64
				       : NULL;
}

/*
 * Copies the registers that hold the CPU's mode from the note. Returns the number of bytes that gdb would
 * send for them.
 */
static size_t add_modes(unsigned char *bytes, uint16_t machine, const unsigned char *data, size_t size)
{
	const unsigned char *order = machine == EM_X86_64 ? note_modes_x86_64 : note_modes_aarch64;
	const size_t count = machine == EM_X86_64 ? 3 : machine == EM_AARCH64 ? 1 : 0;
	size_t n = 0;

	for (; n < count && PRSTATUS_AT + order[n] * (size_t)8 + 8 <= size; n++)
		memcpy(bytes + n * 4, data + PRSTATUS_AT + order[n] * (size_t)8, 4);
	return n * 4;
}

static void add_note(FILE *text, uint32_t cpu, uint16_t machine, const unsigned char *data, size_t size)
{
	unsigned char bytes[MOST_WORDS * 8 + MOST_MODES * 4] = { 0 };
	size_t words, n = 0, modes = 0;
	const unsigned char *order = order_of(machine, &words);

	for (; order && n < words; n++) {
		size_t at = PRSTATUS_AT + (order[n] == ZERO ? 0 : order[n] * (size_t)8);

		if (at + 8 > size)
			break;
		if (order[n] != ZERO)
			memcpy(bytes + n * 8, data + at, 8);
	}
	if (order && n == words)
		modes = add_modes(bytes + n * 8, machine, data, size);
	capture_registers_of_gdb(text, cpu, machine, bytes, n * 8 + modes);
}

static size_t padded(uint32_t size)
{
	return ((size_t)size + 3) & ~(size_t)3;
}

static void add_notes(FILE *text, const struct notes *notes)
{
	uint32_t cpus = 0;

	for (size_t at = 0; cpus < MOST_NOTED_CPUS && notes->size - at >= sizeof(Elf64_Nhdr);) {
		Elf64_Nhdr note;
		size_t data, next;

		memcpy(&note, notes->bytes + at, sizeof(note));
		data = at + sizeof(note) + padded(note.n_namesz);
		next = data + padded(note.n_descsz);
		if (next > notes->size)
			break;
		if (note.n_type == NT_PRSTATUS && note.n_namesz == 5 &&
		    memcmp(notes->bytes + at + sizeof(note), "CORE", 5) == 0)
			add_note(text, cpus++, notes->machine, notes->bytes + data, note.n_descsz);
		at = next;
	}
}

/* Reads the first notes segment of the core dump. Returns false if there is none that can be read. */
static bool read_notes(int fd, struct notes *notes)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment = { 0 };

	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phentsize != sizeof(segment))
		return false;
	for (uint16_t i = 0; i < header.e_phnum && segment.p_type != PT_NOTE; i++)
		if (pread(fd, &segment, sizeof(segment), (off_t)(header.e_phoff + i * sizeof(segment))) !=
		    (ssize_t)sizeof(segment))
			return false;
	if (segment.p_type != PT_NOTE || segment.p_filesz > MOST_NOTES)
		return false;
	notes->machine = header.e_machine;
	notes->size = segment.p_filesz;
	notes->bytes = malloc(notes->size + 1);
	return notes->bytes &&
	       pread(fd, notes->bytes, notes->size, (off_t)segment.p_offset) == (ssize_t)notes->size;
}

int capture_core_registers(const char *path, char **text)
{
	struct notes notes = { 0 };
	int fd = base_open_regular(path, O_RDONLY);
	size_t size;
	FILE *stream;

	*text = NULL;
	if (fd < 0)
		return capture_fail(CAPTURE_E_SYSTEM, "%s: %s", path, base_open_message(errno));
	stream = open_memstream(text, &size);
	if (stream && read_notes(fd, &notes))
		add_notes(stream, &notes);
	close(fd);
	free(notes.bytes);
	return stream ? capture_registers_finish(stream, text) : capture_fail_errno("registers");
}

/*
 * A core contains physical memory, and its notes do not contain what is needed to translate virtual
 * addresses. But the virtual addresses of a kernel's stacks and data usually have a constant distance from
 * their physical addresses. This distance is known from the root, which contains its own virtual address.
 * Other memory, such as the stacks of programs, cannot be read in this way.
 */

struct mapping {
	struct ktread_memory *memory;
	uint64_t distance; /* distance from a physical to a virtual address of the kernel */
};

static int read_pages(void *context, struct capture_stack_page *page, unsigned pages)
{
	const struct mapping *mapping = context;

	for (unsigned n = 0; n < pages; n++)
		page[n].readable = ktread_memory_read(mapping->memory, page[n].address - mapping->distance,
						      page[n].bytes, CAPTURE_STACK_PAGE) == 0;
	return 0;
}

int capture_core_cpus(const char *path, struct ktread_memory *memory, const struct ktread_image *image,
		      const char *elf, char **text)
{
	const uint64_t address = ktread_image_virtual(image);
	struct capture_stack_kernel kernel = { .elf = elf, .self = address };
	struct mapping mapping = { memory, address - ktread_image_physical(image) };
	int error;

	*text = NULL;
	if (ktread_image_is_kept(image))
		return 0;
	error = capture_core_registers(path, text);
	if (error || !*text || !address)
		return error;
	capture_build_id_find_by_file(&kernel.id, image, memory, elf);
	return capture_stacks_add(text, read_pages, &mapping, &kernel);
}

int capture_core_cpus_read(const char *path, const char *elf, char **text)
{
	struct ktread_memory *memory = NULL;
	struct ktread_image *image = NULL;
	int error = 0;

	*text = NULL;
	if (ktread_memory_open_core(&memory, path) == 0 && ktread_image_find(&image, memory) == 0)
		error = capture_core_cpus(path, memory, image, elf, text);
	ktread_image_close(image);
	ktread_memory_close(memory);
	return error;
}

/* ---- Lines of the text --------------------------------------------------------------------------- */

const char *capture_registers_line(const char *text, const char *what, uint32_t cpu)
{
	char key[32];
	const size_t length = (size_t)snprintf(key, sizeof(key), "%s %" PRIu32 " ", what, cpu);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, length) == 0)
			return line + length - 1;
	}
	return NULL;
}

uint64_t capture_registers_value(const char *text, uint32_t cpu, const char *name)
{
	const char *line = capture_registers_line(text, "cpu", cpu);
	const char *found = line ? memmem(line, strcspn(line, "\n"), name, strlen(name)) : NULL;

	return found ? strtoull(found + strlen(name), NULL, 16) : 0;
}
