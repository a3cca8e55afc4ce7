/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Sockets, used by kernel threads: first what must fail and how, then pairs of clients and servers that send data
 * back and forth, over streams and, the first pair, names and answers over UDP. With lose= (net/loopback.h) a
 * connection may end in an error, but must end.
 */
#include <stddef.h>

#include "args.h"
#include "clock.h"
#include "cpu.h"
#include "panic.h"
#include "print.h"
#include "socket.h"
#include "string.h"
#include "timer.h"
#include "work.h"

#define PORT_ECHO 7000 /* + pair */
#define PORT_DNS  53
#define CHUNK_MAX 16000

static bool lossy;
static unsigned connections, broken, queries;
static uint64_t bytes_echoed;

/* ---- Small words for calls --------------------------------------------------------------------- */

static void expect(const char *what, int64_t result, int64_t wanted)
{
	if (result != wanted)
		panic("net: %s gave %ld, not %ld", what, (long)result, (long)wanted);
}

static struct abi_sockaddr at(uint16_t port)
{
	return (struct abi_sockaddr){ AF_INET, port, INADDR_LOOPBACK };
}

static struct file *open_socket(int type)
{
	struct file *file;

	expect("socket", socket_open(AF_INET, type, &file), 0);
	return file;
}

static int bind_to(struct file *file, uint16_t port)
{
	struct abi_sockaddr address = at(port);

	return socket_bind(file, &address);
}

static int connect_to(struct file *file, uint16_t port)
{
	struct abi_sockaddr address = at(port);

	return socket_connect(file, &address);
}

static struct file *open_listener(uint16_t port)
{
	struct file *file = open_socket(SOCK_STREAM);

	expect("bind", bind_to(file, port), 0);
	expect("listen", socket_listen(file, 8), 0);
	return file;
}

static struct file *accept_from(struct file *listener)
{
	struct abi_sockaddr peer;
	struct file *connection;

	expect("accept", socket_accept(listener, &connection, &peer), 0);
	return connection;
}

static int64_t send_bytes(struct file *file, const void *from, size_t size)
{
	return socket_send(file, (uintptr_t)from, size, NULL);
}

static int64_t receive_bytes(struct file *file, void *to, size_t size)
{
	return socket_receive(file, (uintptr_t)to, size, NULL);
}

/* 1 once there is something to read, 0 after that time. */
static int64_t wait_readable(struct file *file, int64_t timeout_ms)
{
	struct files files = { .file = { file } };
	struct abi_pollfd fd = { .fd = 0, .events = POLLIN };

	return poll_wait(&files, &fd, 1, timeout_ms);
}

/* ---- What must fail ---------------------------------------------------------------------------- */

static void check_ports(void)
{
	struct file *one = open_socket(SOCK_DGRAM), *other = open_socket(SOCK_DGRAM);
	struct abi_sockaddr far = { AF_INET, 1, 0x0a000001 };

	expect("bind", bind_to(one, PORT_DNS), 0);
	expect("bind to a taken port", bind_to(other, PORT_DNS), -EADDRINUSE);
	expect("bind to another machine", socket_bind(other, &far), -EADDRNOTAVAIL);
	expect("send to nobody", send_bytes(other, "", 0), -EDESTADDRREQ);
	file_release(one);
	expect("bind to a port given up", bind_to(other, PORT_DNS), 0);
	file_release(other);
}

static void check_refusals(void)
{
	struct file *stream = open_socket(SOCK_STREAM), *datagram = open_socket(SOCK_DGRAM);
	struct file *impatient = open_socket(SOCK_DGRAM | SOCK_NONBLOCK);
	char byte;

	expect("receive unconnected", receive_bytes(stream, &byte, 1), -ENOTCONN);
	expect("connect to no listener", connect_to(stream, PORT_ECHO), -ECONNREFUSED);
	expect("connect", connect_to(datagram, PORT_ECHO), 0);
	expect("send", send_bytes(datagram, "?", 1), 1);
	expect("receive what was refused", receive_bytes(datagram, &byte, 1), -ECONNREFUSED);
	expect("receive without waiting", receive_bytes(impatient, &byte, 1), -EAGAIN);
	file_release(stream);
	file_release(datagram);
	file_release(impatient);
}

/* Connections both ends of which are in one hand. */
static struct file *connect_pair(struct file *listener, struct file **server)
{
	struct file *client = open_socket(SOCK_STREAM);

	expect("connect", connect_to(client, PORT_ECHO), 0);
	expect("connect again", connect_to(client, PORT_ECHO), -EISCONN);
	*server = accept_from(listener);
	return client;
}

static void check_half_close(struct file *listener)
{
	struct file *server, *client = connect_pair(listener, &server);
	char text[8];

	expect("send", send_bytes(client, "half", 4), 4);
	expect("shutdown", socket_shutdown(client, SHUT_WR), 0);
	expect("send after shutdown", send_bytes(client, "", 1), -EPIPE);
	expect("receive", receive_bytes(server, text, sizeof(text)), 4);
	expect("receive the end", receive_bytes(server, text, sizeof(text)), 0);
	expect("send to a closed half", send_bytes(server, "rest", 4), 4);
	file_release(server);
	expect("receive the rest", receive_bytes(client, text, sizeof(text)), 4);
	expect("receive the end", receive_bytes(client, text, sizeof(text)), 0);
	file_release(client);
}

static void check_reset(struct file *listener)
{
	struct file *server, *client = connect_pair(listener, &server);
	char text[8];

	expect("send what stays unread", send_bytes(server, "rest", 4), 4);
	expect("poll", wait_readable(client, 1000), 1);
	file_release(client);
	expect("receive after a reset", receive_bytes(server, text, sizeof(text)), -ECONNRESET);
	expect("send after a reset", send_bytes(server, text, sizeof(text)), -EPIPE);
	file_release(server);
}

static void check_ends(void)
{
	struct file *listener = open_listener(PORT_ECHO);

	check_half_close(listener);
	check_reset(listener);
	file_release(listener);
}

/* ---- Streams ----------------------------------------------------------------------------------- */

/* Something went wrong that may go wrong only where frames get lost. */
static bool is_broken(const char *what, int64_t result)
{
	if (result >= 0)
		return false;
	if (!lossy)
		panic("net: %s gave %ld", what, (long)result);
	__atomic_add_fetch(&broken, 1, __ATOMIC_RELAXED);
	return true;
}

static void echo_until_end(struct file *connection)
{
	char buffer[2048];

	for (;;) {
		int64_t got = receive_bytes(connection, buffer, sizeof(buffer));

		if (got <= 0 || send_bytes(connection, buffer, (size_t)got) < 0)
			break;
	}
	file_release(connection);
}

/* A connection on which nothing is said ends the server. */
static void echo_server(uint16_t port)
{
	struct file *listener = open_listener(port);
	bool is_over = false;
	char byte;

	while (!is_over) {
		struct file *connection = accept_from(listener);
		int64_t got = receive_bytes(connection, &byte, 1);

		is_over = got == 0;
		if (got == 1 && send_bytes(connection, &byte, 1) == 1)
			echo_until_end(connection);
		else
			file_release(connection);
	}
	file_release(listener);
}

static char pattern(size_t n, unsigned seed)
{
	return (char)(n * 7 + n / 251 + seed);
}

/* Receives size bytes of the pattern. False if the connection broke. */
static bool receive_pattern(struct file *client, char *buffer, size_t size, unsigned seed)
{
	for (size_t done = 0; done < size;) {
		int64_t got = receive_bytes(client, buffer, CHUNK_MAX);

		if (is_broken("receive", got ? got : -EIO))
			return false;
		for (int64_t i = 0; i < got; i++, done++)
			if (buffer[i] != pattern(done, seed))
				panic("net: byte %lu of %lu came back wrong", (unsigned long)done,
				      (unsigned long)size);
	}
	__atomic_add_fetch(&bytes_echoed, size, __ATOMIC_RELAXED);
	return true;
}

static void talk(struct file *client, char *buffer, unsigned seed)
{
	for (unsigned round = 0; round < 4; round++) {
		size_t size = (seed * 977 + round * 5003) % CHUNK_MAX + 1;

		for (size_t i = 0; i < size; i++)
			buffer[i] = pattern(i, seed);
		if (is_broken("send", send_bytes(client, buffer, size)) ||
		    !receive_pattern(client, buffer, size, seed))
			return;
	}
}

/* Comes before the server does, perhaps; and in the end until it hears. */
static struct file *connect_at_last(uint16_t port)
{
	for (;;) {
		struct file *client = open_socket(SOCK_STREAM);
		int result = connect_to(client, port);

		if (result == 0)
			return client;
		file_release(client);
		if (result != -ECONNREFUSED)
			is_broken("connect", result);
		timer_sleep(NS_PER_MS);
	}
}

static void echo_client(uint16_t port, uint64_t until_ns)
{
	static char buffers[CPU_MAX][CHUNK_MAX];
	unsigned seed = port;

	do {
		struct file *client = connect_at_last(port);

		talk(client, buffers[port % CPU_MAX], seed++);
		file_release(client);
		__atomic_add_fetch(&connections, 1, __ATOMIC_RELAXED);
	} while (!work_over(until_ns));
	file_release(connect_at_last(port));
}

/* ---- Names ------------------------------------------------------------------------------------- */

/* Header and question of a query for www.demo, an address. Bytes 0 and 1: id; 2: 0x80 makes it an answer. */
static const char query[] = "\0\0\1\0\0\1\0\0\0\0\0\0\3www\4demo\0\0\1\0\1";

static void name_server(uint64_t until_ns)
{
	struct file *server = open_socket(SOCK_DGRAM | SOCK_NONBLOCK);
	char message[sizeof(query)];
	struct abi_sockaddr from;

	expect("bind", bind_to(server, PORT_DNS), 0);
	while (!work_over(until_ns + 100 * NS_PER_MS)) {
		if (wait_readable(server, 20) == 0)
			continue;
		expect("query", socket_receive(server, (uintptr_t)message, sizeof(message), &from),
		       sizeof(message));
		message[2] |= (char)0x80;
		expect("answer", socket_send(server, (uintptr_t)message, sizeof(message), &from),
		       sizeof(message));
	}
	file_release(server);
}

/* Datagrams may get lost: then asks again. */
static void resolver(uint64_t until_ns)
{
	struct file *client = open_socket(SOCK_DGRAM);
	struct abi_sockaddr server = at(PORT_DNS);
	char message[sizeof(query)];

	for (uint16_t id = 1; !work_over(until_ns); id++) {
		memcpy(message, query, sizeof(query));
		memcpy(message, &id, sizeof(id));
		expect("ask", socket_send(client, (uintptr_t)message, sizeof(message), &server),
		       sizeof(message));
		if (wait_readable(client, 100) == 0)
			continue;
		expect("hear", receive_bytes(client, message, sizeof(message)), sizeof(message));
		queries += memcmp(message, &id, sizeof(id)) == 0 && (message[2] & 0x80);
	}
	file_release(client);
}

static void member(unsigned n, uint64_t until_ns)
{
	unsigned pair = n / 2;

	if (pair == 0 && n % 2 == 0)
		name_server(until_ns);
	else if (pair == 0)
		resolver(until_ns);
	else if (n % 2 == 0)
		echo_server((uint16_t)(PORT_ECHO + pair));
	else
		echo_client((uint16_t)(PORT_ECHO + pair), until_ns);
}

void work_net(uint64_t until_ns)
{
	unsigned pairs = cpu_count < 2 ? 2 : cpu_count;

	lossy = arg_number("lose", 0) != 0;
	if (!lossy) {
		check_ports();
		check_refusals();
		check_ends();
	}
	work_crew("net", 2 * pairs, member, until_ns);
	kprintf("net: %u connections, %u broken, %lu bytes echoed, %u names resolved\n", connections, broken,
		bytes_echoed, queries);
}
