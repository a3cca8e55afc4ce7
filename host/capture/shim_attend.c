/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The shim as QEMU's parent. To whoever started it, it is the QEMU: it stays in the same process group, so that
 * the terminal stops, continues and interrupts both; signals that are meant for QEMU are handed on; and QEMU does
 * not outlive it.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "error.h"
#include "path.h"
#include "record.h"
#include "shim.h"

static sigset_t signals_to_take(void)
{
	static const int taken[] = { SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		sigaddset(&set, taken[i]);
	return set;
}

/* What the terminal sends goes to QEMU as well as to us. */
static void hand_on(pid_t qemu, const siginfo_t *info)
{
	if (info->si_signo != SIGCHLD && info->si_code != SI_KERNEL)
		kill(qemu, info->si_signo);
}

static int wait_for(pid_t qemu, const sigset_t *taken)
{
	siginfo_t info;
	pid_t ended;
	int status;

	while ((ended = waitpid(qemu, &status, WNOHANG)) == 0)
		if (sigwaitinfo(taken, &info) > 0)
			hand_on(qemu, &info);
	return ended == qemu ? status : 0;
}

/* Not being able to is no reason to keep the status from who started QEMU. */
static void tell_status(const char *directory, pid_t qemu, int status)
{
	struct capture_record record = { 0 };
	struct capture_guest guest;
	char path[PATH_MAX];

	/* Without a record, or with that of another, this QEMU was not the one to trace. */
	if (capture_path_join(path, directory, "status") != 0 || capture_shim_guest(directory, &guest) != 0 ||
	    guest.pid != qemu)
		return;
	capture_record_set(&record, "wait-status", "%d", status);
	capture_record_save(&record, path);
	capture_record_free(&record);
}

int capture_shim_status(const char *directory, int *wait_status)
{
	struct capture_record record = { 0 };
	char path[PATH_MAX];
	int error = capture_path_join(path, directory, "status");

	if (!error)
		error = capture_record_load(&record, path);
	if (error)
		return error;
	*wait_status = (int)strtol(capture_record_get(&record, "wait-status"), NULL, 10);
	capture_record_free(&record);
	return 0;
}

int capture_shim_attend(const char *directory, int *wait_status)
{
	sigset_t taken = signals_to_take(), before;
	pid_t self = getpid(), qemu;

	/* Where SIGCHLD is ignored, as some starters have it, there is no status to wait for. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &taken, &before);
	qemu = fork();
	if (qemu < 0)
		return capture_fail_errno("fork");
	if (qemu > 0) {
		*wait_status = wait_for(qemu, &taken);
		tell_status(directory, qemu, *wait_status);
		sigprocmask(SIG_SETMASK, &before, NULL);
		return 0;
	}
	/* Killed, the parent could hand on nothing; what then kills QEMU is what was sent to it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != self)
		raise(SIGKILL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return 1;
}
