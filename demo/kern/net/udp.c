/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "net/dns.h"
#include "net/icmp.h"
#include "net/ip.h"
#include "net/loopback.h"
#include "net/sockets.h"
#include "net/udp.h"
#include "string.h"

#define HEADER_BYTES 8 /* size of source port, destination port, length and checksum */
#define DATAGRAM_MAX (IP_PAYLOAD_BYTES - HEADER_BYTES)
/* The maximum number of datagrams in a socket's queue. */
#define DATAGRAMS_MAX 32

static uint8_t *content(struct packet *packet)
{
	return ip_payload(packet) + HEADER_BYTES;
}

static size_t content_bytes(const struct packet *packet)
{
	return ip_payload_bytes(packet) - HEADER_BYTES;
}

static void transmit(struct packet *packet, size_t size, uint32_t from, uint16_t from_port, uint32_t to,
		     uint16_t to_port)
{
	uint8_t *header = ip_payload(packet);
	uint16_t checksum;

	dns_watch(from_port, to_port, content(packet), size);
	ip_header(packet, IP_UDP, HEADER_BYTES + size, from, to);
	put16(header, from_port);
	put16(header + 2, to_port);
	put16(header + 4, (uint16_t)(HEADER_BYTES + size));
	put16(header + 6, 0);
	checksum = ip_payload_checksum(packet);
	/* 0 means that there is no checksum, so a checksum of 0 is sent as 0xffff. */
	put16(header + 6, checksum ? checksum : 0xffff);
	loopback_transmit(packet);
}

static int64_t udp_send(struct socket *socket, uintptr_t from, size_t size, const struct abi_sockaddr *to)
{
	uint32_t to_address = to ? to->address : socket->peer_address;
	uint16_t to_port = to ? to->port : socket->peer_port;
	struct packet *packet;
	int error = socket_take_error(socket);

	if (!error && socket->writing_over)
		error = -EPIPE;
	if (!error && to_port == 0)
		error = -EDESTADDRREQ;
	if (!error && !ip_is_here(to_address))
		error = -ENETUNREACH;
	if (!error && size > DATAGRAM_MAX)
		error = -EMSGSIZE;
	if (!error)
		error = socket_need_port(socket);
	if (error)
		return error;

	packet = packet_alloc();
	if (!packet)
		return -ENOBUFS;
	error = socket_copy_in(content(packet), from, size);
	if (error) {
		packet_free(packet);
		return error;
	}
	transmit(packet, size, socket->local_address ? socket->local_address : INADDR_LOOPBACK,
		 socket->local_port, to_address, to_port);
	return (int64_t)size;
}

/* Receives a datagram. If it is longer than `size` bytes, drops the bytes after that. */
static int64_t udp_receive(struct socket *socket, uintptr_t to, size_t size, struct abi_sockaddr *from)
{
	struct packet *packet;
	size_t length;
	int error;

	while (!(packet = packet_take(&socket->datagrams))) {
		error = socket_take_error(socket);
		if (!error && socket->reading_over)
			return 0;
		if (!error)
			error = socket_wait(socket);
		if (error)
			return error;
	}
	length = content_bytes(packet) < size ? content_bytes(packet) : size;
	if (from)
		*from = (struct abi_sockaddr){ AF_INET, ip_source_port(packet), ip_source(packet) };
	error = socket_copy_out(to, content(packet), length);
	packet_free(packet);
	return error ? error : (int64_t)length;
}

/* Sets the peer: send() sends to it, and the socket receives datagrams only from it. Sends no packet. */
static int udp_connect(struct socket *socket, const struct abi_sockaddr *address)
{
	int error = ip_is_here(address->address) ? socket_need_port(socket) : -ENETUNREACH;

	if (error)
		return error;
	if (address->port == 0)
		return -EADDRNOTAVAIL;
	socket->peer_address = address->address;
	socket->peer_port = address->port;
	return 0;
}

static int udp_shutdown(struct socket *socket, int how)
{
	if (socket->peer_port == 0)
		return -ENOTCONN;
	socket->reading_over |= how != SHUT_WR;
	socket->writing_over |= how != SHUT_RD;
	socket_changed(socket);
	return 0;
}

static size_t udp_readable(struct socket *socket)
{
	return socket->datagrams.first ? content_bytes(socket->datagrams.first) : 0;
}

static unsigned udp_poll(struct socket *socket)
{
	unsigned events = POLLOUT;

	if (socket->datagrams.first || socket->reading_over)
		events |= POLLIN;
	if (socket->error)
		events |= POLLERR;
	return events;
}

const struct socket_type udp_type = {
	.connect = udp_connect,
	.send = udp_send,
	.receive = udp_receive,
	.shutdown = udp_shutdown,
	.readable = udp_readable,
	.poll = udp_poll,
	.close = socket_free,
};

/*
 * Returns the socket that receives a datagram with these addresses and ports, or NULL. A connected socket
 * receives datagrams only from its peer.
 */
static struct socket *find(uint32_t to, uint16_t to_port, uint32_t from, uint16_t from_port)
{
	for (struct socket *s = sockets; s < sockets + SOCKETS_MAX; s++) {
		if (s->type != &udp_type || !socket_is_at(s, to, to_port))
			continue;
		if (s->peer_port == 0 || (s->peer_port == from_port && s->peer_address == from))
			return s;
	}
	return NULL;
}

static bool is_sound(struct packet *packet)
{
	const uint8_t *header = ip_payload(packet);

	return ip_payload_bytes(packet) >= HEADER_BYTES && get16(header + 4) == ip_payload_bytes(packet) &&
	       get16(header + 6) != 0 && ip_payload_checksum(packet) == 0;
}

void udp_input(struct packet *packet)
{
	struct socket *socket;

	if (!is_sound(packet)) {
		packet_drop(packet, "bad UDP header or checksum");
		return;
	}
	socket = find(ip_destination(packet), ip_destination_port(packet), ip_source(packet),
		      ip_source_port(packet));
	if (!socket) {
		icmp_refuse(packet);
	} else if (socket->datagrams.length >= DATAGRAMS_MAX || socket->reading_over) {
		packet_drop(packet, "socket full");
	} else {
		packet_put(&socket->datagrams, packet);
		socket_changed(socket);
	}
}

void udp_refused(uint32_t from, uint16_t from_port, uint32_t to, uint16_t to_port)
{
	struct socket *socket = find(from, from_port, to, to_port);

	/*
	 * Only a connected socket gets the error: an unconnected socket may send to many peers, and the error
	 * would not show which of them refused.
	 */
	if (!socket || socket->peer_port == 0)
		return;
	socket->error = ECONNREFUSED;
	socket_changed(socket);
}
