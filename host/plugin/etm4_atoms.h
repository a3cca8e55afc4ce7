/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Atoms, which say of each branch whether it was taken (E) or not (N), in as few packets as there can be. */
#ifndef PLUGIN_ETM4_ATOMS_H
#define PLUGIN_ETM4_ATOMS_H

#include <stdint.h>

#define ETM4_ATOMS_MOST 48u

/*
 * The packet of the oldest of `count` atoms, at least 1, at most ETM4_ATOMS_MOST; the latest in bit 0, 1 is taken. Returns how
 * many of them it tells.
 */
unsigned etm4_atom_packet(uint64_t atoms, unsigned count, uint8_t *packet);

#endif
