/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "utf8.h"

#define LONGEST 4 /* bytes of a character */

size_t base_utf8_decode(const void *bytes, size_t length, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *at = bytes;
	size_t size;

	if (length == 0)
		return 0;
	*code = at[0];
	if (at[0] < 0x80)
		return 1;
	size = at[0] < 0xc0 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;
	if (size == 0 || size > length)
		return 0;
	*code = at[0] & (0x7fu >> size);
	for (size_t i = 1; i < size; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (at[i] & 0x3fu);
	}
	if (*code < least[size] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return size;
}

bool base_utf8_is_harmless(uint32_t code)
{
	static const struct {
		uint32_t from, to;
	} harmful[] = {
		{ 0x00, 0x1f },	      /* C0 */
		{ 0x7f, 0x9f },	      /* DEL, C1 */
		{ 0xad, 0xad },	      /* soft hyphen */
		{ 0x61c, 0x61c },     /* Arabic letter mark */
		{ 0x180e, 0x180e },   /* Mongolian vowel separator */
		{ 0x200b, 0x200f },   /* zero width, direction marks */
		{ 0x2028, 0x202e },   /* separators; embeddings and overrides */
		{ 0x2060, 0x206f },   /* invisible operators, isolates */
		{ 0xd800, 0xdfff },   /* surrogates */
		{ 0xfdd0, 0xfdef },   /* no characters */
		{ 0xfeff, 0xfeff },   /* byte order mark */
		{ 0xfff0, 0xfffb },   /* unassigned, annotations */
		{ 0xe0000, 0xe0fff }, /* tags */
	};

	for (size_t i = 0; i < sizeof(harmful) / sizeof(harmful[0]); i++)
		if (code >= harmful[i].from && code <= harmful[i].to)
			return false;
	return (code & 0xfffe) != 0xfffe && code <= 0x10ffff;
}

size_t base_utf8_cut(const char *bytes, size_t length, size_t most)
{
	uint32_t code;

	if (length <= most)
		return length;
	/* A character that reaches over the end begins at most three bytes before it. */
	for (size_t back = 1; back < LONGEST && back <= most; back++)
		if (base_utf8_decode(bytes + most - back, length - most + back, &code) > back)
			return most - back;
	return most;
}
