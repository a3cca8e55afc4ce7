/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "memory_map.h"

/* "  FIRST-LAST (prio N, ram): NAME @OFFSET KVM": 1 if it is a range of `id` (NULL: of any RAM), 0 if not. */
static int read_range(const char *line, const char *id, uint64_t *first, uint64_t *last, uint64_t *offset)
{
	size_t id_length = id ? strlen(id) : 0;
	const char *name;
	char kind[16];
	int at = 0;

	if (sscanf(line, " %" SCNx64 "-%" SCNx64 " (prio %*d, %15[^)]): %n", first, last, kind, &at) != 3 ||
	    at == 0)
		return 0;
	name = line + at;
	*offset = 0;
	if (!id)
		return strcmp(kind, "ram") == 0;
	if ((strcmp(kind, "ram") != 0 && strcmp(kind, "rom") != 0) || strncmp(name, id, id_length) != 0 ||
	    (name[id_length] && name[id_length] != ' '))
		return 0;
	if (name[id_length])
		sscanf(name + id_length, " @%" SCNx64, offset);
	return 1;
}

static int add_range(struct capture_map *map, uint64_t first, uint64_t last, uint64_t offset)
{
	uint32_t n = map->ranges;
	uint64_t end = n ? map->range[n - 1].physical + map->range[n - 1].length : 0;

	if (first < end || last < first || last - first == UINT64_MAX || offset > INT64_MAX - (last - first))
		return capture_fail(CAPTURE_E_FORMAT, "QEMU's memory map is out of order");
	if (n && first == end && offset == map->range[n - 1].offset + map->range[n - 1].length) {
		map->range[n - 1].length += last - first + 1;
		return 0;
	}
	if (n == CAPTURE_MAP_RANGES)
		return capture_fail(CAPTURE_E_FORMAT, "QEMU's memory map has too many pieces");
	map->range[n].physical = first;
	map->range[n].length = last - first + 1;
	map->range[n].offset = offset;
	map->ranges++;
	return 0;
}

int capture_map_read(struct capture_map *map, const char *text, const char *id)
{
	bool wanted = false;
	char line[256];

	map->ranges = 0;
	while (*text) {
		size_t length = strcspn(text, "\r\n");
		uint64_t first, last, offset;

		snprintf(line, sizeof(line), "%.*s",
			 length < sizeof(line) ? (int)length : (int)sizeof(line) - 1, text);
		text += length;
		text += strspn(text, "\r\n");
		if (strncmp(line, "FlatView", 8) == 0) {
			if (map->ranges)
				return 0;
			wanted = false;
		}
		wanted |= strncmp(line, " AS \"memory\",", 13) == 0;
		if (wanted && read_range(line, id, &first, &last, &offset) &&
		    add_range(map, first, last, offset) != 0)
			return CAPTURE_E_FORMAT;
	}
	return map->ranges ? 0
			   : capture_fail(CAPTURE_E_FORMAT, "QEMU's memory map does not show '%s'",
					  id ? id : "ram");
}

uint32_t capture_map_find(const struct capture_map *map, uint64_t physical)
{
	uint32_t i = 0;

	while (i < map->ranges && physical >= map->range[i].physical &&
	       physical - map->range[i].physical >= map->range[i].length)
		i++;
	return i;
}
