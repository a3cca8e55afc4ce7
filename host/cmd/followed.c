/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/followed.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

#include "capture/watch.h"
#include "cmd/command.h"

#define WAIT_MS 1000

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

static void catch_signals(void)
{
	/* A blocking call is to come back. */
	const struct sigaction action = { .sa_handler = interrupt };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* What was taken last: 0 to 2; or an error of the reader. */
static int take_as_it_comes(const struct followed *followed, struct ktread_follow *follow)
{
	struct ktread_followed now = { 0 };
	int status = 0, enough = 0;

	while (now.kind != KTREAD_FOLLOWED_END && !followed->out->error && status >= 0 && !enough) {
		if (interrupted)
			ktread_follow_stop(follow);
		status = ktread_follow_next(follow, &now, 0);
		if (status == 0) { /* nothing at hand: time to show what there is */
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
		"%llu events, %llu of them late; of %llu slots %llu were overwritten before they were "
		"read and %llu unreadable",
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
				status == KTREAD_E_UNSUPPORTED ? ": what it holds is shown once" : "");
		return status == KTREAD_E_UNSUPPORTED ? -1 : EXIT_BAD_INPUT;
	}
	catch_signals();
	status = take_as_it_comes(followed, follow);
	if (status < 0)
		command_message(args->name, "%s",
				status == KTREAD_E_MEMORY ? "out of memory" : ktread_follow_message(follow));
	else if (status < 2 && !ktread_follow_trace(follow))
		command_message(args->name, "%s: no ktrace came to be in it", args->path);
	else if (status < 2)
		sum_up(args->name, follow);
	status = status == 2				      ? EXIT_USAGE
		 : status < 0 || !ktread_follow_trace(follow) ? EXIT_BAD_INPUT
							      : EXIT_SUCCESS;
	ktread_follow_close(follow);
	return status;
}
