/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace open: shows a trace in a browser. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/symbols.h"
#include "base/escape.h"
#include "base/open.h"
#include "cmd/command.h"
#include "cmd/trace_args.h"
#include "live/live.h"
#include "serve/serve.h"

#define WHOLE 5000000u /* default of --whole */

struct open_command {
	struct trace_args args;
	uint64_t port, whole;
	bool no_browser;
	/* true if the file is a guest's RAM, which may be running, or a file that is still being written */
	bool live;
	const char *elf;
};

#define AT(member) .to = offsetof(struct open_command, member)
static const struct option_row rows[] = {
	{ "port", 0, "N", "listen on this port (any free port)", options_set_number, AT(port), .least = 1,
	  .most = 65535 },
	{ "no-browser", 0, NULL, "print the address, but start no browser", options_set_flag,
	  AT(no_browser) },
	{ "elf", 0, "KERNEL",
	  "take names and lines from this ELF file of the kernel (the file that 'ktrace run' "
	  "booted, if it is still the same build)",
	  options_set_text, AT(elf) },
	{ "whole", 0, "N",
	  "if the trace has more than N events, send it to the browser in windows, not as a whole "
	  "(5000000)",
	  options_set_number, AT(whole) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace open [OPTION]... [FILE]",
	.about = "Shows a trace, or a running guest, in a browser on this machine. "
		 "Serves the trace on 127.0.0.1 until Ctrl-C, prints the address on standard error, and "
		 "starts a browser if standard error is a terminal. "
		 "Access needs this address, which contains a token. The trace is not changed. "
		 "Without FILE, shows the newest guest that runs in this directory, or ktrace.ktrx; "
		 "if there is neither, a guest that this user started in another directory, or a "
		 "list of several.",
	.lists = { rows, trace_file_options, trace_machine_options, trace_layout_options,
		   trace_calls_options },
	.end = "Examples:\n"
	       "  ktrace open boot.ktrx\n"
	       "  ktrace open --no-browser --port 8080 boot.ktrx\n",
};

static struct ktread *open_trace(void *context, bool window)
{
	const struct open_command *command = context;
	struct ktread *trace = trace_args_reopen(&command->args, window);

	if (trace && trace_name_calls_quietly(&command->args, trace) < 0) {
		ktread_close(trace);
		return NULL;
	}
	return trace;
}

static struct symbols *open_symbols(void *context, const struct ktread *trace)
{
	const struct open_command *command = context;
	struct symbols *symbols = NULL;

	return trace_symbols_open(command->args.name, command->elf, trace, &symbols) ? NULL : symbols;
}

static bool is_written(const char *path)
{
	const int descriptor = base_open_regular(path, O_RDONLY);
	const int ended = descriptor < 0 ? -1 : base_file_ended(descriptor);

	if (descriptor >= 0)
		close(descriptor);
	return ended == 0;
}

/*
 * Opens the trace and its symbols once, so that messages about them appear before the address. Returns 0, or
 * an exit status after a message.
 */
static int try_to_open(struct open_command *command)
{
	struct symbols *symbols;
	struct ktread *trace;
	struct stat about;
	int status;

	if (stat(command->args.path, &about) == 0 && !S_ISREG(about.st_mode)) {
		command_message(command->args.name, "%s: not a regular file: it cannot be read several times",
				command->args.path);
		return EXIT_BAD_INPUT;
	}
	status = trace_args_open(&command->args, &trace);
	if (status)
		return status;
	command->live = ktread_info(trace)->form == KTREAD_FORM_RAM || is_written(command->args.path);
	status = trace_symbols_open(command->args.name, command->elf, trace, &symbols);
	symbols_close(symbols);
	return trace_args_close(&command->args, trace, 0) | status;
}

/*
 * Finds a trace for a command line without a file: the newest guest that runs in this directory or, if the
 * directory has no trace either, the guest that runs elsewhere. Stores its path, or "" if there are several.
 * Returns whether it runs, as live_guest_find_running() does; 0 if nothing was found.
 */
static int find_guest(struct live_guests *elsewhere, char path[PATH_MAX])
{
	const int runs = live_guest_find_running(TRACE_USUAL_FILE, path);

	elsewhere->count = 0;
	if (runs || access(TRACE_USUAL_FILE, F_OK) == 0)
		return runs;
	live_guests_find(elsewhere, "/proc");
	snprintf(path, PATH_MAX, "%s", elsewhere->count == 1 ? elsewhere->guest[0].path : "");
	return elsewhere->count > 0;
}

/* Reports which guest was found. Returns 0, or EXIT_USAGE if there are several. */
static int report_guest(const char *name, const struct live_guests *elsewhere, int runs, const char *path)
{
	char text[4 * PATH_MAX];

	*base_escape_utf8(text, path, strlen(path), sizeof(text) - 1) = '\0';
	if (runs < 0)
		command_message(name,
				"%s: whether this guest runs is unknown: the guest is shown as if it ran",
				text);
	else if (elsewhere->count == 1)
		command_message(name, "this directory has no trace: showing the guest of %s", text);
	if (elsewhere->count < 2)
		return 0;
	command_message(name,
			"this directory has no trace, and several guests run: give the file of one of them:");
	live_guests_write(elsewhere, stderr, "  ");
	return EXIT_USAGE;
}

static int run(int argc, char **argv)
{
	struct open_command command = { .args = { TRACE_ARGS(&syntax, argv[0]), .shows_calls = true },
					.whole = WHOLE };
	struct serve_options options = {
		.name = argv[0], .open = open_trace, .open_symbols = open_symbols, .context = &command
	};
	char version[64], guest[PATH_MAX];
	static struct live_guests elsewhere;
	const int runs = find_guest(&elsewhere, guest);
	int status;

	if (runs)
		command.args.path = guest;
	status = trace_args_parse(&command.args, argc, argv);
	if (status >= 0)
		return status;
	status = command.args.path == guest ? report_guest(argv[0], &elsewhere, runs, guest) : 0;
	if (!status)
		status = try_to_open(&command);
	if (status)
		return status;
	snprintf(version, sizeof(version), "ktrace %s", command_version());
	options.version = version;
	options.whole = command.whole;
	options.live = command.live;
	options.path = command.args.path;
	options.port = (uint16_t)command.port;
	options.browser = !command.no_browser && isatty(STDERR_FILENO);
	return serve_run(&options) < 0 ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}

const struct command command_open = {
	.name = "open",
	.purpose = "show a trace in a browser",
	.run = run,
};
