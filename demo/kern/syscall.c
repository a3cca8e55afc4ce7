/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Dispatches a system call by its number. Each call is recorded with its arguments and its result. */
#include <ktrace/ktrace.h>
#include <ktrx/v1.h>

#include "syscall.h"

#include "abi.h"
#include "process.h"
#include "process_trace.h"
#include "string.h"
#include "user.h"
#include "vfs.h"

KTRACE_EVENT_V1(KTRX1_SYSCALL_ENTER, syscall, enter, "%u(%#llx, %#llx, %#llx, %#llx, %#llx, %#llx)",
		(uint16_t, nr), (unsigned long long, a1), (unsigned long long, a2), (unsigned long long, a3),
		(unsigned long long, a4), (unsigned long long, a5), (unsigned long long, a6));
KTRACE_EVENT_V1(KTRX1_SYSCALL_EXIT, syscall, exit, "%u = %lld", (uint16_t, nr), (long long, result));

static int64_t (*const functions[SYS_COUNT])(const struct call *call) = {
#define CALL(number, name, ...) [number] = sys_##name,
#include "syscalls.def"
};

const char syscall_table_text[] =
#define CALL(number, name, ...) #number " " #name " " #__VA_ARGS__ "\n"
#include "syscalls.def"
#define ERROR(number, name, text) "error " #number " " #name "\n"
#include "errors.def"
#define FLAG(type, value, name)	       "flags " #type " " #value " " #name "\n"
#define VALUE(type, value, name)       "enum " #type " " #value " " #name "\n"
#define FIELD(type, mask)	       "field " #type " " #mask "\n"
#define SIGNAL(number, name)	       "signal " #number " " #name "\n"
#define STRUCT(name, size, members)    "struct " #name " " #size members "\n"
#define MEMBER(of, type, name, offset) ", " #type " " #name " " #offset
#include "ktrace.def"
#include "types.def"
	;

/* Checks that the structs in abi.h have the layout that the table for process traces describes. */
#define FLAG(type, value, name)
#define VALUE(type, value, name)
#define FIELD(type, mask)
#define SIGNAL(number, name)
#define STRUCT(name, size, members)                                 \
	_Static_assert(sizeof(struct abi_##name) == (size), #name); \
	members
#define MEMBER(of, type, name, offset) \
	_Static_assert(offsetof(struct abi_##of, name) == (offset), #of "." #name);
#include "types.def"

#define ARGUMENTS(r, a, b, c, d, e, f, n, ...) n
static const uint8_t arguments[SYS_COUNT] = {
#define CALL(number, name, ...) [number] = ARGUMENTS(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0, 0),
#include "syscalls.def"
};

#define ERRORS_MOST 4095 /* results from -ERRORS_MOST to -1 are errors */

int call_path(const struct call *call, unsigned n, char *path)
{
	struct process *self = process_self();
	int64_t length = vm_copy_string(&self->vm, path, call->a[n], PATH_MAX);

	if (length < 0)
		return (int)length;
	ktrace_proc_namei(&self->trace, &thread_self()->trace, path, (size_t)length);
	return 0;
}

struct file *call_file(const struct call *call, unsigned n)
{
	struct thread *self = thread_self();

	self->file = files_get(&self->process->files, (int)call->a[n]);
	return self->file;
}

struct inode *call_cwd(void)
{
	struct thread *self = thread_self();

	if (!self->cwd)
		self->cwd = process_cwd(self->process);
	return self->cwd;
}

static void release_held(struct thread *self)
{
	if (self->file)
		file_put(self->file);
	inode_put(self->cwd);
	self->file = NULL;
	self->cwd = NULL;
}

int call_superuser(void)
{
	if (credentials_is_superuser(&process_self()->cred))
		return 0;
	trace_denied(KTRX_PROC_DENIED_PRIVILEGE, 0, 0, NULL);
	return -EPERM;
}

static int64_t dispatch(unsigned number, const struct call *call)
{
	if (number >= SYS_COUNT || !functions[number])
		return -ENOSYS;
	return functions[number](call);
}

/*
 * Records the number and the arguments of a call. For a call with an unknown number, records six arguments.
 */
static void trace_enter(struct process *self, unsigned number, const struct call *call)
{
	bool known = number < SYS_COUNT && functions[number];

	KTRACE(syscall, enter, (uint16_t)number, call->a[0], call->a[1], call->a[2], call->a[3], call->a[4],
	       call->a[5]);
	ktrace_proc_syscall(&self->trace, &thread_self()->trace, number, known ? arguments[number] : 6,
			    call->a);
}

static void trace_exit(struct process *self, unsigned number, int64_t result)
{
	bool failed = result < 0 && result >= -ERRORS_MOST;

	ktrace_proc_sysret(&self->trace, &thread_self()->trace, number, failed ? (int32_t)-result : 0,
			   failed ? -1 : result);
	KTRACE(syscall, exit, (uint16_t)number, result);
}

void user_system_call(struct user_frame *frame)
{
	const struct call call = { .a = { user_frame_argument(frame, 0), user_frame_argument(frame, 1),
					  user_frame_argument(frame, 2), user_frame_argument(frame, 3),
					  user_frame_argument(frame, 4), user_frame_argument(frame, 5) } };
	unsigned number = user_frame_call(frame);
	struct process *self = process_self();
	int64_t result;

	trace_enter(self, number, &call);
	result = dispatch(number, &call);
	release_held(thread_self());
	/* sigreturn has already restored all registers, including the result register. */
	if (number != SYS_sigreturn)
		user_frame_set_result(frame, result);
	trace_exit(self, number, result);
}
