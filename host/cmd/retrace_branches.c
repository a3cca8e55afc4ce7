/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace retrace: the clock for the times of branches. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/retrace.h"
#include "ktrx/hwt_unit.h"

#define SECOND UINT64_C(1000000000)
/*
 * maximum time in ns from the guest's reading of its clock to the recording of the event with this timestamp
 */
#define LATE 5000u

/* Counts the events before the first event that is later than the timestamp `until`. */
static uint64_t count_events(struct ktread *trace, uint64_t until)
{
	const struct ktread_event *event;
	uint64_t count = 0;

	while (ktread_next(trace, &event) > 0 && event->stamp <= until)
		count++;
	return count;
}

static int read_events(struct retrace_branches *branches, const char *name,
		       const struct capture_recipe *recipe, uint64_t first, uint64_t *count)
{
	const struct ktread_options raw = { .size = sizeof(raw), .raw_clock = 1 };
	struct ktread *trace = NULL;
	const struct ktread_event *event;

	if (ktread_open(&trace, recipe->path, &raw) != 0) {
		command_message(name, "%s", ktread_message(trace));
		ktread_close(trace);
		return EXIT_BAD_INPUT;
	}
	branches->frequency = ktread_info(trace)->frequency;
	branches->nonce = ktread_info(trace)->nonce;
	if (count)
		*count = count_events(trace, branches->until);
	for (uint64_t n = 0; !count && ktread_next(trace, &event) > 0; n++)
		if (n >= first && capture_recipe_slot(recipe, trace, event, &branches->mark.position,
						      &branches->mark.word) == 0) {
			branches->stamp = event->stamp;
			break;
		}
	ktread_close(trace);
	return 0;
}

/*
 * Chooses an event near the end. Times are most accurate near the chosen event, because the frequency that
 * the kernel has recorded may be inexact. The last events are not chosen, because the repeated run may end
 * before them.
 */
int retrace_branches_prepare(struct retrace_branches *branches, const char *name,
			     const struct capture_recipe *recipe, const struct retrace_place *end)
{
	uint64_t count;
	int status;

	branches->until = end->word ? end->stamp : UINT64_MAX;
	status = read_events(branches, name, recipe, 0, &count);
	return status ? status : read_events(branches, name, recipe, count - count / 10 - (count > 0), NULL);
}

/*
 * Returns the value of the guest's clock at `time`, the virtual time of the mark. Usually this clock counts
 * virtual time from the start of the machine. If the event's timestamp confirms this, computes the exact
 * value from `time`. Otherwise returns the timestamp.
 */
static uint64_t clock_at(const struct retrace_branches *branches, uint64_t time)
{
	const uint64_t frequency = branches->frequency;
	const uint64_t exact = time / SECOND * frequency + time % SECOND * frequency / SECOND;

	return exact >= branches->stamp && exact - branches->stamp <= frequency / (SECOND / LATE) + 1
		       ? exact
		       : branches->stamp;
}

int retrace_branches_finish(const struct retrace_branches *branches, const char *name, const char *path)
{
	struct ktrx_hwt_rings head;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	bool done = fd >= 0 && pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
		    memcmp(head.magic, "KTRU", sizeof(head.magic)) == 0;

	if (!done) {
		command_message(name, "%s: the branches were not written: %s", path,
				fd < 0 ? strerror(errno) : "not a file of the trace unit");
	} else if (head.frequency == 0 && branches->mark.time && branches->frequency) {
		head.unit_time = branches->mark.time;
		head.stamp = clock_at(branches, branches->mark.time);
		head.frequency = branches->frequency;
		head.nonce = branches->nonce;
		done = pwrite(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head);
		if (!done)
			command_message(name, "%s: %s", path, strerror(errno));
	} else if (head.frequency == 0) {
		command_message(name, "%s: has no times of the trace's clock: no event of the trace was seen",
				path);
	}
	if (fd >= 0)
		close(fd);
	return done ? 0 : EXIT_BAD_INPUT;
}
