/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Checks of socket operations that must fail: used ports, missing or closed peers, no memory. */
#include <stddef.h>

#include "net/packet.h"
#include "page.h"
#include "panic.h"
#include "work/net_calls.h"

static void check_ports(void)
{
	struct file *one = net_open_socket(SOCK_DGRAM), *other = net_open_socket(SOCK_DGRAM);
	struct abi_sockaddr far = { AF_INET, 1, 0x0a000001 };

	net_expect("bind", net_bind_to(one, PORT_DNS), 0);
	net_expect("bind to a taken port", net_bind_to(other, PORT_DNS), -EADDRINUSE);
	net_expect("bind to another machine", socket_bind(other, &far), -EADDRNOTAVAIL);
	net_expect("send without an address", net_send_bytes(other, "", 0), -EDESTADDRREQ);
	file_put(one);
	net_expect("bind to a port given up", net_bind_to(other, PORT_DNS), 0);
	file_put(other);
}

static void check_refusals(void)
{
	struct file *stream = net_open_socket(SOCK_STREAM), *datagram = net_open_socket(SOCK_DGRAM);
	struct file *impatient = net_open_socket(SOCK_DGRAM | SOCK_NONBLOCK);
	char byte;

	net_expect("receive unconnected", net_receive_bytes(stream, &byte, 1), -ENOTCONN);
	net_expect("connect to no listener", net_connect_to(stream, PORT_ECHO), -ECONNREFUSED);
	net_expect("connect", net_connect_to(datagram, PORT_ECHO), 0);
	net_expect("send", net_send_bytes(datagram, "?", 1), 1);
	net_expect("receive what was refused", net_receive_bytes(datagram, &byte, 1), -ECONNREFUSED);
	net_expect("receive without waiting", net_receive_bytes(impatient, &byte, 1), -EAGAIN);
	file_put(stream);
	file_put(datagram);
	file_put(impatient);
}

/* Connects a client to the listener and returns it. *server becomes the other end of the connection. */
static struct file *connect_pair(struct file *listener, struct file **server)
{
	struct file *client = net_open_socket(SOCK_STREAM);

	net_expect("connect", net_connect_to(client, PORT_ECHO), 0);
	net_expect("connect again", net_connect_to(client, PORT_ECHO), -EISCONN);
	*server = net_accept_from(listener);
	return client;
}

static void check_half_close(struct file *listener)
{
	struct file *server, *client = connect_pair(listener, &server);
	char text[8];

	net_expect("send", net_send_bytes(client, "half", 4), 4);
	net_expect("shutdown", socket_shutdown(client, SHUT_WR), 0);
	net_expect("send after shutdown", net_send_bytes(client, "", 1), -EPIPE);
	net_expect("receive", net_receive_bytes(server, text, sizeof(text)), 4);
	net_expect("receive the end", net_receive_bytes(server, text, sizeof(text)), 0);
	net_expect("send to a closed half", net_send_bytes(server, "rest", 4), 4);
	file_put(server);
	net_expect("receive the rest", net_receive_bytes(client, text, sizeof(text)), 4);
	net_expect("receive the end", net_receive_bytes(client, text, sizeof(text)), 0);
	file_put(client);
}

static void check_reset(struct file *listener)
{
	struct file *server, *client = connect_pair(listener, &server);
	char text[8];

	net_expect("send what stays unread", net_send_bytes(server, "rest", 4), 4);
	net_expect("poll", net_wait_readable(client, 60000), 1);
	file_put(client);
	net_expect("receive after a reset", net_receive_bytes(server, text, sizeof(text)), -ECONNRESET);
	net_expect("send after a reset", net_send_bytes(server, text, sizeof(text)), -EPIPE);
	file_put(server);
}

static void check_ends(void)
{
	struct file *listener = net_open_listener(PORT_ECHO);

	check_half_close(listener);
	check_reset(listener);
	file_put(listener);
}

/* ---- Checks without free memory ---------------------------------------------------------------- */

#define HOARD_LARGEST 8192 /* maximum number of adjacent pages that are allocated at once */
#define HOARD_PIECES  256

/* Holds all free memory and all free packets, so that every other allocation fails. */
struct hoard {
	struct piece {
		void *pages;
		size_t count;
	} piece[HOARD_PIECES];
	size_t pieces;
	struct packet_queue packets;
};

static void hoard_packets(struct hoard *hoard)
{
	struct packet *packet;

	while ((packet = packet_alloc()))
		packet_put(&hoard->packets, packet);
}

static void hoard_all(struct hoard *hoard)
{
	for (size_t count = HOARD_LARGEST; count > 0 && hoard->pieces < HOARD_PIECES;) {
		void *pages = page_alloc(count);

		if (pages)
			hoard->piece[hoard->pieces++] = (struct piece){ pages, count };
		else
			count /= 2;
	}
	hoard_packets(hoard);
}

static void give_back(struct hoard *hoard)
{
	packet_free_all(&hoard->packets);
	while (hoard->pieces > 0) {
		hoard->pieces--;
		page_free(hoard->piece[hoard->pieces].pages, hoard->piece[hoard->pieces].count);
	}
}

/*
 * Sends until no packet can be allocated. Packets that were sent are freed when they arrive, so this function
 * allocates all free packets again before each send.
 */
static void send_until_starved(struct hoard *hoard, struct file *file)
{
	int64_t result;

	do {
		hoard_packets(hoard);
		result = net_send_bytes(file, "", 1);
	} while (result == 1);
	net_expect("send without memory", result, -ENOBUFS);
}

static void receive_until_end(struct file *file, bool may_be_reset)
{
	char text[256];
	int64_t result;

	do
		result = net_receive_bytes(file, text, sizeof(text));
	while (result > 0);
	if (result != -ECONNRESET || !may_be_reset)
		net_expect("receive the end", result, 0);
}

/*
 * Checks that if there is no memory, no connection can be made, but no existing connection hangs. If a
 * reader has no packet to report its free buffer space to the writer, its connection is reset. Whether
 * that happens depends on the time at which packets become free.
 */
static void check_starved(void)
{
	static struct hoard hoard;
	static char block[8000];
	struct file *listener = net_open_listener(PORT_ECHO), *late = net_open_socket(SOCK_STREAM);
	struct file *server, *client = connect_pair(listener, &server);
	struct file *reader, *writer = connect_pair(listener, &reader);

	net_expect("send", net_send_bytes(writer, block, sizeof(block)), sizeof(block));
	hoard_all(&hoard);
	net_expect("connect without memory", net_connect_to(late, PORT_ECHO), -ENOBUFS);
	send_until_starved(&hoard, client);
	file_put(client);
	receive_until_end(server, false);
	file_put(server);
	net_wait_readable(reader, 1000);
	net_receive_bytes(reader, block, sizeof(block));
	file_put(reader);
	receive_until_end(writer, true);
	give_back(&hoard);
	file_put(writer);
	net_expect("connect with memory again", net_connect_to(late, PORT_ECHO), 0);
	file_put(late);
	file_put(listener);
}

void net_check_failures(void)
{
	check_ports();
	check_refusals();
	check_ends();
	check_starved();
}
