/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace control: changes settings of a running guest, or shows them. */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/event_name.h"
#include "analyze/requests.h"
#include "capture/error.h"
#include "capture/memory.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/trace_args.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/output.h"
#include "export/timeline.h"
#include "export/views.h"

struct control {
	const char *name; /* text that begins each message */
	const char *path;
	struct ktread_options options;
	uint64_t timeout_ns;
	bool json;
	char **request;
	int requests;
};

#define AT(member) .to = offsetof(struct control, member)
static const struct option_row rows[] = {
	{ "json", 0, NULL, "print the changes as one JSON object", options_set_flag, AT(json) },
	{ "timeout", 0, "TIME", "wait at most this long for the guest's answer (2 s)", options_set_time,
	  AT(timeout_ns), .least = 1 },
	{ "machine", 0, "ARCH",
	  "use this architecture if the file does not name one: x86_64, aarch64 or riscv64",
	  trace_set_machine, AT(options.machine) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace control [OPTION]... FILE [REQUEST]...",
	.about = "Enables or disables events, and changes settings, of a running guest. "
		 "FILE is its RAM file, whose name 'ktrace run' prints. "
		 "Without a request, shows the states and settings in FILE, which may be any trace. "
		 "After --, all arguments are FILE and requests, not options.\n"
		 "\n"
		 "Requests; separate several by commas:\n"
		 "  sched.*=on           change events by pattern, or a group by its name: on, off,\n"
		 "                       count, both, stop; append with +: callers0, callers1, callers2,\n"
		 "                       site, nosite, fold, nofold, rare, norare\n"
		 "  mm -mm.fault         short for mm=on and mm.fault=off\n"
		 "  debug.ktr.NAME=1     change a setting\n"
		 "  start stop clear     start recording, stop it, or discard what was recorded\n",
	.lists = { rows },
	.in_order = true,
	.end = "Status: 0 all requests were carried out, 1 a request was refused or not answered, "
	       "2 invalid request.\n"
	       "\n"
	       "Examples:\n"
	       "  ktrace control guest.ram '*=off' sched,irq\n"
	       "  ktrace control guest.ram 'mm.*=on+callers2' debug.ktr.resynchronize=1\n",
};

/*
 * Reads options anywhere before "--". After the file name, an argument with a single dash such as "-sched" is
 * a request, because `ktrace control` has no options of one letter. Requests are moved to the front of argv,
 * where they overwrite arguments that were already read. Returns -1 to continue; otherwise the exit status.
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
	if (control->path && !*control->path)
		return options_refuse(line, OPTIONS_NO_NAME);
	return control->path ? -1 : options_refuse(line, "no file given");
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

	if (base_output_open(&out, STDOUT_FILENO) < 0) {
		command_message(control->name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	base_output_schema(&out, control->json ? "ktrace-control/1" : NULL);
	if (settings_write(trace, &out, control->json) < 0) {
		command_message(control->name, "out of memory");
		return base_output_close(&out) | EXIT_BAD_INPUT;
	}
	return trace_output_status(control->name, "standard output", base_output_close(&out));
}

/* Prints a message for each request that the guest refused. */
static int print_results(const struct control *control, const struct requests *requests)
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
 * Waits until the guest runs, opens its trace in *before, and then sends the requests. Returns the exit
 * status. If the trace cannot be opened, *before is NULL and nothing is sent.
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
		return print_results(control, requests);
	command_message(control->name, "%s", capture_message());
	return EXIT_BAD_INPUT;
}

/* ---- Changes between two traces of a guest: enabled events, settings, and whether it records ---------- */

#define NAME_MOST 200u

/* Writes changes as lines, or as elements of a JSON array. */
struct writer {
	struct base_output *out;
	uint32_t changes; /* number of changes written so far */
	int json;
};

static char *put_text_name(char *at, const char *name)
{
	return base_escape_text(at, name, strnlen(name, NAME_MOST), 4 * NAME_MOST);
}

/*
 * Begins the description of a change. Returns where the caller must write the name of the event or setting.
 */
static char *begin_change(const struct writer *writer)
{
	if (writer->json)
		base_output_text(writer->out, writer->changes ? ",\n{\"name\":" : "{\"name\":");
	return base_output_line(writer->out);
}

static void write_change(struct writer *writer, const char *before, const char *after)
{
	base_output_format(writer->out,
			   writer->json ? ",\"before\":\"%s\",\"after\":\"%s\"}" : ": %s -> %s\n", before,
			   after);
	writer->changes++;
}

static void write_event(struct writer *writer, const struct ktread_type *before,
			const struct ktread_type *after)
{
	char from[SETTINGS_STATE], to[SETTINGS_STATE];
	char *at = begin_change(writer);

	settings_state_text(before->wanted, before->flags, from);
	settings_state_text(after->wanted, after->flags, to);
	base_output_done(writer->out,
			 writer->json ? json_put_event_name(at, after) : analyze_event_name_put(at, after));
	write_change(writer, from, to);
}

static void write_events(struct writer *writer, const struct ktread *before, const struct ktread *after)
{
	for (uint32_t id = 1; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *old = ktread_type(before, id), *new = ktread_type(after, id);

		if (old && new && (old->wanted != new->wanted || old->flags != new->flags))
			write_event(writer, old, new);
	}
}

static void write_setting(struct writer *writer, const char *name, uint64_t before, uint64_t after)
{
	char from[24], to[24], *at = begin_change(writer);

	snprintf(from, sizeof(from), "%" PRIu64, before);
	snprintf(to, sizeof(to), "%" PRIu64, after);
	base_output_done(writer->out, writer->json ? base_json_name(at, name) : put_text_name(at, name));
	write_change(writer, from, to);
}

/* skip read-only settings, which are counters of the kernel */
static void write_settings(struct writer *writer, const struct ktread *before, const struct ktread *after)
{
	struct ktread_setting old, new;

	for (uint32_t n = 0; ktread_setting(before, n, &old) && ktread_setting(after, n, &new); n++)
		if (!new.read_only && old.value != new.value &&strcmp(old.name, new.name) == 0)
			write_setting(writer, new.name, old.value, new.value);
}

static uint32_t count_results(const struct requests *requests, uint32_t result)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < requests->count; n++)
		count += requests->request[n].result == result;
	return count;
}

/*
 * Returns the number of requests in the mailbox that have no answer yet. The guest carries them out when it
 * continues.
 */
static uint32_t count_waiting(const struct requests *requests)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < requests->count; n++)
		count += requests->request[n].result == KTRX_RESULT_NONE && requests->request[n].sequence;
	return count;
}

static int was_cleared(const struct requests *requests)
{
	for (uint32_t n = 0; n < requests->count; n++)
		if (requests->request[n].op == KTRX_REQUEST_CLEAR &&
		    requests->request[n].result == KTRX_RESULT_DONE)
			return 1;
	return 0;
}

/* Writes lines "sched.switch: off -> on", or one JSON object, and the results of the requests. */
static void changes_write(const struct ktread *before, const struct ktread *after,
			  const struct requests *requests, struct base_output *out, int json)
{
	struct writer writer = { .out = out, .json = json };
	const int cleared = was_cleared(requests);
	const uint32_t waiting = count_waiting(requests);
	int was = !ktread_info(before)->stopped, is = !ktread_info(after)->stopped;

	if (json)
		base_output_format(out,
				   "{\"requests\":%" PRIu32 ",\"done\":%" PRIu32 ",\"unanswered\":%" PRIu32
				   ",\"waiting\":%" PRIu32 ",\"recording\":%s,\"cleared\":%s,\"changes\":[",
				   requests->count, count_results(requests, KTRX_RESULT_DONE),
				   count_results(requests, KTRX_RESULT_NONE), waiting, is ? "true" : "false",
				   cleared ? "true" : "false");
	else if (was != is)
		base_output_format(out, "recording: %s\n", is ? "started" : "stopped");
	if (!json && cleared)
		base_output_text(out, "everything recorded so far: cleared\n");
	write_events(&writer, before, after);
	write_settings(&writer, before, after);
	if (json)
		base_output_text(out, "]}\n");
	else if (!writer.changes && was == is && !cleared)
		base_output_text(out, waiting ? "nothing changed so far\n" : "nothing changed\n");
	if (!json && waiting)
		base_output_format(
			out, "waiting: %" PRIu32 " request%s, carried out as soon as the guest continues\n",
			waiting, waiting == 1 ? "" : "s");
}

/* Compares the trace before the requests with the trace now, and writes the changes. */
static int print_changes(const struct control *control, const struct ktread *before,
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
	base_output_schema(&out, control->json ? "ktrace-control/1" : NULL);
	changes_write(before, after, requests, &out, control->json);
	ktread_close(after);
	return trace_output_status(control->name, "standard output", base_output_close(&out));
}

/*
 * Sends the requests and writes the changes. Keeps the mailbox locked, so that no other ktrace sends requests
 * before the changes are written.
 */
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
		status |= print_changes(control, before, requests);
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
		command_message(control->name, "%s: not the RAM file of a guest: no guest can answer",
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
		status = options_refuse(&line, "--timeout needs a request");
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
	.purpose = "enable or disable events of a running guest",
	.run = run_control,
};
