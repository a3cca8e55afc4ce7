/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * sleeper: children sleep at the same time for different durations; no sleep may end too early. Also checks
 * that a signal ends a sleep, and a timeout ends poll().
 */
#include <program.h>
#include <unistd.h>

#define SLEEPERS  8
#define STEP_MS	  10
#define NS_PER_MS 1000000u

static unsigned turn; /* duration for which the next child to start will sleep, in units of STEP_MS */

static void sleep_in_turn(void)
{
	uint64_t begin = now_ns(), slept;

	sleep_ms(turn * STEP_MS);
	slept = now_ns() - begin;
	check(slept >= turn * STEP_MS * NS_PER_MS, "no sleep is too short");
}

static void sleep_together(void)
{
	int children[SLEEPERS];

	for (turn = SLEEPERS; turn > 0; turn--)
		children[turn - 1] = start_child(sleep_in_turn);
	for (unsigned i = 0; i < SLEEPERS; i++)
		check_equal(0, wait_for(children[i]), "status of a sleeper");
}

static void nothing(int signal)
{
	(void)signal;
}

static void sleep_long(void)
{
	struct abi_timespec minute = { 60, 0 };

	check_equal(-EINTR, nanosleep(&minute), "a signal ends a sleep");
}

/*
 * Sends the signal repeatedly until the child has ended, because the parent cannot know when the child
 * sleeps.
 */
static void sleep_until_signal(void)
{
	int child, status, ended;

	handle_signal(SIGALRM, nothing);
	child = start_child(sleep_long);
	do {
		sleep_ms(STEP_MS);
		kill(child, SIGALRM);
		ended = wait4(child, &status, WNOHANG);
	} while (ended == 0);
	check_equal(child, ended, "the woken child ends");
	check_equal(0, status, "status of the woken child");
}

static void poll_in_vain(void)
{
	uint64_t begin = now_ns();
	struct abi_pollfd fd = { .events = POLLIN };
	int ends[2];

	check_equal(0, pipe(ends), "a pipe");
	fd.fd = ends[0];
	check_equal(0, poll(&fd, 1, STEP_MS), "nothing to read");
	check(now_ns() - begin >= STEP_MS * NS_PER_MS, "poll waits until its timeout");
	check_equal(1, write(ends[1], ".", 1), "a byte");
	check_equal(1, poll(&fd, 1, 10000), "something to read");
	check_equal(POLLIN, fd.revents, "poll reports the byte");
}

int main(int argc, char **argv)
{
	(void)argc, (void)argv;
	sleep_together();
	sleep_until_signal();
	poll_in_vain();
	finish();
}
