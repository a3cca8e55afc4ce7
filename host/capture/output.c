/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open.h"
#include "ktread/ktread.h"
#include "ktrx/v2.h"
#include "error.h"
#include "plan.h"

int capture_output_may_replace(const char *path)
{
	struct stat status;

	if (lstat(path, &status) != 0 || S_ISREG(status.st_mode))
		return 0;
	return capture_fail(CAPTURE_E_SYSTEM,
			    "%s: exists and is not a regular file: choose another output file", path);
}

int capture_output_check(const char *path)
{
	char folder[PATH_MAX];

	if (capture_path_folder(folder, path) != 0 || capture_output_may_replace(path) != 0)
		return CAPTURE_E_SYSTEM;
	if (access(folder, W_OK | X_OK) != 0)
		return capture_fail_errno("%s: cannot be written: %s", path, folder);
	return 0;
}

int capture_output_rename(const char *fresh, const char *path)
{
	if (capture_output_may_replace(path) != 0)
		return CAPTURE_E_SYSTEM;
	return rename(fresh, path) == 0 ? 0 : capture_fail_errno("%s", path);
}

int capture_output_open(struct capture_output *output, const char *path)
{
	output->path = path;
	if (snprintf(output->fresh, sizeof(output->fresh), "%s.%ld.new", path, (long)getpid()) >=
	    (int)sizeof(output->fresh)) {
		errno = ENAMETOOLONG;
		return capture_fail_errno("%s", path);
	}
	unlink(output->fresh);
	output->fd = open(output->fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return output->fd >= 0 ? 0 : capture_fail_errno("%s", path);
}

int capture_output_dump(struct capture_output *output, struct ktread_image *image, const char *note,
			uint64_t frequency)
{
	if (ktread_image_write(image, output->fd, note, frequency) == 0)
		return 0;
	return capture_fail(CAPTURE_E_SYSTEM, "%s: %s", output->path, ktread_image_message());
}

int capture_output_commit(struct capture_output *output)
{
	int failed = close(output->fd);

	output->fd = -1;
	if (failed)
		capture_fail_errno("%s", output->path);
	else if (capture_output_rename(output->fresh, output->path) == 0)
		return 0;
	unlink(output->fresh);
	return CAPTURE_E_SYSTEM;
}

void capture_output_abandon(struct capture_output *output)
{
	close(output->fd);
	output->fd = -1;
	unlink(output->fresh);
}

#define RECORD_MAX (64u << 10)

void capture_record_set(struct capture_record *record, const char *key, const char *format, ...)
{
	va_list arguments;
	char *value = NULL;
	char *grown = NULL;
	size_t size;
	int length;

	va_start(arguments, format);
	length = vasprintf(&value, format, arguments);
	va_end(arguments);
	if (length >= 0) {
		size = strlen(key) + 1 + (size_t)length + 1;
		grown = realloc(record->bytes, record->length + size);
	}
	if (grown) {
		snprintf(grown + record->length, size, "%s=%s", key, value);
		record->bytes = grown;
		record->length += size;
	} else {
		record->failed = true;
	}
	if (length >= 0)
		free(value);
}

const char *capture_record_get(const struct capture_record *record, const char *key)
{
	size_t key_length = strlen(key);

	for (size_t at = 0; at < record->length; at += strlen(record->bytes + at) + 1)
		if (strncmp(record->bytes + at, key, key_length) == 0 &&
		    record->bytes[at + key_length] == '=')
			return record->bytes + at + key_length + 1;
	return "";
}

void capture_record_free(struct capture_record *record)
{
	free(record->bytes);
	*record = (struct capture_record){ 0 };
}

int capture_record_save(const struct capture_record *record, const char *path)
{
	char fresh[PATH_MAX];
	ssize_t written;
	int fd;

	if (record->failed || snprintf(fresh, sizeof(fresh), "%s.new", path) >= (int)sizeof(fresh)) {
		errno = record->failed ? ENOMEM : ENAMETOOLONG;
		return capture_fail_errno("%s", path);
	}
	fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return capture_fail_errno("%s", fresh);
	written = write(fd, record->bytes, record->length);
	if (close(fd) != 0 || written != (ssize_t)record->length || rename(fresh, path) != 0) {
		capture_fail_errno("%s", path);
		unlink(fresh);
		return CAPTURE_E_SYSTEM;
	}
	return 0;
}

int capture_record_load(struct capture_record *record, const char *path)
{
	char *bytes;
	ssize_t length;
	int fd;

	fd = base_open_regular(path, O_RDONLY);
	if (fd < 0 && errno == ENOENT)
		return capture_fail(CAPTURE_E_ABSENT, "%s does not exist", path);
	if (fd < 0)
		return capture_fail(CAPTURE_E_SYSTEM, "%s: %s", path, base_open_message(errno));
	bytes = malloc(RECORD_MAX);
	length = bytes ? read(fd, bytes, RECORD_MAX) : -1;
	close(fd);
	if (length <= 0 || bytes[length - 1] != '\0') {
		free(bytes);
		return capture_fail(CAPTURE_E_FORMAT, "%s: unreadable", path);
	}
	*record = (struct capture_record){ .bytes = bytes, .length = (size_t)length };
	return 0;
}

#define ALIGNMENT 64u

/*
 * Finds the offset of the dump that readers of the file use. Returns false if no note can be added to that
 * dump.
 */
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

/*
 * Finds an unused entry in the dump's table of sections and sets *place to the entry's offset from the root.
 * Returns false if there is none.
 */
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
		/* The entry is written last: without it, readers ignore the note. */
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
 * Marks the CPUs that are online, even those without records: if CPUs share a ring, all records of a CPU may
 * have been overwritten.
 */
static void count_online(const struct ktread *trace, uint8_t *seen)
{
	struct ktrx_cpu entry;

	for (uint32_t cpu = 0; cpu < CPUS_MOST && ktread_cpus(trace, cpu, &entry, 1) > 0; cpu++)
		if (entry.online)
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
	/* events also show the CPUs that have no ring of their own */
	while ((more = ktread_next(trace, &event)) > 0) {
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
	summary->unusable = info->unusable;
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
		{ summary->unusable, "ring unusable", "rings unusable" },
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
