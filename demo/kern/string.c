/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdbool.h>
#include <stdint.h>

#include "string.h"

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	return memmove(to, from, n);
}

/*
 * memmove and memset use 64-bit words if the addresses are aligned, and BLOCK words in each turn, because the
 * kernel often copies and clears whole pages. Every turn is slow if QEMU logs each block of code that it runs,
 * or if KVM emulates the kernel.
 */
typedef uint64_t __attribute__((may_alias)) word;

#define BLOCK 8u

static bool is_word_aligned(uintptr_t address)
{
	return address % sizeof(word) == 0;
}

static void copy_block(word *t, const word *f)
{
	t[0] = f[0];
	t[1] = f[1];
	t[2] = f[2];
	t[3] = f[3];
	t[4] = f[4];
	t[5] = f[5];
	t[6] = f[6];
	t[7] = f[7];
}

static void copy_up(unsigned char *t, const unsigned char *f, size_t n)
{
	if (is_word_aligned((uintptr_t)t | (uintptr_t)f)) {
		for (; n >= BLOCK * sizeof(word);
		     n -= BLOCK * sizeof(word), t += BLOCK * sizeof(word), f += BLOCK * sizeof(word))
			copy_block((word *)(void *)t, (const word *)(const void *)f);
		for (; n >= sizeof(word); n -= sizeof(word), t += sizeof(word), f += sizeof(word))
			*(word *)(void *)t = *(const word *)(const void *)f;
	}
	while (n--)
		*t++ = *f++;
}

void *memmove(void *to, const void *from, size_t n)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if ((uintptr_t)t < (uintptr_t)f || (uintptr_t)t - (uintptr_t)f >= n)
		copy_up(t, f, n);
	else
		while (n--)
			t[n] = f[n];
	return to;
}

static void set_block(word *t, word pattern)
{
	t[0] = pattern;
	t[1] = pattern;
	t[2] = pattern;
	t[3] = pattern;
	t[4] = pattern;
	t[5] = pattern;
	t[6] = pattern;
	t[7] = pattern;
}

void *memset(void *to, int byte, size_t n)
{
	const word pattern = (unsigned char)byte * UINT64_C(0x0101010101010101);
	unsigned char *t = to;

	if (is_word_aligned((uintptr_t)t)) {
		for (; n >= BLOCK * sizeof(word); n -= BLOCK * sizeof(word), t += BLOCK * sizeof(word))
			set_block((word *)(void *)t, pattern);
		for (; n >= sizeof(word); n -= sizeof(word), t += sizeof(word))
			*(word *)(void *)t = pattern;
	}
	while (n--)
		*t++ = (unsigned char)byte;
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (unsigned char)*a - (unsigned char)*b;
}

void string_copy(char *to, const char *from, size_t size)
{
	size_t n = 0;

	for (; n + 1 < size && from[n]; n++)
		to[n] = from[n];
	to[n] = '\0';
}
