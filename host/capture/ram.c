/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/open.h"
#include "error.h"
#include "ram.h"

struct ram {
	int fd;
	struct capture_map map;
};

int capture_ram_create(const char *path, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);

	if (fd < 0)
		return capture_fail_errno("%s", path);
	close(fd);
	return 0;
}

static int read_piece(int fd, char *buffer, size_t bytes, uint64_t offset)
{
	while (bytes) {
		ssize_t got = pread(fd, buffer, bytes, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			capture_fail(CAPTURE_E_SYSTEM, "the guest's RAM file: %s",
				     got < 0 ? strerror(errno) : "shorter than QEMU says");
			return KTREAD_E_SYSTEM;
		}
		buffer += got;
		offset += (uint64_t)got;
		bytes -= (size_t)got;
	}
	return 0;
}

static int ram_read(void *context, uint64_t physical, void *buffer, size_t bytes)
{
	const struct ram *ram = context;
	char *to = buffer;

	while (bytes) {
		uint32_t i = capture_map_find(&ram->map, physical);
		uint64_t into, piece;

		if (i == ram->map.ranges || physical < ram->map.range[i].physical)
			return KTREAD_E_FORMAT;
		into = physical - ram->map.range[i].physical;
		piece = ram->map.range[i].length - into;
		if (piece > bytes)
			piece = bytes;
		if (read_piece(ram->fd, to, (size_t)piece, ram->map.range[i].offset + into) != 0)
			return KTREAD_E_SYSTEM;
		to += piece;
		physical += piece;
		bytes -= (size_t)piece;
	}
	return 0;
}

static uint64_t ram_next_data(void *context, uint64_t physical)
{
	const struct ram *ram = context;

	for (uint32_t i = capture_map_find(&ram->map, physical); i < ram->map.ranges; i++) {
		uint64_t base = ram->map.range[i].physical;
		uint64_t offset = ram->map.range[i].offset;
		uint64_t into = physical > base ? physical - base : 0;
		off_t data = lseek(ram->fd, (off_t)(offset + into), SEEK_DATA);

		if (data < 0 && errno != ENXIO)
			return base + into; /* no such call here: all of it may be data */
		if (data >= 0 && (uint64_t)data - offset < ram->map.range[i].length)
			return base + ((uint64_t)data - offset);
	}
	return UINT64_MAX;
}

static void ram_close(void *context)
{
	struct ram *ram = context;

	close(ram->fd);
	free(ram);
}

static int open_mapped(struct ktread_memory **memory, const char *path, const struct capture_map *map)
{
	static const struct ktread_memory_ops ops = { .read = ram_read,
						      .next_data = ram_next_data,
						      .close = ram_close,
						      .message = capture_memory_message };
	struct ktread_range range[CAPTURE_MAP_RANGES];
	struct ram *ram = malloc(sizeof(*ram));

	if (!ram)
		return capture_fail_errno("%s", path);
	ram->map = *map;
	ram->fd = base_open_regular(path, O_RDONLY);
	if (ram->fd < 0) {
		free(ram);
		return capture_fail(CAPTURE_E_SYSTEM, "%s: %s", path, base_open_message(errno));
	}
	for (uint32_t i = 0; i < map->ranges; i++)
		range[i] = (struct ktread_range){ map->range[i].physical, map->range[i].length };
	if (ktread_memory_open(memory, &ops, ram, range, map->ranges) == 0)
		return 0;
	return capture_fail(CAPTURE_E_SYSTEM, "%s", ktread_image_message());
}

int capture_ram_open(struct ktread_memory **memory, const char *path, const struct capture_map *map,
		     const char *architecture)
{
	if (map->ranges)
		return open_mapped(memory, path, map);
	if (ktread_memory_open_ram(memory, path, architecture) == 0)
		return 0;
	return capture_fail(CAPTURE_E_SYSTEM, "%s", ktread_image_message());
}
