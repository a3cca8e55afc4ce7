/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Open files: what a descriptor leads to. Shared by dup and fork, hence counted. Each kind (regular file,
 * directory, console, pipe, socket) is one struct of operations.
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
 * Buffers are user addresses of the calling process (vm_copy_*). Results: bytes or -errno. May sleep; -EINTR if
 * a signal ended that; -EAGAIN instead of sleeping with O_NONBLOCK. NULL: -EINVAL (read, write), -ESPIPE (seek), -ENOTTY
 * (ioctl), -ENODEV (mmap).
 */
struct file_operations {
	const char *kind; /* for the trace: "file", "pipe", … */
	uint32_t type;	  /* S_IF*, of files without an inode */
	int (*open)(struct file *
			    file); /* devices: inode is set; after an error there is no close. NULL: always */
	int64_t (*read)(struct file *file, uintptr_t to, size_t size);
	int64_t (*write)(struct file *file, uintptr_t from, size_t size);
	int64_t (*seek)(struct file *file, int64_t offset, int whence);
	int64_t (*list)(struct file *file, uintptr_t to, size_t size); /* getdents */
	int64_t (*ioctl)(struct file *file, unsigned request, uintptr_t argument);
	/* The page at that offset, a multiple of PAGE_SIZE, for programs to read, or PAGE_NONE. The device owns it, too. */
	uintptr_t (*page)(struct file *file, uint64_t offset);
	unsigned (*poll)(struct file *file); /* POLL* that hold now; NULL: always ready */
	void (*close)(struct file *file);    /* last reference gone */
};

#define PAGE_NONE UINTPTR_MAX

struct file {
	const struct file_operations *operations;
	unsigned references; /* atomically */
	unsigned flags;	     /* O_* */
	uint64_t offset;
	struct mutex position; /* of whoever reads or writes at the offset and moves it */
	struct inode *inode;   /* NULL for pipes and sockets */
	struct inode *parent;  /* directory in which it was found; NULL: the root, or none */
	void *object;	       /* the pipe's or socket's own */
	struct file *next_free;
};

#define FILES_MAX 32

struct files {
	struct spinlock lock; /* of the rest */
	struct file *file[FILES_MAX];
	uint32_t close_on_exec; /* bit a descriptor */
};

struct file *file_new(const struct file_operations *operations, unsigned flags); /* NULL: table full */
struct file *file_hold(struct file *file);
void file_release(struct file *file);

/* Through the operations, after a look at how it was opened; traced. */
int64_t file_read(struct file *file, uintptr_t to, size_t size);
int64_t file_write(struct file *file, uintptr_t from, size_t size);

/*
 * A descriptor for what has just been opened, whose reference goes into it; with O_CLOEXEC among the flags execve closes
 * it. -EMFILE: the file is released.
 */
int files_install(struct files *files, struct file *file, unsigned flags);
void files_put(struct files *files, struct file *file, int fd); /* in place of what was there */
struct file *files_get(struct files *files, int fd);		/* held; NULL: -EBADF */
int files_close(struct files *files, int fd);
void files_fork(struct files *to, struct files *from);
void files_exec(struct files *files);
void files_close_all(struct files *files);

/* Everything that changes what poll says wakes this queue; pollers look again. Any context. */
void poll_changed(void);
int64_t poll_wait(struct files *files, struct abi_pollfd *fds, size_t count, int64_t timeout_ms);

/* A pipe: two files. 0 or -errno. */
int pipe_open(struct file **read_end, struct file **write_end);

/* The console as a file: lines are edited before they can be read; Ctrl-C sends SIGINT. */
extern const struct file_operations console_operations;
void console_tick(void); /* takes what was typed; timer interrupt of one CPU */

#endif
