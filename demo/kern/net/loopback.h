/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The one device: what is sent comes back, in order, and is received by the network thread. */
#ifndef DEMO_NET_LOOPBACK_H
#define DEMO_NET_LOOPBACK_H

#include "net/packet.h"

/* Starts the network thread. The boot argument lose=N has every Nth frame go astray. */
void loopback_init(void);

/* Takes the packet. Any context. */
void loopback_transmit(struct packet *packet);

/* Has the network thread look at stream_next_deadline again. Any context. */
void loopback_wake(void);

#endif
