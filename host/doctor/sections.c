/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "doctor/sections.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/open.h"
#include "ktrx/v2.h"

#define SECTION_MOST (UINT64_C(16) << 20)
#define ROW_ALIGN    8u

struct bytes {
	unsigned char *at;
	uint64_t size;
};

/* What a kind of rows looks like, and what the kernel changes in them. */
struct kind {
	uint16_t magic;
	uint16_t least; /* bytes of a row */
	struct {
		uint16_t from, to;
	} own[3]; /* bytes of a row that are the kernel's at run time */
};

static const struct kind events = {
	.magic = KTRX_EVENT_MAGIC,
	.least = sizeof(struct ktrx_event),
	.own = { { offsetof(struct ktrx_event, state), offsetof(struct ktrx_event, v1_id) },
		 { offsetof(struct ktrx_event, flags), offsetof(struct ktrx_event, flags) + 1 },
		 { offsetof(struct ktrx_event, count), offsetof(struct ktrx_event, count) + 8 } },
};

/* Places that record stand among the events. Their addresses are others where the kernel has moved. */
static const struct kind places = {
	.magic = KTRX_PLACE_MAGIC,
	.least = sizeof(struct ktrx_place),
	.own = { { offsetof(struct ktrx_place, id), offsetof(struct ktrx_place, line) } },
};

/* Addresses are another where the kernel has moved; values are put in when the trace is taken. */
static const struct kind settings = {
	.magic = KTRX_SETTING_MAGIC,
	.least = sizeof(struct ktrx_setting),
	.own = { { offsetof(struct ktrx_setting, address), offsetof(struct ktrx_setting, most) } },
};

/* 0 and no bytes where the file cannot be read; or KTREAD_E_MEMORY. */
static int read_file(struct bytes *bytes, const char *elf, const struct capture_kernel_section *section)
{
	int fd;

	*bytes = (struct bytes){ NULL, section->size < SECTION_MOST ? section->size : SECTION_MOST };
	fd = section->offset ? base_open_regular(elf, O_RDONLY) : -1;
	if (fd < 0)
		return 0;
	bytes->at = malloc(bytes->size + 1);
	if (bytes->at && pread(fd, bytes->at, bytes->size, (off_t)section->offset) != (ssize_t)bytes->size) {
		free(bytes->at);
		bytes->at = NULL;
		bytes->size = 0;
	}
	close(fd);
	return bytes->at || !bytes->size ? 0 : KTREAD_E_MEMORY;
}

/* Bytes of the row at `at`, 0: there is none. */
static uint32_t row_at(const struct bytes *file, uint64_t at, const struct kind *kind)
{
	uint16_t magic, size;

	if (at + kind->least > file->size)
		return 0;
	memcpy(&magic, file->at + at, sizeof(magic));
	memcpy(&size, file->at + at + 2, sizeof(size));
	return magic == kind->magic && size >= kind->least && size % ROW_ALIGN == 0 && size <= file->size - at
		       ? size
		       : 0;
}

static bool is_own(const struct kind *kind, uint32_t byte)
{
	for (size_t n = 0; n < sizeof(kind->own) / sizeof(kind->own[0]); n++)
		if (byte >= kind->own[n].from && byte < kind->own[n].to)
			return true;
	return false;
}

/* "group.event", "file:line" of a place, or a setting's name. */
static void name_row(char name[SECTIONS_NAME], const unsigned char *row, uint32_t size,
		     const struct kind *kind)
{
	const char *strings = (const char *)row + kind->least;
	const uint32_t room = kind != &settings ? size - kind->least : 0;
	const uint32_t group = (uint32_t)strnlen(strings, room);
	uint32_t line;

	memcpy(&line, row + offsetof(struct ktrx_place, line), sizeof(line));
	if (kind == &places)
		snprintf(name, SECTIONS_NAME, "%.*s:%" PRIu32, (int)group, strings, line);
	else if (kind == &settings)
		snprintf(name, SECTIONS_NAME, "%.*s", (int)sizeof(((struct ktrx_setting *)0)->name),
			 (const char *)row + offsetof(struct ktrx_setting, name));
	else if (group < room)
		snprintf(name, SECTIONS_NAME, "%.*s.%.*s", (int)group, strings, (int)(room - group - 1),
			 strings + group + 1);
}

static void compare_row(struct sections_report *report, const unsigned char *row, const unsigned char *memory,
			uint32_t size, const struct kind *kind)
{
	bool same = true, zero = true;

	for (uint32_t n = 0; memory && n < size; n++) {
		same &= is_own(kind, n) || row[n] == memory[n];
		zero &= memory[n] == 0;
	}
	report->rows++;
	report->places += kind == &places;
	if (memory && same)
		return;
	if (sections_lost(report) == 0)
		name_row(report->first, row, size, kind);
	if (!memory)
		report->missing++;
	else if (zero)
		report->zero++;
	else
		report->other++;
}

int sections_compare(struct sections_report *report, const char *elf,
		     const struct capture_kernel_section *section, const struct ktread *trace, uint32_t type)
{
	const struct kind *kind = type == KTRX_SECTION_EVENTS ? &events : &settings;
	struct bytes file, memory = { NULL, 0 };
	uint32_t size;
	char *copy = NULL;
	int status = read_file(&file, elf, section);

	*report = (struct sections_report){ .compared = false };
	if (!status && file.at)
		status = ktread_section_copy(trace, type, &copy, &memory.size);
	memory.at = (unsigned char *)copy;
	report->compared = !status && file.at && copy;
	for (uint64_t at = 0; report->compared && at < file.size; at += size) {
		const struct kind *found = kind;

		size = row_at(&file, at, found);
		if (!size && kind == &events)
			size = row_at(&file, at, found = &places);
		if (size)
			compare_row(report, file.at + at, at + size <= memory.size ? memory.at + at : NULL,
				    size, found);
		else
			size = ROW_ALIGN;
	}
	free(file.at);
	free(copy);
	return status == KTREAD_E_MEMORY ? status : 0;
}
