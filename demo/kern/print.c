/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stddef.h>
#include <stdint.h>

#include "arch.h"
#include "print.h"
#include "spinlock.h"

static struct spinlock console_lock = SPINLOCK("console");

struct conversion {
	bool zero, left, is_long;
	int width;
	char letter;
};

static void put_padded(const char *text, size_t length, const struct conversion *c)
{
	int padding = c->width - (int)length;

	while (!c->left && padding-- > 0)
		arch_console_putc(c->zero ? '0' : ' ');
	for (size_t i = 0; i < length; i++)
		arch_console_putc(text[i]);
	while (c->left && padding-- > 0)
		arch_console_putc(' ');
}

static void put_number(uint64_t value, bool negative, unsigned base, const struct conversion *c)
{
	char digits[24];
	char *at = digits + sizeof(digits);

	do {
		*--at = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	if (negative)
		*--at = '-';
	put_padded(at, (size_t)(digits + sizeof(digits) - at), c);
}

/* Reads flags, width and length of a conversion; returns where its letter is. */
static const char *parse_conversion(const char *at, struct conversion *c)
{
	*c = (struct conversion){ 0 };
	for (;; at++) {
		if (*at == '0')
			c->zero = true;
		else if (*at == '-')
			c->left = true;
		else if (*at != '#')
			break;
	}
	for (; *at >= '0' && *at <= '9'; at++)
		c->width = c->width * 10 + (*at - '0');
	for (; *at == 'l' || *at == 'z'; at++)
		c->is_long = true;
	c->letter = *at;
	return at;
}

static void put_string(const char *s, const struct conversion *c)
{
	size_t length = 0;

	while (s[length])
		length++;
	put_padded(s, length, c);
}

static void put_signed(int64_t value, const struct conversion *c)
{
	put_number(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0, 10, c);
}

void vkprintf_unlocked(const char *format, va_list arguments)
{
	struct conversion c;

	for (const char *at = format; *at; at++) {
		if (*at != '%') {
			arch_console_putc(*at);
			continue;
		}
		at = parse_conversion(at + 1, &c);
		switch (c.letter) {
		case 'd':
			put_signed(c.is_long ? va_arg(arguments, long) : va_arg(arguments, int), &c);
			break;
		case 'u':
			put_number(c.is_long ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned),
				   false, 10, &c);
			break;
		case 'p':
			c.is_long = true;
			/* fall through */
		case 'x':
			arch_console_putc('0');
			arch_console_putc('x');
			put_number(c.is_long ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned),
				   false, 16, &c);
			break;
		case 's':
			put_string(va_arg(arguments, const char *), &c);
			break;
		case 'c':
			arch_console_putc((char)va_arg(arguments, int));
			break;
		case '\0':
			return;
		default:
			arch_console_putc(c.letter);
		}
	}
}

void kprintf_unlocked(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vkprintf_unlocked(format, arguments);
	va_end(arguments);
}

void kprintf(const char *format, ...)
{
	va_list arguments;
	bool irq_on = spin_lock(&console_lock);

	va_start(arguments, format);
	vkprintf_unlocked(format, arguments);
	va_end(arguments);
	spin_unlock(&console_lock, irq_on);
}
