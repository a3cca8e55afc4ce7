/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Addresses in words, and words as addresses: by the files of a view. */
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

/* What the list of symbols says of it, and where no file is known, that this is the kernel's. 0: nothing. */
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

int hwt_images_place(struct hwt_images *images, uint32_t pid, uint64_t stamp, uint64_t address, int want_line,
		     struct hwt_place *place)
{
	const struct hwt_view *view = hwt_images_view(images, pid, stamp);
	const struct hwt_span *span = view ? hwt_view_find(view, address) : NULL;
	const struct hwt_function *function;
	struct hwt_names *names;
	unsigned char byte;

	memset(place, 0, sizeof(*place));
	if (view) {
		place->from = view->from;
		place->until = view->until;
	}
	if (!span)
		return place_in_map(images, address, place) ||
		       hwt_codes_read(images->codes, 0, stamp, address, &byte, 1, true) == 1;
	span->binary->was_run = true;
	place->image = span->binary->name;
	place->path = span->binary->path;
	place->offset = hwt_binary_address(span->binary, span->offset + (address - span->address));
	names = names_of(span->binary);
	function = names ? hwt_names_find(names, place->offset) : NULL;
	if (function) {
		place->symbol = function->name;
		place->into = place->offset - function->address;
		place->symbol_address = address - place->into;
		place->symbol_size = function->size;
	} else {
		place_in_map(images, address, place);
	}
	if (names && want_line)
		place->source = hwt_names_line(names, place->offset, &place->line);
	return 1;
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

/* As the whole path, its end, or its last part. */
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

static bool is_meant(const struct hwt_images *images, const struct hwt_binary *binary, const char *image)
{
	return !image || !*image || is_called(binary, image) ||
	       (strcmp(image, HWT_KERNEL) == 0 && is_kernel(images, binary));
}

static int find_in_map(const struct hwt_images *images, const char *image, const char *function,
		       uint64_t *address, uint64_t *size)
{
	for (size_t i = 0; images->map && i < images->map->functions; i++) {
		const struct hwt_map_function *found = &images->map->function[i];

		if (strcmp(found->name, function) != 0 ||
		    (image && *image && strcmp(image, found->module ? found->module : HWT_KERNEL) != 0))
			continue;
		*address = found->address + images->map_base;
		*size = found->size;
		return 0;
	}
	return KTREAD_E_ABSENT;
}

int hwt_images_find(struct hwt_images *images, const char *image, const char *function, uint64_t *address,
		    uint64_t *size)
{
	const struct hwt_view *view = hwt_images_view(images, 0, 0);

	for (size_t i = 0; view && i < view->spans; i++) {
		const struct hwt_span *span = &view->span[i];
		const uint64_t own = hwt_binary_address(span->binary, span->offset);
		const struct hwt_function *found;
		struct hwt_names *names;

		if (!is_meant(images, span->binary, image))
			continue;
		names = names_of(span->binary);
		found = names ? hwt_names_named(names, function) : NULL;
		if (!found || found->address < own || found->address - own >= span->size)
			continue;
		*address = found->address - own + span->address;
		*size = found->size;
		return 0;
	}
	return find_in_map(images, image, function, address, size);
}
