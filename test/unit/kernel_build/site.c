/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A function that records one event, and the same function without the event. */
#include <ktrace/ktrace.h>

KTRACE_EVENT(test, five, "%u %u %u %u %s", (uint32_t, a), (uint32_t, b), (uint32_t, c), (uint32_t, d),
	     (const char *, e));
KTRACE_EVENT(test, four, "%u %u %llu", (uint32_t, a), (uint32_t, b), (unsigned long long, c));

unsigned not_called(void);
void site(uint32_t a, uint32_t b, uint64_t c);
void site_out(uint32_t a, const char *text);
void nothing(uint32_t a, const char *text);

void site(uint32_t a, uint32_t b, uint64_t c)
{
	KTRACE(test, four, a, b, c);
}

void site_out(uint32_t a, const char *text)
{
	(void)a;
	(void)text;
	KTRACE(test, five, a, not_called(), 3, 4, text);
	KTRACE_IF(not_called() > 3, test, four, a, 2, 3);
	KTRACE_EARLY(test, four, a, 2, 3);
	KTRACE_TEXT("%s", text);
}

void nothing(uint32_t a, const char *text)
{
	(void)a;
	(void)text;
}
