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

/* mmap(hint, size, protection, flags, fd, offset): fresh memory only, so the last two say nothing. */
int64_t sys_mmap(const struct call *call)
{
	if (call->a[3] != (MAP_PRIVATE | MAP_ANONYMOUS))
		return -EOPNOTSUPP;
	return vm_mmap(&process_self()->vm, call->a[0], call->a[1], access_of(call->a[2]));
}

int64_t sys_munmap(const struct call *call)
{
	uintptr_t start = call->a[0], size = call->a[1];

	if (size > VM_BYTES_MAX)
		return -EINVAL;
	return vm_unmap(&process_self()->vm, start,
			start + ((size + PAGE_SIZE - 1) & ~(uintptr_t)(PAGE_SIZE - 1)));
}
