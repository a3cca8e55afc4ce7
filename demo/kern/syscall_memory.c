/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* System calls on a process's memory. */
#include "abi.h"
#include "arch.h"
#include "process.h"
#include "syscall.h"
#include "vm.h"

int64_t sys_brk(const struct call *call)
{
	return vm_brk(&process_self()->vm, call->a[0]);
}

static unsigned access_of(uint64_t protection)
{
	return (protection & PROT_READ ? ACCESS_READ : 0) |
	       (protection & PROT_WRITE ? ACCESS_WRITE | ACCESS_READ : 0) |
	       (protection & PROT_EXEC ? ACCESS_EXECUTE | ACCESS_READ : 0);
}

/* What is shared is a device's, and there to be read. */
static int64_t map_shared(struct process *self, const struct call *call)
{
	struct file *file = files_get(&self->files, (int)call->a[4]);

	if (!file)
		return -EBADF;
	if (call->a[2] != PROT_READ || (file->flags & O_ACCMODE) == O_WRONLY)
		return -EACCES;
	return vm_map_device(&self->vm, call->a[0], call->a[1], file, call->a[5]);
}

/* mmap(hint, size, protection, flags, fd, offset): fresh memory, of which the last two say nothing, or a device's. */
int64_t sys_mmap(const struct call *call)
{
	struct process *self = process_self();

	switch (call->a[3]) {
	case MAP_PRIVATE | MAP_ANONYMOUS:
		return vm_mmap(&self->vm, call->a[0], call->a[1], access_of(call->a[2]));
	case MAP_SHARED:
		return map_shared(self, call);
	default:
		return -EOPNOTSUPP;
	}
}

int64_t sys_munmap(const struct call *call)
{
	uintptr_t start = call->a[0], size = call->a[1];

	if (size > VM_BYTES_MAX)
		return -EINVAL;
	return vm_unmap(&process_self()->vm, start,
			start + ((size + PAGE_SIZE - 1) & ~(uintptr_t)(PAGE_SIZE - 1)));
}
