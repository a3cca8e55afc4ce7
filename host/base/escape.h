/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Escapes strings from a trace, a guest or a file system. Such strings may hold any bytes. */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Escapes a string for a terminal, a line of text or a drawing: bytes outside printable ASCII become \xNN, as
 * in ktread_format(). Writes at most `limit` bytes to `at`, and leaves the rest out. Adds no NUL. Returns the
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
 * are kept, all other characters are written as \uNNNN, and a byte that is not part of a valid character is
 * written as \u00NN. So the result is valid JSON, and harmless on a terminal. Returns the end. Requires: room
 * at `at` for 6 bytes for each byte of the string.
 */
char *base_escape_json(char *at, const char *bytes, size_t length);

#define BASE_ESCAPE_JSON_GROWTH 6

/*
 * Escapes the strings in a JSON document that another library has written, as base_escape_json() does.
 * Returns the new document, which the caller frees; NULL if `json` is NULL, or if out of memory.
 */
char *base_escape_json_document(const char *json);

/* ---- UTF-8, and which characters may be written to a terminal or a viewer unchanged ---- */

/*
 * Decodes the first character of `bytes` into *code. Returns the character's length in bytes, 1 to 4. Returns
 * 0 if `bytes` does not begin with a valid character: if it is empty, or begins with a truncated or overlong
 * sequence, a surrogate, or a code above U+10FFFF.
 */
size_t base_utf8_decode(const void *bytes, size_t length, uint32_t *code);

/*
 * Returns true if the character is displayed as itself and does not change the display of other characters.
 * Returns false for control characters (C0, DEL, C1), line and paragraph separators, characters that set
 * the direction of text (marks, embeddings, overrides, isolates), zero-width characters, the byte order
 * mark, tags, and codes that are not characters.
 */
bool base_utf8_is_harmless(uint32_t code);

/*
 * Returns the largest number of bytes, at most `most` and at most `length`, after which the text can be cut
 * without splitting a character.
 */
size_t base_utf8_cut(const char *bytes, size_t length, size_t most);

#endif
