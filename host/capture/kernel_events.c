/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kernel_elf.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/event_name.h"
#include "base/open.h"
#include "error.h"
#include "ktrx/v2.h"

#define SECTION_MOST ((uint64_t)16 << 20)
#define NAME_MOST    128u
#define GROUPS_TEXT  400u /* maximum size, in bytes, of the list of all groups in a message */

/*
 * Contents of the section ktrace_events: event descriptors (struct ktrx_event) and places (struct
 * ktrx_place), each at a multiple of 8 bytes.
 */
struct section {
	unsigned char *bytes;
	size_t size;
};

struct names {
	char group[NAME_MOST];
	char event[NAME_MOST];
};

/* ---- Event descriptors ---------------------------------------------------------------------------- */

static bool read_section(struct section *section, const char *path)
{
	struct capture_kernel kernel;
	int fd;

	if (capture_kernel_read(&kernel, path) != 0 || kernel.events.size == 0 ||
	    kernel.events.size > SECTION_MOST)
		return false;
	fd = base_open_regular(path, O_RDONLY);
	section->size = kernel.events.size;
	section->bytes = fd < 0 ? NULL : malloc(section->size);
	if (section->bytes &&
	    pread(fd, section->bytes, section->size, (off_t)kernel.events.offset) != (ssize_t)section->size) {
		free(section->bytes);
		section->bytes = NULL;
	}
	if (fd >= 0)
		close(fd);
	return section->bytes != NULL;
}

/*
 * Copies the string at *at to `name` and moves *at past its NUL. Returns false if the string does not end
 * before `end` or is too long.
 */
static bool take_string(const struct section *section, size_t *at, size_t end, char name[NAME_MOST])
{
	const unsigned char *nul = memchr(section->bytes + *at, '\0', end - *at);
	size_t length = nul ? (size_t)(nul - (section->bytes + *at)) : NAME_MOST;

	if (length >= NAME_MOST)
		return false;
	memcpy(name, section->bytes + *at, length + 1);
	*at += length + 1;
	return true;
}

/*
 * Returns the distance from `at` to the next offset that may hold an event descriptor. The distance is 8,
 * except at a place: there it is the size of the place, because the text in a place may look like an event
 * descriptor.
 */
static size_t step_at(const struct section *section, size_t at)
{
	struct ktrx_place place;

	memcpy(&place, section->bytes + at, sizeof(place));
	return place.magic == KTRX_PLACE_MAGIC && place.size >= sizeof(place) && place.size % 8 == 0 &&
			       place.size <= section->size - at
		       ? place.size
		       : 8;
}

/* Finds the next event descriptor from *at on and moves *at past it. Returns false if there is none. */
static bool next_descriptor(const struct section *section, size_t *at, struct names *names)
{
	for (struct ktrx_event descriptor; section->size - *at >= sizeof(descriptor);
	     *at += step_at(section, *at)) {
		size_t strings = *at + sizeof(descriptor), end;

		memcpy(&descriptor, section->bytes + *at, sizeof(descriptor));
		end = *at + descriptor.size;
		if (descriptor.magic != KTRX_EVENT_MAGIC || descriptor.size < sizeof(descriptor) ||
		    descriptor.size % 8 || descriptor.size > section->size - *at)
			continue;
		if (!take_string(section, &strings, end, names->group) ||
		    !take_string(section, &strings, end, names->event))
			continue;
		*at = end;
		return true;
	}
	return false;
}

/* ---- Words in the value of debug= -------------------------------------------------------------- */

/*
 * Returns true if the word selects the event, by the kernel's rules: a word without '.', '*' and '?' is the
 * name of a group.
 */
static bool matches_word(const char *word, const struct names *names)
{
	char full[2 * NAME_MOST];

	if (!strpbrk(word, ".*?"))
		return strcmp(word, names->group) == 0;
	snprintf(full, sizeof(full), "%s.%s", names->group, names->event);
	return fnmatch(word, full, FNM_NOESCAPE) == 0;
}

static bool is_known(const struct section *section, const char *word)
{
	struct names names;

	for (size_t at = 0; next_descriptor(section, &at, &names);)
		if (matches_word(word, &names))
			return true;
	return false;
}

static void put_groups(const struct section *section, char *text, size_t size)
{
	size_t length = (size_t)snprintf(text, size, "; the groups are");
	char seen[GROUPS_TEXT] = ",";
	struct names names;

	for (size_t at = 0; next_descriptor(section, &at, &names);) {
		char key[NAME_MOST + 2];

		snprintf(key, sizeof(key), ",%s,", names.group);
		if (strcmp(names.group, "ktrace") == 0 || strstr(seen, key) ||
		    strlen(seen) + strlen(key) > sizeof(seen) || length >= size)
			continue;
		strcat(seen, key + 1);
		length += (size_t)snprintf(text + length, size - length, "%s %s",
					   seen[strlen(key)] ? "," : "", names.group);
	}
}

static int refuse(const struct section *section, const char *path, const char *word)
{
	char hint[GROUPS_TEXT + SUGGESTIONS_TEXT];
	struct names names;
	struct suggestions similar;

	suggestions_start(&similar, word, strlen(word));
	for (size_t at = 0; next_descriptor(section, &at, &names);) {
		char full[2 * NAME_MOST];

		snprintf(full, sizeof(full), "%s.%s", names.group, names.event);
		suggestions_offer(&similar, names.group);
		suggestions_offer(&similar, full);
		suggestions_offer_as(&similar, names.event, full);
	}
	suggestions_text(&similar, hint, sizeof(hint));
	if (similar.names == 0)
		put_groups(section, hint, sizeof(hint));
	return capture_fail(CAPTURE_E_USAGE, "--events: %s has no group or event '%.64s'%s", path, word,
			    hint);
}

int capture_kernel_events_check(const char *path, const char *list)
{
	char *copy = strdup(list), *save = NULL;
	struct section section;
	int error = 0;

	if (!copy)
		return capture_fail_errno("--events");
	if (!read_section(&section, path)) {
		free(copy);
		return 0;
	}
	for (char *word = strtok_r(copy, ",", &save); word && !error; word = strtok_r(NULL, ",", &save)) {
		if (strcmp(word, "ktrace") == 0 || strcmp(word, "ktrace-all") == 0)
			continue;
		if (strncmp(word, "ktrace-", 7) == 0)
			word += 7;
		if (!is_known(&section, word))
			error = refuse(&section, path, word);
	}
	free(section.bytes);
	free(copy);
	return error;
}
