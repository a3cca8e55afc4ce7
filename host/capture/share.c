/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "share.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LEAST 16 /* a process that gets less than 1/LEAST of the time of a CPU hardly runs */

double capture_share_judge(double elapsed, double cpu, bool ready)
{
	return ready && cpu * LEAST < elapsed ? elapsed : 0;
}

/*
 * Returns whether the thread with this stat file wants to run. Its state follows its name: "(name) R". A
 * thread that wants to run is ready to run (R), waits in the host's kernel (D), for example until a disk has
 * written the page of the RAM file that the guest writes to, or was stopped by a signal (T) or a debugger
 * (t).
 */
static bool is_ready(const char *path)
{
	FILE *file = fopen(path, "r");
	char text[128], *name_end;
	bool ready = false;

	if (!file)
		return false;
	if (fgets(text, sizeof(text), file) && (name_end = strrchr(text, ')')))
		ready = strncmp(name_end, ") ", 2) == 0 && name_end[2] && strchr("RDTt", name_end[2]);
	fclose(file);
	return ready;
}

bool capture_share_ready(pid_t pid)
{
	char path[64 + sizeof(((struct dirent *)0)->d_name)];
	const struct dirent *thread;
	bool ready = false;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
	threads = opendir(path);
	while (threads && !ready && (thread = readdir(threads))) {
		snprintf(path, sizeof(path), "/proc/%ld/task/%s/stat", (long)pid, thread->d_name);
		ready = is_ready(path);
	}
	if (threads)
		closedir(threads);
	return ready;
}

double capture_share_lost(struct capture_share *share, pid_t pid, double now, double moved)
{
	const struct capture_share before = *share;
	struct timespec cpu;
	clockid_t clock;

	if (pid <= 0 || (before.time > 0 && now - before.time < CAPTURE_SHARE_EVERY) ||
	    clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &cpu) != 0)
		return 0;
	*share = (struct capture_share){ .time = now,
					 .cpu = (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9,
					 .ready = capture_share_ready(pid) };
	if (before.time <= 0 || moved > before.time)
		return 0;
	return capture_share_judge(now - before.time, share->cpu - before.cpu, before.ready && share->ready);
}
