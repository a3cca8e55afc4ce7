/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The memory of a process: areas describe which addresses may be accessed and how; pages are allocated on
 * first access and shared copy-on-write after fork. Only the process itself uses a struct vm, except during
 * fork and exit. When the process has more than one thread, these functions take the memory's lock and flush
 * unmapped pages from the TLBs of all CPUs. Exception: vm_map, for memory that is not in use yet.
 *
 * The kernel accesses user memory with vm_copy_*, which look up each page in the tables and resolve faults as
 * for the program. So kernel accesses to user memory never trap.
 */
#ifndef DEMO_VM_H
#define DEMO_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mutex.h"
#include "user.h"

#define VM_AREAS_MAX 32

struct file;
struct inode;

struct vm_area {
	uintptr_t start, end; /* page-aligned; start == end: the entry is unused */
	unsigned access;      /* enum arch_access */
	bool grows_down;      /* true: the area grows down on access, as the stack does */
	/*
	 * File whose bytes the area shows, followed by zeroes; a private mapping. NULL: the area has only
	 * zeroes.
	 */
	struct inode *file;
	uint64_t offset;     /* offset of `start` in the file */
	uint64_t file_bytes; /* number of bytes, from start, that come from the file */
};

/* area[VM_HEAP] is the heap. It ends with the page that contains brk. */
#define VM_HEAP 0

/* Maximum size of all areas of a process together. */
#define VM_BYTES_MAX (UINT64_C(256) << 20)

struct vm {
	struct arch_space space;
	struct vm_area area[VM_AREAS_MAX];
	uintptr_t brk_start, brk; /* the heap */
	bool is_shared;		  /* true: several threads use the memory, or used it earlier */
	struct mutex lock;	  /* if is_shared is true: guards the fields above */
};

/* Result of handling a fault. The trace contains it as `how`. */
enum vm_how { VM_ZERO, VM_FILE, VM_COPY, VM_REUSE, VM_SPURIOUS, VM_BAD_ADDRESS, VM_BAD_ACCESS, VM_NO_MEMORY };
const char *vm_how_name(enum vm_how how);
static inline bool vm_resolved(enum vm_how how)
{
	return how < VM_BAD_ADDRESS;
}

/* Returns the error of a system call for that result: 0, ENOMEM or EFAULT. */
static inline int vm_error(enum vm_how how)
{
	if (vm_resolved(how))
		return 0;
	return how == VM_NO_MEMORY ? ENOMEM : EFAULT;
}

bool vm_init(struct vm *vm);
void vm_free(struct vm *vm); /* frees all pages, areas and tables */
/* Called by the only thread of a process before the process creates more threads. */
void vm_share(struct vm *vm);
/* Returns false if out of memory; then the child is empty again. */
bool vm_fork(struct vm *child, struct vm *parent);
/*
 * Returns 0, or -errno if the area overlaps another one, no entry is free, or the range is outside user
 * memory.
 */
int vm_map(struct vm *vm, const struct vm_area *area);
int vm_unmap(struct vm *vm, uintptr_t start, uintptr_t end);
int64_t vm_brk(struct vm *vm, uintptr_t brk);
/*
 * Maps memory privately: the file's bytes from that offset, then zeroes; without a file only zeroes. Returns
 * the address or -errno.
 */
int64_t vm_mmap(struct vm *vm, uintptr_t hint, size_t size, unsigned access, struct inode *file,
		uint64_t offset);

/*
 * Maps a device's pages from that offset, for reading. The mapped pages remain valid even if the device is
 * closed.
 */
int64_t vm_map_device(struct vm *vm, uintptr_t hint, size_t size, struct file *device, uint64_t offset);

/* For vm.c and vm_fault.c only. vm_forget() flushes an unmapped page from the TLBs of all CPUs. */
void vm_lock(struct vm *vm);
void vm_unlock(struct vm *vm);
void vm_forget(const struct vm *vm, uintptr_t address);

/*
 * Resolves a fault, or returns why it cannot be resolved. Requires: a kernel thread in the context of that
 * process.
 */
enum vm_how vm_fault(struct vm *vm, uintptr_t address, unsigned access);

/* Copy from and to user memory. Return 0, -EFAULT or -ENOMEM. Bytes before a bad address have been copied. */
int vm_copy_in(struct vm *vm, void *to, uintptr_t from, size_t size);
int vm_copy_out(struct vm *vm, uintptr_t to, const void *from, size_t size);
/* Copies a string from user memory. Returns its length without the NUL, -EFAULT, -ENOMEM or -ENAMETOOLONG. */
int64_t vm_copy_string(struct vm *vm, char *to, uintptr_t from, size_t size);

/*
 * Loads an ELF program into an empty vm: creates only areas and the heap; page faults read the pages. Returns
 * 0 or -errno, and sets *entry.
 */
int elf_load(struct vm *vm, struct inode *file, uintptr_t *entry);

#endif
