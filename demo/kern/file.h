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
 * Buffers are user addresses of the calling process (vm_copy_*). Operations return a number of bytes, another
 * result, or -errno. They may sleep; a signal ends the sleep with -EINTR. With O_NONBLOCK they return -EAGAIN
 * instead of sleeping. A NULL operation means: -EINVAL (read, write), -ESPIPE (seek), -ENOTTY (ioctl),
 * -ENODEV (mmap).
 */
struct file_operations {
	const char *kind; /* for the trace: "file", "pipe", … */
	uint32_t type;	  /* S_IF*, for files without an inode */
	/* Devices only: called with inode set. After an error, close is not called. NULL: always succeeds. */
	int (*open)(struct file *file);
	int64_t (*read)(struct file *file, uintptr_t to, size_t size);
	int64_t (*write)(struct file *file, uintptr_t from, size_t size);
	int64_t (*seek)(struct file *file, int64_t offset, int whence);
	int64_t (*list)(struct file *file, uintptr_t to, size_t size); /* getdents */
	int64_t (*ioctl)(struct file *file, unsigned request, uintptr_t argument);
	/*
	 * Returns the page at that offset, a multiple of PAGE_SIZE, for a read-only mapping, or PAGE_NONE.
	 * The device keeps its own reference to the page.
	 */
	uintptr_t (*page)(struct file *file, uint64_t offset);
	unsigned (*poll)(struct file *file); /* current POLL* events; NULL: always ready */
	void (*close)(struct file *file);    /* called when the last reference is released */
};

#define PAGE_NONE UINTPTR_MAX

struct file {
	const struct file_operations *operations;
	unsigned references; /* accessed atomically */
	unsigned flags;	     /* O_* */
	uint64_t offset;
	/* Held while a call reads or writes the file at `offset` and changes `offset`. */
	struct mutex position;
	struct inode *inode; /* NULL for pipes and sockets */
	/* The directory in which the file was found. NULL: the root, or none. */
	struct inode *parent;
	void *object; /* private data of a pipe or socket */
	struct file *next_free;
};

#define FILES_MAX 32

struct files {
	struct spinlock lock; /* guards the other fields */
	struct file *file[FILES_MAX];
	uint32_t close_on_exec; /* one bit for each descriptor */
};

struct file *file_new(const struct file_operations *operations, unsigned flags); /* NULL: table full */
struct file *file_get(struct file *file);
void file_put(struct file *file);

/* Checks the access mode of the file, then calls the operation. The call is recorded in the trace. */
int64_t file_read(struct file *file, uintptr_t to, size_t size);
int64_t file_write(struct file *file, uintptr_t from, size_t size);

/*
 * Allocates a descriptor for a newly opened file. The reference moves to the descriptor. With O_CLOEXEC in
 * the flags, execve closes the descriptor. If no descriptor is free, releases the file and returns -EMFILE.
 */
int files_install(struct files *files, struct file *file, unsigned flags);
/* Replaces the file to which that descriptor refers. */
void files_replace(struct files *files, struct file *file, int fd);
/* The caller owns a reference to the returned file. NULL means -EBADF. */
struct file *files_get(struct files *files, int fd);
int files_close(struct files *files, int fd);
void files_fork(struct files *to, struct files *from);
void files_exec(struct files *files);
void files_close_all(struct files *files);

/* Reports a change of a file's poll events: all sleeping pollers check again. Any context. */
void poll_changed(void);
int64_t poll_wait(struct files *files, struct abi_pollfd *fds, size_t count, int64_t timeout_ms);

/* Creates a pipe, as two files. Returns 0 or -errno. */
int pipe_open(struct file **read_end, struct file **write_end);

/*
 * The console as a file. The user can edit a line until Enter is typed; then a program can read the line.
 * Ctrl-C sends SIGINT.
 */
extern const struct file_operations console_operations;
/* Polls for typed characters. Called in the timer interrupt of one CPU. */
void console_tick(void);

#endif
