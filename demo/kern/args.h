/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Boot arguments: words KEY=VALUE[,VALUE…] between blanks. A key given several times adds up. Read straight
 * from the loader's string: usable from the first instruction of kmain.
 */
#ifndef DEMO_ARGS_H
#define DEMO_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A walk over all values of a key; start with { 0 }. */
struct arg_walk {
	const char *at;
};

/* Copies the next value of key, cut to size - 1 characters; false when there is none. */
bool arg_next(struct arg_walk *walk, const char *key, char *value, size_t size);

/* Whether value is among the values of key. */
bool arg_has(const char *key, const char *value);

/*
 * The last value of key as a number, decimal with an optional K, M or G; fallback if absent or not a
 * number.
 */
uint64_t arg_number(const char *key, uint64_t fallback);

#endif
