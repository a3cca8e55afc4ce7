/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Internal functions of the RAM file system, for vfs.c and regular.c: inodes with their contents, and
 * directories, which are files that contain struct abi_dirent entries.
 *
 * Requires: the tree is locked. User memory must not be accessed while it is locked, because a page fault
 * may have to read a file.
 */
#ifndef DEMO_RAMFS_H
#define DEMO_RAMFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vfs.h"

void tree_lock(void);
void tree_unlock(void);

void ramfs_init(void); /* sets the size of the file system to the boot argument ramdisk=, in bytes */

/*
 * Creates an inode that is in no directory yet. Its owner is `who`. Returns NULL if there is no space left.
 */
struct inode *ramfs_new(uint32_t mode, const struct credentials *who);

/* Returns the inode with that number. The number must come from a directory entry. */
struct inode *ramfs_inode(uint32_t number);

/*
 * Frees an inode if it has neither links nor references left. Must be called after a link or a reference was
 * removed.
 */
void ramfs_drop(struct inode *inode);

/*
 * Reads from a file. Returns the number of bytes read, which is less than `size` only at the end of the file.
 */
size_t ramfs_read(const struct inode *inode, void *to, uint64_t offset, size_t size);

/*
 * Writes to a file. Returns the number of bytes written, which is less than `size` only if there is no space
 * left. Returns -ENOSPC or -EFBIG if no byte was written.
 */
int64_t ramfs_write(struct inode *inode, const void *from, uint64_t offset, size_t size);

int ramfs_resize(struct inode *inode, uint64_t size); /* returns 0 or -EFBIG */

/*
 * Clears the set-id bits of a file. Called when its owner or its contents change: its previous owner did not
 * allow the new contents to run with his ids.
 */
void ramfs_end_set_id(struct inode *inode);

/* Functions for directories. Names have 1 to NAME_MAX characters and need not end with a NUL. */
/* returns NULL if there is no such name */
struct inode *directory_find(struct inode *directory, const char *name, size_t length);
int directory_add(struct inode *directory, const char *name, size_t length,
		  struct inode *inode); /* returns 0 or -ENOSPC */
void directory_remove(struct inode *directory, const char *name, size_t length);
bool directory_is_empty(const struct inode *directory);
/*
 * Finds the name that an inode has in a directory and copies it to `name`, which has room for NAME_MAX + 1
 * bytes. Returns false if the directory has no entry for the inode.
 */
bool directory_name(const struct inode *directory, const struct inode *inode, char *name);

/* Operations for open files and open directories of the file system. */
extern const struct file_operations regular_operations, directory_operations;

#endif
