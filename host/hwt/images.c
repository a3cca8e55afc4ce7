/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds the files that a recording names, and reads code by address. */
#include "images.h"

#include "base/grow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char new_message[512];

int hwt_images_fail(struct hwt_images *images, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(images->message, sizeof(images->message), format, arguments);
	va_end(arguments);
	return code;
}

void hwt_images_warn(struct hwt_images *images, const char *text, const char *missing)
{
	struct hwt_image_warning *warning = &images->warning[images->warnings];

	if (images->warnings == HWT_WARNINGS_MOST)
		return;
	warning->text = strdup(images->warnings < HWT_WARNINGS_MOST - 1
				       ? text
				       : "further warnings about images are not shown");
	warning->missing = missing ? strdup(hwt_name_of(missing)) : NULL;
	images->warnings += warning->text != NULL;
}

int hwt_images_check_machine(struct hwt_images *images, const struct hwt_binary *binary)
{
	const uint16_t machine = images->file->machine;

	if (!machine || !binary->machine || machine == binary->machine)
		return 0;
	return hwt_images_fail(images, KTREAD_E_FORMAT,
			       "%s: for another CPU (ELF machine %u) than the traced one (%u)", binary->path,
			       binary->machine, machine);
}

int hwt_images_open(struct hwt_images *images, const char *path, struct hwt_binary **found)
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
		return hwt_images_fail(images, status, "%s: %m", path);
	if (status == KTREAD_E_FORMAT)
		return hwt_images_fail(
			images, status,
			"%s: must be a regular file, and an ELF file must be 64-bit little-endian", path);
	grown = status < 0 ? NULL
			   : base_grow(images->binary, &images->binary_room, images->binaries + 1,
				       sizeof(*grown));
	if (!grown) {
		if (status == 0)
			hwt_binary_close(*found);
		return hwt_images_fail(images, KTREAD_E_MEMORY, "%s: out of memory", path);
	}
	images->binary = grown;
	images->binary[images->binaries++] = *found;
	return 0;
}

/* Returns the path under which to open a file that a record names; NULL if out of memory. */
static char *place_of(const struct hwt_images *images, const char *path)
{
	char *place;

	if (!images->root || !*images->root)
		return strdup(path);
	return asprintf(&place, "%s/%s", images->root, path + strspn(path, "/")) < 0 ? NULL : place;
}

/* Opens the file of mapping n. `first` is the first mapping of the same file. */
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
	status = place ? hwt_images_open(images, place, &images->of_mapping[n])
		       : hwt_images_fail(images, KTREAD_E_MEMORY, "out of memory");
	free(place);
	if (status == KTREAD_E_MEMORY)
		return status;
	if (status < 0) {
		snprintf(text, sizeof(text), "missing image: %s", images->message);
		hwt_images_warn(images, text, mapping->path);
		return 0;
	}
	return hwt_images_check_machine(images, images->of_mapping[n]);
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

/*
 * Returns an array that contains, for each mapping, the index of the first mapping of the same file. The
 * caller frees the array. Returns NULL if out of memory.
 */
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
		return hwt_images_fail(images, KTREAD_E_MEMORY, "out of memory");
	images->mappings = file->mappings;
	for (size_t i = 0; i < images->mappings; i++)
		images->mapping[i] = &file->mapping[i];
	qsort(images->mapping, images->mappings, sizeof(struct hwt_mapping *), compare);
	first = find_firsts(images);
	if (!first)
		return hwt_images_fail(images, KTREAD_E_MEMORY, "out of memory");
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
		status = hwt_images_fail(images, KTREAD_E_MEMORY, "out of memory");
	else
		status = take_mappings(images);
	if (status == 0 && hwt_codes_open(&images->codes, file) != 0)
		status = hwt_images_fail(images, KTREAD_E_MEMORY, "out of memory for the code that was run");
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
	free(images->found);
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
			/*
			 * the kernel may have changed its code since it was loaded from a file: if there is
			 * recorded code, do not use the file
			 */
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
	/*
	 * pages of a snapshot are mapped separately, so the next page may be readable even if this one is not
	 */
	if (images->snapshot && size > HWT_WALK_PAGE - address % HWT_WALK_PAGE)
		size = HWT_WALK_PAGE - address % HWT_WALK_PAGE;
	return hwt_codes_unknown(images->codes, space, address, size, true);
}
