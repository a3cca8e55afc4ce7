/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The only network device: the network thread receives all frames that are sent, in the order of sending. */
#ifndef DEMO_NET_LOOPBACK_H
#define DEMO_NET_LOOPBACK_H

#include "net/packet.h"

/* Starts the network thread. With the boot argument lose=N, every Nth frame is lost. */
void loopback_init(void);

/* Sends a packet and takes ownership of it. Any context. */
void loopback_transmit(struct packet *packet);

/* Wakes the network thread, which then checks stream_next_deadline() again. Any context. */
void loopback_wake(void);

#endif
