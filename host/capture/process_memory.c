/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/open.h"
#include "error.h"
#include "process_memory.h"

#define PAGEMAP_THERE	(UINT64_C(3) << 62) /* in memory, or swapped out */
#define PAGEMAP_ENTRIES 512u

struct process {
	pid_t pid;
	int pagemap; /* -1: every page may hold data */
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
			capture_fail_errno("memory of process %ld", (long)process->pid);
			return KTREAD_E_SYSTEM;
		}
		to += got;
		physical += (uint64_t)got;
		bytes -= (size_t)got;
	}
	return 0;
}

/* The first address in [from, end) of the process whose page is there, `end` if none is. */
static uint64_t first_there(const struct process *process, uint64_t from, uint64_t end)
{
	uint64_t entry[PAGEMAP_ENTRIES], at = from & ~(process->page - 1);

	while (at < end) {
		ssize_t got = pread(process->pagemap, entry, sizeof(entry),
				    (off_t)(at / process->page * sizeof(entry[0])));

		if (got < (ssize_t)sizeof(entry[0]))
			return from; /* no telling */
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
