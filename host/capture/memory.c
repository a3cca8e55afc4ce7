/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/open.h"
#include "error.h"

/*
 * Parses a line "  FIRST-LAST (prio N, ram): NAME @OFFSET KVM". Returns 1 if it is a range of the backend
 * `id` (NULL: of any RAM), otherwise 0.
 */
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
		return capture_fail(CAPTURE_E_FORMAT, "QEMU's memory map is not in ascending order");
	if (n && first == end && offset == map->range[n - 1].offset + map->range[n - 1].length) {
		map->range[n - 1].length += last - first + 1;
		return 0;
	}
	if (n == CAPTURE_MAP_RANGES)
		return capture_fail(CAPTURE_E_FORMAT, "QEMU's memory map has too many ranges");
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
			   : capture_fail(CAPTURE_E_FORMAT, "QEMU's memory map has no ranges of '%s'",
					  id ? id : "ram");
}

/*
 * Returns the index of the range that contains `physical`, or of the next range above it; map->ranges if
 * there is none.
 */
static uint32_t capture_map_find(const struct capture_map *map, uint64_t physical)
{
	uint32_t i = 0;

	while (i < map->ranges && physical >= map->range[i].physical &&
	       physical - map->range[i].physical >= map->range[i].length)
		i++;
	return i;
}

/* bits of an entry of /proc/PID/pagemap; one of them is set if the page is in memory or swapped out */
#define PAGEMAP_THERE	(UINT64_C(3) << 62)
#define PAGEMAP_ENTRIES 512u

struct process {
	pid_t pid;
	/* descriptor of the process's /proc/PID/pagemap; -1: not available, so every page may hold data */
	int pagemap;
	uint64_t page;
	struct capture_map map;
};

static int process_read(void *context, uint64_t physical, void *buffer, size_t bytes)
{
	const struct process *process = context;
	char *to = buffer;

	while (bytes) {
		uint32_t i = capture_map_find(&process->map, physical);
		uint64_t into, left;
		struct iovec here, there;
		ssize_t got;

		if (i == process->map.ranges || physical < process->map.range[i].physical)
			return KTREAD_E_FORMAT;
		into = physical - process->map.range[i].physical;
		left = process->map.range[i].length - into;
		here = (struct iovec){ to, left < bytes ? (size_t)left : bytes };
		there = (struct iovec){ (void *)(uintptr_t)(process->map.range[i].offset + into),
					here.iov_len };
		got = process_vm_readv(process->pid, &here, 1, &there, 1, 0);
		if (got <= 0) {
			capture_fail_errno("cannot read memory of process %ld", (long)process->pid);
			return KTREAD_E_SYSTEM;
		}
		to += got;
		physical += (uint64_t)got;
		bytes -= (size_t)got;
	}
	return 0;
}

/*
 * Returns the first address in [from, end), in the process's memory, whose page exists; `end` if there is
 * none.
 */
static uint64_t first_there(const struct process *process, uint64_t from, uint64_t end)
{
	uint64_t entry[PAGEMAP_ENTRIES], at = from & ~(process->page - 1);

	while (at < end) {
		ssize_t got = pread(process->pagemap, entry, sizeof(entry),
				    (off_t)(at / process->page * sizeof(entry[0])));

		if (got < (ssize_t)sizeof(entry[0]))
			return from; /* it is unknown whether the page exists: assume that it does */
		for (size_t i = 0; i < (size_t)got / sizeof(entry[0]) && at < end; i++, at += process->page)
			if (entry[i] & PAGEMAP_THERE)
				return at > from ? at : from;
	}
	return end;
}

static uint64_t process_next_data(void *context, uint64_t physical)
{
	const struct process *process = context;

	for (uint32_t i = capture_map_find(&process->map, physical); i < process->map.ranges; i++) {
		uint64_t base = process->map.range[i].physical, begin = process->map.range[i].offset;
		uint64_t from = begin + (physical > base ? physical - base : 0);
		uint64_t end = begin + process->map.range[i].length;
		uint64_t found = process->pagemap < 0 ? from : first_there(process, from, end);

		if (found < end)
			return base + (found - begin);
	}
	return UINT64_MAX;
}

static void process_close(void *context)
{
	struct process *process = context;

	if (process->pagemap >= 0)
		close(process->pagemap);
	free(process);
}

int capture_process_open(struct ktread_memory **memory, pid_t pid, const struct capture_map *map)
{
	static const struct ktread_memory_ops ops = { .read = process_read,
						      .next_data = process_next_data,
						      .close = process_close,
						      .message = capture_memory_message };
	struct ktread_range range[CAPTURE_MAP_RANGES];
	struct process *process = malloc(sizeof(*process));
	char path[64];

	if (!process)
		return capture_fail_errno("memory of process %ld", (long)pid);
	snprintf(path, sizeof(path), "/proc/%ld/pagemap", (long)pid);
	process->pid = pid;
	process->pagemap = base_open_regular(path, O_RDONLY);
	process->page = (uint64_t)sysconf(_SC_PAGESIZE);
	process->map = *map;
	for (uint32_t i = 0; i < map->ranges; i++)
		range[i] = (struct ktread_range){ map->range[i].physical, map->range[i].length };
	if (ktread_memory_open(memory, &ops, process, range, map->ranges) == 0)
		return 0;
	return capture_fail(CAPTURE_E_SYSTEM, "%s", ktread_image_message());
}

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
				     got < 0 ? strerror(errno) : "shorter than QEMU reports");
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
			/* SEEK_DATA is not supported, so assume that the whole file contains data */
			return base + into;
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

/* ---- Snapshots ---- */

#define MOST_PIECES 4096u
/* maximum number of bytes that are copied; other memory is read from the machine later */
#define MOST_BYTES (UINT64_C(512) << 20)
/*
 * maximum gap, in bytes, between two pieces that are copied together, because copying the gap costs less than
 * another request
 */
#define CLOSE_BYTES (UINT64_C(64) << 10)

/*
 * Minimum size, in bytes, of a read that is assumed to be a read of slots. The contents of slots do not
 * affect which parts are read, so such a read returns zeros while reads are recorded.
 */
#define SLOTS_BYTES ((size_t)128 << 10)

struct piece {
	uint64_t physical, end;
	unsigned char *bytes; /* buffer for the copy; NULL: not allocated */
};

struct capture_snapshot {
	struct ktread_memory *below, *memory;
	struct piece piece[MOST_PIECES]; /* sorted and disjoint after a call of join() */
	uint32_t pieces;
	bool remembers, taken;
};

static int compare(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;

	return (a->physical > b->physical) - (a->physical < b->physical);
}

/* Sorts the pieces, and joins pieces that overlap or touch. */
static void join(struct capture_snapshot *snapshot)
{
	struct piece *piece = snapshot->piece;
	uint32_t kept = 0;

	qsort(piece, snapshot->pieces, sizeof(*piece), compare);
	for (uint32_t i = 0; i < snapshot->pieces; i++) {
		struct piece *last = kept ? &piece[kept - 1] : NULL;

		if (!last || piece[i].physical > last->end)
			piece[kept++] = piece[i];
		else if (piece[i].end > last->end)
			last->end = piece[i].end;
	}
	snapshot->pieces = kept;
}

static void remember(struct capture_snapshot *snapshot, uint64_t physical, uint64_t bytes)
{
	struct piece *last = snapshot->pieces ? &snapshot->piece[snapshot->pieces - 1] : NULL;

	/* this read begins within the last piece or at its end */
	if (last && physical >= last->physical && physical <= last->end) {
		if (physical + bytes > last->end)
			last->end = physical + bytes;
		return;
	}
	if (snapshot->pieces == MOST_PIECES)
		join(snapshot);
	if (snapshot->pieces < MOST_PIECES)
		snapshot->piece[snapshot->pieces++] = (struct piece){ physical, physical + bytes, NULL };
}

static int snapshot_read(void *context, uint64_t physical, void *buffer, size_t bytes)
{
	struct capture_snapshot *snapshot = context;

	for (uint32_t i = 0; snapshot->taken && i < snapshot->pieces; i++) {
		const struct piece *piece = &snapshot->piece[i];

		if (piece->bytes && physical >= piece->physical && physical < piece->end &&
		    bytes <= piece->end - physical) {
			memcpy(buffer, piece->bytes + (physical - piece->physical), bytes);
			return 0;
		}
	}
	if (snapshot->remembers)
		remember(snapshot, physical, bytes);
	if (snapshot->remembers && bytes >= SLOTS_BYTES) {
		memset(buffer, 0, bytes);
		return 0;
	}
	return ktread_memory_read(snapshot->below, physical, buffer, bytes);
}

static uint64_t snapshot_next_data(void *context, uint64_t physical)
{
	struct capture_snapshot *snapshot = context;

	return ktread_memory_next_data(snapshot->below, physical);
}

int capture_snapshot_open(struct capture_snapshot **snapshot, struct ktread_memory *below)
{
	static const struct ktread_memory_ops ops = { .read = snapshot_read,
						      .next_data = snapshot_next_data,
						      .message = capture_memory_message };
	struct ktread_range range[KTREAD_RANGES_MOST];
	struct capture_snapshot *opened = calloc(1, sizeof(*opened));
	uint32_t ranges = ktread_memory_ranges(below, range, KTREAD_RANGES_MOST);

	if (!opened)
		return capture_fail_errno("snapshot");
	opened->below = below;
	if (ktread_memory_open(&opened->memory, &ops, opened, range, ranges) != 0) {
		free(opened);
		return capture_fail(CAPTURE_E_SYSTEM, "%s", ktread_image_message());
	}
	*snapshot = opened;
	return 0;
}

struct ktread_memory *capture_snapshot_memory(struct capture_snapshot *snapshot)
{
	return snapshot->memory;
}

void capture_snapshot_remember(struct capture_snapshot *snapshot)
{
	snapshot->remembers = true;
}

/* Joins pieces across small gaps, if the gap is readable memory. */
static void widen(struct capture_snapshot *snapshot)
{
	join(snapshot);
	for (uint32_t i = 0; i + 1 < snapshot->pieces; i++) {
		uint64_t end = snapshot->piece[i].end, next = snapshot->piece[i + 1].physical;

		if (next - end <= CLOSE_BYTES && ktread_memory_run(snapshot->below, end) >= next - end)
			snapshot->piece[i].end = next;
	}
	join(snapshot);
}

void capture_snapshot_prepare(struct capture_snapshot *snapshot)
{
	uint64_t budget = MOST_BYTES;

	widen(snapshot);
	snapshot->remembers = false;
	for (uint32_t i = 0; i < snapshot->pieces; i++) {
		struct piece *piece = &snapshot->piece[i];
		uint64_t bytes = piece->end - piece->physical;

		piece->bytes = bytes <= budget ? malloc(bytes) : NULL;
		if (!piece->bytes)
			continue;
		budget -= bytes;
		/* touches the pages, so that they are allocated now and not while the machine is halted */
		memset(piece->bytes, 1, bytes);
	}
}

int capture_snapshot_take(struct capture_snapshot *snapshot)
{
	for (uint32_t i = 0; i < snapshot->pieces; i++) {
		struct piece *piece = &snapshot->piece[i];
		int status = piece->bytes ? ktread_memory_read(snapshot->below, piece->physical, piece->bytes,
							       piece->end - piece->physical)
					  : 0;

		if (status < 0)
			return capture_fail(CAPTURE_E_SYSTEM, "%s", ktread_image_message());
	}
	snapshot->taken = true;
	return 0;
}

void capture_snapshot_close(struct capture_snapshot *snapshot)
{
	if (!snapshot)
		return;
	ktread_memory_close(snapshot->memory);
	for (uint32_t i = 0; i < snapshot->pieces; i++)
		free(snapshot->piece[i].bytes);
	free(snapshot);
}
