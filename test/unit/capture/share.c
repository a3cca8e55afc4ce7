/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests how ktrace finds out that a busy host does not let QEMU run, and that this is not silence of the guest. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "capture/share.h"
#include "capture/watch.h"

static const struct {
	const char *label;
	double elapsed, cpu;
	bool ready;
	double lost;
} shares[] = {
	{ "no CPU time, ready to run", 1, 0, true, 1 },
	{ "no CPU time, waits for an interrupt", 1, 0, false, 0 },
	{ "a twentieth of a CPU", 1, 0.05, true, 1 },
	{ "a tenth of a CPU", 1, 0.1, true, 0 },
	{ "a whole CPU", 1, 1, true, 0 },
	{ "a little CPU time for a long time", 10, 0.5, true, 10 },
	{ "three CPUs", 1, 3, true, 0 },
};

static void host_that_does_not_run_qemu_is_recognized(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(shares) / sizeof(shares[0]); n++)
		if (capture_share_judge(shares[n].elapsed, shares[n].cpu, shares[n].ready) != shares[n].lost)
			fail_msg("%s", shares[n].label);
}

/* Returns whether the first thread of the process is in this state, according to /proc. */
static bool is_in_state(pid_t pid, char state)
{
	char path[40], text[256] = "", *name_end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	file = fopen(path, "r");
	assert_non_null(file);
	name_end = fgets(text, sizeof(text), file) ? strrchr(text, ')') : NULL;
	fclose(file);
	return name_end && name_end[1] == ' ' && name_end[2] == state;
}

static void readiness_of_a_process_is_read(void **state)
{
	pid_t sleeps = fork(), spins;
	int status;

	(void)state;
	if (sleeps == 0)
		for (;;)
			pause();
	spins = fork();
	assert_true(sleeps > 0 && spins >= 0);
	if (spins == 0)
		for (volatile unsigned n = 0;; n++)
			;
	while (capture_share_ready(sleeps)) /* until it has begun to wait */
		;
	assert_true(capture_share_ready(spins));
	kill(sleeps, SIGSTOP);
	assert_int_equal(waitpid(sleeps, &status, WUNTRACED), sleeps);
	assert_true(capture_share_ready(sleeps));
	kill(sleeps, SIGKILL);
	kill(spins, SIGKILL);
	assert_int_equal(waitpid(sleeps, NULL, 0), sleeps);
	assert_int_equal(waitpid(spins, NULL, 0), spins);
	assert_false(capture_share_ready(spins));
}

/* A thread that waits for a disk has state D, and so has a process that waits for its vforked child. */
static void waiting_for_the_disk_counts_as_ready(void **state)
{
	int ends[2];
	char byte;
	pid_t parent;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	parent = fork();
	assert_true(parent >= 0);
	if (parent == 0) {
		close(ends[1]);
		if (vfork() == 0) {
			(void)!read(ends[0], &byte, 1);
			_exit(0);
		}
		_exit(0);
	}
	while (!is_in_state(parent, 'D') && !is_in_state(parent, 'Z'))
		;
	assert_true(is_in_state(parent, 'D'));
	assert_true(capture_share_ready(parent));
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
}

/* The first measurement only begins, and the second one comes too early. */
static void measurements_are_apart(void **state)
{
	struct capture_share share = { 0 };

	(void)state;
	assert_true(capture_share_lost(&share, 0, 10, 0) == 0 && share.time == 0);
	assert_true(capture_share_lost(&share, getpid(), 10, 0) == 0 && share.time == 10);
	assert_true(share.cpu > 0 && share.ready);
	assert_true(capture_share_lost(&share, getpid(), 10.1, 0) == 0 && share.time == 10);
	share.cpu += 1000; /* as if the process had got no CPU time since */
	assert_true(capture_share_lost(&share, getpid(), 11, 9) == 1 && share.time == 11);
}

static void guest_that_runs_has_its_share(void **state)
{
	struct capture_share share = { .time = 10, .cpu = 1000, .ready = true };

	(void)state;
	assert_true(capture_share_lost(&share, getpid(), 11, 10.5) == 0);
	share = (struct capture_share){ .time = 10, .cpu = 1000, .ready = false };
	assert_true(capture_share_lost(&share, getpid(), 11, 9) == 0);
}

static void time_without_a_cpu_is_no_silence(void **state)
{
	const struct ktread_pulse pulse = { .nonce = 1, .slots = 5, .heartbeats = 7, .online = 1 };
	struct capture_watch watch = { 0 };

	(void)state;
	capture_watch_feed(&watch, &pulse, 10);
	capture_watch_skip(&watch, 2, 12.5);
	capture_watch_feed(&watch, &pulse, 12.5);
	assert_true(capture_watch_silence(&watch, 12.5) == 0.5 && capture_watch_still(&watch, 12.5) == 0.5);
	capture_watch_skip(&watch, 100, 13);
	assert_true(capture_watch_silence(&watch, 13) == 0 && capture_watch_still(&watch, 13) == 0);
	assert_true(capture_watch_stuck(&watch, 13) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_that_does_not_run_qemu_is_recognized),
		cmocka_unit_test(readiness_of_a_process_is_read),
		cmocka_unit_test(waiting_for_the_disk_counts_as_ready),
		cmocka_unit_test(measurements_are_apart),
		cmocka_unit_test(guest_that_runs_has_its_share),
		cmocka_unit_test(time_without_a_cpu_is_no_silence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
