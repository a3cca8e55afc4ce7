/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ICMP. The only supported message is "port unreachable", for a UDP port without a socket. Requires: network
 * lock held. Both functions take ownership of the packet.
 */
#ifndef DEMO_NET_ICMP_H
#define DEMO_NET_ICMP_H

#include "net/packet.h"

/* Replies "port unreachable" to a datagram for which there is no socket. */
void icmp_refuse(struct packet *packet);

void icmp_input(struct packet *packet);

#endif
