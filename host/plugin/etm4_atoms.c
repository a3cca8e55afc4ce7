/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Formats 1 to 6 of atom packets (ETMv4 specification, 6.4.8 and on), one byte each. */
#include "etm4_atoms.h"

/* Patterns of formats 5 and 4: the oldest atom in the highest bit. */
static const struct {
	uint8_t atoms, count, packet;
} patterns[] = {
	{ 0x00, 5, 0xd5 }, { 0x0a, 5, 0xd6 }, { 0x15, 5, 0xd7 }, { 0x0f, 5, 0xf5 },
	{ 0x07, 4, 0xdc }, { 0x00, 4, 0xdd }, { 0x05, 4, 0xde }, { 0x0a, 4, 0xdf },
};

/* Format 6: 4 to 24 atoms, all E but perhaps the last. 0: it does not tell them. */
static unsigned long_run(uint64_t oldest_first, unsigned count, uint8_t *packet)
{
	unsigned run = (unsigned)__builtin_clzll(~oldest_first);

	if (run < 3 || count < 4)
		return 0;
	if (run >= 24) {
		*packet = 0xd4;
		return 24;
	}
	if (run == count) {
		*packet = (uint8_t)(0xc0 + run - 4);
		return run;
	}
	*packet = (uint8_t)(0xe0 + run - 3);
	return run + 1;
}

/* Formats 3 to 1: the oldest atom in bit 0. */
static unsigned few(uint64_t oldest_first, unsigned count, uint8_t *packet)
{
	static const uint8_t heads[] = { 0, 0xf6, 0xd8, 0xf8 };
	unsigned some = count < 3 ? count : 3;

	*packet = heads[some];
	for (unsigned i = 0; i < some; i++)
		*packet |= (uint8_t)((oldest_first >> (63 - i) & 1) << i);
	return some;
}

unsigned etm4_atom_packet(uint64_t atoms, unsigned count, uint8_t *packet)
{
	uint64_t oldest_first = atoms << (64 - count);
	unsigned some = long_run(oldest_first, count, packet);

	if (some != 0)
		return some;
	for (unsigned i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		if (count >= patterns[i].count &&
		    oldest_first >> (64 - patterns[i].count) == patterns[i].atoms) {
			*packet = patterns[i].packet;
			return patterns[i].count;
		}
	}
	return few(oldest_first, count, packet);
}
