/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A file that code was mapped from: a program, a library, a kernel. What its headers say is held against its
 * size.
 */
#ifndef HWT_BINARY_H
#define HWT_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HWT_SEGMENTS_MOST 64u

enum { HWT_READ = 1, HWT_WRITE = 2, HWT_EXECUTE = 4 };

struct hwt_segment {
	uint64_t address, offset, size; /* those that are in the file */
	uint32_t access;		/* HWT_READ and others */
};

struct hwt_names;

struct hwt_binary {
	char *path;
	const char *name; /* path without folders */
	const unsigned char *bytes;
	uint64_t size;
	uint16_t machine; /* 0: no ELF file */
	bool movable;	  /* it may be loaded at any address */
	uint64_t base;	  /* lowest address of a segment */
	uint32_t segments;
	struct hwt_segment segment[HWT_SEGMENTS_MOST];
	bool was_run;		 /* some code that was run lies in it */
	struct hwt_names *names; /* below; NULL: nobody has asked yet */
};

/*
 * 0; KTREAD_E_SYSTEM with errno; KTREAD_E_MEMORY; KTREAD_E_FORMAT: it is no file, or an ELF file that is none
 * of 64 bits.
 */
int hwt_binary_open(struct hwt_binary **binary, const char *path);
/* A path without its folders. */
const char *hwt_name_of(const char *path);
void hwt_binary_close(struct hwt_binary *binary);
/* The file's own address of a byte in it; of what is in no segment the offset. */
uint64_t hwt_binary_address(const struct hwt_binary *binary, uint64_t offset);

/* The names in a file: its functions in the order of their addresses, and lines by its debug information. */

struct hwt_names;

struct hwt_function {
	uint64_t address, size; /* the file's own; size 0: unknown */
	const char *name;
};

/* A file that has no names, or cannot be read, gives an empty table. NULL: out of memory. */
struct hwt_names *hwt_names_open(const char *path, uint16_t machine);
void hwt_names_close(struct hwt_names *names);
size_t hwt_names_count(const struct hwt_names *names);
/* The function an address lies in, or that comes before it and has no size. NULL: there is none. */
const struct hwt_function *hwt_names_find(const struct hwt_names *names, uint64_t address);
const struct hwt_function *hwt_names_named(const struct hwt_names *names, const char *name);
/* Source file and line of an address; NULL: unknown. */
const char *hwt_names_line(struct hwt_names *names, uint64_t address, unsigned *line);

#endif
