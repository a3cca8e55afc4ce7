/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Parts of a timeline line: the text of an event, its addresses, and repetitions. */
#include "export/timeline.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/event_name.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/put.h"
#include "base/ticks.h"
#include "ktrx/slot.h"
#include "ktrx/v2.h"

/* ---- Phrases: parsed texts of events ---- */

#define TEXT_MAX 512u /* maximum length, in bytes, of a text that is parsed as a phrase */
/* number of bytes copied at a time; a copy of a literal may copy up to CHUNK - 1 bytes too many */
#define CHUNK 32u

enum how {
	HOW_END, /* no value follows: this is the last literal of the phrase */
	HOW_UNSIGNED,
	HOW_SIGNED,
	HOW_HEX,
	HOW_POINTER,
	HOW_CHAR,
	HOW_STRING,
	HOW_HOLDER, /* the holder of a lock: an unsigned number, or "?" if the holder is unknown */
};

/* A literal, and the conversion of the value that follows it. */
struct step {
	uint16_t start, length; /* offset of the literal in phrase->text */
	uint8_t how;
	uint8_t type; /* KTRX_TYPE_* */
};

struct phrase {
	struct step step[KTRX_EVENT_FIELDS + 1];
	char text[4 * TEXT_MAX + CHUNK];
};

/* Returns how the conversion `letter` prints a field of the type; HOW_END if it cannot print the field. */
static enum how how_of(char letter, uint8_t type)
{
	if (!letter || !strchr("diuxcsp", letter) || type < KTRX_TYPE_U8 || type > KTRX_TYPE_CHAR)
		return HOW_END;
	if (type == KTRX_TYPE_STRING)
		return HOW_STRING;
	switch (letter) {
	case 'u':
		return HOW_UNSIGNED;
	case 'x':
		return HOW_HEX;
	case 'p':
		return HOW_POINTER;
	case 'c':
		return HOW_CHAR;
	default: /* d, i, and %s for values that are not strings */
		return HOW_SIGNED;
	}
}

/*
 * Copies and escapes text up to the next conversion. Copies "%%" as one percent sign. Returns the length of
 * the copy.
 */
static uint16_t take_literal(const char **from, char *to)
{
	char *at = to;

	for (; **from && (**from != '%' || (*from)[1] == '%'); (*from)++) {
		if (**from == '%')
			(*from)++;
		at = base_escape_text(at, *from, 1, 4);
	}
	return (uint16_t)(at - to);
}

static bool compile(struct phrase *phrase, const struct ktread_type *type)
{
	const char *from = type->text;
	uint16_t start = 0;

	for (uint8_t n = 0; n <= KTRX_EVENT_FIELDS; n++) {
		struct step *step = &phrase->step[n];

		step->start = start;
		step->length = take_literal(&from, phrase->text + start);
		start = (uint16_t)(start + step->length);
		if (*from == '\0')
			return true;
		from++;
		from += strspn(from, "lzjt");
		step->type = n < type->fields ? type->field[n].type : 0;
		step->how = (uint8_t)how_of(*from, step->type);
		if (step->how == HOW_END)
			return false;
		if (step->how == HOW_UNSIGNED && step->type == KTRX_TYPE_U32 &&
		    strcmp(type->field[n].name, KTRX_HOLDER) == 0)
			step->how = HOW_HOLDER;
		from++;
	}
	return false;
}

struct phrase *phrase_compile(const struct ktread_type *type)
{
	struct phrase *phrase;

	if (!*type->text || strnlen(type->text, TEXT_MAX) == TEXT_MAX)
		return NULL;
	phrase = calloc(1, sizeof(*phrase));
	if (phrase && !compile(phrase, type)) {
		free(phrase);
		return NULL;
	}
	return phrase;
}

void phrase_free(struct phrase *phrase)
{
	free(phrase);
}

static inline char *put_number(const struct step *step, char *at, const unsigned char *from)
{
	char byte;

	switch (step->how) {
	case HOW_HOLDER:
		return payload_unsigned(step->type, from) == KTRX_HOLDER_UNKNOWN
			       ? base_put_literal(at, "?")
			       : base_put_decimal(at, payload_unsigned(step->type, from));
	case HOW_UNSIGNED:
		return base_put_decimal(at, payload_unsigned(step->type, from));
	case HOW_SIGNED:
		return base_put_signed(at, payload_signed(step->type, from));
	case HOW_POINTER:
		at = base_put_literal(at, "0x");
		return base_put_hex(at, payload_unsigned(step->type, from));
	case HOW_HEX:
		return base_put_hex(at, payload_unsigned(step->type, from));
	default:
		byte = (char)*from;
		return base_escape_text(at, &byte, 1, 4);
	}
}

char *phrase_put(const struct phrase *phrase, char *at, const struct ktread_event *event)
{
	const unsigned char *from = event->payload, *end = from + event->payload_size;

	for (const struct step *step = phrase->step;; step++) {
		uint16_t length;

		for (unsigned done = 0; done < step->length; done += CHUNK)
			memcpy(at + done, phrase->text + step->start + done, CHUNK);
		at += step->length;
		if (step->how == HOW_END)
			return at;
		if (step->how == HOW_STRING) {
			if (end - from < 2)
				return NULL;
			memcpy(&length, from, sizeof(length));
			length &= (uint16_t)~KTRX_STRING_CUT;
			from += sizeof(length);
			if (end - from < length)
				return NULL;
			at = base_escape_text(at, (const char *)from, length, 4 * (size_t)length);
			from += length;
			continue;
		}
		if (end - from < payload_width(step->type))
			return NULL;
		at = put_number(step, at, from);
		from += payload_width(step->type);
	}
}

/* ---- Addresses of an event ---- */

#define FUNCTION_MAX 200u /* maximum number of bytes printed of a function's name */
#define FILE_MAX     200u

/*
 * Returns a pointer to the last FILE_MAX bytes of a path, because the end is more useful than the beginning.
 */
static const char *end_of(const char *file)
{
	size_t length = strlen(file);

	return length > FILE_MAX ? file + length - FILE_MAX : file;
}

static char *put_file(char *at, const char *file, uint32_t line)
{
	file = end_of(file);
	at = base_escape_text(at, file, strlen(file), FILE_MAX);
	*at++ = ':';
	return base_put_decimal(at, line);
}

/* Writes "function+0x12 (file.c:34)", or only the address if it has no symbol. */
static char *put_place(char *at, uint64_t address, struct symbols *symbols)
{
	struct symbol symbol;

	if (symbols_find_call(symbols, address, &symbol) != 0)
		return base_put_hex(base_put_literal(at, "0x"), address);
	at = base_escape_text(at, symbol.function, strlen(symbol.function), FUNCTION_MAX);
	at = base_put_hex(base_put_literal(at, "+0x"), symbol.offset);
	if (symbols_doubtful(symbols))
		*at++ = '?';
	if (!symbol.file)
		return at;
	at = put_file(base_put_literal(at, " ("), symbol.file, symbol.line);
	*at++ = ')';
	return at;
}

static char *put_site(char *at, const struct ktread_event *event, struct symbols *symbols)
{
	at = put_place(at, event->site, symbols);
	if (symbols || (!event->file && event->type->line == 0))
		return at;
	if (event->file)
		at = put_file(base_put_literal(at, " ("), event->file, event->line);
	else
		at = put_file(base_put_literal(at, " (declared "), event->type->file, event->type->line);
	*at++ = ')';
	return at;
}

char *places_put(char *at, const struct ktread_event *event, struct symbols *symbols)
{
	for (uint32_t n = 0; n < event->callers && n < 2; n++)
		at = put_place(base_put_literal(at, " <- "), event->caller[n], symbols);
	return event->site ? put_site(base_put_literal(at, " @ "), event, symbols) : at;
}

/* Writes {"address":"0x…","function":"…","offset":18,"file":"…","line":34} */
static char *put_json(char *at, uint64_t address, struct symbols *symbols)
{
	struct symbol symbol;

	at = base_put_hex(base_put_literal(at, "{\"address\":\"0x"), address);
	*at++ = '"';
	if (symbols_find_call(symbols, address, &symbol) == 0) {
		at = base_json_name(base_put_literal(at, ",\"function\":"), symbol.function);
		at = base_put_decimal(base_put_literal(at, ",\"offset\":"), symbol.offset);
		if (symbol.file) {
			const char *file = end_of(symbol.file);

			at = base_json_string(base_put_literal(at, ",\"file\":"), file, strlen(file));
			at = base_put_decimal(base_put_literal(at, ",\"line\":"), symbol.line);
		}
		if (symbols_doubtful(symbols))
			at = base_put_literal(at, ",\"doubtful\":true");
	}
	*at++ = '}';
	return at;
}

char *places_put_json(char *at, const struct ktread_event *event, struct symbols *symbols)
{
	if (event->file) {
		const char *file = end_of(event->file);

		at = base_json_string(base_put_literal(at, ",\"file\":"), file, strlen(file));
		at = base_put_decimal(base_put_literal(at, ",\"line\":"), event->line);
	}
	if (event->callers) {
		at = put_json(base_put_literal(at, ",\"callers\":["), event->caller[0], symbols);
		if (event->callers > 1)
			at = put_json(base_put_literal(at, ","), event->caller[1], symbols);
		*at++ = ']';
	}
	return event->site ? put_json(base_put_literal(at, ",\"site\":"), event->site, symbols) : at;
}

/* ---- Repetitions of an event ---- */

#define SPAN_BYTES 32u

static const char group[] = "ktrace", name[] = "repeat";

const struct ktread_type *repeat_type(const struct ktread *trace)
{
	return ktread_type_find(trace, group, name);
}

static bool take(const struct ktread_event *event, const char *field, uint64_t *number)
{
	struct ktread_value value;

	if (ktread_value_named(event, field, &value) < 0 || value.type == KTRX_TYPE_STRING)
		return false;
	*number = value.number;
	return true;
}

bool repeat_of(const struct ktread_event *event, struct repeat *repeat)
{
	return strcmp(event->type->name, name) == 0 && strcmp(event->type->group, group) == 0 &&
	       take(event, "event", &repeat->id) && take(event, "more", &repeat->more) &&
	       take(event, "first", &repeat->first) && take(event, "last", &repeat->last);
}

static const char *span_text(char text[SPAN_BYTES], const struct ktread *trace, uint64_t ticks)
{
	uint64_t frequency = ktread_info(trace)->frequency;

	if (frequency)
		snprintf(text, SPAN_BYTES, "%.6f s", base_ticks_seconds(ticks, frequency));
	else
		snprintf(text, SPAN_BYTES, "%" PRIu64 " ticks", ticks);
	return text;
}

static char *put_name(char *at, const struct ktread *trace, uint64_t id)
{
	const struct ktread_type *type = id <= KTRX_EVENT_MAX ? ktread_type(trace, (uint32_t)id) : NULL;

	return type ? analyze_event_name_put(at, type) : at + sprintf(at, "UNKNOWN(%" PRIu64 ")", id);
}

char *repeats_put(char *at, const struct ktread *trace, const struct ktread_event *event)
{
	struct repeat repeat;
	char span[SPAN_BYTES];

	if (!repeat_of(event, &repeat))
		return NULL;
	at = put_name(at, trace, repeat.id);
	return at + sprintf(at, ": %" PRIu64 " more in %s", repeat.more,
			    span_text(span, trace, repeat.last - repeat.first));
}

static void write_open(struct base_output *out, const struct ktread *trace, const struct ktread_fold *fold)
{
	char *at = base_output_line(out), span[SPAN_BYTES];

	at += sprintf(at, "--- CPU%" PRIu32 " PID=%" PRIu32 ": ", fold->event.cpu, fold->event.thread);
	at = put_name(at, trace, fold->event.id);
	*at++ = ' ';
	at += ktread_format(&fold->event, at, BASE_OUTPUT_LINE / 2);
	at += sprintf(at, ": %" PRIu64 " more in %s, still repeating ---\n", fold->count,
		      span_text(span, trace, fold->last - fold->first));
	base_output_done(out, at);
}

int repeats_write(struct base_output *out, struct ktread *trace)
{
	struct ktread_fold fold;
	uint32_t row = 0;
	int status;

	while ((status = ktread_fold(trace, &row, &fold)) > 0)
		write_open(out, trace, &fold);
	return status;
}
