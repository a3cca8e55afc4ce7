/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/parts.h"

#include <stdlib.h>
#include <string.h>

#define DESCRIPTORS 16384u
#define PROBES	    8u
#define PATH_MOST   255u /* maximum number of bytes of a path that are stored and printed */

struct kdump_descriptors {
	bool any;
	struct {
		uint32_t pid;
		int32_t fd;
		uint16_t size;
		/* file or socket to which the descriptor refers; NULL: this element is unused */
		char *path;
	} of[DESCRIPTORS];
};

struct kdump_descriptors *kdump_descriptors_create(void)
{
	return calloc(1, sizeof(struct kdump_descriptors));
}

void kdump_descriptors_destroy(struct kdump_descriptors *descriptors)
{
	for (unsigned n = 0; descriptors && n < DESCRIPTORS; n++)
		free(descriptors->of[n].path);
	free(descriptors);
}

bool kdump_descriptors_any(const struct kdump_descriptors *descriptors)
{
	return descriptors->any;
}

/*
 * Returns the entry of a descriptor, and sets *found to true. If the descriptor has no entry, sets *found to
 * false, and returns the entry to write: an unused entry, or the entry of another descriptor, which is
 * overwritten.
 */
static unsigned find_entry(const struct kdump_descriptors *descriptors, uint32_t pid, int32_t fd, bool *found)
{
	const unsigned first = (pid * 2654435761u + (uint32_t)fd * 40503u) % DESCRIPTORS;
	unsigned unused = first;

	*found = true;
	for (unsigned probe = PROBES; probe-- > 0;) {
		const unsigned n = (first + probe) % DESCRIPTORS;

		if (!descriptors->of[n].path)
			unused = n;
		else if (descriptors->of[n].pid == pid && descriptors->of[n].fd == fd)
			return n;
	}
	*found = false;
	return unused;
}

void kdump_descriptors_note(struct kdump_descriptors *descriptors, const struct ktread_proc_record *record)
{
	bool found;
	unsigned n = find_entry(descriptors, record->pid, record->fd.number, &found);
	size_t size = record->data_size < PATH_MOST ? record->data_size : PATH_MOST;
	char *path = size > 0 ? malloc(size + 1) : NULL;

	if (size == 0 && !found)
		return;
	if (path)
		memcpy(path, record->data, size);
	free(descriptors->of[n].path);
	descriptors->any = true;
	descriptors->of[n].pid = record->pid;
	descriptors->of[n].fd = record->fd.number;
	descriptors->of[n].size = (uint16_t)size;
	descriptors->of[n].path = path;
}

char *kdump_put_descriptor(char *at, const struct kdump_descriptors *descriptors, uint32_t pid, int32_t fd)
{
	bool found;
	unsigned n = find_entry(descriptors, pid, fd, &found);

	if (!found)
		return at;
	*at = '<';
	at = kdump_vis_text(at + 1, descriptors->of[n].path, descriptors->of[n].size,
			    KDUMP_VIS_GROWTH * PATH_MOST, false);
	*at = '>';
	return at + 1;
}
