/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Calls are told by their names, for their numbers differ from machine to machine; libseccomp knows which has
 * which. Each number is asked for once.
 */
#include "record/calls.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/linux_calls.h"
#include "record/registers.h"

#define NUMBERS 1024u

#define PATH(...) .paths = (__VA_ARGS__)
#define A0	  1u
#define A1	  2u
#define A2	  4u
#define A3	  8u

/* In the order of their names. */
static const struct record_call calls[] = {
	{ "accept", .structure = RECORD_STRUCTURE_SOCKADDR_OUT, .structure_argument = 1 },
	{ "accept4", .structure = RECORD_STRUCTURE_SOCKADDR_OUT, .structure_argument = 1 },
	{ "access", PATH(A0) },
	{ "acct", PATH(A0) },
	{ "bind", .structure = RECORD_STRUCTURE_SOCKADDR, .structure_argument = 1 },
	{ "chdir", PATH(A0) },
	{ "chmod", PATH(A0) },
	{ "chown", PATH(A0) },
	{ "chroot", PATH(A0) },
	{ "clock_nanosleep", .structure = RECORD_STRUCTURE_TIMESPEC, .structure_argument = 2 },
	{ "connect", .structure = RECORD_STRUCTURE_SOCKADDR, .structure_argument = 1 },
	{ "creat", PATH(A0) },
	{ "execve", PATH(A0), .special = RECORD_CALL_EXEC },
	{ "execveat", PATH(A1), .special = RECORD_CALL_EXEC },
	{ "exit", .special = RECORD_CALL_EXIT },
	{ "exit_group", .special = RECORD_CALL_EXIT },
	{ "faccessat", PATH(A1) },
	{ "faccessat2", PATH(A1) },
	{ "fchmodat", PATH(A1) },
	{ "fchownat", PATH(A1) },
	{ "fstat", .structure = RECORD_STRUCTURE_STAT, .structure_argument = 1 },
	{ "getpeername", .structure = RECORD_STRUCTURE_SOCKADDR_OUT, .structure_argument = 1 },
	{ "getsockname", .structure = RECORD_STRUCTURE_SOCKADDR_OUT, .structure_argument = 1 },
	{ "getxattr", PATH(A0) },
	{ "inotify_add_watch", PATH(A1) },
	{ "lchown", PATH(A0) },
	{ "lgetxattr", PATH(A0) },
	{ "link", PATH(A0 | A1) },
	{ "linkat", PATH(A1 | A3) },
	{ "listxattr", PATH(A0) },
	{ "llistxattr", PATH(A0) },
	{ "lremovexattr", PATH(A0) },
	{ "lsetxattr", PATH(A0) },
	{ "lstat", PATH(A0), .structure = RECORD_STRUCTURE_STAT, .structure_argument = 1 },
	{ "mkdir", PATH(A0) },
	{ "mkdirat", PATH(A1) },
	{ "mknod", PATH(A0) },
	{ "mknodat", PATH(A1) },
	{ "mount", PATH(A0 | A1) },
	{ "nanosleep", .structure = RECORD_STRUCTURE_TIMESPEC, .structure_argument = 0 },
	{ "newfstatat", PATH(A1), .structure = RECORD_STRUCTURE_STAT, .structure_argument = 2 },
	{ "open", PATH(A0) },
	{ "openat", PATH(A1) },
	{ "openat2", PATH(A1) },
	{ "pivot_root", PATH(A0 | A1) },
	{ "poll", .structure = RECORD_STRUCTURE_POLLFD, .structure_argument = 0 },
	{ "ppoll", .structure = RECORD_STRUCTURE_POLLFD, .structure_argument = 0 },
	{ "prctl", .special = RECORD_CALL_NAME },
	{ "pread64", .data = RECORD_DATA_READ },
	{ "preadv", .data = RECORD_DATA_READ_VECTOR },
	{ "preadv2", .data = RECORD_DATA_READ_VECTOR },
	{ "pwrite64", .data = RECORD_DATA_WRITE },
	{ "pwritev", .data = RECORD_DATA_WRITE_VECTOR },
	{ "pwritev2", .data = RECORD_DATA_WRITE_VECTOR },
	{ "quotactl", PATH(A1) },
	{ "read", .data = RECORD_DATA_READ },
	{ "readlink", PATH(A0) },
	{ "readlinkat", PATH(A1) },
	{ "readv", .data = RECORD_DATA_READ_VECTOR },
	{ "recvfrom", .data = RECORD_DATA_READ, .structure = RECORD_STRUCTURE_SOCKADDR_OUT,
	  .structure_argument = 4 },
	{ "recvmsg", .data = RECORD_DATA_READ_MESSAGE },
	{ "removexattr", PATH(A0) },
	{ "rename", PATH(A0 | A1) },
	{ "renameat", PATH(A1 | A3) },
	{ "renameat2", PATH(A1 | A3) },
	{ "rmdir", PATH(A0) },
	{ "rt_sigaction", .special = RECORD_CALL_SIGNAL },
	{ "sendmsg", .data = RECORD_DATA_WRITE_MESSAGE },
	{ "sendto", .data = RECORD_DATA_WRITE, .structure = RECORD_STRUCTURE_SOCKADDR,
	  .structure_argument = 4 },
	{ "setxattr", PATH(A0) },
	{ "stat", PATH(A0), .structure = RECORD_STRUCTURE_STAT, .structure_argument = 1 },
	{ "statfs", PATH(A0) },
	{ "statx", PATH(A1) },
	{ "swapoff", PATH(A0) },
	{ "swapon", PATH(A0) },
	{ "symlink", PATH(A0 | A1) },
	{ "symlinkat", PATH(A0 | A2) },
	{ "truncate", PATH(A0) },
	{ "umount2", PATH(A0) },
	{ "unlink", PATH(A0) },
	{ "unlinkat", PATH(A1) },
	{ "uselib", PATH(A0) },
	{ "utime", PATH(A0) },
	{ "utimensat", PATH(A1) },
	{ "utimes", PATH(A0) },
	{ "write", .data = RECORD_DATA_WRITE },
	{ "writev", .data = RECORD_DATA_WRITE_VECTOR },
};

static const struct record_call unknown;

static int compare(const void *name, const void *call)
{
	return strcmp(name, ((const struct record_call *)call)->name);
}

static const struct record_call *look_up(uint32_t number)
{
	const struct record_call *call;
	char *name;

	name = base_linux_call(record_machine_own(), number);
	call = name ? bsearch(name, calls, sizeof(calls) / sizeof(calls[0]), sizeof(calls[0]), compare)
		    : NULL;
	free(name);
	return call ? call : &unknown;
}

const struct record_call *record_call(uint64_t number)
{
	static const struct record_call *known[NUMBERS];

	if (number >= NUMBERS)
		return &unknown;
	if (!known[number])
		known[number] = look_up((uint32_t)number);
	return known[number];
}
