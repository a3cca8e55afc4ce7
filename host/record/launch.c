/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "record/tracer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* period of the timer, in µs; requests are processed whenever the timer ticks */
#define TICK_US		 100000
#define TICKS_TO_FLUSH	 10
#define TICKS_TO_GIVE_UP 10
/*
 * maximum number of ancestors that are examined; a limit is needed because processes may change during the
 * search
 */
#define GENERATIONS 1000u

static int fail(struct record_outcome *outcome, const char *what, int error)
{
	outcome->what = what;
	return outcome->error = error;
}

/* ---- Signals ----------------------------------------------------------------------------------- */

/* true if a signal has requested that the recorder end; the traced programs continue */
static volatile sig_atomic_t ending;
/* true if the recorder records a command that it has started, and waits for it */
static bool in_foreground;
/* true if a signal has arrived; this includes the signal of the timer */
static volatile sig_atomic_t signal_arrived;

static void on_signal(int signal)
{
	signal_arrived = 1;
	if (signal != SIGALRM && signal != SIGIO)
		ending = 1;
}

/*
 * Sets handlers for signals, so that a signal interrupts the wait for stops. A signal that arrives just
 * before the wait does not interrupt the wait, and is processed when the timer's next tick interrupts it.
 */
static void signals_begin(bool foreground)
{
	const struct itimerval tick = { { 0, TICK_US }, { 0, TICK_US } };
	struct sigaction action = { .sa_handler = on_signal };

	in_foreground = foreground;
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGIO, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	/*
	 * In the foreground, the terminal sends SIGINT and SIGQUIT also to the command, which may handle
	 * these signals. So the recorder ignores them.
	 */
	action.sa_handler = foreground ? SIG_IGN : on_signal;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGQUIT, &action, NULL);
	/* No SIGCHLD is needed for stops: wait() returns when a traced thread stops. */
	action = (struct sigaction){ .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP };
	sigaction(SIGCHLD, &action, NULL);
	/*
	 * ignore SIGXFSZ, so that write() fails with EFBIG at the size limit of files, and no signal ends the
	 * recorder
	 */
	signal(SIGXFSZ, SIG_IGN);
	setitimer(ITIMER_REAL, &tick, NULL);
}

/*
 * Forgets all threads if all of them are to be detached, but none was detached for TICKS_TO_GIVE_UP ticks of
 * the timer. The recorder then ends, and the kernel detaches the threads. Some threads do not stop when we
 * interrupt them, for example a parent that waits for its vforked child. While the recorder waits for its
 * command, no thread is forgotten, unless a signal has requested that the recorder end.
 */
static void drop_unstoppable(void)
{
	static unsigned ticks;
	static size_t threads;

	if ((in_foreground && !ending) || record_threads() != threads || !record_all_detaching())
		ticks = 0;
	threads = record_threads();
	if (++ticks > TICKS_TO_GIVE_UP)
		record_drop_all();
}

static void serve(void)
{
	static unsigned ticks;

	if (!signal_arrived)
		return;
	signal_arrived = 0;
	record_faults_drain_all();
	record_control_serve();
	if (++ticks % TICKS_TO_FLUSH == 0)
		record_sink_flush_all();
	for (struct record_process *process = record_process_next(NULL); process && ending;
	     process = record_process_next(process))
		record_detach(process);
	record_drop_ended();
	drop_unstoppable();
}

static int open_sink(const struct record_plan *plan, struct record_sink **sink,
		     struct record_outcome *outcome)
{
	int error = record_sink_open(sink, plan->path, plan->append ? RECORD_SINK_APPEND : RECORD_SINK_NEW);

	return error ? fail(outcome, plan->path, error) : 0;
}

/* ---- Recording a new command ------------------------------------------------------------------- */

/*
 * Finds a command in the directories of PATH if its name has no slash. Returns its path, or the name itself
 * if it has a slash or is not found. execvp() is not used, because each of its attempts would be recorded
 * as a call.
 */
static const char *find_program(const char *name, char *path, size_t room)
{
	const char *folder = getenv("PATH");

	for (const char *end; folder && !strchr(name, '/'); folder = *end ? end + 1 : NULL) {
		struct stat file;
		int length;

		end = folder + strcspn(folder, ":");
		length = snprintf(path, room, "%.*s/%s", end > folder ? (int)(end - folder) : 1,
				  end > folder ? folder : ".", name);
		if (length > 0 && (size_t)length < room && stat(path, &file) == 0 && S_ISREG(file.st_mode) &&
		    access(path, X_OK) == 0)
			return path;
	}
	return name;
}

/*
 * Waits for a byte from the pipe `go`, then executes the command. If exec fails, sends the errno through the
 * pipe `failure`. If the pipe `go` ends without a byte, the recorder has ended, and this process ends, too.
 */
static _Noreturn void become(char *const *command, int go, int failure, const sigset_t *before)
{
	char byte, path[PATH_MAX];
	const char *program = find_program(command[0], path, sizeof(path));
	ssize_t got;
	int error;

	sigprocmask(SIG_SETMASK, before, NULL);
	do
		got = read(go, &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		_exit(EXIT_FAILURE);
	execv(program, command);
	error = errno;
	(void)!write(failure, &error, sizeof(error));
	_exit(error == ENOENT ? 127 : 126);
}

struct start {
	int go[2], failure[2];
	pid_t pid;
};

static int start(struct start *start, char *const *command)
{
	sigset_t all, before;
	int error;

	if (pipe2(start->go, O_CLOEXEC) != 0)
		return errno;
	if (pipe2(start->failure, O_CLOEXEC) != 0)
		return errno;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	start->pid = fork();
	if (start->pid == 0) {
		/*
		 * in the child, close the copy of the write end: while a copy is open, read() does not report
		 * the end of the pipe
		 */
		close(start->go[1]);
		become(command, start->go[0], start->failure[1], &before);
	}
	error = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(start->go[0]);
	close(start->failure[1]);
	return start->pid < 0 ? error : 0;
}

int record_command(const struct record_plan *plan, char *const *command, struct record_outcome *outcome)
{
	struct record_sink *sink;
	struct start child;
	int error = open_sink(plan, &sink, outcome), command_error = 0;

	if (error)
		return error;
	error = start(&child, command);
	if (error)
		return fail(outcome, "fork", error);
	error = record_attach_child(child.pid, sink, plan->facilities, plan->inherit);
	record_sink_put(sink);
	if (error) {
		kill(child.pid, SIGKILL);
		waitpid(child.pid, NULL, 0);
		return fail(outcome, command[0], error);
	}
	/* ignore an error, whose only effect is that -c and -C do not reach this recorder */
	record_control_open();
	signals_begin(true);
	(void)!write(child.go[1], "", 1);
	close(child.go[1]);
	outcome->status = -1;
	record_tracer_run(serve, child.pid, &outcome->status);
	record_control_close();
	/*
	 * if the command is no longer recorded, the tracing loop may end before the command ends, so wait for
	 * the command (our child) here
	 */
	while (outcome->status == -1 && !ending && waitpid(child.pid, &outcome->status, 0) < 0 &&
	       errno == EINTR)
		continue;
	if (read(child.failure[0], &command_error, sizeof(command_error)) == sizeof(command_error))
		return fail(outcome, command[0], command_error);
	return 0;
}

/* ---- Recording processes that already run ------------------------------------------------------- */

static bool is_named(const struct record_plan *plan, pid_t pid)
{
	return plan->group ? getpgid(pid) == plan->group : pid == plan->pid;
}

static bool is_target(const struct record_plan *plan, pid_t pid)
{
	unsigned generations = plan->descend ? GENERATIONS : 1;

	for (pid_t at = pid == getpid() ? 0 : pid; at > 0 && generations > 0; generations--) {
		if (is_named(plan, at))
			return true;
		at = record_proc_parent(at);
	}
	return false;
}

/*
 * Attaches to each target, if we have the right to. Returns 0 if at least one target was attached, otherwise
 * the last error.
 */
static int attach_all(const struct record_plan *plan, struct record_sink *sink)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	unsigned attached = 0;
	int last = ESRCH;

	if (!directory)
		return errno;
	while ((entry = readdir(directory))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		int error = pid > 0 && is_target(plan, pid)
				    ? record_attach(pid, sink, plan->facilities, plan->inherit)
				    : ESRCH;

		if (error == 0)
			attached++;
		else if (error != ESRCH)
			last = error;
	}
	closedir(directory);
	return attached > 0 ? 0 : last;
}

/* Attaches to the targets and records them in the background. Writes the error, or 0, to the pipe. */
static _Noreturn void record_in_background(const struct record_plan *plan, struct record_sink *sink,
					   int result)
{
	int error, nothing = 0, null = open("/dev/null", O_RDWR);

	setsid();
	error = attach_all(plan, sink);
	record_sink_put(sink);
	if (!error) {
		record_control_open();
		signals_begin(false);
	}
	for (int fd = 0; fd <= 2 && null >= 0; fd++)
		dup2(null, fd);
	(void)!write(result, &error, sizeof(error));
	close(result);
	if (!error)
		record_tracer_run(serve, 0, &nothing);
	record_control_close();
	_exit(EXIT_SUCCESS);
}

/*
 * Opens /dev/null as descriptor 0, 1 and 2 if they are closed. Otherwise a file that is opened later could
 * become standard input, output or error.
 */
static void occupy_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= 2);
	if (fd >= 0)
		close(fd);
}

int record_targets(const struct record_plan *plan, struct record_outcome *outcome)
{
	const char *what = plan->group ? "the process group" : "the process";
	struct record_sink *sink;
	int result[2], error;
	pid_t pid;

	occupy_standard_files();
	/*
	 * Before the file is opened, check that /proc can be used and that the target exists. Without this
	 * check, an existing file would be replaced although nothing can be recorded.
	 */
	if (!record_proc_is_usable())
		return fail(outcome, "/proc", ENODEV);
	if (kill(plan->group ? -plan->group : plan->pid, 0) != 0 && errno == ESRCH)
		return fail(outcome, what, ESRCH);
	error = open_sink(plan, &sink, outcome);
	if (error)
		return error;
	if (pipe2(result, O_CLOEXEC) != 0)
		return fail(outcome, "pipe", errno);
	pid = fork();
	if (pid < 0)
		return fail(outcome, "fork", errno);
	if (pid == 0)
		record_in_background(plan, sink, result[1]);
	close(result[1]);
	if (read(result[0], &error, sizeof(error)) != sizeof(error))
		error = ECANCELED;
	close(result[0]);
	return error ? fail(outcome, what, error) : 0;
}
