/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The QEMU whose guest is sampled: starts QEMU if it is not running, and connects to it. */
#include "profile/profile.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/open.h"
#include "capture/wait.h"
#include "capture/error.h"
#include "capture/plan.h"
#include "capture/qemu_line.h"
#include "profile/target_state.h"

/* ---- A QEMU that is started for profiling ---- */

#define NOT_STARTED	127 /* exit status of a child that could not execute QEMU */
#define END_PATIENCE	5.0 /* maximum seconds until QEMU exits */
#define RESUME_PATIENCE 2.0 /* maximum seconds until the guest runs */
#define POLL_NS		2000000L

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

/* Creates a private directory for a socket. `path` is "" on error. */
static int make_directory(char path[BASE_PRIVATE_ROOM])
{
	if (base_private_folder(path) == 0)
		return 0;
	capture_fail_errno("%s", path);
	path[0] = '\0';
	return CAPTURE_E_SYSTEM;
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
	error = make_directory(child->directory);
	if (error)
		return error;
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

/* ---- The connection ---- */

#define END_MS 2000 /* maximum time in ms until QEMU ends */

static void skip(void *context, json_t *message)
{
	(void)context;
	(void)message;
}

bool profile_target_has_ended(struct profile_target *target, int ms)
{
	const double end = capture_now() + ms / 1000.0;

	for (;;) {
		if (target->ended || capture_qmp_receive(&target->monitor.qmp, skip, NULL) != 0)
			return target->ended = true;
		if (capture_now() >= end ||
		    capture_await(target->monitor.qmp.fd, false, (int)((end - capture_now()) * 1000) + 1,
				  target->monitor.address) == CAPTURE_E_SYSTEM)
			return false;
	}
}

static int find_machine(struct profile_target *target)
{
	const json_t *answer;
	int error = capture_monitor_command(&target->monitor, "query-target", NULL, &answer);
	const char *name;

	if (error)
		return error;
	name = json_string_value(capture_json_at(answer, "arch"));
	target->machine = base_machine_number(name ? name : "");
	if (target->machine != EM_X86_64 && target->machine != EM_AARCH64 && target->machine != EM_RISCV)
		return capture_fail(CAPTURE_E_USAGE,
				    "the guest's architecture is %.40s: only x86_64, aarch64 and "
				    "riscv64 can be profiled",
				    name ? name : "unknown");
	return 0;
}

/* Finds the path of the kernel's file, which may be relative to the working directory of QEMU's process. */
static void find_kernel(struct profile_target *target)
{
	struct ucred who = { 0 };
	socklen_t size = sizeof(who);
	char link[64], folder[PATH_MAX];
	const json_t *answer;
	const char *path;
	ssize_t length;

	if (capture_monitor_command(&target->monitor, "qom-get",
				    "{\"path\":\"/machine\",\"property\":\"kernel\"}", &answer) != 0)
		return;
	path = json_string_value(answer);
	if (!path || !*path || strlen(path) >= sizeof(target->kernel))
		return;
	strcpy(target->kernel, path);
	if (*path == '/' || getsockopt(target->monitor.qmp.fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
		return;
	snprintf(link, sizeof(link), "/proc/%ld/cwd", (long)who.pid);
	length = readlink(link, folder, sizeof(folder) - 1);
	if (length <= 0)
		return;
	folder[length] = '\0';
	capture_path_join(target->kernel, folder, path);
}

/*
 * Fails if QEMU was started with a gdb server, because opening another socket would disconnect its debugger.
 */
static int check_debugger(struct profile_target *target)
{
	const json_t *answer;
	int error = capture_monitor_command(&target->monitor, "query-chardev", NULL, &answer);

	for (size_t n = 0; !error && n < json_array_size(answer); n++)
		if (capture_json_is(json_array_get(answer, n), "label", "gdb"))
			error = capture_fail(CAPTURE_E_USAGE,
					     "QEMU was started with -s or -gdb, which profiling needs for "
					     "itself: start it without");
	return error;
}

static int check_running(struct profile_target *target)
{
	const json_t *answer;
	int error = capture_monitor_command(&target->monitor, "query-status", NULL, &answer);

	if (!error)
		target->was_running = capture_json_is(answer, "status", "running");
	return error;
}

/*
 * Asks QEMU for a socket in a private directory, and connects to this socket. The connection halts the guest.
 */
static int open_gdb(struct profile_target *target)
{
	char command[sizeof(target->socket) + 64], *text = NULL;
	int error;

	error = make_directory(target->directory);
	if (error)
		return error;
	error = capture_path_join(target->socket, target->directory, "gdb");
	if (error)
		return error;
	snprintf(command, sizeof(command), "gdbserver unix:%.100s,server=on,wait=off", target->socket);
	target->serving = true;
	error = capture_monitor_print(&target->monitor, command, &text);
	free(text);
	if (!error)
		error = gdb_open(&target->gdb, target->socket, target->monitor.timeout_ms);
	if (error)
		return error;
	target->connected = true;
	target->halted = target->was_running;
	return gdb_await_halt(&target->gdb);
}

static int add_cpus(struct profile_target *target, const char *list)
{
	while (*list) {
		size_t length = strcspn(list, ",");
		struct profile_target_cpu *grown;

		if (length == 0 || length >= PROFILE_CPU_NAME)
			return capture_fail(CAPTURE_E_FORMAT, "QEMU's list of CPUs has an invalid name");
		if (target->cpus == PROFILE_CPUS_MOST)
			return capture_fail(CAPTURE_E_USAGE, "the guest has more than %u CPUs",
					    PROFILE_CPUS_MOST);
		grown = realloc(target->cpu, (target->cpus + 1) * sizeof(*grown));
		if (!grown)
			return capture_fail_errno("CPUs");
		target->cpu = grown;
		memset(&grown[target->cpus], 0, sizeof(*grown));
		memcpy(grown[target->cpus++].name, list, length);
		list += length + (list[length] == ',');
	}
	return 0;
}

static int list_cpus(struct profile_target *target)
{
	const char *reply;
	int error = gdb_command(&target->gdb, "qfThreadInfo", &reply);

	for (uint32_t lists = 0; !error && reply[0] == 'm' && lists < PROFILE_CPUS_MOST; lists++) {
		error = add_cpus(target, reply + 1);
		if (!error)
			error = gdb_command(&target->gdb, "qsThreadInfo", &reply);
	}
	if (!error && !target->cpus)
		error = capture_fail(CAPTURE_E_FORMAT, "QEMU lists no CPUs");
	return error;
}

int profile_target_resume(struct profile_target *target)
{
	target->halted = false;
	target->resumes = true;
	gdb_batch_add(&target->batch, "c");
	return gdb_batch_send(&target->gdb, &target->batch);
}

int profile_target_open(struct profile_target **opened, const char *qmp, int timeout_ms, bool starts)
{
	struct profile_target *target = calloc(1, sizeof(*target));
	int error;

	*opened = target;
	if (!target)
		return capture_fail_errno("%s", qmp);
	error = capture_monitor_open(&target->monitor, qmp, timeout_ms);
	if (error) {
		free(target);
		*opened = NULL;
		return error;
	}
	error = find_machine(target);
	if (!error)
		error = check_debugger(target);
	if (!error)
		error = check_running(target);
	if (error)
		return error;
	find_kernel(target);
	error = open_gdb(target);
	if (!error)
		error = list_cpus(target);
	if (!error && (target->was_running || starts)) {
		target->was_running = true;
		error = profile_target_resume(target);
	}
	return error;
}

/*
 * Waits until the guest runs, after the message that resumes it. If the connection were closed before QEMU
 * has read this message, QEMU would discard it, and the guest would stay halted.
 */
static void await_running(struct profile_target *target)
{
	const double end = capture_now() + RESUME_PATIENCE;
	const json_t *answer;

	while (capture_now() < end &&
	       capture_monitor_command(&target->monitor, "query-status", NULL, &answer) == 0 &&
	       (capture_json_is(answer, "status", "paused") || capture_json_is(answer, "status", "debug")))
		pass_time();
}

void profile_target_close(struct profile_target *target)
{
	char *text = NULL;

	if (!target)
		return;
	if (target->connected && target->halted && !target->ended)
		profile_target_resume(target);
	if (target->resumes && !target->ended)
		await_running(target);
	if (target->connected)
		gdb_close(&target->gdb);
	if (target->serving && !target->ended)
		capture_monitor_print(&target->monitor, "gdbserver none", &text);
	free(text);
	capture_monitor_close(&target->monitor);
	if (target->directory[0]) {
		unlink(target->socket);
		rmdir(target->directory);
	}
	free(target->cpu);
	free(target);
}

void profile_target_set_frames(struct profile_target *target, stack_find_frame *find, void *context)
{
	target->find = find;
	target->context = context;
}

void profile_target_quit(struct profile_target *target)
{
	const json_t *answer;

	if (!target->ended && capture_monitor_command(&target->monitor, "quit", NULL, &answer) == 0)
		profile_target_has_ended(target, END_MS);
}

uint16_t profile_target_machine(const struct profile_target *target)
{
	return target->machine;
}

uint32_t profile_target_cpus(const struct profile_target *target)
{
	return target->cpus;
}

const struct profile_cpu *profile_target_cpu(const struct profile_target *target, uint32_t cpu)
{
	return &target->cpu[cpu].seen;
}

const char *profile_target_kernel(const struct profile_target *target)
{
	return target->kernel;
}

double profile_target_pause(const struct profile_target *target)
{
	return target->pause;
}
