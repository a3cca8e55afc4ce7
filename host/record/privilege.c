/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "record/privilege.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "record/calls.h"
#include "record/memory.h"

/* The path as we can open it: relative ones begin at the thread's folder, or at a descriptor of its. */
static bool find_path(const struct record_thread *thread, char *path, size_t room)
{
	bool at = strcmp(record_call(thread->number)->name, "execveat") == 0;
	char name[PATH_MAX];
	ssize_t length = record_memory_string(thread->tid, thread->argument[at], name, sizeof(name) - 1);
	int written;

	if (length < 0)
		return false;
	name[length] = '\0';
	if (name[0] == '/')
		written = snprintf(path, room, "/proc/%d/root%s", (int)thread->tid, name);
	else if (at && (int)thread->argument[0] != AT_FDCWD)
		written = snprintf(path, room, "/proc/%d/fd/%d%s%s", (int)thread->tid,
				   (int)thread->argument[0], *name ? "/" : "", name);
	else
		written = snprintf(path, room, "/proc/%d/cwd/%s", (int)thread->tid, name);
	return written > 0 && (size_t)written < room;
}

bool record_is_privileged_exec(const struct record_thread *thread)
{
	char path[PATH_MAX + 64];
	struct statvfs system;
	struct stat file;

	if (geteuid() == 0 || !find_path(thread, path, sizeof(path)) || stat(path, &file) != 0 ||
	    statvfs(path, &system) != 0 || (system.f_flag & ST_NOSUID))
		return false;
	return ((file.st_mode & S_ISUID) && file.st_uid != geteuid()) ||
	       ((file.st_mode & S_ISGID) && (file.st_mode & S_IXGRP) && file.st_gid != getegid());
}
