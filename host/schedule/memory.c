/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The guest's memory: decides which accesses touch a watched range, and maps words of the RAM file. */
#include "parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Watched ranges ---- */

static uint64_t page_of(uint64_t address)
{
	return address / MATCH_PAGE;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Marks all offsets at which an access that touches the range may begin. */
static void mark_offsets(struct match *match, const struct schedule_watch *watch)
{
	const uint64_t count = smaller(watch->length + MATCH_SIZE - 1, MATCH_PAGE);

	for (uint64_t n = 0; n < count; n++) {
		const uint64_t offset = (watch->address - (MATCH_SIZE - 1) + n) % MATCH_PAGE;

		match->offsets[offset / 64] |= UINT64_C(1) << offset % 64;
	}
}

const char *match_open(struct match *match, const struct schedule_watch *watch, uint32_t watches)
{
	*match = (struct match){ .ranges = watches };
	if (watches > SCHEDULE_WATCHES)
		return "too many watched ranges";
	for (uint32_t n = 0; n < watches; n++) {
		if (watch[n].length == 0 || watch[n].length > SCHEDULE_WATCH_MOST)
			return "the length of a watched range is invalid";
		match->range[n].watch = watch[n];
		mark_offsets(match, &watch[n]);
	}
	return NULL;
}

/* Compares differences, not sums, because a range may end at the end of the address space. */
static bool overlap(uint64_t a, uint64_t a_length, uint64_t b, uint64_t b_length)
{
	return a - b < b_length || b - a < a_length;
}

static bool touches(const struct match_range *range, const struct match_access *access)
{
	return (range->watch.kinds & access->kind) != 0 &&
	       overlap(access->address, access->size, range->watch.address, range->watch.length);
}

int match_virtual(const struct match *match, const struct match_access *access)
{
	for (uint32_t n = 0; n < match->ranges; n++)
		if (touches(&match->range[n], access))
			return (int)n;
	return -1;
}

/* Returns whether the first page of the access touches part `n` of the range. Compares offsets in pages. */
static bool touches_part(const struct match_range *range, uint32_t n, const struct match_access *access)
{
	const struct schedule_watch *watch = &range->watch;
	const uint64_t first = smaller(watch->length, MATCH_PAGE - watch->address % MATCH_PAGE);
	const uint64_t begin = n == 0 ? watch->address % MATCH_PAGE : 0;
	const uint64_t length = n == 0 ? first : watch->length - first;
	const uint64_t offset = access->address % MATCH_PAGE;

	return length > 0 && (watch->kinds & access->kind) != 0 &&
	       overlap(offset, smaller(access->size, MATCH_PAGE - offset), begin, length);
}

static bool has_part(const struct match_range *range, const struct match_access *access, const uint64_t *page)
{
	for (uint32_t n = 0; n < 2; n++)
		if (range->known[n] && (page == NULL || range->page[n] == *page) &&
		    touches_part(range, n, access))
			return true;
	return false;
}

bool match_needs_physical(const struct match *match, const struct match_access *access)
{
	for (uint32_t n = 0; n < match->ranges; n++)
		if (has_part(&match->range[n], access, NULL))
			return true;
	return false;
}

int match_physical(const struct match *match, const struct match_access *access, uint64_t physical)
{
	const uint64_t page = page_of(physical);

	for (uint32_t n = 0; n < match->ranges; n++)
		if (has_part(&match->range[n], access, &page))
			return (int)n;
	return -1;
}

void match_learn(struct match *match, int range, const struct match_access *access, uint64_t physical)
{
	struct match_range *found = &match->range[range];
	const uint64_t n = page_of(access->address) - page_of(found->watch.address);

	if (n > 1) /* the access begins in the page before the one that contains the range */
		return;
	found->page[n] = page_of(physical);
	found->known[n] = true;
}

/* ---- Words of the RAM file ---- */

#define PAGE UINT64_C(4096)

static char message[SCHEDULE_PATH + 200];

__attribute__((format(printf, 1, 2))) static const char *explain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	return message;
}

const char *ram_map_word(const char *path, uint64_t position, const _Atomic uint64_t **word)
{
	const uint64_t begin = position / PAGE * PAGE;
	const unsigned char *page = MAP_FAILED;
	struct stat status = { 0 };
	int fd, error;

	if (position % sizeof(**word) != 0)
		return explain("%s: offset 0x%" PRIx64 " of the watched word is not a multiple of 8", path,
			       position);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0 &&
	    position >= (uint64_t)status.st_size) {
		close(fd);
		return explain("%s: offset 0x%" PRIx64 " of the watched word is after the end of the file, "
			       "which has 0x%" PRIx64 " bytes",
			       path, position, (uint64_t)status.st_size);
	}
	if (fd >= 0)
		page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, (off_t)begin);
	error = errno;
	if (fd >= 0)
		close(fd);
	if (page == MAP_FAILED)
		return explain("%s: cannot map the watched word at offset 0x%" PRIx64 ": %s", path, position,
			       strerror(error));
	*word = (const void *)(page + (position - begin));
	return NULL;
}
