/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * interrupted: a program for tests of hardware trace. Its code is interrupted often: by signals whose
 * handlers raise other signals, by system calls that fail or wait, by memory that is mapped and unmapped, by
 * handled page faults, and by timer ticks.
 */
#include <program.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline))

#define ROUNDS 20
#define PAGE   4096
#define SPINS  200000

static volatile unsigned firsts, seconds, refusals;
static volatile uintptr_t window; /* address of a page that is not mapped until it is accessed */

static APART void count_second(int signal)
{
	seconds = seconds + (signal == SIGUSR2);
}

/* A signal handler that raises another signal, whose handler runs before this handler returns. */
static APART void count_first(int signal)
{
	firsts = firsts + (signal == SIGUSR1);
	kill(getpid(), SIGUSR2);
	check(firsts == seconds, "the inner handler has run");
}

static APART void open_window(int signal)
{
	(void)signal;
	mmap((void *)window, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static APART void raise_signals(void)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		check_equal(0, kill(getpid(), SIGUSR1), "a signal to ourselves");
}

/* Sends a signal that is blocked. Its handler must run only when the signal is unblocked. */
static APART void hold_signals(void)
{
	uint32_t all = UINT32_MAX, before;
	unsigned so_far = firsts;

	sigprocmask(SIG_SETMASK, &all, &before);
	kill(getpid(), SIGUSR1);
	check_equal(so_far, firsts, "held back");
	sigprocmask(SIG_SETMASK, &before, NULL);
	check_equal(so_far + 1, firsts, "let through");
}

static APART void pass_through_pipe(void)
{
	char out[64], in[64] = "";
	int ends[2];

	check_equal(0, pipe(ends), "a pipe");
	for (unsigned i = 0; i < ROUNDS; i++) {
		format(out, sizeof(out), "message %u", i);
		check_equal(sizeof(out), write_all(ends[1], out, sizeof(out)), "written");
		check_equal(sizeof(in), read_all(ends[0], in, sizeof(in)), "read");
		check(strcmp(in, out) == 0, "the same");
	}
	close(ends[0]);
	close(ends[1]);
}

static APART void refuse(int64_t result)
{
	refusals = refusals + (result < 0);
}

static APART void be_refused(void)
{
	refuse(open("/nowhere/at/all", O_RDONLY, 0));
	refuse(close(31));
	refuse(mkdir("/etc", 0755));
	refuse(kill(1 << 20, SIGTERM));
	check_equal(4, refusals, "refusals");
}

/*
 * Accesses new memory: the first access to each page causes a fault, which the kernel resolves. Then unmaps
 * the memory and accesses it again: the handler of SIGSEGV resolves this fault.
 */
static APART void touch_memory(void)
{
	int64_t at = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile char *memory = (volatile char *)(uintptr_t)at;

	for (unsigned i = 0; i < 8; i++)
		memory[i * PAGE] = (char)i;
	check_equal(7, memory[7 * PAGE], "memory");
	munmap((void *)(uintptr_t)at, 8 * PAGE);
	window = (uintptr_t)at;
	memory[0] = 1;
	check_equal(1, memory[0], "the window");
	munmap((void *)window, PAGE);
}

static APART unsigned spin(unsigned turns)
{
	unsigned sum = 0;

	while (turns-- > 0)
		sum = sum * 31 + turns;
	return sum;
}

int main(int argc, char **argv)
{
	(void)argc, (void)argv;
	handle_signal(SIGUSR1, count_first);
	handle_signal(SIGUSR2, count_second);
	handle_signal(SIGSEGV, open_window);
	raise_signals();
	hold_signals();
	pass_through_pipe();
	be_refused();
	touch_memory();
	sleep_ms(20);
	check(spin(SPINS) != 1, "ticks");
	check(setname("renamed") == 0, "a name");
	finish();
}
