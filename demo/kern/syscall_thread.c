/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * System calls on the threads of a process, and on words in user memory for which threads wait. abi.h
 * describes each call.
 */
#include "clock.h"
#include "process.h"
#include "sched.h"
#include "signal.h"
#include "syscall.h"
#include "user.h"
#include "word_wait.h"

/* Copies a name from user memory. `from` may be 0: then the name is "". Returns 0 or -errno. */
static int fetch_name(char name[static THREAD_NAME_MAX], uintptr_t from)
{
	int64_t length = 0;

	name[0] = '\0';
	if (from)
		length = vm_copy_string(&process_self()->vm, name, from, THREAD_NAME_MAX);
	return length < 0 ? (int)length : 0;
}

int64_t sys_thread_create(const struct call *call)
{
	struct thread_start start = {
		.entry = call->a[0],
		.argument = call->a[1],
		.stack = call->a[2],
		.tls = call->a[3],
	};
	char name[THREAD_NAME_MAX];
	int error = fetch_name(name, call->a[4]);

	if (call->a[4])
		start.name = name;
	return error ? error : process_thread_create(&start);
}

int64_t sys_thread_exit(const struct call *call)
{
	(void)call;
	process_thread_exit();
}

int64_t sys_thread_join(const struct call *call)
{
	return process_thread_join((uint32_t)call->a[0]);
}

int64_t sys_thread_self(const struct call *call)
{
	(void)call;
	return thread_self()->id;
}

/*
 * thread_kill(thread, signal): sends a signal to a thread of the calling process. Signal 0 is not sent; the
 * call only checks whether the thread exists.
 */
int64_t sys_thread_kill(const struct call *call)
{
	int signal = (int)call->a[1];
	struct thread *thread;
	bool irq_on;

	if (signal < 0 || signal >= SIG_COUNT || signal == SIGSTOP)
		return -EINVAL;
	irq_on = process_lock();
	thread = process_thread_find(process_self(), (uint32_t)call->a[0]);
	if (thread && signal)
		signal_send_thread(thread, signal, SI_USER);
	process_unlock(irq_on);
	return thread ? 0 : -ESRCH;
}

int64_t sys_thread_tls(const struct call *call)
{
	user_frame_set_tls(user_frame_of(thread_self()), call->a[0]);
	return 0;
}

int64_t sys_wait_on(const struct call *call)
{
	int32_t timeout_ms = (int32_t)call->a[2];
	char name[THREAD_NAME_MAX];
	const struct word_wait wanted = {
		.address = call->a[0],
		.value = (uint32_t)call->a[1],
		.deadline_ns = timeout_ms < 0 ? WAIT_FOR_EVER : clock_ns() + (uint64_t)timeout_ms * NS_PER_MS,
		.is_lock = call->a[3] & WAIT_OWNER,
		.place = user_frame_ip(user_frame_of(thread_self())),
		.name = name,
	};
	int error = fetch_name(name, call->a[4]);

	if (!error && (call->a[0] % sizeof(uint32_t) || call->a[3] & ~(uint64_t)WAIT_OWNER))
		error = -EINVAL;
	return error ? error : word_wait(&wanted);
}

int64_t sys_wake(const struct call *call)
{
	return word_wake(call->a[0], (unsigned)call->a[1]);
}
