/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef DEMO_NET_STREAM_TYPES_H
#define DEMO_NET_STREAM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packet;
struct socket;

/* The states of TCP. The trace contains these numbers, so they must not change. */
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

/* The fields of a socket that only streams use. Sequence numbers wrap around at 2^32. */
struct stream {
	enum stream_state state;
	/* Sequence number of the first byte that was sent but not acknowledged by the peer. */
	uint32_t unacknowledged;
	uint32_t next;	   /* sequence number of the next byte to send */
	uint32_t limit;	   /* sequence number after the last byte that the peer accepts */
	uint32_t expected; /* sequence number of the next byte expected from the peer */
	uint32_t offered;  /* sequence number after the last byte that we have offered to accept */
	uint8_t *buffer;   /* ring buffer for received data; NULL before the connection is prepared */
	size_t first, count;
	/* Reserved packet for the final FIN or RST, used if no other packet can be allocated. */
	struct packet *reserve;
	/*
	 * Time at which the timeout of the connection's state ends; 0: no timeout. The connection then sends
	 * a keep-alive probe, is aborted, or leaves TIME_WAIT.
	 */
	uint64_t deadline_ns;
	bool keep_alive_sent;
	/* The listener, if no program has accepted this connection yet; otherwise NULL. */
	struct socket *listener;
	/* For a listener: maximum number of its connections that no program has accepted yet. */
	unsigned backlog;
};

#endif
