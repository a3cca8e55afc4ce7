/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A file whose code was mapped into memory: a program, a library, a kernel. Offsets and sizes in its headers
 * are checked against the file's size. Also the names in such a file, and a kernel's functions from a list of
 * its symbols.
 */
#ifndef HWT_BINARY_H
#define HWT_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HWT_SEGMENTS_MOST 64u

enum { HWT_READ = 1, HWT_WRITE = 2, HWT_EXECUTE = 4 };

struct hwt_segment {
	uint64_t address, offset, size; /* `size` counts only bytes that exist in the file */
	uint32_t access;		/* bit map of HWT_READ, HWT_WRITE and HWT_EXECUTE */
};

struct hwt_names;

struct hwt_binary {
	char *path;
	const char *name; /* path without directories */
	const unsigned char *bytes;
	uint64_t size;
	uint16_t machine; /* ELF machine number; 0: not an ELF file */
	bool movable;	  /* position-independent (ET_DYN) */
	uint64_t base;	  /* lowest address of any segment */
	uint32_t segments;
	struct hwt_segment segment[HWT_SEGMENTS_MOST];
	bool was_run;		 /* the file contains code that was executed */
	struct hwt_names *names; /* names in the file; NULL: they have not been read yet */
};

/*
 * Opens a file and reads its headers. Returns 0; KTREAD_E_SYSTEM with errno; KTREAD_E_MEMORY; KTREAD_E_FORMAT
 * if it is not a regular file, or an ELF file that is not 64-bit little-endian.
 */
int hwt_binary_open(struct hwt_binary **binary, const char *path);
/* Returns the last component of a path. */
const char *hwt_name_of(const char *path);
void hwt_binary_close(struct hwt_binary *binary);
/*
 * Converts an offset in the file to the file's own address of that byte. Returns `offset` unchanged if no
 * segment contains the byte.
 */
uint64_t hwt_binary_address(const struct hwt_binary *binary, uint64_t offset);

/* ---- The names in a file: its functions, sorted by address, and source lines from debug information ---- */

struct hwt_function {
	/* `address` is one of the file's own addresses; a `size` of 0 means unknown */
	uint64_t address, size;
	const char *name;
};

/*
 * Reads the names of a file. The table is empty if the file has no names or cannot be read. Returns NULL if
 * out of memory.
 */
struct hwt_names *hwt_names_open(const char *path, uint16_t machine);
void hwt_names_close(struct hwt_names *names);
size_t hwt_names_count(const struct hwt_names *names);
/*
 * Returns the function that contains an address. If the nearest function before the address has an unknown
 * size, returns that function. Returns NULL if there is none.
 */
const struct hwt_function *hwt_names_find(const struct hwt_names *names, uint64_t address);
const struct hwt_function *hwt_names_named(const struct hwt_names *names, const char *name);
/* Returns the source file of the code at an address, and sets *line. Returns NULL if it is unknown. */
const char *hwt_names_line(struct hwt_names *names, uint64_t address, unsigned *line);

/* ---- Lists of a kernel's symbols (symbol_map.c, symbol_fit.c) ---- */

/*
 * The functions of a kernel, from a list of its symbols such as System.map, /proc/kallsyms or the output of
 * nm. Also checks whether the executed code contains these functions.
 */

struct hwt_file;

#define HWT_MAP_LINE_MOST    1024u		 /* maximum size of a line in bytes */
#define HWT_MAP_SYMBOLS_MOST (UINT32_C(1) << 22) /* maximum number of symbols in a list */

struct hwt_map_function {
	uint64_t address, size; /* address in the list; the function extends to the next symbol */
	const char *name;
	const char *module; /* name of the module; NULL: the function is in the kernel itself */
};

struct hwt_map {
	struct hwt_map_function *function; /* the functions, sorted by address; only one at each address */
	size_t functions;
	char *texts;
};

/*
 * Reads "ADDRESS TYPE NAME [MODULE]" lines; `path` may name a pipe. Returns 0, or an error whose text is in
 * `message`: KTREAD_E_SYSTEM, KTREAD_E_FORMAT, KTREAD_E_MEMORY.
 */
int hwt_map_open(struct hwt_map **map, const char *path, char *message, size_t size);
void hwt_map_close(struct hwt_map *map);
/* Returns the function that contains an address, or NULL if there is none. */
const struct hwt_map_function *hwt_map_find(const struct hwt_map *map, uint64_t address);

/*
 * How well a list matches the recorded code. The targets of direct calls in that code are beginnings of
 * functions. If the list is from another build, few targets are beginnings of its functions.
 */
struct hwt_map_fit {
	uint64_t base;	 /* number of bytes by which the kernel was loaded above the listed addresses */
	uint64_t calls;	 /* number of distinct addresses that the kernel's code calls */
	uint64_t inside; /* number of distinct called addresses that are within a listed function */
	/* number of distinct called addresses that are the beginning of a listed function */
	uint64_t entries;
};

/*
 * Both return 0 or KTREAD_E_MEMORY. hwt_map_fit_find() chooses the base for which most call targets are
 * beginnings of functions.
 */
int hwt_map_fit_at(struct hwt_map_fit *fit, const struct hwt_map *map, const struct hwt_file *file,
		   uint64_t base);
int hwt_map_fit_find(struct hwt_map_fit *fit, const struct hwt_map *map, const struct hwt_file *file);
/* Returns true if there are enough calls to judge. */
bool hwt_map_fit_is_known(const struct hwt_map_fit *fit);
/* Returns true if the list belongs to the executed kernel. */
bool hwt_map_fit_is_good(const struct hwt_map_fit *fit);

#endif
