/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/run_schedule.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/compare.h"
#include "analyze/note.h"
#include "base/open.h"
#include "capture/error.h"
#include "cmd/command.h"
#include "cmd/trace_args.h"

#define NANOSECONDS 1e9
#define MILLISECOND UINT64_C(1000000)
#define TIME_MOST   1e9	   /* the latest time, in seconds, of a line of this script */
#define SCRIPT_MOST 16384u /* maximum size, in bytes, of the script given with --input */

/* ---- Options of a repeatable run ----------------------------------------------------------------- */

const char *run_schedule_set_noise(void *to, const char *value, const struct option_row *row)
{
	struct schedule_noise *noise = to;
	const size_t length = strcspn(value, ",");

	(void)row;
	noise->mean = 0;
	noise->kind = SCHEDULE_TIMERS;
	for (unsigned n = 0; n < CAPTURE_NOISE_KINDS; n++) {
		if (strncmp(value, capture_noise_names[n], length) != 0 ||
		    capture_noise_names[n][length] != '\0')
			continue;
		noise->kind = n;
		if (!value[length])
			return NULL;
		value += length + 1;
		break;
	}
	if (trace_parse_time(value, &noise->mean) == 0 && noise->mean > 0 &&
	    noise->mean <= RUN_SCHEDULE_NOISE_MOST)
		return NULL;
	return "is not " CAPTURE_NOISES
	       ", or a time from 1ns to 1s, or a word and a time, such as hooks,20us";
}

void run_schedule_describe_noise(const struct schedule_noise *noise, char *text, size_t size)
{
	const char *kind = noise->kind == SCHEDULE_TIMERS ? "" : capture_noise_names[noise->kind];

	if (noise->mean)
		snprintf(text, size, "%s%s%" PRIu64 "ns", kind, *kind ? "," : "", noise->mean);
	else
		snprintf(text, size, "%s", kind);
}

/* Parses "TIME,SEED". Returns false if the text does not have this form. */
static bool parse_later(const char *text, struct capture_schedule *schedule)
{
	const char *comma = strchr(text, ',');
	char time[32];

	if (!comma || snprintf(time, sizeof(time), "%.*s", (int)(comma - text), text) >= (int)sizeof(time))
		return false;
	return trace_parse_time(time, &schedule->change) == 0 && schedule->change > 0 &&
	       trace_parse_number(comma + 1, INT64_MAX, &schedule->later.seed) == 0;
}

/* Returns a character in the first line that is invalid; NULL if all lines are valid. */
static const char *find_wrong_line(const char *script)
{
	double before = 0;
	char *end;

	for (const char *line = script; *line; line = end + (*end == '\n')) {
		const double time = strtod(line, &end);

		if (end == line)
			return line + strspn(line, " \n");
		if (!(time >= before && time <= TIME_MOST) || (*end != ' ' && *end != '\n'))
			return end;
		before = time;
		end += strcspn(end, "\n");
	}
	return NULL;
}

/* Returns the number of the line that contains this character. */
static unsigned line_number(const char *text, const char *at)
{
	unsigned number = 1;

	for (; text < at; text++)
		number += *text == '\n';
	return number;
}

char *run_schedule_script(const char *name, const char *path)
{
	char *script = calloc(1, SCRIPT_MOST + 1);
	FILE *file = script ? fopen(path, "re") : NULL;
	size_t length = file ? fread(script, 1, SCRIPT_MOST, file) : 0;
	const bool good = length > 0 && length < SCRIPT_MOST && strlen(script) == length;
	const char *wrong = good ? find_wrong_line(script) : NULL;

	if (file)
		fclose(file);
	if (!file)
		command_message(name, "%s: %s", path, strerror(errno));
	else if (!good)
		command_message(name, "%s: expected 1 to %u bytes of text", path, SCRIPT_MOST - 1);
	else if (wrong)
		command_message(name, "%s: line %u: expected \"SECONDS TEXT\", in the order of the times",
				path, line_number(script, wrong));
	if (good && !wrong)
		return script;
	free(script);
	return NULL;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat first, second;

	return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

/* Copies the settings of the first run. */
static int use_recipe(struct run_schedule *schedule, struct capture_run_options *options)
{
	const struct capture_recipe *recipe = &schedule->recipe;
	int error = capture_transport_named(&options->transport, recipe->transport);

	if (error)
		return error;
	options->schedule = recipe->run.schedule;
	/*
	 * If the first run was ended by a limit of real time, the virtual time of its end is not exact: this
	 * run ends a little later in virtual time, so that it has all events of the first run.
	 */
	if (!options->schedule.deadline && recipe->run.ended)
		options->schedule.deadline = recipe->run.ended + MILLISECOND;
	options->events = recipe->run.events;
	options->trace_unit = recipe->run.trace_unit;
	options->allow_reboot = recipe->run.allow_reboot;
	options->qemu = recipe->run.qemu;
	options->command = recipe->words.word;
	return 0;
}

/* Prints the command line that will be run, so that the user sees it: it comes from a file. */
static void print_command(const char *name, const struct capture_recipe *recipe)
{
	char text[1024];
	size_t used = 0;

	text[0] = '\0';
	for (char **word = recipe->words.word; *word && used < sizeof(text); word++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " %s", *word);
	command_message(name, "in %s:%s%s", recipe->directory, text, used >= sizeof(text) ? "…" : "");
}

/* Makes the path given with an option absolute. Returns 0 or an error. */
static int make_absolute(const char **option, char path[PATH_MAX])
{
	const char *given = *option;

	if (!given)
		return 0;
	*option = path;
	return capture_path_absolute(path, given);
}

/*
 * Warns if another version of ktrace recorded the trace, because the run may then differ. The events are
 * compared nevertheless.
 */
static void compare_versions(const char *name, const struct run_schedule *schedule)
{
	const char *first = schedule->recipe.run.ktrace;

	if (strcmp(first, command_version()) != 0)
		command_message(
			name,
			"WARNING: %s was recorded with ktrace %s, and this is ktrace %s: the run may differ",
			schedule->replay, *first ? first : "of an unknown version", command_version());
}

static void print_sentence(void *name, const char *sentence)
{
	command_message(name, "%s", sentence);
}

static int prepare_replay(struct run_schedule *schedule, const struct options *line,
			  struct capture_run_options *options)
{
	int error;

	if (is_same_file(schedule->replay, options->out))
		return options_refuse(line, "--out must not be the trace of the first run");
	if (options->branches && (is_same_file(schedule->replay, options->branches) ||
				  strcmp(options->out, options->branches) == 0))
		return options_refuse(line, "--branches must not be the file of a trace");
	error = make_absolute(&options->out, schedule->out);
	if (!error)
		error = make_absolute(&options->elf, schedule->elf);
	if (!error)
		error = make_absolute(&options->ram_dir, schedule->ram_dir);
	if (!error)
		error = make_absolute(&options->branches, schedule->branches);
	if (!error)
		error = capture_recipe_load(&schedule->recipe, schedule->replay);
	if (!error)
		error = capture_recipe_find(&schedule->recipe, print_sentence, (void *)line->by);
	if (!error && chdir(schedule->recipe.directory) != 0)
		error = capture_fail(CAPTURE_E_SYSTEM, "%s: %s", schedule->recipe.directory, strerror(errno));
	if (!error && !options->force)
		error = capture_recipe_check(&schedule->recipe);
	if (!error && options->branches && capture_recipe_names(&schedule->recipe, options->branches))
		return options_refuse(line, "--branches must not be a file of the first run");
	if (!error)
		error = use_recipe(schedule, options);
	if (!error) {
		compare_versions(line->by, schedule);
		print_command(line->by, &schedule->recipe);
		return 0;
	}
	command_message(line->by, "%s", capture_message());
	return error == CAPTURE_E_USAGE ? EXIT_USAGE : EXIT_BAD_INPUT;
}

int run_schedule_find_hooks(const char *name, struct capture_run_options *options)
{
	struct capture_schedule *schedule = &options->schedule;

	if (!options->elf || !capture_schedule_has_hooks(&schedule->noise, &schedule->later) ||
	    capture_schedule_find_hooks(&schedule->hooks, options->elf) == 0)
		return 0;
	command_message(name, "%s", capture_message());
	return EXIT_USAGE;
}

int run_schedule_prepare(struct run_schedule *schedule, const struct options *line,
			 struct capture_run_options *options, int argc, char **argv)
{
	static const char fixed[] =
		"deterministic seed noise then input deadline events trace-unit transport allow-reboot";
	const char *given = options_given(line, fixed);
	char text[160];

	if (!given && !schedule->adds_branches)
		given = options_given(line, "branches");
	if (schedule->replay && given) {
		snprintf(text, sizeof(text),
			 "%s cannot be combined with --replay, which repeats a run unchanged", given);
		return options_refuse(line, text);
	}
	if (schedule->replay && argc > 0)
		return options_refuse(line,
				      "--replay takes the command from the trace: no command can be given");
	if (schedule->replay)
		return prepare_replay(schedule, line, options);
	if (argc == 0)
		return options_refuse(line, "no command given");
	options->command = argv;
	options->schedule.on = schedule->deterministic || options_given(line, "seed");
	given = options_given(line, "noise then input deadline");
	if (given && !options->schedule.on) {
		snprintf(text, sizeof(text), "%s needs --seed or --deterministic", given);
		return options_refuse(line, text);
	}
	if (schedule->deterministic && schedule->noise.seed)
		return options_refuse(line, "--deterministic means --seed 0: give only one of them");
	if (options_given(line, "noise") && !schedule->noise.seed && !schedule->later)
		return options_refuse(line,
				      "--noise needs a seed other than 0, from which the slices are drawn");
	options->schedule.noise = options->schedule.later = schedule->noise;
	options->schedule.later.seed = 0;
	options->schedule.deadline = schedule->deadline;
	if (schedule->later && !parse_later(schedule->later, &options->schedule))
		return command_bad_value(line->by, "--then", schedule->later, "TIME,SEED, such as 1.5,7");
	if (run_schedule_find_hooks(line->by, options) != 0)
		return EXIT_USAGE;
	if (schedule->input) {
		schedule->script = run_schedule_script(line->by, schedule->input);
		options->schedule.input = schedule->script;
		return schedule->script ? 0 : EXIT_BAD_INPUT;
	}
	return 0;
}

bool run_schedule_kernel(const struct run_schedule *schedule, const char *note, char *path, size_t size)
{
	struct capture_qemu_line qemu;

	if (capture_qemu_line_read(&qemu, schedule->recipe.words.word) != 0 ||
	    !base_is_readable(qemu.kernel_path))
		return note_kernel(note, path, size);
	return snprintf(path, size, "%s", qemu.kernel_path) < (int)size;
}

void run_schedule_free(struct run_schedule *schedule)
{
	free(schedule->script);
	capture_recipe_free(&schedule->recipe);
}

/* ---- Repeating a run for other commands ---------------------------------------------------------- */

int run_schedule_repeat(const char *name, struct capture_run_options *options, bool apart, int *output,
			struct capture_result *result)
{
	char self[PATH_MAX];
	int error;

	command_self(self);
	options->self = self;
	options->version = command_version();
	fflush(stdout);
	*output = dup(STDOUT_FILENO);
	if (apart && *output >= 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	error = capture_run(options, result);
	if (*output >= 0) {
		dup2(*output, STDOUT_FILENO);
		close(*output);
	}
	if (!error)
		return 0;
	command_message(name, "%s", capture_message());
	return error == CAPTURE_E_USAGE ? EXIT_USAGE : EXIT_BAD_INPUT;
}

/* ---- Messages after a run ------------------------------------------------------------------------ */

void run_schedule_report(const char *name, const struct capture_run_options *options,
			 const struct capture_result *result)
{
	char ended[64] = "";

	if (result->ended)
		snprintf(ended, sizeof(ended), " ended at %.9f s of virtual time",
			 (double)result->ended / NANOSECONDS);
	command_message(name, "seed %" PRIu64 "%s; to repeat the run: ktrace run --replay %s",
			options->schedule.noise.seed, ended, options->out);
}

static void describe(const struct ktread_event *event, uint64_t frequency, char *text, size_t size)
{
	char cpu[24] = "", time[48];

	if (!event) {
		snprintf(text, size, "no further event");
		return;
	}
	if (event->cpu != KTRX_NO_CPU)
		snprintf(cpu, sizeof(cpu), " on CPU %" PRIu32, event->cpu);
	if (frequency)
		snprintf(time, sizeof(time), "%.9f s", (double)event->stamp / (double)frequency);
	else
		snprintf(time, sizeof(time), "%" PRIu64 " ticks", event->stamp);
	snprintf(text, size, "%s.%s at %s%s, thread %" PRIu32 " (ring %" PRIu32 ", slot %" PRIu64 ")",
		 event->type->group, event->type->name, time, cpu, event->thread, event->ring, event->index);
}

static int report_comparison(const char *name, const struct run_schedule *schedule, const char *out,
			     uint64_t ended, struct ktread *const trace[2], int status)
{
	struct compare compare;
	char text[2][256];
	const bool same_end = ended && ended == schedule->recipe.run.ended;
	int which, error = compare_traces(trace, same_end, &compare, &which);

	if (error) {
		command_message(name, "%s", ktread_message(trace[which & 1]));
		return EXIT_BAD_INPUT;
	}
	if (!compare.differs && compare.same == 0) {
		command_message(name, "not compared with %s: no event is in both traces", schedule->replay);
		return RUN_STATUS_DIFFERS;
	}
	if (!compare.differs) {
		command_message(name,
				"the same run as %s: all %" PRIu64 " events that both traces have are equal",
				schedule->replay, compare.same);
		return status;
	}
	if (!compare.first[0] && !compare.first[1]) {
		command_message(
			name, "the run differs from %s: it has %" PRIu32 " rings, and %s has %" PRIu32,
			schedule->replay, ktread_info(trace[0])->rings, out, ktread_info(trace[1])->rings);
		return RUN_STATUS_DIFFERS;
	}
	for (unsigned n = 0; n < 2; n++)
		describe(compare.first[n], ktread_info(trace[n])->frequency, text[n], sizeof(text[n]));
	command_message(name,
			"the run differs from %s: after %" PRIu64 " equal events, it has %s, and %s has %s",
			schedule->replay, compare.same, text[0], out, text[1]);
	return RUN_STATUS_DIFFERS;
}

int run_schedule_compare(const char *name, const struct run_schedule *schedule, const char *out,
			 const struct capture_result *result)
{
	const struct ktread_options raw = { .size = sizeof(raw), .raw_clock = 1 };
	const char *path[2] = { schedule->recipe.path, out };
	struct ktread *trace[2] = { NULL, NULL };
	int status, error = 0;

	for (unsigned n = 0; n < 2 && !error; n++) {
		error = ktread_open(&trace[n], path[n], &raw);
		if (error)
			command_message(name, "%s", ktread_message(trace[n]));
	}
	status = error ? EXIT_BAD_INPUT
		       : report_comparison(name, schedule, out, result->ended, trace, result->status);
	ktread_close(trace[0]);
	ktread_close(trace[1]);
	return status;
}
