/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace control: steers a running guest, or shows what it is set to. */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/requests.h"
#include "capture/error.h"
#include "capture/mailbox.h"
#include "cmd/changes.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/trace_args.h"
#include "base/output.h"
#include "export/settings.h"

struct control {
	const char *name; /* signs messages */
	const char *path;
	struct ktread_options options;
	uint64_t timeout_ns;
	bool json;
	char **request;
	int requests;
};

#define AT(member) .to = offsetof(struct control, member)
static const struct option_row rows[] = {
	{ "json", 0, NULL, "what changed as a JSON object", options_set_flag, AT(json) },
	{ "timeout", 0, "TIME", "how long to wait for the guest's answer (2 s)", options_set_time,
	  AT(timeout_ns), .least = 1 },
	{ "machine", 0, "ARCH", "x86_64, aarch64 or riscv64, where the file does not tell", trace_set_machine,
	  AT(options.machine) },
	{ NULL },
};

static const struct options_syntax syntax = {
	.forms = "ktrace control [OPTION]... FILE [REQUEST]...",
	.about =
		"Switches events and sets settings of a running guest, by FILE, its RAM file, as 'ktrace run "
		"--keep-ram' names it. Without a request shows what they are set to, of any trace. Behind -- "
		"are no options, only FILE and requests.\n\n"
		"Requests, several in one with commas:\n"
		"  sched.*=on           events by pattern, a group by its name: on, off, count, both, stop,\n"
		"                       and with + callers0, callers1, callers2, site, nosite,\n"
		"                       fold, nofold, rare, norare\n"
		"  mm -mm.fault         on; off\n"
		"  debug.ktr.NAME=1     a setting\n"
		"  start stop clear     recording as a whole\n",
	.lists = { rows },
	.in_order = true,
	.end = "Status: 0 all carried out, 1 refused or no answer, 2 a request that makes no sense.\n\n"
	       "Examples:\n"
	       "  ktrace control guest.ram '*=off' sched,irq\n"
	       "  ktrace control guest.ram 'mm.*=on+callers2' debug.ktr.resynchronize=1\n",
};

/*
 * Options may stand anywhere before "--". Behind the file a word with one dash is a request, "-sched", as
 * none of the options has a letter. Requests are gathered at the front of argv, over words that are done
 * with.
 * -1: go on; otherwise the exit status.
 */
static int parse(struct control *control, struct options *line, int argc, char **argv)
{
	bool options = true;
	int status;

	control->request = argv + 1;
	while (optind < argc) {
		char *word = argv[optind];

		if (options && strcmp(word, "--") == 0) {
			options = false;
			optind++;
		} else if (options && word[0] == '-' && word[1] && (!control->path || word[1] == '-')) {
			status = options_next(line, argc, argv);
			if (status >= 0)
				return status;
		} else {
			optind++;
			if (control->path)
				control->request[control->requests++] = word;
			else
				control->path = word;
		}
	}
	return control->path ? -1 : options_refuse(line, "which file?");
}

static int open_trace(const struct control *control, struct ktread **trace)
{
	if (ktread_open(trace, control->path, &control->options) == 0)
		return 0;
	command_message(control->name, "%s", ktread_message(*trace));
	return EXIT_BAD_INPUT;
}

static int show(const struct control *control, const struct ktread *trace)
{
	struct base_output out;

	if (base_output_open(&out, STDOUT_FILENO) < 0 || settings_write(trace, &out, control->json) < 0) {
		command_message(control->name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	return trace_output_status(control->name, "standard output", base_output_close(&out));
}

/* Says what was not carried out. */
static int say_results(const struct control *control, const struct requests *requests)
{
	uint32_t refused = 0;

	for (uint32_t n = 0; n < requests->count; n++)
		refused += requests->request[n].result != KTRX_RESULT_DONE;
	if (refused)
		command_message(control->name, "%s: the guest refused %" PRIu32 " of %" PRIu32 " requests",
				control->path, refused, requests->count);
	return refused ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}

/*
 * Sends the requests to a guest that has booted; *before gets its trace as it was then, if it could be read.
 */
static int send(const struct control *control, struct requests *requests, struct capture_mailbox *mailbox,
		struct ktread **before)
{
	int error = capture_mailbox_await_tick(mailbox, control->timeout_ns);

	if (error == 0 && open_trace(control, before) != 0)
		return EXIT_BAD_INPUT;
	if (error == 0)
		error = capture_mailbox_send(mailbox, requests->request, requests->count,
					     control->timeout_ns);
	if (error == 0)
		return say_results(control, requests);
	command_message(control->name, "%s", capture_message());
	return EXIT_BAD_INPUT;
}

/* What the requests changed is what differs between the trace as it was and as it is now. */
static int say_changes(const struct control *control, const struct ktread *before,
		       const struct requests *requests)
{
	struct ktread *after;
	struct base_output out;
	int status = open_trace(control, &after);

	if (status)
		return status;
	if (base_output_open(&out, STDOUT_FILENO) < 0) {
		ktread_close(after);
		command_message(control->name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	changes_write(before, after, requests, &out, control->json);
	ktread_close(after);
	return trace_output_status(control->name, "standard output", base_output_close(&out));
}

/* No other host's requests come in between: the mailbox is locked until the changes are told. */
static int steer(const struct control *control, struct requests *requests, uint64_t nonce)
{
	struct capture_mailbox *mailbox;
	struct ktread *before = NULL;
	int status;

	if (capture_mailbox_open(&mailbox, control->path, control->options.machine, nonce,
				 control->timeout_ns) != 0) {
		command_message(control->name, "%s", capture_message());
		return EXIT_BAD_INPUT;
	}
	status = send(control, requests, mailbox, &before);
	if (before) {
		status |= say_changes(control, before, requests);
		ktread_close(before);
	}
	capture_mailbox_close(mailbox);
	return status;
}

static int carry_out(const struct control *control, struct ktread *trace, struct requests *requests)
{
	const struct ktread_info *info = ktread_info(trace);
	int status = 0;

	for (int n = 0; n < control->requests && !status; n++)
		status = requests_add(requests, control->request[n]);
	if (status) {
		command_message(control->name, "%s: %s", control->path, requests->message);
		return status == REQUESTS_E_TEXT ? EXIT_USAGE : EXIT_BAD_INPUT;
	}
	if (info->form != KTREAD_FORM_RAM) {
		command_message(control->name, "%s: is not the RAM file of a guest: nobody would answer",
				control->path);
		return EXIT_BAD_INPUT;
	}
	return steer(control, requests, info->nonce);
}

static int run_control(int argc, char **argv)
{
	struct control control = { .name = argv[0],
				   .options = { .size = sizeof(control.options) },
				   .timeout_ns = UINT64_C(2000000000) };
	struct options line = { .syntax = &syntax, .by = argv[0], .to = &control };
	struct requests requests;
	struct ktread *trace;
	int status = parse(&control, &line, argc, argv);

	if (status >= 0)
		return status;
	status = open_trace(&control, &trace);
	if (status)
		return status;
	if (control.requests == 0 && options_given(&line, "timeout")) {
		status = options_refuse(&line, "--timeout is for requests: without one nothing is asked");
	} else if (control.requests == 0) {
		status = show(&control, trace);
	} else if (requests_open(&requests, trace) == 0) {
		status = carry_out(&control, trace, &requests);
		requests_close(&requests);
	} else {
		command_message(control.name, "out of memory");
		status = EXIT_BAD_INPUT;
	}
	ktread_close(trace);
	return status;
}

const struct command command_control = {
	.name = "control",
	.purpose = "switch events of a running guest",
	.run = run_control,
};
