/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests that `ktrace bisect` keeps a signal that arrives between two runs. The test replaces the search. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "capture/wait.h"
#include "cmd/command.h"
#include "cmd/run_schedule.h"
#include "hunt/hunt.h"

int run_schedule_prepare(struct run_schedule *schedule, const struct options *line,
			 struct capture_run_options *run, int argc, char **argv)
{
	(void)schedule;
	(void)line;
	(void)run;
	(void)argc;
	(void)argv;
	return 0;
}

void run_schedule_free(struct run_schedule *schedule)
{
	(void)schedule;
}

extern const struct command command_bisect;

/* Gets a signal, and then makes a run, which takes the signal. */
int bisect_run(struct bisect *bisect)
{
	struct capture_signals signals;
	unsigned count = 0;

	raise(SIGINT);
	assert_int_equal(capture_signals_open(&signals), 0);
	bisect->signal = capture_signals_take(&signals, &count);
	capture_signals_close(&signals);
	return 0;
}

static void signal_between_runs_is_kept(void **state)
{
	char *words[] = { "ktrace bisect", "trace.ktrx", NULL };

	(void)state;
	assert_int_equal(command_bisect.run(2, words), 128 + SIGINT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signal_between_runs_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
