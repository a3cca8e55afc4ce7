/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The functions of a kernel, from a list of its symbols such as System.map, /proc/kallsyms or the output of
 * nm. Also checks whether the executed code contains these functions.
 */
#ifndef HWT_SYMBOL_MAP_H
#define HWT_SYMBOL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
