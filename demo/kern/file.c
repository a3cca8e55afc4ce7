/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Open files, and the descriptors that refer to them. */
#include <ktrace/ktrace.h>

#include "file.h"
#include "process_trace.h"
#include "vfs.h"

KTRACE_EVENT(vfs, read, "%p on inode %u, %u bytes: %d", (const void *, file), (uint32_t, inode),
	     (uint32_t, size, bytes), (int32_t, result));
KTRACE_EVENT(vfs, write, "%p on inode %u, %u bytes: %d", (const void *, file), (uint32_t, inode),
	     (uint32_t, size, bytes), (int32_t, result));
KTRACE_EVENT(vfs, close, "%p on inode %u, a %s", (const void *, file), (uint32_t, inode),
	     (const char *, kind));

#define OPEN_FILES_MAX 256
/* Maximum size of a transfer, because the result must fit in an int of a C program. */
#define SIZE_AT_ONCE 0x7ffff000u

static struct spinlock lock = SPINLOCK("open files");
static struct file table[OPEN_FILES_MAX];
static struct file *free_files;
static unsigned used; /* number of entries of table[] that have been used at least once */

static uint32_t inode_number(const struct file *file)
{
	return file->inode ? file->inode->number : 0;
}

/* ---- Open files -------------------------------------------------------------------------------- */

struct file *file_new(const struct file_operations *operations, unsigned flags)
{
	bool irq_on = spin_lock(&lock);
	struct file *file = free_files;

	if (file)
		free_files = file->next_free;
	else if (used < OPEN_FILES_MAX)
		file = &table[used++];
	spin_unlock(&lock, irq_on);
	if (file)
		*file = (struct file){
			.operations = operations,
			.references = 1,
			.flags = flags,
			.position = MUTEX("file position"),
		};
	return file;
}

struct file *file_get(struct file *file)
{
	__atomic_add_fetch(&file->references, 1, __ATOMIC_RELAXED);
	return file;
}

void file_put(struct file *file)
{
	bool irq_on;

	if (__atomic_sub_fetch(&file->references, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	if (file->operations) { /* NULL if the file could not be opened */
		KTRACE(vfs, close, file, inode_number(file), file->operations->kind);
		if (file->operations->close)
			file->operations->close(file);
	}
	inode_put(file->inode);
	inode_put(file->parent);
	irq_on = spin_lock(&lock);
	file->next_free = free_files;
	free_files = file;
	spin_unlock(&lock, irq_on);
}

/*
 * Records in the trace that an access was denied, because the file was opened for a different kind of access.
 * Returns the error.
 */
static int refuse(unsigned wanted, unsigned opened)
{
	trace_denied(KTRX_PROC_DENIED_DESCRIPTOR, wanted, opened, NULL);
	return -EBADF;
}

int64_t file_read(struct file *file, uintptr_t to, size_t size)
{
	int64_t result = -EINVAL;

	if (size > SIZE_AT_ONCE)
		size = SIZE_AT_ONCE;
	if ((file->flags & O_ACCMODE) == O_WRONLY)
		result = refuse(MAY_READ, MAY_WRITE);
	else if (file->operations->read)
		result = file->operations->read(file, to, size);
	KTRACE(vfs, read, file, inode_number(file), (uint32_t)size, (int32_t)result);
	return result;
}

int64_t file_write(struct file *file, uintptr_t from, size_t size)
{
	int64_t result = -EINVAL;

	if (size > SIZE_AT_ONCE)
		size = SIZE_AT_ONCE;
	if ((file->flags & O_ACCMODE) == O_RDONLY)
		result = refuse(MAY_WRITE, MAY_READ);
	else if (file->operations->write)
		result = file->operations->write(file, from, size);
	KTRACE(vfs, write, file, inode_number(file), (uint32_t)size, (int32_t)result);
	return result;
}

/* ---- Descriptors ------------------------------------------------------------------------------- */

struct file *files_get(struct files *files, int fd)
{
	bool irq_on = spin_lock(&files->lock);
	struct file *file = fd >= 0 && fd < FILES_MAX ? files->file[fd] : NULL;

	if (file)
		file_get(file);
	spin_unlock(&files->lock, irq_on);
	return file;
}

/* Returns the number of a free descriptor, or -1. Requires: the lock of `files` held. */
static int find_free(const struct files *files)
{
	for (int fd = 0; fd < FILES_MAX; fd++)
		if (!files->file[fd])
			return fd;
	return -1;
}

int files_install(struct files *files, struct file *file, unsigned flags)
{
	bool irq_on = spin_lock(&files->lock);
	int fd = find_free(files);

	if (fd >= 0) {
		files->file[fd] = file;
		if (flags & O_CLOEXEC)
			files->close_on_exec |= UINT32_C(1) << fd;
	}
	spin_unlock(&files->lock, irq_on);
	if (fd >= 0)
		return fd;
	file_put(file);
	return -EMFILE;
}

/* Replaces the file of a descriptor; NULL closes it. Returns the previous file. */
static struct file *replace(struct files *files, struct file *file, int fd)
{
	bool irq_on = spin_lock(&files->lock);
	struct file *old = files->file[fd];

	files->file[fd] = file;
	files->close_on_exec &= ~(UINT32_C(1) << fd);
	spin_unlock(&files->lock, irq_on);
	return old;
}

int files_close(struct files *files, int fd)
{
	struct file *file = fd >= 0 && fd < FILES_MAX ? replace(files, NULL, fd) : NULL;

	if (!file)
		return -EBADF;
	file_put(file);
	return 0;
}

void files_replace(struct files *files, struct file *file, int fd)
{
	struct file *old = replace(files, file, fd);

	if (old)
		file_put(old);
}

void files_fork(struct files *to, struct files *from)
{
	bool irq_on = spin_lock(&from->lock);

	to->close_on_exec = from->close_on_exec;
	for (int fd = 0; fd < FILES_MAX; fd++)
		if (from->file[fd])
			to->file[fd] = file_get(from->file[fd]);
	spin_unlock(&from->lock, irq_on);
}

void files_exec(struct files *files)
{
	for (int fd = 0; fd < FILES_MAX; fd++)
		if (files->close_on_exec >> fd & 1)
			files_close(files, fd);
}

void files_close_all(struct files *files)
{
	for (int fd = 0; fd < FILES_MAX; fd++)
		files_close(files, fd);
}
