/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/note.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/open.h"

/* ---- The host's notes ---- */

const char *note_find(const char *note, const char *key, size_t *length)
{
	const size_t size = strlen(key);

	for (const char *line = note; *line; line += *line == '\n') {
		const char *end = line + strcspn(line, "\n");

		if (strncmp(line, key, size) == 0 && strncmp(line + size, ": ", 2) == 0) {
			line += size + 2;
			*length = (size_t)(end - line);
			return line;
		}
		line = end;
	}
	return NULL;
}

int note_word_after(const char *command, size_t length, const char *option, char *word, size_t size)
{
	const char *end = command + length;
	bool wanted = false;

	for (const char *at = command; at < end;) {
		const char *blank = memchr(at, ' ', (size_t)(end - at));
		const size_t bytes = (size_t)((blank ? blank : end) - at);

		if (wanted && bytes < size) {
			memcpy(word, at, bytes);
			word[bytes] = '\0';
			return 0;
		}
		wanted = bytes == strlen(option) && memcmp(at, option, bytes) == 0;
		at += bytes + 1;
	}
	return -1;
}

bool note_kernel(const char *note, char *path, size_t size)
{
	size_t length;
	const char *value = note_find(note, "kernel", &length);

	if (value && length > 0 && length < size) {
		memcpy(path, value, length);
		path[length] = '\0';
		return base_is_readable(path);
	}
	value = note_find(note, "command", &length);
	return value && note_word_after(value, length, "-kernel", path, size) == 0 && base_is_readable(path);
}

double note_silence(const char *note, bool *more)
{
	static const char or_more[] = " or more";
	const size_t tail = sizeof(or_more) - 1;
	size_t length;
	const char *value = note_find(note, "silent", &length);
	char *end = NULL;
	const double seconds = value ? strtod(value, &end) : -1;

	*more = value && length >= tail && memcmp(value + length - tail, or_more, tail) == 0;
	return value && end > value && end <= value + length ? seconds : -1;
}

/* ---- Registers in the text ---- */

#define X86_ENABLED (1u << 9) /* bit of the flags that is set while interrupts are enabled */
#define ARM_MASKED  (1u << 7) /* bit of pstate that is set while IRQs are masked */
/* bits of mstatus that are set while interrupts are enabled in supervisor mode and in machine mode */
#define RISCV_ENABLED 0xau
#define RISCV_SIE     2u
#define X86_LEVEL     3u /* bits of cs: 0 means the kernel, 3 a program */
/* bits of pstate: 0 means EL0; AArch32's user mode has 0 here as well, and bit 4 set */
#define ARM_LEVEL 0xfu

static bool find(const char *line, const char *name, uint64_t *value)
{
	const size_t most = strcspn(line, "\n"), length = strlen(name);

	for (size_t at = 0; at + length < most; at++) {
		if (strncmp(line + at, name, length) != 0 || !isxdigit((unsigned char)line[at + length]))
			continue;
		*value = strtoull(line + at + length, NULL, 16);
		return true;
	}
	return false;
}

enum privilege privilege_of(const char *line)
{
	uint64_t value;

	if (find(line, " cs=", &value))
		return value & X86_LEVEL ? PRIVILEGE_USER : PRIVILEGE_KERNEL;
	if (find(line, " pstate=", &value) || find(line, " cpsr=", &value))
		return value & ARM_LEVEL ? PRIVILEGE_KERNEL : PRIVILEGE_USER;
	return PRIVILEGE_UNKNOWN;
}

enum interrupt_mask interrupt_mask_of(const char *line)
{
	uint64_t value;

	if (find(line, " flags=", &value))
		return value & X86_ENABLED ? INTERRUPTS_ENABLED : INTERRUPTS_MASKED;
	if (find(line, " pstate=", &value) || find(line, " cpsr=", &value))
		return value & ARM_MASKED ? INTERRUPTS_MASKED : INTERRUPTS_ENABLED;
	if (!find(line, " mstatus=", &value))
		return INTERRUPTS_UNKNOWN;
	return value & RISCV_SIE       ? INTERRUPTS_ENABLED
	       : value & RISCV_ENABLED ? INTERRUPTS_UNKNOWN
				       : INTERRUPTS_MASKED;
}

/* ---- The cost of recording ---- */

uint64_t cost_of(const struct ktread *trace)
{
	struct ktread_setting setting;

	for (uint32_t n = 0; ktread_setting(trace, n, &setting); n++)
		if (strcmp(setting.name, "debug.ktr.cost") == 0)
			return setting.value;
	return 0;
}

double cost_share(uint64_t cost, uint64_t events, uint64_t ticks, uint32_t cpus)
{
	double time = (double)ticks * (cpus ? cpus : 1);

	return time > 0 ? (double)cost / 1000 * (double)events / time : 0;
}

uint64_t cost_taken_off(struct cost_meter *meter, const struct ktread_event *event)
{
	uint32_t cpu = event->cpu < COST_CPUS - 1 ? event->cpu : COST_CPUS - 1;
	unsigned __int128 off = (unsigned __int128)meter->cost * meter->events[cpu]++ / 1000u;
	uint64_t stamp = off < event->stamp ? event->stamp - (uint64_t)off : 0;

	if (stamp < meter->last[cpu])
		stamp = meter->last[cpu];
	meter->last[cpu] = stamp;
	return stamp;
}
