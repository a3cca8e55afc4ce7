/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef DEMO_NET_STREAM_TYPES_H
#define DEMO_NET_STREAM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packet;
struct socket;

/* The states of TCP. The trace contains these numbers. */
enum stream_state {
	STREAM_CLOSED,
	STREAM_LISTEN,
	STREAM_SYN_SENT,
	STREAM_SYN_RECEIVED,
	STREAM_ESTABLISHED,
	STREAM_FIN_WAIT_1,
	STREAM_FIN_WAIT_2,
	STREAM_CLOSE_WAIT,
	STREAM_CLOSING,
	STREAM_LAST_ACK,
	STREAM_TIME_WAIT,
};

/* The part of a socket that belongs to streams. Sequence numbers wrap around. */
struct stream {
	enum stream_state state;
	uint32_t unacknowledged; /* first byte sent that the peer has not acknowledged */
	uint32_t next;		 /* next byte to send */
	uint32_t limit;		 /* end (exclusive) of the bytes that the peer accepts */
	uint32_t expected;	 /* next byte expected from the peer */
	uint32_t offered;	 /* end (exclusive) of the bytes that we have offered to accept */
	uint8_t *buffer;	 /* ring of received data; NULL before the connection is made */
	size_t first, count;
	/* packet for the final FIN or RST, used if no other packet can be allocated */
	struct packet *reserve;
	/*
	 * Time when the timeout of the connection's state ends (keep-alive, abort, or end of TIME_WAIT); 0:
	 * never.
	 */
	uint64_t deadline_ns;
	bool keep_alive_sent;
	struct socket *listener; /* listener of a connection that no program has accepted yet */
	/* For a listener: maximum number of connections that no program has accepted yet. */
	unsigned backlog;
};

#endif
