/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds the name at an address, and the address of a name, in the files of a view. */
#include <stdlib.h>
#include <string.h>

#include "images.h"
#include "binary.h"

static struct hwt_names *names_of(struct hwt_binary *binary)
{
	if (!binary->names)
		binary->names = hwt_names_open(binary->path, binary->machine);
	return binary->names;
}

/*
 * Looks up an address in the list of symbols. If no file is known there, the image is the kernel or its
 * module. Returns 0 if nothing is found.
 */
static int place_in_map(const struct hwt_images *images, uint64_t address, struct hwt_place *place)
{
	const struct hwt_map_function *function =
		images->map ? hwt_map_find(images->map, address - images->map_base) : NULL;

	if (!function)
		return 0;
	if (!place->image) {
		place->image = function->module ? function->module : HWT_KERNEL;
		place->offset = address - images->map_base;
	}
	place->symbol = function->name;
	place->into = address - images->map_base - function->address;
	place->symbol_address = address - place->into;
	place->symbol_size = function->size;
	return 1;
}

/*
 * Looks up place->offset, which is one of the file's own addresses. In memory, the file is `moved` bytes
 * higher.
 */
static void place_in_file(struct hwt_images *images, struct hwt_binary *binary, uint64_t moved, int want_line,
			  struct hwt_place *place)
{
	struct hwt_names *names = names_of(binary);
	const struct hwt_function *function = names ? hwt_names_find(names, place->offset) : NULL;

	binary->was_run = true;
	place->image = binary->name;
	place->path = binary->path;
	if (function) {
		place->symbol = function->name;
		place->into = place->offset - function->address;
		place->symbol_address = function->address + moved;
		place->symbol_size = function->size;
	} else {
		place_in_map(images, place->offset + moved, place);
	}
	if (names && want_line)
		place->source = hwt_names_line(names, place->offset, &place->line);
}

int hwt_images_place(struct hwt_images *images, uint32_t pid, uint64_t stamp, uint64_t address, int want_line,
		     struct hwt_place *place)
{
	const struct hwt_view *view = hwt_images_view(images, pid, stamp);
	const struct hwt_span *span = view ? hwt_view_find(view, address) : NULL;
	const struct hwt_found *found;
	unsigned char byte;

	memset(place, 0, sizeof(*place));
	if (view) {
		place->from = view->from;
		place->until = view->until;
	}
	if (span) {
		place->offset = hwt_binary_address(span->binary, span->offset + (address - span->address));
		place_in_file(images, span->binary, address - place->offset, want_line, place);
		return 1;
	}
	found = hwt_found_at(images, stamp, address, &place->from, &place->until);
	if (found) {
		place->offset = address - found->base;
		place_in_file(images, found->binary, found->base, want_line, place);
		return 1;
	}
	return place_in_map(images, address, place) ||
	       hwt_codes_read(images->codes, 0, stamp, address, &byte, 1, true) == 1;
}

int hwt_images_named(struct hwt_images *images)
{
	if (images->map)
		return 1;
	for (size_t i = 0; i < images->binaries; i++) {
		const struct hwt_names *names = names_of(images->binary[i]);

		if (names && hwt_names_count(names))
			return 1;
	}
	return 0;
}

/* Returns true if `image` is the path, the last components of the path, or the name of the file. */
static bool is_called(const struct hwt_binary *binary, const char *image)
{
	const size_t length = strlen(image), whole = strlen(binary->path);

	return strcmp(binary->path, image) == 0 || strcmp(binary->name, image) == 0 ||
	       (length && length < whole && strcmp(binary->path + whole - length, image) == 0 &&
		(image[0] == '/' || binary->path[whole - length - 1] == '/'));
}

static bool has_kernel_code(const struct hwt_file *file)
{
	for (size_t i = 0; i < file->streams; i++)
		if (file->stream[i].stream.context.level & KTRX_HWT_KERNEL_LEVEL)
			return true;
	return false;
}

static bool is_kernel(const struct hwt_images *images, const struct hwt_binary *binary)
{
	bool named = false;

	for (size_t i = 0; i < images->mappings; i++) {
		if (images->mapping[i]->type != KTRX_HWT_KERNEL || !images->of_mapping[i])
			continue;
		named = true;
		if (images->of_mapping[i] == binary)
			return true;
	}
	for (size_t i = 0; i < images->additions && !named; i++)
		if (images->added[i].binary == binary && images->added[i].pid == 0)
			return has_kernel_code(images->file);
	return false;
}

static bool matches_image(const struct hwt_images *images, const struct hwt_binary *binary, const char *image)
{
	return !image || !*image || is_called(binary, image) ||
	       (strcmp(image, HWT_KERNEL) == 0 && is_kernel(images, binary));
}

/* ---- Finding the n-th address of a function ---- */

struct query {
	const char *image, *function;
	size_t left; /* number of matches to skip before the one that is wanted */
	uint64_t *address, *size;
};

/* Counts a match. If it is the one that is wanted, stores it and returns true. */
static bool take(struct query *query, uint64_t address, uint64_t size)
{
	if (query->left-- > 0)
		return false;
	*query->address = address;
	*query->size = size;
	return true;
}

static bool find_in_map(const struct hwt_images *images, struct query *query)
{
	const char *image = query->image;

	for (size_t i = 0; images->map && i < images->map->functions; i++) {
		const struct hwt_map_function *found = &images->map->function[i];

		if (strcmp(found->name, query->function) != 0 ||
		    (image && *image && strcmp(image, found->module ? found->module : HWT_KERNEL) != 0))
			continue;
		/* Functions of the same name in a list cannot be told apart: only the first is used. */
		return take(query, found->address + images->map_base, found->size);
	}
	return false;
}

static bool find_in_span(const struct hwt_span *span, struct query *query)
{
	const uint64_t own = hwt_binary_address(span->binary, span->offset);
	const struct hwt_names *names = names_of(span->binary);
	const struct hwt_function *found = names ? hwt_names_named(names, query->function) : NULL;

	return found && found->address >= own && found->address - own < span->size &&
	       take(query, found->address - own + span->address, found->size);
}

static bool find_in_found(const struct hwt_found *found, struct query *query)
{
	const struct hwt_names *names = names_of(found->binary);
	const struct hwt_function *function = names ? hwt_names_named(names, query->function) : NULL;

	return function && take(query, function->address + found->base, function->size);
}

int hwt_images_find(struct hwt_images *images, const char *image, const char *function, size_t n,
		    uint64_t *address, uint64_t *size)
{
	const struct hwt_view *view = hwt_images_view(images, 0, 0);
	struct query query = { image, function, n, address, size };

	for (size_t i = 0; view && i < view->spans; i++)
		if (matches_image(images, view->span[i].binary, image) &&
		    find_in_span(&view->span[i], &query))
			return 0;
	for (size_t i = 0; i < images->founds; i++)
		if (matches_image(images, images->found[i].binary, image) &&
		    find_in_found(&images->found[i], &query))
			return 0;
	return find_in_map(images, &query) ? 0 : KTREAD_E_ABSENT;
}
