/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Calls are told by their names, for their numbers differ from machine to machine; libseccomp knows which has
 * which. Each number is asked for once.
 */
#include "record/registers.h"

#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "base/linux_calls.h"
#include "record/tracer.h"
#include "user/sys/ktrace.h"

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

/* A thread that is stopped where a call begins or returns. */

#define ERRORS 4095 /* results below zero that are errors */

/* A stop where a call begins or returns, in one form for all ways in which kernels report it. */
struct stop {
	bool enters;
	uint32_t abi; /* 0: the machine's own; else that of an ELF machine */
	uint64_t number, argument[6];
	int64_t result;
};

static bool get_registers(pid_t tid, struct record_registers *registers)
{
	struct iovec image = { registers->word, sizeof(registers->word) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &image) != 0)
		return false;
	registers->size = image.iov_len;
	return true;
}

/* For kernels before 5.3, which do not report whether a call begins: it does if none is in progress. */
static bool look_at_registers(const struct record_thread *thread, struct stop *stop)
{
	const struct record_machine *machine = record_machine_find(record_machine_own());
	struct record_registers registers;

	stop->enters = !thread->in_call;
	return machine && get_registers(thread->tid, &registers) &&
	       (stop->enters ? record_registers_call(machine, &registers, &stop->number, stop->argument)
			     : record_registers_result(machine, &registers, &stop->result)) == 0;
}

static bool look(const struct record_thread *thread, struct stop *stop)
{
	struct __ptrace_syscall_info info;
	long size = ptrace(PTRACE_GET_SYSCALL_INFO, thread->tid, (void *)sizeof(info), &info);

	if (size < 0)
		return errno == EIO && look_at_registers(thread, stop);
	stop->abi = (info.arch & 0xffff) == record_machine_own() ? 0 : info.arch & 0xffff;
	stop->enters = info.op == PTRACE_SYSCALL_INFO_ENTRY;
	if (stop->enters) {
		stop->number = info.entry.nr;
		memcpy(stop->argument, info.entry.args, sizeof(stop->argument));
	} else {
		stop->result = info.exit.rval;
	}
	return stop->enters || info.op == PTRACE_SYSCALL_INFO_EXIT;
}

/* Carries out ktrace() and utrace(). The kernel fails them as unknown calls; answer() sets the result. */
static void act(struct record_thread *thread)
{
	const uint64_t *argument = thread->argument;

	thread->own_call = true;
	if (argument[0] == KTRACE_LINUX_UTRACE)
		thread->own_result = -record_put_user(thread, argument[1], argument[2]);
	else if (argument[0] == KTRACE_LINUX_KTRACE)
		thread->own_result = -record_control_ktrace(thread, argument[1], (uint32_t)argument[2],
							    (uint32_t)argument[3], (int32_t)argument[4]);
	else
		thread->own_result = -EINVAL;
}

static int64_t answer(struct record_thread *thread, int64_t result)
{
	const struct record_machine *machine = record_machine_find(record_machine_own());
	struct record_registers registers;
	struct iovec image;

	thread->own_call = false;
	if (!machine || !get_registers(thread->tid, &registers) ||
	    record_registers_set_result(machine, &registers, thread->own_result) != 0)
		return result;
	image = (struct iovec){ registers.word, registers.size };
	return ptrace(PTRACE_SETREGSET, thread->tid, (void *)NT_PRSTATUS, &image) == 0 ? thread->own_result
										       : result;
}

static bool enter(struct record_thread *thread, const struct stop *stop)
{
	bool exec = stop->abi == 0 && record_call(stop->number)->special == RECORD_CALL_EXEC;

	thread->in_call = true;
	thread->number = stop->number;
	memcpy(thread->argument, stop->argument, sizeof(thread->argument));
	if (exec)
		thread->quiet = false;
	if (thread->quiet)
		return false;
	record_put_enter(thread, stop->abi);
	if (stop->abi == 0 && stop->number == KTRACE_LINUX_CALL)
		act(thread);
	return exec;
}

static void leave(struct record_thread *thread, const struct stop *stop)
{
	int64_t result = thread->own_call ? answer(thread, stop->result) : stop->result;
	int32_t error = result < 0 && result >= -ERRORS ? (int32_t)-result : 0;

	/* One that it was in when it was attached to has neither number nor arguments. */
	if (thread->in_call && !thread->quiet)
		record_put_leave(thread, stop->abi, error, result);
	thread->in_call = false;
}

bool record_see_call(struct record_thread *thread)
{
	struct stop stop = { .abi = 0 };

	if (!look(thread, &stop))
		return false;
	if (stop.enters)
		return enter(thread, &stop);
	leave(thread, &stop);
	return false;
}
