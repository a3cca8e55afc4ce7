/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "summary.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open.h"
#include "error.h"
#include "ktread/ktread.h"
#include "ktrx/v2.h"

#define ALIGNMENT 64u

/* Where the dump that is shown begins. False: it is none that takes a note. */
static bool find(const char *path, uint64_t *offset)
{
	struct ktread *trace = NULL;
	const struct ktread_info *info;
	bool found = false;

	if (ktread_open(&trace, path, NULL) == 0) {
		info = ktread_info(trace);
		*offset = info->offset;
		found = info->form == KTREAD_FORM_V2 && info->dumps > 0 && !*info->note;
	}
	ktread_close(trace);
	return found;
}

/* The place of a free entry in the dump's table, from the root on. False: there is none. */
static bool find_entry(int fd, uint64_t offset, const struct ktrx_root *root, uint64_t *place)
{
	struct ktrx_section section;

	for (uint32_t n = 0; n < root->sections && n < KTRX_SECTIONS; n++) {
		*place = root->table + n * sizeof(section);
		if (*place + sizeof(section) > root->root_size ||
		    pread(fd, &section, sizeof(section), (off_t)(offset + *place)) != sizeof(section))
			return false;
		if (section.type == 0 && section.where == KTRX_WHERE_NONE)
			return true;
	}
	return false;
}

static bool put(int fd, const void *bytes, size_t size, uint64_t at)
{
	return pwrite(fd, bytes, size, (off_t)at) == (ssize_t)size;
}

int capture_dump_note(const char *path, const char *note)
{
	struct ktrx_section section = {
		.type = KTRX_SECTION_NOTE, .where = KTRX_WHERE_FILE, .extents = 1, .length = strlen(note)
	};
	struct ktrx_root root;
	struct stat status;
	uint64_t offset, place, length;
	bool done = true;
	int fd;

	if (!find(path, &offset))
		return 0;
	fd = base_open_regular(path, O_RDWR);
	if (fd < 0)
		return capture_fail_errno("%s", path);
	if (fstat(fd, &status) == 0 && pread(fd, &root, sizeof(root), (off_t)offset) == sizeof(root) &&
	    find_entry(fd, offset, &root, &place)) {
		section.address = ((uint64_t)status.st_size - offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
		length = section.address + section.length;
		/* The entry comes last: until then the dump is as it was. */
		done = put(fd, note, section.length, offset + section.address) &&
		       put(fd, &length, sizeof(length), offset + offsetof(struct ktrx_root, length)) &&
		       put(fd, &section, sizeof(section), offset + place);
	}
	if (!done)
		capture_fail_errno("%s", path);
	close(fd);
	return done ? 0 : CAPTURE_E_SYSTEM;
}

#define CPUS_MOST 4096u

/*
 * A CPU that is online counts, though all that it recorded may have been overwritten in a ring that others
 * share.
 */
static void count_online(const struct ktread *trace, uint8_t *seen)
{
	struct ktrx_cpu row;

	for (uint32_t cpu = 0; cpu < CPUS_MOST && ktread_cpus(trace, cpu, &row, 1) > 0; cpu++)
		if (row.online)
			seen[cpu / 8] |= (uint8_t)(1u << cpu % 8);
}

int capture_summary_read(struct capture_summary *summary, const char *path)
{
	const struct ktread_event *event;
	const struct ktread_info *info;
	uint8_t seen[CPUS_MOST / 8] = { 0 };
	struct ktread *trace = NULL;
	uint64_t last = 0;
	int more;

	*summary = (struct capture_summary){ 0 };
	if (ktread_open(&trace, path, NULL) != 0) {
		capture_fail(CAPTURE_E_FORMAT, "%s", ktread_message(trace));
		ktread_close(trace);
		return CAPTURE_E_FORMAT;
	}
	info = ktread_info(trace);
	count_online(trace, seen);
	while ((more = ktread_next(trace, &event)) > 0) { /* CPUs without a ring of their own show here */
		if (event->cpu < CPUS_MOST)
			seen[event->cpu / 8] |= (uint8_t)(1u << event->cpu % 8);
		last = event->stamp;
	}
	if (info->frequency && last)
		summary->seconds = (double)(last - ktread_first_stamp(trace)) / (double)info->frequency;
	for (uint32_t cpu = 0; cpu < CPUS_MOST; cpu++)
		summary->cpus += seen[cpu / 8] >> cpu % 8 & 1;
	summary->outcome = info->outcome;
	summary->cut = ktread_is_cut(info);
	summary->status = info->status;
	summary->frequency = info->frequency;
	summary->refused = info->lost_events;
	for (uint32_t i = 0; i < info->rings; i++) {
		const struct ktread_ring *ring = ktread_ring(trace, i);

		summary->events += ring->records;
		summary->overwritten += ring->overwritten;
		summary->unreadable += ring->invalid;
		summary->refused += ring->dropped;
	}
	if (more < 0)
		capture_fail(CAPTURE_E_FORMAT, "%s", ktread_message(trace));
	ktread_close(trace);
	return more < 0 ? CAPTURE_E_FORMAT : 0;
}

void capture_summary_loss(const struct capture_summary *summary, char *text, size_t size)
{
	const struct {
		uint64_t count;
		const char *one, *more;
	} losses[] = {
		{ summary->overwritten, "slot overwritten", "slots overwritten" },
		{ summary->unreadable, "slot unreadable", "slots unreadable" },
		{ summary->refused, "record refused", "records refused" },
	};
	size_t length = 0;

	snprintf(text, size, "nothing lost");
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]) && length < size; i++)
		if (losses[i].count)
			length += (size_t)snprintf(text + length, size - length, "%s%" PRIu64 " %s",
						   length ? ", " : "", losses[i].count,
						   losses[i].count == 1 ? losses[i].one : losses[i].more);
}
