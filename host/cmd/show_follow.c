/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Functions for commands that follow a running guest, and ktrace show --follow. */
#include "cmd/trace_args.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/order.h"
#include "capture/wait.h"
#include "capture/watch.h"
#include "cmd/command.h"
#include "cmd/show.h"
#include "export/timeline.h"
#include "ktrx/v2.h"

#define WAIT_MS 1000

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

static void catch_signals(void)
{
	/* SA_RESTART is not set, because a signal must interrupt a blocking call */
	const struct sigaction action = { .sa_handler = interrupt };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/*
 * Passes items to followed->take() until it does not return 0 or the guest ends. Returns the last result of
 * followed->take() (0 to 2), or an error of the reader.
 */
static int take_as_it_comes(const struct followed *followed, struct ktread_follow *follow)
{
	struct ktread_followed now = { 0 };
	int status = 0, enough = 0;

	while (now.kind != KTREAD_FOLLOWED_END && !followed->out->error && status >= 0 && !enough) {
		if (interrupted)
			ktread_follow_stop(follow);
		status = ktread_follow_next(follow, &now, 0);
		if (status == 0) { /* no event is available: write the buffered output */
			base_output_flush(followed->out);
			status = ktread_follow_next(follow, &now, WAIT_MS);
		}
		if (status > 0)
			enough = followed->take(followed->context, follow, &now);
		status = enough < 0 ? enough : status;
	}
	return status < 0 ? status : enough;
}

static void sum_up(const char *name, const struct ktread_follow *follow)
{
	struct ktread_follow_account account;

	ktread_follow_account(follow, &account);
	command_message(
		name,
		"%llu events, %llu of them late; of %llu slots %llu were overwritten before they were read "
		"and %llu unreadable",
		(unsigned long long)account.events, (unsigned long long)account.late,
		(unsigned long long)account.produced, (unsigned long long)account.overwritten,
		(unsigned long long)account.unreadable);
}

int followed_run(const struct followed *followed)
{
	const struct trace_args *args = followed->args;
	const struct ktread_follow_options options = {
		.size = sizeof(options),
		.machine = args->options.machine,
		.frequency = args->options.frequency ? args->options.frequency
						     : capture_measure(args->path, args->options.machine),
		.by_ring = followed->by_ring,
	};
	struct ktread_follow *follow;
	int status = ktread_follow_open(&follow, args->path, &options);

	if (status < 0) {
		command_message(args->name, "%s%s", ktread_follow_message(NULL),
				status == KTREAD_E_UNSUPPORTED ? ": showing its contents once" : "");
		return status == KTREAD_E_UNSUPPORTED ? -1 : EXIT_BAD_INPUT;
	}
	catch_signals();
	status = take_as_it_comes(followed, follow);
	if (status < 0)
		command_message(args->name, "%s",
				status == KTREAD_E_MEMORY ? "out of memory" : ktread_follow_message(follow));
	else if (status < 2 && !ktread_follow_trace(follow))
		command_message(args->name, "%s: no ktrace section found", args->path);
	else if (status < 2)
		sum_up(args->name, follow);
	status = status == 2				      ? EXIT_USAGE
		 : status < 0 || !ktread_follow_trace(follow) ? EXIT_BAD_INPUT
							      : EXIT_SUCCESS;
	ktread_follow_close(follow);
	return status;
}

#define NAMES_EVERY 0.1 /* time in seconds between two readings of the names of threads */

struct following {
	struct trace_args *args;
	const char *elf;
	uint64_t limit, shown;
	struct symbols *symbols;
	struct timeline timeline;
	/* time in seconds at which the names of threads will be read again */
	double names_again;
	/* true if a message has stated how certain the order of events of different CPUs is */
	bool printed_order;
	bool begun; /* true after the first event, which defines time 0 */
	/* writes the events; belongs to timeline.trace; NULL before the first event */
	struct timeline_writer *writer;
};

static void close_writer(struct following *following)
{
	if (!following->writer)
		return;
	timeline_writer_close(following->writer);
	following->writer = NULL;
}

/*
 * Replaces the trace handle by a new one. This is needed because names, types and rings change when the guest
 * gives memory to ktrace or brings a CPU online. Returns 0, 2 after a message, or KTREAD_E_MEMORY.
 */
static int take_trace(struct following *following, struct ktread *trace)
{
	struct trace_args *args = following->args;
	char order[ORDER_TEXT];

	close_writer(following);
	if (args->events) {
		memset(args->event_map, 0, sizeof(args->event_map));
		if (trace_mark_events(args, trace, args->events, args->event_map))
			return 2;
	}
	if (args->where && trace_where_bind(args->name, args->where, args->filter, trace))
		return 2;
	if (following->elf && !following->symbols &&
	    show_symbols_open(&following->symbols, following->elf, trace, args->name))
		return 2;
	if (!following->printed_order && order_say(trace, order) > 0) {
		following->printed_order = true;
		command_message(args->name, "%s", order);
	}
	following->timeline.trace = trace;
	following->timeline.symbols = following->symbols;
	following->begun = false;
	following->writer = timeline_writer_open(&following->timeline);
	if (following->writer)
		return 0;
	return KTREAD_E_MEMORY;
}

static bool wants_cpu(const struct trace_args *args, uint32_t cpu)
{
	return !args->cpu_list || (cpu < TRACE_CPUS_MAX && args->cpus[cpu / 8] >> cpu % 8 & 1);
}

static bool wants(const struct trace_args *args, const struct ktread_event *event)
{
	return wants_cpu(args, event->cpu) && (args->pid < 0 || args->pid == event->thread) &&
	       (!args->events ||
		(event->id <= KTRX_EVENT_MAX && args->event_map[event->id / 8] >> event->id % 8 & 1)) &&
	       (!args->where || filter_accepts(args->filter, event));
}

static void write_lost(struct following *following, const struct ktread_followed *now)
{
	struct base_output *out = following->timeline.out;

	if (!wants_cpu(following->args, now->cpu))
		return;
	if (now->cpu == KTRX_NO_CPU)
		base_output_text(out, "--- shared ring: ");
	else
		base_output_format(out, "--- CPU%u: ", now->cpu);
	base_output_format(out, "%llu slot%s lost before they could be read ---\n",
			   (unsigned long long)now->slots, now->slots == 1 ? "" : "s");
}

static int take(void *context, struct ktread_follow *follow, const struct ktread_followed *now)
{
	struct following *following = context;
	struct ktread *trace = ktread_follow_trace(follow);
	int status = 0;

	if (now->kind == KTREAD_FOLLOWED_BOOT && now->boot > 1)
		base_output_text(following->timeline.out, "--- the guest has rebooted ---\n");
	if (now->kind != KTREAD_FOLLOWED_END && trace &&
	    (!following->writer || trace != following->timeline.trace))
		status = take_trace(following, trace);
	if (status)
		return status;
	if (now->kind == KTREAD_FOLLOWED_LOST)
		write_lost(following, now);
	if (now->kind == KTREAD_FOLLOWED_EVENT && !following->begun) {
		timeline_begin(&following->timeline);
		following->begun = true;
	}
	if (now->kind != KTREAD_FOLLOWED_EVENT || !wants(following->args, now->event))
		return 0;
	if (capture_now() >= following->names_again) {
		following->names_again = capture_now() + NAMES_EVERY;
		timeline_writer_forget_names(following->writer);
	}
	timeline_writer_event(following->writer, now->event);
	return ++following->shown == following->limit;
}

int show_follow(struct trace_args *args, const char *elf, uint64_t limit, struct base_output *out)
{
	struct following *following = calloc(1, sizeof(*following));
	struct followed followed = { .args = args, .out = out, .take = take, .context = following };
	int status = EXIT_BAD_INPUT;

	if (!following) {
		command_message(args->name, "out of memory");
		return status;
	}
	following->args = args;
	following->elf = elf;
	following->limit = limit;
	following->timeline.out = out;
	status = trace_where_follow(args);
	if (!status)
		status = followed_run(&followed);
	trace_where_close(args);
	close_writer(following);
	symbols_close(following->symbols);
	free(following);
	return status;
}
