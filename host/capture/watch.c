/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "watch.h"

#include <sys/stat.h>
#include <time.h>

#include "error.h"

void capture_watch_pause(struct capture_watch *watch, double now)
{
	watch->last_alive = watch->last_moved = now;
	watch->stuck_since = now;
}

static bool same_quiet_cpu(const struct ktread_pulse *a, const struct ktread_pulse *b)
{
	return a->quiet_cpu == b->quiet_cpu && a->quiet_stamp == b->quiet_stamp &&
	       a->quiet_cpu != KTRX_NO_CPU;
}

bool capture_watch_feed(struct capture_watch *watch, const struct ktread_pulse *pulse, double now)
{
	bool booted = !watch->seen || pulse->nonce != watch->last.nonce;
	bool moved = booted || pulse->slots != watch->last.slots ||
		     pulse->heartbeats != watch->last.heartbeats || pulse->outcome != watch->last.outcome;

	if (booted) {
		watch->boots++;
		watch->has_heartbeats = false;
	}
	watch->has_heartbeats |= pulse->heartbeats != 0;
	watch->idle = pulse->online && pulse->idle >= pulse->online;
	if (moved)
		watch->last_moved = now;
	if (moved || watch->idle)
		watch->last_alive = now;
	if (booted || !same_quiet_cpu(pulse, &watch->last))
		watch->stuck_since = now;
	watch->last = *pulse;
	watch->seen = true;
	return booted;
}

double capture_watch_silence(const struct capture_watch *watch, double now)
{
	return watch->seen && now > watch->last_alive ? now - watch->last_alive : 0;
}

double capture_watch_still(const struct capture_watch *watch, double now)
{
	return watch->seen && now > watch->last_moved ? now - watch->last_moved : 0;
}

double capture_watch_stuck(const struct capture_watch *watch, double now)
{
	return watch->seen && now > watch->stuck_since ? now - watch->stuck_since : 0;
}

/* length of the first step, in ms; two such steps are longer than the time between usual timer ticks */
#define FIRST_MS 5

static int pass_by_itself(void *context, int ms)
{
	const struct timespec time = { .tv_nsec = ms * 1000000L };

	(void)context;
	nanosleep(&time, NULL);
	return 0;
}

/*
 * Reads the machine's pulse once. *begin: time of the first reading; *now: time of this reading. Returns
 * false if no more readings are needed, for one of three reasons. The machine has made progress since the
 * first reading (*seconds is set to 0). The kernel has ended. Or the pulse cannot be read; in this case,
 * reading the rings will also fail later, with a message.
 */
static bool is_still(struct ktread_image *image, struct capture_watch *watch, double *begin, double *now,
		     double *seconds)
{
	struct ktread_pulse pulse;

	if (ktread_image_pulse(image, &pulse) != 0 || pulse.outcome != KTRX_OUTCOME_RUNNING)
		return false;
	*now = capture_now();
	if (!watch->seen)
		*begin = *now;
	capture_watch_feed(watch, &pulse, *now);
	if (watch->last_moved <= *begin)
		return true;
	*seconds = 0;
	return false;
}

int capture_stillness(struct ktread_image *image, capture_pass_time *pass, void *context, double *seconds)
{
	struct capture_watch watch = { 0 };
	double begin = 0, now;
	int error;

	*seconds = -1;
	/*
	 * The steps become longer and longer. The machine is halted after each step, so with short steps it
	 * would hardly make progress.
	 */
	for (int past = 0, step = FIRST_MS;; past += step, step = past) {
		if (!is_still(image, &watch, &begin, &now, seconds))
			return 0;
		if (watch.idle)
			return 0;
		if (past >= CAPTURE_STILLNESS_MS)
			break;
		if (past + step > CAPTURE_STILLNESS_MS)
			step = CAPTURE_STILLNESS_MS - past;
		error = pass ? pass(context, step) : pass_by_itself(context, step);
		if (error)
			return error;
	}
	*seconds = now - begin;
	return 0;
}

int capture_idle_moves(struct ktread_image *image, capture_pass_time *pass, void *context, double *seconds)
{
	struct capture_watch watch = { 0 };
	double begin = 0, now = 0;
	int error = 0;

	for (int past = 0, step = FIRST_MS; past <= CAPTURE_IDLE_MS && !error; past += step) {
		if (!is_still(image, &watch, &begin, &now, seconds))
			return 0;
		error = pass ? pass(context, step) : pass_by_itself(context, step);
	}
	if (!error)
		*seconds = now - begin;
	return error;
}

void capture_stillness_of_file(const char *path, const char *machine, double *seconds)
{
	struct ktread_memory *memory;
	struct ktread_image *image;
	struct stat status;

	*seconds = -1;
	if (stat(path, &status) < 0 || !S_ISREG(status.st_mode) ||
	    ktread_memory_open_ram(&memory, path, machine) != 0)
		return;
	if (ktread_memory_ended(memory) == 0 && ktread_image_find(&image, memory) == 0) {
		if (!ktread_image_is_kept(image))
			capture_stillness(image, NULL, NULL, seconds);
		if (!ktread_image_is_kept(image) && *seconds < 0)
			capture_idle_moves(image, NULL, NULL, seconds);
		ktread_image_close(image);
	}
	ktread_memory_close(memory);
}
