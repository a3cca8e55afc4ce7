/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * signals: two processes send each other a signal in turn, each from its signal handler. Only the arrival of
 * a signal makes a process send the next one, so a lost signal would stop the exchange.
 */
#include <program.h>
#include <unistd.h>

#define ROUNDS 200

static volatile unsigned received;
static volatile int opponent;
static int parent;

static void send_back(int signal)
{
	bool is_parent = opponent != parent;

	received = received + 1;
	if (is_parent && received == ROUNDS)
		return;
	check_equal(0, kill(opponent, signal), "the signal is sent back");
	/*
	 * The child ends here and not in play(). In play(), the last signal could arrive between the check
	 * of the count and pause().
	 */
	if (!is_parent && received == ROUNDS)
		finish();
}

static void play(void)
{
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	int child;

	(void)argc, (void)argv;
	/*
	 * Set before the child is created: the child's opponent is the parent, and a signal may reach the
	 * child before it executes anything else.
	 */
	opponent = parent = getpid();
	check_equal(0, handle_signal(SIGUSR1, send_back), "the handler is set");
	child = start_child(play);
	opponent = child;
	check_equal(0, kill(child, SIGUSR1), "the first signal is sent");
	check_equal(0, wait_for(child), "status of the child");
	check_equal(ROUNDS, received, "number of signals received");
	finish();
}
