/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The RAM file system: inodes, directories, permissions. At boot, the files of an archive that is linked into
 * the kernel (rootfs.h) are copied to it. One sleeping lock guards the whole tree. File contents are in
 * pages.
 */
#ifndef DEMO_VFS_H
#define DEMO_VFS_H

#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "file.h"

struct credentials;

#define INODE_DIRECT 8

/* A file or directory. Its fields are changed only while the lock of the tree is held (ramfs.h). */
struct inode {
	uint32_t number;
	uint32_t mode; /* file type S_IF* and permissions */
	uint32_t uid, gid;
	uint32_t links;
	/* Number of references from open files, working directories, memory areas and so on. */
	uint32_t references;
	uint64_t size;
	uint64_t mtime_ns;
	const struct file_operations *device; /* for a character device: its operations; otherwise NULL */
	/*
	 * For a character device: a number that distinguishes it from other devices with the same operations.
	 */
	uint64_t device_number;
	/*
	 * For a directory: its parent, to which it owns a reference. The root is its own parent. Otherwise
	 * NULL.
	 */
	struct inode *parent;

	/*
	 * The first pages of the contents (ramfs.c). NULL: the page was never written and contains only
	 * zeroes.
	 */
	void *direct[INODE_DIRECT];
	/*
	 * for the further pages of the contents: a page of pointers to tables; each table is a page of
	 * pointers to pages of the contents
	 */
	void **indirect;
	struct inode *next_free;
};

/*
 * Creates the file system: copies the contents of the archive, creates /dev and /tmp. Requires: thread
 * context.
 */
void vfs_init(void);

/*
 * Functions on paths. A path is in kernel memory, and may be relative to cwd. The functions return 0 or
 * another result, or -errno. They may sleep. Requires: thread context.
 */
/* Looks up a path. The caller owns the reference in *found. */
int vfs_lookup(const char *path, struct inode *cwd, const struct credentials *who, struct inode **found);
int vfs_open(const char *path, unsigned flags, uint32_t mode, struct inode *cwd,
	     const struct credentials *who, struct file **file);
int vfs_mkdir(const char *path, uint32_t mode, struct inode *cwd, const struct credentials *who);
/*
 * Creates a device file, whose owner is `who`. `number` distinguishes it from other devices with the same
 * operations. Does not check whether `who` may create devices.
 */
int vfs_make_device(const char *path, uint32_t mode, const struct credentials *who,
		    const struct file_operations *device, uint64_t number);
int vfs_unlink(const char *path, struct inode *cwd, const struct credentials *who, int directory);
int vfs_rename(const char *from, const char *to, struct inode *cwd, const struct credentials *who);
int vfs_chmod(const char *path, uint32_t mode, struct inode *cwd, const struct credentials *who);
int vfs_chown(const char *path, uint32_t uid, uint32_t gid, struct inode *cwd, const struct credentials *who);
/* Copies the path of a directory, for getcwd. Returns the length without the NUL. */
int64_t vfs_path(struct inode *directory, char *to, size_t size);
/*
 * Copies the path that an open file has now. -ENOENT: the file's name has been removed, or moved to
 * another directory.
 */
int64_t vfs_file_path(const struct file *file, char *to, size_t size);
void vfs_stat(struct inode *inode, struct abi_stat *stat);
int vfs_truncate(struct inode *inode, uint64_t size);

/* Rights to a file. Process traces contain these numbers and a table of their names. */
enum { MAY_EXECUTE = 1, MAY_WRITE = 2, MAY_READ = 4 };

unsigned vfs_rights(const struct inode *inode, const struct credentials *who);
/*
 * Checks that `who` has the rights `want`. Returns 0 or -EACCES. Records a denial, with `path`, in the
 * process trace of the running process. Any context.
 */
int vfs_may(const struct inode *inode, const struct credentials *who, unsigned want, const char *path);

struct inode *inode_get(struct inode *inode);
void inode_put(struct inode *inode);

/*
 * Reads a part of a file into kernel memory, for the program loader and for page faults. Returns the number
 * of bytes read, which is less than size at the end of the file.
 */
size_t inode_read(struct inode *inode, void *to, uint64_t offset, size_t size);

extern struct inode *vfs_root;
extern const struct credentials vfs_superuser; /* the superuser, who may do everything */

#endif
