/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Identifies calls by their names, because their numbers differ between machines. Each number is looked up
 * once in the table of Linux's calls (share/tables).
 */
#include "record/registers.h"

#include <elf.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "base/machine.h"
#include "calls/tables.h"
#include "record/tracer.h"
#include "user/sys/ktrace.h"

#define NUMBERS 1024u

/*
 * Properties of calls that are needed here, but missing in the table of calls (share/tables). Sorted by name.
 */
static const struct special {
	const char *name;
	uint8_t data;
	uint8_t special;
} specials[] = {
	{ "chdir", .special = RECORD_CALL_FOLDER },
	{ "clone", .special = RECORD_CALL_CLONE },
	{ "clone3", .special = RECORD_CALL_CLONE3 },
	{ "close", .special = RECORD_CALL_CLOSE },
	{ "close_range", .special = RECORD_CALL_CLOSE_RANGE },
	{ "execve", .special = RECORD_CALL_EXEC },
	{ "execveat", .special = RECORD_CALL_EXEC },
	{ "fchdir", .special = RECORD_CALL_FOLDER },
	{ "fork", .special = RECORD_CALL_FORK },
	{ "prctl", .special = RECORD_CALL_NAME },
	{ "pread64", .data = RECORD_DATA_READ },
	{ "preadv", .data = RECORD_DATA_READ_VECTOR },
	{ "preadv2", .data = RECORD_DATA_READ_VECTOR },
	{ "pwrite64", .data = RECORD_DATA_WRITE },
	{ "pwritev", .data = RECORD_DATA_WRITE_VECTOR },
	{ "pwritev2", .data = RECORD_DATA_WRITE_VECTOR },
	{ "read", .data = RECORD_DATA_READ },
	{ "readv", .data = RECORD_DATA_READ_VECTOR },
	{ "recvfrom", .data = RECORD_DATA_READ },
	{ "recvmmsg", .data = RECORD_DATA_READ_MESSAGES },
	{ "recvmmsg_time64", .data = RECORD_DATA_READ_MESSAGES },
	{ "recvmsg", .data = RECORD_DATA_READ_MESSAGE },
	{ "rt_sigaction", .special = RECORD_CALL_SIGNAL },
	{ "rt_sigreturn", .special = RECORD_CALL_SIGRETURN },
	{ "sendmmsg", .data = RECORD_DATA_WRITE_MESSAGES },
	{ "sendmsg", .data = RECORD_DATA_WRITE_MESSAGE },
	{ "sendto", .data = RECORD_DATA_WRITE },
	{ "sigaction", .special = RECORD_CALL_SIGNAL },
	{ "signal", .special = RECORD_CALL_HANDLER },
	{ "sigreturn", .special = RECORD_CALL_SIGRETURN },
	{ "vfork", .special = RECORD_CALL_FORK },
	{ "write", .data = RECORD_DATA_WRITE },
	{ "writev", .data = RECORD_DATA_WRITE_VECTOR },
};

/* The calls of one ABI. The last entry of `known` is for all numbers from NUMBERS on. */
struct abi {
	struct calls_table *table;
	struct record_call known[NUMBERS + 1];
};

static struct abi own, narrow, x32;

unsigned record_address_size(uint32_t abi)
{
	return abi == EM_386 ? 4 : 8;
}

struct calls_table *record_table(uint32_t abi)
{
	struct abi *of = abi ? &narrow : &own;

	if (abi != 0 && abi != EM_386)
		return NULL;
	if (!of->table &&
	    calls_table_create(&of->table, calls_tables_text("linux"),
			       abi ? (uint16_t)abi : record_machine_own(), record_address_size(abi)) != 0)
		return NULL;
	return of->table;
}

static int compare(const void *name, const void *special)
{
	return strcmp(name, ((const struct special *)special)->name);
}

static const struct calls_call unknown = { .name = "" };

static bool is_x32(uint32_t abi, uint64_t number)
{
	return abi == 0 && (number & BASE_LINUX_X32) && number < BASE_LINUX_X32 + NUMBERS &&
	       record_machine_own() == EM_X86_64;
}

/* Returns the name of a call. For a call of x32, leaves out the prefix CALLS_X32_PREFIX. */
static const char *bare_name(const struct calls_call *call)
{
	const size_t length = sizeof(CALLS_X32_PREFIX) - 1;

	return strncmp(call->name, CALLS_X32_PREFIX, length) == 0 ? call->name + length : call->name;
}

/*
 * Returns whether `special` applies to the call with this number. To some calls, only RECORD_CALL_EXEC
 * applies: these calls exist only in x32, and use other structs than the 64-bit calls of the same names.
 */
static bool is_known_special(const struct special *special, uint32_t number)
{
	return special && (!(number & BASE_LINUX_X32) || (number & ~BASE_LINUX_X32) < CALLS_X32_SHARED ||
			   special->special == RECORD_CALL_EXEC);
}

static struct record_call look_up(struct calls_table *table, uint32_t number)
{
	const struct calls_call *call = table ? calls_table_call(table, number) : NULL;
	const struct special *special =
		call ? bsearch(bare_name(call), specials, sizeof(specials) / sizeof(specials[0]),
			       sizeof(specials[0]), compare)
		     : NULL;

	if (!is_known_special(special, number))
		special = NULL;
	return (struct record_call){ .call = call ? call : &unknown,
				     .data = special ? special->data : RECORD_DATA_NONE,
				     .special = special ? special->special : RECORD_CALL_PLAIN };
}

const struct record_call *record_call(uint32_t abi, uint64_t number)
{
	static const struct record_call of_unknown_abi = { .call = &unknown };
	struct abi *of = is_x32(abi, number) ? &x32 : abi ? &narrow : &own;
	const uint64_t place = of == &x32 ? number - BASE_LINUX_X32 : number < NUMBERS ? number : NUMBERS;
	struct record_call *call = &of->known[place];

	if (abi != 0 && abi != EM_386)
		return &of_unknown_abi;
	if (!call->call)
		*call = look_up(record_table(abi), place < NUMBERS ? (uint32_t)number : UINT32_MAX);
	return call;
}

/* Functions for the stops of threads at the beginning or the return of a call. */

#define ERRORS 4095 /* a result from -ERRORS to -1 is a negative errno */

/*
 * A thread's stop at the beginning or at the return of a call. Kernels report such a stop in different ways,
 * but this struct is the same for all of them.
 */
struct stop {
	bool enters;
	uint32_t abi; /* ABI of the call: 0 for the machine's own ABI, otherwise the ELF machine of the ABI */
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

/*
 * Reads a stop from registers. Used on kernels before 5.3, which do not report whether a stop is at the
 * beginning or at the return of a call. If the thread is not in a call, the stop is at the beginning of a
 * call.
 */
static bool read_stop_from_registers(const struct record_thread *thread, struct stop *stop)
{
	const struct record_machine *machine = record_machine_find(record_machine_own());
	struct record_registers registers;

	stop->enters = !thread->in_call;
	return machine && get_registers(thread->tid, &registers) &&
	       (stop->enters ? record_registers_call(machine, &registers, &stop->number, stop->argument)
			     : record_registers_result(machine, &registers, &stop->result)) == 0;
}

static bool read_stop(const struct record_thread *thread, struct stop *stop)
{
	struct __ptrace_syscall_info info;
	long size = ptrace(PTRACE_GET_SYSCALL_INFO, thread->tid, (void *)sizeof(info), &info);

	if (size < 0)
		return errno == EIO && read_stop_from_registers(thread, stop);
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

/*
 * Executes ktrace() or utrace() in place of the kernel, which does not know these calls and returns an error.
 * When the call returns, set_own_result() replaces this error by the recorder's result.
 */
static void carry_out(struct record_thread *thread)
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

static int64_t set_own_result(struct record_thread *thread, int64_t result)
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

enum record_created record_created_by_call(const struct record_thread *thread)
{
	uint64_t flags = thread->argument[0];

	if (!thread->in_call)
		return RECORD_CREATES_NOTHING;
	switch (record_call(thread->abi, thread->number)->special) {
	case RECORD_CALL_FORK:
		return RECORD_CREATES_PROCESS;
	case RECORD_CALL_CLONE3:
		if (record_memory_read(thread->tid, thread->argument[0], &flags, sizeof(flags)) !=
		    sizeof(flags))
			return RECORD_CREATES_THREAD;
		break;
	case RECORD_CALL_CLONE:
		break;
	default:
		return RECORD_CREATES_NOTHING;
	}
	return flags & CLONE_THREAD ? RECORD_CREATES_THREAD : RECORD_CREATES_PROCESS;
}

bool record_is_execveat(const struct record_thread *thread)
{
	return strcmp(bare_name(record_call(thread->abi, thread->number)->call), "execveat") == 0;
}

#define SOCKETCALL 102 /* number of socketcall() on i386 */

/*
 * On i386, socketcall() executes one of several socket calls, whose arguments are in memory. Replaces the
 * number and the arguments of the thread's call by those of the socket call. accept(), send() and recv() have
 * no numbers of their own on i386, so they are recorded as accept4(), sendto() and recvfrom().
 */
static void unpack_socket_call(struct record_thread *thread)
{
	static const struct {
		uint16_t number;
		uint8_t words;
	} of[] = {
		[1] = { 359, 3 },  [2] = { 361, 3 },  [3] = { 362, 3 },	 [4] = { 363, 2 },  [5] = { 364, 3 },
		[6] = { 367, 3 },  [7] = { 368, 3 },  [8] = { 360, 4 },	 [9] = { 369, 4 },  [10] = { 371, 4 },
		[11] = { 369, 6 }, [12] = { 371, 6 }, [13] = { 373, 2 }, [14] = { 366, 5 }, [15] = { 365, 5 },
		[16] = { 370, 3 }, [17] = { 372, 3 }, [18] = { 364, 4 }, [19] = { 337, 5 }, [20] = { 345, 4 },
	};
	const uint64_t which = thread->argument[0];
	uint64_t argument[6] = { 0 };

	if (which == 0 || which >= sizeof(of) / sizeof(of[0]) ||
	    record_memory_words(thread->tid, thread->argument[1], 4, argument, of[which].words) !=
		    of[which].words)
		return;
	thread->number = of[which].number;
	memcpy(thread->argument, argument, sizeof(argument));
}

/*
 * Numbers of the old calls select() and mmap() on i386. Their only argument is the address of a struct with
 * their arguments.
 */
#define OLD_SELECT 82
#define OLD_MMAP   90

/* Replaces the thread's arguments by the words at the address in its first argument. */
static void unpack_old_call(struct record_thread *thread, unsigned words)
{
	uint64_t argument[6] = { 0 };

	if (record_memory_words(thread->tid, thread->argument[0], 4, argument, words) == words)
		memcpy(thread->argument, argument, sizeof(argument));
}

static void unpack_arguments(struct record_thread *thread)
{
	switch (thread->number) {
	case OLD_SELECT:
		unpack_old_call(thread, 5);
		break;
	case OLD_MMAP:
		unpack_old_call(thread, 6);
		break;
	case SOCKETCALL:
		unpack_socket_call(thread);
		break;
	default:
		break;
	}
}

static bool enter(struct record_thread *thread, const struct stop *stop)
{
	bool exec = record_call(stop->abi, stop->number)->special == RECORD_CALL_EXEC;

	thread->in_call = true;
	thread->abi = stop->abi;
	thread->number = stop->number;
	memcpy(thread->argument, stop->argument, sizeof(thread->argument));
	if (thread->abi == EM_386)
		unpack_arguments(thread);
	if (exec)
		thread->starting = false;
	if (thread->starting)
		return false;
	record_put_enter(thread);
	if (stop->abi == 0 && stop->number == KTRACE_LINUX_CALL)
		carry_out(thread);
	return exec;
}

static void leave(struct record_thread *thread, const struct stop *stop)
{
	int64_t result = thread->own_call ? set_own_result(thread, stop->result) : stop->result;
	int32_t error = result < 0 && result >= -ERRORS ? (int32_t)-result : 0;

	/*
	 * if a call was in progress when the recorder attached, its return is not recorded, because its
	 * number and arguments are unknown
	 */
	if (thread->in_call && !thread->starting)
		record_put_leave(thread, error, result);
	thread->in_call = false;
}

bool record_handle_call(struct record_thread *thread)
{
	struct stop stop = { .abi = 0 };

	if (!read_stop(thread, &stop))
		return false;
	if (stop.enters)
		return enter(thread, &stop);
	leave(thread, &stop);
	return false;
}
