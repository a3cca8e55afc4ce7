/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The stream protocol: TCP's header, handshake, sequence numbers, acknowledgement, window, FIN, RST and states. It
 * leaves out what a device that loses nothing has no need of: retransmission, reordering, congestion control, options.
 * A frame that is lost all the same ends the connection: a gap shows, or somebody's patience ends. A peer that is silent
 * for long is asked whether it is still there.
 *
 * stream.c is what calls do, stream_input.c what arriving segments do, stream_output.c what both send and when a
 * connection ends. Network lock held, but where noted.
 */
#ifndef DEMO_NET_STREAM_H
#define DEMO_NET_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/ip.h"
#include "net/packet.h"
#include "net/sockets.h"

/* ports from and to, sequence number, acknowledgement, header size << 4, flags, window, checksum, 0 */
#define STREAM_HEADER_BYTES  20
#define STREAM_SEGMENT_BYTES (IP_PAYLOAD_BYTES - STREAM_HEADER_BYTES) /* data at most */
#define STREAM_BUFFER_BYTES  16384				      /* of received data, a connection */

enum stream_flag { STREAM_FIN = 1, STREAM_SYN = 2, STREAM_RST = 4, STREAM_ACK = 16 };

/* Of a frame, for the trace; 0 if it is none of ours. */
static inline uint8_t stream_flags(const struct packet *packet)
{
	return ip_protocol(packet) == IP_STREAM ? packet->frame[IP_HEADER_BYTES + 13] : 0;
}

/* Where a segment's data lies. */
static inline uint8_t *stream_data(struct packet *packet)
{
	return ip_payload(packet) + STREAM_HEADER_BYTES;
}

/* What of a socket's state follows from its number. */
bool stream_may_send(const struct stream *stream); /* data: neither before the handshake nor after our FIN */
bool stream_may_receive(const struct stream *stream); /* data may still come */

/* Was closed, and only sees to an orderly end. */
bool stream_is_orphan(const struct socket *socket);

/* What the peer takes of us now. */
static inline size_t stream_window(const struct stream *stream)
{
	return stream->limit - stream->next;
}

/* A segment that arrived; takes the packet. */
void stream_input(struct packet *packet);

/* Gives a socket what a connection needs, and a first sequence number. False: no memory. */
bool stream_equip(struct socket *socket);

void stream_set_state(struct socket *socket, enum stream_state state);

/* Sends a segment with the data that lies in the packet already; takes the packet. */
void stream_transmit(struct socket *socket, struct packet *packet, unsigned flags, size_t bytes);

/* Sends our FIN and goes on to the state behind it. */
void stream_transmit_fin(struct socket *socket);

/* Answers a segment that belongs nowhere with a RST; takes the packet. */
void stream_refuse(struct packet *packet);

/* The connection is over: by the peer, or by us, and then it is told. error is for the owner; the socket may be freed. */
void stream_fail(struct socket *socket, int error);
void stream_abort(struct socket *socket, int error);

/* The peer has been heard; or from now on it has to be. */
void stream_renew_deadline(struct socket *socket);

/* The earliest of all deadlines, or an earlier time; WAIT_FOR_EVER: none. Any context. */
uint64_t stream_next_deadline(void);

/* Ends what has been waiting too long. */
void stream_expire(void);

#endif
