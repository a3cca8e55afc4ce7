/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* System calls on sockets: these functions check and fetch the arguments; socket.c does the work. */
#include "process.h"
#include "process_trace.h"
#include "socket.h"
#include "syscall.h"

#define PORT_PRIVILEGED 1024 /* ports below this one may be used only by the superuser */

/* Copies a socket address from user memory. Returns 0 or -errno. */
static int fetch_address(struct abi_sockaddr *address, uintptr_t from, size_t size)
{
	int error;

	if (size < sizeof(*address))
		return -EINVAL;
	error = vm_copy_in(&process_self()->vm, address, from, sizeof(*address));
	if (!error)
		trace_struct(sockaddr, address);
	if (!error && address->family != AF_INET)
		error = -EAFNOSUPPORT;
	return error;
}

/*
 * Copies a socket address to user memory at `to`. `size_at` is the address of a uint32_t in user memory: the
 * number of bytes that may be stored at `to`; it becomes the size of the socket address. If `to` is 0, does
 * nothing. If `size_at` is 0, there is room for the whole address. Returns 0 or -EFAULT.
 */
static int store_address(uintptr_t to, uintptr_t size_at, const struct abi_sockaddr *address)
{
	struct vm *vm = &process_self()->vm;
	uint32_t size = sizeof(*address);
	int error = 0;

	if (!to)
		return 0;
	trace_struct(sockaddr, address);
	if (size_at)
		error = vm_copy_in(vm, &size, size_at, sizeof(size));
	if (!error)
		error = vm_copy_out(vm, to, address, size < sizeof(*address) ? size : sizeof(*address));
	size = sizeof(*address);
	if (!error && size_at)
		error = vm_copy_out(vm, size_at, &size, sizeof(size));
	return error;
}

int64_t sys_socket(const struct call *call)
{
	struct file *file;
	int error = call->a[2] ? -EPROTONOSUPPORT : socket_open((int)call->a[0], (int)call->a[1], &file);

	return error ? error : files_install(&process_self()->files, file, (unsigned)call->a[1]);
}

int64_t sys_bind(const struct call *call)
{
	struct file *file = call_file(call, 0);
	struct abi_sockaddr address;
	int error;

	if (!file)
		return -EBADF;
	error = fetch_address(&address, call->a[1], call->a[2]);
	if (!error && address.port > 0 && address.port < PORT_PRIVILEGED && call_superuser())
		error = -EACCES;
	return error ? error : socket_bind(file, &address);
}

int64_t sys_connect(const struct call *call)
{
	struct file *file = call_file(call, 0);
	struct abi_sockaddr address;
	int error;

	if (!file)
		return -EBADF;
	error = fetch_address(&address, call->a[1], call->a[2]);
	return error ? error : socket_connect(file, &address);
}

int64_t sys_listen(const struct call *call)
{
	struct file *file = call_file(call, 0);

	return file ? socket_listen(file, (int)call->a[1]) : -EBADF;
}

int64_t sys_accept(const struct call *call)
{
	struct file *file = call_file(call, 0), *connection;
	struct abi_sockaddr peer;
	int error, fd;

	if (!file)
		return -EBADF;
	error = socket_accept(file, &connection, &peer);
	if (error)
		return error;
	fd = files_install(&process_self()->files, connection, 0);
	if (fd < 0)
		return fd;
	error = store_address(call->a[1], call->a[2], &peer);
	if (error)
		files_close(&process_self()->files, fd);
	return error ? error : fd;
}

int64_t sys_sendto(const struct call *call)
{
	struct file *file = call_file(call, 0);
	struct abi_sockaddr to;
	int error = 0;

	if (!file)
		return -EBADF;
	if (call->a[3])
		return -EOPNOTSUPP;
	if (call->a[4])
		error = fetch_address(&to, call->a[4], call->a[5]);
	if (error)
		return error;
	return trace_transfer((int)call->a[0], 1, call->a[1],
			      socket_send(file, call->a[1], call->a[2], call->a[4] ? &to : NULL));
}

int64_t sys_recvfrom(const struct call *call)
{
	struct file *file = call_file(call, 0);
	struct abi_sockaddr from = { .family = AF_INET };
	int64_t result;
	int error;

	if (!file)
		return -EBADF;
	if (call->a[3])
		return -EOPNOTSUPP;
	result = trace_transfer((int)call->a[0], 0, call->a[1],
				socket_receive(file, call->a[1], call->a[2], &from));
	if (result < 0)
		return result;
	error = store_address(call->a[4], call->a[5], &from);
	return error ? error : result;
}

int64_t sys_shutdown(const struct call *call)
{
	struct file *file = call_file(call, 0);

	return file ? socket_shutdown(file, (int)call->a[1]) : -EBADF;
}

int64_t sys_getsockname(const struct call *call)
{
	struct file *file = call_file(call, 0);
	struct abi_sockaddr address;
	int error;

	if (!file)
		return -EBADF;
	error = socket_name(file, &address);
	return error ? error : store_address(call->a[1], call->a[2], &address);
}
