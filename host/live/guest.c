/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "live/live.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/open.h"

#define AWAIT_NS UINT64_C(500000000) /* time in ns between two searches for a guest's file */
/*
 * time in ns from a boot, or from the moment when a guest was found, to the measurement of the guest's
 * frequency
 */
#define MEASURE_NS   UINT64_C(200000000)
#define MEASURE_PART 10 /* measurements may take at most about 1 / MEASURE_PART of the time */

static uint64_t now_ns(void *context)
{
	struct timespec now;

	(void)context;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
	return a->st_ctim.tv_sec != b->st_ctim.tv_sec ? a->st_ctim.tv_sec > b->st_ctim.tv_sec
						      : a->st_ctim.tv_nsec > b->st_ctim.tv_nsec;
}

/*
 * Writes a glob pattern that matches the RAM files `usual`.PID.ram. Special characters of `usual` are quoted.
 */
static void quote(const char *usual, char *pattern, size_t size)
{
	size_t at = 0;

	for (; *usual && at + 16 < size; usual++) {
		if (strchr("*?[\\", *usual))
			pattern[at++] = '\\';
		pattern[at++] = *usual;
	}
	snprintf(pattern + at, size - at, ".[0-9]*.ram");
}

/* Returns 1 if the guest with this RAM file is running, 0 if it has ended, -1 if this is unknown. */
static int is_running(const char *path)
{
	const int descriptor = base_open_regular(path, O_RDONLY);
	int ended;

	if (descriptor < 0)
		return 0;
	ended = base_file_ended(descriptor);
	close(descriptor);
	return ended < 0 ? -1 : !ended;
}

/*
 * Finds the newest file for which `test` returns 1. If there is no such file, finds the newest file for which
 * `test` returns -1. Returns the result of `test` for the file that was found, or 0 if there is none.
 */
static int find(const char *usual, char path[PATH_MAX], int (*test)(const char *path))
{
	char pattern[PATH_MAX];
	struct stat newest = { 0 }, status;
	glob_t found;
	int best = 0;

	quote(usual, pattern, sizeof(pattern));
	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		int value;

		if (stat(found.gl_pathv[i], &status) < 0 || !S_ISREG(status.st_mode) ||
		    strlen(found.gl_pathv[i]) >= PATH_MAX)
			continue;
		value = test ? test(found.gl_pathv[i]) : 1;
		if (value == 0 || (best > 0 && value < 0) || (value == best && !is_newer(&status, &newest)))
			continue;
		newest = status;
		best = value;
		strcpy(path, found.gl_pathv[i]);
	}
	globfree(&found);
	return best;
}

bool live_guest_find(const char *usual, char path[PATH_MAX])
{
	return find(usual, path, NULL) > 0;
}

int live_guest_find_running(const char *usual, char path[PATH_MAX])
{
	return find(usual, path, is_running);
}

/*
 * Opens the file, and follows the guest if it has not ended. If there is no such file or guest now, returns
 * 0, too, because a later attempt may succeed. Returns an error if later attempts would also fail.
 */
static int look(struct live_guest *guest)
{
	int status;

	guest->look_again = now_ns(NULL) + AWAIT_NS;
	if (!guest->given && !live_guest_find_running(guest->usual, guest->path))
		return 0;
	status = ktread_follow_open(&guest->follow, guest->path, &guest->options);
	if (status == 0 && ktread_follow_ended(guest->follow)) {
		ktread_follow_close(guest->follow);
		guest->follow = NULL;
	}
	if (status == KTREAD_E_UNSUPPORTED || status == KTREAD_E_MEMORY || status == KTREAD_E_ARGUMENT) {
		snprintf(guest->why, sizeof(guest->why), "%s", ktread_follow_message(NULL));
		guest->follow = NULL;
		return status;
	}
	if (status < 0)
		guest->follow = NULL;
	return 0;
}

static void add_up(struct ktread_follow_account *sum, const struct ktread_follow_account *more)
{
	sum->produced += more->produced;
	sum->shown += more->shown;
	sum->overwritten += more->overwritten;
	sum->unreadable += more->unreadable + more->pending;
	sum->skipped += more->skipped;
	sum->events += more->events;
	sum->late += more->late;
	sum->polls += more->polls;
}

static void leave(struct live_guest *guest)
{
	struct ktread_follow_account account;

	ktread_follow_account(guest->follow, &account);
	add_up(&guest->account, &account);
	ktread_follow_close(guest->follow);
	guest->follow = NULL;
	guest->measure_at = 0;
	guest->look_again = now_ns(NULL) + AWAIT_NS;
}

static void sleep_ms(uint64_t ms)
{
	const struct timespec pause = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	nanosleep(&pause, NULL);
}

/*
 * Plans a measurement of the frequency if the guest does not report it. The measurement is made later,
 * because a guest that has just booted may report its frequency soon.
 */
static void plan_measuring(struct live_guest *guest)
{
	const struct ktread *trace = ktread_follow_trace(guest->follow);

	guest->measure_at = 0;
	if (guest->measure && trace && ktread_info(trace)->frequency == 0)
		guest->measure_at = now_ns(NULL) + MEASURE_NS;
}

/*
 * Measures the frequency. After a failure, the next attempt is made only after some time, because events are
 * not followed during a measurement.
 */
static void measure(struct live_guest *guest)
{
	const uint64_t begin = now_ns(NULL), hz = guest->measure(guest->path, guest->options.machine);
	const uint64_t end = now_ns(NULL);

	guest->measure_at = hz ? 0 : end + MEASURE_PART * (end - begin) + MEASURE_NS;
	if (hz)
		ktread_follow_set_frequency(guest->follow, hz);
}

static int next(void *context, struct ktread_followed *now, int wait_ms)
{
	struct live_guest *guest = context;
	int status;

	if (guest->left) {
		guest->left = false;
		memset(now, 0, sizeof(*now));
		now->kind = KTREAD_FOLLOWED_END;
		return 1;
	}
	if (!guest->follow) {
		memset(now, 0, sizeof(*now));
		if (now_ns(NULL) < guest->look_again)
			sleep_ms((uint64_t)wait_ms);
		return now_ns(NULL) < guest->look_again ? 0 : look(guest);
	}
	if (guest->measure_at && now_ns(NULL) >= guest->measure_at)
		measure(guest);
	status = ktread_follow_next(guest->follow, now, wait_ms);
	if (status > 0 && now->kind == KTREAD_FOLLOWED_BOOT)
		plan_measuring(guest);
	if (status >= 0 && now->kind != KTREAD_FOLLOWED_END)
		return status;
	/* An error also means that the guest has ended: its file was truncated or removed. */
	leave(guest);
	memset(now, 0, sizeof(*now));
	now->kind = KTREAD_FOLLOWED_END;
	return 1;
}

static struct ktread *trace(void *context)
{
	const struct live_guest *guest = context;

	return guest->follow ? ktread_follow_trace(guest->follow) : NULL;
}

static int cpus(void *context, struct ktrx_cpu *cpu, uint32_t room)
{
	const struct live_guest *guest = context;

	return guest->follow ? ktread_follow_cpus(guest->follow, cpu, room) : 0;
}

static int holders(void *context, uint32_t first, struct ktrx_holder *holder, uint32_t room)
{
	struct live_guest *guest = context;

	return guest->follow ? ktread_follow_holders(guest->follow, first, holder, room) : 0;
}

static void account(void *context, struct ktread_follow_account *sum)
{
	const struct live_guest *guest = context;
	struct ktread_follow_account now;

	*sum = guest->account;
	if (!guest->follow)
		return;
	ktread_follow_account(guest->follow, &now);
	add_up(sum, &now);
	sum->unreadable -= now.pending;
	sum->pending = now.pending;
}

static const char *path(void *context)
{
	const struct live_guest *guest = context;

	return guest->path;
}

static const char *message(void *context)
{
	const struct live_guest *guest = context;

	return guest->why;
}

void live_guest_choose(struct live_guest *guest, const char *path)
{
	snprintf(guest->chosen, sizeof(guest->chosen), "%s", path);
	guest->given = guest->chosen;
	snprintf(guest->path, sizeof(guest->path), "%s", path);
	if (guest->follow) {
		leave(guest);
		guest->left = true;
	}
	guest->look_again = 0;
}

bool live_guest_is_missing(const struct live_guest *guest)
{
	char path[PATH_MAX];

	return !guest->follow && !guest->given && !live_guest_find(guest->usual, path);
}

void live_guest_open(struct live_guest *guest, struct live_source *source)
{
	guest->options.size = sizeof(guest->options);
	snprintf(guest->path, sizeof(guest->path), "%s", guest->given ? guest->given : guest->usual);
	*source = (struct live_source){ guest, next, trace, cpus, holders, account, now_ns, path, message };
}

void live_guest_close(struct live_guest *guest)
{
	ktread_follow_close(guest->follow);
	guest->follow = NULL;
}
