/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace extract: a trace out of a RAM file or a core. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/error.h"
#include "capture/extract.h"
#include "capture/qemu_line.h"
#include "cmd/command.h"

#define DEFAULT_OUT    "ktrace.ktrx"
#define EXIT_NO_KTRACE 15

static const char usage[] =
	"usage: ktrace extract [OPTION]... FILE\n"
	"Takes the trace out of a guest's memory: a RAM file, also of a running guest, or an ELF core.\n"
	"\n"
	"  -o, --out FILE      where the trace goes (" DEFAULT_OUT ")\n"
	"      --machine ARCH  architecture of a RAM file: x86_64, aarch64, riscv64 (by content)\n"
	"      --form FORM     ram or core (by content)\n";

static const struct option long_options[] = {
	{ "form", required_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	{ "machine", required_argument, NULL, 'm' },
	{ "out", required_argument, NULL, 'o' },
	{ NULL, 0, NULL, 0 },
};

static int parse_form(const char *name, const char *text, enum ktread_form *form)
{
	if (strcmp(text, "ram") == 0)
		*form = KTREAD_FORM_RAM;
	else if (strcmp(text, "core") == 0)
		*form = KTREAD_FORM_CORE;
	else {
		command_message(name, "--form: '%s' is neither ram nor core", text);
		return EXIT_USAGE;
	}
	return 0;
}

static int extract(const char *name, const struct capture_extract_options *options)
{
	struct capture_summary summary;
	char loss[CAPTURE_LOSS_TEXT];
	int error = capture_extract(options, &summary);

	if (error) {
		command_message(name, "%s", capture_message());
		return error == CAPTURE_E_ABSENT ? EXIT_NO_KTRACE : EXIT_BAD_INPUT;
	}
	capture_summary_loss(&summary, loss, sizeof(loss));
	command_message(name, "%" PRIu64 " events of %" PRIu32 " CPU%s, %s: %s; next: ktrace show %s",
			summary.events, summary.cpus, summary.cpus == 1 ? "" : "s", loss, options->out,
			options->out);
	return EXIT_SUCCESS;
}

static int run(int argc, char **argv)
{
	struct capture_extract_options options = { .out = DEFAULT_OUT };
	int option;

	while ((option = getopt_long(argc, argv, "o:", long_options, NULL)) != -1) {
		switch (option) {
		case 'f':
			if (parse_form(argv[0], optarg, &options.form) != 0)
				return EXIT_USAGE;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		case 'm':
			options.machine = capture_qemu_architecture(optarg);
			break;
		case 'o':
			options.out = optarg;
			break;
		default:
			return command_usage(argv[0]);
		}
	}
	if (argc - optind != 1) {
		command_message(argv[0], "one file is needed");
		return command_usage(argv[0]);
	}
	options.path = argv[optind];
	return extract(argv[0], &options);
}

const struct command command_extract = {
	.name = "extract",
	.purpose = "take a trace out of a RAM file or a core",
	.run = run,
};
