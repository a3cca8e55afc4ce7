/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "net/icmp.h"
#include "net/ip.h"
#include "net/stream.h"
#include "net/udp.h"
#include "string.h"

#define VERSION_AND_HEADER 0x45 /* IP version 4, header size of five 32-bit words */
#define TIME_TO_LIVE	   64

static uint32_t add_words(uint32_t sum, const uint8_t *at, size_t n)
{
	for (; n > 1; at += 2, n -= 2)
		sum += get16(at);
	return n ? sum + (uint32_t)(*at << 8) : sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

uint16_t ip_checksum(const uint8_t *at, size_t n)
{
	return fold(add_words(0, at, n));
}

uint16_t ip_payload_checksum(const struct packet *packet)
{
	size_t bytes = ip_payload_bytes(packet);
	uint32_t sum = ip_protocol(packet) + (uint32_t)bytes;

	sum = add_words(sum, packet->frame + 12, 8); /* adds the words of both addresses to the sum */
	return fold(add_words(sum, packet->frame + IP_HEADER_BYTES, bytes));
}

void ip_header(struct packet *packet, enum ip_protocol protocol, size_t bytes, uint32_t from, uint32_t to)
{
	uint8_t *header = packet->frame;

	packet->length = (uint16_t)(IP_HEADER_BYTES + bytes);
	memset(header, 0, IP_HEADER_BYTES);
	header[0] = VERSION_AND_HEADER;
	put16(header + 2, packet->length);
	header[8] = TIME_TO_LIVE;
	header[9] = (uint8_t)protocol;
	put32(header + 12, from);
	put32(header + 16, to);
	put16(header + 10, ip_checksum(header, IP_HEADER_BYTES));
}

static bool is_sound(const struct packet *packet)
{
	const uint8_t *header = packet->frame;

	return header[0] == VERSION_AND_HEADER && get16(header + 2) == packet->length &&
	       ip_checksum(header, IP_HEADER_BYTES) == 0 && ip_is_here(ip_destination(packet));
}

void ip_input(struct packet *packet)
{
	if (!is_sound(packet))
		packet_drop(packet, "bad IP header");
	else if (ip_protocol(packet) == IP_UDP)
		udp_input(packet);
	else if (ip_protocol(packet) == IP_STREAM)
		stream_input(packet);
	else if (ip_protocol(packet) == IP_ICMP)
		icmp_input(packet);
	else
		packet_drop(packet, "unknown protocol");
}
