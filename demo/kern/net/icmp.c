/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "net/icmp.h"
#include "net/ip.h"
#include "net/loopback.h"
#include "net/udp.h"
#include "string.h"

#define DESTINATION_UNREACHABLE 3
#define PORT_UNREACHABLE	3

/*
 * A message consists of type, code, checksum and four unused bytes (the header), and a quote: the IP header
 * of the datagram that could not be delivered, and the first eight bytes of its payload.
 */
#define HEADER_BYTES  8
#define QUOTED_BYTES  (IP_HEADER_BYTES + 8)
#define MESSAGE_BYTES (HEADER_BYTES + QUOTED_BYTES)

void icmp_refuse(struct packet *packet)
{
	uint32_t asker = ip_source(packet), asked = ip_destination(packet);
	uint8_t *message = ip_payload(packet);

	memmove(message + HEADER_BYTES, packet->frame, QUOTED_BYTES);
	memset(message, 0, HEADER_BYTES);
	message[0] = DESTINATION_UNREACHABLE;
	message[1] = PORT_UNREACHABLE;
	put16(message + 2, ip_checksum(message, MESSAGE_BYTES));
	ip_header(packet, IP_ICMP, MESSAGE_BYTES, asked, asker);
	loopback_transmit(packet);
}

void icmp_input(struct packet *packet)
{
	const uint8_t *message = ip_payload(packet);
	const uint8_t *quoted = message + HEADER_BYTES, *ports = quoted + IP_HEADER_BYTES;

	if (ip_payload_bytes(packet) != MESSAGE_BYTES || ip_checksum(message, MESSAGE_BYTES) != 0 ||
	    message[0] != DESTINATION_UNREACHABLE || message[1] != PORT_UNREACHABLE || quoted[9] != IP_UDP) {
		packet_drop(packet, "unsupported ICMP message");
		return;
	}
	udp_refused(get32(quoted + 12), get16(ports), get32(quoted + 16), get16(ports + 2));
	packet_free(packet);
}
