/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/trace_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int trace_parse_number(const char *text, uint64_t limit, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	*number = strtoull(text, &end, 0);
	return errno || *end || *number > limit ? -1 : 0;
}

int trace_parse_time(const char *text, uint64_t *nanoseconds)
{
	static const struct {
		const char *name;
		uint64_t scale;
	} units[] = {
		{ "", 1000000000 }, { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 }
	};
	char *end;
	uint64_t whole, part = 0, digits = 1;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	whole = strtoull(text, &end, 10);
	if (errno)
		return -1;
	if (*end == '.')
		for (end++; *end >= '0' && *end <= '9'; end++)
			if (digits < 1000000000) {
				part = part * 10 + (uint64_t)(*end - '0');
				digits *= 10;
			}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(units[i].name, end) != 0)
			continue;
		if (__builtin_mul_overflow(whole, units[i].scale, nanoseconds))
			return -1;
		return __builtin_add_overflow(*nanoseconds, part * units[i].scale / digits, nanoseconds) ? -1
													 : 0;
	}
	return -1;
}

int trace_parse_ticks(const char *text, uint64_t frequency, int64_t slack, uint64_t *ticks)
{
	unsigned __int128 product;
	uint64_t nanoseconds;

	if (frequency == 0)
		return trace_parse_number(text, UINT64_MAX, ticks);
	if (trace_parse_time(text, &nanoseconds))
		return -1;
	if (slack < 0 && nanoseconds < (uint64_t)-slack)
		nanoseconds = 0;
	else if (slack < 0 || nanoseconds < UINT64_MAX - (uint64_t)slack)
		nanoseconds += (uint64_t)slack;
	product = (unsigned __int128)nanoseconds * frequency / 1000000000u;
	*ticks = product >> 64 ? UINT64_MAX : (uint64_t)product;
	return 0;
}

int trace_parse_cpus(const char *list, uint8_t *map, uint32_t limit)
{
	const char *at = list;

	memset(map, 0, (limit + 7) / 8);
	for (;;) {
		char *end;
		unsigned long first, last;

		if (*at < '0' || *at > '9')
			return -1;
		first = last = strtoul(at, &end, 10);
		if (*end == '-') {
			at = end + 1;
			if (*at < '0' || *at > '9')
				return -1;
			last = strtoul(at, &end, 10);
		}
		if (first > last || last >= limit)
			return -1;
		for (unsigned long cpu = first; cpu <= last; cpu++)
			map[cpu / 8] |= (uint8_t)(1u << cpu % 8);
		if (*end == '\0')
			return 0;
		if (*end != ',')
			return -1;
		at = end + 1;
	}
}

int trace_parse_form(const char *name, enum ktread_form *form)
{
	static const struct {
		const char *name;
		enum ktread_form form;
	} forms[] = {
		{ "auto", KTREAD_FORM_AUTO },	  { "v1", KTREAD_FORM_V1 },
		{ "v2", KTREAD_FORM_V2 },	  { "bare", KTREAD_FORM_BARE },
		{ "ram", KTREAD_FORM_RAM },	  { "core", KTREAD_FORM_CORE },
		{ "stream", KTREAD_FORM_STREAM }, { "proc", KTREAD_FORM_PROCESSES },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strcmp(forms[i].name, name) == 0) {
			*form = forms[i].form;
			return 0;
		}
	}
	return -1;
}

int trace_parse_layout(const char *name, enum ktread_v1_layout *layout)
{
	*layout = strcmp(name, "spec") == 0 ? KTREAD_V1_SPEC : KTREAD_V1_KEVLAR;
	return *layout == KTREAD_V1_SPEC || strcmp(name, "kevlar") == 0 ? 0 : -1;
}

int trace_parse_machine(const char *name, const char **machine)
{
	static const char *const machines[][2] = { { "x86_64", "x86_64" },   { "x64", "x86_64" },
						   { "aarch64", "aarch64" }, { "arm64", "aarch64" },
						   { "riscv64", "riscv64" }, { "riscv", "riscv64" } };

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (strcmp(machines[i][0], name) == 0) {
			*machine = machines[i][1];
			return 0;
		}
	}
	return -1;
}
