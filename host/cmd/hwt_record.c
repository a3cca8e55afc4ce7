/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/hwt.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "capture/error.h"
#include "capture/qemu_line.h"
#include "capture/plan.h"
#include "cmd/command.h"
#include "hwt/binary.h"

/* What a host would have to bring; none that this program runs on has it in this form. */
static int refuse(const struct hwt_args *args)
{
	const char *what = strcmp(args->backend, "pt") == 0 ? "Intel PT, x86_64"
			   : strcmp(args->backend, "spe") == 0
				   ? "the Statistical Profiling Extension, AArch64"
				   : "CoreSight with an ETMv4, AArch64";

	command_message(args->name,
			"recording by %s takes a kernel with ktrace's driver for it (%s) and /dev/hwt, and "
			"this host has none: record there, and show the file here; -c qemu records guests",
			args->backend, what);
	return EXIT_BAD_INPUT;
}

/* The function's code in the kernel that is started, or in another file. */
static int find_range(const struct hwt_args *args, const char *kernel, struct capture_trace_unit *unit)
{
	const char *path = strcmp(args->image, "kernel") == 0 ? kernel : args->image;
	const struct hwt_function *function = NULL;
	struct hwt_names *names = NULL;
	struct hwt_binary *binary;

	if (!*path) {
		command_message(args->name,
				"-i kernel is the file of -kernel, which the QEMU line does not have");
		return EXIT_USAGE;
	}
	if (hwt_binary_open(&binary, path) < 0) {
		command_message(args->name, "%s: not an ELF file that could be read", path);
		return EXIT_BAD_INPUT;
	}
	names = hwt_names_open(path, binary->machine);
	function = names ? hwt_names_named(names, args->function) : NULL;
	if (function) {
		unit->begin = function->address;
		unit->end = function->address + (function->size ? function->size : 1);
	} else {
		command_message(args->name, "%s: there is no function '%s' in it", path, args->function);
	}
	hwt_names_close(names);
	hwt_binary_close(binary);
	return function ? 0 : EXIT_BAD_INPUT;
}

/* The line as QEMU is to be started. 0, or an exit status after a message. */
static int prepare(const struct hwt_args *args, struct capture_words *words)
{
	struct capture_trace_unit unit, range = { 0 };
	struct capture_qemu_line line;
	char self[PATH_MAX];
	int error = capture_qemu_line_read(&line, args->command), status = 0;

	command_self(self);
	if (!error)
		error = capture_trace_unit_check(line.accelerator);
	if (!error && args->function)
		status = find_range(args, line.kernel_path, &range);
	if (status)
		return status;
	/* A recording of that name is gone from here on. */
	if (!error)
		error = capture_trace_unit_find(&unit, self, args->output);
	for (size_t n = 0; !error && args->command[n]; n++)
		capture_words_add(words, args->command[n]);
	if (!error) {
		unit.ring_bytes = args->bytes;
		unit.begin = range.begin;
		unit.end = range.end;
		error = capture_trace_unit_add(&unit, words, line.architecture, "");
	}
	if (!error && words->failed)
		error = capture_fail(CAPTURE_E_SYSTEM, "out of memory");
	if (!error)
		return 0;
	command_message(args->name, "%s", capture_message());
	return error == CAPTURE_E_USAGE ? EXIT_USAGE : EXIT_BAD_INPUT;
}

int hwt_record(const struct hwt_args *args)
{
	struct capture_words words = { 0 };
	int status;

	if (strcmp(args->backend, "qemu") != 0)
		return refuse(args);
	if (!capture_qemu_program(args->command[0])) {
		command_message(args->name, "-c qemu records guests of QEMU, and '%s' is not qemu-system-…",
				args->command[0]);
		return EXIT_USAGE;
	}
	status = prepare(args, &words);
	if (!status) {
		execvp(words.word[0], words.word);
		command_message(args->name, "%s: %s", words.word[0], strerror(errno));
		status = EXIT_BAD_INPUT;
	}
	capture_words_free(&words);
	return status;
}
