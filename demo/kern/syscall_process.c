/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* System calls on processes, signals, time and the machine. */
#include "abi.h"
#include "arch.h"
#include "clock.h"
#include "exec.h"
#include "page.h"
#include "power.h"
#include "process.h"
#include "process_trace.h"
#include "sched.h"
#include "signal.h"
#include "string.h"
#include "syscall.h"
#include "thread.h"
#include "user.h"
#include "wait.h"

/* ---- Start and end of processes ---------------------------------------------------------------- */

int64_t sys_exit(const struct call *call)
{
	process_exit((int)(call->a[0] & 0xff) << 8);
}

int64_t sys_fork(const struct call *call)
{
	(void)call;
	return process_fork();
}

/* The arguments and environment of execve, copied from the old program's memory. */
struct words {
	char *list[ARGS_MAX + 2]; /* argv followed by NULL, then envp followed by NULL */
	size_t used;		  /* number of entries of `list` that are in use */
	size_t bytes;		  /* number of bytes of `strings` that are in use */
	char strings[ARGS_BYTES_MAX];
};

#define WORDS_PAGES ((sizeof(struct words) + PAGE_SIZE - 1) / PAGE_SIZE)

/*
 * Copies one of the two lists of strings, including its final NULL. If the list's address is NULL, copies an
 * empty list.
 */
static int64_t copy_list(struct vm *vm, struct words *words, uintptr_t from)
{
	uint64_t string = 0;
	int64_t length;
	int error;

	for (;; from += sizeof(string)) {
		error = from ? vm_copy_in(vm, &string, from, sizeof(string)) : 0;
		if (error)
			return error;
		if (words->used == ARGS_MAX + 2 - !!string)
			return -E2BIG;
		if (!string)
			break;
		length = vm_copy_string(vm, &words->strings[words->bytes], string,
					ARGS_BYTES_MAX - words->bytes);
		if (length < 0)
			return length == -ENAMETOOLONG ? -E2BIG : length;
		words->list[words->used++] = &words->strings[words->bytes];
		words->bytes += (size_t)length + 1;
	}
	words->list[words->used++] = NULL;
	return 0;
}

static int64_t exec_words(struct words *words, const char *path, uintptr_t argv, uintptr_t envp)
{
	struct vm *vm = &process_self()->vm;
	int64_t error = copy_list(vm, words, argv);
	size_t environment = words->used;

	if (!error)
		error = copy_list(vm, words, envp);
	return error ? error : process_exec(path, words->list, &words->list[environment]);
}

int64_t sys_execve(const struct call *call)
{
	char path[PATH_MAX];
	int64_t result = call_path(call, 0, path);
	struct words *words;

	if (result < 0)
		return result;
	words = page_alloc(WORDS_PAGES);
	if (!words)
		return -ENOMEM;
	result = exec_words(words, path, call->a[1], call->a[2]);
	page_free(words, WORDS_PAGES);
	return result;
}

int64_t sys_wait4(const struct call *call)
{
	int status;
	int64_t pid = process_wait((int32_t)call->a[0], &status, (unsigned)call->a[2]);
	int error = 0;

	if (pid > 0 && call->a[1])
		error = vm_copy_out(&process_self()->vm, call->a[1], &status, sizeof(status));
	return error ? error : pid;
}

int64_t sys_getpid(const struct call *call)
{
	(void)call;
	return process_self()->pid;
}

int64_t sys_getppid(const struct call *call)
{
	(void)call;
	return process_parent_id(process_self());
}

int64_t sys_sched_yield(const struct call *call)
{
	(void)call;
	sched_yield();
	return 0;
}

int64_t sys_setname(const struct call *call)
{
	struct process *self = process_self();
	char name[THREAD_NAME_MAX];
	int64_t length = vm_copy_string(&self->vm, name, call->a[0], sizeof(name));

	if (length < 0)
		return length;
	process_rename(self, name);
	ktrace_hwt_thread_name(&self->hardware_trace, &self->thread->hardware_trace, name);
	return 0;
}

/* ---- Signals ----------------------------------------------------------------------------------- */

/* The receivers of a signal that kill() sends. */
struct receivers {
	int64_t pid; /* first argument of kill(), which selects the receivers */
	int signal;
	unsigned found, reached;
};

static bool is_meant(const struct receivers *receivers, const struct process *process)
{
	const struct process *self = process_self();

	if (!credentials_may_see(&self->cred, &process->cred))
		return false;
	if (receivers->pid > 0)
		return process->pid == (uint64_t)receivers->pid;
	if (receivers->pid == -1)
		return process->pid != THREAD_ID_INIT && process != self;
	return process->group == (receivers->pid ? (uint64_t)-receivers->pid : self->group);
}

static void signal_to_all(struct receivers *receivers)
{
	struct process *process = NULL;
	bool irq_on = process_lock();

	while ((process = process_next(process))) {
		if (!is_meant(receivers, process))
			continue;
		receivers->found++;
		if (!credentials_may_signal(&process_self()->cred, &process->cred))
			continue;
		receivers->reached++;
		if (receivers->signal)
			signal_send(process, receivers->signal, SI_USER);
	}
	process_unlock(irq_on);
}

/*
 * kill(pid, signal). Signal 0 is not sent; the call only checks whether there is a receiver. pid 0: the
 * caller's process group; -1: all processes except the caller and init; less than -1: the process group -pid.
 */
int64_t sys_kill(const struct call *call)
{
	struct receivers receivers = { .pid = (int32_t)call->a[0], .signal = (int)call->a[1] };

	if (receivers.signal < 0 || receivers.signal >= SIG_COUNT || receivers.signal == SIGSTOP)
		return -EINVAL;
	signal_to_all(&receivers);
	if (!receivers.found)
		return -ESRCH;
	if (receivers.reached)
		return 0;
	trace_denied(KTRX_PROC_DENIED_OWNER, 0, 0, NULL);
	return -EPERM;
}

int64_t sys_sigaction(const struct call *call)
{
	struct vm *vm = &process_self()->vm;
	struct abi_sigaction change, old;
	int error = 0;

	if (call->a[1])
		error = vm_copy_in(vm, &change, call->a[1], sizeof(change));
	if (!error && call->a[1])
		trace_struct(sigaction, &change);
	if (!error)
		error = signal_set_action((int)call->a[0], call->a[1] ? &change : NULL, &old);
	if (!error && call->a[2]) {
		trace_struct(sigaction, &old);
		error = vm_copy_out(vm, call->a[2], &old, sizeof(old));
	}
	return error;
}

static int change_blocked(int how, uint32_t set)
{
	uint32_t blocked = thread_self()->signals.blocked;

	switch (how) {
	case SIG_BLOCK:
		signal_set_blocked(blocked | set);
		return 0;
	case SIG_UNBLOCK:
		signal_set_blocked(blocked & ~set);
		return 0;
	case SIG_SETMASK:
		signal_set_blocked(set);
		return 0;
	default:
		return -EINVAL;
	}
}

/*
 * sigprocmask(how, set, old): `set` and `old` point to 32-bit sets. If set is NULL, changes nothing; if old
 * is NULL, stores nothing.
 */
int64_t sys_sigprocmask(const struct call *call)
{
	struct process *self = process_self();
	uint32_t set, old = thread_self()->signals.blocked;
	int error = 0;

	if (call->a[1]) {
		error = vm_copy_in(&self->vm, &set, call->a[1], sizeof(set));
		if (!error)
			error = change_blocked((int)call->a[0], set);
	}
	if (!error && call->a[2])
		error = vm_copy_out(&self->vm, call->a[2], &old, sizeof(old));
	return error;
}

int64_t sys_sigreturn(const struct call *call)
{
	(void)call;
	signal_return(user_frame_of(thread_self()));
	return 0;
}

/* Queues in which threads sleep: in pause() until a signal, in nanosleep() until a timeout or a signal. */
static struct wait_queue pausing = WAIT_QUEUE("pause"), napping = WAIT_QUEUE("nanosleep");

static enum wake_reason sleep_until(struct wait_queue *queue, uint64_t deadline_ns)
{
	bool irq_on = spin_lock(&queue->lock);
	enum wake_reason reason = wait_sleep_until(queue, deadline_ns);

	spin_unlock(&queue->lock, irq_on);
	return reason;
}

int64_t sys_pause(const struct call *call)
{
	(void)call;
	sleep_until(&pausing, WAIT_FOR_EVER);
	return -EINTR;
}

/* ---- Time -------------------------------------------------------------------------------------- */

#define SECONDS_MAX (UINT64_C(1) << 32)

int64_t sys_nanosleep(const struct call *call)
{
	struct abi_timespec time;
	int error = vm_copy_in(&process_self()->vm, &time, call->a[0], sizeof(time));

	if (error)
		return error;
	trace_struct(timespec, &time);
	if ((uint64_t)time.sec > SECONDS_MAX || (uint64_t)time.nsec >= NS_PER_S)
		return -EINVAL;
	return sleep_until(&napping, clock_ns() + (uint64_t)time.sec * NS_PER_S + (uint64_t)time.nsec) ==
			       WOKEN_BY_SIGNAL
		       ? -EINTR
		       : 0;
}

/*
 * CLOCK_REALTIME and CLOCK_MONOTONIC both start at 0 when the machine starts, because the kernel does not
 * know the real time.
 */
int64_t sys_clock_gettime(const struct call *call)
{
	uint64_t now = clock_ns();
	const struct abi_timespec time = { (int64_t)(now / NS_PER_S), (int64_t)(now % NS_PER_S) };

	if (call->a[0] != CLOCK_REALTIME && call->a[0] != CLOCK_MONOTONIC)
		return -EINVAL;
	trace_struct(timespec, &time);
	return vm_copy_out(&process_self()->vm, call->a[1], &time, sizeof(time));
}

/* ---- Process traces ---------------------------------------------------------------------------- */

/* ktrace(path, operation, facilities, pid). For KTRACE_PROC_CLEAR, path is ignored. */
int64_t sys_ktrace(const struct call *call)
{
	uint32_t operation = (uint32_t)call->a[1];
	char path[PATH_MAX] = "";
	int error = 0;

	if ((operation & ~KTRACE_PROC_DESCEND) != KTRACE_PROC_CLEAR)
		error = call_path(call, 0, path);
	return error ? error
		     : process_trace_control(path, operation, (uint32_t)call->a[2], (int32_t)call->a[3]);
}

int64_t sys_utrace(const struct call *call)
{
	return process_trace_user(call->a[0], call->a[1]);
}

/* ---- The machine: name, power, reset ----------------------------------------------------------- */

static const char *machine_name(uint16_t elf_machine)
{
	switch (elf_machine) {
	case 62:
		return "x86_64";
	case 183:
		return "aarch64";
	case 243:
		return "riscv64";
	default:
		return "unknown";
	}
}

int64_t sys_uname(const struct call *call)
{
	struct abi_utsname names = { .sysname = "demo", .release = "1" };

	string_copy(names.machine, machine_name(user_elf_machine), sizeof(names.machine));
	return vm_copy_out(&process_self()->vm, call->a[0], &names, sizeof(names));
}

int64_t sys_reboot(const struct call *call)
{
	int error = call_superuser();

	if (error)
		return error;
	switch (call->a[0] & 0xff) {
	case REBOOT_POWER_OFF:
		power_off((int)(call->a[0] >> 8) & 127);
	case REBOOT_RESTART:
		power_restart();
	default:
		return -EINVAL;
	}
}
