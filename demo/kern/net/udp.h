/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* UDP. Requires: network lock held. */
#ifndef DEMO_NET_UDP_H
#define DEMO_NET_UDP_H

#include <stdint.h>

#include "net/packet.h"

/* Handles a received datagram. Takes ownership of the packet. */
void udp_input(struct packet *packet);

/* Reports an error to the socket that sent a datagram with these addresses: no socket receives it. */
void udp_refused(uint32_t from, uint16_t from_port, uint32_t to, uint16_t to_port);

#endif
