/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The memory of a process. Areas describe which addresses may be accessed, and how. Pages are allocated on
 * first access, and are shared copy-on-write after fork. Only the process itself uses a struct vm, except
 * during fork and exit. When the process has more than one thread, these functions take the memory's lock
 * and flush unmapped pages from the TLBs of all CPUs. Exception: vm_map does neither, because no thread
 * uses the memory yet.
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
	/* Start (inclusive) and end (exclusive), page-aligned; if they are equal, the entry is unused. */
	uintptr_t start, end;
	unsigned access; /* access that is allowed, enum arch_access */
	/* True: an access below the area extends it downwards, as needed for the stack. */
	bool grows_down;
	/*
	 * For a private mapping: the file whose bytes the area contains, followed by zeroes. NULL: the area
	 * contains only zeroes at first.
	 */
	struct inode *file;
	uint64_t offset;     /* offset in the file that corresponds to `start` */
	uint64_t file_bytes; /* number of bytes from the file, beginning at `start` */
};

/* area[VM_HEAP] is the heap. It ends with the page that contains brk. */
#define VM_HEAP 0

/* Maximum of the sum of the sizes of a process's areas, in bytes. */
#define VM_BYTES_MAX (UINT64_C(256) << 20)

struct vm {
	struct arch_space space;
	struct vm_area area[VM_AREAS_MAX];
	uintptr_t brk_start, brk; /* start and end of the heap */
	bool is_shared;		  /* true: several threads use the memory, or have used it */
	struct mutex lock;	  /* guards the fields above, if is_shared is true */
};

/* Results of handling a page fault. The trace contains them in the field `how`. */
enum vm_how { VM_ZERO, VM_FILE, VM_COPY, VM_REUSE, VM_SPURIOUS, VM_BAD_ADDRESS, VM_BAD_ACCESS, VM_NO_MEMORY };
const char *vm_how_name(enum vm_how how);
static inline bool vm_resolved(enum vm_how how)
{
	return how < VM_BAD_ADDRESS;
}

/*
 * Returns the error of a system call that cannot access user memory because of this result: ENOMEM or EFAULT;
 * 0 if the fault was resolved.
 */
static inline int vm_error(enum vm_how how)
{
	if (vm_resolved(how))
		return 0;
	return how == VM_NO_MEMORY ? ENOMEM : EFAULT;
}

bool vm_init(struct vm *vm);
void vm_free(struct vm *vm); /* frees all pages, areas and tables */
/* Sets is_shared. Called by the only thread of a process before it creates a second one. */
void vm_share(struct vm *vm);
/* Makes the child a copy of the parent. Returns false if out of memory; the child is then empty. */
bool vm_fork(struct vm *child, struct vm *parent);
/*
 * Adds an area. Returns 0, or -errno: the area overlaps another one, there is no unused entry, or the range
 * is outside user memory.
 */
int vm_map(struct vm *vm, const struct vm_area *area);
int vm_unmap(struct vm *vm, uintptr_t start, uintptr_t end);
int64_t vm_brk(struct vm *vm, uintptr_t brk);
/*
 * Maps a private area: the file's bytes from `offset` on, followed by zeroes; or only zeroes if `file` is
 * NULL. Returns the address or -errno.
 */
int64_t vm_mmap(struct vm *vm, uintptr_t hint, size_t size, unsigned access, struct inode *file,
		uint64_t offset);

/*
 * Maps pages of a device, from `offset` on, for reading. The pages remain valid even if the device is closed.
 */
int64_t vm_map_device(struct vm *vm, uintptr_t hint, size_t size, struct file *device, uint64_t offset);

/* For vm.c and vm_fault.c only. vm_forget() flushes a page from the TLBs of all CPUs. */
void vm_lock(struct vm *vm);
void vm_unlock(struct vm *vm);
void vm_forget(const struct vm *vm, uintptr_t address);

/*
 * Resolves a page fault, or returns why it cannot be resolved. Requires: called by a thread of the process.
 */
enum vm_how vm_fault(struct vm *vm, uintptr_t address, unsigned access);

/*
 * Copy from and to user memory. Return 0, -EFAULT or -ENOMEM. If they fail at a bad address, the bytes before
 * it have already been copied.
 */
int vm_copy_in(struct vm *vm, void *to, uintptr_t from, size_t size);
int vm_copy_out(struct vm *vm, uintptr_t to, const void *from, size_t size);
/* Copies a string from user memory. Returns its length without the NUL, -EFAULT, -ENOMEM or -ENAMETOOLONG. */
int64_t vm_copy_string(struct vm *vm, char *to, uintptr_t from, size_t size);

/*
 * Prepares an empty vm for an ELF program: creates the areas and the heap. Later, page faults read the
 * contents of the segments. Returns 0 or -errno, and sets *entry to the program's entry point.
 */
int elf_load(struct vm *vm, struct inode *file, uintptr_t *entry);

#endif
