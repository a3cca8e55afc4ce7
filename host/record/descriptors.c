/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Records what file each descriptor refers to. A descriptor is looked up in /proc when a call first uses it,
 * and again when it is used after a call that may have changed it.
 */
#include "record/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "calls/tables.h"

static unsigned long denied;

unsigned long record_descriptors_denied(void)
{
	return denied;
}

/*
 * Returns whether it is known what the descriptor refers to. Always returns false for descriptors from
 * RECORD_FDS on, because these are looked up at each use.
 */
static bool is_known(const struct record_process *process, int32_t fd)
{
	return fd >= 0 && fd < RECORD_FDS && process->known_fd[fd / 64] >> fd % 64 & 1;
}

static void note(uint64_t set[static RECORD_FDS / 64], int32_t fd, bool known)
{
	if (fd < 0 || fd >= RECORD_FDS)
		return;
	set[fd / 64] &= ~(UINT64_C(1) << fd % 64);
	set[fd / 64] |= (uint64_t)known << fd % 64;
}

/*
 * Returns whether the trace has a record of what the descriptor refers to. Always returns true for
 * descriptors from RECORD_FDS on, because this is not known for them.
 */
static bool is_recorded(const struct record_process *process, int32_t fd)
{
	if (fd == KTRX_PROC_FD_CWD)
		return process->recorded_folder;
	return fd >= RECORD_FDS || process->recorded_fd[fd / 64] >> fd % 64 & 1;
}

/*
 * Reading a link in /proc/TID/fd is faster through an open descriptor of this directory than by the link's
 * whole path. So after LOOKUPS lookups for a thread, the recorder keeps the thread's directory open; at
 * most FOLDERS_MOST directories are open at the same time.
 */
#define LOOKUPS	     4u
#define FOLDERS_MOST 8u

static unsigned folders;

void record_descriptors_end(struct record_thread *thread)
{
	if (thread->has_folder) {
		close(thread->folder);
		folders--;
	}
	thread->has_folder = false;
	thread->lookups = 0;
}

static void open_folder(struct record_thread *thread)
{
	char path[40];

	if (thread->lookups++ < LOOKUPS || folders == FOLDERS_MOST)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)thread->tid);
	thread->folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	thread->has_folder = thread->folder >= 0;
	folders += thread->has_folder;
}

/*
 * Reads the path of the file that a descriptor refers to. Returns its length, or a negative number with errno
 * set.
 */
static ssize_t read_link(struct record_thread *thread, int32_t fd, char path[static PATH_MAX])
{
	char link[64];
	ssize_t length = -1;

	if (fd == KTRX_PROC_FD_CWD) {
		snprintf(link, sizeof(link), "/proc/%d/cwd", (int)thread->tid);
		return readlink(link, path, PATH_MAX);
	}
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)thread->tid, (int)fd);
	if (!thread->has_folder)
		open_folder(thread);
	if (thread->has_folder)
		length = readlinkat(thread->folder, strrchr(link, '/') + 1, path, PATH_MAX);
	/*
	 * if readlinkat() fails, try the whole path: the open directory only gives access with the rights
	 * that the recorder had when it opened the directory
	 */
	return length < 0 ? readlink(link, path, PATH_MAX) : length;
}

/*
 * Looks up a descriptor, and records the path of its file. If this fails, and the trace already contains a
 * record of the descriptor, records an empty path, which makes that record invalid.
 */
static void look_up(struct record_thread *thread, int32_t fd)
{
	const struct ktrx_proc_fd head = { .fd = fd };
	struct record_process *process = thread->process;
	char path[PATH_MAX];
	ssize_t length;

	if (!(thread->process->facilities & RECORD_FACILITY(KTRX_PROC_NAMEI)))
		return;
	errno = ENOENT;
	length = record_proc_is_usable() ? read_link(thread, fd, path) : -1;
	denied += length < 0 && (errno == EACCES || errno == EPERM);
	if (length > 0 || is_recorded(process, fd))
		record_put(thread, KTRX_PROC_FD, length == sizeof(path) ? KTRX_PROC_CUT : 0, &head,
			   sizeof(head), path, length > 0 ? (size_t)length : 0);
	note(process->known_fd, fd, length > 0);
	note(process->recorded_fd, fd, length > 0);
	if (fd == KTRX_PROC_FD_CWD)
		process->recorded_folder = length > 0;
}

void record_put_descriptor(struct record_thread *thread, int32_t fd)
{
	if (fd >= 0 && !is_known(thread->process, fd))
		look_up(thread, fd);
}

void record_put_descriptors(struct record_thread *thread, const struct calls_call *call)
{
	struct record_process *process = thread->process;

	for (unsigned n = 0; n < call->arguments; n++) {
		const int32_t fd = (int32_t)thread->argument[n];

		if (call->argument[n].access || call->argument[n].type->base != CALLS_FD)
			continue;
		if (fd == KTRX_PROC_FD_CWD && !process->known_folder)
			look_up(thread, fd);
		process->known_folder |= fd == KTRX_PROC_FD_CWD;
		record_put_descriptor(thread, fd);
	}
}

void record_descriptor_is_new(struct record_thread *thread, int32_t fd)
{
	if (fd >= 0)
		look_up(thread, fd);
}

void record_forget_all_descriptors(struct record_process *process)
{
	memset(process->known_fd, 0, sizeof(process->known_fd));
	process->known_folder = false;
}

void record_forget_descriptors(struct record_process *process, uint64_t first, uint64_t last)
{
	for (uint64_t fd = first; fd <= last && fd < RECORD_FDS; fd++)
		note(process->known_fd, (int32_t)fd, false);
}
