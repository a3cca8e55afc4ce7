/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Page faults. A page is allocated on the first access to it. After fork, parent and child share each page
 * until one of them writes to it. If a page is mapped read-only although its area is writable, the page is
 * shared, or was shared earlier.
 */
#include "arch.h"
#include "ipi.h"
#include "page.h"
#include "process.h"
#include "share.h"
#include "string.h"
#include "vfs.h"
#include "vm.h"

#define PAGE_MASK (~(uintptr_t)(PAGE_SIZE - 1))

const char *vm_how_name(enum vm_how how)
{
	static const char *const names[] = {
		[VM_ZERO] = "zero",	    [VM_FILE] = "file",		  [VM_COPY] = "copy",
		[VM_REUSE] = "reuse",	    [VM_SPURIOUS] = "spurious",	  [VM_BAD_ADDRESS] = "nowhere",
		[VM_BAD_ACCESS] = "denied", [VM_NO_MEMORY] = "no memory",
	};

	return names[how];
}

/*
 * Extends the stack down to an address. Returns NULL if the stack would become too large or overlap another
 * area.
 */
static struct vm_area *grow_stack(struct vm *vm, uintptr_t address)
{
	struct vm_area *stack = NULL;

	for (unsigned i = 0; i < VM_AREAS_MAX; i++) {
		struct vm_area *area = &vm->area[i];

		if (area->grows_down && address < area->start && area->end - address <= USER_STACK_MAX)
			stack = area;
	}
	for (unsigned i = 0; stack && i < VM_AREAS_MAX; i++)
		if (&vm->area[i] != stack && vm->area[i].end > address && vm->area[i].start < stack->start)
			return NULL;
	if (stack)
		stack->start = address & PAGE_MASK;
	return stack;
}

static struct vm_area *find_area(struct vm *vm, uintptr_t address)
{
	for (unsigned i = 0; i < VM_AREAS_MAX; i++)
		if (address >= vm->area[i].start && address < vm->area[i].end)
			return &vm->area[i];
	return grow_stack(vm, address);
}

/* Handles the first write to a page that is shared, or was shared earlier. */
static enum vm_how fault_write(struct vm *vm, const struct vm_area *area, uintptr_t at, uintptr_t page)
{
	void *copy;

	if (!share_is_shared(page))
		return arch_space_map(&vm->space, at, page, area->access) ? VM_REUSE : VM_NO_MEMORY;
	copy = page_alloc(1);
	if (!copy)
		return VM_NO_MEMORY;
	memcpy(copy, (const void *)page, PAGE_SIZE);
	if (area->access & ACCESS_EXECUTE)
		arch_code_written((uintptr_t)copy);
	/* This cannot fail, because the page tables for this address exist already. */
	arch_space_map(&vm->space, at, (uintptr_t)copy, area->access);
	vm_forget(vm, at);
	share_put(page);
	return VM_COPY;
}

static void make_code_visible(void *page)
{
	arch_code_written((uintptr_t)page);
}

/*
 * Makes new code visible. If another CPU runs a thread of the process, it may execute the code without
 * switching address spaces before, so the code is made visible on all CPUs.
 */
static void code_written(const struct vm *vm, void *page)
{
	if (vm->is_shared)
		ipi_call_all(make_code_visible, page);
	else
		make_code_visible(page);
}

static enum vm_how fill(const struct vm *vm, const struct vm_area *area, uintptr_t at, void *page)
{
	uint64_t from = at - area->start, bytes;

	if (!area->file || from >= area->file_bytes)
		return VM_ZERO;
	bytes = area->file_bytes - from;
	inode_read(area->file, page, area->offset + from, bytes < PAGE_SIZE ? bytes : PAGE_SIZE);
	if (area->access & ACCESS_EXECUTE)
		code_written(vm, page);
	return VM_FILE;
}

static enum vm_how fault_first(struct vm *vm, const struct vm_area *area, uintptr_t at)
{
	void *page = page_alloc(1);
	enum vm_how how;

	if (!page)
		return VM_NO_MEMORY;
	how = fill(vm, area, at, page);
	if (arch_space_map(&vm->space, at, (uintptr_t)page, area->access))
		return how;
	page_free(page, 1);
	return VM_NO_MEMORY;
}

/* Resolves a fault. Requires: vm_lock() was called by the caller. */
static enum vm_how resolve(struct vm *vm, uintptr_t address, unsigned access)
{
	const struct vm_area *area = find_area(vm, address);
	uintptr_t at = address & PAGE_MASK, page;
	unsigned mapped;

	if (!area)
		return VM_BAD_ADDRESS;
	if (access & ~area->access)
		return VM_BAD_ACCESS;
	page = arch_space_lookup(&vm->space, at, &mapped);
	if (!page)
		return fault_first(vm, area, at);
	if (access & ACCESS_WRITE & ~mapped)
		return fault_write(vm, area, at, page);
	return VM_SPURIOUS;
}

enum vm_how vm_fault(struct vm *vm, uintptr_t address, unsigned access)
{
	enum vm_how how;

	vm_lock(vm);
	how = resolve(vm, address, access);
	vm_unlock(vm);
	return how;
}

static bool fork_page(struct vm *child, struct vm *parent, uintptr_t at)
{
	unsigned access;
	uintptr_t page = arch_space_lookup(&parent->space, at, &access);

	if (!page)
		return true;
	if (!arch_space_map(&child->space, at, page, access & ~(unsigned)ACCESS_WRITE))
		return false;
	share_get(page);
	if (access & ACCESS_WRITE) {
		arch_space_map(&parent->space, at, page, access & ~(unsigned)ACCESS_WRITE);
		vm_forget(parent, at);
	}
	return true;
}

static bool fork_all(struct vm *child, struct vm *parent)
{
	child->brk_start = parent->brk_start;
	child->brk = parent->brk;
	for (unsigned i = 0; i < VM_AREAS_MAX; i++) {
		struct vm_area *area = &child->area[i];

		*area = parent->area[i];
		if (area->file)
			inode_get(area->file);
		for (uintptr_t at = area->start; at < area->end; at += PAGE_SIZE) {
			if (fork_page(child, parent, at))
				continue;
			vm_free(child);
			return false;
		}
	}
	return true;
}

bool vm_fork(struct vm *child, struct vm *parent)
{
	bool done;

	if (!vm_init(child))
		return false;
	vm_lock(parent);
	done = fork_all(child, parent);
	vm_unlock(parent);
	return done;
}

/*
 * Called when the kernel accesses user memory that is not mapped for this kind of access. Resolves that like
 * a page fault of the program. Process traces show it as a page fault if the memory belongs to the running
 * process, but not if it belongs to a process that is being created.
 */
static int fault_for(struct vm *vm, uintptr_t address, unsigned access)
{
	struct process *self = process_self();
	bool is_own = self && vm == &self->vm;
	int error;

	if (is_own)
		ktrace_proc_fault(&self->trace, &thread_self()->trace, address, access, 0);
	error = vm_error(resolve(vm, address, access));
	if (is_own)
		ktrace_proc_fault_end(&self->trace, &thread_self()->trace, error);
	return error;
}

/*
 * Returns a kernel pointer to user memory at an address, for this kind of access. It is valid up to the end
 * of the page. Returns NULL on failure, and stores the reason in *error.
 */
static char *reach(struct vm *vm, uintptr_t address, unsigned access, int *error)
{
	unsigned mapped;
	uintptr_t page = arch_space_lookup(&vm->space, address & PAGE_MASK, &mapped);

	if (!page || access & ~mapped) {
		*error = -fault_for(vm, address, access);
		if (*error)
			return NULL;
		page = arch_space_lookup(&vm->space, address & PAGE_MASK, &mapped);
	}
	return (char *)page + (address & ~PAGE_MASK);
}

static size_t until_page_end(uintptr_t address, size_t size)
{
	size_t left = PAGE_SIZE - (address & ~PAGE_MASK);

	return size < left ? size : left;
}

static int copy_in(struct vm *vm, void *to, uintptr_t from, size_t size)
{
	char *at = to;
	int error;

	while (size > 0) {
		size_t part = until_page_end(from, size);
		const char *bytes = reach(vm, from, ACCESS_READ, &error);

		if (!bytes)
			return error;
		memcpy(at, bytes, part);
		at += part;
		from += part;
		size -= part;
	}
	return 0;
}

static int copy_out(struct vm *vm, uintptr_t to, const void *from, size_t size)
{
	const char *at = from;
	int error;

	while (size > 0) {
		size_t part = until_page_end(to, size);
		char *bytes = reach(vm, to, ACCESS_WRITE, &error);

		if (!bytes)
			return error;
		memcpy(bytes, at, part);
		at += part;
		to += part;
		size -= part;
	}
	return 0;
}

static int64_t copy_string(struct vm *vm, char *to, uintptr_t from, size_t size)
{
	for (size_t n = 0; n < size;) {
		int error;
		size_t part = until_page_end(from + n, size - n);
		const char *bytes = reach(vm, from + n, ACCESS_READ, &error);

		if (!bytes)
			return error;
		for (size_t end = n + part; n < end; n++) {
			to[n] = *bytes++;
			if (!to[n])
				return (int64_t)n;
		}
	}
	return -ENAMETOOLONG;
}

int vm_copy_in(struct vm *vm, void *to, uintptr_t from, size_t size)
{
	int error;

	vm_lock(vm);
	error = copy_in(vm, to, from, size);
	vm_unlock(vm);
	return error;
}

int vm_copy_out(struct vm *vm, uintptr_t to, const void *from, size_t size)
{
	int error;

	vm_lock(vm);
	error = copy_out(vm, to, from, size);
	vm_unlock(vm);
	return error;
}

int64_t vm_copy_string(struct vm *vm, char *to, uintptr_t from, size_t size)
{
	int64_t length;

	vm_lock(vm);
	length = copy_string(vm, to, from, size);
	vm_unlock(vm);
	return length;
}
