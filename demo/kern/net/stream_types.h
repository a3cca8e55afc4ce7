/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef DEMO_NET_STREAM_TYPES_H
#define DEMO_NET_STREAM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packet;
struct socket;

/* TCP's. The numbers show in the trace. */
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

/* A stream socket's own part. Sequence numbers wrap around. */
struct stream {
	enum stream_state state;
	uint32_t unacknowledged; /* the first we have sent and the peer has not acknowledged */
	uint32_t next;		 /* the next that we send */
	uint32_t limit;		 /* up to here, exclusively, the peer takes what we send */
	uint32_t expected;	 /* the next from the peer */
	uint32_t offered;	 /* up to here, exclusively, we have told the peer to send */
	uint8_t *buffer;	 /* received, a ring; NULL until there is a connection */
	size_t first, count;
	struct packet *reserve; /* so that the last word (FIN, RST) can be said without memory */
	uint64_t deadline_ns; /* the peer is asked for a sign of life, given up, or TIME_WAIT over; 0: none */
	bool asked;
	struct socket *listener; /* of a connection that nobody has accepted yet */
	unsigned backlog;	 /* of a listener: such connections at most */
};

#endif
