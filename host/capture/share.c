/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "share.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define EVERY 0.25 /* minimum time between two measurements, in seconds */
#define LEAST 16   /* a process that gets less than 1/LEAST of the time of a CPU hardly runs */

double capture_share_judge(double elapsed, double cpu, bool ready)
{
	return ready && cpu * LEAST < elapsed ? elapsed : 0;
}

/*
 * Returns whether the thread with this stat file is ready to run (R), or waits in the host's kernel (D), for
 * example until a disk has written the page of the RAM file that the guest writes to. Its state follows its
 * name: "(name) R".
 */
static bool is_ready(const char *path)
{
	FILE *file = fopen(path, "r");
	char text[128], *name_end;
	bool ready = false;

	if (!file)
		return false;
	if (fgets(text, sizeof(text), file) && (name_end = strrchr(text, ')')))
		ready = strncmp(name_end, ") R", 3) == 0 || strncmp(name_end, ") D", 3) == 0;
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

	if (pid <= 0 || (before.time > 0 && now - before.time < EVERY) ||
	    clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &cpu) != 0)
		return 0;
	*share = (struct capture_share){ .time = now,
					 .cpu = (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9,
					 .ready = capture_share_ready(pid) };
	if (before.time <= 0 || moved > before.time)
		return 0;
	return capture_share_judge(now - before.time, share->cpu - before.cpu, before.ready && share->ready);
}

void capture_share_skip(struct capture_share *share, pid_t pid, struct capture_watch *watch, double now)
{
	capture_watch_skip(watch, capture_share_lost(share, pid, now, watch->last_moved), now);
}
