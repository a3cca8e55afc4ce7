/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Programs that are difficult for a tracer (cases.h). They use traps, system calls of another ABI, and
 * memory that is not mapped or that changes during a call.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

#define PAGE 4096u

/* ---- Traps and other ABIs -------------------------------------------------------------------------- */

static volatile int traps;

static void on_trap(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	traps++;
	if (traps == 1)
		printf("SIGTRAP code %d\n", info->si_code);
}

static int breakpoint(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &action, NULL);
#ifdef __x86_64__
	__asm__ volatile("int3");
#else
	raise(SIGTRAP);
#endif
	printf("%d traps\n", traps);
	return 0;
}

static int single_step(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &action, NULL);
#ifdef __x86_64__
	long result;

	__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tnop\n\tnop\n\tsyscall\n\tnop\n\t"
			 "pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tnop"
			 : "=a"(result)
			 : "a"(SYS_getppid)
			 : "rcx", "r11", "memory");
#endif
	printf("%d traps\n", traps);
	return 0;
}

static int old_call(void)
{
#ifdef __x86_64__
	int result;

	/* makes the call getpid() of i386 */
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
	printf("int 0x80: %s\n", result == getpid() ? "done" : "another");
	/* makes the call close() of i386 */
	__asm__ volatile("int $0x80" : "=a"(result) : "a"(6), "b"(-1) : "memory");
	printf("int 0x80: %d\n", result);
#endif
	return 0;
}

/* ---- Memory that is missing or changes --------------------------------------------------------- */

/* Returns the address of the last byte of a page. The page after it is missing. */
static char *edge(void)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(pages + PAGE, PAGE);
	return pages + PAGE - 1;
}

static int edges(void)
{
	char *last = edge(), *argv[] = { last, NULL };
	struct iovec vector = { last, PAGE };
	int fd = open("/dev/null", O_WRONLY);

	memcpy(last - 7, "/nowher", 8);
	*last = 'e';
	print_result("open", open(last - 7, O_RDONLY));
	print_result("open of nothing", open((char *)16, O_RDONLY));
	print_result("stat", stat("/", (struct stat *)last));
	print_result("write", write(fd, last, PAGE) < 0 ? -1 : 0);
	print_result("writev", writev(fd, &vector, 1) < 0 ? -1 : 0);
	print_result("writev of an edge", writev(fd, (struct iovec *)(last - 3), 2));
	print_result("writev of many", syscall(SYS_writev, fd, &vector, INT32_MAX));
	print_result("execve", execve(self, argv, (char **)last));
	print_result("execve of nothing", execve((char *)16, argv, NULL));
	print_result("nanosleep", syscall(SYS_nanosleep, last, NULL));
	print_result("huge", syscall(SYS_write, -1, last, SIZE_MAX));
	return print_result("huge poll", syscall(SYS_poll, last, UINT32_MAX, 0));
}

static char *shared_page;
static volatile int over_now;

static void *churn(void *unused)
{
	while (!over_now) {
		mmap(shared_page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		     0);
		strcpy(shared_page, "/nowhere/at/all");
		munmap(shared_page, PAGE);
	}
	return unused;
}

/* Another thread maps and unmaps the memory of the arguments during the calls. */
static int vanishing(void)
{
	pthread_t thread;
	int done = 0;

	shared_page = edge() - PAGE + 1;
	pthread_create(&thread, NULL, churn, NULL);
	for (int n = 0; n < 300; n++)
		done += open(shared_page, O_RDONLY) < 0;
	over_now = 1;
	pthread_join(thread, NULL);
	printf("%d refused\n", done);
	return 0;
}

static int others_memory(void)
{
	static char text[16] = "before";
	struct iovec here = { (char[]){ "after" }, 6 }, there = { text, 6 };
	pid_t child = fork();

	if (child == 0) {
		print_result("process_vm_writev", process_vm_writev(getppid(), &here, 1, &there, 1, 0));
		fflush(stdout);
		_exit(0);
	}
	await(child);
	printf("%s\n", text);
	return 0;
}

/* ---- Other difficult programs ---------------------------------------------------------------------- */

static int closes_all(void)
{
	syscall(SYS_close_range, 0, UINT32_MAX, 0);
	return open("/dev/null", O_RDONLY) + 40;
}

static int execs(void)
{
	char *argv[] = { (char *)self, (char *)"over", NULL };

	print_result("no such file", execv("/nowhere/program", argv));
	print_result("a directory", execv("/", argv));
	print_result("personality", personality(ADDR_NO_RANDOMIZE));
	fflush(stdout);
	return execv(self, argv);
}

static int ring(void)
{
	char parameters[120] = "";
	long fd = syscall(SYS_io_uring_setup, 2, parameters);

	print_result("io_uring_setup", fd);
	if (fd >= 0)
		print_result("io_uring_enter", syscall(SYS_io_uring_enter, fd, 0, 0, 0, NULL, 0));
	return 0;
}

/* Linux supports x32 only if it is configured. Otherwise the calls fail. */
static int x32(void)
{
#ifdef __x86_64__
	const long bit = 0x40000000;

	print_result("getppid", syscall(bit | 110) < 0 ? -1 : 0);
	print_result("access", syscall(bit | 21, "/nowhere/x32", R_OK));
	print_result("ioctl", syscall(bit | 514, -1, 0, 0));
	print_result("no call", syscall(bit | 1000));
#endif
	return 0;
}

static const struct test_case cases[] = {
	{ "over", over },
	{ "breakpoint", breakpoint },
	{ "single_step", single_step },
	{ "old_call", old_call },
	{ "edges", edges },
	{ "vanishing", vanishing },
	{ "others_memory", others_memory },
	{ "closes_all", closes_all },
	{ "execs", execs },
	{ "ring", ring },
	{ "x32", x32 },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return run_case(cases, argc, argv);
}
