/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "net/stream.h"
#include "process.h"
#include "signal.h"
#include "thread.h"

#define BACKLOG_MAX 32

/* ---- Opening a connection ---------------------------------------------------------------------- */

static int begin(struct socket *socket, const struct abi_sockaddr *address)
{
	struct packet *packet;
	int error = socket_need_port(socket);

	if (!error && address->port == 0)
		error = -EADDRNOTAVAIL;
	if (!error && !ip_is_here(address->address))
		error = -ENETUNREACH;
	if (error)
		return error;
	packet = packet_alloc();
	if (!packet || !stream_prepare(socket)) {
		if (packet)
			packet_free(packet);
		return -ENOBUFS;
	}
	if (socket->local_address == INADDR_ANY)
		socket->local_address = INADDR_LOOPBACK;
	socket->peer_address = address->address;
	socket->peer_port = address->port;
	stream_set_state(socket, STREAM_SYN_SENT);
	stream_transmit(socket, packet, STREAM_SYN, 0);
	return 0;
}

/*
 * Connects. If an earlier call has begun to connect, but was interrupted or did not wait, this call returns
 * the result of that attempt.
 */
static int stream_connect(struct socket *socket, const struct abi_sockaddr *address)
{
	struct stream *stream = &socket->stream;
	bool is_new = stream->state == STREAM_CLOSED && !socket->error;
	int error = is_new ? begin(socket, address) : 0;

	if (!error && !is_new && stream->state != STREAM_SYN_SENT && !socket->error)
		return stream->state == STREAM_LISTEN ? -EINVAL : -EISCONN;
	while (!error && stream->state == STREAM_SYN_SENT)
		error = socket_wait(socket);
	if (error == -EAGAIN)
		return is_new ? -EINPROGRESS : -EALREADY;
	return error ? error : socket_take_error(socket);
}

static int stream_listen(struct socket *socket, unsigned backlog)
{
	struct stream *stream = &socket->stream;
	int error;

	if (stream->state != STREAM_CLOSED && stream->state != STREAM_LISTEN)
		return -EINVAL;
	error = socket_need_port(socket);
	if (error)
		return error;
	stream->backlog = backlog < 1 ? 1 : backlog < BACKLOG_MAX ? backlog : BACKLOG_MAX;
	if (stream->state == STREAM_CLOSED)
		stream_set_state(socket, STREAM_LISTEN);
	return 0;
}

/* Returns the oldest connection of the listener that has not been accepted yet, or NULL. */
static struct socket *first_waiting(const struct socket *listener)
{
	struct socket *first = NULL;

	for (struct socket *s = sockets; s < sockets + SOCKETS_MAX; s++)
		if (s->number != 0 && s->stream.listener == listener &&
		    s->stream.state != STREAM_SYN_RECEIVED && (!first || s->number < first->number))
			first = s;
	return first;
}

static int stream_accept(struct socket *socket, struct socket **connection)
{
	int error;

	for (;;) {
		if (socket->stream.state != STREAM_LISTEN)
			return -EINVAL;
		*connection = first_waiting(socket);
		if (*connection)
			break;
		error = socket_wait(socket);
		if (error)
			return error;
	}
	(*connection)->stream.listener = NULL;
	return 0;
}

/* ---- Sending and receiving data ---------------------------------------------------------------- */

/* Returns true if the socket was never connected, or is listening. */
static bool is_unconnected(const struct socket *socket)
{
	return socket->peer_port == 0 || socket->stream.state == STREAM_LISTEN;
}

static int broken_pipe(void)
{
	if (process_self())
		signal_send_thread(thread_self(), SIGPIPE, SI_KERNEL);
	return -EPIPE;
}

/*
 * Waits until the peer accepts a full segment, or `size` bytes if that is less than a full segment. Returns
 * the number of bytes of the segment to send, or -errno.
 */
static int64_t wait_for_window(struct socket *socket, size_t size)
{
	size_t want = size < STREAM_SEGMENT_BYTES ? size : STREAM_SEGMENT_BYTES;

	for (;;) {
		struct stream *stream = &socket->stream;
		int error = socket_take_error(socket);

		if (!error && is_unconnected(socket))
			error = -ENOTCONN;
		if (!error && stream->state != STREAM_SYN_SENT && !stream_may_send(stream))
			error = broken_pipe();
		if (!error && stream_may_send(stream) && stream_window(stream) >= want)
			return (int64_t)want;
		if (!error)
			error = socket_wait(socket);
		if (error)
			return error;
	}
}

/* Sends one segment. No data is buffered for sending: if the peer has no room for it, the caller waits. */
static int64_t send_segment(struct socket *socket, uintptr_t from, size_t size)
{
	int64_t bytes = wait_for_window(socket, size);
	struct packet *packet;
	int error;

	if (bytes < 0)
		return bytes;
	packet = packet_alloc();
	if (!packet)
		return -ENOBUFS;
	error = socket_copy_in(stream_data(packet), from, (size_t)bytes);
	if (error) {
		packet_free(packet);
		return error;
	}
	stream_transmit(socket, packet, STREAM_ACK, (size_t)bytes);
	return bytes;
}

static int64_t stream_send(struct socket *socket, uintptr_t from, size_t size, const struct abi_sockaddr *to)
{
	size_t done = 0;

	if (to)
		return is_unconnected(socket) ? -EOPNOTSUPP : -EISCONN;
	while (done < size) {
		int64_t sent = send_segment(socket, from + done, size - done);

		if (sent < 0)
			return done ? (int64_t)done : sent;
		done += (size_t)sent;
	}
	return (int64_t)done;
}

/*
 * Reports the free buffer space to the peer if it has grown by at least a full segment since the last report.
 * If there is no memory for the packet, the connection is aborted, because otherwise the peer would wait for
 * ever.
 */
static void advertise_window(struct socket *socket)
{
	struct stream *stream = &socket->stream;
	uint32_t offer = stream->expected + (uint32_t)(STREAM_BUFFER_BYTES - stream->count);
	struct packet *packet;

	if (!stream_may_receive(stream) || offer - stream->offered < STREAM_SEGMENT_BYTES)
		return;
	packet = packet_alloc();
	if (packet)
		stream_transmit(socket, packet, STREAM_ACK, 0);
	else
		stream_abort(socket, ENOBUFS);
}

/*
 * Takes bytes from the receive buffer, at most up to the end of the ring. If the bytes cannot be copied to
 * the caller, they remain in the buffer.
 */
static int64_t take_received(struct socket *socket, uintptr_t to, size_t size)
{
	struct stream *stream = &socket->stream;
	size_t bytes = STREAM_BUFFER_BYTES - stream->first;
	int error;

	if (bytes > stream->count)
		bytes = stream->count;
	if (bytes > size)
		bytes = size;
	error = socket_copy_out(to, stream->buffer + stream->first, bytes);
	if (error)
		return error;
	stream->first = (stream->first + bytes) % STREAM_BUFFER_BYTES;
	stream->count -= bytes;
	return (int64_t)bytes;
}

static int64_t receive_all(struct socket *socket, uintptr_t to, size_t size)
{
	size_t done = 0;

	while (done < size && socket->stream.count > 0) {
		int64_t taken = take_received(socket, to + done, size - done);

		if (taken < 0)
			return done ? (int64_t)done : taken;
		done += (size_t)taken;
	}
	return (int64_t)done;
}

static int64_t stream_receive(struct socket *socket, uintptr_t to, size_t size, struct abi_sockaddr *from)
{
	struct stream *stream = &socket->stream;
	int64_t result;

	while (stream->count == 0) {
		int error = socket_take_error(socket);

		if (!error && is_unconnected(socket))
			error = -ENOTCONN;
		if (!error && (socket->reading_over ||
			       (stream->state != STREAM_SYN_SENT && !stream_may_receive(stream))))
			return 0;
		if (!error)
			error = socket_wait(socket);
		if (error)
			return error;
	}
	if (from)
		*from = (struct abi_sockaddr){ AF_INET, socket->peer_port, socket->peer_address };
	result = receive_all(socket, to, size);
	advertise_window(socket);
	return result;
}

/* ---- Closing a connection ---------------------------------------------------------------------- */

static int stream_shutdown(struct socket *socket, int how)
{
	struct stream *stream = &socket->stream;

	if (is_unconnected(socket) || stream->state == STREAM_CLOSED || stream->state == STREAM_SYN_SENT)
		return -ENOTCONN;
	if (how != SHUT_WR) {
		socket->reading_over = true;
		stream->count = 0;
		advertise_window(socket);
	}
	if (how != SHUT_RD && stream_may_send(stream))
		stream_transmit_fin(socket);
	socket_changed(socket);
	return 0;
}

static void reset_all_waiting(const struct socket *listener)
{
	for (struct socket *s = sockets; s < sockets + SOCKETS_MAX; s++)
		if (s->number != 0 && s->stream.listener == listener)
			stream_abort(s, ECONNRESET);
}

static void stream_close(struct socket *socket)
{
	struct stream *stream = &socket->stream;

	if (stream->state == STREAM_LISTEN)
		reset_all_waiting(socket);
	if (stream->state == STREAM_CLOSED || stream->state == STREAM_LISTEN ||
	    stream->state == STREAM_SYN_SENT)
		stream_fail(socket, 0);
	else if (stream->count > 0)
		/*
		 * Unread data is lost: reset the connection, so that the peer does not assume that all data
		 * was read.
		 */
		stream_abort(socket, 0);
	else if (stream_may_send(stream))
		stream_transmit_fin(socket);
	else
		stream_renew_deadline(socket);
}

/* ---- Poll -------------------------------------------------------------------------------------- */

static size_t stream_readable(struct socket *socket)
{
	return socket->stream.count;
}

static unsigned stream_poll(struct socket *socket)
{
	const struct stream *stream = &socket->stream;
	unsigned events = socket->error ? POLLERR : 0;

	if (stream->state == STREAM_LISTEN)
		return first_waiting(socket) ? POLLIN : 0;
	if (stream->state == STREAM_SYN_SENT)
		return events;
	if (stream->state == STREAM_CLOSED)
		events |= POLLHUP;
	if (stream->count > 0 || socket->reading_over || !stream_may_receive(stream))
		events |= POLLIN;
	if (!stream_may_send(stream) || stream_window(stream) >= STREAM_SEGMENT_BYTES)
		/* If no data may be sent any more, write() does not wait, but returns an error. */
		events |= POLLOUT;
	return events;
}

const struct socket_type stream_type = {
	.connect = stream_connect,
	.listen = stream_listen,
	.accept = stream_accept,
	.send = stream_send,
	.receive = stream_receive,
	.shutdown = stream_shutdown,
	.readable = stream_readable,
	.poll = stream_poll,
	.close = stream_close,
};
