/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The only network device. The network thread receives all frames that are sent, in the same order.
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
