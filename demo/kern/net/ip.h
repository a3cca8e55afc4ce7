/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* IPv4 without options and fragments, for addresses 127.x.y.z. Network lock held. */
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

/* Can be reached, and be one of ours: there is nothing but this machine. */
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

/* Ports lie in the same place for both protocols that have them; 0 for others. */
static inline uint16_t ip_source_port(const struct packet *packet)
{
	return ip_protocol(packet) == IP_ICMP ? 0 : get16(packet->frame + IP_HEADER_BYTES);
}

static inline uint16_t ip_destination_port(const struct packet *packet)
{
	return ip_protocol(packet) == IP_ICMP ? 0 : get16(packet->frame + IP_HEADER_BYTES + 2);
}

/* Writes the header of a frame with so many bytes of payload. */
void ip_header(struct packet *packet, enum ip_protocol protocol, size_t bytes, uint32_t from, uint32_t to);

/* The Internet checksum of n bytes: 0 over what already holds a right one. */
uint16_t ip_checksum(const uint8_t *at, size_t n);

/* The same of a frame's payload and its addresses, protocol and length: UDP's and the stream protocol's. */
uint16_t ip_payload_checksum(const struct packet *packet);

/* A frame from the device, to where it belongs; takes the packet. */
void ip_input(struct packet *packet);

#endif
