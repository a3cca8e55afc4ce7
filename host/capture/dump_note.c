/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open.h"
#include "dump_note.h"
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
		found = info->version == KTRX2_VERSION && info->form == KTREAD_FORM_V2 && info->dumps > 0 &&
			!*info->note;
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
