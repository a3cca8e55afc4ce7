/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The largest possible events. Tests check the size of the stack frames of functions that record them. */
#include <ktrace/ktrace.h>

KTRACE_EVENT(large, sixteen, "%u %u %u %u %u %u %u %u %u %u %u %u %u %u %u %s", (uint32_t, a), (uint32_t, b),
	     (uint32_t, c), (uint32_t, d), (uint32_t, e), (uint32_t, f), (uint32_t, g), (uint32_t, h),
	     (uint32_t, i), (uint32_t, j), (uint32_t, k), (uint32_t, l), (uint32_t, m), (uint32_t, n),
	     (uint32_t, o), (const char *, p));

void site_declared(uint32_t a, const char *text);
void site_early(uint32_t a, const char *text);
void site_text(uint32_t a, const char *text);

void site_declared(uint32_t a, const char *text)
{
	KTRACE(large, sixteen, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, text);
}

void site_early(uint32_t a, const char *text)
{
	KTRACE_EARLY(large, sixteen, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, text);
}

void site_text(uint32_t a, const char *text)
{
	KTRACE_TEXT("%u %u %u %u %u %u %u %u %u %u %u %u %u %u %u %s", a, a, a, a, a, a, a, a, a, a, a, a, a,
		    a, a, text);
}
