/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ELF files: their segments, functions and source lines. */
#include "binary.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/symbols.h"
#include "base/grow.h"
#include "base/open.h"
#include "base/index.h"
#include "ktread/ktread.h"

static void add_segment(struct hwt_binary *binary, const Elf64_Phdr *header)
{
	uint64_t size = header->p_filesz;

	if (header->p_type != PT_LOAD || header->p_offset >= binary->size ||
	    binary->segments == HWT_SEGMENTS_MOST)
		return;
	if (size > binary->size - header->p_offset)
		size = binary->size - header->p_offset;
	if (size == 0 || header->p_vaddr > UINT64_MAX - size)
		return;
	if (binary->segments == 0 || header->p_vaddr < binary->base)
		binary->base = header->p_vaddr;
	binary->segment[binary->segments++] =
		(struct hwt_segment){ .address = header->p_vaddr,
				      .offset = header->p_offset,
				      .size = size,
				      .access = (header->p_flags & PF_R ? HWT_READ : 0u) |
						(header->p_flags & PF_W ? HWT_WRITE : 0u) |
						(header->p_flags & PF_X ? HWT_EXECUTE : 0u) };
}

static int read_headers(struct hwt_binary *binary)
{
	Elf64_Ehdr head;

	if (binary->size < sizeof(head) || memcmp(binary->bytes, ELFMAG, SELFMAG) != 0)
		return 0;
	memcpy(&head, binary->bytes, sizeof(head));
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
		return KTREAD_E_FORMAT;
	binary->machine = head.e_machine;
	binary->movable = head.e_type == ET_DYN;
	for (uint32_t i = 0; i < head.e_phnum && head.e_phentsize >= sizeof(Elf64_Phdr); i++) {
		const uint64_t into = (uint64_t)i * head.e_phentsize;
		Elf64_Phdr header;

		if (head.e_phoff > binary->size || binary->size - head.e_phoff < into + sizeof(header))
			break;
		memcpy(&header, binary->bytes + head.e_phoff + into, sizeof(header));
		add_segment(binary, &header);
	}
	return 0;
}

static int map(struct hwt_binary *binary, int descriptor)
{
	struct stat status;
	void *bytes;

	if (fstat(descriptor, &status) != 0)
		return KTREAD_E_SYSTEM;
	binary->size = (uint64_t)status.st_size;
	if (binary->size == 0)
		return 0;
	bytes = mmap(NULL, binary->size, PROT_READ, MAP_PRIVATE, descriptor, 0);
	if (bytes == MAP_FAILED)
		return KTREAD_E_SYSTEM;
	binary->bytes = bytes;
	return read_headers(binary);
}

const char *hwt_name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int hwt_binary_open(struct hwt_binary **opened, const char *path)
{
	struct hwt_binary *binary;
	int descriptor, status, error;

	*opened = NULL;
	/* the recorded path is not trusted, because it may be that of a device or pipe */
	descriptor = base_open_regular(path, O_RDONLY);
	if (descriptor < 0)
		return errno == ENOTSUP || errno == EISDIR ? KTREAD_E_FORMAT : KTREAD_E_SYSTEM;
	binary = calloc(1, sizeof(*binary));
	if (binary)
		binary->path = strdup(path);
	if (!binary || !binary->path) {
		status = KTREAD_E_MEMORY;
	} else {
		binary->name = hwt_name_of(binary->path);
		status = map(binary, descriptor);
	}
	error = errno;
	close(descriptor);
	if (status < 0)
		hwt_binary_close(binary);
	else
		*opened = binary;
	errno = error;
	return status;
}

void hwt_binary_close(struct hwt_binary *binary)
{
	if (!binary)
		return;
	hwt_names_close(binary->names);
	if (binary->bytes)
		munmap((void *)(uintptr_t)binary->bytes, binary->size);
	free(binary->path);
	free(binary);
}

uint64_t hwt_binary_address(const struct hwt_binary *binary, uint64_t offset)
{
	for (uint32_t i = 0; i < binary->segments; i++) {
		const struct hwt_segment *segment = &binary->segment[i];

		if (offset >= segment->offset && offset - segment->offset < segment->size)
			return segment->address + (offset - segment->offset);
	}
	return offset;
}

/* The names of a file's functions. */

struct hwt_names {
	struct symbols *symbols; /* symbols of the file; NULL: the file has no symbols */
	struct hwt_function *function;
	size_t functions;
	uint32_t room;
	int failed; /* true if memory ran out */
};

static void add(void *context, const char *name, uint64_t address, uint64_t size)
{
	struct hwt_names *names = context;
	struct hwt_function *grown =
		base_grow(names->function, &names->room, names->functions + 1, sizeof(*grown));

	names->failed |= !grown;
	if (!grown)
		return;
	names->function = grown;
	names->function[names->functions++] = (struct hwt_function){ address, size, name };
}

/*
 * Sorts by address. If several names have the same address, the largest function comes first, and only its
 * name is kept.
 */
static int compare(const void *left, const void *right)
{
	const struct hwt_function *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void sort(struct hwt_names *names)
{
	size_t kept = 0;

	if (names->functions)
		qsort(names->function, names->functions, sizeof(*names->function), compare);
	for (size_t i = 0; i < names->functions; i++)
		if (kept == 0 || names->function[kept - 1].address != names->function[i].address)
			names->function[kept++] = names->function[i];
	names->functions = kept;
}

struct hwt_names *hwt_names_open(const char *path, uint16_t machine)
{
	const struct ktread_info info = { .machine = machine };
	struct hwt_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	if (machine && symbols_open(&names->symbols, path, &info) >= 0)
		symbols_each(names->symbols, add, names);
	if (names->failed) {
		hwt_names_close(names);
		return NULL;
	}
	sort(names);
	return names;
}

void hwt_names_close(struct hwt_names *names)
{
	if (!names)
		return;
	symbols_close(names->symbols);
	free(names->function);
	free(names);
}

size_t hwt_names_count(const struct hwt_names *names)
{
	return names->functions;
}

const struct hwt_function *hwt_names_find(const struct hwt_names *names, uint64_t address)
{
	const size_t n = base_count_up_to(names->function, names->functions, sizeof(*names->function),
					  offsetof(struct hwt_function, address), address);
	const struct hwt_function *found;

	if (n == 0)
		return NULL;
	found = &names->function[n - 1];
	return found->size && address - found->address >= found->size ? NULL : found;
}

const struct hwt_function *hwt_names_named(const struct hwt_names *names, const char *name)
{
	for (size_t i = 0; i < names->functions; i++)
		if (strcmp(names->function[i].name, name) == 0)
			return &names->function[i];
	return NULL;
}

const char *hwt_names_line(struct hwt_names *names, uint64_t address, unsigned *line)
{
	struct symbol symbol;

	symbols_find(names->symbols, address, &symbol);
	*line = symbol.line;
	return symbol.file;
}
