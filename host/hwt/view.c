/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Views: the files that are mapped in a process at one moment, their addresses, and names in them. */
#include <string.h>

#include "base/grow.h"
#include "binary.h"
#include "images.h"

/* ---- Spans of a view ---- */

/* Returns the index of the first span whose last byte is at or after an address. */
static size_t find(const struct hwt_view *view, uint64_t address)
{
	size_t low = 0, high = view->spans;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct hwt_span *span = &view->span[middle];

		if (span->address + (span->size - 1) < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct hwt_span *hwt_view_next(const struct hwt_view *view, uint64_t address)
{
	const size_t at = find(view, address);

	return at < view->spans ? &view->span[at] : NULL;
}

const struct hwt_span *hwt_view_find(const struct hwt_view *view, uint64_t address)
{
	const struct hwt_span *span = hwt_view_next(view, address);

	return span && span->address <= address ? span : NULL;
}

static int insert(struct hwt_view *view, size_t at, const struct hwt_span *span)
{
	struct hwt_span *grown = base_grow(view->span, &view->room, view->spans + 1, sizeof(*grown));

	if (!grown)
		return KTREAD_E_MEMORY;
	view->span = grown;
	memmove(&view->span[at + 1], &view->span[at], (view->spans - at) * sizeof(*grown));
	view->span[at] = *span;
	view->spans++;
	return 0;
}

/* Unmaps all addresses from `address` to `last`. */
static int clear(struct hwt_view *view, uint64_t address, uint64_t last)
{
	size_t at = find(view, address), end;
	struct hwt_span *span = at < view->spans ? &view->span[at] : NULL;

	if (span && span->address < address) {
		const uint64_t before = address - span->address;
		const struct hwt_span rest = { address, span->size - before, span->offset + before,
					       span->binary };

		span->size = before;
		if (insert(view, ++at, &rest) != 0)
			return KTREAD_E_MEMORY;
	}
	for (end = at; end < view->spans && view->span[end].address + (view->span[end].size - 1) <= last;
	     end++)
		;
	if (end < view->spans && view->span[end].address <= last) {
		const uint64_t gone = last - view->span[end].address + 1;

		view->span[end].address += gone;
		view->span[end].offset += gone;
		view->span[end].size -= gone;
	}
	if (end > at)
		memmove(&view->span[at], &view->span[end], (view->spans - end) * sizeof(*view->span));
	view->spans -= end - at;
	return 0;
}

/*
 * Maps the part of `span` that is within its file, and replaces what was mapped there. That part may be
 * empty.
 */
static int map_span(struct hwt_view *view, struct hwt_span span)
{
	if (span.size == 0)
		return 0;
	if (span.size - 1 > UINT64_MAX - span.address)
		span.size = UINT64_MAX - span.address;
	if (clear(view, span.address, span.address + (span.size - 1)) != 0)
		return KTREAD_E_MEMORY;
	if (!span.binary || span.offset >= span.binary->size)
		return 0;
	if (span.size > span.binary->size - span.offset)
		span.size = span.binary->size - span.offset;
	return insert(view, find(view, span.address), &span);
}

static int map_segments(struct hwt_view *view, struct hwt_binary *binary, uint64_t base)
{
	int status = 0;

	for (uint32_t i = 0; i < binary->segments && status == 0; i++) {
		const struct hwt_segment *segment = &binary->segment[i];

		status = map_span(view, (struct hwt_span){ segment->address + base, segment->size,
							   segment->offset, binary });
	}
	return status;
}

/* ---- Advancing a view to a later moment ---- */

static bool concerns(const struct hwt_view *view, const struct hwt_mapping *mapping)
{
	return view->pid == 0 || mapping->type == KTRX_HWT_KERNEL || mapping->pid == view->pid;
}

static int begin(struct hwt_images *images, struct hwt_view *view)
{
	int status = 0;

	view->spans = 0;
	view->applied = 0;
	for (size_t i = 0; i < images->additions && status == 0; i++)
		if (view->pid == 0 || images->added[i].pid == 0 || images->added[i].pid == view->pid)
			status = map_segments(view, images->added[i].binary, images->added[i].base);
	return status;
}

/* Restarts the view at an exec: removes all earlier mappings except those of the kernel. */
static int restart_at_exec(struct hwt_images *images, struct hwt_view *view, size_t until)
{
	int status = begin(images, view);

	for (size_t i = 0; i < until && status == 0; i++)
		if (images->mapping[i]->type == KTRX_HWT_KERNEL && images->of_mapping[i])
			status = map_segments(view, images->of_mapping[i], images->mapping[i]->address);
	return status;
}

static int apply(struct hwt_images *images, struct hwt_view *view, size_t n)
{
	const struct hwt_mapping *mapping = images->mapping[n];
	struct hwt_binary *binary = images->of_mapping[n];
	int status = 0;

	switch (mapping->type) {
	case KTRX_HWT_EXECUTABLE:
		/* a view of all processes does not contain which mappings belonged to the process */
		if (view->pid != 0)
			status = restart_at_exec(images, view, n);
		if (status == 0 && binary)
			status = map_segments(view, binary, mapping->address);
		return status;
	case KTRX_HWT_KERNEL:
		return binary ? map_segments(view, binary, mapping->address) : 0;
	case KTRX_HWT_MMAP:
		return map_span(
			view, (struct hwt_span){ mapping->address, mapping->size, mapping->offset, binary });
	default:
		return map_span(view, (struct hwt_span){ mapping->address, mapping->size, 0, NULL });
	}
}

/*
 * Applies mappings up to a timestamp. The mappings that were recorded first are valid even before their
 * timestamps, because they existed before the recording began.
 */
static int advance(struct hwt_images *images, struct hwt_view *view, uint64_t stamp)
{
	uint64_t first = 0;
	bool recorded = view->applied > 0;
	size_t n;
	int status = 0;

	for (n = view->applied; n < images->mappings && status == 0; n++) {
		const struct hwt_mapping *mapping = images->mapping[n];

		if (!concerns(view, mapping))
			continue;
		if (!recorded)
			first = mapping->stamp;
		if (mapping->stamp > stamp && mapping->stamp > first)
			break;
		recorded = true;
		status = apply(images, view, n);
		if (mapping->stamp > view->from)
			view->from = mapping->stamp;
	}
	view->applied = n;
	view->until = n < images->mappings ? images->mapping[n]->stamp : UINT64_MAX;
	view->changes = ++images->uses;
	return status;
}

/*
 * Chooses a view to use. The first choice is a view that is valid at the timestamp, the second a view that
 * can be advanced to the timestamp, the last the least recently used view.
 */
static struct hwt_view *choose(struct hwt_images *images, uint32_t pid, uint64_t stamp)
{
	struct hwt_view *best = &images->view[0], *nearest = NULL;

	for (unsigned i = 0; i < HWT_VIEWS; i++) {
		struct hwt_view *view = &images->view[i];

		if (view->used && view->pid == pid && stamp >= view->from) {
			if (stamp < view->until)
				return view;
			if (!nearest || view->from > nearest->from)
				nearest = view;
		}
		if (!view->used || (best->used && view->last_use < best->last_use))
			best = view;
	}
	if (nearest)
		return nearest;
	best->used = false;
	return best;
}

const struct hwt_view *hwt_images_view(struct hwt_images *images, uint32_t pid, uint64_t stamp)
{
	struct hwt_view *view;
	int status = 0;

	if (stamp == 0)
		stamp = UINT64_MAX - 1;
	view = choose(images, pid, stamp);
	if (!view->used) {
		view->used = true;
		view->pid = pid;
		view->from = 0;
		view->until = 0;
		status = begin(images, view);
	}
	if (status == 0 && stamp >= view->until)
		status = advance(images, view, stamp);
	view->last_use = ++images->uses;
	if (status == 0)
		return view;
	view->used = false;
	return NULL;
}

/* ---- The name at an address, and the address of a name ---- */

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
