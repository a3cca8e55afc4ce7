/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The functions behind unistd.h, from the same list. Every call passes through call_kernel, which counts. */
#include <account.h>
#include <stdbool.h>
#include <unistd.h>

#include "arch_call.h"

struct account account;

/* A signal's handler may run between any two instructions here, and make calls: hence atomically. */
static void add(uint64_t *count, uint64_t n)
{
	__atomic_fetch_add(count, n, __ATOMIC_RELAXED);
}

/* A bit each; descriptors that come by dup are not followed. */
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
			datagram_sockets |= UINT64_C(1) << result;
		break;
	case SYS_close:
		datagram_sockets &= ~(UINT64_C(1) << a[0]);
	}
}

static int64_t call_kernel(unsigned number, const uint64_t a[static 6])
{
	int64_t result;

	add(&account.calls, 1);
	result = arch_call(number, a);
	if (number == SYS_fork && result == 0)
		account = (struct account){ 0 };
	else if (result >= 0)
		count_result(number, a, (uint64_t)result);
	return result;
}

#define VALUES(n)  VALUES_(n)
#define VALUES_(n) VALUES_##n
#define VALUES_0   0
#define VALUES_1   (uint64_t) a
#define VALUES_2   VALUES_1, (uint64_t)b
#define VALUES_3   VALUES_2, (uint64_t)c
#define VALUES_4   VALUES_3, (uint64_t)d
#define VALUES_5   VALUES_4, (uint64_t)e
#define VALUES_6   VALUES_5, (uint64_t)f

#define RETURN(r, ...)	    RETURN_##r
#define RETURN_void(result) (void)(result), __builtin_unreachable()
#define RETURN_int(result)  return (int)(result)
#define RETURN_fd	    RETURN_int
#define RETURN_pid	    RETURN_int
#define RETURN_uid	    RETURN_int
#define RETURN_size(result) return (result)
#define RETURN_off	    RETURN_size
#define RETURN_ptr	    RETURN_size

#define CALL(number, name, ...)                                                                \
	CALL_RESULT(__VA_ARGS__, ) name(CALL_PARAMETERS(CALL_COUNT(__VA_ARGS__))(__VA_ARGS__)) \
	{                                                                                      \
		const uint64_t arguments[6] = { VALUES(CALL_COUNT(__VA_ARGS__)) };             \
                                                                                               \
		RETURN(__VA_ARGS__, )(call_kernel(number, arguments));                         \
	}
#include "syscalls.def"

static signal_handler *handlers[SIG_COUNT];

/* The kernel calls this one for all signals: what follows a handler is SYS_sigreturn, which is a call as well. */
static void dispatch_signal(int signal)
{
	handlers[signal](signal);
	add(&account.calls, 1);
}

void signal_restorer(void); /* arch/…/start.S */

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
