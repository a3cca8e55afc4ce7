/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "record/tracer.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "record/registers.h"

#define DATA_MAX 4096u /* of a transfer; what is longer is cut, and flagged so */
#define POLL_MAX 128u

static bool wants(const struct record_thread *thread, uint32_t type)
{
	return thread->process->sink && (thread->process->facilities & RECORD_FACILITY(type));
}

static void put_record(const struct record_thread *thread, uint32_t type, uint32_t flags,
		       const struct record_payload *payload)
{
	const struct ktrx_proc_record record = { .type = (uint16_t)type,
						 .flags = (uint16_t)flags,
						 .pid = (uint32_t)thread->process->pid,
						 .tid = (uint32_t)thread->tid };

	record_sink_put(thread->process->sink, &record, payload);
}

/* A process's first record is preceded by its name. */
static void put(const struct record_thread *thread, uint32_t type, uint32_t flags, const void *first,
		size_t first_size, const void *second, size_t second_size)
{
	struct record_process *process = thread->process;
	const struct record_payload payload = { first, first_size, second, second_size };
	const struct record_payload name = { .first = process->name, .first_size = strlen(process->name) };

	if (!process->named && type != KTRX_PROC_PROCCTOR)
		put_record(thread, KTRX_PROC_NAME, 0, &name);
	process->named = true;
	put_record(thread, type, flags, &payload);
}

/* ---- Lives ------------------------------------------------------------------------------------- */

void record_put_born(struct record_thread *thread, uint32_t how)
{
	struct record_process *process = thread->process;
	const struct ktrx_proc_ctor ctor = { .parent = (uint32_t)process->parent, .flags = how };

	record_proc_name(process->pid, process->name, sizeof(process->name));
	process->named = false;
	if (wants(thread, KTRX_PROC_PROCCTOR))
		put(thread, KTRX_PROC_PROCCTOR, 0, &ctor, sizeof(ctor), process->name, strlen(process->name));
}

void record_put_died(struct record_thread *thread, int status)
{
	const struct ktrx_proc_dtor dtor = { .status = (uint32_t)(WIFSIGNALED(status) ? WTERMSIG(status)
										      : WEXITSTATUS(status)),
					     .signaled = WIFSIGNALED(status) };

	if (wants(thread, KTRX_PROC_PROCDTOR))
		put(thread, KTRX_PROC_PROCDTOR, 0, &dtor, sizeof(dtor), NULL, 0);
}

/* Its name may have changed. */
static void put_name(struct record_thread *thread)
{
	struct record_process *process = thread->process;
	char name[sizeof(process->name)];

	if (thread->tid != process->pid)
		return;
	record_proc_name(process->pid, name, sizeof(name));
	if (strcmp(name, process->name) == 0)
		return;
	memcpy(process->name, name, sizeof(name));
	process->named = false;
}

/* ---- Calls ------------------------------------------------------------------------------------- */

static void put_path(const struct record_thread *thread, uint64_t address)
{
	char path[PATH_MAX];
	ssize_t length = address ? record_memory_string(thread->tid, address, path, sizeof(path)) : -1;

	if (length >= 0)
		put(thread, KTRX_PROC_NAMEI, length == sizeof(path) ? KTRX_PROC_CUT : 0, path, (size_t)length,
		    NULL, 0);
}

static void put_structure(const struct record_thread *thread, const char *name, uint64_t address, size_t size)
{
	char bytes[sizeof(struct sockaddr_storage) > sizeof(struct stat) ? sizeof(struct sockaddr_storage)
									 : sizeof(struct stat)];
	size_t read;

	if (address == 0 || size == 0)
		return;
	read = record_memory_read(thread->tid, address, bytes, size < sizeof(bytes) ? size : sizeof(bytes));
	if (read > 0)
		put(thread, KTRX_PROC_STRUCT, read < size ? KTRX_PROC_CUT : 0, name, strlen(name) + 1, bytes,
		    read);
}

/* What goes in is looked at before the call, for the program may change it later. */
static void put_structure_in(const struct record_thread *thread, const struct record_call *call)
{
	const uint64_t *argument = &thread->argument[call->structure_argument];

	if (call->structure == RECORD_STRUCTURE_SOCKADDR)
		put_structure(thread, "sockaddr", argument[0], (uint32_t)argument[1]);
	else if (call->structure == RECORD_STRUCTURE_TIMESPEC)
		put_structure(thread, "timespec", argument[0], sizeof(struct timespec));
}

static void put_sockaddr_out(const struct record_thread *thread, const uint64_t *argument)
{
	socklen_t size;

	if (argument[0] && argument[1] &&
	    record_memory_read(thread->tid, argument[1], &size, sizeof(size)) == sizeof(size))
		put_structure(thread, "sockaddr", argument[0], size);
}

static void put_pollfds(const struct record_thread *thread, const uint64_t *argument)
{
	struct {
		struct ktrx_proc_struct_array head;
		char name[sizeof("pollfd")];
	} __attribute__((packed))
	array = { .head = { .element_size = sizeof(struct pollfd) }, .name = "pollfd" };
	struct pollfd fds[POLL_MAX];
	uint64_t count = argument[1] < POLL_MAX ? argument[1] : POLL_MAX;
	size_t read = record_memory_read(thread->tid, argument[0], fds, (size_t)count * sizeof(fds[0]));

	array.head.count = (uint32_t)(read / sizeof(fds[0]));
	if (array.head.count > 0 && wants(thread, KTRX_PROC_STRUCT_ARRAY))
		put(thread, KTRX_PROC_STRUCT_ARRAY, array.head.count < argument[1] ? KTRX_PROC_CUT : 0,
		    &array, sizeof(array), fds, array.head.count * sizeof(fds[0]));
}

static void put_structure_out(const struct record_thread *thread, const struct record_call *call)
{
	const uint64_t *argument = &thread->argument[call->structure_argument];

	if (call->structure == RECORD_STRUCTURE_STAT && wants(thread, KTRX_PROC_STRUCT))
		put_structure(thread, "stat", argument[0], sizeof(struct stat));
	else if (call->structure == RECORD_STRUCTURE_SOCKADDR_OUT && wants(thread, KTRX_PROC_STRUCT))
		put_sockaddr_out(thread, argument);
	else if (call->structure == RECORD_STRUCTURE_POLLFD)
		put_pollfds(thread, argument);
}

/* `size` bytes went over, or came: those of them that can still be read. */
static size_t read_data(const struct record_thread *thread, uint32_t how, uint64_t size,
			char data[static DATA_MAX])
{
	const uint64_t *argument = thread->argument;
	size_t most = size < DATA_MAX ? (size_t)size : DATA_MAX;
	struct msghdr message;

	switch (how) {
	case RECORD_DATA_READ:
	case RECORD_DATA_WRITE:
		return record_memory_read(thread->tid, argument[1], data, most);
	case RECORD_DATA_READ_VECTOR:
	case RECORD_DATA_WRITE_VECTOR:
		return record_memory_gather(thread->tid, argument[1], argument[2], data, most);
	default:
		if (record_memory_read(thread->tid, argument[1], &message, sizeof(message)) !=
		    sizeof(message))
			return 0;
		return record_memory_gather(thread->tid, (uintptr_t)message.msg_iov, message.msg_iovlen, data,
					    most);
	}
}

static void put_data(const struct record_thread *thread, const struct record_call *call, uint64_t size)
{
	struct ktrx_proc_genio genio = { .fd = (int32_t)thread->argument[0], .size = size };
	char data[DATA_MAX];
	size_t read = read_data(thread, call->data, size, data);

	genio.write = call->data == RECORD_DATA_WRITE || call->data == RECORD_DATA_WRITE_VECTOR ||
		      call->data == RECORD_DATA_WRITE_MESSAGE;
	put(thread, KTRX_PROC_GENIO, read < size ? KTRX_PROC_CUT : 0, &genio, sizeof(genio), data, read);
}

void record_put_enter(struct record_thread *thread, uint32_t abi)
{
	const struct ktrx_proc_syscall head = { .number = (uint32_t)thread->number,
						.args = 6,
						.abi = (uint16_t)abi };
	const struct record_call *call = record_call(thread->number);

	if (wants(thread, KTRX_PROC_SYSCALL))
		put(thread, KTRX_PROC_SYSCALL, 0, &head, sizeof(head), thread->argument,
		    sizeof(thread->argument));
	if (abi != 0)
		return;
	for (unsigned n = 0; n < 6 && call->paths && wants(thread, KTRX_PROC_NAMEI); n++)
		if (call->paths >> n & 1)
			put_path(thread, thread->argument[n]);
	if (call->structure && wants(thread, KTRX_PROC_STRUCT))
		put_structure_in(thread, call);
}

static void note_handler(struct record_thread *thread)
{
	uint64_t signal = thread->argument[0], handler;

	/* struct sigaction of the kernel begins with it. */
	if (signal > 0 && signal < RECORD_SIGNALS && thread->argument[1] &&
	    record_memory_read(thread->tid, thread->argument[1], &handler, sizeof(handler)) ==
		    sizeof(handler))
		thread->process->handler[signal] = handler;
}

void record_put_leave(struct record_thread *thread, uint32_t abi, int32_t error, int64_t result)
{
	const struct ktrx_proc_sysret sysret = { .number = (uint32_t)thread->number,
						 .error = error,
						 .result = result };
	const struct record_call *call = record_call(thread->number);

	if (abi == 0 && error == 0) {
		if (call->special == RECORD_CALL_SIGNAL)
			note_handler(thread);
		else if (call->special == RECORD_CALL_NAME)
			put_name(thread);
		if (call->data && result > 0 && wants(thread, KTRX_PROC_GENIO))
			put_data(thread, call, (uint64_t)result);
		if (call->structure && thread->process->sink)
			put_structure_out(thread, call);
	}
	if (wants(thread, KTRX_PROC_SYSRET))
		put(thread, KTRX_PROC_SYSRET, 0, &sysret, sizeof(sysret), NULL, 0);
}

/* ---- Signals, switches, words ------------------------------------------------------------------ */

/* A program that touches what is not there: the fault that the kernel could not resolve. */
static void put_fault(const struct record_thread *thread, const siginfo_t *info)
{
	const struct ktrx_proc_fault fault = { .address = (uintptr_t)info->si_addr, .user = 1 };
	const struct ktrx_proc_faultend end = { .result = EFAULT };

	if (wants(thread, KTRX_PROC_FAULT))
		put(thread, KTRX_PROC_FAULT, 0, &fault, sizeof(fault), NULL, 0);
	if (wants(thread, KTRX_PROC_FAULTEND))
		put(thread, KTRX_PROC_FAULTEND, 0, &end, sizeof(end), NULL, 0);
}

void record_put_signal(struct record_thread *thread, int signal, const siginfo_t *info, uint64_t mask)
{
	const struct ktrx_proc_psig psig = {
		.signal = (uint32_t)signal,
		.code = info->si_code,
		.handler = signal < RECORD_SIGNALS ? thread->process->handler[signal]
						   : KTRX_PROC_HANDLER_UNKNOWN,
		.mask = { mask },
	};

	if ((signal == SIGSEGV || signal == SIGBUS) && info->si_code > 0)
		put_fault(thread, info);
	if (wants(thread, KTRX_PROC_PSIG))
		put(thread, KTRX_PROC_PSIG, 0, &psig, sizeof(psig), NULL, 0);
}

void record_put_switches(struct record_thread *thread)
{
	uint64_t before = thread->switches, stops = thread->stops;
	struct ktrx_proc_csw csw = { .out = 1, .voluntary = 1 };
	unsigned long message;

	if (!wants(thread, KTRX_PROC_CSW))
		return;
	/*
	 * wait() returns when the thread is about to stop. A request returns when it has left its CPU and the
	 * stop is counted.
	 */
	ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &message);
	/* So the stop that it is in counts already, as the one before did when that was looked at. */
	thread->switches = record_proc_switches(thread->tid);
	thread->stops = 0;
	if (before == 0 || thread->switches <= before + stops)
		return;
	csw.count = thread->waits += thread->switches - before - stops;
	put(thread, KTRX_PROC_CSW, 0, &csw, sizeof(csw), NULL, 0);
}

int record_put_user(struct record_thread *thread, uint64_t address, uint64_t size)
{
	char bytes[KTRX_PROC_USER_MAX];

	if (size > KTRX_PROC_USER_MAX)
		return EINVAL;
	if (!wants(thread, KTRX_PROC_USER))
		return 0;
	if (record_memory_read(thread->tid, address, bytes, (size_t)size) != size)
		return EFAULT;
	put(thread, KTRX_PROC_USER, 0, bytes, (size_t)size, NULL, 0);
	return 0;
}
