/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "hwt/spe_packet.h"

#define HEADER_PAD 0x00
#define HEADER_END 0x01
#define HEADER_EXTENDED \
	0x20 /* bits 1:0 are bits 4:3 of the index; the next byte is as a header of one byte */
#define ADDRESS_BITS	     56
#define ADDRESS_MASK	     ((UINT64_C(1) << ADDRESS_BITS) - 1)
#define ADDRESS_TOP_BIT	     (UINT64_C(1) << (ADDRESS_BITS - 1))
#define PAYLOAD_SIZE(header) (1u << ((header) >> 4 & 3))

struct shape {
	uint8_t mask, value; /* of the header */
	uint8_t kind;
	uint8_t index_mask;
};

static const struct shape shapes[] = {
	{ 0xff, 0x71, SPE_TIMESTAMP, 0 }, { 0xcf, 0x42, SPE_EVENTS, 0 },  { 0xcf, 0x43, SPE_SOURCE, 0 },
	{ 0xfc, 0x48, SPE_OPERATION, 3 }, { 0xfc, 0x64, SPE_CONTEXT, 3 }, { 0xf8, 0xb0, SPE_ADDRESS, 7 },
	{ 0xc8, 0x88, SPE_COUNTER, 7 },
};

static const struct shape *find_shape(uint8_t header)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		if ((header & shapes[i].mask) == shapes[i].value)
			return &shapes[i];
	return NULL;
}

/* One byte, or as many as it takes to the next multiple of 2, 4, … 65536. */
static int read_alignment(uint8_t header, size_t size, uint64_t position, struct spe_packet *packet)
{
	uint64_t unit = UINT64_C(2) << (header & 0xf);
	uint64_t skipped = unit - (position & (unit - 1));

	packet->kind = SPE_ALIGN;
	packet->header = header;
	packet->payload = unit;
	packet->size = (uint32_t)(skipped < 2 ? unit + skipped : skipped);
	return packet->size <= size ? (int)packet->size : SPE_CUT;
}

static int read_payload(const unsigned char *bytes, size_t size, size_t head, struct spe_packet *packet)
{
	size_t payload = PAYLOAD_SIZE(packet->header);

	packet->size = (uint32_t)(head + payload);
	if (size < packet->size)
		return SPE_CUT;
	for (size_t i = payload; i-- > 0;)
		packet->payload = packet->payload << 8 | bytes[head + i];
	return (int)packet->size;
}

int spe_packet_read(const unsigned char *bytes, size_t size, uint64_t position, struct spe_packet *packet)
{
	const struct shape *shape;
	size_t head = 1;

	*packet = (struct spe_packet){ .size = 1 };
	if (size == 0)
		return SPE_CUT;
	packet->header = bytes[0];
	if (bytes[0] == HEADER_PAD || bytes[0] == HEADER_END) {
		packet->kind = bytes[0] == HEADER_PAD ? SPE_PAD : SPE_END;
		return 1;
	}
	if ((bytes[0] & 0xf0) == HEADER_EXTENDED) {
		if (size == 1)
			return SPE_CUT;
		if (bytes[1] == 0)
			return read_alignment(bytes[0], size, position, packet);
		if (bytes[0] & 0x0c)
			return SPE_WRONG;
		packet->header = bytes[1];
		packet->index = (uint8_t)((bytes[0] & 3) << 3);
		head = 2;
	}
	if (packet->header >> 6 == 0)
		return SPE_WRONG;
	shape = find_shape(packet->header);
	packet->kind = shape ? shape->kind : SPE_RESERVED;
	packet->index |= shape ? packet->header & shape->index_mask : 0;
	return read_payload(bytes, size, head, packet);
}

uint64_t spe_packet_address(const struct spe_packet *packet)
{
	uint64_t address = packet->payload & ADDRESS_MASK;

	if (packet->index != SPE_ADDRESS_DATA_PHYSICAL && address & ADDRESS_TOP_BIT)
		address |= ~ADDRESS_MASK;
	return address;
}

uint8_t spe_packet_level(const struct spe_packet *packet)
{
	return packet->payload >> 61 & 3;
}

uint8_t spe_packet_not_secure(const struct spe_packet *packet)
{
	return packet->payload >> 63;
}
