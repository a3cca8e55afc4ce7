/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Begins and ends tracing on request, and follows processes as they fork, exec and exit. */
#include "proc.h"

/* The arguments and the results of a call of ktrace_proc_control(). */
struct request {
	struct ktrace_proc_identity caller;
	uint32_t operation; /* the operation, without the flag KTRACE_PROC_DESCEND */
	uint32_t descend;
	uint32_t facilities;
	int64_t pid; /* pid of a process; negative: a process group */
	struct ktrace_proc_sink *sink;
	uint32_t meant;	    /* number of processes found so far to which the request applies */
	uint32_t permitted; /* number of processes counted in `meant` that the caller may trace */
	uint32_t late;	    /* nonzero: the sink has already ended */
};

static const struct ktrace_proc_kernel *kernel(void)
{
	return ktrace_proc_state.kernel;
}

/* ---- One process. Requires: the spinlock is held ----------------------------------------------- */

void ktrace_proc_forget(struct ktrace_proc *process)
{
	struct ktrace_proc_sink *sink = process->sink;

	process->facilities = 0;
	process->named = 0;
	process->sink = KTRACE_NULL;
	if (sink)
		ktrace_proc_drop(sink);
}

void ktrace_proc_record_ctor(struct ktrace_proc *process, uint32_t parent, uint32_t how, uint32_t thread)
{
	uint64_t fixed = parent | (uint64_t)how << 32;
	char name[KTRACE_PROC_NAME_MAX];
	struct ktrace_proc_pending pending;

	kernel()->name(process, name, sizeof(name));
	ktrace_proc_pending_init(&pending, KTRX_PROC_PROCCTOR, KTRX_PROC_QUEUED, &fixed, sizeof(fixed));
	pending.thread = thread;
	pending.text = name;
	pending.text_size = ktrace_length(name, sizeof(name));
	if (ktrace_proc_put(process, &pending) == KTRACE_PROC_FULL)
		ktrace_proc_lose(process->sink);
}

static void set(struct request *request, struct ktrace_proc *process, uint32_t pid, uint32_t parent)
{
	struct ktrace_proc_sink *before = process->sink;

	if (request->sink->state != KTRACE_PROC_SINK_OPEN) {
		request->late = 1;
		return;
	}
	process->facilities |= request->facilities;
	if (request->caller.euid == 0)
		process->facilities |= KTRACE_PROC_ROOT;
	if (before == request->sink)
		return;
	ktrace_proc_hold(request->sink);
	process->sink = request->sink;
	process->named = 0;
	process->pid = pid;
	if (before)
		ktrace_proc_drop(before);
	ktrace_proc_record_ctor(process, parent, KTRX_PROC_CTOR_SET, 0);
}

static void act(struct request *request, struct ktrace_proc *process, uint32_t pid, uint32_t parent)
{
	switch (request->operation) {
	case KTRACE_PROC_SET:
		set(request, process, pid, parent);
		break;
	case KTRACE_PROC_CLEAR:
		process->facilities &= ~request->facilities;
		if (!(process->facilities & KTRACE_PROC_ALL))
			ktrace_proc_forget(process);
		break;
	default:
		ktrace_proc_forget(process);
	}
}

/* ---- All processes. Requires: the table is locked ---------------------------------------------- */

uint32_t ktrace_proc_parent_pid(struct ktrace_proc *process)
{
	struct ktrace_proc *parent = kernel()->parent(process);
	struct ktrace_proc_identity identity;

	if (!parent)
		return 0;
	kernel()->identity(parent, &identity);
	return identity.pid;
}

static int is_named(const struct request *request, const struct ktrace_proc *process)
{
	struct ktrace_proc_identity identity;

	if (process->ended)
		return 0;
	kernel()->identity(process, &identity);
	return request->pid < 0 ? request->pid + identity.group == 0 : request->pid == identity.pid;
}

static int is_meant(const struct request *request, struct ktrace_proc *process)
{
	if (request->operation == KTRACE_PROC_CLEARFILE)
		/*
		 * the request applies to all processes; only those that are traced into the sink are changed
		 */
		return 1;
	while (process && !is_named(request, process))
		process = request->descend ? kernel()->parent(process) : KTRACE_NULL;
	return process != KTRACE_NULL;
}

static void consider(struct request *request, struct ktrace_proc *process)
{
	struct ktrace_proc_identity target;
	uint32_t parent;
	unsigned long saved;

	if (!is_meant(request, process))
		return;
	kernel()->identity(process, &target);
	parent = ktrace_proc_parent_pid(process);
	saved = ktrace_proc_lock();
	if (!process->ended &&
	    (request->operation != KTRACE_PROC_CLEARFILE || process->sink == request->sink)) {
		request->meant++;
		if (ktrace_proc_may_trace(&request->caller, &target,
					  (process->facilities & KTRACE_PROC_ROOT) != 0)) {
			request->permitted++;
			act(request, process, target.pid, parent);
		}
	}
	ktrace_proc_unlock(saved);
}

void ktrace_proc_forget_all(struct ktrace_proc_sink *sink)
{
	unsigned long table = kernel()->table_lock();

	for (struct ktrace_proc *process = kernel()->next(KTRACE_NULL); process;
	     process = kernel()->next(process)) {
		unsigned long saved = ktrace_proc_lock();

		if (process->sink == sink)
			ktrace_proc_forget(process);
		ktrace_proc_unlock(saved);
	}
	sink->cleared = 1;
	kernel()->table_unlock(table);
}

/* ---- ktrace_proc_control() --------------------------------------------------------------------- */

static int check(const struct request *request)
{
	if (request->operation > KTRACE_PROC_CLEARFILE)
		return KTRACE_ERROR_ARGUMENT;
	if (request->operation != KTRACE_PROC_CLEARFILE && request->facilities == 0)
		return KTRACE_ERROR_ARGUMENT;
	if (request->operation == KTRACE_PROC_SET && !request->sink)
		return KTRACE_ERROR_ARGUMENT;
	return ktrace_proc_state.kernel ? KTRACE_OK : KTRACE_ERROR_STATE;
}

static int outcome(const struct request *request)
{
	if (request->operation == KTRACE_PROC_CLEARFILE)
		return request->permitted == request->meant ? KTRACE_OK : KTRACE_ERROR_PERMISSION;
	if (request->meant == 0)
		return KTRACE_ERROR_NO_PROCESS;
	if (request->permitted == 0)
		return KTRACE_ERROR_PERMISSION;
	return request->late ? KTRACE_ERROR_DEVICE : KTRACE_OK;
}

int ktrace_proc_control(struct ktrace_proc *caller, struct ktrace_proc_thread *thread, uint32_t operation,
			uint32_t facilities, int64_t pid, struct ktrace_proc_sink *sink)
{
	struct request request;
	unsigned long table;
	int error;

	request.operation = operation & ~KTRACE_PROC_DESCEND;
	request.descend = operation & KTRACE_PROC_DESCEND;
	request.facilities = facilities & (KTRACE_PROC_ALL | KTRACE_PROC_INHERIT);
	request.pid = pid;
	request.sink = sink;
	request.meant = 0;
	request.permitted = 0;
	request.late = 0;
	error = check(&request);
	if (error)
		return error;
	if (request.operation == KTRACE_PROC_CLEARFILE && !sink)
		return KTRACE_OK;
	table = kernel()->table_lock();
	kernel()->identity(caller, &request.caller);
	for (struct ktrace_proc *process = kernel()->next(KTRACE_NULL); process;
	     process = kernel()->next(process))
		consider(&request, process);
	kernel()->table_unlock(table);
	if (request.operation != KTRACE_PROC_SET)
		ktrace_proc_flush(thread);
	/*
	 * the sink has ended during the request: stop tracing the processes that the request has added to it
	 */
	else if (request.late)
		ktrace_proc_drain(sink, thread);
	ktrace_proc_close_idle(thread);
	return outcome(&request);
}

/* ---- The life of a process -------------------------------------------------------------------- */

/* A trace follows its process: to child processes, through exec to another program, and up to its end. */

void ktrace_proc_fork(struct ktrace_proc *parent, struct ktrace_proc *child, uint32_t pid, uint32_t thread)
{
	unsigned long saved;

	if (!ktrace_proc_wants(parent, KTRACE_PROC_INHERIT))
		return;
	saved = ktrace_proc_lock();
	if ((parent->facilities & KTRACE_PROC_INHERIT) && parent->sink) {
		ktrace_proc_hold(parent->sink);
		child->sink = parent->sink;
		child->facilities = parent->facilities;
		child->pid = pid;
		ktrace_proc_record_ctor(child, parent->pid, KTRX_PROC_CTOR_FORK, thread);
	}
	ktrace_proc_unlock(saved);
}

void ktrace_proc_renamed(struct ktrace_proc *process)
{
	unsigned long saved;

	if (!ktrace_proc_wants(process, KTRX_U32_MAX))
		return;
	saved = ktrace_proc_lock();
	process->named = 0;
	ktrace_proc_unlock(saved);
}

/*
 * Stops tracing the process. When this function returns, all records of the process are in the file.
 * Requires: the spinlock is held. Releases it.
 */
static void forget_written(struct ktrace_proc *process, struct ktrace_proc_thread *thread,
			   unsigned long saved)
{
	struct ktrace_proc_sink *sink = process->sink;

	if (sink)
		ktrace_proc_hold(sink);
	ktrace_proc_forget(process);
	ktrace_proc_unlock(saved);
	if (!sink)
		return;
	ktrace_proc_drain(sink, thread);
	ktrace_proc_sink_release(sink, thread);
}

/*
 * Stops tracing a process that gains rights, unless the superuser traces it: an owner without the program's
 * rights must not learn from the trace what only the program may access.
 */
static void drop_privileged(struct ktrace_proc *process, struct ktrace_proc_thread *thread)
{
	unsigned long saved = ktrace_proc_lock();

	if (process->facilities & KTRACE_PROC_ROOT)
		ktrace_proc_unlock(saved);
	else
		forget_written(process, thread, saved);
}

void ktrace_proc_exec(struct ktrace_proc *process, struct ktrace_proc_thread *thread, int gains)
{
	const struct ktrace_proc_kernel *kernel = ktrace_proc_state.kernel;
	char name[KTRACE_PROC_NAME_MAX];
	struct ktrace_proc_pending pending;
	unsigned long saved;
	uint64_t fixed;

	if (!ktrace_proc_wants(process, KTRX_U32_MAX))
		return;
	if (gains)
		drop_privileged(process, thread);
	ktrace_proc_renamed(process);
	if (!ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_PROCCTOR)) || thread->busy)
		return;
	saved = kernel->table_lock();
	fixed = ktrace_proc_parent_pid(process) | (uint64_t)KTRX_PROC_CTOR_EXEC << 32;
	kernel->table_unlock(saved);
	saved = ktrace_proc_lock();
	kernel->name(process, name, sizeof(name));
	ktrace_proc_unlock(saved);
	ktrace_proc_pending_init(&pending, KTRX_PROC_PROCCTOR, 0, &fixed, sizeof(fixed));
	pending.text = name;
	pending.text_size = ktrace_length(name, sizeof(name));
	ktrace_proc_record(process, thread, &pending);
}

void ktrace_proc_exit(struct ktrace_proc *process, struct ktrace_proc_thread *thread, uint32_t status,
		      int signaled)
{
	uint64_t fixed = status | (uint64_t)(signaled != 0) << 32;
	struct ktrace_proc_pending pending;
	unsigned long saved;

	if (!ktrace_proc_state.kernel)
		return;
	ktrace_proc_pending_init(&pending, KTRX_PROC_PROCDTOR, 0, &fixed, sizeof(fixed));
	if (ktrace_proc_wants(process, KTRACE_PROC_FACILITY(KTRX_PROC_PROCDTOR)))
		ktrace_proc_record(process, thread, &pending);
	saved = ktrace_proc_lock();
	process->ended = 1;
	forget_written(process, thread, saved);
}
