/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Packets of SPE in words: what each bit and subclass means. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "hwt/spe_packet.h"

struct words {
	char *text;
	size_t size, used;
};

/* A word, behind a space where one stands before it; what does not fit is cut. */
__attribute__((format(printf, 2, 3))) static void say(struct words *words, const char *format, ...)
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

static void say_if(struct words *words, uint64_t bits, const char *word)
{
	if (bits)
		say(words, "%s", word);
}

/* By bit, as in PMSEVFR_EL1; what an implementation defines for itself has no name. */
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

static void say_events(struct words *words, uint64_t events)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(events >> bit & 1))
			continue;
		if (event_names[bit])
			say(words, "%s", event_names[bit]);
		else
			say(words, "event-%u", bit);
	}
}

/* Vector lengths of SVE: 32 << EVL bits. */
static void say_vector(struct words *words, uint8_t operation)
{
	say(words, "evl=%u", 32u << (operation >> 4 & 7));
	say_if(words, operation & 4, "predicated");
}

static void say_other(struct words *words, uint8_t operation)
{
	if ((operation & 0x89) == 0x08) {
		say(words, "sve");
		say_vector(words, operation);
		say_if(words, operation & 2, "float");
	} else if ((operation & 0x89) == 0x88) {
		/* The tile's size takes up the bits of EVL, and bit 2. */
		say(words, "sme ets=%u", 128u << ((operation >> 3 & 0xe) | (operation >> 2 & 1)));
		say_if(words, operation & 2, "float");
	} else if ((operation & 0xfe) == 0x00) {
		say(words, "other");
		say_if(words, operation & 1, "conditional");
	} else if ((operation & 0xfc) == 0x04) {
		say(words, "simd-fp");
		say_if(words, operation & 2, "float");
		say_if(words, operation & 1, "conditional");
	} else {
		say(words, "subclass=0x%02x", operation);
	}
}

/* Subclasses by bits 7:1; those with bits of their own are told apart before. */
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

static void say_memory(struct words *words, uint8_t operation)
{
	const char *subclass = memory_subclass(operation);

	say(words, "%s", operation & 1 ? "store" : "load");
	if (subclass) {
		say(words, "%s", subclass);
	} else if ((operation & 0xe2) == 0x02) {
		say(words, "extended");
		say_if(words, operation & 4, "atomic");
		say_if(words, operation & 8, "exclusive");
		say_if(words, operation & 16, "ordered");
	} else if ((operation & 0x0a) == 0x08) {
		say(words, "sve");
		say_vector(words, operation);
		say_if(words, operation & 0x80, "gather-scatter");
	} else {
		say(words, "subclass=0x%02x", operation);
	}
}

static void say_branch(struct words *words, uint8_t operation)
{
	static const char *const kinds[4] = { NULL, "call", "return", "jump" };

	say(words, "branch");
	say_if(words, operation & 1, "conditional");
	say_if(words, operation & 2, "indirect");
	say_if(words, operation & 4, "gcs");
	if (kinds[operation >> 3 & 3])
		say(words, "%s", kinds[operation >> 3 & 3]);
	if (operation & 0xe0)
		say(words, "subclass=0x%02x", operation);
}

static void say_operation(struct words *words, const struct spe_packet *packet)
{
	switch (packet->index) {
	case SPE_CLASS_OTHER:
		say_other(words, (uint8_t)packet->payload);
		break;
	case SPE_CLASS_MEMORY:
		say_memory(words, (uint8_t)packet->payload);
		break;
	case SPE_CLASS_BRANCH:
		say_branch(words, (uint8_t)packet->payload);
		break;
	default:
		say(words, "class=%u subclass=0x%02x", packet->index, (unsigned)packet->payload);
	}
}

static void say_address(struct words *words, const struct spe_packet *packet)
{
	uint64_t payload = packet->payload;

	say(words, "0x%" PRIx64, spe_packet_address(packet));
	switch (packet->index) {
	case SPE_ADDRESS_PC:
	case SPE_ADDRESS_TARGET:
	case SPE_ADDRESS_PREVIOUS_TARGET:
		say(words, "el%u ns=%u", spe_packet_level(packet), spe_packet_not_secure(packet));
		say_if(words, payload >> 60 & 1, "nse");
		break;
	case SPE_ADDRESS_DATA_VIRTUAL:
		say(words, "tag=0x%02x", (unsigned)(payload >> 56));
		break;
	case SPE_ADDRESS_DATA_PHYSICAL:
		say(words, "ns=%u", spe_packet_not_secure(packet));
		say_if(words, payload >> 60 & 1, "nse");
		if (payload >> 62 & 1)
			say(words, "checked=0x%x", (unsigned)(payload >> 56 & 0xf));
		break;
	default:
		say(words, "index=%u", packet->index);
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
		say_events(&words, packet->payload);
		break;
	case SPE_OPERATION:
		say_operation(&words, packet);
		break;
	case SPE_ADDRESS:
		say_address(&words, packet);
		break;
	case SPE_CONTEXT:
		say(&words, "el%u 0x%" PRIx64, packet->index + 1, packet->payload);
		break;
	case SPE_COUNTER:
		say(&words, "%" PRIu64, packet->payload);
		if (packet->index >= COUNT(counter_names))
			say(&words, "index=%u", packet->index);
		break;
	case SPE_SOURCE:
		say(&words, "0x%" PRIx64, packet->payload);
		break;
	case SPE_RESERVED:
		say(&words, "header=0x%02x 0x%" PRIx64, packet->header, packet->payload);
		break;
	default:
		say(&words, "%" PRIu64, packet->payload);
	}
}
