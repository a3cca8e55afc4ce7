/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "profile/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/temporary.h"
#include "capture/dial.h"
#include "capture/error.h"
#include "capture/plan.h"
#include "capture/qemu_line.h"
#include "capture/watch.h"

#define NOT_STARTED  127 /* exit status of a child that could not execute QEMU */
#define END_PATIENCE 5.0 /* maximum seconds until QEMU exits */
#define POLL_NS	     2000000L

static void pass_time(void)
{
	const struct timespec time = { .tv_nsec = POLL_NS };

	nanosleep(&time, NULL);
}

/* Returns true if QEMU has ended. */
static bool reap(struct profile_child *child)
{
	if (child->pid && waitpid(child->pid, NULL, WNOHANG) == child->pid)
		child->pid = 0;
	return !child->pid;
}

static void add_options(struct profile_child *child, const struct capture_qemu_line *line,
			struct capture_words *words)
{
	child->starts = !line->paused && !line->incoming;
	if (child->starts)
		capture_words_add(words, "-S");
	/*
	 * with the default target of semihosting, QEMU would send semihosting calls to its gdb client, the
	 * profiler
	 */
	if (line->semihosting) {
		capture_words_add(words, "-semihosting-config");
		capture_words_add(words, "enable=on,target=native");
	}
	capture_words_add(words, "-qmp");
	capture_words_format(words, "unix:%s,server=on,wait=off", child->qmp);
}

static _Noreturn void become_qemu(const struct capture_words *words, const sigset_t *mask)
{
	signal(SIGPIPE, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(words->word[0], words->word);
	fprintf(stderr, "ktrace profile: %s: %s\n", words->word[0], strerror(errno));
	_exit(NOT_STARTED);
}

int profile_child_start(struct profile_child *child, char *const *command, const sigset_t *mask)
{
	struct capture_words words = { 0 };
	struct capture_qemu_line line;
	int error;

	*child = (struct profile_child){ 0 };
	if (!capture_qemu_program(command[0]))
		return capture_fail(
			CAPTURE_E_USAGE,
			"%s: not a qemu-system program: start QEMU with a QMP socket and use --qmp",
			command[0]);
	error = capture_qemu_line_read(&line, command);
	if (error)
		return error;
	if (snprintf(child->directory, sizeof(child->directory), "%s/ktrace-qemu-XXXXXX",
		     base_temporary_folder()) >= (int)sizeof(child->directory)) {
		child->directory[0] = '\0';
		return capture_fail(CAPTURE_E_USAGE, "TMPDIR: the path is too long for a socket");
	}
	if (!mkdtemp(child->directory)) {
		child->directory[0] = '\0';
		return capture_fail_errno("%s", base_temporary_folder());
	}
	error = capture_path_join(child->qmp, child->directory, "qmp");
	for (size_t n = 0; command[n]; n++)
		capture_words_add(&words, command[n]);
	add_options(child, &line, &words);
	if (!error && words.failed)
		error = capture_fail(CAPTURE_E_SYSTEM, "out of memory");
	if (!error) {
		child->pid = fork();
		if (child->pid == 0)
			become_qemu(&words, mask);
		if (child->pid < 0) {
			child->pid = 0;
			error = capture_fail_errno("fork");
		}
	}
	capture_words_free(&words);
	return error;
}

int profile_child_await(struct profile_child *child)
{
	int fd;

	/* QEMU creates the socket's file before it accepts connections */
	while ((fd = capture_dial(child->qmp, 1000)) < 0) {
		if (reap(child))
			return capture_fail(CAPTURE_E_ABSENT, "QEMU has ended before it ran the guest");
		if (capture_check_interrupt("QEMU") != 0)
			return CAPTURE_E_SYSTEM;
		pass_time();
	}
	close(fd);
	return 0;
}

void profile_child_end(struct profile_child *child)
{
	const double end = capture_now() + END_PATIENCE;

	while (!reap(child)) {
		if (capture_now() >= end)
			kill(child->pid, SIGKILL);
		pass_time();
	}
	if (!child->directory[0])
		return;
	unlink(child->qmp);
	rmdir(child->directory);
}
