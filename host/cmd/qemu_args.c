/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * ktrace qemu-args: prints the QEMU options that `ktrace run` would add, for users who start QEMU themselves.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/error.h"
#include "base/machine.h"
#include "capture/plan.h"
#include "capture/qemu_line.h"
#include "cmd/command.h"
#include "cmd/options.h"

struct wanted {
	const char *architecture;
	enum capture_transport transport;
	const char *ram;
	const char *memory;
	const char *out;
	bool allow_reboot;
	bool trace_unit;
	const char *branches; /* file to which the trace unit writes the branches; NULL: none */
};

#define AT(member) .to = offsetof(struct wanted, member)
static const struct option_row rows[] = {
	{ "transport", 0, CAPTURE_TRANSPORTS, "choose how the trace leaves the guest (ram)",
	  options_set_choice, AT(transport) },
	{ "ram", 0, "FILE", "keep the guest's RAM in FILE, which ktrace extract can read (ktrace.ram)",
	  options_set_text, AT(ram) },
	{ "memory", 0, "SIZE", "set the size of the guest's RAM, which is also printed as -m (128M)",
	  options_set_text, AT(memory) },
	{ "trace-unit", 0, NULL, "add the plugin with a trace unit that the guest can use (x86_64, aarch64)",
	  options_set_flag, AT(trace_unit) },
	{ "branches", 0, "[=FILE]", "also record the code that every CPU runs into FILE (ktrace.branches)",
	  options_set_text, AT(branches) },
	{ "out", 'o', "FILE", "write the guest's dump to FILE, for transports other than ram (ktrace.ktrx)",
	  options_set_text, AT(out) },
	{ "allow-reboot", 0, NULL, "let the guest reset, which erases rings outside of persistent memory",
	  options_set_flag, AT(allow_reboot) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace qemu-args ARCH [OPTION]...",
	.about = "Prints QEMU options for tracing: qemu-system-ARCH $(ktrace qemu-args ARCH) ...\n"
		 "ARCH: x86_64 (or x64), aarch64 (or arm64), riscv64.",
	.lists = { rows },
};

/*
 * Prints an argument of a command line for use in a shell. An argument without special characters is not
 * quoted, so that $(…) works. Other arguments are quoted, and need eval.
 */
static void print_word(const char *word, char end)
{
	if (word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=,./:@%")]) {
		putchar('\'');
		for (; *word; word++)
			if (*word == '\'')
				fputs("'\\''", stdout);
			else
				putchar(*word);
		putchar('\'');
	} else {
		fputs(word, stdout);
	}
	putchar(end);
}

static int add_trace_unit(const struct wanted *wanted, struct capture_words *words)
{
	struct capture_trace_unit unit;
	char self[PATH_MAX], ram[PATH_MAX] = "";
	int error;

	command_self(self);
	error = capture_trace_unit_find(&unit, self, wanted->branches);
	if (!error && wanted->transport == CAPTURE_RAM)
		error = capture_path_absolute(ram, wanted->ram);
	return error ? error : capture_trace_unit_add(&unit, words, wanted->architecture, ram);
}

static int print_args(const char *name, const struct wanted *wanted)
{
	bool ram = wanted->transport == CAPTURE_RAM;
	struct capture_words words = { 0 };
	uint64_t bytes = 0;
	int error = capture_qemu_size(wanted->memory, UINT64_C(1) << 20, &bytes);

	if (!error && bytes == 0)
		error = capture_fail(CAPTURE_E_USAGE, "--memory: '%s' is not a memory size above 0",
				     wanted->memory);
	if (!error && ram) {
		capture_words_add(&words, "-m");
		capture_words_add(&words, wanted->memory);
	}
	if (!error)
		error = capture_transport_add(wanted->transport, &words, wanted->architecture, "",
					      ram ? wanted->ram : wanted->out, bytes);
	if (!error && wanted->trace_unit)
		error = add_trace_unit(wanted, &words);
	if (!wanted->allow_reboot)
		capture_words_add(&words, "-no-reboot");
	if (words.failed)
		error = capture_fail(CAPTURE_E_SYSTEM, "out of memory");
	if (error)
		command_message(name, "%s", capture_message());
	for (size_t i = 0; !error && i < words.count; i++)
		print_word(words.word[i], i + 1 < words.count ? ' ' : '\n');
	capture_words_free(&words);
	if (error == CAPTURE_E_USAGE)
		return EXIT_USAGE;
	return error ? EXIT_BAD_INPUT : command_flush(name);
}

static int check_architecture(const char *name, const char *architecture)
{
	if (strcmp(architecture, "i386") == 0 || base_machine_number(architecture))
		return 0;
	command_message(name, "unknown architecture '%s': use x86_64, aarch64 or riscv64", architecture);
	return EXIT_USAGE;
}

/* Refuses options that the transport does not support, and sets default values. Returns 0 or -1. */
static int check_transport(const char *name, struct wanted *wanted)
{
	const bool ram = wanted->transport == CAPTURE_RAM;
	const char *option = ram && wanted->out	      ? "--out"
			     : !ram && wanted->ram    ? "--ram"
			     : !ram && wanted->memory ? "--memory"
						      : NULL;

	if (option) {
		command_message(name, "%s cannot be combined with --transport %s", option,
				capture_transport_name(wanted->transport));
		return -1;
	}
	wanted->ram = wanted->ram ? wanted->ram : "ktrace.ram";
	wanted->memory = wanted->memory ? wanted->memory : "128M";
	wanted->out = wanted->out ? wanted->out : "ktrace.ktrx";
	return 0;
}

static int run(int argc, char **argv)
{
	struct wanted wanted = { 0 };
	struct options line = { .syntax = &syntax, .by = argv[0], .to = &wanted };
	int status = options_parse(&line, argc, argv);

	if (status >= 0)
		return status;
	wanted.trace_unit = wanted.trace_unit || wanted.branches;
	if (wanted.branches && !*wanted.branches)
		wanted.branches = "ktrace.branches";
	if (check_transport(argv[0], &wanted) != 0)
		return command_usage(argv[0]);
	if (argc - optind != 1)
		return options_refuse(&line, "give exactly one architecture: x86_64, aarch64 or riscv64");
	wanted.architecture = capture_qemu_architecture(argv[optind]);
	if (check_architecture(argv[0], wanted.architecture) != 0)
		return EXIT_USAGE;
	return print_args(argv[0], &wanted);
}

const struct command command_qemu_args = {
	.name = "qemu-args",
	.purpose = "print the QEMU options for tracing",
	.run = run,
};
