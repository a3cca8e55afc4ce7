/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A process's memory: areas that say what may be where, pages that come on first touch, shared copy-on-write
 * after fork. Used by its own process only, but for fork and exit. From its second thread on, these functions take
 * the memory's lock and flush what they unmap from the TLBs of all CPUs. Exception: vm_map, for memory that is not in use yet.
 *
 * Kernel code reaches user memory by vm_copy_*: page by page through the tables, resolving faults as the program
 * would have; so no kernel access to a user address ever traps.
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
	uintptr_t start, end; /* page-aligned; start == end: unused */
	unsigned access;      /* enum arch_access */
	bool grows_down;      /* the stack */
	struct inode *file;   /* private copy of its bytes, zeroes beyond; NULL: zeroes */
	uint64_t offset;      /* in the file, of start */
	uint64_t file_bytes;  /* from start, that come from the file */
};

/* area[VM_HEAP] is the heap: it ends with the page that holds brk. */
#define VM_HEAP 0

/* Most bytes that all areas of a process may cover. */
#define VM_BYTES_MAX (UINT64_C(256) << 20)

struct vm {
	struct arch_space space;
	struct vm_area area[VM_AREAS_MAX];
	uintptr_t brk_start, brk; /* the heap */
	bool is_shared;		  /* by several threads, now or before */
	struct mutex lock;	  /* while it is shared: of all that is above */
};

/* How a fault was resolved: the trace's `how`. */
enum vm_how { VM_ZERO, VM_FILE, VM_COPY, VM_REUSE, VM_SPURIOUS, VM_BAD_ADDRESS, VM_BAD_ACCESS, VM_NO_MEMORY };
const char *vm_how_name(enum vm_how how);
static inline bool vm_resolved(enum vm_how how)
{
	return how < VM_BAD_ADDRESS;
}

/* What a call gets to hear of it: 0, or the error. */
static inline int vm_error(enum vm_how how)
{
	if (vm_resolved(how))
		return 0;
	return how == VM_NO_MEMORY ? ENOMEM : EFAULT;
}

bool vm_init(struct vm *vm);
void vm_free(struct vm *vm);  /* all pages, areas, tables */
void vm_share(struct vm *vm); /* before the running process, its only user, has more threads */
bool vm_fork(struct vm *child, struct vm *parent);     /* false: out of memory, child is empty again */
int vm_map(struct vm *vm, const struct vm_area *area); /* 0 or -errno (overlap, full, out of range) */
int vm_unmap(struct vm *vm, uintptr_t start, uintptr_t end);
int64_t vm_brk(struct vm *vm, uintptr_t brk);
/* Private: a file's bytes from that offset on, and zeroes behind them; NULL: zeroes. Address or -errno. */
int64_t vm_mmap(struct vm *vm, uintptr_t hint, size_t size, unsigned access, struct inode *file,
		uint64_t offset);

/* What a device has from that offset on, for reading. The pages stay with who maps them, whatever becomes of the device. */
int64_t vm_map_device(struct vm *vm, uintptr_t hint, size_t size, struct file *device, uint64_t offset);

/* Shared by vm.c and vm_fault.c: the lock, and the flush of a page that was mapped there from the TLBs of all CPUs. */
void vm_lock(struct vm *vm);
void vm_unlock(struct vm *vm);
void vm_forget(const struct vm *vm, uintptr_t address);

/* Makes the access possible or says why not. Any thread of the kernel in that process's context. */
enum vm_how vm_fault(struct vm *vm, uintptr_t address, unsigned access);

/* 0, -EFAULT or -ENOMEM; what was copied before the bad address stays copied. */
int vm_copy_in(struct vm *vm, void *to, uintptr_t from, size_t size);
int vm_copy_out(struct vm *vm, uintptr_t to, const void *from, size_t size);
/* Length without the NUL, -EFAULT or -ENAMETOOLONG. */
int64_t vm_copy_string(struct vm *vm, char *to, uintptr_t from, size_t size);

/* Loads an ELF program into a fresh vm: areas and heap only, pages come by faults. 0 or -errno; *entry is set. */
int elf_load(struct vm *vm, struct inode *file, uintptr_t *entry);

#endif
