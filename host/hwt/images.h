/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Code by address: from files, from snapshots, and from lines that the trace brings along. */
#ifndef HWT_IMAGES_H
#define HWT_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/memory.h"
#include "binary.h"
#include "file.h"
#include "symbol_map.h"

/*
 * Code that a trace brings along: which bytes lay at an address when, in which address space. Kept in lines
 * of 64 bytes, each of one space; those of space 0 are of all that have none of their own. Where bytes change
 * with time there is a line for each version, valid from its stamp on.
 */

#define HWT_CODE_LINE 64u

struct hwt_codes;

/* Of the file's CODE; *codes is NULL where it has none. 0, or KTREAD_E_MEMORY. */
int hwt_codes_open(struct hwt_codes **codes, const struct hwt_file *file);
void hwt_codes_close(struct hwt_codes *codes);

/*
 * How many bytes are known from an address on, at most `size`. `stamp` 0: the latest. With `any` also what
 * was only seen in other address spaces, as far as all of them agree.
 */
size_t hwt_codes_read(const struct hwt_codes *codes, uint64_t space, uint64_t stamp, uint64_t address,
		      unsigned char *to, size_t size, bool any);

/*
 * How many bytes from an address on, at most `size`, are not known in that space: none is lost to what knows
 * more of others. With
 * `any` they are in no other either.
 */
size_t hwt_codes_unknown(const struct hwt_codes *codes, uint64_t space, uint64_t address, size_t size,
			 bool any);

/* The stamps around `stamp`, `until` exclusive, at which the line of an address is the same. */
void hwt_codes_period(const struct hwt_codes *codes, uint64_t stamp, uint64_t address, uint64_t *from,
		      uint64_t *until);

/*
 * The code of a period, within which few lines change. A change ends a period in which there were enough of
 * them. Lines that follow each other are one run.
 */
struct hwt_code_run {
	uint64_t address, size; /* both are multiples of HWT_CODE_LINE */
	uint64_t space;		/* of the lines; 0: of all */
	/* hwt_codes_read() gives the same bytes at any stamp of the period and of the next one. */
	bool fixed;
	bool apart; /* lines of the other kind lie between it and the run before it */
};

/* Zero before the first use; the caller frees `run`. */
struct hwt_code_runs {
	uint64_t from, until; /* stamps of the period, `until` exclusive */
	struct hwt_code_run *run;
	size_t count;
	size_t changing; /* so many come first, by address; the fixed ones follow, by space and address */
	uint32_t room;
};

/*
 * Finds the runs of the period that a stamp lies in; stamp 0: the last period. `codes` may be NULL: no runs.
 * 0 or KTREAD_E_MEMORY.
 */
int hwt_codes_runs(const struct hwt_codes *codes, uint64_t stamp, struct hwt_code_runs *runs);

/*
 * Is a file what was run? The code that a recording brings along is held against the file's bytes, block by
 * block as it was run. A kernel that patches itself differs in a few bytes of some blocks. Of another build
 * code has moved: where it has, blocks have little in common with the file, and names of the file are wrong.
 */

struct hwt_likeness {
	uint64_t space;	    /* in which it is most like what was run; 0: of the kernel, or not told */
	uint64_t blocks;    /* that were run there where the file lies */
	uint64_t differing; /* of these, with a byte that is another */
	uint64_t moved;	    /* of these, with more such bytes than not, and too long for a patch */
	uint64_t first;	    /* lowest address of such a byte, if there is any */
};

/* Of the file's segments, `base` bytes higher. 0 or KTREAD_E_MEMORY. */
int hwt_likeness(const struct hwt_file *file, const struct hwt_binary *binary, uint64_t base,
		 struct hwt_likeness *likeness);
/*
 * It is another file than what was run. An address space may have been another program's before, and that
 * one's blocks count, too; the kernel has no other.
 */
static inline bool hwt_is_other(const struct hwt_likeness *likeness)
{
	return likeness->moved > (likeness->space ? likeness->blocks / 4 * 3 : likeness->blocks / 16);
}

/*
 * A file that may lie anywhere is found by its code. In a guest whose kernel tells nothing this is the only
 * way to learn where programs ran, and a program runs at another address in each process.
 */
struct hwt_base {
	uint64_t base;
	size_t blocks; /* that were run there, and are the file's */
};

/* The caller frees `*base`. 0 or KTREAD_E_MEMORY. */
int hwt_bases_find(const struct hwt_file *file, const struct hwt_binary *binary, struct hwt_base **base,
		   size_t *bases);

/*
 * The memory of a machine, as it was at one moment, seen through page tables: those of an address space where
 * it has some, or those of another, whose kernel is the same. Page tables are hostile as everything else.
 */

struct hwt_snapshot;

/* A RAM file or a core of a machine, ELF's number of which is `machine`. 0 or an error. */
int hwt_snapshot_open(struct hwt_snapshot **snapshot, const char *path, uint16_t machine);
void hwt_snapshot_close(struct hwt_snapshot *snapshot);
const char *hwt_snapshot_message(void); /* of the last open that failed, of this thread */
/* How many bytes can be read: at most `size`, and up to the end of a page. `space`: 0 if unknown. */
size_t hwt_snapshot_read(struct hwt_snapshot *snapshot, uint64_t space, uint64_t address, void *to,
			 size_t size);

/*
 * Images from inside: which file lay where at a moment, as a view of a process. A view is made by going
 * through what the trace says was mapped, up to that moment; one that goes on in time goes on from where it
 * is.
 */

#define HWT_VIEWS 8u /* kept at once: of several processes, or of one at several moments */

/* A piece of a file in memory. Those of a view are in the order of addresses, and none overlaps another. */
struct hwt_span {
	uint64_t address, size, offset;
	struct hwt_binary *binary;
};

struct hwt_view {
	bool used;
	uint32_t pid;
	uint64_t from, until; /* stamps at which it is right */
	size_t applied;	      /* mappings gone through */
	struct hwt_span *span;
	size_t spans;
	uint32_t room;
	uint64_t asked; /* when it was last, as images count */
	uint64_t changes;
};

/* A file that the caller added. */
struct hwt_added {
	struct hwt_binary *binary;
	uint32_t pid;
	uint64_t base;
};

/* A program or library, and where it was found by its code: [first, end) in memory. */
struct hwt_found {
	struct hwt_binary *binary;
	uint64_t base, first, end;
	uint64_t reach; /* the greatest `end` of those that begin before this one, and of this one */
};

struct hwt_image_warning {
	char *text;
	/* name of the file that is, without folders: one of that name that is added does for it; NULL */
	char *missing;
};

struct hwt_snapshot;

struct hwt_images {
	const struct hwt_file *file;
	char *root;
	struct hwt_mapping **mapping;	/* by stamps; the file's */
	struct hwt_binary **of_mapping; /* its file; NULL: none, or not found */
	size_t mappings;
	struct hwt_binary **binary; /* all that are open */
	size_t binaries;
	uint32_t binary_room;
	struct hwt_added *added;
	size_t additions;
	uint32_t added_room;
	struct hwt_found *found; /* by `first` */
	size_t founds;
	uint32_t found_room;
	struct hwt_codes *codes;
	struct hwt_snapshot *snapshot;
	struct hwt_map *map; /* of the kernel's symbols, which ran map_base higher; NULL: none */
	uint64_t map_base;
	struct hwt_view view[HWT_VIEWS];
	uint64_t asked;
	struct hwt_image_warning warning[HWT_WARNINGS_MOST];
	size_t warnings;
	char message[512];
};

/* Sets the message, and returns `code`. */
__attribute__((format(printf, 3, 4))) int hwt_images_fail(struct hwt_images *images, int code,
							  const char *format, ...);
/* `missing`: path of the file that is, or NULL. */
void hwt_images_warn(struct hwt_images *images, const char *text, const char *missing);
/* Opens the file of a path, once. 0 or an error, with its message. */
int hwt_images_open(struct hwt_images *images, const char *path, struct hwt_binary **found);
/* 0, or an error: code of another CPU says nothing of what was run. */
int hwt_images_check_machine(struct hwt_images *images, const struct hwt_binary *binary);

/*
 * Adds a file that was found `base` higher than it says. The caller tells the views. 0 or KTREAD_E_MEMORY.
 */
int hwt_found_add(struct hwt_images *images, struct hwt_binary *binary, uint64_t base);
/*
 * The file whose code lies at an address. Several may have been there, one after another or in different
 * processes: the code that the recording holds must be the file's. Sets the stamps, `until` exclusive, at
 * which the answer is the same. NULL: none.
 */
const struct hwt_found *hwt_found_at(const struct hwt_images *images, uint64_t stamp, uint64_t address,
				     uint64_t *from, uint64_t *until);

/* What a process has mapped at a stamp; 0: at last. NULL: out of memory. Valid until the next call. */
const struct hwt_view *hwt_images_view(struct hwt_images *images, uint32_t pid, uint64_t stamp);
/* How many bytes from an address on, at most `size`, hwt_images_read() is sure to know nothing of. */
size_t hwt_images_unknown(struct hwt_images *images, uint32_t pid, uint64_t space, uint64_t stamp,
			  uint64_t address, size_t size);
/* The first span that ends behind an address; NULL: none. */
const struct hwt_span *hwt_view_next(const struct hwt_view *view, uint64_t address);
/* The span that an address lies in; NULL: none. */
const struct hwt_span *hwt_view_find(const struct hwt_view *view, uint64_t address);

/* Page tables: from an address of a machine's program to where that lies in its memory. */

#define HWT_WALK_X86_64	 62u /* ELF's numbers of machines */
#define HWT_WALK_AARCH64 183u
#define HWT_WALK_PAGE	 4096u

/*
 * `space`: CR3, or TTBR0_EL1. Of x86_64 four levels, of AArch64 pages of 4 KiB and addresses of 48 or 39
 * bits, whose upper half
 * TTBR0 does not map. False: nothing is mapped there.
 */
bool hwt_walk(struct ktread_memory *memory, uint16_t machine, uint64_t space, uint64_t address,
	      uint64_t *physical);

#endif
