/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The shim: code that creates the shim, and code that runs as the shim, in the process that later executes
 * QEMU.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "error.h"
#include "kernel_elf.h"
#include "output.h"
#include "plan.h"
#include "schedule.h"

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Finds the path of the real QEMU for the name or path in a command. Returns 0 or CAPTURE_E_ABSENT. */
static int find_real(char path[PATH_MAX], const char *directory, const char *typed)
{
	char link[PATH_MAX];
	ssize_t length;

	if (strchr(typed, '/') && snprintf(path, PATH_MAX, "%s", typed) < PATH_MAX)
		return 0;
	if (snprintf(link, sizeof(link), "%s/real/%s", directory, typed) >= (int)sizeof(link))
		return capture_fail(CAPTURE_E_ABSENT, "%s: name too long", typed);
	length = readlink(link, path, PATH_MAX - 1);
	if (length < 0)
		return capture_fail(CAPTURE_E_ABSENT, "%s: not found in PATH", typed);
	path[length] = '\0';
	return 0;
}

char *capture_shim_path(const char *directory)
{
	const char *path = getenv("PATH");
	char *with;

	return asprintf(&with, "%s/bin%s%s", directory, path && *path ? ":" : "", path ? path : "") < 0
		       ? NULL
		       : with;
}

/* Removes the shim's directory from this process's PATH: a program that QEMU starts needs no shim. */
static int leave_path(const char *directory)
{
	const char *path = getenv("PATH");
	size_t length = strlen(directory);

	if (!path || strncmp(path, directory, length) != 0 || strncmp(path + length, "/bin", 4) != 0)
		return 0;
	path += length + 4;
	if (setenv("PATH", *path == ':' ? path + 1 : path, 1) != 0)
		return capture_fail_errno("PATH");
	return 0;
}

/*
 * Creates bin/NAME for the real QEMU at `path`. If bin/NAME exists already, replaces its QEMU only if the new
 * QEMU was given in the command by its path.
 */
static int plant_one(const char *directory, const char *path, bool by_path)
{
	const char *name = strrchr(path, '/') + 1;
	char link[PATH_MAX], shim[PATH_MAX];

	if (snprintf(link, sizeof(link), "%s/real/%s", directory, name) >= (int)sizeof(link) ||
	    snprintf(shim, sizeof(shim), "%s/bin/%s", directory, name) >= (int)sizeof(shim))
		return 0;
	if (by_path)
		unlink(link);
	if (symlink(path, link) != 0)
		return errno == EEXIST ? 0 : capture_fail_errno("%s", link);
	if (symlink("../shim", shim) != 0 && errno != EEXIST)
		return capture_fail_errno("%s", shim);
	return 0;
}

static int plant_folder(const char *directory, const char *folder)
{
	DIR *stream = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];
	int error = 0;

	if (!stream)
		return 0;
	while (!error && (entry = readdir(stream)))
		if (capture_qemu_program(entry->d_name) &&
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < (int)sizeof(path) &&
		    is_program(path))
			error = plant_one(directory, path, false);
	closedir(stream);
	return error;
}

static int plant_folders(const char *directory)
{
	const char *path = getenv("PATH");
	char folder[PATH_MAX];
	int error = 0;

	while (!error && path && *path) {
		size_t length = strcspn(path, ":");

		/*
		 * skip relative directories, because their contents depend on the command's working
		 * directory
		 */
		if (*path == '/' && length < sizeof(folder)) {
			memcpy(folder, path, length);
			folder[length] = '\0';
			error = plant_folder(directory, folder);
		}
		path += length + (path[length] == ':');
	}
	return error;
}

/*
 * Writes the shell script of the shim. Fails if one of its paths contains a quote, which would end the quoted
 * string in the script.
 */
static int write_script(const char *directory, const char *self)
{
	char path[PATH_MAX];
	FILE *script;
	int error = capture_path_join(path, directory, "shim");

	if (error)
		return error;
	if (strchr(self, '\'') || strchr(directory, '\''))
		return capture_fail(CAPTURE_E_USAGE, "%s: a quote in this path is not supported",
				    strchr(self, '\'') ? self : directory);
	script = fopen(path, "we");
	if (!script)
		return capture_fail_errno("%s", path);
	fprintf(script, "#!/bin/sh\nexec '%s' run --shim '%s' \"${0##*/}\" \"$@\"\n", self, directory);
	if (fchmod(fileno(script), 0700) != 0 || ferror(script)) {
		fclose(script);
		return capture_fail_errno("%s", path);
	}
	return fclose(script) == 0 ? 0 : capture_fail_errno("%s", path);
}

int capture_shim_plant(const char *directory, const char *self, char **command)
{
	char path[PATH_MAX], folder[PATH_MAX];
	int error;

	if (capture_path_join(folder, directory, "bin") != 0 || mkdir(folder, 0700) != 0 ||
	    capture_path_join(folder, directory, "real") != 0 || mkdir(folder, 0700) != 0)
		return capture_fail_errno("%s", folder);
	error = write_script(directory, self);
	for (size_t i = 0; !error && command[i]; i++) {
		char *replaced;

		if (!strchr(command[i], '/') || !capture_qemu_program(command[i]))
			continue;
		if (!is_program(command[i])) {
			if (i == 0)
				return capture_fail(CAPTURE_E_ABSENT, "%s: no such program", command[i]);
			continue;
		}
		error = capture_path_absolute(path, command[i]);
		if (!error)
			error = plant_one(directory, path, true);
		if (asprintf(&replaced, "%s/bin/%s", directory, capture_qemu_program(command[i])) < 0)
			error = capture_fail(CAPTURE_E_SYSTEM, "out of memory");
		else
			command[i] = replaced;
	}
	return error ? error : plant_folders(directory);
}

static void empty_folder(const char *directory, const char *name)
{
	char folder[PATH_MAX], path[PATH_MAX];
	struct dirent *entry;
	DIR *stream;

	if (capture_path_join(folder, directory, name) != 0 || !(stream = opendir(folder)))
		return;
	while ((entry = readdir(stream)))
		if (entry->d_type != DT_DIR &&
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < (int)sizeof(path))
			unlink(path);
	closedir(stream);
	rmdir(folder);
}

void capture_shim_remove(const char *directory)
{
	empty_folder(directory, "bin");
	empty_folder(directory, "real");
	empty_folder(directory, ".");
	rmdir(directory);
}

/* The following functions run in the process that later executes QEMU. */

static int open_mark(const char *directory, const char *name, int flags)
{
	char path[PATH_MAX];

	if (capture_path_join(path, directory, name) != 0)
		return -1;
	return open(path, flags | O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
}

/* Returns true for the first QEMU that runs a guest. For later QEMUs, returns false and counts them. */
static bool claim(const char *directory)
{
	int fd = open_mark(directory, "claim", O_EXCL);
	ssize_t counted = 1;

	if (fd < 0) {
		fd = open_mark(directory, "untraced", O_APPEND);
		if (fd >= 0) {
			counted = write(fd, "+", 1);
			close(fd);
		}
		return counted < 0;
	}
	close(fd);
	return true;
}

/* Sets the size of the RAM file. Fails if the disk has less free space, unless plan->force is set. */
static int size_ram(const struct capture_plan *plan, uint64_t bytes)
{
	struct statvfs disk;
	uint64_t available;

	if (statvfs(plan->path, &disk) != 0)
		return capture_fail_errno("%s", plan->path);
	available = (uint64_t)disk.f_bavail * disk.f_frsize;
	if (available < bytes && !plan->force)
		return capture_fail(CAPTURE_E_USAGE,
				    "%s: the guest may fill %" PRIu64 " MiB of RAM and there are %" PRIu64
				    " MiB left; QEMU would be killed by SIGBUS. "
				    "Choose a disk with --ram-dir, a smaller -m, or --force",
				    plan->path, bytes >> 20, available >> 20);
	if (truncate(plan->path, (off_t)bytes) != 0)
		return capture_fail_errno("%s: cannot be made %" PRIu64 " MiB large", plan->path,
					  bytes >> 20);
	return 0;
}

/* Determines the file for the guest's RAM or dump. */
static int place(const struct capture_plan *plan, const struct capture_qemu_line *line,
		 struct capture_guest *guest)
{
	struct stat status;

	snprintf(guest->path, sizeof(guest->path), "%s", plan->path);
	snprintf(guest->backend, sizeof(guest->backend), "%s", CAPTURE_RAM_ID);
	if (plan->transport != CAPTURE_RAM)
		return 0;
	if (!line->backend[0])
		return size_ram(plan, line->ram_bytes);
	guest->own_path = true;
	snprintf(guest->backend, sizeof(guest->backend), "%s", line->backend);
	if (capture_path_absolute(guest->path, line->backend_path) != 0)
		return CAPTURE_E_SYSTEM;
	if (stat(guest->path, &status) == 0 && S_ISDIR(status.st_mode))
		return capture_fail(
			CAPTURE_E_USAGE,
			"mem-path=%s is a directory, in which QEMU's file has no name: name a file",
			line->backend_path);
	return 0;
}

static int save_guest(const char *directory, const struct capture_guest *guest)
{
	struct capture_record record = { 0 };
	char path[PATH_MAX];
	int error = capture_path_join(path, directory, "guest");

	if (error)
		return error;
	capture_record_set(&record, "pid", "%ld", (long)getpid());
	capture_record_set(&record, "error", "%s", guest->error);
	capture_record_set(&record, "starts", "%d", guest->starts);
	capture_record_set(&record, "own-path", "%d", guest->own_path);
	capture_record_set(&record, "path", "%s", guest->path);
	capture_record_set(&record, "backend", "%s", guest->backend);
	capture_record_set(&record, "architecture", "%s", guest->line.architecture);
	capture_record_set(&record, "machine", "%s", guest->line.machine);
	capture_record_set(&record, "kernel", "%s", guest->line.kernel_path);
	capture_record_set(&record, "gdb", "%d", guest->line.gdb || guest->line.paused);
	capture_record_set(&record, "terminal", "%d", guest->line.uses_terminal);
	capture_record_set(&record, "ends-without-event", "%d", guest->line.ends_without_event);
	capture_record_set(&record, "own-clock", "%d", guest->line.own_clock);
	capture_record_set(&record, "hazards", "%s", guest->hazards);
	error = capture_record_save(&record, path);
	capture_record_free(&record);
	return error;
}

static bool get_flag(const struct capture_record *record, const char *key)
{
	return strcmp(capture_record_get(record, key), "1") == 0;
}

int capture_shim_guest(const char *directory, struct capture_guest *guest)
{
	struct capture_record record = { 0 };
	char path[PATH_MAX];
	int error = capture_path_join(path, directory, "guest");

	if (!error)
		error = capture_record_load(&record, path);
	if (error)
		return error;
	*guest = (struct capture_guest){ 0 };
	guest->pid = (pid_t)strtol(capture_record_get(&record, "pid"), NULL, 10);
	snprintf(guest->error, sizeof(guest->error), "%s", capture_record_get(&record, "error"));
	guest->refused = guest->error[0] != '\0';
	guest->starts = get_flag(&record, "starts");
	guest->own_path = get_flag(&record, "own-path");
	snprintf(guest->path, sizeof(guest->path), "%s", capture_record_get(&record, "path"));
	snprintf(guest->backend, sizeof(guest->backend), "%s", capture_record_get(&record, "backend"));
	snprintf(guest->line.architecture, sizeof(guest->line.architecture), "%s",
		 capture_record_get(&record, "architecture"));
	snprintf(guest->line.machine, sizeof(guest->line.machine), "%s",
		 capture_record_get(&record, "machine"));
	snprintf(guest->line.kernel_path, sizeof(guest->line.kernel_path), "%s",
		 capture_record_get(&record, "kernel"));
	guest->line.gdb = get_flag(&record, "gdb");
	guest->line.uses_terminal = get_flag(&record, "terminal");
	guest->line.ends_without_event = get_flag(&record, "ends-without-event");
	guest->line.own_clock = get_flag(&record, "own-clock");
	snprintf(guest->hazards, sizeof(guest->hazards), "%s", capture_record_get(&record, "hazards"));
	capture_record_free(&record);
	return 0;
}

unsigned capture_shim_untraced(const char *directory)
{
	struct stat status;
	char path[PATH_MAX];

	if (capture_path_join(path, directory, "untraced") != 0 || stat(path, &status) != 0)
		return 0;
	return (unsigned)status.st_size;
}

/* Records the data that is needed to repeat the run, and the options that may make runs differ. */
static int prepare_schedule(const char *directory, const char *control, char *const *words,
			    struct capture_guest *guest)
{
	char path[PATH_MAX];
	int error = capture_path_join(path, directory, CAPTURE_RECIPE_FILE);

	guest->line.own_clock = true;
	capture_schedule_hazards(words, guest->hazards, sizeof(guest->hazards));
	if (!error)
		error = capture_schedule_complete(control, guest->path, guest->line.kernel_path, words);
	return error ? error : capture_recipe_save(words, path);
}

/*
 * Reads the command line of QEMU, adds options to it, and prepares the files that QEMU will open. `extended`
 * stays empty if this QEMU is not traced.
 */
static int prepare(const char *directory, char *const *words, struct capture_words *extended)
{
	struct capture_plan plan;
	struct capture_guest guest = { 0 };
	char file[PATH_MAX], kernel[PATH_MAX];
	int error = capture_path_join(file, directory, "plan");

	if (!error)
		error = capture_plan_load(&plan, file);
	if (error)
		return error;
	error = capture_qemu_line_read(&guest.line, words);
	/* resolve the path in this process, because the command may have changed its working directory */
	if (!error && guest.line.kernel && realpath(guest.line.kernel_path, kernel))
		strcpy(guest.line.kernel_path, kernel);
	if (!error && guest.line.asks_only)
		return 0;
	if (!claim(directory))
		return 0;
	if (!error)
		error = capture_plan_extend(&plan, &guest.line, words, extended);
	if (!error && plan.events[0] && !plan.force)
		error = capture_kernel_events_check(guest.line.kernel_path, plan.events);
	if (!error)
		error = place(&plan, &guest.line, &guest);
	if (!error && plan.schedule.plugin[0])
		error = prepare_schedule(directory, plan.schedule.control, words, &guest);
	if (error)
		snprintf(guest.error, sizeof(guest.error), "%s", capture_message());
	guest.starts = capture_plan_starts_guest(&guest.line);
	if (save_guest(directory, &guest) != 0)
		return CAPTURE_E_SYSTEM;
	return error ? capture_fail(error, "%s", guest.error) : 0;
}

int capture_shim_become(const char *directory, char *const *words)
{
	struct capture_words extended = { 0 };
	char real[PATH_MAX];
	int error = find_real(real, directory, words[0]);

	if (!error)
		error = leave_path(directory);
	if (!error)
		error = prepare(directory, words, &extended);
	if (!error) {
		execv(real, extended.count ? extended.word : words);
		error = capture_fail_errno("%s", real);
	}
	capture_words_free(&extended);
	return error;
}

/*
 * The shim as QEMU's parent. The program that started the shim treats the shim as QEMU itself. The shim stays
 * in the same process group, so that the terminal stops, continues and interrupts both. The shim passes
 * signals on to QEMU, and QEMU ends when the shim ends.
 */

static sigset_t signals_to_forward(void)
{
	static const int taken[] = { SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		sigaddset(&set, taken[i]);
	return set;
}

/* Passes a signal on to QEMU, unless it came from the terminal, which sends it to QEMU as well. */
static void forward_signal(pid_t qemu, const siginfo_t *info)
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
			forward_signal(qemu, &info);
	return ended == qemu ? status : 0;
}

/*
 * Records QEMU's status for ktrace run. Errors are ignored, because the program that started QEMU must get
 * the status in any case.
 */
static void record_status(const char *directory, pid_t qemu, int status)
{
	struct capture_record record = { 0 };
	struct capture_guest guest;
	char path[PATH_MAX];

	/* without a record, or with a record of another QEMU, this QEMU is not the traced one */
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
	sigset_t taken = signals_to_forward(), before;
	pid_t self = getpid(), qemu;

	/*
	 * The shim may have inherited an ignored SIGCHLD. While SIGCHLD is ignored, the shim cannot get
	 * QEMU's status.
	 */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &taken, &before);
	qemu = fork();
	if (qemu < 0)
		return capture_fail_errno("fork");
	if (qemu > 0) {
		*wait_status = wait_for(qemu, &taken);
		record_status(directory, qemu, *wait_status);
		sigprocmask(SIG_SETMASK, &before, NULL);
		return 0;
	}
	/* if the shim is killed, it cannot pass signals on: the kernel then kills QEMU, too */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != self)
		raise(SIGKILL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return 1;
}
