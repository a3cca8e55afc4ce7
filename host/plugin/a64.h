/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Code of AArch64: as much of its instructions as a trace unit must know. */
#ifndef PLUGIN_A64_H
#define PLUGIN_A64_H

#include <stddef.h>
#include <stdint.h>

struct block;

/* The only mode that is traced. Instructions of 2 bytes give T32 away; A32 cannot be told from A64 by size. */
#define A64_MODE 1u

int a64_marker(const unsigned char *bytes, size_t size);
int a64_faults(const unsigned char *bytes, size_t size);
/* By the vector: IRQ, FIQ, system error. */
int a64_between(uint64_t handler);
/* Bits 8:7 of a vector's address: 0 synchronous, 1 IRQ, 2 FIQ, 3 system error. */
unsigned a64_vector(uint64_t handler);
void a64_classify(struct block *block, const unsigned char *bytes, size_t size);
uint64_t a64_vectors(const struct block *block, const unsigned char *bytes, size_t size);
uint8_t a64_modes(const unsigned char *bytes, size_t size, uint64_t address);
uint8_t a64_mode(uint8_t mode, uint8_t modes);

#endif
