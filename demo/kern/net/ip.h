/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * IPv4 without options and fragments, for packets between addresses 127.x.y.z of this machine. Requires:
 * network lock held.
 */
#ifndef DEMO_NET_IP_H
#define DEMO_NET_IP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/bytes.h"
#include "net/packet.h"

#define IP_HEADER_BYTES	 20
#define IP_PAYLOAD_BYTES (PACKET_BYTES - IP_HEADER_BYTES)

enum ip_protocol { IP_ICMP = 1, IP_STREAM = 6, IP_UDP = 17 };

/* Returns true if the address belongs to this machine. Packets cannot be sent to any other address. */
static inline bool ip_is_here(uint32_t address)
{
	return address >> 24 == 127;
}

static inline uint8_t ip_protocol(const struct packet *packet)
{
	return packet->frame[9];
}

static inline uint32_t ip_source(const struct packet *packet)
{
	return get32(packet->frame + 12);
}

static inline uint32_t ip_destination(const struct packet *packet)
{
	return get32(packet->frame + 16);
}

static inline uint8_t *ip_payload(struct packet *packet)
{
	return packet->frame + IP_HEADER_BYTES;
}

static inline size_t ip_payload_bytes(const struct packet *packet)
{
	return packet->length - IP_HEADER_BYTES;
}

/*
 * Return the source or destination port of a UDP or stream packet, 0 for an ICMP packet. UDP and the stream
 * protocol have the ports at the same offset.
 */
static inline uint16_t ip_source_port(const struct packet *packet)
{
	return ip_protocol(packet) == IP_ICMP ? 0 : get16(packet->frame + IP_HEADER_BYTES);
}

static inline uint16_t ip_destination_port(const struct packet *packet)
{
	return ip_protocol(packet) == IP_ICMP ? 0 : get16(packet->frame + IP_HEADER_BYTES + 2);
}

/* Writes the IP header of a packet whose payload has `bytes` bytes. */
void ip_header(struct packet *packet, enum ip_protocol protocol, size_t bytes, uint32_t from, uint32_t to);

/*
 * Returns the Internet checksum of n bytes. If the bytes include their own checksum and are intact, the
 * result is 0.
 */
uint16_t ip_checksum(const uint8_t *at, size_t n);

/* Returns the checksum of a UDP or stream packet, over payload, addresses, protocol and length. */
uint16_t ip_payload_checksum(const struct packet *packet);

/* Passes a received packet to the protocol that it belongs to. Takes ownership of the packet. */
void ip_input(struct packet *packet);

#endif
