/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_state.h"
#include "error.h"
#include "shim.h"
#include "qemu_line.h"

#define EXIT_NOT_FOUND 127

int capture_child_open(struct capture_child *child)
{
	sigset_t taken;

	*child = (struct capture_child){ .signals = -1, .output = -1 };
	sigemptyset(&taken);
	sigaddset(&taken, SIGINT);
	sigaddset(&taken, SIGTERM);
	sigaddset(&taken, SIGHUP);
	sigaddset(&taken, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &taken, &child->before) != 0)
		return capture_fail_errno("sigprocmask");
	child->signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (child->signals < 0)
		return capture_fail_errno("signalfd");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return 0;
}

/* In the new process. Returns only to fail. */
static int become(const struct capture_child *child, const char *directory, char *const *command)
{
	const char *program = capture_qemu_program(command[0]);
	struct capture_words words = { 0 };
	char *path;

	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &child->before, NULL);
	path = capture_shim_path(directory);
	if (!path || setenv("PATH", path, 1) != 0)
		return capture_fail_errno("PATH");
	if (child->output >= 0 && dup2(child->output, STDOUT_FILENO) < 0)
		return capture_fail_errno("standard output");
	if (!program) {
		execvp(command[0], command);
		return capture_fail_errno("%s", command[0]);
	}
	capture_words_add(&words, program);
	for (size_t i = 1; command[i]; i++)
		capture_words_add(&words, command[i]);
	if (words.failed)
		return capture_fail(CAPTURE_E_SYSTEM, "out of memory");
	/* Nobody would wait for it any more. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	return capture_shim_become(directory, words.word);
}

struct refusal {
	int error;
	char message[1024];
};

/* The new process failed before it became the command: passes on why. */
static void confess(int pipe_end, int error)
{
	struct refusal refusal = { .error = error };
	ssize_t written;

	strncpy(refusal.message, capture_message(), sizeof(refusal.message) - 1);
	do
		written = write(pipe_end, &refusal, sizeof(refusal));
	while (written < 0 && errno == EINTR);
	_exit(EXIT_NOT_FOUND);
}

int capture_child_start(struct capture_child *child, const char *directory, char *const *command)
{
	struct refusal refusal;
	int ends[2];
	ssize_t got;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return capture_fail_errno("pipe");
	child->pid = fork();
	if (child->pid == 0)
		confess(ends[1], become(child, directory, command));
	close(ends[1]);
	if (child->pid < 0) {
		capture_fail_errno("fork");
		close(ends[0]);
		return CAPTURE_E_SYSTEM;
	}
	do
		got = read(ends[0], &refusal, sizeof(refusal));
	while (got < 0 && errno == EINTR);
	close(ends[0]);
	if (got != (ssize_t)sizeof(refusal))
		return 0;
	waitpid(child->pid, &child->status, 0);
	child->ended = child->alone = true;
	return capture_fail(refusal.error, "%s", refusal.message);
}

static void reap(struct capture_child *child)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == child->pid) {
			child->ended = true;
			child->status = status;
		}
		if (pid == child->guest) {
			child->guest_ended = true;
			child->guest_status = status;
		}
	}
	child->alone = pid < 0 && errno == ECHILD;
}

int capture_child_signals(struct capture_child *child, unsigned *count)
{
	struct signalfd_siginfo info;
	int last = 0;

	while (read(child->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		last = (int)info.ssi_signo;
		++*count;
	}
	reap(child);
	return last;
}

void capture_child_close(struct capture_child *child)
{
	if (child->signals >= 0)
		close(child->signals);
	sigprocmask(SIG_SETMASK, &child->before, NULL);
	child->signals = -1;
}
