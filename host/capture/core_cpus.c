/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A core is of physical memory, and its notes lack what would tell how each machine translates addresses. But kernels
 * see their stacks and their data at the same distance from where these lie, which the root tells: it knows its own
 * address. What lies elsewhere, as stacks of programs do, is not to be read that way.
 */
#include "core_cpus.h"
#include "core_registers.h"
#include "stack.h"

struct mapping {
	struct ktread_memory *memory;
	uint64_t distance; /* from physical addresses to the kernel's */
};

static int read_pages(void *context, struct capture_stack_page *page, unsigned pages)
{
	const struct mapping *mapping = context;

	for (unsigned n = 0; n < pages; n++)
		page[n].readable = ktread_memory_read(mapping->memory, page[n].address - mapping->distance,
						      page[n].bytes, CAPTURE_STACK_PAGE) == 0;
	return 0;
}

int capture_core_cpus(const char *path, struct ktread_memory *memory, const struct ktread_image *image,
		      char **text)
{
	const uint64_t address = ktread_image_virtual(image);
	struct mapping mapping = { memory, address - ktread_image_physical(image) };
	int error;

	*text = NULL;
	if (ktread_image_is_kept(image))
		return 0;
	error = capture_core_registers(path, text);
	if (error || !*text || !address)
		return error;
	return capture_stacks_add(text, read_pages, &mapping);
}

int capture_core_cpus_read(const char *path, char **text)
{
	struct ktread_memory *memory = NULL;
	struct ktread_image *image = NULL;
	int error = 0;

	*text = NULL;
	if (ktread_memory_open_core(&memory, path) == 0 && ktread_image_find(&image, memory) == 0)
		error = capture_core_cpus(path, memory, image, text);
	ktread_image_close(image);
	ktread_memory_close(memory);
	return error;
}
