/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The RAM file system: inodes, directories, permissions. Filled at boot from the archive linked into the kernel
 * (rootfs). One sleeping lock for the whole tree; file contents in pages.
 */
#ifndef DEMO_VFS_H
#define DEMO_VFS_H

#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "file.h"

struct credentials;

#define INODE_DIRECT 8

/* Changed under the lock of the tree (ramfs.h). */
struct inode {
	uint32_t number;
	uint32_t mode; /* S_IF* and permissions */
	uint32_t uid, gid;
	uint32_t links;
	uint32_t references; /* open files, cwd's, areas */
	uint64_t size;
	uint64_t mtime_ns;
	const struct file_operations *device; /* character devices … */
	uint64_t device_number; /* … and which of those that share the operations, if they do */
	struct inode *parent;	/* directories: held; the root's is itself */

	/* Pages of its contents (ramfs.c), NULL where there are only zeroes. */
	void *direct[INODE_DIRECT];
	void **indirect; /* a page of pointers to pages of pointers */
	struct inode *next_free;
};

void vfs_init(void); /* unpacks the archive, makes /dev and /tmp; thread context */

/* All of these: thread context, may sleep. Paths are kernel copies, relative to cwd. 0, an object or -errno. */
int vfs_lookup(const char *path, struct inode *cwd, const struct credentials *who,
	       struct inode **found); /* held */
int vfs_open(const char *path, unsigned flags, uint32_t mode, struct inode *cwd,
	     const struct credentials *who, struct file **file);
int vfs_mkdir(const char *path, uint32_t mode, struct inode *cwd, const struct credentials *who);
/* For `who`, of those devices that share the operations the one of that number. By the kernel itself. */
int vfs_make_device(const char *path, uint32_t mode, const struct credentials *who,
		    const struct file_operations *device, uint64_t number);
int vfs_unlink(const char *path, struct inode *cwd, const struct credentials *who, int directory);
int vfs_rename(const char *from, const char *to, struct inode *cwd, const struct credentials *who);
int vfs_chmod(const char *path, uint32_t mode, struct inode *cwd, const struct credentials *who);
int vfs_chown(const char *path, uint32_t uid, uint32_t gid, struct inode *cwd, const struct credentials *who);
int64_t vfs_path(struct inode *directory, char *to, size_t size); /* getcwd: length without the NUL */
/* Where a file of the tree lies now; -ENOENT: its name is gone, or it has moved elsewhere. */
int64_t vfs_file_path(const struct file *file, char *to, size_t size);
void vfs_stat(struct inode *inode, struct abi_stat *stat);
int vfs_truncate(struct inode *inode, uint64_t size);

/* What may be done with a file. The trace has a table of them. */
enum { MAY_EXECUTE = 1, MAY_WRITE = 2, MAY_READ = 4 };

unsigned vfs_rights(const struct inode *inode, const struct credentials *who);
/* 0 or -EACCES: a process that asks is traced by the path that it gave. Any context. */
int vfs_may(const struct inode *inode, const struct credentials *who, unsigned want, const char *path);

struct inode *inode_hold(struct inode *inode);
void inode_release(struct inode *inode);

/* Contents, for the loader and page faults: bytes read (short at the end), into kernel memory. */
size_t inode_read(struct inode *inode, void *to, uint64_t offset, size_t size);

extern struct inode *vfs_root;
extern const struct credentials vfs_superuser; /* to whom nothing is forbidden */

#endif
