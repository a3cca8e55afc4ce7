/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cpu_state.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/open.h"
#include "error.h"

#define MOST_NOTES  ((size_t)64 << 20) /* bytes */
#define MOST_CPUS   4096u
#define PRSTATUS_AT 112u /* bytes of the note's data before the registers, on 64-bit machines */
#define MOST_WORDS  33u	 /* as gdb orders them */
#define MOST_MODES  3u	 /* that follow, 4 bytes each */

/* Which word of the note is the n-th that gdb would send; ZERO: none, it is always 0. */
#define ZERO 0xffu
static const unsigned char order_x86_64[] = { 10, 5, 11, 12, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16 };
static const unsigned char order_riscv64[] = { ZERO, 1,	 2,  3,	 4,  5,	 6,  7,	 8,  9,	 10,
					       11,   12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
					       22,   23, 24, 25, 26, 27, 28, 29, 30, 31, 0 };
static const unsigned char order_aarch64[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
					       11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
					       22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 };

static const unsigned char modes_x86_64[MOST_MODES] = { 18, 17, 20 };
static const unsigned char modes_aarch64[MOST_MODES] = { 33 };

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
 * The words of the note that say in which mode the CPU is. Returns how many bytes they are as gdb sends them.
 */
static size_t add_modes(unsigned char *bytes, uint16_t machine, const unsigned char *data, size_t size)
{
	const unsigned char *order = machine == EM_X86_64 ? modes_x86_64 : modes_aarch64;
	const size_t count = machine == EM_X86_64 ? 3 : machine == EM_AARCH64 ? 1 : 0;
	size_t n = 0;

	for (; n < count && PRSTATUS_AT + order[n] * (size_t)8 + 8 <= size; n++)
		memcpy(bytes + n * 4, data + PRSTATUS_AT + order[n] * (size_t)8, 4);
	return n * 4;
}

static int add_cpu(char **text, uint32_t cpu, uint16_t machine, const unsigned char *data, size_t size)
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
	return capture_registers_of_gdb(text, cpu, machine, bytes, n * 8 + modes);
}

static size_t padded(uint32_t size)
{
	return ((size_t)size + 3) & ~(size_t)3;
}

static int add_cpus(char **text, const struct notes *notes)
{
	uint32_t cpus = 0;
	int error = 0;

	for (size_t at = 0; !error && cpus < MOST_CPUS && notes->size - at >= sizeof(Elf64_Nhdr);) {
		Elf64_Nhdr note;
		size_t data, next;

		memcpy(&note, notes->bytes + at, sizeof(note));
		data = at + sizeof(note) + padded(note.n_namesz);
		next = data + padded(note.n_descsz);
		if (next > notes->size)
			break;
		if (note.n_type == NT_PRSTATUS && note.n_namesz == 5 &&
		    memcmp(notes->bytes + at + sizeof(note), "CORE", 5) == 0)
			error = add_cpu(text, cpus++, notes->machine, notes->bytes + data, note.n_descsz);
		at = next;
	}
	return error;
}

/* The first segment of notes; false where there is none that can be read. */
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
	int fd = base_open_regular(path, O_RDONLY), error = 0;

	*text = NULL;
	if (fd < 0)
		return capture_fail(CAPTURE_E_SYSTEM, "%s: %s", path, base_open_message(errno));
	if (read_notes(fd, &notes))
		error = add_cpus(text, &notes);
	close(fd);
	free(notes.bytes);
	return error;
}

/*
 * A core is of physical memory, and its notes lack what would tell how each machine translates addresses. But
 * kernels see their stacks and their data at the same distance from where these lie, which the root tells: it
 * knows its own address. What lies elsewhere, as stacks of programs do, is not to be read that way.
 */

struct mapping {
	struct ktread_memory *memory;
	uint64_t distance; /* from physical addresses to the kernel's */
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
		      char **text)
{
	const uint64_t address = ktread_image_virtual(image);
	struct mapping mapping = { memory, address - ktread_image_physical(image) };
	int error;

	*text = NULL;
	if (ktread_image_is_kept(image))
		return 0;
	error = capture_core_registers(path, text);
	if (error || !*text || !address)
		return error;
	return capture_stacks_add(text, read_pages, &mapping);
}

int capture_core_cpus_read(const char *path, char **text)
{
	struct ktread_memory *memory = NULL;
	struct ktread_image *image = NULL;
	int error = 0;

	*text = NULL;
	if (ktread_memory_open_core(&memory, path) == 0 && ktread_image_find(&image, memory) == 0)
		error = capture_core_cpus(path, memory, image, text);
	ktread_image_close(image);
	ktread_memory_close(memory);
	return error;
}
