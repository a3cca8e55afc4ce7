/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The functions of a kernel by a text that lists its symbols, as System.map, /proc/kallsyms and nm do. And
 * whether they are those of the code that was run.
 */
#ifndef HWT_SYMBOL_MAP_H
#define HWT_SYMBOL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hwt_file;

#define HWT_MAP_LINE_MOST    1024u		 /* bytes of a line */
#define HWT_MAP_SYMBOLS_MOST (UINT32_C(1) << 22) /* lines of a file */

struct hwt_map_function {
	uint64_t address, size; /* as the file has them; a function reaches up to the next symbol */
	const char *name;
	const char *module; /* NULL: of the kernel itself */
};

struct hwt_map {
	struct hwt_map_function *function; /* by address, one each */
	size_t functions;
	char *texts;
};

/*
 * Reads "ADDRESS TYPE NAME [MODULE]" lines; `path` may name a pipe. Returns 0, or an error whose text is in
 * `message`: KTREAD_E_SYSTEM, KTREAD_E_FORMAT, KTREAD_E_MEMORY.
 */
int hwt_map_open(struct hwt_map **map, const char *path, char *message, size_t size);
void hwt_map_close(struct hwt_map *map);
/* The function that an address lies in; NULL: none. */
const struct hwt_map_function *hwt_map_find(const struct hwt_map *map, uint64_t address);

/*
 * A map is held against the direct calls in the code that a recording holds: they go to beginnings of
 * functions. With a map of another build few do.
 */
struct hwt_map_fit {
	uint64_t base;	  /* the kernel ran that much higher than the map says */
	uint64_t calls;	  /* addresses that the kernel's code calls */
	uint64_t inside;  /* of these, in a function of the map */
	uint64_t entries; /* of these, at the beginning of one */
};

/* Each 0 or KTREAD_E_MEMORY. With hwt_map_fit_find() the base is where most calls go to functions. */
int hwt_map_fit_at(struct hwt_map_fit *fit, const struct hwt_map *map, const struct hwt_file *file,
		   uint64_t base);
int hwt_map_fit_find(struct hwt_map_fit *fit, const struct hwt_map *map, const struct hwt_file *file);
/* Are there enough calls to tell? */
bool hwt_map_fit_is_known(const struct hwt_map_fit *fit);
/* Is the map of the kernel that was run? */
bool hwt_map_fit_is_good(const struct hwt_map_fit *fit);

#endif
