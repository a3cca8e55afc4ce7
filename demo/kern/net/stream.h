/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The stream protocol is a part of TCP: header, handshake, sequence numbers, acknowledgements, window, FIN,
 * RST and states. It has no retransmission, reordering, congestion control or options, because the loopback
 * device loses nothing. If a frame is lost nevertheless, a gap in the sequence numbers or a timeout ends the
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

/*
 * Header: two ports, sequence number, acknowledgement, header size << 4, flags, window, checksum, two bytes
 * of 0.
 */
#define STREAM_HEADER_BYTES 20
/* Maximum number of data bytes in a segment. */
#define STREAM_SEGMENT_BYTES (IP_PAYLOAD_BYTES - STREAM_HEADER_BYTES)
/* Size of a connection's receive buffer. */
#define STREAM_BUFFER_BYTES 16384

enum stream_flag { STREAM_FIN = 1, STREAM_SYN = 2, STREAM_RST = 4, STREAM_ACK = 16 };

/* Returns the flags of a stream packet, for the trace; 0 for a packet of another protocol. */
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
/* Returns true if the peer may still send data. */
bool stream_may_receive(const struct stream *stream);

/*
 * Returns true if the socket's file has been closed and the socket remains only until its connection has
 * ended properly.
 */
bool stream_is_orphan(const struct socket *socket);

/* Returns the number of bytes that may be sent to the peer now. */
static inline size_t stream_window(const struct stream *stream)
{
	return stream->limit - stream->next;
}

/* Handles a segment that arrived. Takes ownership of the packet. */
void stream_input(struct packet *packet);

/*
 * Allocates the memory that a connection needs, and chooses its first sequence number. Returns false if out
 * of memory.
 */
bool stream_prepare(struct socket *socket);

void stream_set_state(struct socket *socket, enum stream_state state);

/* Sends a segment; the caller has already stored the data in the packet. Takes ownership of the packet. */
void stream_transmit(struct socket *socket, struct packet *packet, unsigned flags, size_t bytes);

/* Sends our FIN and enters the state after it. */
void stream_transmit_fin(struct socket *socket);

/* Replies with RST to a segment that belongs to no connection. Takes ownership of the packet. */
void stream_refuse(struct packet *packet);

/*
 * End a connection. stream_abort() sends RST to the peer; stream_fail() sends nothing. The program that owns
 * the socket gets `error` from its next system call. These functions may free the socket.
 */
void stream_fail(struct socket *socket, int error);
void stream_abort(struct socket *socket, int error);

/*
 * Restarts the timeout that applies in the connection's state. Called when a segment has arrived, and when a
 * segment was sent that the peer must answer.
 */
void stream_renew_deadline(struct socket *socket);

/*
 * Returns the earliest deadline of all connections, or a time before it. Returns WAIT_FOR_EVER if
 * no connection has a deadline. Any context.
 */
uint64_t stream_next_deadline(void);

/* Handles the connections whose deadline has passed. */
void stream_expire(void);

#endif
