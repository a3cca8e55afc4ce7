/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* System calls on a process's memory. */
#include "abi.h"
#include "arch.h"
#include "mapped_code.h"
#include "process.h"
#include "syscall.h"
#include "vfs.h"
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

/* Maps a device. Only devices can be mapped shared, and only with PROT_READ. */
static int64_t map_shared(struct process *self, const struct call *call)
{
	struct file *file = call_file(call, 4);

	if (!file)
		return -EBADF;
	if (call->a[2] != PROT_READ || (file->flags & O_ACCMODE) == O_WRONLY)
		return -EACCES;
	return vm_map_device(&self->vm, call->a[0], call->a[1], file, call->a[5]);
}

/*
 * Records that a file with code was mapped, for existing hardware traces of the process and for those that
 * start later.
 */
static void record_mapped(struct process *self, const struct file *file, const struct ktrx_hwt_image *image)
{
	char path[PATH_MAX];

	if (vfs_file_path(file, path, sizeof(path)) < 0)
		path[0] = '\0';
	mapped_code_add(self, image, path);
	ktrace_hwt_mmap(&self->hardware_trace, &thread_self()->hardware_trace, image, path);
}

/* Maps a regular file privately. The file must have been opened for reading. */
static int64_t map_file(struct process *self, const struct call *call)
{
	struct file *file = call_file(call, 4);
	unsigned access = access_of(call->a[2]);
	int64_t at;

	if (!file)
		return -EBADF;
	if ((file->flags & O_ACCMODE) == O_WRONLY)
		return -EACCES;
	if (!file->inode || (file->inode->mode & S_IFMT) != S_IFREG)
		return -ENODEV;
	if (access & ACCESS_EXECUTE && !mapped_code_prepare(self))
		return -ENOMEM;
	at = vm_mmap(&self->vm, call->a[0], call->a[1], access, file->inode, call->a[5]);
	if (at >= 0 && access & ACCESS_EXECUTE)
		record_mapped(self, file,
			      &(struct ktrx_hwt_image){ (uint64_t)at, call->a[1], call->a[5], access, 0 });
	return at;
}

/* mmap(hint, size, protection, flags, fd, offset). For anonymous memory, fd and offset are ignored. */
int64_t sys_mmap(const struct call *call)
{
	struct process *self = process_self();

	switch (call->a[3]) {
	case MAP_PRIVATE | MAP_ANONYMOUS:
		return vm_mmap(&self->vm, call->a[0], call->a[1], access_of(call->a[2]), NULL, 0);
	case MAP_PRIVATE:
		return map_file(self, call);
	case MAP_SHARED:
		return map_shared(self, call);
	default:
		return -EOPNOTSUPP;
	}
}

int64_t sys_munmap(const struct call *call)
{
	struct process *self = process_self();
	uintptr_t start = call->a[0], size = call->a[1];
	int error;

	if (size > VM_BYTES_MAX)
		return -EINVAL;
	size = (size + PAGE_SIZE - 1) & ~(uintptr_t)(PAGE_SIZE - 1);
	error = vm_unmap(&self->vm, start, start + size);
	if (error)
		return error;
	mapped_code_cut(self, start, start + size);
	ktrace_hwt_munmap(&self->hardware_trace, &thread_self()->hardware_trace, start, size);
	return 0;
}
