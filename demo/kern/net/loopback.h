/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The only network device. Frames that are sent come back, in order, and are received by the network thread.
 */
#ifndef DEMO_NET_LOOPBACK_H
#define DEMO_NET_LOOPBACK_H

#include "net/packet.h"

/* Starts the network thread. The boot argument lose=N loses each Nth frame. */
void loopback_init(void);

/* Sends a packet and takes ownership of it. Any context. */
void loopback_transmit(struct packet *packet);

/* Makes the network thread check stream_next_deadline again. Any context. */
void loopback_wake(void);

#endif
