/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stddef.h>

#include "panic.h"
#include "work/net_calls.h"

void net_expect(const char *what, int64_t result, int64_t wanted)
{
	if (result != wanted)
		panic("net: %s returned %ld, not %ld", what, (long)result, (long)wanted);
}

struct abi_sockaddr net_at(uint16_t port)
{
	return (struct abi_sockaddr){ AF_INET, port, INADDR_LOOPBACK };
}

struct file *net_open_socket(int type)
{
	struct file *file;

	net_expect("socket", socket_open(AF_INET, type, &file), 0);
	return file;
}

int net_bind_to(struct file *file, uint16_t port)
{
	struct abi_sockaddr address = net_at(port);

	return socket_bind(file, &address);
}

int net_connect_to(struct file *file, uint16_t port)
{
	struct abi_sockaddr address = net_at(port);

	return socket_connect(file, &address);
}

struct file *net_open_listener(uint16_t port)
{
	struct file *file = net_open_socket(SOCK_STREAM);

	net_expect("bind", net_bind_to(file, port), 0);
	net_expect("listen", socket_listen(file, 8), 0);
	return file;
}

struct file *net_accept_from(struct file *listener)
{
	struct abi_sockaddr peer;
	struct file *connection;

	net_expect("accept", socket_accept(listener, &connection, &peer), 0);
	return connection;
}

int64_t net_send_bytes(struct file *file, const void *from, size_t size)
{
	return socket_send(file, (uintptr_t)from, size, NULL);
}

int64_t net_receive_bytes(struct file *file, void *to, size_t size)
{
	return socket_receive(file, (uintptr_t)to, size, NULL);
}

int64_t net_wait_readable(struct file *file, int64_t timeout_ms)
{
	struct files files = { .file = { file } };
	struct abi_pollfd fd = { .fd = 0, .events = POLLIN };

	return poll_wait(&files, &fd, 1, timeout_ms);
}
