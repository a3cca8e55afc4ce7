/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Open files, to which descriptors refer. dup and fork share them, so they have a reference count. Each kind
 * (regular file, directory, console, pipe, socket) has a struct of operations.
 */
#ifndef DEMO_FILE_H
#define DEMO_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "mutex.h"
#include "spinlock.h"
#include "wait.h"

struct file;
struct inode;
struct process;

/*
 * Buffers are user addresses of the calling process (vm_copy_*). Operations return the number of bytes or
 * another result, or -errno. They may sleep; if a signal ends the sleep, they return -EINTR. With O_NONBLOCK
 * they return -EAGAIN instead of sleeping. If an operation is NULL, the call fails: -EINVAL (read, write),
 * -ESPIPE (seek), -ENOTTY (ioctl), -ENODEV (mmap).
 */
struct file_operations {
	const char *kind; /* name of this kind of file in the trace: "file", "pipe", … */
	uint32_t type;	  /* file type S_IF*, used for files without an inode */
	/*
	 * For devices only; may be NULL. Called when file->inode has been set. If it returns an error,
	 * `close` is not called.
	 */
	int (*open)(struct file *file);
	int64_t (*read)(struct file *file, uintptr_t to, size_t size);
	int64_t (*write)(struct file *file, uintptr_t from, size_t size);
	int64_t (*seek)(struct file *file, int64_t offset, int whence);
	int64_t (*list)(struct file *file, uintptr_t to, size_t size); /* getdents */
	int64_t (*ioctl)(struct file *file, unsigned request, uintptr_t argument);
	/*
	 * For mmap: returns the page at that offset, which is a multiple of PAGE_SIZE, to be mapped
	 * read-only; PAGE_NONE if there is none. The device keeps its own reference to the page.
	 */
	uintptr_t (*page)(struct file *file, uint64_t offset);
	/* Returns the POLL* events that are true now. NULL: the file is always ready. */
	unsigned (*poll)(struct file *file);
	void (*close)(struct file *file); /* called when the last reference to the file is released */
};

#define PAGE_NONE UINTPTR_MAX

struct file {
	const struct file_operations *operations;
	unsigned references; /* accessed atomically */
	unsigned flags;	     /* O_* */
	uint64_t offset;
	/* Held while a call transfers bytes at `offset` and then advances `offset`. */
	struct mutex position;
	struct inode *inode; /* inode of the file; NULL for pipes and sockets */
	/*
	 * The directory in which the file was found; NULL for the root directory, and for files that were not
	 * opened by a path.
	 */
	struct inode *parent;
	void *object; /* private data of a pipe or socket */
	struct file *next_free;
};

#define FILES_MAX 32

struct files {
	struct spinlock lock; /* guards all other fields */
	struct file *file[FILES_MAX];
	uint32_t close_on_exec; /* bit n is set if execve must close descriptor n */
};

/* returns NULL if the table of open files is full */
struct file *file_new(const struct file_operations *operations, unsigned flags);
struct file *file_get(struct file *file);
void file_put(struct file *file);

/*
 * Check that the file was opened for this access, then call the operation. The call is recorded in the trace.
 */
int64_t file_read(struct file *file, uintptr_t to, size_t size);
int64_t file_write(struct file *file, uintptr_t from, size_t size);

/*
 * Allocates a descriptor for a newly opened file. The caller's reference to the file passes to the
 * descriptor. With O_CLOEXEC in the flags, execve closes the descriptor. Returns the descriptor. If no
 * descriptor is free, releases the reference and returns -EMFILE.
 */
int files_install(struct files *files, struct file *file, unsigned flags);
/* Makes descriptor `fd` refer to a different file, and releases the reference to its previous file. */
void files_replace(struct files *files, struct file *file, int fd);
/*
 * Returns the file of a descriptor, or NULL if the descriptor is not open. The caller owns a reference to the
 * file.
 */
struct file *files_get(struct files *files, int fd);
int files_close(struct files *files, int fd);
void files_fork(struct files *to, struct files *from);
void files_exec(struct files *files);
void files_close_all(struct files *files);

/*
 * Reports that the poll events of some file have changed. All sleeping pollers then check their files again.
 * Any context.
 */
void poll_changed(void);
int64_t poll_wait(struct files *files, struct abi_pollfd *fds, size_t count, int64_t timeout_ms);

/* Creates a pipe and returns its two ends as files. Returns 0 or -errno. */
int pipe_open(struct file **read_end, struct file **write_end);

/*
 * The console as a file. The user can edit a line until Enter is typed; then a program can read the line.
 * Ctrl-C sends SIGINT.
 */
extern const struct file_operations console_operations;
/* Polls for typed characters. Called in the timer interrupt of one CPU. */
void console_tick(void);

#endif
