/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdbool.h>
#include <stdint.h>

#include "format.h"
#include "string.h"

struct output {
	char *to;
	size_t size, length;
};

struct conversion {
	bool zero, left, prefix, is_long;
	int width;
	char letter;
};

/* Appends a character if it fits. Always keeps room for the NUL. */
static void put(struct output *out, char c)
{
	if (out->length + 1 < out->size)
		out->to[out->length++] = c;
}

static void put_padded(struct output *out, const char *s, size_t length, const struct conversion *c)
{
	int padding = c->width - (int)length;

	while (!c->left && padding-- > 0)
		put(out, c->zero ? '0' : ' ');
	for (size_t i = 0; i < length; i++)
		put(out, s[i]);
	while (c->left && padding-- > 0)
		put(out, ' ');
}

static void put_number(struct output *out, uint64_t value, bool negative, unsigned base,
		       const struct conversion *c)
{
	char digits[24];
	char *at = digits + sizeof(digits);

	do {
		*--at = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	if (c->prefix) {
		*--at = 'x';
		*--at = '0';
	}
	if (negative)
		*--at = '-';
	put_padded(out, at, (size_t)(digits + sizeof(digits) - at), c);
}

static void put_signed(struct output *out, int64_t value, const struct conversion *c)
{
	put_number(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0, 10, c);
}

/*
 * Parses the part of a conversion before its letter: flags, width and length modifier. Returns a pointer to
 * the letter.
 */
static const char *parse_conversion(const char *at, struct conversion *c)
{
	*c = (struct conversion){ 0 };
	for (;; at++) {
		if (*at == '0')
			c->zero = true;
		else if (*at == '-')
			c->left = true;
		else if (*at == '#')
			c->prefix = true;
		else
			break;
	}
	for (; *at >= '0' && *at <= '9'; at++)
		c->width = c->width * 10 + (*at - '0');
	for (; *at == 'l' || *at == 'z'; at++)
		c->is_long = true;
	c->letter = *at;
	return at;
}

void vformat(char *to, size_t size, const char *text, va_list arguments)
{
	struct output out = { to, size, 0 };
	struct conversion c;
	const char *s;

	for (const char *at = text; *at; at++) {
		if (*at != '%') {
			put(&out, *at);
			continue;
		}
		at = parse_conversion(at + 1, &c);
		switch (c.letter) {
		case 'd':
			put_signed(&out, c.is_long ? va_arg(arguments, long) : va_arg(arguments, int), &c);
			break;
		case 'u':
		case 'x':
			put_number(&out,
				   c.is_long ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned),
				   false, c.letter == 'u' ? 10 : 16, &c);
			break;
		case 's':
			s = va_arg(arguments, const char *);
			put_padded(&out, s, strlen(s), &c);
			break;
		case '\0':
			at--;
			break;
		default: /* %% */
			put(&out, c.letter);
		}
	}
	to[out.length] = '\0';
}

void format(char *to, size_t size, const char *text, ...)
{
	va_list arguments;

	va_start(arguments, text);
	vformat(to, size, text, arguments);
	va_end(arguments);
}
