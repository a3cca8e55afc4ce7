/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Creation and end of processes. An entry of the table goes through FREE, NEW, ALIVE, ZOMBIE, FREE. The last
 * thread of the process makes the entry a ZOMBIE and does not access it after that. When the parent calls
 * wait4, the entry becomes FREE. A process that loses its parent becomes a child of init.
 */
#include <ktrace/ktrace.h>

#include "process.h"

#include "arch.h"
#include "exec.h"
#include "mapped_code.h"
#include "panic.h"
#include "power.h"
#include "sched.h"
#include "string.h"
#include "thread.h"
#include "vfs.h"

KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_RARE, KTRX_V1_NONE, process, fork, "%u makes %u",
		  (uint32_t, process), (uint32_t, child));
KTRACE_EVENT_WITH(KTRX_STATE_RECORD, KTRX_EVENT_RARE, KTRX_V1_NONE, process, exit, "%u with status %#x",
		  (uint32_t, process), (int, status));

static struct spinlock lock = SPINLOCK("processes");
static struct process table[PROCESS_MAX];
static struct process *init;

bool process_lock(void)
{
	return spin_lock_at(&lock, KTRACE_RETURN_ADDRESS);
}

void process_unlock(bool irq_on)
{
	spin_unlock(&lock, irq_on);
}

struct process *process_self(void)
{
	return thread_self()->process;
}

struct process *process_next(const struct process *last)
{
	for (struct process *p = last ? &table[last - table + 1] : table; p < table + PROCESS_MAX; p++)
		if (p->state == PROCESS_ALIVE)
			return p;
	return NULL;
}

struct process *process_find(uint32_t pid)
{
	struct process *process = NULL;

	while ((process = process_next(process)) && process->pid != pid)
		continue;
	return process;
}

uint32_t process_parent_id(const struct process *process)
{
	bool irq_on = process_lock();
	uint32_t id = process == init ? 0 : process->parent->pid;

	process_unlock(irq_on);
	return id;
}

void process_set_identity(struct process *self, const struct credentials *who)
{
	bool irq_on = process_lock();

	self->cred = *who;
	process_unlock(irq_on);
}

void process_mark_set_id(struct process *self)
{
	bool irq_on = process_lock();

	self->cred.set_id = true;
	process_unlock(irq_on);
}

/*
 * Returns true if the process group has a member that a process with credentials `who` may see. Requires:
 * table locked.
 */
static bool sees_group(const struct credentials *who, uint32_t group)
{
	struct process *process = NULL;

	while ((process = process_next(process)) &&
	       (process->group != group || !credentials_may_see(who, &process->cred)))
		continue;
	return process;
}

int process_set_group(uint32_t pid, uint32_t group)
{
	struct process *self = process_self();
	bool irq_on = process_lock();
	struct process *process = pid ? process_find(pid) : self;
	int error = 0;

	if (!process || (process != self && process->parent != self))
		error = -ESRCH;
	else if (group && group != process->pid && !sees_group(&self->cred, group))
		error = -EPERM;
	else
		process->group = group ? group : process->pid;
	process_unlock(irq_on);
	return error;
}

/*
 * Returns a NEW entry with cleared fields, or NULL if the table is full. The fields from `children` on are
 * not cleared: the last thread of the previous process in this entry may still be using them.
 */
static struct process *claim_slot(void)
{
	struct process *process = NULL;
	bool irq_on = process_lock();

	for (unsigned i = 0; i < PROCESS_MAX && !process; i++)
		if (table[i].state == PROCESS_FREE)
			process = &table[i];
	if (process) {
		memset(process, 0, offsetof(struct process, children));
		process->children.queue.lock.name = "children";
		process->thread_ends.queue.lock.name = "threads";
		process->files.lock = (struct spinlock)SPINLOCK("descriptors");
		process->state = PROCESS_NEW;
	}
	process_unlock(irq_on);
	return process;
}

static void free_slot(struct process *process)
{
	bool irq_on = process_lock();

	process->state = PROCESS_FREE;
	process_unlock(irq_on);
}

/* Creates the first thread of a process that already has its memory. Returns false if out of memory. */
static bool make_thread(struct process *process, const char *name, uint32_t id)
{
	struct thread *thread = thread_for_process(name, process, id);

	if (!thread)
		return false;
	thread->space = &process->vm.space;
	process->thread = thread;
	process->pid = thread->id;
	string_copy(process->name, name, sizeof(process->name));
	return true;
}

static void set_going(struct process *process, struct process *parent)
{
	bool irq_on = process_lock();

	process->parent = parent;
	process->group = parent == process ? process->pid : parent->group;
	process_thread_add(process, process->thread);
	if (parent != process)
		ktrace_proc_fork(&parent->trace, &process->trace, process->pid, process->pid);
	process->state = PROCESS_ALIVE;
	process_unlock(irq_on);
	ktrace_hwt_thread_create(&process->hardware_trace, &process->thread->hardware_trace);
	sched_wake(process->thread);
}

/* ---- Start of a process ------------------------------------------------------------------------ */

/* Opens the console as descriptors 0 to 2 of the first process. If that fails, they remain closed. */
static void open_console(struct process *process)
{
	struct file *console;

	if (vfs_open("/dev/console", O_RDWR, 0, process->cwd, &process->cred, &console))
		return;
	files_install(&process->files, console, 0);
	files_install(&process->files, file_get(console), 0);
	files_install(&process->files, file_get(console), 0);
}

int process_start_init(const char *path, char *const argv[])
{
	struct process *process = claim_slot();
	char *const envp[] = { NULL };
	struct image image;
	int error;

	process->cwd = inode_get(vfs_root);
	error = exec_load(&image, path, argv, envp, process->cwd, &process->cred);
	if (!error) {
		process->vm = image.vm;
		if (!make_thread(process, exec_name(path), THREAD_ID_INIT)) {
			vm_free(&process->vm);
			error = -ENOMEM;
		}
	}
	if (error) {
		inode_put(process->cwd);
		free_slot(process);
		return error;
	}
	string_copy(process->program, path, sizeof(process->program));
	open_console(process);
	user_frame_start(user_frame_of(process->thread), image.entry, image.stack);
	init = process;
	set_going(process, process);
	return 0;
}

/* Copies the parent's state to the child. The child has only one thread, a copy of the calling thread. */
static void inherit(struct process *child, struct process *parent)
{
	struct user_frame *frame = user_frame_of(child->thread);
	const struct thread *self = thread_self();

	memcpy(frame, user_frame_of(thread_self()), user_frame_size);
	user_frame_set_result(frame, 0);
	files_fork(&child->files, &parent->files);
	child->cwd = process_cwd(parent);
	child->cred = parent->cred;
	memcpy(child->program, parent->program, sizeof(child->program));
	memcpy(child->signals.action, parent->signals.action, sizeof(child->signals.action));
	child->thread->signals.blocked = self->signals.blocked;
}

int64_t process_fork(void)
{
	struct process *parent = process_self(), *child = claim_slot();
	uint32_t pid;

	if (!child)
		return -EAGAIN;
	if (!vm_fork(&child->vm, &parent->vm)) {
		free_slot(child);
		return -ENOMEM;
	}
	if (!mapped_code_fork(child, parent) || !make_thread(child, thread_self()->name, THREAD_ID_NEW)) {
		mapped_code_drop(child);
		vm_free(&child->vm);
		free_slot(child);
		return -ENOMEM;
	}
	inherit(child, parent);
	/* The pid is read before the child starts, because the child may end before this function returns. */
	pid = child->pid;
	KTRACE(process, fork, parent->pid, pid);
	set_going(child, parent);
	return pid;
}

/* ---- End of a process -------------------------------------------------------------------------- */

/*
 * Makes the children of a process children of init. Returns true if one of them is already a zombie, because
 * init must then be woken. Requires: table locked.
 */
static bool leave_children_to_init(const struct process *parent)
{
	bool zombies = false;

	for (unsigned i = 0; i < PROCESS_MAX; i++) {
		struct process *child = &table[i];

		if (child->parent != parent || child->state < PROCESS_ALIVE)
			continue;
		child->parent = init;
		zombies |= child->state == PROCESS_ZOMBIE;
	}
	return zombies;
}

/*
 * Makes the process a zombie. After that, the parent may free the entry at any time, so the process no longer
 * accesses it.
 */
static void become_zombie(struct process *self, int status)
{
	bool irq_on = process_lock(), zombies = leave_children_to_init(self);
	struct process *parent = self->parent;

	self->status = status;
	self->thread->process = NULL;
	self->thread = self->threads = NULL;
	self->state = PROCESS_ZOMBIE;
	signal_send(parent, SIGCHLD, SI_KERNEL);
	process_unlock(irq_on);
	process_ends_wake(&parent->children);
	if (zombies && parent != init)
		process_ends_wake(&init->children);
}

/* Prevents new traces of the process, and reports the end of the process to existing traces. */
static void end_hardware_trace(struct process *self)
{
	bool irq_on = process_lock();

	self->is_ending = true;
	process_unlock(irq_on);
	ktrace_hwt_thread_exit(&self->hardware_trace, &self->thread->hardware_trace);
	ktrace_hwt_exit(&self->hardware_trace);
}

void process_exit(int status)
{
	struct process *self = process_self();

	if (!process_end_others())
		process_thread_exit();
	KTRACE(process, exit, self->pid, status);
	ktrace_proc_exit(&self->trace, &self->thread->trace,
			 WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status) : (uint32_t)WTERMSIG(status),
			 !WIFEXITED(status));
	if (self == init) {
		if (!WIFEXITED(status))
			panic("init was ended by signal %d", WTERMSIG(status));
		power_off(WEXITSTATUS(status));
	}
	end_hardware_trace(self);
	files_close_all(&self->files);
	inode_put(self->cwd);
	thread_set_space(NULL);
	mapped_code_drop(self);
	vm_free(&self->vm);
	become_zombie(self, status);
	thread_exit();
}

/*
 * Looks for a zombie among the children that match `pid`, and frees its entry. Returns the child's pid; 0 if
 * no matching child has ended yet; -ECHILD if no child matches. If the caller must wait for one certain
 * child, *thread becomes the id of its main thread, otherwise 0.
 */
static int64_t reap(const struct process *parent, int64_t pid, int *status, uint32_t *thread)
{
	bool irq_on = process_lock();
	int64_t found = -ECHILD;

	*thread = 0;
	for (unsigned i = 0; i < PROCESS_MAX && found <= 0; i++) {
		struct process *child = &table[i];

		if (child->parent != parent || child == parent || child->state < PROCESS_ALIVE ||
		    (pid > 0 && child->pid != pid))
			continue;
		found = 0;
		if (child->state != PROCESS_ZOMBIE) {
			*thread = pid > 0 ? child->thread->id : 0;
			continue;
		}
		found = child->pid;
		*status = child->status;
		child->state = PROCESS_FREE;
	}
	process_unlock(irq_on);
	return found;
}

int64_t process_wait(int64_t pid, int *status, unsigned flags)
{
	struct process *self = process_self();

	for (;;) {
		uint32_t ended = process_ends_count(&self->children), thread;
		int64_t found = reap(self, pid, status, &thread);

		if (found != 0 || flags & WNOHANG)
			return found;
		if (!process_ends_wait(&self->children, ended, thread))
			return -EINTR;
	}
}
