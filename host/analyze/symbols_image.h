/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Which addresses a kernel's ELF file has, and which of them are code. All addresses are as linked. */
#ifndef ANALYZE_SYMBOLS_IMAGE_H
#define ANALYZE_SYMBOLS_IMAGE_H

#include <gelf.h>
#include <stdint.h>

#define SYMBOLS_SEGMENTS 32u  /* of a file; more are not looked at */
#define SYMBOLS_SECTIONS 256u /* that can be loaded; likewise */

struct symbols_segment {
	uint64_t begin, end;
	int is_code;
};

struct symbols_section {
	uint64_t begin, end;
	uint32_t number; /* in the file */
	int is_code;
};

struct symbols_image {
	uint32_t segments, sections;
	struct symbols_segment segment[SYMBOLS_SEGMENTS];
	struct symbols_section section[SYMBOLS_SECTIONS];
};

/* `bias` is what libdw adds to the addresses of the file. */
void symbols_image_read(struct symbols_image *image, Elf *elf, uint64_t bias);

/* Does it lie in a segment that is loaded? */
int symbols_image_has(const struct symbols_image *image, uint64_t address);

/*
 * Does it lie in a section of code? In a file without sections the segment decides; where a section says nothing of the
 * address, it is no code.
 */
int symbols_image_has_code(const struct symbols_image *image, uint64_t address);

/* The section's number in the file, 0 unknown. */
uint32_t symbols_image_section(const struct symbols_image *image, uint64_t address);

#endif
