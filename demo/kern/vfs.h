/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The RAM file system: inodes, directories, permissions. At boot it is filled from the archive that is linked
 * into the kernel (rootfs). One sleeping lock guards the whole tree. File contents are in pages.
 */
#ifndef DEMO_VFS_H
#define DEMO_VFS_H

#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "file.h"

struct credentials;

#define INODE_DIRECT 8

/* Fields change under the lock of the tree (ramfs.h). */
struct inode {
	uint32_t number;
	uint32_t mode; /* S_IF* and permissions */
	uint32_t uid, gid;
	uint32_t links;
	uint32_t references; /* number of references by open files, working directories and areas */
	uint64_t size;
	uint64_t mtime_ns;
	const struct file_operations *device; /* operations of a character device */
	/* Number that distinguishes devices with the same operations. */
	uint64_t device_number;
	struct inode *parent; /* for a directory: its parent (owns a reference); the root is its own parent */

	/* Pages of the contents (ramfs.c); NULL: only zeroes. */
	void *direct[INODE_DIRECT];
	void **indirect; /* a page of pointers to pages of pointers to pages of the contents */
	struct inode *next_free;
};

/* Unpacks the archive, creates /dev and /tmp. Requires: thread context. */
void vfs_init(void);

/*
 * Path functions. Paths are in kernel memory, relative to cwd. They return 0, a result or -errno, and may
 * sleep. Require: thread context.
 */
/* The caller owns the reference in *found. */
int vfs_lookup(const char *path, struct inode *cwd, const struct credentials *who, struct inode **found);
int vfs_open(const char *path, unsigned flags, uint32_t mode, struct inode *cwd,
	     const struct credentials *who, struct file **file);
int vfs_mkdir(const char *path, uint32_t mode, struct inode *cwd, const struct credentials *who);
/*
 * Creates a device file that belongs to `who`. `number` distinguishes devices that share the operations.
 * Access rights are not checked.
 */
int vfs_make_device(const char *path, uint32_t mode, const struct credentials *who,
		    const struct file_operations *device, uint64_t number);
int vfs_unlink(const char *path, struct inode *cwd, const struct credentials *who, int directory);
int vfs_rename(const char *from, const char *to, struct inode *cwd, const struct credentials *who);
int vfs_chmod(const char *path, uint32_t mode, struct inode *cwd, const struct credentials *who);
int vfs_chown(const char *path, uint32_t uid, uint32_t gid, struct inode *cwd, const struct credentials *who);
/* getcwd: returns the length without the NUL. */
int64_t vfs_path(struct inode *directory, char *to, size_t size);
/*
 * Copies the current path of an open file. -ENOENT: its name was removed or has moved to another directory.
 */
int64_t vfs_file_path(const struct file *file, char *to, size_t size);
void vfs_stat(struct inode *inode, struct abi_stat *stat);
int vfs_truncate(struct inode *inode, uint64_t size);

/* Rights to a file. The trace has a table of them. */
enum { MAY_EXECUTE = 1, MAY_WRITE = 2, MAY_READ = 4 };

unsigned vfs_rights(const struct inode *inode, const struct credentials *who);
/*
 * Checks rights. Returns 0 or -EACCES. A denial is recorded in the trace of the running process, with `path`.
 * Any context.
 */
int vfs_may(const struct inode *inode, const struct credentials *who, unsigned want, const char *path);

struct inode *inode_get(struct inode *inode);
void inode_put(struct inode *inode);

/*
 * Reads contents into kernel memory, for the loader and page faults. Returns the number of bytes read, which
 * is less than size at the end of the file.
 */
size_t inode_read(struct inode *inode, void *to, uint64_t offset, size_t size);

extern struct inode *vfs_root;
extern const struct credentials vfs_superuser; /* may do everything */

#endif
