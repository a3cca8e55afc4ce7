/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * usermode: checks that a program's registers keep their values, even if other processes run and signal
 * handlers are called in between, and that forbidden instructions lead to a signal.
 */
#include <program.h>
#include <unistd.h>

#include "arch_mode.h"

#define CHILDREN 5
#define SIGNALS	 5
#define STRETCH	 200000u /* number of rounds of the loop: it takes a fraction of a time slice */

static unsigned turn; /* index of the next child to start */
static volatile unsigned handled;

static void count(int signal)
{
	(void)signal;
	handled++;
}

/*
 * Checks the registers in a loop. Signals from the parent and timer interrupts may come at any point of the
 * loop.
 */
static void use_registers(void)
{
	uint64_t seed = (uint64_t)turn << 40;

	while (handled < SIGNALS)
		check(arch_registers_kept(++seed, STRETCH), "registers are kept");
}

/*
 * Starts all children. Then sends signals to the first child until it ends, then to the second, and so on.
 * The other children continue to compute.
 */
static void registers_are_kept(void)
{
	int children[CHILDREN], status;

	handle_signal(SIGUSR1, count);
	for (turn = 0; turn < CHILDREN; turn++)
		children[turn] = start_child(use_registers);
	for (unsigned i = 0; i < CHILDREN; i++) {
		while (wait4(children[i], &status, WNOHANG) == 0) {
			kill(children[i], SIGUSR1);
			sleep_ms(1);
		}
		check_equal(0, status, "status of a child");
	}
}

#define FUNCTION(name, instruction)            \
	static void name(void)                 \
	{                                      \
		__asm__ volatile(instruction); \
	}
#define ENTRY(name, instruction) { name, instruction },

ARCH_FORBIDDEN(FUNCTION)

static const struct {
	void (*execute)(void);
	const char *instruction;
} forbidden[] = { ARCH_FORBIDDEN(ENTRY) };

static void forbidden_is_a_signal(void)
{
	for (unsigned i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		int status = wait_for(start_child(forbidden[i].execute));

		check(WTERMSIG(status) == SIGILL || WTERMSIG(status) == SIGSEGV, forbidden[i].instruction);
	}
}

int main(int argc, char **argv)
{
	(void)argc, (void)argv;
	registers_are_kept();
	forbidden_is_a_signal();
	finish();
}
