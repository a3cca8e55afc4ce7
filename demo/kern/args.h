/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Boot arguments: words KEY=VALUE[,VALUE…] separated by blanks. If a key is given several times, its values
 * are joined. The functions read the boot loader's string directly, so they work from the first instruction
 * of kmain on.
 */
#ifndef DEMO_ARGS_H
#define DEMO_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* State of a walk over all values of a key; initialize with { 0 }. */
struct arg_walk {
	const char *at;
};

/*
 * Copies the next value of key, truncated to size - 1 characters. Returns false if there are no more values.
 */
bool arg_next(struct arg_walk *walk, const char *key, char *value, size_t size);

/* Returns true if `value` is one of the values of key. */
bool arg_has(const char *key, const char *value);

/*
 * Returns the last value of key that is a number: decimal, with an optional K, M or G. Returns fallback if
 * there is none.
 */
uint64_t arg_number(const char *key, uint64_t fallback);

#endif
