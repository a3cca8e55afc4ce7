/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Code of x86: as much of its instructions as a trace unit must know. Their sizes come from QEMU. */
#ifndef PLUGIN_X86_H
#define PLUGIN_X86_H

#include <stddef.h>
#include <stdint.h>

struct block;

/* Which of them a processor is in cannot be seen from outside; the sizes of instructions give it away. */
#define X86_MODE_64 1u
#define X86_MODE_32 2u /* or 16: anything but 64 */

int x86_marker(const unsigned char *bytes, size_t size);
int x86_faults(const unsigned char *bytes, size_t size);
/* Handlers are where the kernel has put them: what they are for cannot be told. */
int x86_between(uint64_t handler);
void x86_classify(struct block *block, const unsigned char *bytes, size_t size);
uint64_t x86_vectors(const struct block *block, const unsigned char *bytes, size_t size);
uint8_t x86_modes(const unsigned char *bytes, size_t size, uint64_t address);
uint8_t x86_mode(uint8_t mode, uint8_t modes);

#endif
