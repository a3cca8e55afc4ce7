/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Bytes made visible as vis(3) does: \n, \t, \0 and so on, \^C for other control characters, \M-c and \M^C
 * for those with the eighth bit, \\ for a backslash.
 */
#ifndef KDUMP_VIS_H
#define KDUMP_VIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"

#define KDUMP_VIS_GROWTH 4 /* bytes that one can become */

/*
 * How many bytes a text begins with that are shown as they are, even in a line and between quotation marks:
 * neither control characters nor those with the eighth bit, no backslash and no quotation mark. Eight at a
 * time: most texts are all of that kind.
 */
size_t kdump_vis_plain(const uint8_t *bytes, size_t size);

/*
 * One byte; `next` is the one behind it (0: none), on which the form of a NUL depends. Tab and newline
 * remain.
 */
char *kdump_vis_byte(char *at, uint8_t byte, uint8_t next);

/*
 * Text that is part of a line: tabs and newlines made visible, too. `quoted`: it stands between quotation
 * marks, and those in it get a backslash. At most `limit` bytes are written, and none in half. No NUL is
 * added.
 */
char *kdump_vis_text(char *at, const void *bytes, size_t length, size_t limit, bool quoted);

/* Data that a process read or wrote, in lines below its record as the BSDs have them. */

/* Text in quotation marks, made visible and folded to `columns`. */
void kdump_data_text(struct base_output *out, const uint8_t *bytes, size_t size, unsigned columns);
/* Offsets, hexadecimal digits, text. */
void kdump_data_hex(struct base_output *out, const uint8_t *bytes, size_t size, unsigned columns);
/* Is there a byte that no text has? */
bool kdump_data_is_binary(const uint8_t *bytes, size_t size);

/* Bytes of a trace as numbers, and as digits. */

/* Little-endian, at most 8 bytes. */
static inline uint64_t kdump_read_number(const uint8_t *bytes, unsigned width)
{
	uint64_t value = 0;

	for (unsigned n = width; n > 0; n--)
		value = value << 8 | bytes[n - 1];
	return value;
}

/* Two hexadecimal digits. */
static inline char *kdump_put_byte(char *at, uint8_t byte)
{
	static const char digits[] = "0123456789abcdef";

	at[0] = digits[byte >> 4];
	at[1] = digits[byte & 15];
	return at + 2;
}

#endif
