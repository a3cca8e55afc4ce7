/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The system calls. Each system call is a function with the name and arguments from abi/syscalls.def. There
 * is no errno: a negative result is -E….
 */
#ifndef USER_UNISTD_H
#define USER_UNISTD_H

#include <stddef.h>
#include <stdint.h>

#include "abi.h"

/* The C types for the types in syscalls.def: here for arguments, below for results. */
typedef int call_int, call_fd, call_pid, call_sig, call_whence, call_clock_id, call_mask_how,
	call_shutdown_how, call_address_family, call_socket_type, call_ktrace_operation,
	call_ktrace_facilities, call_ioctl_request;
typedef unsigned call_flags, call_mode, call_uid, call_gid, call_open_flags, call_protection, call_map_flags,
	call_wait_flags, call_wait_on_flags;
typedef void *call_ptr, *call_buffer, *call_stat, *call_sockaddr, *call_timespec, *call_pollfd,
	*call_sigaction; /* these are not const, even if the kernel only reads the data */
typedef const char *call_path, *call_str;
typedef const void *call_data;
typedef size_t call_size;
typedef int64_t call_off, call_ms;

#define RESULT_void _Noreturn void
#define RESULT_int  int
#define RESULT_fd   int
#define RESULT_pid  int
#define RESULT_uid  int
#define RESULT_gid  int
#define RESULT_size int64_t
#define RESULT_off  int64_t
#define RESULT_ptr  int64_t

/* CALL_COUNT(result, type argument…): the number of arguments of a system call. */
#define CALL_COUNT(...)				 CALL_COUNT_(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0, 0)
#define CALL_COUNT_(r, a, b, c, d, e, f, n, ...) n

/* CALL_PARAMETERS(n)(result, type argument…): the parameter list of a function with n arguments. */
#define CALL_PARAMETERS(n)		       CALL_PARAMETERS_(n)
#define CALL_PARAMETERS_(n)		       CALL_PARAMETERS_##n
#define CALL_PARAMETERS_0(r)		       void
#define CALL_PARAMETERS_1(r, a)		       call_##a
#define CALL_PARAMETERS_2(r, a, b)	       call_##a, call_##b
#define CALL_PARAMETERS_3(r, a, b, c)	       call_##a, call_##b, call_##c
#define CALL_PARAMETERS_4(r, a, b, c, d)       call_##a, call_##b, call_##c, call_##d
#define CALL_PARAMETERS_5(r, a, b, c, d, e)    call_##a, call_##b, call_##c, call_##d, call_##e
#define CALL_PARAMETERS_6(r, a, b, c, d, e, f) call_##a, call_##b, call_##c, call_##d, call_##e, call_##f

#define CALL_RESULT(r, ...) RESULT_##r

#define CALL(number, name, ...) \
	CALL_RESULT(__VA_ARGS__, ) name(CALL_PARAMETERS(CALL_COUNT(__VA_ARGS__))(__VA_ARGS__));
#include "syscalls.def"

/*
 * Makes a function the handler of a signal. The function may be SIG_DFL or SIG_IGN. A simple form of
 * sigaction. Returns 0 or -errno.
 */
typedef void signal_handler(int signal);
int handle_signal(int signal, signal_handler *handler);

#endif
