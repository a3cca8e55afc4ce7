/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <ktrace/ktrace.h>
#include <ktrx/v1.h>

#include "arch.h"
#include "clock.h"
#include "net/loopback.h"
#include "net/stream.h"
#include "page.h"

KTRACE_EVENT_V1(KTRX1_NET_TCP_STATE, net, tcp_state, "socket %u: %u -> %u, %s -> %s", (uint32_t, socket),
		(uint8_t, old), (uint8_t, new), (const char *, old_name), (const char *, new_name));

/* A peer that sends nothing for this time gets a probe, or its connection is aborted. */
#define SILENCE_TIMEOUT_NS (5 * NS_PER_S)
/* Duration of TIME_WAIT. Frames that were sent before it arrive much earlier than its end. */
#define TIME_WAIT_NS (200 * NS_PER_MS)

#define BUFFER_PAGES (STREAM_BUFFER_BYTES / PAGE_SIZE)

static uint64_t next_deadline_ns = WAIT_FOR_EVER;

void stream_set_state(struct socket *socket, enum stream_state state)
{
	static const char *const names[] = { "CLOSED",	    "LISTEN",	  "SYN_SENT",	"SYN_RECEIVED",
					     "ESTABLISHED", "FIN_WAIT_1", "FIN_WAIT_2", "CLOSE_WAIT",
					     "CLOSING",	    "LAST_ACK",	  "TIME_WAIT" };
	enum stream_state old = socket->stream.state;

	KTRACE(net, tcp_state, socket->number, (uint8_t)old, (uint8_t)state, names[old], names[state]);
	socket->stream.state = state;
	stream_renew_deadline(socket);
	socket_changed(socket);
}

bool stream_may_send(const struct stream *stream)
{
	return stream->state == STREAM_ESTABLISHED || stream->state == STREAM_CLOSE_WAIT;
}

bool stream_may_receive(const struct stream *stream)
{
	return stream->state == STREAM_ESTABLISHED || stream->state == STREAM_FIN_WAIT_1 ||
	       stream->state == STREAM_FIN_WAIT_2;
}

bool stream_is_orphan(const struct socket *socket)
{
	return !socket->file && !socket->stream.listener;
}

bool stream_prepare(struct socket *socket)
{
	struct stream *stream = &socket->stream;

	if (!stream->buffer)
		stream->buffer = page_alloc(BUFFER_PAGES);
	if (!stream->reserve)
		stream->reserve = packet_alloc();
	stream->first = stream->count = 0;
	/* each connection begins with another sequence number */
	stream->next = stream->unacknowledged = (uint32_t)(clock_ns() / 4000);
	return stream->buffer && stream->reserve;
}

/* ---- Deadlines --------------------------------------------------------------------------------- */

static uint64_t timeout_of(enum stream_state state)
{
	if (state == STREAM_CLOSED || state == STREAM_LISTEN)
		return 0;
	return state == STREAM_TIME_WAIT ? TIME_WAIT_NS : SILENCE_TIMEOUT_NS;
}

static void note_deadline(uint64_t deadline_ns)
{
	if (!deadline_ns || deadline_ns >= next_deadline_ns)
		return;
	__atomic_store_n(&next_deadline_ns, deadline_ns, __ATOMIC_RELAXED);
	loopback_wake();
}

void stream_renew_deadline(struct socket *socket)
{
	uint64_t ns = timeout_of(socket->stream.state);

	socket->stream.keep_alive_sent = false;
	socket->stream.deadline_ns = ns ? clock_ns() + ns : 0;
	note_deadline(socket->stream.deadline_ns);
}

uint64_t stream_next_deadline(void)
{
	return __atomic_load_n(&next_deadline_ns, __ATOMIC_RELAXED);
}

/*
 * Sends a keep-alive probe: a segment with an old sequence number. The peer must answer with its current
 * sequence numbers.
 */
static void send_keep_alive(struct socket *socket, struct packet *packet)
{
	socket->stream.next--;
	stream_transmit(socket, packet, STREAM_ACK, 0);
	socket->stream.next++;
	stream_renew_deadline(socket);
	socket->stream.keep_alive_sent = true;
}

/*
 * Handles a passed deadline. If the peer has not acknowledged all data, some data is lost, and the connection
 * is aborted. Otherwise the peer may just be silent, or its last segment may be lost. It then gets one
 * keep-alive probe; if it does not answer, the connection is aborted.
 */
static void expire(struct socket *socket)
{
	struct stream *stream = &socket->stream;
	bool may_ask = stream->unacknowledged == stream->next && !stream->keep_alive_sent &&
		       !stream_is_orphan(socket);
	struct packet *packet;

	if (stream->state == STREAM_TIME_WAIT) {
		stream_fail(socket, 0);
		return;
	}
	packet = may_ask ? packet_alloc() : NULL;
	if (packet)
		send_keep_alive(socket, packet);
	else
		stream_abort(socket, ETIMEDOUT);
}

void stream_expire(void)
{
	uint64_t now = clock_ns();

	__atomic_store_n(&next_deadline_ns, WAIT_FOR_EVER, __ATOMIC_RELAXED);
	for (struct socket *s = sockets; s < sockets + SOCKETS_MAX; s++) {
		if (s->number == 0 || s->type != &stream_type || s->stream.deadline_ns == 0)
			continue;
		if (s->stream.deadline_ns <= now)
			expire(s);
		else
			note_deadline(s->stream.deadline_ns);
	}
}

/* ---- Sending segments -------------------------------------------------------------------------- */

static void write_header(struct packet *packet, uint16_t from, uint16_t to, uint32_t sequence,
			 uint32_t acknowledgement, unsigned flags, uint16_t window)
{
	uint8_t *header = ip_payload(packet);

	put16(header, from);
	put16(header + 2, to);
	put32(header + 4, sequence);
	put32(header + 8, acknowledgement);
	header[12] = STREAM_HEADER_BYTES / 4 << 4;
	header[13] = (uint8_t)flags;
	put16(header + 14, window);
	put32(header + 16, 0);
	put16(header + 16, ip_payload_checksum(packet));
}

void stream_transmit(struct socket *socket, struct packet *packet, unsigned flags, size_t bytes)
{
	struct stream *stream = &socket->stream;
	uint32_t room = (uint32_t)(STREAM_BUFFER_BYTES - stream->count);
	uint32_t sequence = stream->next;

	stream->offered = stream->expected + room;
	stream->next += (uint32_t)bytes + (flags & (STREAM_SYN | STREAM_FIN) ? 1 : 0);
	if (stream->next != sequence && stream->unacknowledged == sequence)
		stream_renew_deadline(socket);
	ip_header(packet, IP_STREAM, STREAM_HEADER_BYTES + bytes, socket->local_address,
		  socket->peer_address);
	write_header(packet, socket->local_port, socket->peer_port, sequence,
		     flags & STREAM_ACK ? stream->expected : 0, flags, (uint16_t)room);
	loopback_transmit(packet);
}

/*
 * Returns a packet for the final segment: the reserved packet, or a newly allocated one if the reserved one
 * has been used already. Returns NULL if there is none.
 */
static struct packet *take_reserve(struct stream *stream)
{
	struct packet *packet = stream->reserve;

	stream->reserve = NULL;
	return packet ? packet : packet_alloc();
}

void stream_transmit_fin(struct socket *socket)
{
	struct stream *stream = &socket->stream;
	struct packet *packet = packet_alloc();

	if (!packet)
		packet = take_reserve(stream);
	stream_transmit(socket, packet, STREAM_FIN | STREAM_ACK, 0);
	stream_set_state(socket, stream->state == STREAM_CLOSE_WAIT ? STREAM_LAST_ACK : STREAM_FIN_WAIT_1);
}

void stream_refuse(struct packet *packet)
{
	const uint8_t *header = ip_payload(packet);
	uint32_t from = ip_source(packet), to = ip_destination(packet);
	uint16_t from_port = ip_source_port(packet), to_port = ip_destination_port(packet);
	uint32_t sequence = get32(header + 4), acknowledgement = get32(header + 8);
	uint32_t bytes = (uint32_t)(ip_payload_bytes(packet) - STREAM_HEADER_BYTES);
	unsigned flags = header[13];

	if (flags & STREAM_RST) {
		packet_drop(packet, "reset without a connection");
		return;
	}
	sequence += bytes + (flags & STREAM_SYN ? 1 : 0) + (flags & STREAM_FIN ? 1 : 0);
	ip_header(packet, IP_STREAM, STREAM_HEADER_BYTES, to, from);
	if (flags & STREAM_ACK)
		write_header(packet, to_port, from_port, acknowledgement, 0, STREAM_RST, 0);
	else
		write_header(packet, to_port, from_port, 0, sequence, STREAM_RST | STREAM_ACK, 0);
	loopback_transmit(packet);
}

/* ---- Ends of connections ----------------------------------------------------------------------- */

void stream_fail(struct socket *socket, int error)
{
	/*
	 * If there was no error, the program can still read data that has arrived. After an error, it
	 * cannot.
	 */
	if (error) {
		socket->error = error;
		socket->stream.count = 0;
	}
	if (socket->stream.state != STREAM_CLOSED)
		stream_set_state(socket, STREAM_CLOSED);
	if (!socket->file)
		socket_free(socket);
}

void stream_abort(struct socket *socket, int error)
{
	struct packet *packet = take_reserve(&socket->stream);

	if (packet)
		stream_transmit(socket, packet, STREAM_RST | STREAM_ACK, 0);
	stream_fail(socket, error);
}
