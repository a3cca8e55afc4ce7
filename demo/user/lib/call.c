/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The functions declared in unistd.h, generated from the same list, abi/syscalls.def. All calls go through
 * call_kernel, which counts them.
 */
#include <account.h>
#include <stdbool.h>
#include <thread.h>
#include <unistd.h>

#include "arch_call.h"

struct account account;

/*
 * Adds to a counter: atomically, because a signal handler that interrupts this code may make system calls,
 * too.
 */
static void add(uint64_t *count, uint64_t n)
{
	__atomic_fetch_add(count, n, __ATOMIC_RELAXED);
}

/* Bit n is set if descriptor n is a datagram socket. Copies of descriptors (dup) are not tracked. */
static uint64_t datagram_sockets;

static void count_result(unsigned number, const uint64_t a[static 6], uint64_t result)
{
	switch (number) {
	case SYS_sendto:
		if (datagram_sockets >> a[0] & 1)
			add(&account.packets, 1);
		/* fall through */
	case SYS_recvfrom:
	case SYS_read:
	case SYS_write:
		add(&account.bytes, result);
		break;
	case SYS_fork:
		add(&account.children, 1);
		break;
	case SYS_socket:
		if ((a[1] & 0xf) == SOCK_DGRAM)
			__atomic_fetch_or(&datagram_sockets, UINT64_C(1) << result, __ATOMIC_RELAXED);
		break;
	case SYS_close:
		__atomic_fetch_and(&datagram_sockets, ~(UINT64_C(1) << a[0]), __ATOMIC_RELAXED);
	}
}

static int64_t call_kernel(unsigned number, const uint64_t a[static 6])
{
	int64_t result;

	add(&account.calls, 1);
	result = arch_call(number, a);
	if (number == SYS_fork && result == 0) {
		account = (struct account){ 0 };
		thread_forked();
	} else if (result >= 0)
		count_result(number, a, (uint64_t)result);
	return result;
}

/* CALL_VALUES(n)(result, type argument…): the values of the n arguments, converted to uint64_t. */
#define CALL_VALUES(n)			   CALL_VALUES_(n)
#define CALL_VALUES_(n)			   CALL_VALUES_##n
#define CALL_VALUES_0(r)		   0
#define CALL_VALUES_1(r, a)		   VALUE(a)
#define CALL_VALUES_2(r, a, b)		   VALUE(a), VALUE(b)
#define CALL_VALUES_3(r, a, b, c)	   VALUE(a), VALUE(b), VALUE(c)
#define CALL_VALUES_4(r, a, b, c, d)	   VALUE(a), VALUE(b), VALUE(c), VALUE(d)
#define CALL_VALUES_5(r, a, b, c, d, e)	   VALUE(a), VALUE(b), VALUE(c), VALUE(d), VALUE(e)
#define CALL_VALUES_6(r, a, b, c, d, e, f) VALUE(a), VALUE(b), VALUE(c), VALUE(d), VALUE(e), VALUE(f)

/*
 * VALUE(type name) expands to the name: "type" becomes part of the name of a macro that expands to nothing.
 */
#define VALUE(a) (uint64_t) NAME_OF_##a
#define NAME_OF_int
#define NAME_OF_fd
#define NAME_OF_pid
#define NAME_OF_sig
#define NAME_OF_whence
#define NAME_OF_clock_id
#define NAME_OF_mask_how
#define NAME_OF_shutdown_how
#define NAME_OF_address_family
#define NAME_OF_socket_type
#define NAME_OF_ktrace_operation
#define NAME_OF_ktrace_facilities
#define NAME_OF_ioctl_request
#define NAME_OF_flags
#define NAME_OF_mode
#define NAME_OF_uid
#define NAME_OF_gid
#define NAME_OF_open_flags
#define NAME_OF_protection
#define NAME_OF_map_flags
#define NAME_OF_wait_flags
#define NAME_OF_wait_on_flags
#define NAME_OF_ptr
#define NAME_OF_buffer
#define NAME_OF_data
#define NAME_OF_stat
#define NAME_OF_sockaddr
#define NAME_OF_timespec
#define NAME_OF_pollfd
#define NAME_OF_sigaction
#define NAME_OF_path
#define NAME_OF_str
#define NAME_OF_size
#define NAME_OF_off
#define NAME_OF_ms

#define RETURN(r, ...)	    RETURN_##r
#define RETURN_void(result) (void)(result), __builtin_unreachable()
#define RETURN_int(result)  return (int)(result)
#define RETURN_fd	    RETURN_int
#define RETURN_pid	    RETURN_int
#define RETURN_uid	    RETURN_int
#define RETURN_gid	    RETURN_int
#define RETURN_size(result) return (result)
#define RETURN_off	    RETURN_size
#define RETURN_ptr	    RETURN_size

#define CALL(number, name, ...)                                                                      \
	CALL_RESULT(__VA_ARGS__, ) name(CALL_PARAMETERS(CALL_COUNT(__VA_ARGS__))(__VA_ARGS__))       \
	{                                                                                            \
		const uint64_t arguments[6] = { CALL_VALUES(CALL_COUNT(__VA_ARGS__))(__VA_ARGS__) }; \
                                                                                                     \
		RETURN(__VA_ARGS__, )(call_kernel(number, arguments));                               \
	}
#include "syscalls.def"

static signal_handler *handlers[SIG_COUNT];

/*
 * The kernel calls this function for each signal that has a handler. It calls the handler, and also counts
 * the SYS_sigreturn that follows.
 */
static void dispatch_signal(int signal)
{
	handlers[signal](signal);
	add(&account.calls, 1);
}

void signal_restorer(void); /* defined in arch/…/start.S */

int handle_signal(int signal, signal_handler *handler)
{
	bool is_function = (uintptr_t)handler != SIG_DFL && (uintptr_t)handler != SIG_IGN;
	struct abi_sigaction action = { .restorer = (uintptr_t)signal_restorer };

	if (signal <= 0 || signal >= SIG_COUNT)
		return -EINVAL;
	handlers[signal] = handler;
	action.handler = is_function ? (uintptr_t)dispatch_signal : (uintptr_t)handler;
	return sigaction(signal, &action, NULL);
}
