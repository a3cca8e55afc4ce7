/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace hunt: its options, the progress line and the summary. host/hunt does the work. */
#include "hunt/hunt.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/json_text.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/run_schedule.h"
#include "cmd/trace_args.h"
#include "capture/wait.h"

#define DEFAULT_FOLDER	"hunt"
#define DEFAULT_SEEDS	200u
#define DEFAULT_TIMEOUT 120.0 /* time limit of a run, in seconds of real time */
#define STATUS_FOUND	10
#define STATUS_SIGNAL	128
#define NANOSECONDS	1e9
#define JOBS_MOST	512u

struct command_hunt {
	struct hunt_options options;
	struct capture_run_options run;
	const char *name;
	const char *seeds, *input, *page; /* values of options; each is NULL if the option was not given */
	uint64_t jobs;
	bool json, quiet, minimise;
	bool painted;
	struct hunt_smaller *smaller; /* results of --minimise, one for each kind of failure */
};

#define AT(member) .to = offsetof(struct command_hunt, member)
static const struct option_row rows[] = {
	{ "seeds", 0, "N|FIRST-LAST", "run these seeds; N means 1-N (200)", options_set_text, AT(seeds) },
	{ "jobs", 'j', "N", "run N QEMUs at a time (number of CPUs)", options_set_number, AT(jobs),
	  .least = 1, .most = JOBS_MOST },
	{ "deadline", 0, "TIME",
	  "end each run at this virtual time (4 times the virtual time that seed 0 took, plus 0.5 "
	  "s)",
	  options_set_time, AT(run.schedule.deadline), .least = 1, .most = INT64_MAX },
	{ "noise", 0, "KIND,TIME",
	  "choose what ends the slices of CPUs: 'timers' (default), 'hooks' of ktrace in the "
	  "guest, or 'both', each for half of the seeds; TIME is the mean length of slices, or of "
	  "delays at hooks (chosen by the seed)",
	  run_schedule_set_noise, AT(run.schedule.noise) },
	{ "elf", 0, "KERNEL",
	  "find the hooks for --noise in this ELF file of the kernel (the file of QEMU's -kernel)",
	  options_set_text, AT(run.elf) },
	{ "input", 0, "FILE",
	  "type the lines of FILE on the serial line; a line \"SECONDS TEXT\" is typed at this "
	  "virtual time",
	  options_set_text, AT(input) },
	{ "timeout", 0, "SECONDS", "end each run after this real time (120)", options_set_seconds,
	  AT(run.timeout) },
	{ "expect", 0, "TEXT", "judge a run as failed if it does not write TEXT to standard output",
	  options_set_text, AT(run.expect) },
	{ "check", 0, "RULES",
	  "also judge a run as failed if it violates a rule of this file, as 'ktrace check "
	  "--rules' does; 'default' means the rules of 'ktrace check' without --rules",
	  options_set_text, AT(options.rules) },
	{ "first", 0, NULL, "end the hunt at the first failure", options_set_flag,
	  AT(options.stop_at_first) },
	{ "minimise", 0, NULL,
	  "after the hunt, search for a smaller run of each failure: fewer CPUs, fewer forced "
	  "switches between CPUs, an earlier end",
	  options_set_flag, AT(minimise) },
	{ "out", 'o', "DIR", "write traces and results into this directory (" DEFAULT_FOLDER ")",
	  options_set_text, AT(options.folder) },
	{ "resume", 0, NULL, "continue the hunt whose results are in the directory of --out",
	  options_set_flag, AT(options.resume) },
	{ "ram-dir", 0, "DIR", "put the guests' RAM files into this directory (the directory of the traces)",
	  options_set_text, AT(run.ram_dir) },
	{ "page", 0, "FILE",
	  "write the trace of the failure that the summary lists first as a page, "
	  "as 'ktrace html' does",
	  options_set_text, AT(page) },
	{ "json", 0, NULL, "print the summary as one JSON object", options_set_flag, AT(json) },
	{ "quiet", 'q', NULL, "print the summary and errors only", options_set_flag, AT(quiet) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace hunt [OPTION]... -- COMMAND...",
	.about = "Runs a QEMU command line with many seeds and judges each run: whether it panics, hangs or "
		 "ends in another way than with seed 0, and what 'ktrace why' finds. Keeps one trace of "
		 "each kind of failure, and prints the command that repeats it.",
	.lists = { rows },
	.in_order = true,
	.end = "Status: 0 no run failed, 10 a run failed, 1 the hunt could not be made or no run could be "
	       "judged, 2 usage error, 128+N ended by signal N with nothing found.\n",
};

/* ---- Progress and summary ------------------------------------------------------------------------ */

static void clear_progress(struct command_hunt *command)
{
	if (command->painted)
		fputs("\r\033[K", stderr);
	command->painted = false;
}

static void print_sentence(void *context, const char *sentence)
{
	struct command_hunt *command = context;

	if (command->quiet)
		return;
	clear_progress(command);
	command_message(command->name, "%s", sentence);
}

static double rate_of(const struct hunt *hunt)
{
	const double seconds = hunt->ended - hunt->begun;

	return seconds > 0 ? (double)(hunt->runs - hunt->resumed) / seconds : 0;
}

static void show_progress(void *context, const struct hunt *hunt)
{
	struct command_hunt *command = context;
	const struct hunt_options *options = hunt->options;

	if (command->quiet || !isatty(STDERR_FILENO))
		return;
	clear_progress(command);
	fprintf(stderr,
		"%s: %" PRIu64 " of %" PRIu64 " runs, %.1f per second, %" PRIu64 " failed in %u way%s",
		command->name, hunt->runs, options->last - options->first + 2, rate_of(hunt), hunt->failures,
		hunt->kinds, hunt->kinds == 1 ? "" : "s");
	command->painted = true;
}

/* Prints an option and its argument, quoted for a shell. */
static void print_word(const char *option, const char *word)
{
	char text[4 * PATH_MAX];

	printf("%s%s %s", *option ? " " : "", option, command_word(word, text, sizeof(text)));
}

/* Prints the command that shows which rule a trace violates. */
static void print_check(const struct hunt *hunt, const char *path)
{
	printf("ktrace check");
	if (*hunt->options->rules)
		print_word("--rules", hunt->options->rules);
	printf(" %s\n", path);
}

/* Prints the command line of a run for which no trace file was kept. */
static void print_line(const struct command_hunt *command, const struct capture_run_options *run,
		       uint64_t deadline)
{
	const struct capture_schedule *schedule = &run->schedule;
	char noise[64];

	run_schedule_describe_noise(&schedule->noise, noise, sizeof(noise));
	printf("ktrace run --seed %" PRIu64 " --deadline %.9f", schedule->noise.seed,
	       (double)deadline / NANOSECONDS);
	if (*noise)
		printf(" --noise %s", noise);
	if (run->elf)
		print_word("--elf", run->elf);
	if (schedule->change)
		printf(" --then %.9f,0", (double)schedule->change / NANOSECONDS);
	if (command->input)
		print_word("--input", command->input);
	if (run->expect)
		print_word("--expect", run->expect);
	printf(" --");
	for (char **word = run->command; *word; word++)
		print_word("", *word);
	printf("\n");
}

/* Prints the commands that explain a trace and repeat its run. */
static void print_commands(const struct hunt *hunt, const struct hunt_run *run, enum hunt_cause cause,
			   const char *path)
{
	printf("  to see why: ");
	if (cause == HUNT_BY_RULE)
		print_check(hunt, path);
	else
		printf("ktrace why %s\n", path);
	if (cause != HUNT_BY_RULE && run->rule[0]) {
		printf("  it also violates the rule %s: ", run->rule);
		print_check(hunt, path);
	}
	printf("  to repeat it: ktrace run --replay %s\n", path);
}

static void print_first(const struct command_hunt *command, const struct hunt *hunt,
			const struct hunt_kind *kind)
{
	struct capture_run_options run = *hunt->options->run;
	char path[PATH_MAX];

	hunt_name(hunt->options, kind->first.seed, "ktrx", path);
	if (kind->first.traced) {
		print_commands(hunt, &kind->first, kind->cause, path);
		return;
	}
	run.schedule.noise.seed = kind->first.seed;
	printf("  to repeat it: ");
	print_line(command, &run, hunt->deadline);
}

/* Prints the results of --minimise. */
static void print_smaller(const struct command_hunt *command, const struct hunt *hunt,
			  const struct hunt_kind *kind, const struct hunt_smaller *smaller)
{
	struct capture_run_options run = *hunt->options->run;

	if (!smaller->found) {
		printf("  %" PRIu64 " more runs found no smaller run that fails in the same way\n",
		       smaller->runs);
		return;
	}
	printf("  smaller (after %" PRIu64 " more runs): seed %" PRIu64, smaller->runs, smaller->run.seed);
	if (smaller->cpus < smaller->were)
		printf(", %u CPU%s instead of %u", smaller->cpus, smaller->cpus == 1 ? "" : "s",
		       smaller->were);
	if (smaller->calmed)
		printf(", switches forced until %.9f s only", (double)smaller->until / NANOSECONDS);
	printf(", ends at %.9f s\n", (double)smaller->run.ended / NANOSECONDS);
	if (smaller->trace[0]) {
		print_commands(hunt, &smaller->run, kind->cause, smaller->trace);
		return;
	}
	run.schedule.noise.seed = smaller->run.seed;
	run.schedule.change = smaller->calmed ? smaller->until : 0;
	if (smaller->words.count)
		run.command = smaller->words.word;
	printf("  to repeat it: ");
	print_line(command, &run, smaller->deadline);
}

static void print_summary(const struct command_hunt *command, const struct hunt *hunt)
{
	const char *plural = hunt->kinds == 1 ? "" : "s";

	printf("%" PRIu64 " run%s, %.1f per second, deadline %.3f s of virtual time: ", hunt->runs,
	       hunt->runs == 1 ? "" : "s", rate_of(hunt), (double)hunt->deadline / NANOSECONDS);
	if (hunt->failures)
		printf("%" PRIu64 " failed in %u way%s\n", hunt->failures, hunt->kinds, plural);
	else
		printf("none failed\n");
	if (hunt->not_run)
		printf("%" PRIu64 " of the runs could not be judged\n", hunt->not_run);
	if (hunt->base_failed)
		printf("seed 0 fails, too: no rare schedule is needed\n");
	for (unsigned n = 0; n < hunt->kinds; n++) {
		const struct hunt_kind *kind = &hunt->kind[n];
		const struct hunt_run *run = &kind->first;
		char text[HUNT_SENTENCE];

		hunt_describe(run, kind->cause, text, sizeof(text));
		printf("\n%" PRIu64 " run%s: %s\n", kind->runs, kind->runs == 1 ? "" : "s", text);
		printf("  first to end: seed %" PRIu64 ", %s, at %.9f s of virtual time\n", run->seed,
		       run->text, (double)run->ended / NANOSECONDS);
		print_first(command, hunt, kind);
		if (command->minimise)
			print_smaller(command, hunt, kind, &command->smaller[n]);
	}
	if (hunt->more_kinds)
		printf("\n%" PRIu64 " more failures, of further kinds, were not kept\n", hunt->more_kinds);
}

/* Returns the results of --minimise as a JSON object; null if there are none. */
static json_t *pack_smaller(const struct hunt_smaller *smaller)
{
	json_t *run;

	if (!smaller->found)
		return json_null();
	run = hunt_run_json(&smaller->run);
	if (smaller->trace[0])
		json_object_set_new(run, "trace", json_string(smaller->trace));
	return json_pack("{s:I, s:I, s:I, s:o, s:o}", "runs", (json_int_t)smaller->runs, "cpus",
			 (json_int_t)smaller->cpus, "deadline_ns", (json_int_t)smaller->deadline, "until_ns",
			 smaller->calmed ? json_integer((json_int_t)smaller->until) : json_null(), "run",
			 run);
}

static int print_json(const struct command_hunt *command, const struct hunt *hunt)
{
	static const char *const causes[] = {
		[HUNT_FINE] = "", [HUNT_BY_WHY] = "why", [HUNT_BY_END] = "end", [HUNT_BY_RULE] = "rule"
	};
	json_t *kinds = json_array(), *json;
	int error;

	for (unsigned n = 0; kinds && n < hunt->kinds; n++) {
		json_t *run = hunt_run_json(&hunt->kind[n].first), *kind;
		char path[PATH_MAX];

		hunt_name(hunt->options, hunt->kind[n].first.seed, "ktrx", path);
		if (hunt->kind[n].first.traced)
			json_object_set_new(run, "trace", json_string(path));
		kind = json_pack("{s:I, s:s, s:s, s:o}", "runs", (json_int_t)hunt->kind[n].runs, "cause",
				 causes[hunt->kind[n].cause], "key", hunt->kind[n].key, "first", run);
		if (command->minimise)
			json_object_set_new(kind, "smaller", pack_smaller(&command->smaller[n]));
		json_array_append_new(kinds, kind);
	}
	json = json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:f, s:s, s:i, s:o}", "schema", "ktrace-hunt/1",
			 "strings", "untrusted", "version", 1, "runs", (json_int_t)hunt->runs, "failures",
			 (json_int_t)hunt->failures, "not_judged", (json_int_t)hunt->not_run, "deadline_ns",
			 (json_int_t)hunt->deadline, "seconds", hunt->ended - hunt->begun, "error",
			 hunt->error, "signal", hunt->signal, "kinds", kinds);
	error = !json || capture_json_write(json, 0, stdout) != 0;
	json_decref(json);
	return error;
}

/* ---- Reading options ----------------------------------------------------------------------------- */

/*
 * Parses "N" or "FIRST-LAST". Seed 0 is refused: its run forces no switches, and all other runs are compared
 * with this run.
 */
static bool parse_seeds(const char *text, struct hunt_options *options)
{
	const char *rest = trace_read_number(text, &options->first);

	if (rest && *rest == '-' && trace_parse_number(rest + 1, INT64_MAX, &options->last) == 0)
		return options->first > 0 && options->last >= options->first &&
		       options->last - options->first < HUNT_SEEDS_MOST;
	options->last = options->first;
	options->first = 1;
	return rest && !*rest && options->last > 0 && options->last <= HUNT_SEEDS_MOST;
}

/* Writes an HTML page of the first kind of failure whose trace was kept. */
static void write_page(const struct command_hunt *command, const struct hunt *hunt)
{
	char path[PATH_MAX];

	for (unsigned n = 0; n < hunt->kinds; n++) {
		if (!hunt->kind[n].first.traced)
			continue;
		hunt_name(hunt->options, hunt->kind[n].first.seed, "ktrx", path);
		html_file(&(struct trace_args){ TRACE_ARGS(NULL, command->name), .path = path },
			  command->run.elf, command->page);
		return;
	}
}

static int report(struct command_hunt *command, const struct hunt *hunt)
{
	int status;

	clear_progress(command);
	if (hunt->cut)
		command_message(command->name, "the hunt ended early: %s", hunt->error);
	if (command->json)
		print_json(command, hunt);
	else
		print_summary(command, hunt);
	if (command->page)
		write_page(command, hunt);
	status = command_flush(command->name);
	if (status)
		return status;
	if (hunt->failures)
		return STATUS_FOUND;
	if (hunt->signal)
		return STATUS_SIGNAL + hunt->signal;
	/* the run of seed 0 alone shows nothing: all other runs are compared with it */
	return hunt->cut || (hunt->not_run > 0 && hunt->not_run + 1 >= hunt->runs) ? EXIT_BAD_INPUT : 0;
}

/* Checks the rule file of --check before the first run. Replaces the value "default" by "". */
static int check_rules(const char *name, const char **path)
{
	const bool usual = strcmp(*path, "default") == 0;
	struct rules *rules = NULL;
	int status = 0;

	if (usual)
		rules = default_rules(name);
	else
		status = trace_rules_load(name, *path, &rules);
	if (usual)
		*path = "";
	if (!rules)
		return status ? status : EXIT_USAGE;
	free(rules);
	return 0;
}

/*
 * Blocks signals until the summary was printed: a signal that arrives between two runs must not end the
 * command.
 */
static int hunt_and_report(struct command_hunt *command, struct hunt *hunt)
{
	struct capture_signals signals;
	unsigned late = 0;
	int status;

	if (command->minimise)
		command->smaller = calloc(HUNT_KINDS, sizeof(*command->smaller));
	if ((command->minimise && !command->smaller) || capture_signals_open(&signals) != 0) {
		command_message(command->name, "out of memory");
		free(command->smaller);
		return EXIT_BAD_INPUT;
	}
	status = hunt_run(hunt, &command->options);
	if (status == 0 && command->minimise)
		hunt_minimise(hunt, command->smaller);
	if (status == 0) {
		status = report(command, hunt);
	} else {
		clear_progress(command);
		command_message(command->name, "%s", hunt->error);
		status = status == HUNT_E_RESULTS ? EXIT_USAGE : EXIT_BAD_INPUT;
	}
	for (unsigned n = 0; command->smaller && n < HUNT_KINDS; n++)
		hunt_smaller_free(&command->smaller[n]);
	free(command->smaller);
	/* the summary has been printed, and the exit status is known */
	capture_signals_take(&signals, &late);
	capture_signals_close(&signals);
	return status;
}

static int hunt_command(int argc, char **argv)
{
	struct command_hunt command = {
		.name = argv[0],
		.options = { .folder = DEFAULT_FOLDER, .first = 1, .last = DEFAULT_SEEDS },
		.run = { .events = "", .stall = 0, .timeout = DEFAULT_TIMEOUT, .may_lack_ktrace = true },
	};
	struct options line = { .syntax = &syntax, .by = argv[0], .to = &command };
	static struct hunt hunt;
	char self[PATH_MAX], *script = NULL;
	int status = options_parse(&line, argc, argv);

	if (status >= 0)
		return status;
	if (command.seeds && !parse_seeds(command.seeds, &command.options))
		return command_bad_value(argv[0], "--seeds", command.seeds,
					 "N or FIRST-LAST, from 1 on, at most 10000000 seeds");
	if (optind == argc)
		return options_refuse(&line, "no command given");
	if (command.run.expect && !*command.run.expect)
		return options_refuse(&line, "--expect: the text is empty");
	status = command.options.rules ? check_rules(argv[0], &command.options.rules) : 0;
	if (status)
		return status;
	command_self(self);
	command.run.self = command.options.self = self;
	command.run.version = command_version();
	command.run.command = argv + optind;
	command.run.schedule.on = true;
	command.options.run = &command.run;
	if (run_schedule_find_hooks(argv[0], &command.run) != 0)
		return EXIT_USAGE;
	if (command.input) {
		script = run_schedule_script(argv[0], command.input);
		if (!script)
			return EXIT_BAD_INPUT;
		command.run.schedule.input = script;
	}
	command.options.jobs =
		command.jobs ? (unsigned)command.jobs : (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	command.options.say = print_sentence;
	command.options.progress = show_progress;
	command.options.context = &command;
	status = hunt_and_report(&command, &hunt);
	free(script);
	return status;
}

const struct command command_hunt = {
	.name = "hunt",
	.purpose = "run a kernel with many schedules, to find a rare hang or panic",
	.run = hunt_command,
};
