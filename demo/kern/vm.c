/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The areas of a process's memory. Areas never overlap; every mapped page is in an area. vm_fault.c maps the
 * pages.
 */
#include "vm.h"

#include "arch.h"
#include "file.h"
#include "ipi.h"
#include "share.h"
#include "string.h"
#include "vfs.h"

#define PAGE_MASK (~(uintptr_t)(PAGE_SIZE - 1))

static bool area_is_used(const struct vm_area *area)
{
	return area->start != area->end;
}

static bool area_overlaps(const struct vm_area *area, uintptr_t start, uintptr_t end)
{
	return area->start < end && start < area->end;
}

static struct vm_area *find_overlap(struct vm *vm, uintptr_t start, uintptr_t end)
{
	for (unsigned i = 0; i < VM_AREAS_MAX; i++)
		if (area_overlaps(&vm->area[i], start, end))
			return &vm->area[i];
	return NULL;
}

/* Returns an unused area, or NULL if there is none. Never returns the heap's entry. */
static struct vm_area *find_unused(struct vm *vm)
{
	for (unsigned i = VM_HEAP + 1; i < VM_AREAS_MAX; i++)
		if (!area_is_used(&vm->area[i]))
			return &vm->area[i];
	return NULL;
}

static uint64_t bytes_covered(const struct vm *vm)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < VM_AREAS_MAX; i++)
		bytes += vm->area[i].end - vm->area[i].start;
	return bytes;
}

static bool is_user_range(uintptr_t start, uintptr_t end)
{
	return start >= USER_BASE && start < end && end <= USER_END;
}

bool vm_init(struct vm *vm)
{
	memset(vm, 0, sizeof(*vm));
	vm->area[VM_HEAP].access = ACCESS_READ | ACCESS_WRITE;
	vm->lock = (struct mutex)MUTEX("memory");
	return arch_space_init(&vm->space);
}

void vm_share(struct vm *vm)
{
	vm->is_shared = true;
}

void vm_lock(struct vm *vm)
{
	if (vm->is_shared)
		mutex_lock_at(&vm->lock, KTRACE_RETURN_ADDRESS);
}

void vm_unlock(struct vm *vm)
{
	if (vm->is_shared)
		mutex_unlock(&vm->lock);
}

static void forget(void *address)
{
	arch_tlb_flush((uintptr_t)address);
}

void vm_forget(const struct vm *vm, uintptr_t address)
{
	if (vm->is_shared)
		ipi_call_all(forget, (void *)address);
}

static void drop_pages(struct vm *vm, uintptr_t start, uintptr_t end)
{
	for (uintptr_t at = start; at < end; at += PAGE_SIZE) {
		uintptr_t page = arch_space_unmap(&vm->space, at);

		if (!page)
			continue;
		vm_forget(vm, at);
		share_put(page);
	}
}

static void drop_area(struct vm *vm, struct vm_area *area)
{
	drop_pages(vm, area->start, area->end);
	if (area->file)
		inode_put(area->file);
	memset(area, 0, sizeof(*area));
}

void vm_free(struct vm *vm)
{
	for (unsigned i = 0; i < VM_AREAS_MAX; i++)
		drop_area(vm, &vm->area[i]);
	arch_space_free(&vm->space);
}

int vm_map(struct vm *vm, const struct vm_area *area)
{
	struct vm_area *unused = find_unused(vm);

	if (!is_user_range(area->start, area->end) || (area->start | area->end) & ~PAGE_MASK)
		return -EINVAL;
	if (find_overlap(vm, area->start, area->end))
		return -EEXIST;
	if (!unused || area->end - area->start > VM_BYTES_MAX - bytes_covered(vm))
		return -ENOMEM;
	*unused = *area;
	if (area->file)
		inode_get(area->file);
	return 0;
}

/* Removes the part of an area that is before `start`. */
static void cut_front(struct vm_area *area, uintptr_t start)
{
	uint64_t cut = start - area->start;

	area->start = start;
	area->offset += cut;
	area->file_bytes = area->file_bytes > cut ? area->file_bytes - cut : 0;
}

/*
 * Removes [start, end) from an area that overlaps this range. Returns -ENOMEM if the area would be split in
 * two parts, but there is no unused entry for the second one.
 */
static int cut(struct vm *vm, struct vm_area *area, uintptr_t start, uintptr_t end)
{
	uintptr_t from = start > area->start ? start : area->start, to = end < area->end ? end : area->end;
	struct vm_area *rest;

	if (from > area->start && to < area->end) {
		rest = find_unused(vm);
		if (!rest)
			return -ENOMEM;
		*rest = *area;
		if (rest->file)
			inode_get(rest->file);
		cut_front(rest, to);
		drop_pages(vm, from, to);
		area->end = from;
	} else if (from > area->start) {
		drop_pages(vm, from, to);
		area->end = from;
	} else if (to < area->end) {
		drop_pages(vm, from, to);
		cut_front(area, to);
	} else {
		drop_area(vm, area);
	}
	return 0;
}

static int unmap(struct vm *vm, uintptr_t start, uintptr_t end)
{
	struct vm_area *area;
	int error = 0;

	if (area_overlaps(&vm->area[VM_HEAP], start, end))
		return -EINVAL; /* only brk changes the heap */
	while (!error && (area = find_overlap(vm, start, end)))
		error = cut(vm, area, start, end);
	return error;
}

int vm_unmap(struct vm *vm, uintptr_t start, uintptr_t end)
{
	int error;

	if (!is_user_range(start, end) || (start | end) & ~PAGE_MASK)
		return -EINVAL;
	vm_lock(vm);
	error = unmap(vm, start, end);
	vm_unlock(vm);
	return error;
}

static bool heap_can_grow(struct vm *vm, uintptr_t from, uintptr_t to)
{
	return to <= USER_END && !find_overlap(vm, from, to) && to - from <= VM_BYTES_MAX - bytes_covered(vm);
}

static int64_t set_brk(struct vm *vm, uintptr_t brk)
{
	struct vm_area *heap = &vm->area[VM_HEAP];
	uintptr_t end = (brk + PAGE_SIZE - 1) & PAGE_MASK;

	if (brk < vm->brk_start || brk > USER_END)
		return (int64_t)vm->brk; /* the caller only asks where the heap ends now */
	if (end > heap->end) {
		if (!heap_can_grow(vm, heap->end, end))
			return -ENOMEM;
	} else {
		drop_pages(vm, end, heap->end);
	}
	heap->end = end;
	vm->brk = brk;
	return (int64_t)brk;
}

int64_t vm_brk(struct vm *vm, uintptr_t brk)
{
	int64_t result;

	vm_lock(vm);
	result = set_brk(vm, brk);
	vm_unlock(vm);
	return result;
}

/* Returns the start of the highest free range of `size` bytes below the stack, or 0 if there is none. */
static uintptr_t find_room(struct vm *vm, size_t size)
{
	uintptr_t end = USER_STACK - USER_STACK_MAX - PAGE_SIZE;

	while (end >= USER_BASE + size) {
		struct vm_area *area = find_overlap(vm, end - size, end);

		if (!area)
			return end - size;
		end = area->start;
	}
	return 0;
}

/* Finds free addresses for a new area: at `hint` if possible, otherwise elsewhere. Returns 0 or -errno. */
static int place(struct vm *vm, uintptr_t hint, size_t size, struct vm_area *area)
{
	if (size == 0)
		return -EINVAL;
	if (size > VM_BYTES_MAX)
		return -ENOMEM;
	size = (size + PAGE_SIZE - 1) & PAGE_MASK;
	area->start = hint & PAGE_MASK;
	if (!is_user_range(area->start, area->start + size) ||
	    find_overlap(vm, area->start, area->start + size))
		area->start = find_room(vm, size);
	area->end = area->start + size;
	return area->start ? 0 : -ENOMEM;
}

int64_t vm_mmap(struct vm *vm, uintptr_t hint, size_t size, unsigned access, struct inode *file,
		uint64_t offset)
{
	struct vm_area area = { .access = access, .file = file, .offset = offset };
	int error;

	if (offset & ~PAGE_MASK)
		return -EINVAL;
	if (file && offset < file->size)
		area.file_bytes = file->size - offset;
	if (area.file_bytes > size)
		area.file_bytes = size;
	vm_lock(vm);
	error = place(vm, hint, size, &area);
	if (!error)
		error = vm_map(vm, &area);
	vm_unlock(vm);
	return error ? error : (int64_t)area.start;
}

/* Maps all pages of a device's area now, because a later page fault could not get them from the device. */
static int map_pages(struct vm *vm, const struct vm_area *area, struct file *device, uint64_t offset)
{
	for (uintptr_t at = area->start; at < area->end; at += PAGE_SIZE) {
		uintptr_t page = device->operations->page(device, offset + (at - area->start));

		if (page == PAGE_NONE)
			return -EINVAL;
		if (!arch_space_map(&vm->space, at, page, area->access))
			return -ENOMEM;
		share_get(page);
	}
	return 0;
}

int64_t vm_map_device(struct vm *vm, uintptr_t hint, size_t size, struct file *device, uint64_t offset)
{
	struct vm_area area = { .access = ACCESS_READ };
	int error;

	if (!device->operations->page)
		return -ENODEV;
	if (offset & ~PAGE_MASK)
		return -EINVAL;
	vm_lock(vm);
	error = place(vm, hint, size, &area);
	if (!error)
		error = vm_map(vm, &area);
	if (!error) {
		error = map_pages(vm, &area, device, offset);
		if (error)
			unmap(vm, area.start, area.end);
	}
	vm_unlock(vm);
	return error ? error : (int64_t)area.start;
}
