/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Replaces the program of a process. The new program is set up completely before the old one is removed.
 * So if the new program cannot be set up, execve returns an error to the old program.
 */
#include <ktrace/ktrace.h>

#include "exec.h"

#include "arch.h"
#include "mapped_code.h"
#include "page.h"
#include "process.h"
#include "string.h"
#include "syscall.h"
#include "thread.h"
#include "vfs.h"

KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_RARE, KTRX_V1_NONE, process, exec, "%u runs %s",
		  (uint32_t, process), (const char *, path));

#define STACK_ALIGNMENT 16
/* Initial size of a program's stack: room for the strings, the pointers to them, and one more page. */
#define STACK_FIRST (2 * PAGE_SIZE + ARGS_BYTES_MAX)

static size_t count(char *const words[])
{
	size_t n = 0;

	while (words[n])
		n++;
	return n;
}

static int push(struct vm *vm, uintptr_t *sp, const void *from, size_t size)
{
	*sp -= size;
	return vm_copy_out(vm, *sp, from, size);
}

/*
 * Copies strings to the stack below *sp, and lowers *sp. Stores the addresses of the copies, followed by a
 * NULL, in address[].
 */
static int push_strings(struct vm *vm, uintptr_t *sp, char *const words[], size_t n, uint64_t address[])
{
	int error = 0;

	address[n] = 0;
	while (!error && n-- > 0) {
		error = push(vm, sp, words[n], strlen(words[n]) + 1);
		address[n] = *sp;
	}
	return error;
}

/* Builds the initial stack that abi.h describes. `words` is a buffer for argc and all pointers. */
static int build_stack(struct vm *vm, char *const argv[], char *const envp[], uint64_t *words, uintptr_t *sp)
{
	const struct vm_area stack = {
		.start = USER_STACK - STACK_FIRST,
		.end = USER_STACK,
		.access = ACCESS_READ | ACCESS_WRITE,
		.grows_down = true,
	};
	size_t argc = count(argv), envc = count(envp), size = (1 + argc + 1 + envc + 1) * sizeof(*words);
	int error;

	if (argc + envc > ARGS_MAX)
		return -E2BIG;
	*sp = USER_STACK;
	words[0] = argc;
	error = vm_map(vm, &stack);
	if (!error)
		error = push_strings(vm, sp, envp, envc, &words[1 + argc + 1]);
	if (!error)
		error = push_strings(vm, sp, argv, argc, &words[1]);
	if (error)
		return error;
	*sp = ((*sp - size) & ~(uintptr_t)(STACK_ALIGNMENT - 1)) + size;
	return push(vm, sp, words, size);
}

/*
 * Finds the file of a program and checks that `who` may execute it. The caller owns the reference in
 * *program.
 */
static int find_program(const char *path, struct inode *cwd, const struct credentials *who,
			struct inode **program)
{
	int error = vfs_lookup(path, cwd, who, program);

	if (error)
		return error;
	if (((*program)->mode & S_IFMT) == S_IFREG)
		error = vfs_may(*program, who, MAY_EXECUTE, path);
	else
		error = -EACCES;
	if (error)
		inode_put(*program);
	return error;
}

static int load(struct image *image, struct inode *program, char *const argv[], char *const envp[])
{
	uint64_t *words = page_alloc(1);
	int error = -ENOMEM;

	if (!words)
		return error;
	if (vm_init(&image->vm)) {
		error = elf_load(&image->vm, program, &image->entry);
		if (!error)
			error = build_stack(&image->vm, argv, envp, words, &image->stack);
		if (error)
			vm_free(&image->vm);
	}
	page_free(words, 1);
	return error;
}

/*
 * Reads the file's mode and owner by one call. With two calls, the owner might change in between, and a
 * set-id program would run with the ids of the new owner.
 */
static void take_credentials(struct image *image, struct inode *program, const struct credentials *who)
{
	bool is_hidden = MAY_READ & ~vfs_rights(program, who);
	struct abi_stat about;

	vfs_stat(program, &about);
	image->cred = *who;
	credentials_exec(&image->cred, about.mode, about.uid, about.gid);
	image->cred.set_id |= is_hidden;
	image->gains = image->cred.effective_uid != who->effective_uid ||
		       image->cred.effective_gid != who->effective_gid || is_hidden;
}

int exec_load(struct image *image, const char *path, char *const argv[], char *const envp[],
	      struct inode *cwd, const struct credentials *who)
{
	struct inode *program;
	int error = find_program(path, cwd, who, &program);

	if (error)
		return error;
	take_credentials(image, program, who);
	error = load(image, program, argv, envp);
	inode_put(program);
	return error;
}

const char *exec_name(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (path[0] == '/' && path[1] && path[1] != '/')
			name = path + 1;
	return name;
}

static void set_program(struct process *self, const char *path)
{
	bool irq_on;

	mapped_code_drop(self);
	irq_on = process_lock();
	string_copy(self->program, path, sizeof(self->program));
	process_unlock(irq_on);
}

/*
 * Takes over the ids of the new program. Before that, marks the process as set-id, so that no new trace of it
 * can start. Also ends existing traces by users who may not trace the new program.
 */
static void take_identity(struct process *self, const struct image *image, const char *path)
{
	process_mark_set_id(self);
	ktrace_proc_exec(&self->trace, &thread_self()->trace, image->gains);
	ktrace_hwt_exec(&self->hardware_trace, &thread_self()->hardware_trace, 0, path, image->gains);
	process_set_identity(self, &image->cred);
}

int process_exec(const char *path, char *const argv[], char *const envp[])
{
	struct process *self = process_self();
	struct image image;
	struct vm old;
	int error = exec_load(&image, path, argv, envp, call_cwd(), &self->cred);

	if (error)
		return error;
	if (!process_end_others()) {
		vm_free(&image.vm);
		return -EINTR;
	}
	old = self->vm;
	thread_set_space(NULL);
	self->vm = image.vm;
	thread_set_space(&self->vm.space);
	vm_free(&old);

	files_exec(&self->files);
	signal_exec(&self->signals);
	process_rename(self, exec_name(path));
	set_program(self, path);
	take_identity(self, &image, path);
	user_frame_start(user_frame_of(self->thread), image.entry, image.stack);
	KTRACE(process, exec, self->pid, path);
	return 0;
}
