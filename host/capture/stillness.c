/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "stillness.h"

#include <sys/stat.h>
#include <time.h>

#include "error.h"
#include "frequency.h"
#include "watch.h"

#define FIRST_MS 5 /* the usual tick comes within two of these */

static int pass_by_itself(void *context, int ms)
{
	const struct timespec time = { .tv_nsec = ms * 1000000L };

	(void)context;
	nanosleep(&time, NULL);
	return 0;
}

int capture_stillness(struct ktread_image *image, capture_pass_time *pass, void *context, double *seconds)
{
	struct capture_watch watch = { 0 };
	struct ktread_pulse pulse;
	double begin = 0, now;
	int error;

	*seconds = -1;
	/* Ever longer, as a machine that is halted to be looked at goes on but slowly. */
	for (int past = 0, step = FIRST_MS;; past += step, step = past) {
		/* Who cannot look will fail as he reads the rings, and say so. */
		if (ktread_image_pulse(image, &pulse) != 0 || pulse.outcome != KTRX_OUTCOME_RUNNING)
			return 0;
		now = capture_now();
		if (!watch.seen)
			begin = now;
		capture_watch_feed(&watch, &pulse, now);
		if (watch.moved > begin) {
			*seconds = 0;
			return 0;
		}
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
		ktread_image_close(image);
	}
	ktread_memory_close(memory);
}
