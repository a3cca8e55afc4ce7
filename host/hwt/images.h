/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Code by address: from files, from snapshots, and from the CODE records of a trace. */
#ifndef HWT_IMAGES_H
#define HWT_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/memory.h"
#include "binary.h"
#include "file.h"

/*
 * Code from a recording: the bytes at an address and timestamp, in an address space. The code is stored in
 * lines of 64 bytes. A line belongs to one address space; a line of space 0 is used for all spaces that have
 * no line of their own. If bytes change over time, there is a line for each version, which is valid from the
 * line's timestamp on.
 */

#define HWT_CODE_LINE 64u

struct hwt_codes;

/* Reads the file's CODE records. Sets *codes to NULL if there are none. Returns 0, or KTREAD_E_MEMORY. */
int hwt_codes_open(struct hwt_codes **codes, const struct hwt_file *file);
void hwt_codes_close(struct hwt_codes *codes);

/*
 * Reads the known bytes from an address on. Returns how many were read, at most `size`. If `stamp` is 0,
 * reads the latest bytes. If `any` is set, also reads bytes that were seen only in other address spaces, if
 * all these spaces agree.
 */
size_t hwt_codes_read(const struct hwt_codes *codes, uint64_t space, uint64_t stamp, uint64_t address,
		      unsigned char *to, size_t size, bool any);

/*
 * Returns how many bytes from an address on, at most `size`, are unknown in this space, so that the caller
 * may get them from another source. If `any` is set, counts only bytes that are unknown in all spaces.
 */
size_t hwt_codes_unknown(const struct hwt_codes *codes, uint64_t space, uint64_t address, size_t size,
			 bool any);

/*
 * Finds a period [from, until), in timestamps, that contains `stamp` and in which the code line at an address
 * does not change.
 */
void hwt_codes_period(const struct hwt_codes *codes, uint64_t stamp, uint64_t address, uint64_t *from,
		      uint64_t *until);

/*
 * The code of a period: a length of time in which code changes a fixed number of times. A run is a range of
 * adjacent lines.
 */
struct hwt_code_run {
	uint64_t address, size; /* address and size of the run in memory, multiples of HWT_CODE_LINE */
	uint64_t space;		/* address space of the run's lines; 0: all address spaces */
	/* true if hwt_codes_read() returns the same bytes at any timestamp of this period and the next */
	bool fixed;
	/* true if there are lines with the other value of `fixed` between the previous run and this run */
	bool apart;
};

/* All bytes must be zero before the first use. The caller frees `run`. */
struct hwt_code_runs {
	uint64_t from, until; /* timestamps of the period, not including `until` */
	struct hwt_code_run *run;
	size_t count;
	/*
	 * Number of runs that are not fixed. They come first in `run`, sorted by address. The fixed runs
	 * follow, sorted by space and address.
	 */
	size_t changing;
	uint32_t room;
};

/*
 * Finds the runs of the period that contains a timestamp; timestamp 0: the last period. `codes` may be NULL,
 * which gives no runs. Returns 0 or KTREAD_E_MEMORY.
 */
int hwt_codes_runs(const struct hwt_codes *codes, uint64_t stamp, struct hwt_code_runs *runs);

/*
 * Checks whether the code of a file was executed: compares the code of a recording with the file, block by
 * block. If a kernel patches itself, a few bytes of some blocks differ. If the file is from another build,
 * code has moved: many blocks have little in common with the file, and its names would be wrong.
 */

struct hwt_likeness {
	uint64_t space;	 /* address space whose code matches the file best; 0: the kernel's, or unknown */
	uint64_t blocks; /* number of executed blocks at addresses of the file */
	/* number of executed blocks with at least one byte that differs from the file */
	uint64_t differing;
	/*
	 * number of executed blocks in which so many bytes differ from the file that they cannot be patched
	 * code
	 */
	uint64_t moved;
	uint64_t first; /* lowest address of a byte that differs from the file; 0 if there is none */
};

/* Compares the file's segments, moved up by `base`, with the executed code. Returns 0 or KTREAD_E_MEMORY. */
int hwt_likeness(const struct hwt_file *file, const struct hwt_binary *binary, uint64_t base,
		 struct hwt_likeness *likeness);
/*
 * Returns true if the executed code was not the code of this file. A program's address space may have
 * belonged to another program before, whose blocks are counted, too. For the kernel, there are no such
 * blocks, so the limit is lower.
 */
static inline bool hwt_is_other(const struct hwt_likeness *likeness)
{
	return likeness->moved > (likeness->space ? likeness->blocks / 4 * 3 : likeness->blocks / 16);
}

/*
 * Finds a position-independent file by its code. If the guest's kernel reports no mappings, this is the only
 * way to find out at which addresses programs were loaded. The address of a program differs between
 * processes.
 */
struct hwt_base {
	uint64_t base;
	size_t blocks; /* number of executed blocks that match the file at this base */
};

/* Finds the bases of a file. Sets *base to an array that the caller frees. Returns 0 or KTREAD_E_MEMORY. */
int hwt_bases_find(const struct hwt_file *file, const struct hwt_binary *binary, struct hwt_base **base,
		   size_t *bases);

/*
 * The memory of a machine at one moment, read through page tables: those of the wanted address space if they
 * are in the snapshot, otherwise those of another space, in which the same kernel is mapped. Page tables are
 * not trusted.
 */

struct hwt_snapshot;

/*
 * Opens a RAM file or a core of a machine. `machine` is its ELF machine number, or 0. Returns 0 or an error.
 */
int hwt_snapshot_open(struct hwt_snapshot **snapshot, const char *path, uint16_t machine);
void hwt_snapshot_close(struct hwt_snapshot *snapshot);
/* Returns the text of this thread's last failed hwt_snapshot_open(). */
const char *hwt_snapshot_message(void);
/*
 * Reads the bytes at an address. `space` is 0 if unknown. Returns how many bytes were read: at most `size`,
 * and only up to the end of a page.
 */
size_t hwt_snapshot_read(struct hwt_snapshot *snapshot, uint64_t space, uint64_t address, void *to,
			 size_t size);

/*
 * Internal structure of struct hwt_images. A view lists the files that were mapped in one process at one
 * moment, and their addresses. To make a view, the recorded mappings are applied in order up to that moment.
 * For a later moment, further mappings are applied to the view.
 */

/* number of views that are cached: of several processes, or of one process at several moments */
#define HWT_VIEWS 8u

/* A range of a file in memory. The spans of a view are sorted by address and do not overlap. */
struct hwt_span {
	uint64_t address, size, offset;
	struct hwt_binary *binary;
};

struct hwt_view {
	bool used;
	uint32_t pid;
	uint64_t from, until; /* the view is valid for timestamps in [from, until) */
	/* number of recorded mappings, beginning with the first one, that have been applied to the view */
	size_t applied;
	struct hwt_span *span;
	size_t spans;
	uint32_t room;
	uint64_t last_use; /* value of hwt_images.uses when the view was last used */
	uint64_t changes;
};

/* A file that the caller added. */
struct hwt_added {
	struct hwt_binary *binary;
	uint32_t pid;
	uint64_t base;
};

/* A program or library that was found by its code in memory at [first, end). */
struct hwt_found {
	struct hwt_binary *binary;
	uint64_t base, first, end;
	uint64_t reach; /* largest `end` of this entry and all previous entries */
};

struct hwt_image_warning {
	char *text;
	/*
	 * Name of the missing file without directories, or NULL. The warning is removed if a file of that
	 * name is added.
	 */
	char *missing;
};

struct hwt_snapshot;

struct hwt_images {
	const struct hwt_file *file;
	char *root;
	struct hwt_mapping **mapping;	/* the file's mappings, sorted by timestamp */
	struct hwt_binary **of_mapping; /* for each mapping: its file; NULL: none, or not found */
	size_t mappings;
	struct hwt_binary **binary; /* all files that are open */
	size_t binaries;
	uint32_t binary_room;
	struct hwt_added *added;
	size_t additions;
	uint32_t added_room;
	/* the programs and libraries that were found by their code, sorted by `first` */
	struct hwt_found *found;
	size_t founds;
	uint32_t found_room;
	struct hwt_codes *codes;
	struct hwt_snapshot *snapshot;
	/*
	 * the kernel's list of symbols, or NULL; the kernel was loaded map_base bytes above the listed
	 * addresses
	 */
	struct hwt_map *map;
	uint64_t map_base;
	struct hwt_view view[HWT_VIEWS];
	uint64_t uses;
	struct hwt_image_warning warning[HWT_WARNINGS_MOST];
	size_t warnings;
	char message[512];
};

/* Sets the error message, and returns `code`. */
__attribute__((format(printf, 3, 4))) int hwt_images_fail(struct hwt_images *images, int code,
							  const char *format, ...);
/* Adds a warning. `missing` is the path of a missing file, or NULL. */
void hwt_images_warn(struct hwt_images *images, const char *text, const char *missing);
/* Opens the file at a path, unless it is open already. Returns 0, or an error after setting the message. */
int hwt_images_open(struct hwt_images *images, const char *path, struct hwt_binary **found);
/* Returns 0, or an error if the file's code is not for the machine that was traced. */
int hwt_images_check_machine(struct hwt_images *images, const struct hwt_binary *binary);

/*
 * Adds a file that was found to be loaded `base` bytes above its own addresses. Returns 0 or KTREAD_E_MEMORY.
 */
int hwt_found_add(struct hwt_images *images, struct hwt_binary *binary, uint64_t base);
/*
 * Finds the file whose code is at an address. Several files may have been at this address, one after another
 * or in different processes. Returns the file whose bytes match the recorded code. Narrows [*from, *until) to
 * the timestamps at which the answer is the same. Returns NULL if there is none.
 */
const struct hwt_found *hwt_found_at(const struct hwt_images *images, uint64_t stamp, uint64_t address,
				     uint64_t *from, uint64_t *until);

/*
 * Returns a view of what process `pid` has mapped at a timestamp (0: the latest). The view is valid until the
 * next call. Returns NULL if out of memory.
 */
const struct hwt_view *hwt_images_view(struct hwt_images *images, uint32_t pid, uint64_t stamp);
/*
 * Returns the number of bytes from an address on, at most `size`, that hwt_images_read() certainly cannot
 * read.
 */
size_t hwt_images_unknown(struct hwt_images *images, uint32_t pid, uint64_t space, uint64_t stamp,
			  uint64_t address, size_t size);
/* Returns the first span that ends after an address; NULL if there is none. */
const struct hwt_span *hwt_view_next(const struct hwt_view *view, uint64_t address);
/* Returns the span that contains an address; NULL if there is none. */
const struct hwt_span *hwt_view_find(const struct hwt_view *view, uint64_t address);

/* Page table walks, which translate a virtual address to a physical address. */

#define HWT_WALK_X86_64	 62u /* ELF machine numbers */
#define HWT_WALK_AARCH64 183u
#define HWT_WALK_PAGE	 4096u

/*
 * Translates an address. `space` is CR3 or TTBR0_EL1. Supports four levels on x86_64. On AArch64 supports 4
 * KiB pages with addresses of 48 or 39 bits, but not the upper half of the address space, which TTBR0 does
 * not map. Returns false if nothing is mapped there.
 */
bool hwt_walk(struct ktread_memory *memory, uint16_t machine, uint64_t space, uint64_t address,
	      uint64_t *physical);

#endif
