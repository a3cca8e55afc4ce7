/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <symbols.h>

#include <elf.h>
#include <program.h>
#include <string.h>
#include <unistd.h>

#define NAME_MOST 128
#define AT_ONCE	  64 /* number of symbols that are read at once */

struct file {
	int fd;
	struct elf_header header;
};

/* Reads exactly `size` bytes at an offset. Returns 0, -ENOEXEC if the file is too short, or -errno. */
static int read_at(const struct file *file, uint64_t offset, void *to, size_t size)
{
	int64_t n = lseek(file->fd, (int64_t)offset, SEEK_SET);

	if (n >= 0)
		n = read_all(file->fd, to, size);
	if (n < 0)
		return (int)n;
	return (size_t)n == size ? 0 : -ENOEXEC;
}

static int read_section(const struct file *file, unsigned n, struct elf_section *section)
{
	if (n >= file->header.sections || file->header.section_size != sizeof(*section))
		return -ENOENT;
	return read_at(file, file->header.sections_offset + n * sizeof(*section), section, sizeof(*section));
}

/* Sets function->offset, the file offset of the code, from function->address. Returns 0 or -errno. */
static int find_offset(const struct file *file, struct function *function)
{
	struct elf_segment segment;
	int error = 0;

	for (unsigned n = 0; n < file->header.segments && !error; n++) {
		error = read_at(file, file->header.segments_offset + n * sizeof(segment), &segment,
				sizeof(segment));
		if (error || segment.type != ELF_LOAD || function->address < segment.address ||
		    function->address - segment.address >= segment.file_size)
			continue;
		function->offset = segment.offset + (function->address - segment.address);
		return 0;
	}
	return error ? error : -ENOENT;
}

/*
 * Returns true if the string at offset `at` in the section `strings` equals the name. In a damaged file, the
 * offset may be outside the section.
 */
static int is_called(const struct file *file, const struct elf_section *strings, uint64_t at,
		     const char *name)
{
	char text[NAME_MOST];
	size_t size = strlen(name) + 1;

	if (size > sizeof(text) || at >= strings->size || size > strings->size - at ||
	    read_at(file, strings->offset + at, text, size) != 0)
		return 0;
	return memcmp(text, name, size) == 0;
}

static int find_in(const struct file *file, const struct elf_section *symbols, const char *name,
		   struct function *function)
{
	struct elf_symbol symbol[AT_ONCE];
	struct elf_section strings;
	uint64_t count = symbols->size / sizeof(symbol[0]);
	int error = read_section(file, symbols->link, &strings);

	for (uint64_t at = 0; at < count && !error; at += AT_ONCE) {
		size_t n = count - at < AT_ONCE ? (size_t)(count - at) : AT_ONCE;

		error = read_at(file, symbols->offset + at * sizeof(symbol[0]), symbol,
				n * sizeof(symbol[0]));
		for (size_t i = 0; i < n && !error; i++) {
			if ((symbol[i].info & 0xf) != ELF_FUNCTION || symbol[i].size == 0 ||
			    !is_called(file, &strings, symbol[i].name, name))
				continue;
			*function = (struct function){ .address = symbol[i].value, .size = symbol[i].size };
			return find_offset(file, function);
		}
	}
	return error ? error : -ENOENT;
}

static int find(struct file *file, const char *name, struct function *function)
{
	struct elf_section section;
	int error = read_at(file, 0, &file->header, sizeof(file->header));

	if (!error && (memcmp(file->header.magic, "\177ELF", 4) != 0 ||
		       file->header.segment_size != sizeof(struct elf_segment)))
		error = -ENOEXEC;
	for (unsigned n = 0; n < file->header.sections && !error; n++) {
		error = read_section(file, n, &section);
		if (!error && section.type == ELF_SYMBOLS)
			return find_in(file, &section, name, function);
	}
	return error ? error : -ENOENT;
}

int function_find(const char *path, const char *name, struct function *function)
{
	struct file file = { .fd = open(path, O_RDONLY, 0) };
	int error;

	if (file.fd < 0)
		return file.fd;
	error = find(&file, name, function);
	close(file.fd);
	return error;
}
