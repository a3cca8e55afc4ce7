/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdbool.h>

#include <ktrace/ktrace.h>
#include <ktrx/v1.h>

#include "net/bytes.h"
#include "net/dns.h"

KTRACE_EVENT_V1(KTRX1_NET_DNS_QUERY, net, dns_query, "%u for %s", (uint16_t, id), (const char *, name));
KTRACE_EVENT(net, dns_answer, "%u: %u answers, code %u, for %s", (uint16_t, id), (uint16_t, answers),
	     (uint8_t, code), (const char *, name));

#define DNS_PORT 53
/* Size of id, flags, and the numbers of questions, answers, authorities and additional records. */
#define HEADER_BYTES 12
#define IS_ANSWER    0x8000
#define CODE	     0x000f
#define LABEL_MAX    63
#define NAME_BYTES   64 /* size of the buffer for a name, including the NUL; longer names are truncated */

/*
 * Copies the name of the first question, with dots between labels. Truncates the name if it does not fit, or
 * if it extends beyond the end of the message.
 */
static void read_name(char *name, const uint8_t *message, size_t bytes)
{
	size_t at = HEADER_BYTES, length = 0;

	while (at < bytes && message[at] != 0 && message[at] <= LABEL_MAX) {
		size_t label = message[at++];

		if (length > 0 && length + 1 < NAME_BYTES)
			name[length++] = '.';
		for (; label > 0 && at < bytes; label--, at++)
			if (length + 1 < NAME_BYTES)
				name[length++] = (char)message[at];
	}
	name[length] = '\0';
}

void dns_watch(uint16_t from_port, uint16_t to_port, const uint8_t *message, size_t bytes)
{
	char name[NAME_BYTES];
	uint16_t flags;

	if ((from_port != DNS_PORT && to_port != DNS_PORT) || bytes < HEADER_BYTES)
		return;
	read_name(name, message, bytes);
	flags = get16(message + 2);
	if (to_port == DNS_PORT && !(flags & IS_ANSWER))
		KTRACE(net, dns_query, get16(message), name);
	else if (from_port == DNS_PORT && (flags & IS_ANSWER))
		KTRACE(net, dns_answer, get16(message), get16(message + 6), flags & CODE, name);
}
