/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Searches for what a failure depends on: the time from which the run fails (bisect), and a smaller run
 * that fails in the same way (minimise).
 */
#include "hunt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Bisection of a run -------------------------------------------------------------------------- */

#define STEPS 20u

/*
 * Replaces the run of seed 0 in comparisons: a run is expected to end by itself. A run that reaches its
 * deadline has failed.
 */
static const struct hunt_run expected = { .status = CAPTURE_CLEAN, .text = "clean exit" };

/*
 * Makes `runs` runs. Each of them repeats the run up to `time` and continues it with another seed. Returns 0
 * or a negative error.
 */
static int continue_from(struct bisect *bisect, struct hunt *hunt, uint64_t time, uint64_t runs)
{
	struct capture_run_options run = *bisect->options->run;
	struct hunt_options options = *bisect->options;
	int error;

	run.schedule.change = time;
	options.run = &run;
	options.first = 1;
	options.last = runs;
	options.later = true;
	options.base = &expected;
	options.replace = true;
	error = hunt_run(hunt, &options);
	if (error)
		snprintf(bisect->error, sizeof(bisect->error), "%s", hunt->error);
	bisect->signal = hunt->signal;
	for (unsigned n = 0; n < hunt->kinds; n++)
		hunt_discard(hunt, hunt->kind[n].first.seed);
	return error;
}

static uint64_t count_same(const struct bisect *bisect, const struct hunt *hunt)
{
	for (unsigned n = 0; n < hunt->kinds; n++)
		if (strcmp(hunt->kind[n].key, bisect->failure.key) == 0)
			return hunt->kind[n].runs;
	return 0;
}

/* Repeats the run unchanged. Returns 0 if it fails again, 1 if it does not fail, or a negative error. */
static int repeat(struct bisect *bisect, struct hunt *hunt)
{
	int error = continue_from(bisect, hunt, 0, 1);

	if (error || bisect->signal)
		return error;
	if (hunt->not_run) {
		snprintf(bisect->error, sizeof(bisect->error), "the run could not be repeated: %s",
			 hunt->why_not);
		return -1;
	}
	if (hunt->kinds == 0)
		return 1;
	bisect->failure = hunt->kind[0];
	bisect->from = hunt->kind[0].first.ended;
	return 0;
}

/* Counts as an error if a continuation was not judged: it may have failed. Returns 0 or a negative error. */
static int check_judged(struct bisect *bisect, const struct hunt *hunt, uint64_t time)
{
	if (!hunt->not_run)
		return 0;
	snprintf(bisect->error, sizeof(bisect->error),
		 "%" PRIu64 " of %" PRIu64 " continuations from %.9f s on could not be judged: %s",
		 hunt->not_run, bisect->runs, (double)time / 1e9, hunt->why_not);
	return -1;
}

int bisect_run(struct bisect *bisect)
{
	static struct hunt hunt;
	int error = repeat(bisect, &hunt);

	/* the search begins at 1 ns, because 0 in schedule.change means that there is no change */
	for (unsigned step = 0; !error && !bisect->signal && step <= STEPS; step++) {
		const uint64_t time = step == 0 ? 1 : bisect->before + (bisect->from - bisect->before) / 2;
		uint64_t failed;

		if (time >= bisect->from || (step > 0 && time <= bisect->before))
			break;
		error = continue_from(bisect, &hunt, time, bisect->runs);
		if (!error && !bisect->signal)
			error = check_judged(bisect, &hunt, time);
		if (error || bisect->signal)
			break;
		bisect->tried++;
		failed = count_same(bisect, &hunt);
		bisect->step(bisect->context, time, failed, bisect->runs);
		if (failed == bisect->runs) {
			bisect->from = time;
		} else {
			bisect->before = time;
			bisect->before_failed = failed;
		}
		if (step == 0 && failed == bisect->runs)
			break;
	}
	return error;
}

/* ---- Smaller runs -------------------------------------------------------------------------------- */

/*
 * Maximum number of steps of each bisection. A bisection also ends when the remaining interval is at most
 * 1/PART of its upper end.
 */
#define CALM_STEPS  10u
#define CALM_PART   64u
#define SHORT_STEPS 8u
#define SHORT_PART  16u

static const unsigned fewer[] = { 1, 2, 3, 4, 8, 16 }; /* numbers of CPUs that the search tries */
#define FEWER (sizeof(fewer) / sizeof(fewer[0]))

/*
 * Checks that HUNT_MINIMISE_RUNS is the largest possible number of runs. With one CPU, the search makes the
 * run of seed 0 and the run of one other seed. With every other number of CPUs, it makes the run of seed 0
 * and the runs of HUNT_MINIMISE_SEEDS other seeds. Then it makes the two bisections, and one more run of seed
 * 0.
 */
_Static_assert(2 + (FEWER - 1) * (HUNT_MINIMISE_SEEDS + 1) + CALM_STEPS + 1 + SHORT_STEPS ==
		       HUNT_MINIMISE_RUNS,
	       "");

/* The search for a smaller run of one kind of failure. */
struct search {
	struct hunt *hunt;
	const struct hunt_kind *kind;
	struct hunt_smaller *best;
	char folder[PATH_MAX];		/* directory for the files that the search writes */
	struct capture_run_options run; /* options of the smallest run so far */
	struct hunt_run base;		/* the run of seed 0 with this number of CPUs */
	struct hunt tried;		/* the runs made by the last call of hunt_run() */
};

/* ---- Runs ---------------------------------------------------------------------------------------- */

static bool fails_alike(const struct hunt_kind *kind, const struct hunt_kind *other)
{
	if (kind->cause != HUNT_BY_RULE)
		return strcmp(kind->key, other->key) == 0;
	/*
	 * do not compare the keys: a run that ends earlier than the run of seed 0 has another key, although
	 * it violates the same rule
	 */
	return strcmp(kind->first.rule, other->first.rule) == 0 && !other->first.wrong;
}

static bool ends_search(const void *context, const struct hunt_kind *found)
{
	const struct search *search = context;

	return fails_alike(search->kind, found);
}

/* Moves a file of a run in `tried` to the directory of the hunt. Returns false if the file does not exist. */
static bool keep_file(const struct search *search, uint64_t seed, const char *suffix, char to[PATH_MAX])
{
	char from[PATH_MAX], name[32];

	snprintf(name, sizeof(name), "%s", suffix);
	hunt_name(search->tried.options, seed, suffix, from);
	snprintf(name, sizeof(name), "small.%s", suffix);
	if (snprintf(to, PATH_MAX, "%s/seed-%" PRIu64 "-%s", search->hunt->options->folder,
		     search->kind->first.seed, name) >= PATH_MAX)
		return false;
	return rename(from, to) == 0;
}

/*
 * Makes runs as `run` describes, with the seeds from first to last. These runs are compared with the run of
 * seed 0. If `whole` is set, the run of seed 0 is made first; otherwise search->base is used for the
 * comparison. Returns a run that fails in the same way, or NULL if there is none.
 */
static const struct hunt_run *make_runs(struct search *search, const struct capture_run_options *run,
					uint64_t first, uint64_t last, bool whole)
{
	struct hunt_options options = *search->hunt->options;
	const struct hunt_run *found = NULL;

	options.run = run;
	options.folder = search->folder;
	options.first = first;
	options.last = last;
	options.base = whole ? NULL : &search->base;
	options.stop_at_first = options.resume = false;
	options.replace = true;
	options.say = NULL;
	options.progress = NULL;
	options.is_wanted = ends_search;
	options.context = search;
	if (hunt_run(&search->tried, &options) != 0)
		return NULL;
	search->best->runs += search->tried.runs;
	search->hunt->signal = search->tried.signal ? search->tried.signal : search->hunt->signal;
	for (unsigned n = 0; n < search->tried.kinds; n++) {
		const struct hunt_kind *kind = &search->tried.kind[n];
		char log[PATH_MAX];

		if (!found && fails_alike(search->kind, kind)) {
			found = &kind->first;
			if (!keep_file(search, found->seed, "ktrx", search->best->trace))
				search->best->trace[0] = '\0';
			keep_file(search, found->seed, "log", log);
		}
		hunt_discard(&search->tried, kind->first.seed);
	}
	search->tried.options = NULL;
	return found;
}

static void accept(struct search *search, const struct capture_run_options *run, const struct hunt_run *found)
{
	search->run = *run;
	search->run.schedule.noise.seed = found->seed;
	search->best->run = *found;
	search->best->found = true;
}

/*
 * Makes the run of one seed. If the run fails in the same way, accepts it as the smallest run so far, and
 * returns true.
 */
static bool try_run(struct search *search, const struct capture_run_options *run)
{
	const uint64_t seed = run->schedule.noise.seed;
	const struct hunt_run *found = make_runs(search, run, seed, seed, false);

	if (found)
		accept(search, run, found);
	return found;
}

/* ---- Fewer CPUs ---------------------------------------------------------------------------------- */

/*
 * Finds the number of CPUs on the command line. Returns the index of the argument that consists of *prefix
 * ("" or "cpus=") and this number; 0 if there is no such argument.
 */
static size_t find_cpus(char *const *words, unsigned *cpus, const char **prefix)
{
	static const char key[] = "cpus=";
	struct capture_qemu_option option;
	size_t at = 1, index = 0;

	*cpus = 0;
	while (capture_qemu_option_next(words, &at, &option)) {
		const char *value = option.value;
		char *end;
		unsigned long number;

		if (!value || !capture_qemu_option_is(&option, "smp"))
			continue;
		*prefix = strncmp(value, key, sizeof(key) - 1) == 0 ? key : "";
		value += strlen(*prefix);
		number = strtoul(value, &end, 10);
		index = end > value && *end == '\0' && number <= UINT16_MAX ? option.index + 1 : 0;
		*cpus = index ? (unsigned)number : 0;
	}
	return index;
}

/* Copies the command line with another number of CPUs. Returns false if memory runs out. */
static bool change_cpus(struct capture_words *words, char *const *from, size_t index, const char *prefix,
			unsigned cpus)
{
	for (size_t n = 0; from[n]; n++)
		if (n == index)
			capture_words_format(words, "%s%u", prefix, cpus);
		else
			capture_words_add(words, from[n]);
	return !words->failed;
}

/* Tries a number of CPUs. Returns true if a run with it fails in the same way. */
static bool try_cpus(struct search *search, size_t index, const char *prefix, unsigned cpus)
{
	struct capture_run_options run = search->run;
	const uint64_t seeds =
		cpus == 1 ? 1 : HUNT_MINIMISE_SEEDS; /* with a single CPU, all seeds result in the same run */
	const struct hunt_run *found = NULL;
	struct capture_words words = { 0 };

	if (change_cpus(&words, search->run.command, index, prefix, cpus)) {
		run.command = words.word;
		found = make_runs(search, &run, 1, seeds, true);
	}
	if (!found) {
		capture_words_free(&words);
		return false;
	}
	capture_words_free(&search->best->words);
	search->best->words = words;
	search->best->cpus = cpus;
	search->best->deadline = search->tried.deadline;
	search->base = search->tried.base;
	run.schedule.deadline = search->tried.deadline;
	accept(search, &run, found);
	return true;
}

static void search_cpus(struct search *search)
{
	const char *prefix = "";
	const size_t index = find_cpus(search->run.command, &search->best->were, &prefix);

	search->best->cpus = search->best->were;
	for (size_t n = 0; index && n < FEWER && fewer[n] < search->best->were && !search->hunt->signal; n++)
		if (try_cpus(search, index, prefix, fewer[n]))
			return;
}

/* ---- Fewer forced switches ----------------------------------------------------------------------- */

static bool base_fails_alike(const struct search *search)
{
	struct hunt_kind kind = { .first = search->base };

	kind.cause = hunt_judge(&search->base, &search->base, kind.key, sizeof(kind.key));
	return kind.cause != HUNT_FINE && fails_alike(search->kind, &kind);
}

/* Searches for the earliest time after which no switch between CPUs needs to be forced. */
static void search_calm(struct search *search)
{
	struct capture_run_options run = search->run;
	uint64_t low = 0, high = search->best->run.ended;

	if (run.schedule.noise.seed == 0)
		return;
	if (base_fails_alike(search)) { /* the run fails even if no switch between CPUs is forced */
		run.schedule.noise.seed = 0;
		try_run(search, &run);
		return;
	}
	for (unsigned step = 0; step < CALM_STEPS && !search->hunt->signal && high - low > high / CALM_PART;
	     step++) {
		const uint64_t middle = low + (high - low) / 2;

		run.schedule.change = middle;
		run.schedule.later = (struct schedule_noise){ 0 };
		if (!try_run(search, &run)) {
			low = middle;
			continue;
		}
		high = middle < search->best->run.ended ? middle : search->best->run.ended;
		search->best->calmed = true;
		search->best->until = middle;
	}
}

/* ---- A shorter run ------------------------------------------------------------------------------- */

/*
 * Searches for the earliest deadline. If the failure is that the run does not end, the deadline must be later
 * than the end of the run of seed 0.
 */
static void search_short(struct search *search)
{
	struct capture_run_options run = search->run;
	uint64_t low = search->kind->cause == HUNT_BY_END ? search->base.ended : 0,
		 high = search->best->run.ended;

	if (search->best->run.status != CAPTURE_TIMEOUT && search->kind->cause != HUNT_BY_RULE)
		return; /* the run ends by itself, before the deadline */
	for (unsigned step = 0;
	     step < SHORT_STEPS && !search->hunt->signal && high > low && high - low > high / SHORT_PART;
	     step++) {
		const uint64_t middle = low + (high - low) / 2;

		run.schedule.deadline = middle;
		if (!try_run(search, &run)) {
			low = middle;
			continue;
		}
		high = middle;
		search->best->deadline = middle;
	}
}

/* ---- All kinds of failures ----------------------------------------------------------------------- */

static void search_kind(struct search *search)
{
	struct capture_run_options *run = &search->run;
	char path[PATH_MAX + 16];

	*run = *search->hunt->options->run;
	run->schedule.noise.seed = search->kind->first.seed;
	search->base = search->hunt->base;
	search->best->run = search->kind->first;
	search_cpus(search);
	if (!search->best->found) {
		run->schedule.deadline = search->hunt->deadline;
		search->best->deadline = search->hunt->deadline;
	}
	if (!search->hunt->signal)
		search_calm(search);
	if (!search->hunt->signal)
		search_short(search);
	snprintf(path, sizeof(path), "%s/results.jsonl", search->folder);
	unlink(path);
	rmdir(search->folder);
}

void hunt_minimise(struct hunt *hunt, struct hunt_smaller smaller[HUNT_KINDS])
{
	struct search *search = calloc(1, sizeof(*search));

	for (unsigned n = 0; search && n < hunt->kinds && !hunt->signal; n++) {
		char sentence[128];

		search->hunt = hunt;
		search->kind = &hunt->kind[n];
		search->best = &smaller[n];
		if (snprintf(search->folder, PATH_MAX, "%s/small", hunt->options->folder) >= PATH_MAX)
			break;
		snprintf(sentence, sizeof(sentence),
			 "seed %" PRIu64
			 ": looking for a smaller run that fails the same way: at most %u runs",
			 search->kind->first.seed, HUNT_MINIMISE_RUNS);
		if (hunt->options->say)
			hunt->options->say(hunt->options->context, sentence);
		search_kind(search);
	}
	free(search);
}

void hunt_smaller_free(struct hunt_smaller *smaller)
{
	capture_words_free(&smaller->words);
	*smaller = (struct hunt_smaller){ 0 };
}
