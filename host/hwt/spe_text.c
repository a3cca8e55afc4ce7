/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads packets of the Statistical Profiling Extension, and describes them. */
#include "hwt/spe.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define HEADER_PAD 0x00
#define HEADER_END 0x01
/* bits 1:0 are bits 4:3 of the index; the next byte is the main byte of the header */
#define HEADER_EXTENDED	     0x20
#define ADDRESS_BITS	     56
#define ADDRESS_MASK	     ((UINT64_C(1) << ADDRESS_BITS) - 1)
#define ADDRESS_TOP_BIT	     (UINT64_C(1) << (ADDRESS_BITS - 1))
#define PAYLOAD_SIZE(header) (1u << ((header) >> 4 & 3))

struct shape {
	uint8_t mask, value; /* bits of a packet's header */
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

/* Reads an alignment packet: one byte, or padding up to the next multiple of 2, 4, … 65536 bytes. */
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

/* ---- Descriptions of packets ---- */

struct words {
	char *text;
	size_t size, used;
};

/* Appends a word, separated by a space. What does not fit is left out. */
__attribute__((format(printf, 2, 3))) static void put(struct words *words, const char *format, ...)
{
	va_list arguments;
	int length;

	if (words->used && words->used + 1 < words->size)
		words->text[words->used++] = ' ';
	va_start(arguments, format);
	length = vsnprintf(words->text + words->used, words->size - words->used, format, arguments);
	va_end(arguments);
	if (length > 0)
		words->used += (size_t)length < words->size - words->used ? (size_t)length
									  : words->size - words->used - 1;
}

static void put_if(struct words *words, uint64_t bits, const char *word)
{
	if (bits)
		put(words, "%s", word);
}

/* Names of events by bit number, as in PMSEVFR_EL1. Implementation-defined events have no name. */
static const char *const event_names[64] = {
	[0] = "exception",	   [1] = "retired",
	[2] = "l1d-access",	   [3] = "l1d-refill",
	[4] = "tlb-access",	   [5] = "tlb-walk",
	[6] = "not-taken",	   [7] = "mispredicted",
	[8] = "llc-access",	   [9] = "llc-miss",
	[10] = "remote-access",	   [11] = "misaligned",
	[16] = "transactional",	   [17] = "partial-predicate",
	[18] = "empty-predicate",  [19] = "l2d-access",
	[20] = "l2d-miss",	   [21] = "data-modified",
	[22] = "recently-fetched", [23] = "data-snooped",
	[24] = "streaming-sve",	   [25] = "smcu",
};

static void put_events(struct words *words, uint64_t events)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(events >> bit & 1))
			continue;
		if (event_names[bit])
			put(words, "%s", event_names[bit]);
		else
			put(words, "event-%u", bit);
	}
}

/* Writes the SVE vector length, which is 32 << EVL, in bits. */
static void put_vector(struct words *words, uint8_t operation)
{
	put(words, "evl=%u", 32u << (operation >> 4 & 7));
	put_if(words, operation & 4, "predicated");
}

static void put_other(struct words *words, uint8_t operation)
{
	if ((operation & 0x89) == 0x08) {
		put(words, "sve");
		put_vector(words, operation);
		put_if(words, operation & 2, "float");
	} else if ((operation & 0x89) == 0x88) {
		/* the tile size is in the bits of EVL and in bit 2 */
		put(words, "sme ets=%u", 128u << ((operation >> 3 & 0xe) | (operation >> 2 & 1)));
		put_if(words, operation & 2, "float");
	} else if ((operation & 0xfe) == 0x00) {
		put(words, "other");
		put_if(words, operation & 1, "conditional");
	} else if ((operation & 0xfc) == 0x04) {
		put(words, "simd-fp");
		put_if(words, operation & 2, "float");
		put_if(words, operation & 1, "conditional");
	} else {
		put(words, "subclass=0x%02x", operation);
	}
}

/* Returns the name of the subclass in bits 7:1; NULL if these bits are flags, or the subclass is unknown. */
static const char *memory_subclass(uint8_t operation)
{
	switch (operation & 0xfe) {
	case 0x00:
		return "general";
	case 0x04:
		return "simd-fp";
	case 0x10:
		return "unspecified";
	case 0x14:
		return "mte-tag";
	case 0x20:
		return "memcpy";
	case 0x24:
		return "memset";
	case 0x30:
		return "nv-sysreg";
	case 0x40:
		return "gcs";
	case 0x44:
		return "gcs common";
	default:
		return NULL;
	}
}

static void put_memory(struct words *words, uint8_t operation)
{
	const char *subclass = memory_subclass(operation);

	put(words, "%s", operation & 1 ? "store" : "load");
	if (subclass) {
		put(words, "%s", subclass);
	} else if ((operation & 0xe2) == 0x02) {
		put(words, "extended");
		put_if(words, operation & 4, "atomic");
		put_if(words, operation & 8, "exclusive");
		put_if(words, operation & 16, "ordered");
	} else if ((operation & 0x0a) == 0x08) {
		put(words, "sve");
		put_vector(words, operation);
		put_if(words, operation & 0x80, "gather-scatter");
	} else {
		put(words, "subclass=0x%02x", operation);
	}
}

static void put_branch(struct words *words, uint8_t operation)
{
	static const char *const kinds[4] = { NULL, "call", "return", "jump" };

	put(words, "branch");
	put_if(words, operation & 1, "conditional");
	put_if(words, operation & 2, "indirect");
	put_if(words, operation & 4, "gcs");
	if (kinds[operation >> 3 & 3])
		put(words, "%s", kinds[operation >> 3 & 3]);
	if (operation & 0xe0)
		put(words, "subclass=0x%02x", operation);
}

static void put_operation(struct words *words, const struct spe_packet *packet)
{
	switch (packet->index) {
	case SPE_CLASS_OTHER:
		put_other(words, (uint8_t)packet->payload);
		break;
	case SPE_CLASS_MEMORY:
		put_memory(words, (uint8_t)packet->payload);
		break;
	case SPE_CLASS_BRANCH:
		put_branch(words, (uint8_t)packet->payload);
		break;
	default:
		put(words, "class=%u subclass=0x%02x", packet->index, (unsigned)packet->payload);
	}
}

static void put_address(struct words *words, const struct spe_packet *packet)
{
	uint64_t payload = packet->payload;

	put(words, "0x%" PRIx64, spe_packet_address(packet));
	switch (packet->index) {
	case SPE_ADDRESS_PC:
	case SPE_ADDRESS_TARGET:
	case SPE_ADDRESS_PREVIOUS_TARGET:
		put(words, "el%u ns=%u", spe_packet_level(packet), spe_packet_not_secure(packet));
		put_if(words, payload >> 60 & 1, "nse");
		break;
	case SPE_ADDRESS_DATA_VIRTUAL:
		put(words, "tag=0x%02x", (unsigned)(payload >> 56));
		break;
	case SPE_ADDRESS_DATA_PHYSICAL:
		put(words, "ns=%u", spe_packet_not_secure(packet));
		put_if(words, payload >> 60 & 1, "nse");
		if (payload >> 62 & 1)
			put(words, "checked=0x%x", (unsigned)(payload >> 56 & 0xf));
		break;
	default:
		put(words, "index=%u", packet->index);
	}
}

static const char *const kind_names[] = {
	[SPE_PAD] = "pad",	   [SPE_END] = "end",		[SPE_TIMESTAMP] = "timestamp",
	[SPE_EVENTS] = "events",   [SPE_SOURCE] = "source",	[SPE_OPERATION] = "operation",
	[SPE_CONTEXT] = "context", [SPE_COUNTER] = "counter",	[SPE_ADDRESS] = "address",
	[SPE_ALIGN] = "align",	   [SPE_RESERVED] = "reserved",
};

static const char *const address_names[] = {
	[SPE_ADDRESS_PC] = "pc",
	[SPE_ADDRESS_TARGET] = "target",
	[SPE_ADDRESS_DATA_VIRTUAL] = "data-virtual",
	[SPE_ADDRESS_DATA_PHYSICAL] = "data-physical",
	[SPE_ADDRESS_PREVIOUS_TARGET] = "previous-target",
};

static const char *const counter_names[] = {
	[SPE_COUNTER_TOTAL] = "total-latency",
	[SPE_COUNTER_ISSUE] = "issue-latency",
	[SPE_COUNTER_TRANSLATION] = "translation-latency",
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

const char *spe_packet_name(const struct spe_packet *packet)
{
	if (packet->kind == SPE_ADDRESS && packet->index < COUNT(address_names))
		return address_names[packet->index];
	if (packet->kind == SPE_COUNTER && packet->index < COUNT(counter_names))
		return counter_names[packet->index];
	return kind_names[packet->kind];
}

void spe_packet_text(const struct spe_packet *packet, char *text, size_t size)
{
	struct words words = { .text = text, .size = size };

	text[0] = '\0';
	switch (packet->kind) {
	case SPE_PAD:
	case SPE_END:
		break;
	case SPE_EVENTS:
		put_events(&words, packet->payload);
		break;
	case SPE_OPERATION:
		put_operation(&words, packet);
		break;
	case SPE_ADDRESS:
		put_address(&words, packet);
		break;
	case SPE_CONTEXT:
		put(&words, "el%u 0x%" PRIx64, packet->index + 1, packet->payload);
		break;
	case SPE_COUNTER:
		put(&words, "%" PRIu64, packet->payload);
		if (packet->index >= COUNT(counter_names))
			put(&words, "index=%u", packet->index);
		break;
	case SPE_SOURCE:
		put(&words, "0x%" PRIx64, packet->payload);
		break;
	case SPE_RESERVED:
		put(&words, "header=0x%02x 0x%" PRIx64, packet->header, packet->payload);
		break;
	default:
		put(&words, "%" PRIu64, packet->payload);
	}
}
