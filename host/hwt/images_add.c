/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Adds files of code, lists of symbols and memory, which the user names, to the code of the recording. */
#include "images.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/*
 * a memory image is compared with about MEMORY_BLOCKS blocks of executed code: at most MEMORY_BLOCK bytes of
 * each block; blocks of fewer than MEMORY_BLOCK_LEAST bytes are skipped
 */
#define MEMORY_BLOCKS	   1024u
#define MEMORY_BLOCK	   64u
#define MEMORY_BLOCK_LEAST 8u

/* Removes the warnings that a file is missing, because this file has been added now. */
static void forget_missing(struct hwt_images *images, const char *path)
{
	size_t kept = 0;

	for (size_t i = 0; i < images->warnings; i++) {
		struct hwt_image_warning *warning = &images->warning[i];

		if (warning->missing && strcmp(warning->missing, hwt_name_of(path)) == 0) {
			free(warning->text);
			free(warning->missing);
		} else {
			images->warning[kept++] = *warning;
		}
	}
	images->warnings = kept;
}

/*
 * Warns of blocks that differ from the file. If there are only a few, the code may have been patched while it
 * ran.
 */
static void warn_of_differing(struct hwt_images *images, const struct hwt_binary *binary,
			      const struct hwt_likeness *likeness)
{
	char text[640];

	snprintf(text, sizeof(text),
		 "%s: %" PRIu64 " of %" PRIu64 " executed blocks differ, first at %#" PRIx64
		 ": patched at run time, or the file is another build; names may be wrong there",
		 binary->path, likeness->differing, likeness->blocks, likeness->first);
	hwt_images_warn(images, text, NULL);
}

static int add(struct hwt_images *images, struct hwt_binary *binary, uint32_t pid, uint64_t base)
{
	struct hwt_added *grown =
		base_grow(images->added, &images->added_room, images->additions + 1, sizeof(*grown));

	if (!grown)
		return hwt_images_fail(images, KTREAD_E_MEMORY, "%s: out of memory", binary->path);
	images->added = grown;
	grown[images->additions++] = (struct hwt_added){ binary, pid, base };
	for (unsigned i = 0; i < HWT_VIEWS; i++)
		images->view[i].used = false;
	return 0;
}

/* Adds the file at a base, unless the recording shows that other code was executed there. */
static int add_at(struct hwt_images *images, struct hwt_binary *binary, uint32_t pid, uint64_t base,
		  const struct hwt_likeness *likeness)
{
	if (hwt_is_other(likeness))
		return hwt_images_fail(images, KTREAD_E_FORMAT,
				       "%s is not the code that ran: %" PRIu64 " of %" PRIu64
				       " executed blocks differ, first at %#" PRIx64,
				       binary->path, likeness->differing, likeness->blocks, likeness->first);
	binary->was_run |= likeness->blocks > 0;
	if (likeness->differing)
		warn_of_differing(images, binary, likeness);
	return add(images, binary, pid, base);
}

/* Returns the base with the most matching blocks. There is only one, because a kernel is loaded only once. */
static const struct hwt_base *choose(const struct hwt_base *base, size_t bases)
{
	const struct hwt_base *best = base;

	for (size_t i = 1; i < bases; i++)
		if (base[i].blocks > best->blocks)
			best = &base[i];
	return best;
}

static void warn_of_place(struct hwt_images *images, const struct hwt_binary *binary, uint64_t first,
			  size_t places)
{
	char text[640];

	if (places == 1)
		snprintf(text, sizeof(text), "%s: found by its code at %#" PRIx64, binary->path, first);
	else
		snprintf(text, sizeof(text),
			 "%s: found by its code at %zu addresses, the lowest is %#" PRIx64, binary->path,
			 places, first);
	hwt_images_warn(images, text, NULL);
}

static int add_kernel(struct hwt_images *images, struct hwt_binary *binary, const struct hwt_base *base)
{
	struct hwt_likeness likeness;
	int status = hwt_likeness(images->file, binary, base->base, &likeness);

	if (status < 0)
		return hwt_images_fail(images, status, "%s: out of memory", binary->path);
	status = add_at(images, binary, 0, base->base, &likeness);
	if (status == 0)
		warn_of_place(images, binary, base->base + binary->base, 1);
	return status;
}

/*
 * Adds a program at each base that was found. Each base belongs to one address space and time, because other
 * programs may be at the same addresses in other address spaces or at other times.
 */
static int add_program(struct hwt_images *images, struct hwt_binary *binary, const struct hwt_base *base,
		       size_t bases)
{
	int status = 0;

	for (size_t i = 0; i < bases && status == 0; i++)
		status = hwt_found_add(images, binary, base[i].base);
	if (status < 0)
		return hwt_images_fail(images, status, "%s: out of memory", binary->path);
	binary->was_run = true;
	warn_of_place(images, binary, base[0].base + binary->base, bases);
	return 0;
}

/*
 * Searches the executed code for the code of the file. A position-independent file that is found in the lower
 * half of the address space is a program or library. Returns 1 if it was found, 0 if not, or an error.
 */
static int find_code(struct hwt_images *images, struct hwt_binary *binary)
{
	const struct hwt_base *best;
	struct hwt_base *base;
	size_t bases;
	int status = hwt_bases_find(images->file, binary, &base, &bases);

	if (status < 0)
		return hwt_images_fail(images, status, "%s: out of memory", binary->path);
	if (bases == 0)
		return 0;
	best = choose(base, bases);
	if (binary->movable && !((best->base + binary->base) >> 63))
		status = add_program(images, binary, base, bases);
	else
		status = add_kernel(images, binary, best);
	free(base);
	return status < 0 ? status : 1;
}

int hwt_images_add_elf(struct hwt_images *images, const char *path, uint32_t pid, const uint64_t *base)
{
	struct hwt_likeness likeness;
	struct hwt_binary *binary;
	int status = hwt_images_open(images, path, &binary);

	if (status < 0)
		return status;
	if (!binary->machine)
		return hwt_images_fail(images, KTREAD_E_FORMAT, "%s: not an ELF file", path);
	status = hwt_images_check_machine(images, binary);
	if (status < 0)
		return status;
	status = hwt_likeness(images->file, binary, base ? *base : 0, &likeness);
	if (status < 0)
		return hwt_images_fail(images, status, "%s: out of memory", path);
	if (!base && pid == 0 && (likeness.blocks == 0 || hwt_is_other(&likeness)))
		status = find_code(images, binary);
	if (status == 0)
		status = add_at(images, binary, pid, base ? *base : 0, &likeness);
	if (status < 0)
		return status;
	forget_missing(images, path);
	return 0;
}

const char *hwt_images_idle(const struct hwt_images *images, size_t n)
{
	for (size_t i = 0; i < images->additions; i++)
		if (!images->added[i].binary->was_run && n-- == 0)
			return images->added[i].binary->path;
	return NULL;
}

/* Compares a list of symbols with the calls in the executed code. */
static int check_map(struct hwt_images *images, const struct hwt_map_fit *fit, const char *path)
{
	const bool lower = fit->base >> 63;
	char text[640], moved[40] = "";

	if (!hwt_map_fit_is_known(fit)) {
		snprintf(text, sizeof(text),
			 "%.400s: cannot be checked: the recorded code calls only %" PRIu64
			 " functions of the kernel; names may be wrong",
			 path, fit->calls);
		hwt_images_warn(images, text, NULL);
		return 0;
	}
	if (fit->base)
		snprintf(moved, sizeof(moved), ", moved by %#" PRIx64, fit->base);
	if (!hwt_map_fit_is_good(fit))
		return hwt_images_fail(images, KTREAD_E_FORMAT,
				       "%.300s: not the symbols of the kernel that ran: of %" PRIu64
				       " addresses that its code calls, %" PRIu64
				       " are beginnings of listed functions%s",
				       path, fit->calls, fit->entries, moved);
	if (!fit->base)
		return 0;
	snprintf(text, sizeof(text),
		 "%.400s: the kernel ran %#" PRIx64 " %s than listed: of %" PRIu64
		 " addresses that its code calls, %" PRIu64 " are beginnings of functions",
		 path, lower ? -fit->base : fit->base, lower ? "lower" : "higher", fit->calls, fit->entries);
	hwt_images_warn(images, text, NULL);
	return 0;
}

int hwt_images_add_symbols(struct hwt_images *images, const char *path, const uint64_t *base)
{
	struct hwt_map_fit fit;
	struct hwt_map *map;
	int status = hwt_map_open(&map, path, images->message, sizeof(images->message));

	if (status < 0)
		return status;
	status = base ? hwt_map_fit_at(&fit, map, images->file, *base)
		      : hwt_map_fit_find(&fit, map, images->file);
	status = status < 0 ? hwt_images_fail(images, status, "%s: out of memory", path)
			    : check_map(images, &fit, path);
	if (status < 0) {
		hwt_map_close(map);
		return status;
	}
	hwt_map_close(images->map);
	images->map = map;
	images->map_base = fit.base;
	return 0;
}

/* Checks that the memory contains some of the executed code, if any is known. */
static int check_memory(struct hwt_images *images, struct hwt_snapshot *snapshot, const char *path)
{
	const struct hwt_file *file = images->file;
	const size_t each = file->codes / MEMORY_BLOCKS + 1;
	unsigned char run[MEMORY_BLOCK], there[MEMORY_BLOCK];
	size_t compared = 0;

	for (size_t i = 0; i < file->codes; i += each) {
		const struct hwt_code *code = &file->code[i];
		const size_t size = code->size < sizeof(run) ? code->size : sizeof(run);

		if (size < MEMORY_BLOCK_LEAST ||
		    hwt_store_read(&file->store, code->offset, run, size) != size)
			continue;
		compared++;
		if (hwt_snapshot_read(snapshot, code->space, code->address, there, size) == size &&
		    memcmp(run, there, size) == 0)
			return 0;
	}
	return compared ? hwt_images_fail(images, KTREAD_E_FORMAT,
					  "%s: not the memory of the machine that was traced: "
					  "it contains none of the code that ran",
					  path)
			: 0;
}

int hwt_images_add_snapshot(struct hwt_images *images, const char *path)
{
	struct hwt_snapshot *snapshot;
	int status = hwt_snapshot_open(&snapshot, path, images->file->machine);

	if (status < 0)
		return hwt_images_fail(images, status, "%s", hwt_snapshot_message());
	status = check_memory(images, snapshot, path);
	if (status < 0) {
		hwt_snapshot_close(snapshot);
		return status;
	}
	hwt_snapshot_close(images->snapshot);
	images->snapshot = snapshot;
	return 0;
}
