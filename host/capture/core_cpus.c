/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A core is of physical memory, and its notes lack what would tell how each machine translates addresses. But kernels
 * see their stacks and their data at the same distance from where these lie, which the root tells: it knows its own
 * address. What lies elsewhere, as stacks of programs do, is not to be read that way.
 */
#include <stdlib.h>

#include "core_cpus.h"
#include "core_registers.h"
#include "error.h"
#include "stack.h"

#define PAGES 4u /* at once */

static int add_stacks(struct ktread_memory *memory, uint64_t distance, char **text)
{
	struct capture_stack_page page[PAGES];
	struct capture_stacks *stacks;
	unsigned pages;
	int error = capture_stacks_open(&stacks, *text);

	if (error)
		return error;
	while ((pages = capture_stacks_wanted(stacks, page, PAGES)))
		for (unsigned n = 0; n < pages; n++) {
			page[n].readable = ktread_memory_read(memory, page[n].address - distance,
							      page[n].bytes, CAPTURE_STACK_PAGE) == 0;
			capture_stacks_put(stacks, &page[n]);
		}
	free(*text);
	*text = capture_stacks_text(stacks);
	capture_stacks_close(stacks);
	return *text ? 0 : capture_fail_errno("stacks");
}

int capture_core_cpus(const char *path, struct ktread_memory *memory, const struct ktread_image *image,
		      char **text)
{
	uint64_t address = ktread_image_virtual(image);
	int error;

	*text = NULL;
	if (ktread_image_is_kept(image))
		return 0;
	error = capture_core_registers(path, text);
	if (error || !*text || !address)
		return error;
	return add_stacks(memory, address - ktread_image_physical(image), text);
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
