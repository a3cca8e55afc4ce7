/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <account.h>
#include <program.h>
#include <stdio.h>
#include <thread.h>
#include <unistd.h>

#define NS_PER_S  1000000000u
#define NS_PER_MS 1000000u

const char *program_name = "";
static unsigned failures;

extern const char tls_image[], tls_end[]; /* symbols that the linker script user.ld defines */

_Noreturn void start(int argc, char **argv); /* called only by arch/…/start.S */

_Noreturn void start(int argc, char **argv)
{
	if (argc > 0)
		program_name = argv[0];
	for (const char *at = program_name; *at; at++)
		if (*at == '/')
			program_name = at + 1;
	if ((uintptr_t)tls_end != (uintptr_t)tls_image)
		thread_prepare();
	exit(main(argc, argv));
}

bool check(bool good, const char *text)
{
	if (!good) {
		printf("%s: failed: %s\n", program_name, text);
		__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
	}
	return good;
}

bool check_equal(int64_t expected, int64_t value, const char *text)
{
	if (expected != value) {
		printf("%s: failed: %s: %ld instead of %ld\n", program_name, text, value, expected);
		__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
	}
	return expected == value;
}

_Noreturn void finish(void)
{
	account_and_exit(failures ? 1 : 0);
}

/*
 * Forks with all signals blocked. Otherwise a handler could run in the child before the child's counters are
 * cleared, and the handler's system calls would not be counted.
 */
static int fork_undisturbed(void)
{
	uint32_t all = UINT32_MAX, before;
	int pid;

	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

int start_child(void (*child)(void))
{
	int pid = fork_undisturbed();

	if (pid == 0) {
		failures = 0;
		child();
		finish();
	}
	if (!check(pid > 0, "a child starts"))
		finish();
	return pid;
}

int start_program(const char *path, char **argv)
{
	char *no_environment[] = { NULL };
	int pid = fork();

	if (pid == 0) {
		execve(path, argv, no_environment);
		exit(127);
	}
	return pid;
}

int wait_for(int pid)
{
	int status, result;

	do
		result = wait4(pid, &status, 0);
	while (result == -EINTR);
	return result < 0 ? result : status;
}

int64_t read_all(int fd, void *to, size_t size)
{
	size_t done = 0;
	int64_t n;

	for (; done < size; done += (size_t)n) {
		n = read(fd, (char *)to + done, size - done);
		if (n <= 0)
			return n < 0 ? n : (int64_t)done;
	}
	return (int64_t)done;
}

int64_t write_all(int fd, const void *from, size_t size)
{
	size_t done = 0;
	int64_t n;

	for (; done < size; done += (size_t)n) {
		n = write(fd, (const char *)from + done, size - done);
		if (n <= 0)
			return n < 0 ? n : (int64_t)done;
	}
	return (int64_t)done;
}

uint64_t now_ns(void)
{
	struct abi_timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.sec * NS_PER_S + (uint64_t)now.nsec;
}

void sleep_ms(unsigned ms)
{
	struct abi_timespec time = { ms / 1000, (int64_t)(ms % 1000) * NS_PER_MS };

	nanosleep(&time);
}
