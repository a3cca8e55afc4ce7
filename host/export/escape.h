/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Names and strings out of a trace, made harmless: they may hold any bytes. */
#ifndef EXPORT_ESCAPE_H
#define EXPORT_ESCAPE_H

#include <stddef.h>

/*
 * For a terminal: bytes outside printable ASCII become \xNN, as ktread_format() has them. `at` has room for
 * `limit` bytes; what does not fit is left out. No NUL is added. Returns the end.
 */
char *escape_text(char *at, const char *bytes, size_t length, size_t limit);

/*
 * For the inside of a JSON string: quotes, backslashes and control characters escaped; well-formed UTF-8
 * kept, every other byte said as \u00NN, so that the result is always valid. Needs up to 6 bytes a byte.
 */
char *escape_json(char *at, const char *bytes, size_t length);

#define ESCAPE_JSON_GROWTH 6

#endif
