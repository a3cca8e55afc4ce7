/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Operations for open files and directories of the file system. Data is copied through a buffer on the stack,
 * because user memory must not be accessed while the tree is locked (ramfs.h). Calls on the same open file do
 * not interleave, because each call holds the lock of the file position.
 */
#include "process.h"
#include "ramfs.h"

#define CHUNK 4096 /* size of the buffer on the stack: a quarter of a thread's stack */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int64_t read_at_position(struct file *file, uintptr_t to, size_t size)
{
	char chunk[CHUNK];
	size_t done = 0;

	while (done < size) {
		size_t n = inode_read(file->inode, chunk, file->offset, least(size - done, CHUNK));
		int error = vm_copy_out(&process_self()->vm, to + done, chunk, n);

		if (error)
			return done ? (int64_t)done : error;
		if (n == 0)
			break;
		done += n;
		file->offset += n;
	}
	return (int64_t)done;
}

static int64_t regular_read(struct file *file, uintptr_t to, size_t size)
{
	int64_t result;

	mutex_lock(&file->position);
	result = read_at_position(file, to, size);
	mutex_unlock(&file->position);
	return result;
}

static int64_t write_chunk(struct file *file, const char *chunk, size_t size)
{
	int64_t n;

	tree_lock();
	if (file->flags & O_APPEND)
		file->offset = file->inode->size;
	ramfs_end_set_id(file->inode);
	n = ramfs_write(file->inode, chunk, file->offset, size);
	tree_unlock();
	if (n > 0)
		file->offset += (uint64_t)n;
	return n;
}

static int64_t write_at_position(struct file *file, uintptr_t from, size_t size)
{
	char chunk[CHUNK];
	size_t done = 0;

	while (done < size) {
		size_t n = least(size - done, CHUNK);
		int64_t written = vm_copy_in(&process_self()->vm, chunk, from + done, n);

		if (!written)
			written = write_chunk(file, chunk, n);
		if (written < 0)
			return done ? (int64_t)done : written;
		done += (size_t)written;
		if ((size_t)written < n)
			break;
	}
	return (int64_t)done;
}

static int64_t regular_write(struct file *file, uintptr_t from, size_t size)
{
	int64_t result;

	mutex_lock(&file->position);
	result = write_at_position(file, from, size);
	mutex_unlock(&file->position);
	return result;
}

/*
 * Sets the position in a file or directory. In a directory, getdents requires a multiple of the entry size.
 */
static int64_t seek(struct file *file, int64_t offset, int whence)
{
	uint64_t base = 0;
	int64_t target;

	if (whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END)
		return -EINVAL;
	mutex_lock(&file->position);
	if (whence == SEEK_CUR)
		base = file->offset;
	if (whence == SEEK_END)
		base = file->inode->size;
	if (__builtin_add_overflow((int64_t)base, offset, &target) || target < 0)
		target = -EINVAL;
	else
		file->offset = (uint64_t)target;
	mutex_unlock(&file->position);
	return target;
}

const struct file_operations regular_operations = {
	.kind = "file",
	.read = regular_read,
	.write = regular_write,
	.seek = seek,
};

static int64_t directory_read(struct file *file, uintptr_t to, size_t size)
{
	(void)file, (void)to, (void)size;
	return -EISDIR;
}

static int64_t list_at_position(struct file *file, uintptr_t to, size_t size)
{
	struct abi_dirent entry;
	size_t done = 0;

	if (size < sizeof(entry) || file->offset % sizeof(entry))
		return -EINVAL;
	while (size - done >= sizeof(entry) &&
	       inode_read(file->inode, &entry, file->offset, sizeof(entry)) == sizeof(entry)) {
		if (entry.ino) {
			int error = vm_copy_out(&process_self()->vm, to + done, &entry, sizeof(entry));

			if (error)
				return done ? (int64_t)done : error;
			done += sizeof(entry);
		}
		file->offset += sizeof(entry);
	}
	return (int64_t)done;
}

static int64_t directory_list(struct file *file, uintptr_t to, size_t size)
{
	int64_t result;

	mutex_lock(&file->position);
	result = list_at_position(file, to, size);
	mutex_unlock(&file->position);
	return result;
}

const struct file_operations directory_operations = {
	.kind = "directory",
	.read = directory_read,
	.seek = seek,
	.list = directory_list,
};
