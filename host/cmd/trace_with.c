/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Data that is added to a trace: tables of system calls and, with --with FILE, a process trace or hardware
 * trace.
 */
#include "cmd/trace_args.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/open.h"
#include "cmd/command.h"
#include "flow/flow.h"
#include "flow/views.h"
#include "ktread/proc.h"
#include "calls/tables.h"
#include "ktrx/hwt_unit.h"

#define NUMBERS 1024u

/* For each system call number: the call's name on the machine, and whether the table lists the call. */
struct numbers {
	char *name[NUMBERS];
	bool printed[NUMBERS];
};

/* Writes a line "* NAME …" of the table, with this machine's number of the call NAME instead of "*". */
static void put_named(FILE *to, struct numbers *numbers, const char *line, size_t length)
{
	size_t name = strcspn(line + 2, " \n");

	for (unsigned n = 0; n < NUMBERS; n++) {
		if (!numbers->name[n] || strlen(numbers->name[n]) != name ||
		    memcmp(numbers->name[n], line + 2, name) != 0)
			continue;
		fprintf(to, "%u %.*s\n", n, (int)(length - 2), line + 2);
		numbers->printed[n] = true;
	}
}

static void put_lines(FILE *to, struct numbers *numbers, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		if (text[0] == '*' && text[1] == ' ')
			put_named(to, numbers, text, length);
		else
			fprintf(to, "%.*s\n", (int)length, text);
		text += length + (text[length] == '\n');
	}
	for (unsigned n = 0; n < NUMBERS; n++)
		if (numbers->name[n] && !numbers->printed[n])
			fprintf(to, "%u %s\n", n, numbers->name[n]);
}

/* Appends the names of the system calls of 32-bit programs. */
static void put_narrow(FILE *to)
{
	for (unsigned n = 0; n < NUMBERS; n++) {
		char *name = base_linux_call(EM_386, n);

		if (name)
			fprintf(to, "%u %s\n", (unsigned)KTREAD_PROC_CALL(EM_386, n), name);
		free(name);
	}
}

/* Appends the names of the x32 system calls. */
static void put_x32(FILE *to)
{
	for (uint32_t n = 0; n < CALLS_X32_MAX; n++) {
		char *name = base_linux_call(EM_X86_64, BASE_LINUX_X32 | n);

		if (name)
			fprintf(to, "%u " CALLS_X32_PREFIX "%s\n", (unsigned)(BASE_LINUX_X32 | n), name);
		free(name);
	}
}

/*
 * Returns a copy of the table in which calls have this machine's numbers. The caller frees it. Returns NULL
 * if out of memory.
 */
static char *numbered(const char *table, uint16_t machine)
{
	struct numbers numbers = { .printed = { false } };
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	for (unsigned n = 0; n < NUMBERS; n++)
		numbers.name[n] = base_linux_call(machine, n);
	put_lines(to, &numbers, table);
	for (unsigned n = 0; n < NUMBERS; n++)
		free(numbers.name[n]);
	if (machine == EM_X86_64) {
		put_narrow(to);
		put_x32(to);
	}
	return fclose(to) == 0 ? text : NULL;
}

/* Returns whether the table lists calls by name only. Such a table has lines "* NAME …". */
static bool wants_numbers(const char *table)
{
	return strncmp(table, "* ", 2) == 0 || strstr(table, "\n* ");
}

int foreign_calls_set_table(struct ktread *trace, const char *table, uint16_t machine)
{
	char *text;
	int status;

	if (!wants_numbers(table))
		return ktread_set_calls(trace, table);
	if (ktread_info(trace)->machine)
		machine = ktread_info(trace)->machine;
	if (machine == 0)
		machine = EM_X86_64;
	text = numbered(table, machine);
	status = text ? ktread_set_calls(trace, text) : KTREAD_E_MEMORY;
	free(text);
	return status < 0 ? status : machine;
}

int foreign_calls_set(struct ktread *trace)
{
	const struct ktread_info *info = ktread_info(trace);
	const char *table = calls_tables_text(info->kernel);
	int status;

	if (info->form != KTREAD_FORM_PROCESSES || !table)
		return 0;
	status = foreign_calls_set_table(trace, table, 0);
	return status < 0 ? status : 0;
}

#define TABLE_MOST ((size_t)1 << 20)

/* Reads the whole file. Returns the text, NUL-terminated; NULL with errno set on failure. */
static char *read_text(FILE *file)
{
	char *text = malloc(TABLE_MOST + 1);
	size_t length = text ? fread(text, 1, TABLE_MOST + 1, file) : 0;
	int problem = !text ? ENOMEM : ferror(file) ? errno : length > TABLE_MOST ? EFBIG : 0;

	if (problem) {
		free(text);
		errno = problem;
		return NULL;
	}
	text[length] = '\0';
	return text;
}

int kdump_table_read(const char *by, const char *name, char **owned, const char **text)
{
	FILE *file;

	*owned = NULL;
	*text = calls_tables_text(name);
	if (*text)
		return 0;
	file = fopen(name, "r");
	*owned = file ? read_text(file) : NULL;
	*text = *owned;
	if (!*owned)
		command_message(by, "%s: %s", name, strerror(errno));
	if (file)
		fclose(file);
	return *owned ? 0 : EXIT_BAD_INPUT;
}

/* two frequencies that differ by more than 1/APART are those of different clocks */
#define APART 50u

enum content { OF_BSD, RECORDS, RINGS };

/*
 * Detects the type of a file by its first bytes. Ignores an unreadable file, because the error is reported
 * when the file is opened.
 */
static enum content content_of(const char *path)
{
	const uint32_t unit = KTRX_HWT_UNIT_MAGIC;
	int fd = base_open_regular(path, O_RDONLY);
	char magic[4] = "";

	if (fd >= 0) {
		if (pread(fd, magic, sizeof(magic), 0) != (ssize_t)sizeof(magic))
			magic[0] = '\0';
		close(fd);
	}
	if (memcmp(magic, &unit, sizeof(unit)) == 0)
		return RINGS;
	return memcmp(magic, KTRX_PROC_MAGIC, sizeof(magic)) == 0 ? RECORDS : OF_BSD;
}

/*
 * Splits "FILE" or "FILE@BASE". Stores the name of FILE, or NULL if out of memory. Returns whether the
 * argument has a BASE.
 */
static bool split_base(const char *word, char **path, uint64_t *base)
{
	const char *at = strrchr(word, '@');

	*base = 0;
	if (at && trace_parse_number(at + 1, UINT64_MAX, base) != 0)
		at = NULL; /* the @ is part of the file name */
	*path = at ? strndup(word, (size_t)(at - word)) : strdup(word);
	return at != NULL;
}

int trace_output_is_based(const char *to, const char *word)
{
	uint64_t base;
	char *path;
	int is;

	split_base(word, &path, &base);
	is = !path || output_file_is(to, path);
	free(path);
	return is;
}

int trace_add_symbols(const char *name, struct flow *flow, const char *word)
{
	uint64_t base;
	char *path;
	const bool based = split_base(word, &path, &base);
	const int status = path ? hwt_images_add_symbols(flow->images, path, based ? &base : NULL) : -1;

	free(path);
	if (status == 0)
		return 0;
	command_message(name, "%s", path ? hwt_images_message(flow->images) : "out of memory");
	return EXIT_BAD_INPUT;
}

int trace_add_elf(const char *name, struct flow *flow, const char *word)
{
	uint64_t base;
	char *path;
	const bool based = split_base(word, &path, &base);
	const int status = path ? hwt_images_add_elf(flow->images, path, 0, based ? &base : NULL) : -1;

	free(path);
	if (status == 0)
		return 0;
	command_message(name, "%s", path ? hwt_images_message(flow->images) : "out of memory");
	return EXIT_BAD_INPUT;
}

/* Checks that both traces are of the same boot and have the same clock. */
static int check_clocks(const struct trace_args *args, const struct ktread *trace, const struct flow *flow)
{
	const uint64_t ours = ktread_info(trace)->frequency, its = flow->frequency;
	const uint64_t nonce = hwt_file_nonce(flow->file);

	if (nonce && ktread_info(trace)->nonce && nonce != ktread_info(trace)->nonce) {
		command_message(args->name, "%s: from another boot than the trace", args->with);
		return EXIT_BAD_INPUT;
	}
	if (ours && its && (ours > its ? ours - its : its - ours) <= ours / APART)
		return 0;
	command_message(args->name,
			"%s: its clock (%" PRIu64 " Hz) is not the trace's (%" PRIu64
			" Hz), so there is no common timeline: "
			"has the guest passed its clock frequency to the trace unit?",
			args->with, its, ours);
	return EXIT_BAD_INPUT;
}

/*
 * Reports data that was overwritten before the first instruction of the trace. Gaps after it are reported in
 * the timeline.
 */
static void print_missing(const struct trace_args *args, const struct flow *flow)
{
	uint64_t bytes = 0, packets = 0;

	for (size_t n = 0; n < hwt_file_streams(flow->file); n++) {
		bytes += hwt_file_stream(flow->file, n)->missing;
		packets += hwt_file_stream(flow->file, n)->lost;
	}
	if (bytes || packets)
		command_message(args->name,
				"%s: missing: %" PRIu64 " bytes of streams, %" PRIu64
				" packets for which units had no room",
				args->with, bytes, packets);
}

static int prepare(const struct trace_args *args, const struct ktread *trace, struct flow *flow)
{
	const char *warning;
	int status = check_clocks(args, trace, flow);

	for (size_t n = 0; (warning = hwt_file_warning(flow->file, n)); n++)
		command_message(args->name, "%s", warning);
	print_missing(args, flow);
	for (uint32_t n = 0; n < args->with_elf.count && !status; n++)
		status = trace_add_elf(args->name, flow, args->with_elf.word[n]);
	for (size_t n = 0; !status && (warning = hwt_images_warning(flow->images, n)); n++)
		command_message(args->name, "%s", warning);
	return status;
}

/* If the file has no hardware trace, refuses options for hardware trace. Returns 0 or EXIT_USAGE. */
static int check_hardware_options(const struct trace_args *args)
{
	const char *option = options_given(&args->line, TRACE_HARDWARE_OPTIONS);

	if (!option)
		return 0;
	command_message(args->name, "%s: not a hardware trace: %s cannot be used", args->with, option);
	return EXIT_USAGE;
}

/* Checks that the directory of --with-root exists. Returns 0 or EXIT_BAD_INPUT. */
static int check_root(const struct trace_args *args)
{
	struct stat status;
	int error = 0;

	if (args->with_root && stat(args->with_root, &status) != 0)
		error = errno;
	else if (args->with_root && !S_ISDIR(status.st_mode))
		error = ENOTDIR;
	if (!error)
		return 0;
	command_message(args->name, "--with-root %s: %s", args->with_root, strerror(error));
	return EXIT_BAD_INPUT;
}

/*
 * Merges the executed code in the file into the trace. If the file is a process trace without executed code,
 * does nothing.
 */
static int add_flow(const struct trace_args *args, struct ktread *trace, enum content content)
{
	struct flow *flow;
	int status = check_root(args);

	if (status)
		return status;
	if (flow_open(&flow, args->with, args->with_root) < 0) {
		command_message(args->name, "%s", flow_message());
		return EXIT_BAD_INPUT;
	}
	if (hwt_file_streams(flow->file) == 0 && content == RECORDS) {
		flow_close(flow);
		return check_hardware_options(args);
	}
	if (args->beside == TRACE_BESIDE_NOTHING) {
		command_message(
			args->name,
			"%s: a hardware trace can be merged only by 'ktrace show' and 'ktrace export'",
			args->with);
		flow_close(flow);
		return content == RECORDS ? 0 : EXIT_USAGE;
	}
	status = prepare(args, trace, flow);
	if (status) {
		flow_close(flow);
		return status;
	}
	if (flow_beside(trace, flow, args->with,
			args->branches			       ? FLOW_BRANCHES
			: args->beside == TRACE_BESIDE_ENTRIES ? FLOW_ENTRIES
							       : FLOW_CALLS) == 0)
		return 0;
	command_message(args->name, "%s", ktread_message(trace));
	return EXIT_BAD_INPUT;
}

int trace_with(const struct trace_args *args, struct ktread *trace)
{
	const enum content content = content_of(args->with);

	if (content != RINGS && ktread_beside(trace, args->with) < 0) {
		command_message(args->name, "%s", ktread_message(trace));
		return EXIT_BAD_INPUT;
	}
	return content == OF_BSD ? check_hardware_options(args) : add_flow(args, trace, content);
}
