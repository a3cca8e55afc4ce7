/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Of ICMP only this: nobody listens at that UDP port. Network lock held; both take the packet. */
#ifndef DEMO_NET_ICMP_H
#define DEMO_NET_ICMP_H

#include "net/packet.h"

/* Answers a datagram that nobody wants. */
void icmp_refuse(struct packet *packet);

void icmp_input(struct packet *packet);

#endif
