/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Sockets, used by kernel threads. First checks that invalid operations fail. Then pairs of a client and a
 * server send data back and forth over streams; the first pair exchanges DNS queries and answers over UDP.
 * With lose= (net/loopback.h) a connection may end with an error, but it must end.
 */
#include <stddef.h>

#include "args.h"
#include "clock.h"
#include "cpu.h"
#include "panic.h"
#include "print.h"
#include "string.h"
#include "timer.h"
#include "work/net_calls.h"
#include "work/work.h"

#define CHUNK_MAX 16000

static bool lossy;
static unsigned connections, broken, queries;
static bool resolver_ended;
static uint64_t bytes_echoed;

/* ---- Streams ----------------------------------------------------------------------------------- */

/* Returns true if `result` is an error. Panics after an error if the boot argument lose= is not set. */
static bool is_broken(const char *what, int64_t result)
{
	if (result >= 0)
		return false;
	if (!lossy)
		panic("net: %s returned %ld", what, (long)result);
	__atomic_add_fetch(&broken, 1, __ATOMIC_RELAXED);
	return true;
}

static void echo_until_end(struct file *connection)
{
	char buffer[2048];

	for (;;) {
		int64_t got = net_receive_bytes(connection, buffer, sizeof(buffer));

		if (got <= 0 || net_send_bytes(connection, buffer, (size_t)got) < 0)
			break;
	}
	file_put(connection);
}

/* Serves one connection after another, until a client closes its connection without sending data. */
static void echo_server(uint16_t port)
{
	struct file *listener = net_open_listener(port);
	bool is_over = false;
	char byte;

	while (!is_over) {
		struct file *connection = net_accept_from(listener);
		int64_t got = net_receive_bytes(connection, &byte, 1);

		is_over = got == 0;
		if (got == 1 && net_send_bytes(connection, &byte, 1) == 1)
			echo_until_end(connection);
		else
			file_put(connection);
	}
	file_put(listener);
}

static char pattern(size_t n, unsigned seed)
{
	return (char)(n * 7 + n / 251 + seed);
}

/* Receives `size` bytes and checks that they match the pattern. Returns false if the connection broke. */
static bool receive_pattern(struct file *client, char *buffer, size_t size, unsigned seed)
{
	for (size_t done = 0; done < size;) {
		int64_t got = net_receive_bytes(client, buffer, CHUNK_MAX);

		if (is_broken("receive", got ? got : -EIO))
			return false;
		for (int64_t i = 0; i < got; i++, done++)
			if (buffer[i] != pattern(done, seed))
				panic("net: byte %lu of %lu was echoed wrongly", (unsigned long)done,
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
		if (is_broken("send", net_send_bytes(client, buffer, size)) ||
		    !receive_pattern(client, buffer, size, seed))
			return;
	}
}

/*
 * Connects, and tries again until it succeeds: the server may not have started yet, and with lose= a
 * handshake may fail.
 */
static struct file *connect_at_last(uint16_t port)
{
	for (;;) {
		struct file *client = net_open_socket(SOCK_STREAM);
		int result = net_connect_to(client, port);

		if (result == 0)
			return client;
		file_put(client);
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
		file_put(client);
		__atomic_add_fetch(&connections, 1, __ATOMIC_RELAXED);
	} while (!work_over(until_ns));
	file_put(connect_at_last(port));
}

/* ---- DNS queries ------------------------------------------------------------------------------- */

/*
 * A DNS query for the address of www.demo: header and question. Bytes 0 and 1 are the id. With 0x80 in byte
 * 2, the message is an answer.
 */
static const char query[] = "\0\0\1\0\0\1\0\0\0\0\0\0\3www\4demo\0\0\1\0\1";

/* Answers until the resolver has ended: without a server, its last query would be refused. */
static void name_server(void)
{
	struct file *server = net_open_socket(SOCK_DGRAM | SOCK_NONBLOCK);
	char message[sizeof(query)];
	struct abi_sockaddr from;

	net_expect("bind", net_bind_to(server, PORT_DNS), 0);
	while (!__atomic_load_n(&resolver_ended, __ATOMIC_ACQUIRE)) {
		if (net_wait_readable(server, 20) == 0)
			continue;
		net_expect("query", socket_receive(server, (uintptr_t)message, sizeof(message), &from),
			   sizeof(message));
		message[2] |= (char)0x80;
		net_expect("answer", socket_send(server, (uintptr_t)message, sizeof(message), &from),
			   sizeof(message));
	}
	file_put(server);
}

/* Sends one query after another. If no answer arrives in time, continues with the next query. */
static void resolver(uint64_t until_ns)
{
	struct file *client = net_open_socket(SOCK_DGRAM);
	struct abi_sockaddr server = net_at(PORT_DNS);
	char message[sizeof(query)];

	for (uint16_t id = 1; !work_over(until_ns); id++) {
		memcpy(message, query, sizeof(query));
		memcpy(message, &id, sizeof(id));
		net_expect("ask", socket_send(client, (uintptr_t)message, sizeof(message), &server),
			   sizeof(message));
		if (net_wait_readable(client, 100) == 0)
			continue;
		net_expect("hear", net_receive_bytes(client, message, sizeof(message)), sizeof(message));
		queries += memcmp(message, &id, sizeof(id)) == 0 && (message[2] & 0x80);
	}
	file_put(client);
	__atomic_store_n(&resolver_ended, true, __ATOMIC_RELEASE);
}

static void member(unsigned n, uint64_t until_ns)
{
	unsigned pair = n / 2;

	if (pair == 0 && n % 2 == 0)
		name_server();
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
	uint64_t started_ns = clock_ns();

	lossy = arg_number("lose", 0) != 0;
	resolver_ended = false;
	if (!lossy)
		net_check_failures();
	/* Adds the duration of the checks to the end time, so that the checks do not shorten the workload. */
	until_ns += clock_ns() - started_ns;
	work_crew("net", 2 * pairs, member, until_ns);
	kprintf("net: %u connections, %u broken, %lu bytes echoed, %u names resolved\n", connections, broken,
		bytes_echoed, queries);
}
