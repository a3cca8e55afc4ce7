/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Escapes strings from a trace, a guest or a file system. Such strings may hold any bytes. */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Escapes a string for a terminal, a line of text or a drawing: bytes outside printable ASCII become \xNN, as
 * in ktread_format(). `at` has room for `limit` bytes; the rest is left out. No NUL is added. Returns the
 * end.
 */
char *base_escape_text(char *at, const char *bytes, size_t length, size_t limit);

/*
 * Escapes a string for viewers that show UTF-8, and for messages that name the user's own files: harmless
 * characters (base_utf8_is_harmless()) are kept.
 */
char *base_escape_utf8(char *at, const char *bytes, size_t length, size_t limit);

#define BASE_ESCAPE_TEXT_GROWTH 4

/*
 * Escapes a string for the inside of a JSON string: quotes and backslashes are escaped, harmless characters
 * are kept, all other characters are written as \uNNNN, and a byte that belongs to no character as \u00NN. So
 * the result is valid JSON, and harmless on a terminal. Returns the end. Requires: room for 6 bytes for each
 * byte.
 */
char *base_escape_json(char *at, const char *bytes, size_t length);

#define BASE_ESCAPE_JSON_GROWTH 6

/* ---- UTF-8, and which characters may be handed to a terminal or a viewer as they are ---- */

/*
 * Decodes the character that `bytes` begins with into *code. Returns its length, 1 to 4, or 0 if there is
 * none: an empty or cut sequence, one longer than needed, a surrogate, a code past U+10FFFF.
 */
size_t base_utf8_decode(const void *bytes, size_t length, uint32_t *code);

/*
 * Returns true if the character shows as itself and changes nothing around it. False for control characters
 * (C0, DEL, C1), line and paragraph separators, characters that set the direction of text (marks, embeddings,
 * overrides, isolates), zero-width characters, the byte order mark, tags, and codes that are not characters.
 */
bool base_utf8_is_harmless(uint32_t code);

/* Returns how many of `length` bytes to keep so that at most `most` are kept and no character is cut. */
size_t base_utf8_cut(const char *bytes, size_t length, size_t most);

#endif
