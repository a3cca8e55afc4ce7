/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Examines the kernel's file: whether ktrace is linked in, and whether the sections of ktrace are intact in
 * the guest's memory.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/open.h"
#include "capture/error.h"
#include "capture/kernel_elf.h"
#include "doctor/examine.h"
#include "ktread/ktread.h"
#include "ktrx/v2.h"

/* ---- The kernel's file ---- */

#define HEX_TEXT (2 * CAPTURE_BUILD_ID_MAX + 1)

static const char *hex(const unsigned char *bytes, uint32_t size, char text[HEX_TEXT])
{
	size = size < CAPTURE_BUILD_ID_MAX ? size : CAPTURE_BUILD_ID_MAX;
	text[0] = '\0';
	for (uint32_t n = 0; n < size; n++)
		snprintf(text + 2 * n, 3, "%02x", bytes[n]);
	return text;
}

static void examine_linked(struct findings *report, const struct capture_kernel *kernel)
{
	if (kernel->root_address) {
		findings_add(report, FINDING_OK, "linked in", "ktrace_root is at 0x%" PRIx64,
			     kernel->root_address);
	} else if (kernel->has_symbols) {
		findings_add(report, FINDING_WRONG, "linked in",
			     "the file has no ktrace_root: kernel/ktrace.mk lists what to compile and link");
		findings_set_certain(report, FINDING_CERTAIN);
	} else {
		findings_add(report, FINDING_NOTE, "linked in",
			     "the file has no symbols, so it does not show whether ktrace is in it");
	}
}

static void examine_build_id(struct findings *report, const struct subject *subject)
{
	const struct ktread_info *info = subject->facts ? subject->facts->info : NULL;
	const struct capture_kernel *kernel = &subject->kernel;
	char file[HEX_TEXT], trace[HEX_TEXT];

	if (!kernel->build_id_size)
		findings_add(report, FINDING_DARK, "build id",
			     "the file has none, so builds cannot be distinguished: link with ld --build-id");
	else if (!info || !info->build_id_size)
		return; /* examine_views() reports a missing build id */
	else if (info->build_id_size == kernel->build_id_size &&
		 memcmp(info->build_id, kernel->build_id, kernel->build_id_size) == 0)
		findings_add(report, FINDING_OK, "build id", "%s, the file's and the trace's",
			     hex(kernel->build_id, kernel->build_id_size, file));
	else {
		findings_add(report, FINDING_WRONG, "build id",
			     "the trace is of another build: %s in the file, %s in the trace",
			     hex(kernel->build_id, kernel->build_id_size, file),
			     hex(info->build_id, info->build_id_size, trace));
		findings_set_certain(report, FINDING_CERTAIN);
	}
}

/*
 * Returns the number to add to an address in the file to get an address in the running kernel: 0 unless the
 * kernel was moved when it was loaded.
 */
static uint64_t moved_by(const struct subject *subject)
{
	const uint64_t self = subject->facts->info->self, root = subject->kernel.root_address;

	return self && root ? self - root : 0;
}

void examine_symbols(struct findings *report, const struct subject *subject)
{
	const struct facts *facts = subject->facts;
	struct symbols *symbols;
	struct symbol symbol;
	uint64_t address = subject->kernel.init_address + moved_by(subject);
	bool lines = false, names = false;
	int status;

	if (!subject->has_kernel)
		return;
	status = symbols_open(&symbols, subject->elf, facts->info);
	if (status < 0) {
		findings_add(report, status == SYMBOLS_E_MACHINE ? FINDING_WRONG : FINDING_DARK, "symbols",
			     "%s", symbols_message());
		return;
	}
	for (uint32_t n = 0; n <= facts->cpus; n++) {
		if (address && symbols_find(symbols, address, &symbol) == 0) {
			names = true;
			lines |= symbol.file != NULL;
		}
		address = n < facts->cpus ? facts->cpu[n].row.pc : 0;
	}
	if (status == SYMBOLS_OTHER_BUILD)
		findings_add(report, FINDING_WRONG, "symbols", "%s", symbols_message());
	else if (lines)
		findings_add(report, FINDING_OK, "symbols", "functions, files and lines");
	else if (names)
		findings_add(report, FINDING_DARK, "symbols",
			     "functions without files and lines: compile with -g");
	else
		findings_add(report, FINDING_DARK, "symbols", "no function is found at any known address");
	symbols_close(symbols);
}

/* ---- Sections of ktrace in the guest's memory ---- */

/*
 * Compares the descriptors of events or settings in the kernel's file with the guest's memory at the time of
 * the trace, and counts descriptors that are lost in memory.
 */

#define SECTIONS_NAME 96u

struct sections_report {
	bool compared; /* true if the file and the memory could be read */
	uint32_t rows; /* number of descriptors in the file */
	/* number of these descriptors that belong to calls of KTR_LOG, not to events */
	uint32_t places;
	uint32_t zero; /* number of these descriptors that are all zeros in memory */
	/* number of these descriptors that are different in memory, but not all zeros */
	uint32_t other;
	/* number of these descriptors that are past the end of the section in memory */
	uint32_t missing;
	char first[SECTIONS_NAME]; /* name of the first lost descriptor; not escaped */
};

static inline uint32_t sections_lost(const struct sections_report *report)
{
	return report->zero + report->other + report->missing;
}

#define SECTION_MOST (UINT64_C(16) << 20)
#define ROW_ALIGN    8u

struct bytes {
	unsigned char *at;
	uint64_t size;
};

/* A kind of descriptor, and the ranges of bytes that the kernel changes in a descriptor of this kind. */
struct kind {
	uint16_t magic;
	uint16_t least; /* smallest size of a descriptor in bytes */
	struct {
		uint16_t from, to;
	} own[3]; /* ranges of bytes that the kernel changes at run time; they may differ from the file */
};

static const struct kind events = {
	.magic = KTRX_EVENT_MAGIC,
	.least = sizeof(struct ktrx_event),
	.own = { { offsetof(struct ktrx_event, state), offsetof(struct ktrx_event, v1_id) },
		 { offsetof(struct ktrx_event, flags), offsetof(struct ktrx_event, flags) + 1 },
		 { offsetof(struct ktrx_event, count), offsetof(struct ktrx_event, count) + 8 } },
};

/*
 * Descriptors of calls of KTR_LOG are in the section of events. If the kernel was moved, the addresses in
 * descriptors differ from the file.
 */
static const struct kind places = {
	.magic = KTRX_PLACE_MAGIC,
	.least = sizeof(struct ktrx_place),
	.own = { { offsetof(struct ktrx_place, id), offsetof(struct ktrx_place, line) } },
};

/*
 * If the kernel was moved, the addresses in descriptors of settings differ from the file. The values of
 * settings are filled in when the trace is taken.
 */
static const struct kind settings = {
	.magic = KTRX_SETTING_MAGIC,
	.least = sizeof(struct ktrx_setting),
	.own = { { offsetof(struct ktrx_setting, address), offsetof(struct ktrx_setting, most) } },
};

/*
 * Reads a section of the file. Returns 0 or KTREAD_E_MEMORY. If the file cannot be read, returns 0, and
 * the pointer in *bytes is NULL.
 */
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

/* Returns the size in bytes of the descriptor at `at`, or 0 if there is no descriptor. */
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

/*
 * Formats the name of a descriptor: "group.event", "file:line" for a call of KTR_LOG, or the name of a
 * setting.
 */
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

/* Compares a section. `type`: KTRX_SECTION_EVENTS or KTRX_SECTION_SETTINGS. Returns 0 or KTREAD_E_MEMORY. */
static int sections_compare(struct sections_report *report, const char *elf,
			    const struct capture_kernel_section *section, const struct ktread *trace,
			    uint32_t type)
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

/*
 * The linker collects the descriptors of events and settings in sections. They are lost if a linker script
 * discards these sections, or puts them after the image's end or into memory that start code clears. The
 * guest's memory shows whether the descriptors are intact. Without a trace, the addresses of the sections are
 * checked.
 */

struct part {
	const char *name, *what;
	const struct capture_kernel_section *section;
	uint32_t type;
};

/*
 * Returns whether the file is not that of the traced kernel: their build ids differ, or ktrace_root is at
 * another address. examine_build_id() or examine_symbols() reports the difference.
 */
static bool is_other_build(const struct subject *subject)
{
	struct symbols *symbols;
	const int status = symbols_open(&symbols, subject->elf, subject->facts->info);

	if (status >= 0)
		symbols_close(symbols);
	return status == SYMBOLS_OTHER_BUILD;
}

/*
 * If the section is in the range of memory that start code clears, formats that range: "from __bss_start
 * (0x…) to …". Otherwise formats "".
 */
static const char *cleared_by(const struct capture_kernel *kernel,
			      const struct capture_kernel_section *section, char text[160])
{
	const struct capture_kernel_bss *bss = &kernel->bss;
	const uint64_t end = section->address + section->size;

	text[0] = '\0';
	if (bss->start_name && end > bss->start && (!bss->stop_name || section->address < bss->stop))
		snprintf(text, 160, "from %s (0x%" PRIx64 ") to %s", bss->start_name, bss->start,
			 bss->stop_name ? bss->stop_name : "the image's end");
	else if (!bss->start_name && bss->section && section->address >= bss->section)
		snprintf(text, 160, "from the start of .bss (0x%" PRIx64 ")", bss->section);
	return text;
}

static void say_fix(struct findings *report, const struct capture_kernel *kernel, const struct part *part)
{
	const char *before = kernel->bss.start_name ? kernel->bss.start_name : ".bss";

	findings_advise(report, "the linker script", "%s : { KEEP(*(%s)) } before %s", part->name, part->name,
			before);
}

/* Reports lost descriptors: their number, the name of the first lost descriptor, and the cause. */
static void say_lost(struct findings *report, const struct subject *subject, const struct part *part,
		     const struct sections_report *found)
{
	char name[4 * SECTIONS_NAME + 1], cleared[160];
	const char *const what = found->places ? "events and places of KTR_LOG" : part->what;
	const uint32_t lost = sections_lost(found);

	*base_escape_text(name, found->first, strlen(found->first), sizeof(name) - 1) = '\0';
	cleared_by(&subject->kernel, part->section, cleared);
	if (found->other && !found->zero && !found->missing)
		findings_add(report, FINDING_WRONG, part->name,
			     "%" PRIu32 " of %" PRIu32
			     " %s in the file differ in the guest's memory, the first is %s: "
			     "the file is of another build (name the right one with --elf), "
			     "or they were overwritten",
			     lost, found->rows, what, name);
	else if (*cleared)
		findings_add(report, FINDING_WRONG, part->name,
			     "%" PRIu32 " of %" PRIu32
			     " %s in the file are lost in the guest's memory, the first is %s: "
			     "the section is at 0x%" PRIx64 ", in memory that start code clears, %s",
			     lost, found->rows, what, name, part->section->address, cleared);
	else
		findings_add(
			report, FINDING_WRONG, part->name,
			"%" PRIu32 " of %" PRIu32 " %s in the file are lost in the guest's memory, "
			"the first is %s, in a section at 0x%" PRIx64
			": it was not loaded (does the booted image lack this section, or is it cut short?), "
			"or it was cleared",
			lost, found->rows, what, name, part->section->address);
	say_fix(report, &subject->kernel, part);
}

/*
 * Reports a section that is missing, not loaded, or at a wrong address. Returns whether it reported anything.
 */
static bool say_place(struct findings *report, const struct capture_kernel *kernel, const struct part *part)
{
	const struct capture_kernel_section *section = part->section;

	if (!section->size)
		findings_add(report, FINDING_WRONG, part->name,
			     "the file has no section of this name: the linker script must keep it, %s : "
			     "{ KEEP(*(%s)) }",
			     part->name, part->name);
	else if (!section->loaded)
		findings_add(report, FINDING_WRONG, part->name,
			     "the section is in no segment that is loaded: put it between sections that are");
	else if (kernel->image_end && section->address >= kernel->image_end)
		findings_add(report, FINDING_WRONG, part->name,
			     "0x%" PRIx64 " is after the image's end, 0x%" PRIx64
			     ", where the kernel allocates memory: put the section before that symbol",
			     section->address, kernel->image_end);
	else
		return false;
	return true;
}

static void examine_section(struct findings *report, const struct subject *subject, const struct part *part)
{
	struct sections_report found = { .compared = false };
	char cleared[160];

	if (subject->facts && !is_other_build(subject) &&
	    sections_compare(&found, subject->elf, part->section, subject->facts->trace, part->type) < 0)
		report->failed = true;
	if (found.compared && sections_lost(&found)) {
		say_lost(report, subject, part, &found);
	} else if (say_place(report, &subject->kernel, part)) {
		return;
	} else if (found.compared) {
		findings_add(report, FINDING_OK, part->name,
			     "%" PRIu64 " bytes of %s inside the image, "
			     "and in the guest's memory as in the file",
			     part->section->size, part->what);
	} else if (*cleared_by(&subject->kernel, part->section, cleared)) {
		findings_add(report, subject->facts ? FINDING_NOTE : FINDING_WRONG, part->name,
			     "the section is at 0x%" PRIx64 ", in memory that start code clears, %s",
			     part->section->address, cleared);
		say_fix(report, &subject->kernel, part);
	} else {
		findings_add(report, FINDING_OK, part->name, "%" PRIu64 " bytes of %s inside the image",
			     part->section->size, part->what);
	}
}

/*
 * Reports an object of the library if its initial value will be lost before the kernel runs. Used only
 * without a trace, because a trace proves that the value was not lost. Returns whether it reported anything.
 */
static bool examine_object(struct findings *report, const struct capture_kernel *kernel, const char *name,
			   const struct capture_kernel_section *object)
{
	char cleared[160];

	if (!object->address || !object->size)
		return false;
	if (!object->loaded)
		findings_add(report, FINDING_WRONG, name,
			     "0x%" PRIx64
			     " has no bytes in the file: its values are lost when the kernel is loaded",
			     object->address);
	else if (kernel->image_end && object->address >= kernel->image_end)
		findings_add(report, FINDING_WRONG, name,
			     "0x%" PRIx64 " is after the image's end, 0x%" PRIx64
			     ", where the kernel allocates memory",
			     object->address, kernel->image_end);
	else if (*cleared_by(kernel, object, cleared))
		findings_add(report, FINDING_WRONG, name,
			     "0x%" PRIx64 " is in memory that start code clears, %s", object->address,
			     cleared);
	else
		return false;
	findings_advise(report, "the linker script", ".data : { *(.data .data.*) } before %s",
			kernel->bss.start_name ? kernel->bss.start_name : ".bss");
	return true;
}

/* Examines whether the sections of events and settings are intact in the guest's memory. */
static void examine_sections(struct findings *report, const struct subject *subject)
{
	const struct part parts[] = {
		{ "ktrace_events", "events", &subject->kernel.events, KTRX_SECTION_EVENTS },
		{ "ktrace_settings", "settings", &subject->kernel.settings, KTRX_SECTION_SETTINGS },
	};

	for (size_t n = 0; n < sizeof(parts) / sizeof(parts[0]); n++)
		examine_section(report, subject, &parts[n]);
	for (size_t n = 0; n < CAPTURE_KERNEL_OBJECTS && !subject->facts; n++)
		if (examine_object(report, &subject->kernel, capture_kernel_object_names[n],
				   &subject->kernel.object[n]))
			/* one finding is enough, because the objects are adjacent in memory */
			break;
}

/* ---- The file and the sections ---- */

void examine_kernel(struct findings *report, struct subject *subject)
{
	char text[FINDING_LINE / 2] = "";

	if (!subject->elf) {
		findings_add(report, FINDING_NOTE, "kernel file",
			     "unknown: the command line has no -kernel; name the file with --elf");
		return;
	}
	if (capture_kernel_read(&subject->kernel, subject->elf) != 0) {
		*base_escape_text(text, capture_message(), strlen(capture_message()), sizeof(text) - 1) =
			'\0';
		findings_add(report, subject->elf_given ? FINDING_WRONG : FINDING_NOTE, "kernel file",
			     "%s; name the kernel's ELF file with --elf", text);
		return;
	}
	subject->has_kernel = true;
	examine_linked(report, &subject->kernel);
	if (!subject->kernel.root_address)
		return;
	examine_sections(report, subject);
	examine_build_id(report, subject);
}
