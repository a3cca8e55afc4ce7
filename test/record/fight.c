/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Programs that are difficult for a tracer (cases.h): they trace, filter calls, stop, and create and end
 * processes.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"

/*
 * Does the same as fork(), but ends the program if no process can be created: kill(-1, SIGKILL) would kill all
 * processes of the user.
 */
static pid_t new_process(void)
{
	const pid_t child = fork();

	if (child < 0) {
		perror("fork");
		exit(1);
	}
	return child;
}

/* ---- ptrace(2) --------------------------------------------------------------------------------- */

static int traceme(void)
{
	return print_result("PTRACE_TRACEME", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

/* Debugs its own children: it attaches to one child, and another child asks to be traced. */
static int debugger(void)
{
	pid_t child = new_process();
	int status = 0;

	if (child == 0) {
		raise(SIGSTOP);
		_exit(3);
	}
	waitpid(child, NULL, WUNTRACED);
	print_result("PTRACE_SEIZE", ptrace(PTRACE_SEIZE, child, NULL, NULL));
	kill(child, SIGCONT);
	while (waitpid(child, &status, __WALL) == child && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, child, NULL, NULL);
	printf("child: status %d\n", WEXITSTATUS(status));
	child = new_process();
	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(errno);
		raise(SIGUSR1);
		_exit(4);
	}
	while (waitpid(child, &status, __WALL) == child && WIFSTOPPED(status)) {
		print_result("stopped", WSTOPSIG(status));
		ptrace(PTRACE_CONT, child, NULL, NULL);
	}
	printf("child: status %d\n", WEXITSTATUS(status));
	return 0;
}

/*
 * Creates many children, and attaches to each of them as soon as it exists. This would fail if a recorder,
 * which must not record the children, were attached to them.
 */
static int debuggers(void)
{
	long result = 0;
	int error = 0;

	for (int n = 0; n < 1000 && result == 0; n++) {
		pid_t child = new_process();

		if (child == 0)
			for (;;)
				pause();
		result = ptrace(PTRACE_SEIZE, child, NULL, NULL);
		error = errno;
		kill(child, SIGKILL);
		waitpid(child, NULL, __WALL);
	}
	errno = error;
	return print_result("PTRACE_SEIZE", result);
}

static int trace_parent(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		print_result("itself", ptrace(PTRACE_SEIZE, getpid(), NULL, NULL));
		_exit(ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) < 0 ? errno : 0);
	}
	waitpid(child, &status, 0);
	printf("parent: %s\n", WEXITSTATUS(status) ? strerrorname_np(WEXITSTATUS(status)) : "done");
	return 0;
}

/* ---- seccomp(2) -------------------------------------------------------------------------------- */

/* Installs a filter that performs this action for getppid(), and allows all other calls. */
static int filter(uint32_t action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    action == SECCOMP_RET_USER_NOTIF ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0,
			    &program);
}

static int kill_process(void)
{
	print_result("filter", filter(SECCOMP_RET_KILL_PROCESS));
	fflush(stdout);
	return (int)syscall(SYS_getppid);
}

static void *ask(void *result)
{
	*(long *)result = syscall(SYS_getppid);
	return result;
}

static int kill_thread(void)
{
	long result = -7;
	pthread_t thread;

	print_result("filter", filter(SECCOMP_RET_KILL_THREAD));
	pthread_create(&thread, NULL, ask, &result);
	pthread_join(thread, NULL);
	printf("the others go on: %ld\n", result);
	return 0;
}

static void on_sigsys(int number, siginfo_t *info, void *context)
{
	(void)context;
	printf("signal %d code %d call %d\n", number, info->si_code, info->si_syscall == SYS_getppid);
}

static int trap(void)
{
	struct sigaction action = { .sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO };

	sigaction(SIGSYS, &action, NULL);
	print_result("filter", filter(SECCOMP_RET_TRAP));
	printf("result: %ld\n", syscall(SYS_getppid));
	return 0;
}

static int refuse(void)
{
	print_result("filter", filter(SECCOMP_RET_ERRNO | EXDEV));
	return print_result("call", syscall(SYS_getppid));
}

/*
 * Makes a call that a filter passes to the tracer. The call fails with ENOSYS, unless a tracer has requested
 * such calls.
 */
static int ask_tracer(void)
{
	print_result("filter", filter(SECCOMP_RET_TRACE | 7));
	return print_result("call", syscall(SYS_getppid));
}

static int notify(void)
{
	struct seccomp_notif wanted = { 0 };
	struct seccomp_notif_resp answer = { .val = 12345 };
	int listener = filter(SECCOMP_RET_USER_NOTIF);
	pid_t child = listener < 0 ? 0 : fork();

	if (child == 0)
		_exit(listener >= 0 && syscall(SYS_getppid) == 12345 ? 5 : 6);
	print_result("receive", ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &wanted));
	answer.id = wanted.id;
	print_result("answer", ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer));
	return await(child);
}

static int strict(void)
{
	print_result("strict", 0);
	fflush(stdout);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	return (int)syscall(SYS_getppid);
}

/* ---- A process that cannot be dumped ----------------------------------------------------------- */

static int undumpable(void)
{
	int fd;

	print_result("PR_SET_DUMPABLE", prctl(PR_SET_DUMPABLE, 0));
	fd = open("/dev/null", O_WRONLY);
	print_result("write", write(fd, "hidden", 6));
	return print_result("seteuid", getuid() == 0 ? seteuid(65534) : 0);
}

/* ---- Programs that stop or end unusually ------------------------------------------------------- */

static int group_stop(void)
{
	int ends[2], status = 0;
	pid_t child;
	char byte;

	if (pipe(ends) != 0)
		return 1;
	child = new_process();
	if (child == 0) {
		close(ends[1]);
		raise(SIGSTOP);
		_exit(read(ends[0], &byte, 1) == 0 ? 8 : 9);
	}
	waitpid(child, &status, WUNTRACED);
	print_result("stopped", WIFSTOPPED(status) ? 0 : -1);
	kill(child, SIGCONT);
	waitpid(child, &status, WCONTINUED);
	print_result("continued", WIFCONTINUED(status) ? 0 : -1);
	close(ends[1]);
	await(child);
	child = new_process();
	if (child == 0)
		for (;;)
			raise(SIGSTOP);
	waitpid(child, &status, WUNTRACED);
	kill(child, SIGKILL);
	return await(child);
}

static int killed_in_call(void)
{
	int ends[2], status = 0;
	pid_t child;
	char byte;

	if (pipe(ends) != 0)
		return status;
	child = new_process();
	if (child == 0) {
		(void)!write(ends[1], "", 1);
		close(ends[1]);
		for (;;)
			pause();
	}
	(void)!read(ends[0], &byte, 1);
	kill(child, SIGKILL);
	return await(child);
}

/* Stops itself, and continues after SIGCONT. */
static int stops(void)
{
	raise(SIGSTOP);
	return print_result("went on", 0);
}

/*
 * The parent waits in vfork() until standard input has data or is closed. During this wait, only SIGKILL
 * can end the parent.
 */
static int waits_in_vfork(void)
{
	pid_t child = vfork();
	char byte;

	if (child == 0) {
		(void)!write(STDOUT_FILENO, "waits\n", 6);
		_exit((int)read(STDIN_FILENO, &byte, 1));
	}
	return await(child);
}

/*
 * Ignores and blocks all signals, then sends them to itself, except SIGKILL and SIGSTOP: none may end this
 * process.
 */
static int deaf(void)
{
	sigset_t all;

	for (int n = 1; n < NSIG; n++)
		signal(n, SIG_IGN);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int n = 1; n < 32; n++)
		if (n != SIGKILL && n != SIGSTOP)
			raise(n);
	return print_result("deaf", 0);
}

/* ---- Threads and processes --------------------------------------------------------------------- */

static pthread_barrier_t gate;

static void *replace(void *unused)
{
	pthread_barrier_wait(&gate);
	execl(self, self, "over", (char *)NULL);
	return unused;
}

static void *rest(void *unused)
{
	pthread_barrier_wait(&gate);
	for (;;)
		pause();
	return unused;
}

/* Creates 100 threads. Ten of them call exec at the same time. */
static int hundred(void)
{
	pthread_t thread;

	pthread_barrier_init(&gate, NULL, 101);
	for (int n = 0; n < 100; n++)
		if (pthread_create(&thread, NULL, n % 10 ? rest : replace, NULL) != 0)
			return print_result("thread", -1);
	rest(NULL);
	return 0;
}

static int vforks(void)
{
	pid_t child = vfork();

	if (child == 0)
		_exit(2);
	await(child);
	child = vfork();
	if (child == 0) {
		execl(self, self, "over", (char *)NULL);
		_exit(1);
	}
	await(child);
	child = vfork();
	if (child == 0) {
		kill(getpid(), SIGKILL);
		_exit(1);
	}
	return await(child);
}

static int raw_clone(unsigned long flags)
{
	fflush(stdout);
	return (int)syscall(SYS_clone, flags, NULL, NULL, NULL, 0L);
}

static int child_ends(void *unused)
{
	(void)unused;
	syscall(SYS_exit, 9);
	return 0;
}

static int clones(void)
{
	static char stack[64 * 1024] __attribute__((aligned(16)));
	pid_t child = raw_clone(CLONE_UNTRACED | SIGCHLD);

	if (child == 0)
		_exit(1);
	await(child);
	signal(SIGUSR1, SIG_IGN);
	child = raw_clone(SIGUSR1 | CLONE_VFORK);
	if (child == 0)
		_exit(2);
	await(child);
	child = raw_clone(0); /* this child sends no signal when it ends */
	if (child == 0)
		_exit(3);
	await(child);
	child = clone(child_ends, stack + sizeof(stack),
		      CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_SIGHAND | SIGCHLD, NULL);
	await(child);
	if (getuid() == 0) {
		child = raw_clone(CLONE_NEWPID | SIGCHLD);
		if (child == 0)
			_exit(getpid() == 1 ? 4 : 5);
		await(child);
		unshare(CLONE_NEWPID | CLONE_NEWNS);
		child = fork();
		if (child == 0)
			_exit(getpid() == 1 && fork() >= 0 ? 6 : 7);
		await(child);
	}
	return 0;
}

/*
 * Creates a child with CLONE_PARENT: it becomes the caller's sibling. If the recorder has started the caller,
 * the new process is a child of the recorder.
 */
static int sibling(void)
{
	int sum = 0, status;
	pid_t child = fork();

	if (child == 0) {
		pid_t sister = raw_clone(CLONE_PARENT | SIGCHLD);

		_exit(sister == 0 ? 2 : 3);
	}
	for (int n = 0; n < 2; n++)
		sum += waitpid(-1, &status, 0) > 0 ? WEXITSTATUS(status) : 100;
	printf("both: %d\n", sum);
	return 0;
}

static int bomb(void)
{
	int ended = 0;

	for (int n = 0; n < 200; n++)
		if (fork() == 0)
			_exit(0);
	while (wait(NULL) > 0)
		ended++;
	printf("%d ended\n", ended);
	return 0;
}

/* The daemon outlives the first process: it waits at a pipe until that process has ended. */
static int outlive(void)
{
	int ends[2];
	char byte;

	if (pipe(ends) != 0)
		return 0;
	if (fork() == 0) {
		setsid();
		if (fork() > 0)
			_exit(0);
		close(ends[1]);
		(void)!read(ends[0], &byte, 1); /* waits until the first process has ended */
		syscall(SYS_mkdir, "/nowhere/outlived", 0);
		_exit(0);
	}
	wait(NULL);
	return print_result("daemon", 0);
}

static const struct test_case cases[] = {
	{ "traceme", traceme },
	{ "debugger", debugger },
	{ "debuggers", debuggers },
	{ "trace_parent", trace_parent },
	{ "kill_process", kill_process },
	{ "kill_thread", kill_thread },
	{ "trap", trap },
	{ "refuse", refuse },
	{ "ask_tracer", ask_tracer },
	{ "notify", notify },
	{ "strict", strict },
	{ "undumpable", undumpable },
	{ "group_stop", group_stop },
	{ "killed_in_call", killed_in_call },
	{ "stops", stops },
	{ "waits_in_vfork", waits_in_vfork },
	{ "deaf", deaf },
	{ "hundred", hundred },
	{ "over", over },
	{ "vforks", vforks },
	{ "clones", clones },
	{ "sibling", sibling },
	{ "bomb", bomb },
	{ "outlive", outlive },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return run_case(cases, argc, argv);
}
