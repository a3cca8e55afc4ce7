/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "bytes.h"

const char ktrace_hex[17] = "0123456789abcdef";

struct ktrace_span ktrace_span_of(const char *text)
{
	struct ktrace_span span;

	span.text = text;
	span.length = ktrace_length(text, KTRX_U32_MAX);
	return span;
}

int ktrace_span_is(struct ktrace_span span, const char *word)
{
	uint32_t at = 0;

	while (at < span.length && word[at] && span.text[at] == word[at])
		at++;
	return at == span.length && word[at] == '\0';
}

int ktrace_span_skip(struct ktrace_span *span, const char *prefix)
{
	uint32_t at = 0;

	for (; prefix[at]; at++)
		if (at == span->length || span->text[at] != prefix[at])
			return 0;
	span->text += at;
	span->length -= at;
	return 1;
}

int ktrace_span_cut(struct ktrace_span *span, const char *suffix)
{
	struct ktrace_span wanted = ktrace_span_of(suffix);
	struct ktrace_span end = *span;

	if (span->length < wanted.length)
		return 0;
	end.text += span->length - wanted.length;
	end.length = wanted.length;
	if (!ktrace_span_is(end, suffix))
		return 0;
	span->length -= wanted.length;
	return 1;
}

int ktrace_span_next(struct ktrace_span *rest, const char *separators, struct ktrace_span *piece)
{
	struct ktrace_span wide = ktrace_span_of(separators);

	piece->text = rest->text;
	piece->length = 0;
	while (rest->length > 0) {
		int separator = 0;

		for (uint32_t i = 0; i < wide.length; i++)
			separator |= rest->text[0] == separators[i];
		if (separator && piece->length > 0)
			return 1;
		if (!separator && piece->length++ == 0)
			piece->text = rest->text;
		rest->text++;
		rest->length--;
	}
	return piece->length > 0;
}

int ktrace_span_split(struct ktrace_span whole, char at, struct ktrace_span *left, struct ktrace_span *right)
{
	uint32_t length = 0;

	while (length < whole.length && whole.text[length] != at)
		length++;
	if (length == whole.length)
		return 0;
	left->text = whole.text;
	left->length = length;
	right->text = whole.text + length + 1;
	right->length = whole.length - length - 1;
	return 1;
}

uint32_t ktrace_digit(char character)
{
	if (character >= '0' && character <= '9')
		return (uint32_t)(character - '0');
	character |= 0x20;
	return character >= 'a' && character <= 'f' ? (uint32_t)(character - 'a') + 10 : 16;
}

int ktrace_span_number(struct ktrace_span span, uint64_t *value)
{
	int negative = ktrace_span_skip(&span, "-");
	uint32_t base = ktrace_span_skip(&span, "0x") ? 16 : 10;

	*value = 0;
	if (span.length == 0)
		return 0;
	for (uint32_t at = 0; at < span.length; at++) {
		uint32_t digit = ktrace_digit(span.text[at]);

		if (digit >= base || *value > (KTRX_U64_MAX - digit) / base)
			return 0;
		*value = *value * base + digit;
	}
	if (negative)
		*value = 0 - *value;
	return 1;
}

uint32_t ktrace_digits(char digits[KTRACE_DIGITS_MAX], uint64_t number, uint32_t base)
{
	uint32_t count = 0;

	do {
		digits[KTRACE_DIGITS_MAX - ++count] = ktrace_hex[number % base];
		number /= base;
	} while (number);
	return count;
}
