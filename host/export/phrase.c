/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "export/timeline.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/put.h"
#include "export/payload.h"
#include "ktrx/v2.h"

#define TEXT_MAX 512u /* bytes of a text that is taken apart */
#define CHUNK	 32u  /* literals are copied in whole chunks */

enum how {
	HOW_END, /* literal only, ends the phrase */
	HOW_UNSIGNED,
	HOW_SIGNED,
	HOW_HEX,
	HOW_POINTER,
	HOW_CHAR,
	HOW_STRING,
};

/* A stretch of literal text and the value that follows it. */
struct step {
	uint16_t start, length; /* in phrase->text */
	uint8_t how;
	uint8_t type; /* KTRX_TYPE_* */
};

struct phrase {
	struct step step[KTRX_EVENT_FIELDS + 1];
	char text[4 * TEXT_MAX + CHUNK];
};

/* How a field of that type reads under a conversion; HOW_END: not plain. */
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
	default: /* d, i, and %s for what is no string */
		return HOW_SIGNED;
	}
}

/* Text up to the next conversion, made harmless; "%%" is a percent sign. Returns its length. */
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
