/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Loads programs: static ELF executables for this machine, linked to user addresses. The file is not trusted:
 * anything unexpected leads to -ENOEXEC.
 */
#include "arch.h"
#include "elf.h"
#include "string.h"
#include "vfs.h"
#include "vm.h"

#define ELF_SEGMENTS_MAX 16

#define PAGE_MASK (~(uintptr_t)(PAGE_SIZE - 1))

static bool header_is_good(const struct elf_header *header)
{
	return memcmp(header->magic, "\177ELF", 4) == 0 && header->class == ELF_CLASS_64 &&
	       header->order == ELF_LITTLE && header->type == ELF_EXECUTABLE &&
	       header->machine == user_elf_machine && header->segment_size == sizeof(struct elf_segment) &&
	       header->segments <= ELF_SEGMENTS_MAX;
}

/*
 * Returns true if the segment's addresses are within user memory and its bytes are within the file. No sum
 * can overflow, because the checks before it limit its terms.
 */
static bool segment_is_good(const struct elf_segment *segment, uint64_t file_size)
{
	return segment->address >= USER_BASE && segment->address < USER_STACK - USER_STACK_MAX &&
	       segment->memory_size <= VM_BYTES_MAX && segment->file_size <= segment->memory_size &&
	       segment->address + segment->memory_size <= USER_STACK - USER_STACK_MAX &&
	       segment->file_size <= file_size && segment->offset <= file_size - segment->file_size &&
	       (segment->offset ^ segment->address) % PAGE_SIZE == 0;
}

static unsigned segment_access(const struct elf_segment *segment)
{
	return (segment->flags & ELF_READ ? ACCESS_READ : 0) |
	       (segment->flags & ELF_WRITE ? ACCESS_WRITE : 0) |
	       (segment->flags & ELF_EXECUTE ? ACCESS_EXECUTE : 0);
}

static int segment_map(struct vm *vm, struct inode *file, const struct elf_segment *segment)
{
	/* Number of bytes from the page's start to the segment's start. */
	uint64_t before = segment->address % PAGE_SIZE;
	struct vm_area area = {
		.start = segment->address - before,
		.end = (segment->address + segment->memory_size + PAGE_SIZE - 1) & PAGE_MASK,
		.access = segment_access(segment),
		.file = file,
		.offset = segment->offset - before,
		.file_bytes = segment->file_size + before,
	};
	int error = vm_map(vm, &area);

	if (error)
		return error == -ENOMEM ? error : -ENOEXEC;
	/* The heap begins after the segment with the highest address. */
	if (area.end > vm->brk_start)
		vm->brk_start = vm->brk = vm->area[VM_HEAP].start = vm->area[VM_HEAP].end = area.end;
	return 0;
}

static bool is_code(const struct vm *vm, uintptr_t address)
{
	for (unsigned i = 0; i < VM_AREAS_MAX; i++)
		if (address >= vm->area[i].start && address < vm->area[i].end)
			return vm->area[i].access & ACCESS_EXECUTE;
	return false;
}

int elf_load(struct vm *vm, struct inode *file, uintptr_t *entry)
{
	struct elf_header header;
	int error;

	if (inode_read(file, &header, 0, sizeof(header)) < sizeof(header) || !header_is_good(&header))
		return -ENOEXEC;
	for (unsigned i = 0; i < header.segments; i++) {
		struct elf_segment segment;
		uint64_t at = header.segments_offset + i * sizeof(segment);

		if (at < header.segments_offset ||
		    inode_read(file, &segment, at, sizeof(segment)) < sizeof(segment))
			return -ENOEXEC;
		if (segment.type != ELF_LOAD || segment.memory_size == 0)
			continue;
		if (!segment_is_good(&segment, file->size))
			return -ENOEXEC;
		error = segment_map(vm, file, &segment);
		if (error)
			return error;
	}
	if (!is_code(vm, header.entry))
		return -ENOEXEC;
	*entry = header.entry;
	return 0;
}
