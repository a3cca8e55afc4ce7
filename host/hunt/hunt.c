/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "hunt.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/error.h"
#include "capture/wait.h"

/* ---- The cause of a failure ---------------------------------------------------------------------- */

#define ADDRESS_LEAST 4u /* minimum number of digits of an address without 0x */

/* Returns the length of the hexadecimal address without 0x that begins here; 0: none. */
static size_t address_length(const char *text)
{
	const size_t length = strspn(text, "0123456789abcdefABCDEF");

	return length >= ADDRESS_LEAST && strcspn(text, "0123456789") < length &&
			       !isalnum((unsigned char)text[length])
		       ? length
		       : 0;
}

/*
 * Copies the text, with '#' in place of each decimal or hexadecimal number: numbers such as addresses, times
 * and ids differ between runs that failed in the same way.
 */
static void copy_without_numbers(char *to, size_t size, const char *text)
{
	size_t used = 0, address;
	bool inside = false; /* true inside a word */

	while (*text && used + 1 < size) {
		address = inside ? 0 : address_length(text);
		inside = isalnum((unsigned char)*text);
		if (address) {
			to[used++] = '#';
			text += address;
			continue;
		}
		if (!isdigit((unsigned char)*text)) {
			to[used++] = *text++;
			continue;
		}
		to[used++] = '#';
		if (text[0] == '0' && text[1] == 'x')
			text += 2;
		while (isxdigit((unsigned char)*text) || (*text == '.' && isdigit((unsigned char)text[1])))
			text++;
	}
	to[used] = '\0';
}

static bool ended_by_itself(const struct hunt_run *run)
{
	return run->status == CAPTURE_CLEAN || run->status == CAPTURE_FAILED;
}

/*
 * If the run ended in another way than the run of seed 0, returns how the run ended. Otherwise returns NULL.
 */
static const char *departure(const struct hunt_run *base, const struct hunt_run *run)
{
	switch (run->status) {
	case CAPTURE_PANIC:
	case CAPTURE_STALL:
	case CAPTURE_RESET:
	case CAPTURE_NOT_SEEN:
		return run->text;
	case CAPTURE_TIMEOUT:
		return ended_by_itself(base) ? "it did not end" : NULL;
	case CAPTURE_CLEAN:
	case CAPTURE_FAILED:
		/* compare the texts, because a text contains the exit status, too */
		return strcmp(base->text, run->text) != 0 ? run->text : NULL;
	default:
		return NULL;
	}
}

enum hunt_cause hunt_judge(const struct hunt_run *base, const struct hunt_run *run, char *key, size_t size)
{
	const char *other = departure(base, run);
	char text[HUNT_TEXT * 2];

	key[0] = '\0';
	if (run->status == HUNT_NOT_RUN || (!run->wrong && !other && !run->rule[0]))
		return HUNT_FINE;
	if (!run->wrong && !other) {
		snprintf(key, size, "rule %s", run->rule);
		return HUNT_BY_RULE;
	}
	copy_without_numbers(text, sizeof(text), run->wrong ? run->what : other);
	snprintf(key, size, "%s%s%s", run->verdict, run->wrong ? ": " : "", text);
	return run->wrong ? HUNT_BY_WHY : HUNT_BY_END;
}

void hunt_describe(const struct hunt_run *run, enum hunt_cause cause, char *text, size_t size)
{
	if (cause == HUNT_BY_RULE)
		snprintf(text, size, "rule %s: %s", run->rule, run->violation);
	else if (cause == HUNT_BY_WHY)
		snprintf(text, size, "%s: %s", run->verdict, run->what);
	else
		snprintf(text, size, "%s", run->text);
}

/* ---- The hunt ------------------------------------------------------------------------------------ */

#define TICK_MS	    250
#define FIRST_LIMIT UINT64_C(5000000000) /* deadline of the first run in ns, if the user gave none */
/* deadline of all other runs, as a multiple of the virtual time that the first run took */
#define LIMIT_FACTOR 4u
/* time in ns that is added to this multiple of the first run's time */
#define LIMIT_MORE UINT64_C(500000000)

struct job {
	pid_t pid; /* process that makes the run; 0: there is none */
	uint64_t seed;
	double begun;
};

/* State of the loop over the runs that is not part of the result. */
struct loop {
	struct hunt *hunt;
	struct job *job;
	FILE *results;
	uint8_t *done;			 /* bit map of the seeds whose results were read */
	uint64_t next;			 /* the seed of the next run */
	char files[CAPTURE_RECIPE_HASH]; /* `files` of the newest run for which it is known */
	bool varied; /* runs had different `files`: for example, each run makes a new disk image */
	/* true until a run of this hunt was compared with the runs of the earlier hunt that is resumed */
	bool unchecked;
	bool refused; /* the earlier hunt ran other files; hunt->error explains it */
	struct capture_signals signals;
};

__attribute__((format(printf, 2, 3))) static void say(const struct hunt *hunt, const char *format, ...)
{
	char sentence[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	if (hunt->options->say)
		hunt->options->say(hunt->options->context, sentence);
}

static int fail(struct hunt *hunt, const char *what)
{
	snprintf(hunt->error, sizeof(hunt->error), "%s: %s", what, strerror(errno));
	return -1;
}

/*
 * Writes a result to the file of results. If this fails, ends the hunt; the earlier results remain in the
 * file.
 */
static void write_result(struct hunt *hunt, FILE *results, const struct hunt_run *run)
{
	char path[PATH_MAX + 16];

	if (hunt_results_add(results, run) == 0 || hunt->cut)
		return;
	snprintf(path, sizeof(path), "%s/results.jsonl", hunt->options->folder);
	fail(hunt, path);
	hunt->cut = true;
}

/* ---- Results ------------------------------------------------------------------------------------- */

static struct hunt_kind *kind_of(struct hunt *hunt, enum hunt_cause cause, const char *key)
{
	for (unsigned n = 0; n < hunt->kinds; n++)
		if (strcmp(hunt->kind[n].key, key) == 0)
			return &hunt->kind[n];
	if (hunt->kinds == HUNT_KINDS)
		return NULL;
	snprintf(hunt->kind[hunt->kinds].key, sizeof(hunt->kind->key), "%s", key);
	hunt->kind[hunt->kinds].cause = cause;
	return &hunt->kind[hunt->kinds++];
}

/* Counts a failed run. Keeps its files if it is the shortest run of its kind of failure. */
static void take_failure(struct hunt *hunt, const struct hunt_run *run, enum hunt_cause cause,
			 const char *key, bool has_files)
{
	struct hunt_kind *kind = kind_of(hunt, cause, key);
	char text[HUNT_SENTENCE];

	hunt->failures++;
	hunt->more_kinds += !kind;
	if (!kind || (kind->runs > 0 && run->ended >= kind->first.ended)) {
		if (kind)
			kind->runs++;
		if (has_files)
			hunt_discard(hunt, run->seed);
		return;
	}
	if (kind->runs > 0)
		hunt_discard(hunt, kind->first.seed);
	else if (has_files) {
		hunt_describe(run, cause, text, sizeof(text));
		say(hunt, "seed %" PRIu64 ": %s", run->seed, text);
	}
	kind->first = *run;
	kind->runs++;
	if (hunt->options->is_wanted)
		hunt->wanted |= hunt->options->is_wanted(hunt->options->context, kind);
}

/* Returns whether the run shows anything about the guest. */
static bool can_be_judged(const struct hunt_run *run)
{
	return run->status != HUNT_NOT_RUN && run->status != CAPTURE_QEMU_DIED &&
	       run->status < CAPTURE_SIGNALLED;
}

static void take_run(struct hunt *hunt, const struct hunt_run *run, bool has_files)
{
	char key[sizeof(hunt->kind->key)];
	enum hunt_cause cause;

	hunt->runs++;
	if (!can_be_judged(run)) {
		if (hunt->not_run++ == 0)
			snprintf(hunt->why_not, sizeof(hunt->why_not), "%s", run->text);
		if (has_files && hunt->not_run == 1)
			say(hunt, "seed %" PRIu64 " could not be judged: %s", run->seed, run->text);
	} else if ((cause = hunt_judge(&hunt->base, run, key, sizeof(key))) != HUNT_FINE) {
		hunt->base_failed |= run->seed == 0;
		take_failure(hunt, run, cause, key, has_files);
		return;
	}
	if (has_files)
		hunt_discard(hunt, run->seed);
}

static bool seed_is_done(const struct loop *loop, uint64_t seed)
{
	const uint64_t n = seed - loop->hunt->options->first;

	return loop->done[n / 8] >> n % 8 & 1;
}

static bool ran_other_files(const struct loop *loop, const struct hunt_run *run)
{
	return run->files[0] && loop->files[0] && strcmp(run->files, loop->files) != 0;
}

/*
 * Notices a kernel that was rebuilt, even if the command is a script: compares the files of a run with those
 * of earlier runs. Returns 0, or -1 with hunt->error if the earlier hunt must not be continued.
 */
static int check_files(struct loop *loop, const struct hunt_run *run)
{
	struct hunt *hunt = loop->hunt;

	if (ran_other_files(loop, run) && !loop->varied) {
		if (loop->unchecked) {
			snprintf(hunt->error, sizeof(hunt->error),
				 "%.300s: the results are of other files, such as the kernel, or of another "
				 "version of QEMU; choose another directory with --out",
				 hunt->options->folder);
			return -1;
		}
		loop->varied = true;
		say(hunt,
		    "WARNING: seed %" PRIu64 " ran with other files, such as the kernel, or with another "
		    "version of QEMU, than earlier runs",
		    run->seed);
	}
	if (run->files[0]) {
		memcpy(loop->files, run->files, sizeof(loop->files));
		loop->unchecked = false;
	}
	return 0;
}

static struct loop *reading; /* the loop whose file of results is read */

static void take_result(struct hunt *hunt, const struct hunt_run *run)
{
	const struct hunt_options *options = hunt->options;
	const uint64_t n = run->seed - options->first;

	reading->varied |= ran_other_files(reading, run);
	if (run->files[0]) {
		memcpy(reading->files, run->files, sizeof(reading->files));
		reading->unchecked = true;
	}
	if (!can_be_judged(run)) /* the run is made again */
		return;
	if (run->seed == 0 && hunt->runs == 0 && hunt->base.text[0] == '\0') {
		hunt->base = *run;
		hunt->resumed++;
		take_run(hunt, run, false);
		return;
	}
	if (run->seed < options->first || run->seed > options->last || seed_is_done(reading, run->seed))
		return;
	reading->done[n / 8] |= (uint8_t)(1u << n % 8);
	hunt->resumed++;
	take_run(hunt, run, false);
}

/* ---- Runs ---------------------------------------------------------------------------------------- */

static bool is_over(const struct loop *loop)
{
	const struct hunt *hunt = loop->hunt;

	return hunt->signal || hunt->cut || loop->refused || hunt->wanted ||
	       loop->next > hunt->options->last || (hunt->options->stop_at_first && hunt->failures > 0);
}

static void start_runs(struct loop *loop)
{
	const struct hunt_options *options = loop->hunt->options;

	for (unsigned n = 0; n < options->jobs; n++) {
		while (!is_over(loop) && seed_is_done(loop, loop->next))
			loop->next++;
		if (loop->job[n].pid || is_over(loop))
			continue;
		loop->job[n] = (struct job){ hunt_start(loop->hunt, loop->next), loop->next, capture_now() };
		if (loop->job[n].pid < 0) {
			loop->job[n].pid = 0;
			fail(loop->hunt, "no process can be started for a run");
			loop->hunt->cut = true;
			return;
		}
		loop->next++;
	}
}

static void end_runs(const struct loop *loop, int signal)
{
	for (unsigned n = 0; n < loop->hunt->options->jobs; n++)
		if (loop->job[n].pid)
			kill(loop->job[n].pid, signal);
}

static void finish(struct loop *loop, struct job *job, int wait_status)
{
	struct hunt_run run;

	hunt_collect(loop->hunt, job->seed, wait_status, &run);
	run.seconds = capture_now() - job->begun;
	job->pid = 0;
	if (!loop->refused && !loop->hunt->signal && check_files(loop, &run) != 0) {
		loop->refused = true;
		end_runs(loop, SIGTERM);
	}
	if (loop->refused || loop->hunt->signal) { /* a signal has ended this run, too */
		hunt_discard(loop->hunt, run.seed);
		return;
	}
	take_run(loop->hunt, &run, true);
	write_result(loop->hunt, loop->results, &run);
}

static unsigned running(const struct loop *loop)
{
	unsigned count = 0;

	for (unsigned n = 0; n < loop->hunt->options->jobs; n++)
		count += loop->job[n].pid != 0;
	return count;
}

/*
 * Waits for a signal. The signal means that a run has ended, or that the user wants to end the hunt. In the
 * latter case, ends all runs.
 */
static void wait_for_signal(struct loop *loop)
{
	struct pollfd wait = { .fd = loop->signals.from, .events = POLLIN };
	unsigned count = 0;
	int signal;

	poll(&wait, 1, TICK_MS);
	signal = capture_signals_take(&loop->signals, &count);
	if (!signal)
		return;
	end_runs(loop, loop->hunt->signal || count > 1 ? SIGKILL : SIGTERM);
	loop->hunt->signal = signal;
}

static void finish_runs(struct loop *loop)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (unsigned n = 0; n < loop->hunt->options->jobs; n++)
			if (loop->job[n].pid == pid)
				finish(loop, &loop->job[n], status);
}

static void run_all(struct loop *loop)
{
	struct hunt *hunt = loop->hunt;

	while (!is_over(loop) || running(loop)) {
		start_runs(loop);
		if (running(loop))
			wait_for_signal(loop);
		finish_runs(loop);
		hunt->ended = capture_now();
		if (hunt->options->progress)
			hunt->options->progress(hunt->options->context, hunt);
	}
}

/* Makes the run of seed 0. A signal may end this run early. */
static int make_base(struct loop *loop)
{
	struct hunt *hunt = loop->hunt;
	char log[PATH_MAX];
	int status = 0;

	loop->job[0] = (struct job){ hunt_start(hunt, 0), 0, capture_now() };
	if (loop->job[0].pid < 0)
		return fail(hunt, "no process can be started for a run");
	while (waitpid(loop->job[0].pid, &status, WNOHANG) == 0)
		wait_for_signal(loop);
	loop->job[0].pid = 0;
	hunt_collect(hunt, 0, status, &hunt->base);
	hunt->base.seconds = capture_now() - loop->job[0].begun;
	if (hunt->signal) {
		hunt_discard(hunt, 0);
		return 0;
	}
	if (!can_be_judged(&hunt->base)) {
		hunt_name(hunt->options, 0, "log", log);
		snprintf(hunt->error, sizeof(hunt->error), "%s; its output is in %s", hunt->base.text, log);
		return -1;
	}
	if (check_files(loop, &hunt->base) != 0) {
		hunt_discard(hunt, 0);
		return -1;
	}
	if (hunt->options->rules && !hunt->base.traced) {
		snprintf(
			hunt->error, sizeof(hunt->error),
			"the run of seed 0 left no trace, so no rule can be checked: the guest needs ktrace");
		return -1;
	}
	if (hunt->base.no_hooks)
		say(hunt, "WARNING: " CAPTURE_NO_HOOKS);
	take_run(hunt, &hunt->base, true);
	write_result(hunt, loop->results, &hunt->base);
	return 0;
}

/*
 * Makes the run without a seed. All other runs are compared with this run, and its virtual time determines
 * their deadline.
 */
static int run_base(struct loop *loop)
{
	struct hunt *hunt = loop->hunt;
	const uint64_t given = hunt->options->run->schedule.deadline;
	int error = 0;

	hunt->deadline = given ? given : FIRST_LIMIT;
	if (hunt->options->base) {
		hunt->base = *hunt->options->base;
		return 0;
	}
	if (hunt->base.text[0] == '\0')
		error = make_base(loop);
	if (!error && !given && hunt->base.ended &&
	    (hunt->base.status == CAPTURE_CLEAN || hunt->base.status == CAPTURE_FAILED))
		hunt->deadline = hunt->base.ended * LIMIT_FACTOR + LIMIT_MORE;
	return error;
}

int hunt_run(struct hunt *hunt, const struct hunt_options *options)
{
	struct loop loop = { .hunt = hunt, .next = options->first, .signals = { .from = -1 } };
	int error = 0;

	*hunt = (struct hunt){ .options = options, .begun = capture_now() };
	if (options->last - options->first >= HUNT_SEEDS_MOST) {
		snprintf(hunt->error, sizeof(hunt->error), "at most %" PRIu64 " seeds", HUNT_SEEDS_MOST);
		return -1;
	}
	loop.job = calloc(options->jobs, sizeof(*loop.job));
	loop.done = calloc((options->last - options->first) / 8 + 1, 1);
	reading = &loop;
	if (!loop.job || !loop.done)
		error = fail(hunt, "the list of seeds cannot be created");
	if (!error)
		error = hunt_results_open(hunt, &loop.results, take_result);
	if (!error && capture_signals_open(&loop.signals) != 0) {
		snprintf(hunt->error, sizeof(hunt->error), "%s", capture_message());
		error = -1;
	}
	if (!error)
		error = run_base(&loop);
	if (!error)
		run_all(&loop);
	if (loop.refused)
		error = -1;
	capture_signals_close(&loop.signals);
	if (loop.results)
		fclose(loop.results);
	free(loop.job);
	free(loop.done);
	return error;
}
