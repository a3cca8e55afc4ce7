/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "images.h"

#include "base/grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the code that was run so many blocks are looked for in memory, and of each so many bytes. */
#define MEMORY_BLOCKS	   1024u
#define MEMORY_BLOCK	   64u
#define MEMORY_BLOCK_LEAST 8u

static _Thread_local char new_message[512];

__attribute__((format(printf, 3, 4))) static int fail(struct hwt_images *images, int code, const char *format,
						      ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(images->message, sizeof(images->message), format, arguments);
	va_end(arguments);
	return code;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* `missing`: path of the file that is, or NULL. */
static void warn(struct hwt_images *images, const char *text, const char *missing)
{
	struct hwt_image_warning *warning = &images->warning[images->warnings];

	if (images->warnings == HWT_WARNINGS_MOST)
		return;
	warning->text =
		strdup(images->warnings < HWT_WARNINGS_MOST - 1 ? text : "and more images that are missing");
	warning->missing = missing ? strdup(name_of(missing)) : NULL;
	images->warnings += warning->text != NULL;
}

/* A file is there now in place of one that was missing. */
static void forget_missing(struct hwt_images *images, const char *path)
{
	size_t kept = 0;

	for (size_t i = 0; i < images->warnings; i++) {
		struct hwt_image_warning *warning = &images->warning[i];

		if (warning->missing && strcmp(warning->missing, name_of(path)) == 0) {
			free(warning->text);
			free(warning->missing);
		} else {
			images->warning[kept++] = *warning;
		}
	}
	images->warnings = kept;
}

/* 0, or an error: code of another CPU says nothing of what was run. */
static int check_machine(struct hwt_images *images, const struct hwt_binary *binary)
{
	const uint16_t machine = images->file->machine;

	if (!machine || !binary->machine || machine == binary->machine)
		return 0;
	return fail(images, KTREAD_E_FORMAT,
		    "%s: a file for another CPU (ELF machine %u) than the traced one's (%u)", binary->path,
		    binary->machine, machine);
}

/* The binary of a path, opened once. */
static int find_binary(struct hwt_images *images, const char *path, struct hwt_binary **found)
{
	struct hwt_binary **grown;
	int status;

	for (size_t i = 0; i < images->binaries; i++)
		if (strcmp(images->binary[i]->path, path) == 0) {
			*found = images->binary[i];
			return 0;
		}
	status = hwt_binary_open(found, path);
	if (status == KTREAD_E_SYSTEM)
		return fail(images, status, "%s: %m", path);
	if (status == KTREAD_E_FORMAT)
		return fail(images, status, "%s: no file of code for a machine of 64 bits", path);
	grown = status < 0 ? NULL
			   : base_grow(images->binary, &images->binary_room, images->binaries + 1,
				       sizeof(*grown));
	if (!grown) {
		if (status == 0)
			hwt_binary_close(*found);
		return fail(images, KTREAD_E_MEMORY, "%s: out of memory", path);
	}
	images->binary = grown;
	images->binary[images->binaries++] = *found;
	return 0;
}

/* Where the file that a record names is to be looked for; NULL: out of memory. */
static char *place_of(const struct hwt_images *images, const char *path)
{
	char *place;

	if (!images->root || !*images->root)
		return strdup(path);
	return asprintf(&place, "%s/%s", images->root, path + strspn(path, "/")) < 0 ? NULL : place;
}

/* `first`: the mapping that has named the same file first. */
static int find_file(struct hwt_images *images, size_t n, size_t first)
{
	const struct hwt_mapping *mapping = images->mapping[n];
	char *place, text[640];
	int status;

	if (!*mapping->path)
		return 0;
	if (first != n) {
		images->of_mapping[n] = images->of_mapping[first];
		return 0;
	}
	place = place_of(images, mapping->path);
	status = place ? find_binary(images, place, &images->of_mapping[n])
		       : fail(images, KTREAD_E_MEMORY, "out of memory");
	free(place);
	if (status == KTREAD_E_MEMORY)
		return status;
	if (status < 0) {
		snprintf(text, sizeof(text), "missing image: %s", images->message);
		warn(images, text, mapping->path);
		return 0;
	}
	return check_machine(images, images->of_mapping[n]);
}

static int compare(const void *left, const void *right)
{
	const struct hwt_mapping *const *a = left, *const *b = right;

	if ((*a)->stamp != (*b)->stamp)
		return (*a)->stamp < (*b)->stamp ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

struct named {
	const char *path;
	size_t n;
};

static int compare_paths(const void *left, const void *right)
{
	const struct named *a = left, *b = right;
	const int order = strcmp(a->path, b->path);

	return order ? order : a->n < b->n ? -1 : a->n > b->n;
}

/* Which mapping names the same file as each, and is the first of those. NULL: out of memory. */
static size_t *find_firsts(const struct hwt_images *images)
{
	struct named *named = calloc(images->mappings + 1, sizeof(*named));
	size_t *first = calloc(images->mappings + 1, sizeof(*first));

	if (!named || !first) {
		free(named);
		free(first);
		return NULL;
	}
	for (size_t i = 0; i < images->mappings; i++)
		named[i] = (struct named){ images->mapping[i]->path, i };
	qsort(named, images->mappings, sizeof(*named), compare_paths);
	for (size_t i = 0; i < images->mappings; i++) {
		const bool again = i && strcmp(named[i - 1].path, named[i].path) == 0;

		first[named[i].n] = again ? first[named[i - 1].n] : named[i].n;
	}
	free(named);
	return first;
}

static int take_mappings(struct hwt_images *images)
{
	const struct hwt_file *file = images->file;
	size_t *first;
	int status = 0;

	images->mapping = calloc(file->mappings + 1, sizeof(struct hwt_mapping *));
	images->of_mapping = calloc(file->mappings + 1, sizeof(struct hwt_binary *));
	if (!images->mapping || !images->of_mapping)
		return fail(images, KTREAD_E_MEMORY, "out of memory");
	images->mappings = file->mappings;
	for (size_t i = 0; i < images->mappings; i++)
		images->mapping[i] = &file->mapping[i];
	qsort(images->mapping, images->mappings, sizeof(struct hwt_mapping *), compare);
	first = find_firsts(images);
	if (!first)
		return fail(images, KTREAD_E_MEMORY, "out of memory");
	for (size_t i = 0; i < images->mappings && status == 0; i++)
		status = find_file(images, i, first[i]);
	free(first);
	return status;
}

int hwt_images_new(struct hwt_images **made, const struct hwt_file *file, const char *root)
{
	struct hwt_images *images = calloc(1, sizeof(*images));
	int status;

	*made = NULL;
	if (!images) {
		snprintf(new_message, sizeof(new_message), "out of memory");
		return KTREAD_E_MEMORY;
	}
	images->file = file;
	if (root && *root && !(images->root = strdup(root)))
		status = fail(images, KTREAD_E_MEMORY, "out of memory");
	else
		status = take_mappings(images);
	if (status == 0 && hwt_codes_open(&images->codes, file) != 0)
		status = fail(images, KTREAD_E_MEMORY, "out of memory for the code that was run");
	if (status < 0) {
		memcpy(new_message, images->message, sizeof(new_message));
		hwt_images_free(images);
	} else {
		*made = images;
	}
	return status;
}

void hwt_images_free(struct hwt_images *images)
{
	if (!images)
		return;
	for (size_t i = 0; i < images->binaries; i++)
		hwt_binary_close(images->binary[i]);
	for (unsigned i = 0; i < HWT_VIEWS; i++)
		free(images->view[i].span);
	for (size_t i = 0; i < images->warnings; i++) {
		free(images->warning[i].text);
		free(images->warning[i].missing);
	}
	hwt_codes_close(images->codes);
	hwt_snapshot_close(images->snapshot);
	hwt_map_close(images->map);
	free(images->mapping);
	free(images->of_mapping);
	free(images->binary);
	free(images->added);
	free(images->root);
	free(images);
}

const char *hwt_images_message(const struct hwt_images *images)
{
	return images ? images->message : new_message;
}

const char *hwt_images_warning(const struct hwt_images *images, size_t n)
{
	return n < images->warnings ? images->warning[n].text : NULL;
}

/* A file is held against the code that was run. What few blocks differ may have been patched while it ran. */
static int check_likeness(struct hwt_images *images, struct hwt_binary *binary, uint64_t base)
{
	struct hwt_likeness likeness;
	char text[640];

	if (hwt_likeness(images->file, binary, base, &likeness) != 0)
		return fail(images, KTREAD_E_MEMORY, "%s: out of memory", binary->path);
	if (hwt_is_other(&likeness))
		return fail(images, KTREAD_E_FORMAT,
			    "%s is not what was run: bytes differ in %" PRIu64 " of %" PRIu64
			    " blocks, first at %#" PRIx64,
			    binary->path, likeness.differing, likeness.blocks, likeness.first);
	binary->was_run |= likeness.blocks > 0;
	if (!likeness.differing)
		return 0;
	snprintf(text, sizeof(text),
		 "%s: of %" PRIu64 " blocks that were run %" PRIu64 " differ, from %#" PRIx64
		 " on: patched while it ran, or else of another build, and names may be wrong there",
		 binary->path, likeness.blocks, likeness.differing, likeness.first);
	warn(images, text, NULL);
	return 0;
}

int hwt_images_add_elf(struct hwt_images *images, const char *path, uint32_t pid, uint64_t base)
{
	struct hwt_added *grown =
		base_grow(images->added, &images->added_room, images->additions + 1, sizeof(*grown));
	struct hwt_binary *binary;
	int status;

	if (!grown)
		return fail(images, KTREAD_E_MEMORY, "%s: out of memory", path);
	images->added = grown;
	status = find_binary(images, path, &binary);
	if (status < 0)
		return status;
	if (!binary->machine)
		return fail(images, KTREAD_E_FORMAT, "%s: no ELF file", path);
	status = check_machine(images, binary);
	if (status == 0)
		status = check_likeness(images, binary, base);
	if (status < 0)
		return status;
	forget_missing(images, path);
	images->added[images->additions++] = (struct hwt_added){ binary, pid, base };
	for (unsigned i = 0; i < HWT_VIEWS; i++)
		images->view[i].used = false;
	return 0;
}

const char *hwt_images_idle(const struct hwt_images *images, size_t n)
{
	for (size_t i = 0; i < images->additions; i++)
		if (!images->added[i].binary->was_run && n-- == 0)
			return images->added[i].binary->path;
	return NULL;
}

/* Held against the calls in the code that was run. */
static int check_map(struct hwt_images *images, const struct hwt_map_fit *fit, const char *path)
{
	const bool lower = fit->base >> 63;
	char text[640], moved[40] = "";

	if (!hwt_map_fit_is_known(fit)) {
		snprintf(text, sizeof(text),
			 "%.400s: cannot be held against the code that was run: only %" PRIu64
			 " functions are called in what the recording has of the kernel; names may be wrong",
			 path, fit->calls);
		warn(images, text, NULL);
		return 0;
	}
	if (fit->base)
		snprintf(moved, sizeof(moved), ", moved by %#" PRIx64, fit->base);
	if (!hwt_map_fit_is_good(fit))
		return fail(images, KTREAD_E_FORMAT,
			    "%.300s: not the symbols of the kernel that was run: of %" PRIu64
			    " addresses that its code calls %" PRIu64 " are beginnings of functions there%s",
			    path, fit->calls, fit->entries, moved);
	if (!fit->base)
		return 0;
	snprintf(text, sizeof(text),
		 "%.400s: the kernel ran %#" PRIx64 " %s: of %" PRIu64
		 " addresses that its code calls %" PRIu64 " are beginnings of functions there",
		 path, lower ? -fit->base : fit->base, lower ? "lower" : "higher", fit->calls, fit->entries);
	warn(images, text, NULL);
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
	status = status < 0 ? fail(images, status, "%s: out of memory", path) : check_map(images, &fit, path);
	if (status < 0) {
		hwt_map_close(map);
		return status;
	}
	hwt_map_close(images->map);
	images->map = map;
	images->map_base = fit.base;
	return 0;
}

/* Some of the code that was run lies in it, where any is known. */
static int check_memory(struct hwt_images *images, struct hwt_snapshot *snapshot, const char *path)
{
	const struct hwt_file *file = images->file;
	const size_t each = file->codes / MEMORY_BLOCKS + 1;
	unsigned char run[MEMORY_BLOCK], there[MEMORY_BLOCK];
	size_t asked = 0;

	for (size_t i = 0; i < file->codes; i += each) {
		const struct hwt_code *code = &file->code[i];
		const size_t size = code->size < sizeof(run) ? code->size : sizeof(run);

		if (size < MEMORY_BLOCK_LEAST ||
		    hwt_store_read(&file->store, code->offset, run, size) != size)
			continue;
		asked++;
		if (hwt_snapshot_read(snapshot, code->space, code->address, there, size) == size &&
		    memcmp(run, there, size) == 0)
			return 0;
	}
	return asked ? fail(images, KTREAD_E_FORMAT,
			    "%s: not the memory of the machine that was traced: none of the code that was "
			    "run "
			    "is found in it",
			    path)
		     : 0;
}

int hwt_images_add_snapshot(struct hwt_images *images, const char *path)
{
	struct hwt_snapshot *snapshot;
	int status = hwt_snapshot_open(&snapshot, path, images->file->machine);

	if (status < 0)
		return fail(images, status, "%s", hwt_snapshot_message());
	status = check_memory(images, snapshot, path);
	if (status < 0) {
		hwt_snapshot_close(snapshot);
		return status;
	}
	hwt_snapshot_close(images->snapshot);
	images->snapshot = snapshot;
	return 0;
}

static size_t read_files(struct hwt_images *images, uint32_t pid, uint64_t stamp, uint64_t address, void *to,
			 size_t size)
{
	const struct hwt_view *view = hwt_images_view(images, pid, stamp);
	const struct hwt_span *span = view ? hwt_view_find(view, address) : NULL;
	uint64_t left;

	if (!span)
		return 0;
	left = span->size - (address - span->address);
	if (size > left)
		size = (size_t)left;
	span->binary->was_run = true;
	memcpy(to, span->binary->bytes + span->offset + (address - span->address), size);
	return size;
}

size_t hwt_images_read(struct hwt_images *images, uint32_t pid, uint64_t space, uint64_t stamp,
		       uint64_t address, void *to, size_t size)
{
	unsigned char *bytes = to;
	size_t done = 0, got, unknown;

	while (done < size) {
		got = hwt_codes_read(images->codes, space, stamp, address + done, bytes + done, size - done,
				     false);
		if (!got) {
			/* A file is as it was before the kernel patched it: it ends where code was seen. */
			unknown = hwt_codes_unknown(images->codes, space, address + done, size - done, false);
			got = read_files(images, pid, stamp, address + done, bytes + done, unknown);
			if (!got && images->snapshot)
				got = hwt_snapshot_read(images->snapshot, space, address + done, bytes + done,
							unknown);
			if (!got)
				got = hwt_codes_read(images->codes, space, stamp, address + done,
						     bytes + done, unknown, true);
		}
		if (!got)
			break;
		done += got;
	}
	return done;
}

size_t hwt_images_unknown(struct hwt_images *images, uint32_t pid, uint64_t space, uint64_t stamp,
			  uint64_t address, size_t size)
{
	const struct hwt_view *view = hwt_images_view(images, pid, stamp);
	const struct hwt_span *span = view ? hwt_view_next(view, address) : NULL;
	const uint64_t ahead = !span ? UINT64_MAX : span->address > address ? span->address - address : 0;

	if (size > ahead)
		size = (size_t)ahead;
	/* What a snapshot knows nothing of is a page. */
	if (images->snapshot && size > HWT_WALK_PAGE - address % HWT_WALK_PAGE)
		size = HWT_WALK_PAGE - address % HWT_WALK_PAGE;
	return hwt_codes_unknown(images->codes, space, address, size, true);
}
