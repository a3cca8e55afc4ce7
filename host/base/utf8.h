/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * UTF-8, and which characters may be handed to a terminal or a viewer as they are. Strings from a trace, a
 * guest or a file system may hold any bytes.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the character that `bytes` begins with into *code. Returns its length, 1 to 4, or 0 if there is
 * none: an empty or cut sequence, one longer than needed, a surrogate, a code past U+10FFFF.
 */
size_t base_utf8_decode(const void *bytes, size_t length, uint32_t *code);

/*
 * Returns true if the character shows as itself and changes nothing around it. False for control characters
 * (C0, DEL, C1), line and paragraph separators, characters that set the direction of text (marks, embeddings,
 * overrides, isolates), zero-width characters, the byte order mark, tags, and codes that are no characters.
 */
bool base_utf8_is_harmless(uint32_t code);

/* Returns how many of `length` bytes to keep so that at most `most` are kept and no character is cut. */
size_t base_utf8_cut(const char *bytes, size_t length, size_t most);

#endif
