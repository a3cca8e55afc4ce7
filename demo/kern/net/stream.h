/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The stream protocol: TCP's header, handshake, sequence numbers, acknowledgements, window, FIN, RST and
 * states. It has no retransmission, reordering, congestion control or options, because the loopback device
 * loses nothing. If a frame is lost nevertheless, a gap in the sequence numbers or a timeout ends the
 * connection. A peer that is silent for long gets a keep-alive probe.
 *
 * stream.c implements the system calls, stream_input.c handles arriving segments, stream_output.c sends
 * segments and handles deadlines and the end of connections. Requires: network lock held, unless noted
 * otherwise.
 */
#ifndef DEMO_NET_STREAM_H
#define DEMO_NET_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/ip.h"
#include "net/packet.h"
#include "net/sockets.h"

/* Two ports, sequence number, acknowledgement, header size << 4, flags, window, checksum, two bytes of 0. */
#define STREAM_HEADER_BYTES  20
#define STREAM_SEGMENT_BYTES (IP_PAYLOAD_BYTES - STREAM_HEADER_BYTES) /* maximum data of a segment */
/* Size of a connection's receive buffer. */
#define STREAM_BUFFER_BYTES 16384

enum stream_flag { STREAM_FIN = 1, STREAM_SYN = 2, STREAM_RST = 4, STREAM_ACK = 16 };

/* Returns the flags of a frame, for the trace; 0 if the frame does not belong to this protocol. */
static inline uint8_t stream_flags(const struct packet *packet)
{
	return ip_protocol(packet) == IP_STREAM ? packet->frame[IP_HEADER_BYTES + 13] : 0;
}

/* Returns the address of a segment's data. */
static inline uint8_t *stream_data(struct packet *packet)
{
	return ip_payload(packet) + STREAM_HEADER_BYTES;
}

/* Returns true if data may be sent: after the handshake and before our FIN. */
bool stream_may_send(const struct stream *stream);
/* Returns true if data may still arrive. */
bool stream_may_receive(const struct stream *stream);

/* Returns true if the socket was closed and remains only for the orderly end of its connection. */
bool stream_is_orphan(const struct socket *socket);

/* Returns the number of bytes that the peer accepts now. */
static inline size_t stream_window(const struct stream *stream)
{
	return stream->limit - stream->next;
}

/* Handles a segment that arrived. Takes ownership of the packet. */
void stream_input(struct packet *packet);

/* Allocates what a connection needs and chooses the first sequence number. Returns false if out of memory. */
bool stream_prepare(struct socket *socket);

void stream_set_state(struct socket *socket, enum stream_state state);

/* Sends a segment; its data is in the packet already. Takes ownership of the packet. */
void stream_transmit(struct socket *socket, struct packet *packet, unsigned flags, size_t bytes);

/* Sends our FIN and enters the state after it. */
void stream_transmit_fin(struct socket *socket);

/* Replies with RST to a segment that belongs to no connection. Takes ownership of the packet. */
void stream_refuse(struct packet *packet);

/*
 * End a connection. stream_abort() notifies the peer by RST; stream_fail() does not notify it. `error` is
 * reported to the program that owns the socket. The socket may be freed.
 */
void stream_fail(struct socket *socket, int error);
void stream_abort(struct socket *socket, int error);

/*
 * Restarts the timeout of the connection's state. Called when a segment has arrived, or when an answer is
 * expected from now on.
 */
void stream_renew_deadline(struct socket *socket);

/*
 * Returns the earliest deadline of all connections, or a time before it; WAIT_FOR_EVER if there is no
 * deadline. Any context.
 */
uint64_t stream_next_deadline(void);

/* Handles the connections whose deadline has passed. */
void stream_expire(void);

#endif
