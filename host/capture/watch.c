/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "watch.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ktread/memory.h"
#include "wait.h"

void capture_watch_pause(struct capture_watch *watch, double now)
{
	watch->last_alive = watch->last_moved = now;
	watch->stuck_since = now;
}

static double moved_by(double time, double seconds, double now)
{
	return time + seconds < now ? time + seconds : now;
}

void capture_watch_skip(struct capture_watch *watch, double seconds, double now)
{
	watch->last_alive = moved_by(watch->last_alive, seconds, now);
	watch->last_moved = moved_by(watch->last_moved, seconds, now);
	watch->stuck_since = moved_by(watch->stuck_since, seconds, now);
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

/* the host held up ktrace if a step took this many seconds longer than it should */
#define LATE 0.25
/*
 * then the watch begins again when the machine has run for SETTLE_MS, but not more often than RESTARTS times
 */
#define SETTLE_MS 100
#define RESTARTS  8

struct passing {
	capture_pass_time *pass;
	void *context;
	bool late; /* the host held up ktrace, and perhaps the machine, in the last step */
};

static int let_run(struct passing *passing, int ms)
{
	const double end = capture_now() + ms / 1000.0;
	const int error = passing->pass ? passing->pass(passing->context, ms) : pass_by_itself(NULL, ms);

	passing->late = capture_now() - end > LATE;
	return error;
}

/*
 * Returns the time, in seconds, that has passed, but not more than the `ms` for which the machine was
 * watched, because the host may have held up ktrace and the machine.
 */
static double at_most(double passed, int ms)
{
	return passed < ms / 1000.0 ? passed : ms / 1000.0;
}

/* Watches the machine once, as capture_stillness() does, but stops after a late step. */
static int watch_busy(struct ktread_image *image, struct passing *passing, double *seconds)
{
	struct capture_watch watch = { 0 };
	double begin = 0, now;
	int error;

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
		error = let_run(passing, step);
		if (error || passing->late)
			return error;
	}
	*seconds = at_most(now - begin, CAPTURE_STILLNESS_MS);
	return 0;
}

/* Watches the machine once, as capture_idle_moves() does, but stops after a late step. */
static int watch_idle(struct ktread_image *image, struct passing *passing, double *seconds)
{
	struct capture_watch watch = { 0 };
	double begin = 0, now = 0;
	int error = 0;

	for (int past = 0, step = FIRST_MS; past <= CAPTURE_IDLE_MS; past += step) {
		if (!is_still(image, &watch, &begin, &now, seconds))
			return 0;
		error = let_run(passing, step);
		if (error || passing->late)
			return error;
	}
	*seconds = at_most(now - begin, CAPTURE_IDLE_MS);
	return 0;
}

/*
 * Watches the machine. After a late step, some CPUs may have run again and others not yet: lets all run, and
 * watches the machine again.
 */
static int watch_again(int (*watch)(struct ktread_image *image, struct passing *passing, double *seconds),
		       struct ktread_image *image, struct passing *passing, double *seconds)
{
	int error;

	for (unsigned n = 0;; n++) {
		*seconds = -1;
		passing->late = false;
		error = watch(image, passing, seconds);
		if (error || !passing->late || n == RESTARTS)
			return error;
		error = let_run(passing, SETTLE_MS);
		if (error)
			return error;
	}
}

int capture_stillness(struct ktread_image *image, capture_pass_time *pass, void *context, double *seconds)
{
	return watch_again(watch_busy, image, &(struct passing){ .pass = pass, .context = context }, seconds);
}

int capture_idle_moves(struct ktread_image *image, capture_pass_time *pass, void *context, double *seconds)
{
	return watch_again(watch_idle, image, &(struct passing){ .pass = pass, .context = context }, seconds);
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

/* ---- The frequency of a guest's counter ---- */

/*
 * time, in seconds, between the first two samples; each later interval is twice as long, so that a long run
 * needs few samples
 */
#define FIRST_GAP 0.05
/*
 * minimum time, in seconds, between two samples from which the frequency is computed; with a shorter time,
 * the frequency would be inaccurate
 */
#define LEAST_GAP 0.04
/*
 * maximum relative error of a frequency; with a larger error, the frequency counts as unknown; usually the
 * true error is a third of this
 */
#define ERROR_MOST 0.1

#ifdef __has_builtin
#if __has_builtin(__builtin_ia32_rdtsc)
#define read_cycles() __builtin_ia32_rdtsc()
#endif
#endif
#ifndef read_cycles
#define read_cycles() UINT64_C(0)
#endif

void capture_frequency_reset(struct capture_frequency *frequency)
{
	*frequency = (struct capture_frequency){ 0 };
}

bool capture_frequency_is_due(const struct capture_frequency *frequency)
{
	return capture_now() >= frequency->next;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Returns the newest timestamp in the table of CPUs, 0 if there is none. `hooks`: true to include timestamps
 * of hooks that record no event.
 */
static uint64_t newest_in_cpu_table(const struct ktread *trace, bool hooks)
{
	struct ktrx_cpu entry;
	uint64_t newest = 0;

	for (uint32_t cpu = 0; ktread_cpus(trace, cpu, &entry, 1) > 0; cpu++)
		newest = later(newest, later(hooks ? entry.now : 0, entry.heartbeat_stamp));
	return newest;
}

/*
 * Returns the newest timestamp in an image, 0 if there is none. `hooks`: as for newest_in_cpu_table(). Sets
 * *read to the time at which the image had been read.
 */
static uint64_t newest_stamp(struct ktread_image *image, bool hooks, double *read)
{
	int fd = memfd_create("ktrace-snapshot", MFD_CLOEXEC);
	const struct ktread_event *event;
	struct ktread *trace = NULL;
	uint64_t newest = 0;
	int more = -1, error;
	char path[32];

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	error = ktread_image_write(image, fd, NULL, 0);
	*read = capture_now();
	if (error == 0 && ktread_open(&trace, path, NULL) == 0)
		while ((more = ktread_next(trace, &event)) > 0)
			newest = later(newest, event->stamp);
	if (more == 0)
		newest = later(newest, newest_in_cpu_table(trace, hooks));
	ktread_close(trace);
	close(fd);
	return more == 0 ? newest : 0;
}

uint64_t capture_newest_stamp(struct ktread_image *image)
{
	double read;
	const uint64_t newest = newest_stamp(image, false, &read);

	return newest ? newest : newest_stamp(image, true, &read);
}

/* maximum uncertainty, in seconds, of the time of a sample; with more, a sample is useless */
#define DOUBT_MOST 0.02

void capture_frequency_sample(struct capture_frequency *frequency, struct ktread_image *image, double since)
{
	double time = capture_now(), read = time;
	uint64_t stamp = newest_stamp(image, true, &read);

	if (stamp == 0 || stamp < frequency->last_stamp || read - since > DOUBT_MOST) {
		frequency->pause = frequency->pause > 0 ? 2 * frequency->pause : FIRST_GAP;
		frequency->next = capture_now() + frequency->pause;
		return;
	}
	frequency->pause = 0;
	if (frequency->samples++ == 0) {
		frequency->first_time = time;
		frequency->first_stamp = stamp;
		frequency->first_doubt = read - since;
	}
	frequency->last_time = time;
	frequency->last_stamp = stamp;
	frequency->last_doubt = read - since;
	frequency->next = time + FIRST_GAP + (time - frequency->first_time);
}

#define CYCLES_TRIES 20
#define CYCLES_DOUBT 1e-5 /* uncertainty, in seconds, of the time at which the cycle counter was read */

struct capture_cycles capture_cycles_now(void)
{
	struct capture_cycles best = { 0 };
	double least = 0;

	/* the host may run another process between two of these steps */
	for (unsigned n = 0; n < CYCLES_TRIES && (n == 0 || least > CYCLES_DOUBT); n++) {
		const double before = capture_now();
		const uint64_t count = read_cycles();
		const double doubt = capture_now() - before;

		if (n > 0 && doubt >= least)
			continue;
		best = (struct capture_cycles){ count, before };
		least = doubt;
	}
	return best;
}

uint64_t capture_cycles_frequency(const struct capture_cycles *begin)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };
	struct capture_cycles end = capture_cycles_now();

	if (end.count <= begin->count)
		return 0;
	if (end.time - begin->time < LEAST_GAP) {
		nanosleep(&pause, NULL);
		end = capture_cycles_now();
	}
	return (uint64_t)((double)(end.count - begin->count) / (end.time - begin->time) + 0.5);
}

/*
 * Returns whether the time between the first and the last sample is at least `least`, and known with an error
 * of at most `part` of it.
 */
static bool is_exact(const struct capture_frequency *samples, double least, double part)
{
	const double gap = samples->last_time - samples->first_time;

	return gap >= least && samples->first_doubt + samples->last_doubt <= gap * part;
}

uint64_t capture_frequency_get(const struct capture_frequency *frequency)
{
	double gap = frequency->last_time - frequency->first_time;

	if (!is_exact(frequency, LEAST_GAP, ERROR_MOST) || frequency->last_stamp <= frequency->first_stamp)
		return 0;
	return (uint64_t)((double)(frequency->last_stamp - frequency->first_stamp) / gap + 0.5);
}

#define STEP_NS 1000000L /* time, in ns, between two checks for a new record or heartbeat */
/* time, in seconds, without a record or heartbeat after which the measurement fails */
#define QUIET 0.3
#define SPAN  0.4 /* intended time, in seconds, between the first and the last sample */
/* time, in seconds, after which the measurement ends and uses the samples taken so far */
#define PATIENCE 2.0
/*
 * The measurement ends early if its relative error is at most ERROR_GOOD, and fails if it is larger than
 * ERROR_FAIR.
 */
#define ERROR_GOOD 0.02
#define ERROR_FAIR 0.05
/*
 * maximum relative difference of the guest's and the host's counter rates for which both count as the same
 * counter
 */
#define SAME_RATE 0.03
/* maximum relative difference for which a round number replaces a measured rate */
#define ROUND 0.005

/*
 * Waits until the guest records a new slot or a heartbeat. Sets *since to a time before which it did not
 * record it. Returns false if the guest records neither, or boots again.
 */
static bool await_movement(struct ktread_image *image, double *since)
{
	const struct timespec step = { .tv_nsec = STEP_NS };
	const double begin = capture_now();
	struct ktread_pulse before, now;

	*since = begin;
	if (ktread_image_pulse(image, &before) != 0)
		return false;
	while (capture_now() - begin < QUIET) {
		double time;

		nanosleep(&step, NULL);
		time = capture_now();
		if (ktread_image_pulse(image, &now) != 0 || now.nonce != before.nonce)
			return false;
		if (now.slots != before.slots || now.heartbeats != before.heartbeats)
			return true;
		*since = time;
	}
	return false;
}

/*
 * Rounds `hz` to two significant digits if this changes it by less than ROUND. Otherwise returns it
 * unchanged.
 */
static uint64_t rounded(uint64_t hz)
{
	uint64_t unit = 1, near;

	while (hz / unit >= 100)
		unit *= 10;
	near = (hz + unit / 2) / unit * unit;
	return (double)(near > hz ? near - hz : hz - near) < (double)hz * ROUND ? near : hz;
}

uint64_t capture_measure_image(struct ktread_image *image)
{
	const struct capture_cycles begin = capture_cycles_now();
	struct capture_frequency samples = { 0 };
	struct ktread_pulse pulse;
	uint64_t own, host;
	double since;

	if (ktread_image_pulse(image, &pulse) != 0 || pulse.frequency)
		return 0;
	do {
		if (!await_movement(image, &since))
			return 0;
		capture_frequency_sample(&samples, image, since);
	} while (!is_exact(&samples, SPAN, ERROR_GOOD) && capture_now() - begin.time < PATIENCE);
	own = is_exact(&samples, SPAN, ERROR_FAIR) ? capture_frequency_get(&samples) : 0;
	if (own == 0 || ktread_image_machine(image) != EM_X86_64)
		return own ? rounded(own) : 0;
	host = capture_cycles_frequency(&begin);
	if ((double)host > (double)own * (1 - SAME_RATE) && (double)host < (double)own * (1 + SAME_RATE))
		return host;
	return rounded(own);
}

uint64_t capture_measure(const char *path, const char *machine)
{
	struct ktread_memory *memory = NULL;
	struct ktread_image *image = NULL;
	uint64_t hz = 0;

	if (ktread_memory_open_ram(&memory, path, machine) != 0)
		return 0;
	if (ktread_image_find(&image, memory) == 0)
		hz = capture_measure_image(image);
	ktread_image_close(image);
	ktread_memory_close(memory);
	return hz;
}
