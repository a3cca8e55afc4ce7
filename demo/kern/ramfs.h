/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The inside of the RAM file system, for vfs.c and regular.c: inodes with their contents, and directories, which are
 * files full of struct abi_dirent. All of it with the tree locked, and no user memory is touched meanwhile: that may
 * fault, and a fault may read a file.
 */
#ifndef DEMO_RAMFS_H
#define DEMO_RAMFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vfs.h"

void tree_lock(void);
void tree_unlock(void);

void ramfs_init(void); /* the limit: boot argument ramdisk=, in bytes */

/* An inode that is in no directory yet; the owner is who. NULL: disk full. */
struct inode *ramfs_new(uint32_t mode, const struct credentials *who);

/* The inode of that number, as a directory has it. */
struct inode *ramfs_inode(uint32_t number);

/* Recycles an inode that has neither names nor users left; else does nothing. To be called when one has gone. */
void ramfs_drop(struct inode *inode);

size_t ramfs_read(const struct inode *inode, void *to, uint64_t offset, size_t size); /* short at the end */

/* Bytes written, fewer when the disk is full; -ENOSPC or -EFBIG if none. */
int64_t ramfs_write(struct inode *inode, const void *from, uint64_t offset, size_t size);

int ramfs_resize(struct inode *inode, uint64_t size); /* 0 or -EFBIG */

/* It is somebody else's now, or does something else: its owner did not ask for that to run in his name. */
void ramfs_end_set_id(struct inode *inode);

/* Names need not end with a NUL; they are 1 to NAME_MAX characters. */
struct inode *directory_find(struct inode *directory, const char *name, size_t length); /* NULL: not there */
int directory_add(struct inode *directory, const char *name, size_t length,
		  struct inode *inode); /* 0, -ENOSPC */
void directory_remove(struct inode *directory, const char *name, size_t length);
bool directory_is_empty(const struct inode *directory);
/* What a directory calls an inode: false if nothing. name has NAME_MAX + 1 bytes. */
bool directory_name(const struct inode *directory, const struct inode *inode, char *name);

/* What open files of the tree do. */
extern const struct file_operations regular_operations, directory_operations;

#endif
