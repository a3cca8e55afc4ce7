/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "net/stream.h"
#include "string.h"

struct segment {
	struct packet *packet;
	uint32_t sequence, acknowledgement;
	uint16_t window;
	unsigned flags;
	const uint8_t *data;
	size_t bytes;
};

static bool parse(struct segment *segment, struct packet *packet)
{
	const uint8_t *header = ip_payload(packet);

	if (ip_payload_bytes(packet) < STREAM_HEADER_BYTES || header[12] != STREAM_HEADER_BYTES / 4 << 4 ||
	    ip_payload_checksum(packet) != 0)
		return false;
	*segment = (struct segment){
		.packet = packet,
		.sequence = get32(header + 4),
		.acknowledgement = get32(header + 8),
		.flags = header[13],
		.window = get16(header + 14),
		.data = stream_data(packet),
		.bytes = ip_payload_bytes(packet) - STREAM_HEADER_BYTES,
	};
	return true;
}

/*
 * Returns the connection to which a segment belongs. If there is none, returns the listener at the segment's
 * destination, or NULL.
 */
static struct socket *find(const struct packet *packet)
{
	struct socket *listener = NULL;

	for (struct socket *s = sockets; s < sockets + SOCKETS_MAX; s++) {
		if (s->number == 0 || s->type != &stream_type ||
		    !socket_is_at(s, ip_destination(packet), ip_destination_port(packet)))
			continue;
		if (s->stream.state == STREAM_LISTEN)
			listener = s;
		else if (s->stream.state != STREAM_CLOSED && s->peer_port == ip_source_port(packet) &&
			 s->peer_address == ip_source(packet))
			return s;
	}
	return listener;
}

/* ---- Handshake --------------------------------------------------------------------------------- */

static unsigned unaccepted(const struct socket *listener)
{
	unsigned count = 0;

	for (const struct socket *s = sockets; s < sockets + SOCKETS_MAX; s++)
		count += s->number != 0 && s->stream.listener == listener;
	return count;
}

/*
 * Creates a connection for a segment that a listener has received. Returns NULL if the listener already has
 * too many connections that wait for accept, or if out of memory.
 */
static struct socket *new_connection(struct socket *listener, const struct packet *packet)
{
	struct socket *socket;

	if (unaccepted(listener) >= listener->stream.backlog)
		return NULL;
	socket = socket_new(&stream_type);
	if (!socket)
		return NULL;
	if (!stream_prepare(socket)) {
		socket_free(socket);
		return NULL;
	}
	socket->local_address = ip_destination(packet);
	socket->local_port = ip_destination_port(packet);
	socket->peer_address = ip_source(packet);
	socket->peer_port = ip_source_port(packet);
	socket->stream.listener = listener;
	return socket;
}

static void listener_input(struct socket *listener, const struct segment *segment)
{
	struct socket *socket = NULL;

	if ((segment->flags & (STREAM_SYN | STREAM_ACK | STREAM_RST)) == STREAM_SYN)
		socket = new_connection(listener, segment->packet);
	if (!socket) {
		stream_refuse(segment->packet);
		return;
	}
	socket->stream.expected = segment->sequence + 1;
	socket->stream.limit = socket->stream.next + 1 + segment->window;
	stream_set_state(socket, STREAM_SYN_RECEIVED);
	stream_transmit(socket, segment->packet, STREAM_SYN | STREAM_ACK, 0);
}

static void syn_sent_input(struct socket *socket, const struct segment *segment)
{
	struct stream *stream = &socket->stream;

	if (!(segment->flags & STREAM_ACK) || segment->acknowledgement != stream->next) {
		stream_refuse(segment->packet);
	} else if (segment->flags & STREAM_RST) {
		packet_free(segment->packet);
		stream_fail(socket, ECONNREFUSED);
	} else if (segment->flags & STREAM_SYN) {
		stream->unacknowledged = segment->acknowledgement;
		stream->expected = segment->sequence + 1;
		stream->limit = segment->acknowledgement + segment->window;
		stream_set_state(socket, STREAM_ESTABLISHED);
		stream_transmit(socket, segment->packet, STREAM_ACK, 0);
	} else {
		packet_drop(segment->packet, "acknowledgement without a handshake");
	}
}

/* ---- Segments of a connection ------------------------------------------------------------------ */

/*
 * Called when the peer has acknowledged everything that was sent. Changes the state if a SYN or FIN was part
 * of that.
 */
static void all_acknowledged(struct socket *socket)
{
	switch (socket->stream.state) {
	case STREAM_SYN_RECEIVED:
		stream_set_state(socket, STREAM_ESTABLISHED);
		socket_changed(socket->stream.listener);
		break;
	case STREAM_FIN_WAIT_1:
		stream_set_state(socket, STREAM_FIN_WAIT_2);
		break;
	case STREAM_CLOSING:
		stream_set_state(socket, STREAM_TIME_WAIT);
		break;
	case STREAM_LAST_ACK:
		stream_fail(socket, 0);
		break;
	default:
		break;
	}
}

/* Handles the acknowledgement number and the window of a segment. May free the socket. */
static void acknowledge(struct socket *socket, const struct segment *segment)
{
	struct stream *stream = &socket->stream;
	bool news = segment->acknowledgement != stream->unacknowledged;

	stream->unacknowledged = segment->acknowledgement;
	stream->limit = segment->acknowledgement + segment->window;
	if (news || stream->unacknowledged == stream->next)
		stream_renew_deadline(socket);
	socket_changed(socket);
	if (news && stream->unacknowledged == stream->next)
		all_acknowledged(socket);
}

/*
 * Stores data in the receive buffer. There is room for it: data beyond the bytes that we offered to accept
 * has already been refused.
 */
static void store(struct stream *stream, const uint8_t *data, size_t bytes)
{
	size_t at = (stream->first + stream->count) % STREAM_BUFFER_BYTES;
	size_t before_end = STREAM_BUFFER_BYTES - at < bytes ? STREAM_BUFFER_BYTES - at : bytes;

	memcpy(stream->buffer + at, data, before_end);
	memcpy(stream->buffer, data + before_end, bytes - before_end);
	stream->count += bytes;
}

static void peer_finished(struct socket *socket)
{
	struct stream *stream = &socket->stream;

	stream->expected++;
	if (stream->state == STREAM_ESTABLISHED)
		stream_set_state(socket, STREAM_CLOSE_WAIT);
	else
		stream_set_state(socket,
				 stream->state == STREAM_FIN_WAIT_1 ? STREAM_CLOSING : STREAM_TIME_WAIT);
}

/*
 * Returns true if the segment contains data that must be refused, because no program will read it or the peer
 * may not send it.
 */
static bool is_unwanted(const struct socket *socket, const struct segment *segment)
{
	const struct stream *stream = &socket->stream;

	if (segment->bytes == 0 && !(segment->flags & STREAM_FIN))
		return false;
	if (!stream_may_receive(stream) || segment->bytes > stream->offered - stream->expected)
		return true;
	return segment->bytes > 0 && stream_is_orphan(socket);
}

static void take(struct socket *socket, const struct segment *segment)
{
	struct stream *stream = &socket->stream;

	if (is_unwanted(socket, segment)) {
		packet_drop(segment->packet, "unwanted data");
		stream_abort(socket, ECONNRESET);
		return;
	}
	stream->expected += (uint32_t)segment->bytes;
	if (segment->bytes > 0 && !socket->reading_over) {
		store(stream, segment->data, segment->bytes);
		socket_changed(socket);
	}
	if (segment->flags & STREAM_FIN)
		peer_finished(socket);
	if (segment->bytes > 0 || segment->flags & STREAM_FIN)
		stream_transmit(socket, segment->packet, STREAM_ACK, 0);
	else
		packet_free(segment->packet);
}

static void connection_input(struct socket *socket, const struct segment *segment)
{
	struct stream *stream = &socket->stream;
	uint32_t number = socket->number;
	bool in_flight =
		segment->acknowledgement - stream->unacknowledged <= stream->next - stream->unacknowledged;

	if (segment->flags & STREAM_RST) {
		packet_free(segment->packet);
		stream_fail(socket, ECONNRESET);
	} else if (segment->sequence == stream->expected - 1 && segment->bytes == 0) {
		/* the reply to a keep-alive probe */
		stream_transmit(socket, segment->packet, STREAM_ACK, 0);
	} else if (segment->sequence != stream->expected) {
		/*
		 * A segment is missing. The device keeps the order of frames, so the missing one is lost, and
		 * nothing will send it again.
		 */
		packet_drop(segment->packet, "out of sequence");
		stream_abort(socket, ECONNRESET);
	} else if (segment->flags & STREAM_SYN || !(segment->flags & STREAM_ACK) || !in_flight) {
		packet_drop(segment->packet, "bad flags or acknowledgement");
		stream_abort(socket, ECONNRESET);
	} else {
		acknowledge(socket, segment);
		if (socket->number == number && stream->state != STREAM_CLOSED)
			take(socket, segment);
		else
			packet_free(segment->packet);
	}
}

void stream_input(struct packet *packet)
{
	struct segment segment;
	struct socket *socket;

	if (!parse(&segment, packet)) {
		packet_drop(packet, "bad stream header or checksum");
		return;
	}
	socket = find(packet);
	if (!socket)
		stream_refuse(packet);
	else if (socket->stream.state == STREAM_LISTEN)
		listener_input(socket, &segment);
	else if (socket->stream.state == STREAM_SYN_SENT)
		syn_sent_input(socket, &segment);
	else
		connection_input(socket, &segment);
}
