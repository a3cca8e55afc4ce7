/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "record/tracer.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "calls/tables.h"
#include "record/registers.h"

#define SIGNAL_INFO 48u /* number of bytes of a siginfo_t that are recorded */
/*
 * maximum number of bytes recorded of one transfer; a longer transfer is truncated, and the record gets the
 * flag KTRX_PROC_CUT
 */
#define DATA_MAX      4096u
#define MESSAGES_MOST 64u /* maximum number of messages recorded of one call */

static bool wants(const struct record_thread *thread, uint32_t type)
{
	return thread->process->sink && (thread->process->facilities & RECORD_FACILITY(type));
}

static bool wants_memory(const struct record_thread *thread)
{
	return wants(thread, KTRX_PROC_STRUCT) || wants(thread, KTRX_PROC_STRUCT_ARRAY);
}

static void put_name_of(const struct record_thread *thread, const struct record_process *process)
{
	const struct ktrx_proc_record head = { .type = KTRX_PROC_NAME,
					       .pid = (uint32_t)process->pid,
					       .tid = (uint32_t)thread->tid };

	record_sink_add(
		process->sink, &head,
		&(struct record_payload){ .first = process->name, .first_size = strlen(process->name) });
}

/*
 * Adds a record to the sink of the thread's process. If the sink has no record of the process's name yet,
 * first adds a record of the name. Sets pid and tid in `head`; the caller sets the other members.
 */
static void put_head(const struct record_thread *thread, struct ktrx_proc_record *head,
		     const struct record_payload *payload)
{
	struct record_process *process = thread->process;

	if (!process->named && head->type != KTRX_PROC_PROCCTOR)
		put_name_of(thread, process);
	process->named = true;
	head->pid = (uint32_t)process->pid;
	head->tid = (uint32_t)thread->tid;
	record_sink_add(process->sink, head, payload);
}

static void put(const struct record_thread *thread, uint32_t type, uint32_t flags, const void *first,
		size_t first_size, const void *second, size_t second_size)
{
	struct ktrx_proc_record head = { .type = (uint16_t)type, .flags = (uint16_t)flags };
	const struct record_payload payload = { first, first_size, second, second_size };

	put_head(thread, &head, &payload);
}

void record_put_earlier(const struct record_thread *thread, uint32_t type, const struct record_moment *moment,
			const void *data, size_t size)
{
	struct ktrx_proc_record head = { .type = (uint16_t)type,
					 .flags = KTRX_PROC_QUEUED,
					 .stamp = moment->stamp,
					 .cpu = (uint16_t)moment->cpu,
					 .lost = moment->lost };

	if (wants(thread, type))
		put_head(thread, &head, &(struct record_payload){ .first = data, .first_size = size });
}

/* ---- Starts and ends of processes -------------------------------------------------------------- */

void record_put_new_process(struct record_thread *thread, uint32_t how)
{
	struct record_process *process = thread->process;
	const struct ktrx_proc_ctor ctor = { .parent = (uint32_t)process->parent, .flags = how };
	char name[sizeof(process->name)];

	record_proc_name(process->pid, name, sizeof(name));
	/*
	 * If /proc is not usable, `name` is empty. In this case, a new child keeps the name of its parent,
	 * and a process that has executed a new program has no name.
	 */
	if (*name || how == KTRX_PROC_CTOR_EXEC)
		memcpy(process->name, name, sizeof(name));
	process->named = false;
	if (wants(thread, KTRX_PROC_PROCCTOR))
		put(thread, KTRX_PROC_PROCCTOR, 0, &ctor, sizeof(ctor), process->name, strlen(process->name));
}

void record_put_exit(struct record_thread *thread, int status)
{
	const struct ktrx_proc_dtor dtor = { .status = (uint32_t)(WIFSIGNALED(status) ? WTERMSIG(status)
										      : WEXITSTATUS(status)),
					     .signaled = WIFSIGNALED(status) };

	if (wants(thread, KTRX_PROC_PROCDTOR))
		put(thread, KTRX_PROC_PROCDTOR, 0, &dtor, sizeof(dtor), NULL, 0);
}

/*
 * Updates the name of the process, if it has changed. In this case, a record of the name comes before the
 * next record of the process.
 */
static void put_name(struct record_thread *thread)
{
	struct record_process *process = thread->process;
	char name[sizeof(process->name)];

	if (thread->tid != process->pid)
		return;
	record_proc_name(process->pid, name, sizeof(name));
	if (!*name || strcmp(name, process->name) == 0)
		return;
	memcpy(process->name, name, sizeof(name));
	process->named = false;
}

/* ---- System calls ------------------------------------------------------------------------------ */

void record_put(const struct record_thread *thread, uint32_t type, uint32_t flags, const void *first,
		size_t first_size, const void *second, size_t second_size)
{
	if (wants(thread, type == KTRX_PROC_FD ? KTRX_PROC_NAMEI : type))
		put(thread, type, flags, first, first_size, second, second_size);
}

/*
 * Reads the data of the struct msghdr at address `at`, at most `most` bytes. Returns the number of bytes
 * read.
 */
static size_t read_message(const struct record_thread *thread, uint64_t at, char *data, size_t most)
{
	const unsigned width = record_address_size(thread->abi);
	struct record_message message;

	if (!record_memory_message(thread->tid, at, width, &message))
		return 0;
	return record_memory_gather(thread->tid, message.iovec, width, message.iovecs, data, most);
}

/*
 * Reads the `size` bytes that a call has transferred, at most DATA_MAX. Stops at the first byte that cannot
 * be read. Returns the number of bytes read.
 */
static size_t read_data(const struct record_thread *thread, uint32_t how, uint64_t size,
			char data[static DATA_MAX])
{
	const uint64_t *argument = thread->argument;
	size_t most = size < DATA_MAX ? (size_t)size : DATA_MAX;

	switch (how) {
	case RECORD_DATA_READ:
	case RECORD_DATA_WRITE:
		return record_memory_read(thread->tid, argument[1], data, most);
	case RECORD_DATA_READ_VECTOR:
	case RECORD_DATA_WRITE_VECTOR:
		return record_memory_gather(thread->tid, argument[1], record_address_size(thread->abi),
					    argument[2], data, most);
	default:
		return read_message(thread, argument[1], data, most);
	}
}

/*
 * Records the data of a transfer. The second argument of the call, arg[1], points to the data, or to structs
 * that point to the data.
 */
static void put_bytes(struct record_thread *thread, bool write, uint64_t size, const char *data, size_t read)
{
	const struct ktrx_proc_genio genio = { .fd = (int32_t)thread->argument[0],
					       .write = write,
					       .size = size };

	record_put(thread, KTRX_PROC_GENIO, (read < size ? KTRX_PROC_CUT : 0) | 2 << KTRX_PROC_ARGUMENT_SHIFT,
		   &genio, sizeof(genio), data, read);
}

/*
 * Records each message: first the other parts of its struct msghdr, then its data, then its struct mmsghdr.
 */
static void put_messages(struct record_thread *thread, bool write, uint64_t count)
{
	static const char name[] = "mmsghdr";
	const unsigned width = record_address_size(thread->abi);
	const uint64_t recorded = count < MESSAGES_MOST ? count : MESSAGES_MOST;
	uint64_t at = thread->argument[1];
	char data[DATA_MAX], message[64];
	uint32_t size;

	/* A struct mmsghdr has 8 machine words. The last word contains the size of the message's data. */
	for (uint64_t n = 0; n < recorded; n++, at += 8 * width) {
		if (record_memory_read(thread->tid, at, message, 8 * width) != 8 * width)
			return;
		memcpy(&size, message + 7 * width, sizeof(size));
		record_put_message(thread, 1, at, !write);
		put_bytes(thread, write, size, data,
			  read_message(thread, at, data, size < DATA_MAX ? size : DATA_MAX));
		record_put(thread, KTRX_PROC_STRUCT,
			   (n + 1 == recorded && recorded < count ? KTRX_PROC_CUT : 0) |
				   2 << KTRX_PROC_ARGUMENT_SHIFT,
			   name, sizeof(name), message, 8 * width);
	}
}

static void put_data(struct record_thread *thread, const struct record_call *call, uint64_t size)
{
	const bool write = call->data == RECORD_DATA_WRITE || call->data == RECORD_DATA_WRITE_VECTOR ||
			   call->data == RECORD_DATA_WRITE_MESSAGE ||
			   call->data == RECORD_DATA_WRITE_MESSAGES;
	char data[DATA_MAX];

	if (call->data >= RECORD_DATA_READ_MESSAGES) {
		put_messages(thread, write, size);
		return;
	}
	if (call->data >= RECORD_DATA_READ_MESSAGE)
		record_put_message(thread, 1, thread->argument[1], !write);
	put_bytes(thread, write, size, data, read_data(thread, call->data, size, data));
}

void record_put_enter(struct record_thread *thread)
{
	const struct ktrx_proc_syscall head = { .number = (uint32_t)thread->number,
						.args = 6,
						.abi = (uint16_t)thread->abi };
	const struct record_call *call = record_call(thread->abi, thread->number);

	if (wants(thread, KTRX_PROC_NAMEI))
		record_put_descriptors(thread, call->call);
	if (wants(thread, KTRX_PROC_SYSCALL))
		put(thread, KTRX_PROC_SYSCALL, 0, &head, sizeof(head), thread->argument,
		    sizeof(thread->argument));
	if (wants(thread, KTRX_PROC_NAMEI) || wants_memory(thread))
		record_put_paths(thread, call->call);
	if (wants_memory(thread))
		record_put_arguments(thread, CALLS_GIVEN, 0);
}

static void note_handler(struct record_thread *thread, bool at_address)
{
	uint64_t signal = thread->argument[0], handler = thread->argument[1];

	if (signal == 0 || signal >= RECORD_SIGNALS)
		return;
	/* The kernel's struct sigaction begins with the handler. */
	if (at_address &&
	    (handler == 0 ||
	     record_memory_words(thread->tid, handler, record_address_size(thread->abi), &handler, 1) != 1))
		return;
	thread->process->handler[signal] = handler;
}

/*
 * Updates what is known about the process: its handlers, its name and its descriptors. Called after the
 * return of a call that may have changed them.
 */
static void note_changes(struct record_thread *thread, const struct record_call *call, int64_t result)
{
	const uint64_t *argument = thread->argument;
	const struct calls_variant *variant;
	const struct calls_type *type;

	switch (call->special) {
	case RECORD_CALL_SIGNAL:
	case RECORD_CALL_HANDLER:
		note_handler(thread, call->special == RECORD_CALL_SIGNAL);
		break;
	case RECORD_CALL_NAME:
		put_name(thread);
		break;
	case RECORD_CALL_CLOSE:
		record_forget_descriptors(thread->process, (uint32_t)argument[0], (uint32_t)argument[0]);
		break;
	case RECORD_CALL_CLOSE_RANGE:
	case RECORD_CALL_EXEC:
		record_forget_descriptors(thread->process, 0, UINT64_MAX);
		break;
	case RECORD_CALL_FOLDER:
		thread->process->known_folder = false;
		break;
	default:
		break;
	}
	variant = calls_call_variant(call->call, argument, 6);
	type = variant && variant->result ? variant->result : call->call->result;
	if (type && type->base == CALLS_FD && wants(thread, KTRX_PROC_NAMEI))
		record_descriptor_is_new(thread, (int32_t)result);
}

void record_put_leave(struct record_thread *thread, int32_t error, int64_t result)
{
	const struct ktrx_proc_sysret sysret = { .number = (uint32_t)thread->number,
						 .error = error,
						 .result = result };
	const struct record_call *call = record_call(thread->abi, thread->number);

	if (call->special == RECORD_CALL_SIGRETURN)
		record_put_mask(thread);
	if (error == 0) {
		note_changes(thread, call, result);
		if (call->data && result > 0 &&
		    (wants(thread, KTRX_PROC_GENIO) ||
		     (call->data >= RECORD_DATA_READ_MESSAGE && wants_memory(thread))))
			put_data(thread, call, (uint64_t)result);
		if (wants_memory(thread))
			record_put_arguments(thread, CALLS_FILLED, result);
	}
	/* the ABI has no table of calls, so the call may have changed any descriptor */
	if (!record_table(thread->abi) && error == 0)
		record_forget_all_descriptors(thread->process);
	if (wants(thread, KTRX_PROC_SYSRET))
		put(thread, KTRX_PROC_SYSRET, 0, &sysret, sizeof(sysret), NULL, 0);
}

/* ---- Signals, context switches and records of programs ----------------------------------------- */

/*
 * Records a page fault that the kernel did not resolve: instead, the kernel sends SIGSEGV or SIGBUS to the
 * program.
 */
static void put_fault(const struct record_thread *thread, const siginfo_t *info)
{
	const struct ktrx_proc_fault fault = { .address = (uintptr_t)info->si_addr, .user = 1 };
	const struct ktrx_proc_faultend end = { .result = EFAULT };

	if (wants(thread, KTRX_PROC_FAULT) && !record_faults_begun(thread))
		put(thread, KTRX_PROC_FAULT, 0, &fault, sizeof(fault), NULL, 0);
	if (wants(thread, KTRX_PROC_FAULTEND))
		put(thread, KTRX_PROC_FAULTEND, 0, &end, sizeof(end), NULL, 0);
}

/*
 * Returns the name of the struct that describes the origin of a signal. The struct depends on the signal and
 * its code. Returns NULL if there is no such struct.
 */
static const char *layout_of(int signal, int code)
{
	if (code == SI_QUEUE || code == SI_MESGQ || code == SI_ASYNCIO)
		return "signal_queued";
	if (code == SI_TIMER)
		return "signal_timer";
	if (code == SI_USER || code == SI_TKILL)
		return "signal_sent";
	switch (signal) {
	case SIGCHLD:
		return code > 0 && code <= CLD_CONTINUED ? "signal_child" : NULL;
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
	case SIGTRAP:
		return "signal_fault";
	case SIGIO:
		return "signal_poll";
	case SIGSYS:
		return "signal_call";
	default:
		return NULL;
	}
}

static void put_origin(struct record_thread *thread, int signal, const siginfo_t *info)
{
	const char *name = layout_of(signal, info->si_code);

	if (name)
		record_put(thread, KTRX_PROC_STRUCT, 0, name, strlen(name) + 1, info, SIGNAL_INFO);
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
		put_origin(thread, signal, info);
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
	 * wait() may report a stop before the thread has left its CPU. A ptrace request returns only after
	 * the thread has left its CPU and the kernel has counted the stop as a context switch. So make a
	 * ptrace request here, and ignore its result.
	 */
	ptrace(PTRACE_GETEVENTMSG, thread->tid, NULL, &message);
	/*
	 * both counts, the new and the previous one, include the stop at which they were read
	 */
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
