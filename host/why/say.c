/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Formats threads, locks, places and times for people. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "why/finding.h"
#include "why/pulse.h"

#define NAME_MOST 64u /* maximum length of an escaped name, in bytes */

/* Escapes a name from the trace or from the kernel's file. */
static const char *escape_name(const char *name, char buffer[NAME_MOST + 1])
{
	*base_escape_text(buffer, name, strlen(name), NAME_MOST) = '\0';
	return buffer;
}

const char *why_say(char *buffer, size_t size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(buffer, size, format, arguments);
	va_end(arguments);
	return buffer;
}

const char *why_say_actor(const struct why_evidence *evidence, uint32_t id, char *buffer, size_t size)
{
	const struct why_thread *thread;
	char name[NAME_MOST + 1];

	if (id & KTRX_HOLDER_CPU) {
		why_say(buffer, size, "CPU %" PRIu32, id & ~KTRX_HOLDER_CPU);
		return buffer;
	}
	thread = why_thread_find(evidence, id - 1);
	if (thread && thread->name[0])
		why_say(buffer, size, "thread %" PRIu32 " (%s)", id - 1, escape_name(thread->name, name));
	else
		why_say(buffer, size, "thread %" PRIu32, id - 1);
	return buffer;
}

const char *why_say_object(const struct why_evidence *evidence, uint64_t address, char *buffer, size_t size)
{
	const char *name = why_object_name(evidence, address);
	char escaped[NAME_MOST + 1];
	struct symbol symbol;

	if (why_object_is_elsewhere(evidence, address))
		why_say(buffer, size, "%s", escape_name(name, escaped));
	else if (*name)
		why_say(buffer, size, "%s (0x%" PRIx64 ")", escape_name(name, escaped), address);
	else if (symbols_find_any(evidence->symbols, address, &symbol) != 0)
		why_say(buffer, size, "0x%" PRIx64, address);
	else if (symbol.offset)
		why_say(buffer, size, "%s+0x%" PRIx64 " (0x%" PRIx64 ")",
			escape_name(symbol.function, escaped), symbol.offset, address);
	else
		why_say(buffer, size, "%s (0x%" PRIx64 ")", escape_name(symbol.function, escaped), address);
	return buffer;
}

static const char *say_symbol(uint64_t address, int found, const struct symbol *symbol, char *buffer,
			      size_t size)
{
	char function[NAME_MOST + 1], file[NAME_MOST + 1];

	if (found != 0)
		why_say(buffer, size, "0x%" PRIx64, address);
	else if (symbol->file)
		why_say(buffer, size, "%s+0x%" PRIx64 " (%s:%" PRIu32 ")",
			escape_name(symbol->function, function), symbol->offset,
			escape_name(symbol->file, file), symbol->line);
	else
		why_say(buffer, size, "%s+0x%" PRIx64, escape_name(symbol->function, function),
			symbol->offset);
	return buffer;
}

const char *why_say_place(const struct why_evidence *evidence, uint64_t address, char *buffer, size_t size)
{
	struct symbol symbol;
	int found = -1;

	if (why_side_has_name(evidence, address))
		found = symbols_find(evidence->symbols, address, &symbol);
	return say_symbol(address, found, &symbol, buffer, size);
}

const char *why_say_call(const struct why_evidence *evidence, uint64_t address, char *buffer, size_t size)
{
	struct symbol symbol;
	int found = -1;

	if (address == 0)
		return why_say(buffer, size, "an unknown place");
	if (why_side_has_name(evidence, address))
		found = symbols_find_call(evidence->symbols, address, &symbol);
	return say_symbol(address, found, &symbol, buffer, size);
}

const char *why_say_standing(const struct why_evidence *evidence, const struct why_cpu *cpu, char *buffer,
			     size_t size)
{
	if (cpu->side == PRIVILEGE_USER)
		return why_say(buffer, size, "0x%" PRIx64 ", in user mode", cpu->pc);
	return why_say_place(evidence, cpu->pc, buffer, size);
}

const char *why_say_frame(const struct why_evidence *evidence, const struct why_cpu *cpu, uint32_t frame,
			  char *buffer, size_t size)
{
	if (cpu->side == PRIVILEGE_USER)
		return why_say(buffer, size, "0x%" PRIx64, cpu->frame[frame]);
	return why_say_call(evidence, cpu->frame[frame], buffer, size);
}

const char *why_say_name(const char *name, const char *what, uint64_t number, char *buffer, size_t size)
{
	char escaped[NAME_MOST + 1];

	if (name)
		snprintf(buffer, size, "%s", escape_name(name, escaped));
	else
		snprintf(buffer, size, "%s %" PRIu64, what, number);
	return buffer;
}

const char *why_say_ticks(const struct why_evidence *evidence, uint64_t ticks, char *buffer, size_t size)
{
	const uint64_t frequency = evidence->info->frequency;
	double seconds;

	if (frequency == 0) {
		why_say(buffer, size, "%" PRIu64 " ticks", ticks);
		return buffer;
	}
	seconds = (double)ticks / (double)frequency;
	if (seconds >= 100)
		why_say(buffer, size, "%.0f s", seconds);
	else if (seconds >= 0.99995)
		why_say(buffer, size, "%.2f s", seconds);
	else if (seconds >= 0.00099995)
		why_say(buffer, size, "%.1f ms", seconds * 1e3);
	else
		why_say(buffer, size, "%.1f us", seconds * 1e6);
	return buffer;
}

const char *why_say_since(const struct why_evidence *evidence, const char *before, uint64_t stamp,
			  char *buffer, size_t size)
{
	char ticks[WHY_WORDS];

	if (stamp == 0 || stamp > evidence->end)
		return why_say(buffer, size, "%s", "");
	return why_say(buffer, size, "%s%s", before,
		       why_say_ticks(evidence, why_age(evidence, stamp), ticks, sizeof(ticks)));
}

const char *why_say_called(const struct why_evidence *evidence, const char *before, uint64_t address,
			   char *buffer, size_t size)
{
	char place[WHY_WORDS];

	if (address == 0)
		return why_say(buffer, size, "%s", "");
	return why_say(buffer, size, "%s%s", before, why_say_call(evidence, address, place, sizeof(place)));
}

/* Formats "for lock cache (0x2000)" or "on jobs (0x1000)"; "" if the object is unknown. */
static const char *say_waited_for(const struct why_evidence *evidence, uint8_t kind, uint64_t object,
				  char *buffer, size_t size)
{
	char words[WHY_WORDS];

	if (kind == KTRX_WAIT_THREAD)
		return why_say(buffer, size, " for the end of %s",
			       why_say_actor(evidence, (uint32_t)object + 1, words, sizeof(words)));
	if (object)
		why_say_object(evidence, object, words, sizeof(words));
	switch (kind) {
	case KTRX_WAIT_SPIN:
	case KTRX_WAIT_LOCK:
		return object ? why_say(buffer, size, " for lock %s", words)
			      : why_say(buffer, size, " for a lock");
	case KTRX_WAIT_DEVICE:
		return object ? why_say(buffer, size, " for device %s", words)
			      : why_say(buffer, size, " for a device");
	default:
		return object ? why_say(buffer, size, " on %s", words) : why_say(buffer, size, "%s", "");
	}
}

const char *why_say_waiting(const struct why_evidence *evidence, uint8_t kind, uint64_t object,
			    uint64_t since, uint64_t pc, char *buffer, size_t size)
{
	char what[WHY_WORDS + 16], ticks[WHY_WORDS], place[WHY_WORDS];
	const bool spins = kind == KTRX_WAIT_SPIN;

	why_say_since(evidence, " ", since, ticks, sizeof(ticks));
	why_say_called(evidence, ", at ", pc, place, sizeof(place));
	if (kind == KTRX_WAIT_TIME)
		return *ticks ? why_say(buffer, size, "has been in a timed sleep for%s%s", ticks, place)
			      : why_say(buffer, size, "is in a timed sleep%s", place);
	say_waited_for(evidence, kind, object, what, sizeof(what));
	if (*ticks)
		return why_say(buffer, size, "has %s%s%s%s", spins ? "spun" : "waited", ticks, what, place);
	return why_say(buffer, size, "%s%s%s", spins ? "spins" : "waits", what, place);
}

const char *why_say_hooks(uint32_t hooks, char *buffer, size_t size)
{
	static const struct {
		uint32_t hook;
		const char *name;
	} names[] = {
		{ KTRX_HOOK_LOCK, "locks" },	      { KTRX_HOOK_THREAD, "threads" },
		{ KTRX_HOOK_IRQ, "interrupts" },      { KTRX_HOOK_EOI, "EOIs" },
		{ KTRX_HOOK_IPI, "answers to IPIs" }, { KTRX_HOOK_PREEMPT, "preemption" },
	};
	size_t length = 0;

	buffer[0] = '\0';
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (hooks & names[n].hook) {
			why_say(buffer + length, size - length, "%s%s", length ? ", " : "", names[n].name);
			length = strlen(buffer);
		}
	return buffer;
}
