/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Sockets as files, the same for all kinds of sockets. Each operation records its arguments and its result in
 * the trace.
 */
#include <ktrace/ktrace.h>
#include <ktrx/v1.h>

#include "net/ip.h"
#include "net/loopback.h"
#include "net/sockets.h"
#include "socket.h"
#include "thread.h"

KTRACE_EVENT(net, socket, "socket %u of type %d", (uint32_t, socket), (int32_t, type));
KTRACE_EVENT(net, bind, "socket %u to %#x port %u: %d", (uint32_t, socket), (uint32_t, address, ipv4),
	     (uint16_t, port), (int32_t, result));
KTRACE_EVENT_V1(KTRX1_NET_CONNECT, net, connect, "socket %u to %#x port %u: %d", (uint32_t, socket),
		(uint32_t, address, ipv4), (uint16_t, port), (int32_t, result));
KTRACE_EVENT(net, listen, "socket %u, backlog %d: %d", (uint32_t, socket), (int32_t, backlog),
	     (int32_t, result));
KTRACE_EVENT(net, accept, "socket %u: socket %u from port %u: %d", (uint32_t, socket), (uint32_t, connection),
	     (uint16_t, port), (int32_t, result));
KTRACE_EVENT_V1(KTRX1_NET_SEND, net, send, "socket %u, %u bytes: %d", (uint32_t, socket),
		(uint32_t, length, bytes), (int32_t, result));
KTRACE_EVENT_V1(KTRX1_NET_RECV, net, recv, "socket %u, %u bytes: %d", (uint32_t, socket),
		(uint32_t, length, bytes), (int32_t, result));
KTRACE_EVENT_V1(KTRX1_NET_POLL, net, poll, "socket %u, %u bytes to read: %#x", (uint32_t, socket),
		(uint32_t, readable, bytes), (uint16_t, events));
KTRACE_EVENT(net, shutdown, "socket %u, how %d: %d", (uint32_t, socket), (int32_t, how), (int32_t, result));
KTRACE_EVENT(net, close, "socket %u", (uint32_t, socket));

/* Maximum size of a transfer, because the result must fit in an int of a C program. */
#define SEND_AT_ONCE 0x7ffff000u

static const struct file_operations operations;

/* Returns the socket of a file, or NULL if the file is not a socket. */
static struct socket *socket_of(struct file *file)
{
	return file->operations == &operations ? file->object : NULL;
}

void network_init(void)
{
	loopback_init();
}

/* ---- Opening and connecting sockets ------------------------------------------------------------ */

static int open_as_file(struct socket *socket, unsigned flags)
{
	struct file *file = file_new(&operations, O_RDWR | flags);

	if (!file)
		return -ENFILE;
	file->object = socket;
	socket->file = file;
	return 0;
}

int socket_open(int family, int type, struct file **file)
{
	const struct socket_type *kind;
	struct socket *socket;
	int error = -ENFILE;

	if (family != AF_INET)
		return -EAFNOSUPPORT;
	switch (type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) {
	case SOCK_STREAM:
		kind = &stream_type;
		break;
	case SOCK_DGRAM:
		kind = &udp_type;
		break;
	default:
		return -EPROTONOSUPPORT;
	}
	network_lock();
	socket = socket_new(kind);
	if (socket) {
		KTRACE(net, socket, socket->number, type);
		error = open_as_file(socket, (unsigned)type & SOCK_NONBLOCK);
		if (error)
			socket_free(socket);
		else
			*file = socket->file;
	}
	network_unlock();
	return error;
}

int socket_bind(struct file *file, const struct abi_sockaddr *address)
{
	struct socket *socket = socket_of(file);
	int result;

	if (!socket)
		return -ENOTSOCK;
	network_lock();
	if (address->address == INADDR_ANY || ip_is_here(address->address))
		result = socket_take_port(socket, address->address, address->port);
	else
		result = -EADDRNOTAVAIL;
	KTRACE(net, bind, socket->number, address->address, address->port, result);
	network_unlock();
	return result;
}

int socket_connect(struct file *file, const struct abi_sockaddr *address)
{
	struct socket *socket = socket_of(file);
	struct abi_sockaddr to = *address;
	int result;

	if (!socket)
		return -ENOTSOCK;
	if (to.address == INADDR_ANY)
		to.address = INADDR_LOOPBACK;
	network_lock();
	result = socket->type->connect(socket, &to);
	KTRACE(net, connect, socket->number, to.address, to.port, result);
	network_unlock();
	return result;
}

int socket_listen(struct file *file, int backlog)
{
	struct socket *socket = socket_of(file);
	int result = -EOPNOTSUPP;

	if (!socket)
		return -ENOTSOCK;
	network_lock();
	if (socket->type->listen)
		result = socket->type->listen(socket, backlog < 0 ? 0 : (unsigned)backlog);
	KTRACE(net, listen, socket->number, backlog, result);
	network_unlock();
	return result;
}

/* Waits until a client connects, and opens the connection as a file. */
static int accept_as_file(struct socket *socket, struct file **file, struct abi_sockaddr *peer)
{
	struct socket *connection;
	int error = socket->type->accept(socket, &connection);

	if (!error) {
		error = open_as_file(connection, 0);
		if (error)
			connection->type->close(connection);
	}
	if (error) {
		KTRACE(net, accept, socket->number, 0, 0, error);
		return error;
	}
	KTRACE(net, accept, socket->number, connection->number, connection->peer_port, 0);
	*file = connection->file;
	*peer = (struct abi_sockaddr){ AF_INET, connection->peer_port, connection->peer_address };
	return 0;
}

int socket_accept(struct file *file, struct file **connection, struct abi_sockaddr *peer)
{
	struct socket *socket = socket_of(file);
	int result = -EOPNOTSUPP;

	if (!socket)
		return -ENOTSOCK;
	network_lock();
	if (socket->type->accept)
		result = accept_as_file(socket, connection, peer);
	network_unlock();
	return result;
}

/* ---- Sending and receiving data ---------------------------------------------------------------- */

int64_t socket_send(struct file *file, uintptr_t from, size_t size, const struct abi_sockaddr *to)
{
	struct socket *socket = socket_of(file);
	int64_t result;

	if (!socket)
		return -ENOTSOCK;
	if (size > SEND_AT_ONCE)
		size = SEND_AT_ONCE;
	network_lock();
	result = socket->type->send(socket, from, size, to);
	KTRACE(net, send, socket->number, (uint32_t)size, (int32_t)result);
	network_unlock();
	return result;
}

int64_t socket_receive(struct file *file, uintptr_t to, size_t size, struct abi_sockaddr *from)
{
	struct socket *socket = socket_of(file);
	int64_t result;

	if (!socket)
		return -ENOTSOCK;
	if (size > SEND_AT_ONCE)
		size = SEND_AT_ONCE;
	network_lock();
	result = socket->type->receive(socket, to, size, from);
	KTRACE(net, recv, socket->number, (uint32_t)size, (int32_t)result);
	network_unlock();
	return result;
}

int socket_shutdown(struct file *file, int how)
{
	struct socket *socket = socket_of(file);
	int result;

	if (!socket)
		return -ENOTSOCK;
	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	network_lock();
	result = socket->type->shutdown(socket, how);
	KTRACE(net, shutdown, socket->number, how, result);
	network_unlock();
	return result;
}

int socket_name(struct file *file, struct abi_sockaddr *address)
{
	struct socket *socket = socket_of(file);

	if (!socket)
		return -ENOTSOCK;
	network_lock();
	*address = (struct abi_sockaddr){ AF_INET, socket->local_port, socket->local_address };
	network_unlock();
	return 0;
}

/* ---- Operations of the open file --------------------------------------------------------------- */

static int64_t read_socket(struct file *file, uintptr_t to, size_t size)
{
	return socket_receive(file, to, size, NULL);
}

static int64_t write_socket(struct file *file, uintptr_t from, size_t size)
{
	return socket_send(file, from, size, NULL);
}

static unsigned poll_socket(struct file *file)
{
	struct socket *socket = file->object;
	unsigned events;

	network_lock();
	events = socket->type->poll(socket);
	KTRACE(net, poll, socket->number, (uint32_t)socket->type->readable(socket), (uint16_t)events);
	network_unlock();
	return events;
}

static void close_socket(struct file *file)
{
	struct socket *socket = file->object;

	network_lock();
	KTRACE(net, close, socket->number);
	socket->file = NULL;
	socket->type->close(socket);
	network_unlock();
}

static const struct file_operations operations = {
	.kind = "socket",
	.type = S_IFSOCK,
	.read = read_socket,
	.write = write_socket,
	.poll = poll_socket,
	.close = close_socket,
};
