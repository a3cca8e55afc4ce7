/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/open.h"
#include "cpu_state.h"
#include "error.h"
#include "extract.h"
#include "frequency.h"
#include "dial.h"
#include "kernel_elf.h"
#include "workplace.h"

static int say_is_trace(const char *path)
{
	return capture_fail(CAPTURE_E_FORMAT, "%s: this is a trace already: ktrace show %s", path, path);
}

/* Tells the form by the first bytes. */
static int sniff(const char *path, enum ktread_form *form)
{
	Elf64_Ehdr header = { 0 };
	ssize_t got = -1;
	int fd = base_open_regular(path, O_RDONLY);

	if (fd < 0 && (errno == ENOTSUP || errno == EISDIR))
		capture_fail(CAPTURE_E_FORMAT,
			     "%s: not a regular file: memory is read at random, not as a stream", path);
	else if (fd < 0 || (got = pread(fd, &header, sizeof(header), 0)) < 0)
		capture_fail_errno("%s", path);
	else if (got == 0)
		capture_fail(CAPTURE_E_FORMAT, "%s: empty", path), got = -1;
	if (fd >= 0)
		close(fd);
	if (got < 0)
		return CAPTURE_E_FORMAT;
	if (memcmp(&header, KTRX_MAGIC, 4) == 0)
		return say_is_trace(path);
	if (*form == KTREAD_FORM_AUTO)
		*form = memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type == ET_CORE
				? KTREAD_FORM_CORE
				: KTREAD_FORM_RAM;
	return 0;
}

/* No memory with ktrace in it; but perhaps what others make of one. */
static int fail_to_find(const char *path)
{
	struct ktread_options options = { .size = sizeof(options) };
	struct ktread *trace;
	bool is_trace;

	capture_fail(CAPTURE_E_ABSENT, "%s", ktread_image_message());
	is_trace = ktread_open(&trace, path, &options) == 0;
	if (is_trace) { /* a guest that begins to record just now makes its memory no trace */
		enum ktread_form form = ktread_info(trace)->form;

		is_trace = form != KTREAD_FORM_RAM && form != KTREAD_FORM_CORE;
	}
	ktread_close(trace);
	return is_trace ? say_is_trace(path) : CAPTURE_E_ABSENT;
}

/* Where the kernel's file says the root is. What is not found there is searched for. */
static bool open_by_symbol(const struct capture_extract_options *options, struct ktread_memory **memory,
			   struct ktread_image **image)
{
	struct capture_kernel kernel;
	const char *machine;

	if (!options->elf || options->boot || capture_kernel_read(&kernel, options->elf) != 0)
		return false;
	machine = options->machine ? options->machine : capture_kernel_machine(&kernel);
	if (!kernel.root_physical || !machine || ktread_memory_open_ram(memory, options->path, machine) != 0)
		return false;
	if (ktread_image_open(image, *memory, kernel.root_physical) == 0)
		return true;
	ktread_memory_close(*memory);
	*memory = NULL;
	return false;
}

static int open_by_search(const struct capture_extract_options *options, enum ktread_form form,
			  struct ktread_memory **memory, struct ktread_image **image)
{
	int status = form == KTREAD_FORM_CORE
			     ? ktread_memory_open_core(memory, options->path)
			     : ktread_memory_open_ram(memory, options->path, options->machine);

	return status ? status : ktread_image_find_boot(image, *memory, options->boot);
}

/* What a core knows of the CPUs goes with the rings. */
static int add_registers(struct ktread_image *image, struct ktread_memory *memory, const char *path)
{
	char *text;
	int error = capture_core_cpus(path, memory, image, &text);

	if (!error && text && ktread_image_set_registers(image, text) < 0)
		error = capture_fail(CAPTURE_E_SYSTEM, "%s", ktread_image_message());
	free(text);
	return error;
}

/* A file that is named must be there, and an option of use. */
static int check_options(const struct capture_extract_options *options, enum ktread_form form)
{
	if (options->elf && access(options->elf, R_OK) != 0)
		return capture_fail_errno("%s", options->elf);
	if (form != KTREAD_FORM_CORE || (!options->elf && !options->machine))
		return 0;
	return capture_fail(CAPTURE_E_USAGE, "%s: is a core, and %s", options->path,
			    options->elf ? "--elf is for a RAM file or a machine: a core is searched"
					 : "--machine is for a RAM file: a core says what it is of");
}

/* What a trace says of its machine counts, so that another word is a mistake. */
static int check_machine(const struct capture_extract_options *options, const struct ktread_image *image)
{
	const struct capture_kernel kernel = { .machine = ktread_image_machine(image) };
	const char *is = capture_kernel_machine(&kernel);

	if (!options->machine || !is || strcmp(options->machine, is) == 0)
		return 0;
	return capture_fail(CAPTURE_E_USAGE, "%s: is of %s, and says so: not of --machine %s", options->path,
			    is, options->machine);
}

static int extract_file(const struct capture_extract_options *options, struct capture_extract_report *report)
{
	enum ktread_form form = options->form;
	struct ktread_memory *memory = NULL;
	struct ktread_image *image = NULL;
	int error = sniff(options->path, &form);

	if (!error)
		error = check_options(options, form);
	if (error)
		return error;
	if (form == KTREAD_FORM_CORE || !open_by_symbol(options, &memory, &image))
		error = open_by_search(options, form, &memory, &image);
	if (error == KTREAD_E_ABSENT) {
		error = fail_to_find(options->path);
	} else if (error) {
		error = capture_fail(CAPTURE_E_FORMAT, "%s", ktread_image_message());
	} else {
		report->boots = ktread_image_boots(image);
		error = check_machine(options, image);
		if (!error && form == KTREAD_FORM_CORE && !options->boot)
			error = add_registers(image, memory, options->path);
		if (!error)
			error = capture_extract_write(image, options, memory, report);
	}
	ktread_image_close(image);
	ktread_memory_close(memory);
	return error;
}

int capture_extract(const struct capture_extract_options *options, struct capture_extract_report *report)
{
	double begin = capture_now();
	int error;

	*report = (struct capture_extract_report){ .silence = -1 };
	error = options->source == CAPTURE_FROM_FILE ? extract_file(options, report)
						     : capture_extract_peer(options, report);
	report->total = capture_now() - begin;
	return error ? error : capture_summary_read(&report->summary, options->out);
}

/* An empty file of its own. `path` is "" with an error. */
static int make_temporary(char path[PATH_MAX])
{
	const char *folder = capture_path_temporary();
	int error = capture_path_join(path, folder, "ktrace-trace-XXXXXX"), fd = -1;

	if (!error && (fd = mkstemp(path)) < 0)
		error = capture_fail_errno("%s: a file for the trace", folder);
	if (error)
		path[0] = '\0';
	else
		close(fd);
	return error;
}

int capture_extract_temporary(const struct capture_extract_options *options, char path[PATH_MAX],
			      struct capture_extract_report *report)
{
	struct capture_extract_options own = *options;
	sigset_t before;
	int error;

	capture_hold_signals(&before); /* until it is known whose the file is to remove */
	error = make_temporary(path);
	own.out = path;
	if (!error)
		error = capture_extract(&own, report);
	if (!error)
		error = capture_check_interrupt(options->path);
	if (error && path[0]) {
		unlink(path);
		path[0] = '\0';
	}
	capture_release_signals(&before, 0);
	return error;
}
