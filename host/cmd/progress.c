/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A line that shows the progress of reading a trace. The signal handler of a timer looks at the counters of
 * the rings and writes the line, so that the loops that read a trace need no code for it and do not become
 * slower. The handler only reads numbers and calls functions that signal handlers may call.
 */
#include "cmd/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/put.h"

#define FIRST_US 1000000 /* time in microseconds after which the line appears */
#define NEXT_US	 250000
#define LINE	 160u
#define ERASE	 "\r\033[K"

static struct {
	const char *name; /* text that begins the line; NULL: no progress is shown */
	const struct ktread *trace;
	uint64_t pass_began; /* ns */
	uint64_t done;	     /* number of slots that had been read when the line was last written */
	uint32_t passes;     /* number of times that reading began again from the start */
	volatile sig_atomic_t painted;
} progress;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * Adds to the totals: the number of slots read, the number of slots in the trace (0: unknown), and the number
 * of events.
 */
static void count(uint64_t *done, uint64_t *all, uint64_t *events)
{
	const uint32_t rings = ktread_info(progress.trace)->rings;

	*done = *all = *events = 0;
	for (uint32_t n = 0; n < rings; n++) {
		const struct ktread_ring *ring = ktread_ring(progress.trace, n);

		*done += ring->overwritten + ring->decoded + ring->invalid;
		*all += ring->head;
		*events += ring->records;
	}
}

static char *put_text(char *at, const char *text)
{
	const size_t length = strlen(text);

	memcpy(at, text, length);
	return at + length;
}

/* Writes the line into `text`, which has LINE bytes. Returns its end. */
static char *make_line(char *text)
{
	uint64_t done, all, events, now = now_ns(), ns;
	char *at = text;

	count(&done, &all, &events);
	if (done < progress.done) {
		progress.passes++;
		progress.pass_began = now;
	}
	progress.done = done;
	ns = now - progress.pass_began;
	at = put_text(at, ERASE);
	at = put_text(put_text(at, progress.name), ": ");
	if (progress.passes)
		at = put_text(base_put_decimal(put_text(at, "pass "), progress.passes + 1), ", ");
	if (all && done <= all)
		at = put_text(base_put_decimal(at, done * 100 / all), "%, ");
	at = put_text(base_put_decimal(at, events * 1000 / (ns / 1000000 + 1)), " events/s");
	if (all && done && done <= all && ns > 500000000) {
		at = put_text(at, ", ");
		at = base_put_decimal(
			at, (uint64_t)((double)ns / 1e9 * (double)(all - done) / (double)done + 0.5));
		at = put_text(at, " s left");
	}
	return at;
}

static void tick(int number)
{
	const int error = errno;
	char text[LINE];
	char *end;

	(void)number;
	if (progress.name) {
		end = make_line(text);
		progress.painted = 1;
		if (write(STDERR_FILENO, text, (size_t)(end - text)) < 0)
			progress.name = NULL;
	}
	errno = error;
}

static void set_timer(time_t first_us)
{
	const struct itimerval timer = {
		.it_value = { first_us / 1000000, first_us % 1000000 },
		.it_interval = { 0, first_us ? NEXT_US : 0 },
	};

	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Removes the line. Called before the first bytes are written to `out`. */
static void begin(struct base_output *out)
{
	if (isatty(out->fd))
		progress_stop();
}

void progress_start(const char *name, struct ktread *trace, struct base_output *out)
{
	const struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };

	if (!isatty(STDERR_FILENO) || strlen(name) > LINE / 4)
		return;
	progress_stop();
	progress.trace = trace;
	progress.pass_began = now_ns();
	progress.done = 0;
	progress.passes = 0;
	progress.name = name;
	if (out && !out->begin)
		out->begin = begin;
	sigaction(SIGALRM, &action, NULL);
	set_timer(FIRST_US);
}

void progress_clear(void)
{
	static const char erase[] = ERASE;

	if (progress.painted && write(STDERR_FILENO, erase, sizeof(erase) - 1) > 0)
		progress.painted = 0;
}

void progress_stop(void)
{
	if (!progress.name)
		return;
	set_timer(0);
	progress.name = NULL;
	progress_clear();
}
