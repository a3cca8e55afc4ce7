/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace live: shows what a running guest does, either on a screen or as one line per second. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "capture/watch.h"
#include "cmd/command.h"
#include "cmd/trace_args.h"
#include "live/live.h"
#include "live/page.h"

#define SAMPLE	       2048u /* maximum number of slots that one poll reads */
#define LOOK_MS	       50u
#define LEAST_INTERVAL UINT64_C(100000000) /* ns */
#define MOST_INTERVAL  UINT64_C(86400000000000)

/* The expression of --where. In each boot, it is bound to the events of that boot. */
struct condition {
	const char *name; /* text that begins each message */
	const char *text; /* text of the expression; NULL: there is none */
	struct filter *filter;
	struct live_model *model;
	uint64_t boot; /* number of the boot to whose events the expression is bound; 0: none */
	bool bound;
};

struct live {
	const char *name; /* text that begins each message */
	struct condition condition;
	struct live_guest guest;
	struct live_filter filter;
	uint64_t interval, count, tail;
	bool lines, json, list;
	struct live_guests guests;
};

/* The output on a screen. */
struct screened {
	struct live *live;
	struct live_screen *screen;
	struct live_view view; /* the data that the screen shows */
	uint64_t look_again;   /* time in ns of the next search for guests */
	bool asked;	       /* true if the list of guests was shown, because there were several */
};

/* The output as lines. `boot`: number of the last boot for which the patterns were checked. */
struct shown {
	const char *name; /* text that begins each message */
	struct live_lines lines;
	uint64_t boot;
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

/*
 * Returns whether an event matches --where. If the events of this boot lack a field of the expression, no
 * event matches.
 */
static bool fulfils(void *context, struct ktread *trace, const struct ktread_event *event)
{
	struct condition *condition = context;

	if (condition->boot != condition->model->boots) {
		condition->boot = condition->model->boots;
		condition->bound =
			trace_where_bind(condition->name, condition->text, condition->filter, trace) == 0;
	}
	return condition->bound && filter_accepts(condition->filter, event);
}

/* Parses the expression of --where, and refuses times in it. Returns 0 or an exit status. */
static int parse_condition(struct live *live)
{
	struct condition *condition = &live->condition;
	int status;

	if (!condition->text)
		return 0;
	condition->name = live->name;
	status = trace_where_parse(live->name, condition->text, &condition->filter);
	if (status || !filter_uses_time(condition->filter))
		return status;
	command_message(live->name, "--where: the events of a running guest cannot be selected by time");
	filter_free(condition->filter);
	return command_usage(live->name);
}

static int take_cpus(struct live_filter *filter, const char *text)
{
	uint8_t map[sizeof(filter->cpus)] = { 0 };

	if (*text && trace_parse_cpus(text, map, LIVE_CPUS_MAX))
		return -1;
	filter->some_cpus = *text != '\0';
	memcpy(filter->cpus, map, sizeof(map));
	return 0;
}

static int take_filter(struct live_filter *filter, char what, const char *text)
{
	uint64_t number;

	if (what == 'c')
		return take_cpus(filter, text);
	if (what == 'e') {
		if (strlen(text) >= sizeof(filter->events))
			return -1;
		strcpy(filter->events, text);
		return 0;
	}
	if (*text && trace_parse_number(text, UINT32_MAX, &number))
		return -1;
	filter->pid = *text ? (int64_t)number : -1;
	return 0;
}

/*
 * Sets the filters from --event, --cpu and --pid. On the screen, the user can change them by the keys e, c
 * and p.
 */
static const char *set_filter(void *to, const char *value, const struct option_row *row)
{
	struct live_filter *filter = to;
	const struct live_filter before = *filter;
	const char *text = *row->name == 'e' ? options_join(before.events, value) : value;

	if (text && take_filter(filter, row->name[0], text) == 0) {
		for (size_t n = 0; *row->name == 'c' && n < sizeof(before.cpus); n++)
			filter->cpus[n] |= before.cpus[n];
		return NULL;
	}
	return row->name[0] == 'c' ? TRACE_CPUS_WANTED : "";
}

#define AT(member) .to = offsetof(struct live, member)
static const struct option_row rows[] = {
	{ "lines", 0, NULL, "print one line per interval; the default if standard output is not a terminal",
	  options_set_flag, AT(lines) },
	{ "json", 0, NULL, "print one JSON object per interval", options_set_flag, AT(json),
	  .instead = true },
	{ "interval", 0, "TIME",
	  "set the time between two updates, in seconds or with a unit, such as 0.5 or 250ms (1)",
	  options_set_time, AT(interval), .least = LEAST_INTERVAL, .most = MOST_INTERVAL },
	{ "count", 0, "N", "end after N intervals", options_set_number, AT(count), .least = 1 },
	{ "tail", 0, "N", "before each line, print the N newest events", options_set_number, AT(tail),
	  .most = LIVE_TAIL_LINES },
	{ "event", 0, "PATTERNS",
	  "of the newest events, show only these: syscall, sched.switch, 'net.*'; separate several "
	  "by commas",
	  set_filter, AT(filter) },
	{ "cpu", 0, "LIST", "of the newest events, show only those of these CPUs: 0,2-5", set_filter,
	  AT(filter) },
	{ "pid", 0, "N", "of the newest events, show only those of this thread", set_filter, AT(filter),
	  .once = true },
	{ "list", 0, NULL, "list all guests of this user, in whatever directory their files are, and end",
	  options_set_flag, AT(list) },
	{ "where", 0, "EXPRESSION",
	  "of the newest events, show only those for which EXPRESSION is true; see ktrace-filter(7)",
	  options_set_text, AT(condition.text), .once = true },
	{ "frequency", 0, "HZ", "use this clock frequency, instead of the one that the guest reports",
	  options_set_number, AT(guest.options.frequency), .least = 1, .most = KTREAD_FREQUENCY_MOST },
	{ "machine", 0, "ARCH",
	  "use this architecture if the file does not name one: x86_64, aarch64 or riscv64",
	  trace_set_machine, AT(guest.options.machine) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace live [OPTION]... [FILE]",
	.about =
		"Shows what a running guest does: its CPUs, the rate of events, "
		"threads, locks, interrupts, calls and the newest events. "
		"FILE is the RAM file of the guest; without FILE, the newest RAM file that 'ktrace run' has "
		"created in this directory. If this directory has none, the screen shows the guest that runs "
		"elsewhere, or a list to choose from. If no guest is running, waits for one.",
	.lists = { rows },
	.end = "Keys of the screen: ? shows all keys; q or Ctrl-C quits.\n"
	       "\n"
	       "Status: 0 a guest was seen, 1 no guest was seen, or the file cannot be the RAM of a guest.\n"
	       "\n"
	       "Examples:\n"
	       "  ktrace live\n"
	       "  ktrace live --json --count 10 guest.ram\n"
	       "  ktrace live --lines --tail 5 --event 'sched.*' guest.ram\n",
};

/* Parses the command line. Returns -1 to continue; otherwise the exit status. */
static int parse(struct live *live, int argc, char **argv)
{
	struct options line = { .syntax = &syntax, .by = live->name, .to = live };
	int status = options_parse(&line, argc, argv);
	const char *why = NULL;
	bool chosen;

	if (status >= 0)
		return status;
	if (optind + 1 < argc)
		return options_refuse(&line, "only one file can be given");
	chosen = options_given(&line, "event cpu pid where") != NULL;
	live->guest.given = argv[optind];
	live->lines = live->lines || live->json || !isatty(STDOUT_FILENO);
	if (live->list && options_given(&line, "lines json interval count tail event cpu pid where"))
		why = "--list watches no guest: it cannot be combined with options for output";
	else if (live->list && live->guest.given)
		why = "--list finds all guests: no file can be given";
	else if (live->json && (live->tail || chosen))
		why = "--json does not show the newest events: it cannot be combined with --tail, --event, "
		      "--cpu, --pid or --where";
	else if (live->lines && !live->tail && chosen)
		why = "--event, --cpu, --pid and --where select among the newest events, "
		      "which are printed between lines only with --tail";
	else if (!live->lines && live->tail)
		why = "--tail needs --lines: the screen shows as many events as fit";
	if (why)
		return options_refuse(&line, why);
	status = parse_condition(live);
	return status ? status : -1;
}

static void catch_signals(void)
{
	const struct sigaction action = { .sa_handler = stop };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/*
 * Warns about patterns of --event that match no event. Does so once for each boot, because the next kernel
 * may have other events.
 */
static void print_unknown(struct shown *shown, const struct live_model *model)
{
	const struct ktread *trace = live_model_trace(model);
	char text[LIVE_UNKNOWN_TEXT];

	if (!trace || shown->boot == model->boots)
		return;
	shown->boot = model->boots;
	if (live_filter_unknown(&model->tail.filter, trace, text))
		command_message(shown->name, "%s", text);
}

static int show_lines(void *context, struct live_model *model)
{
	struct shown *shown = context;

	print_unknown(shown, model);
	live_lines_write(&shown->lines, model);
	return shown->lines.out->error != 0;
}

static int watch(const struct live *live, struct live_model *model, const struct live_view *view)
{
	const struct live_watch watch = { model->source, live->interval, live->count, &stopped };

	return live_watch(&watch, model, view);
}

/* Prints lines about the guest. Stores in *error the errno of a failed write, or 0. */
static int run_lines(const struct live *live, struct live_model *model, int *error)
{
	struct base_output out;
	struct shown shown = { .name = live->name,
			       .lines = { .out = &out, .json = live->json, .tail = (uint32_t)live->tail } };
	const struct live_view view = { .context = &shown, .show = show_lines };
	int status;

	if (base_output_open(&out, STDOUT_FILENO) < 0)
		return KTREAD_E_MEMORY;
	base_output_schema(&out, live->json ? "ktrace-live/1" : NULL);
	status = watch(live, model, &view);
	*error = base_output_close(&out);
	return status;
}

#define LOOK_AGAIN UINT64_C(1000000000) /* ns */

/*
 * Searches for other guests if there is none in the current directory. Shows a single guest; if there are
 * several, shows the list once. Returns true if something has changed.
 */
static bool look_elsewhere(struct screened *screened, struct live_ui *ui)
{
	struct live_guest *guest = &screened->live->guest;
	struct timespec time;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &time);
	now = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
	if (now < screened->look_again || screened->asked || !live_guest_is_missing(guest))
		return false;
	screened->look_again = now + LOOK_AGAIN;
	live_guests_find(&ui->guests, "/proc");
	if (ui->guests.count == 1)
		live_guest_choose(guest, ui->guests.guest[0].path);
	screened->asked = ui->choosing = ui->guests.count > 1;
	return ui->guests.count > 0;
}

static int show_screen(void *context, struct live_model *model)
{
	const struct screened *screened = context;

	return screened->view.show(screened->view.context, model);
}

static int attend_screen(void *context, struct live_model *model)
{
	struct screened *screened = context;
	struct live_ui *ui = live_screen_ui(screened->screen);
	int result = screened->view.attend(screened->view.context, model);

	if (ui->chosen[0])
		live_guest_choose(&screened->live->guest, ui->chosen);
	ui->chosen[0] = '\0';
	if (result == 0 && look_elsewhere(screened, ui))
		result = 2;
	return result;
}

static int run_view(struct live *live, struct live_model *model, int *error)
{
	struct screened screened = { .live = live };
	const struct live_view view = { &screened, show_screen, attend_screen };
	const char *why;
	int status;

	if (!live->lines) {
		screened.screen = live_screen_open(&screened.view, take_filter, &why);
		if (!screened.screen)
			command_message(live->name, "%s", why);
	}
	if (!screened.screen)
		return run_lines(live, model, error);
	status = watch(live, model, &view);
	live_screen_close(screened.screen);
	return status;
}

/* Prints a list of this user's guests. Returns the exit status. */
static int list_guests(struct live *live)
{
	live_guests_find(&live->guests, "/proc");
	live_guests_write(&live->guests, stdout, "");
	if (live->guests.count == 0)
		command_message(live->name, "no QEMU of this user has its memory in a file");
	return command_flush(live->name) | (live->guests.count ? EXIT_SUCCESS : EXIT_BAD_INPUT);
}

/*
 * Prints a message about guests in other directories, if lines are printed and there is no guest in the
 * current directory.
 */
static void hint_elsewhere(struct live *live)
{
	if (!live->lines || !live_guest_is_missing(&live->guest))
		return;
	live_guests_find(&live->guests, "/proc");
	if (live->guests.count)
		command_message(
			live->name,
			"no guest in this directory; %u elsewhere: 'ktrace live --list' shows their files",
			live->guests.count);
}

static int run(struct live *live)
{
	struct live_source source;
	struct live_model model;
	struct stat about;
	int status, error = 0;

	/* a file that does not exist yet may be created later, but a directory never becomes a RAM file */
	if (live->guest.given && stat(live->guest.given, &about) == 0 && S_ISDIR(about.st_mode)) {
		command_message(live->name, "%s: a directory, not the RAM file of a guest",
				live->guest.given);
		return EXIT_BAD_INPUT;
	}
	live_guest_open(&live->guest, &source);
	hint_elsewhere(live);
	status = live_model_open(&model, &source);
	if (status == 0) {
		if (live->condition.text) {
			live->condition.model = &model;
			live->filter.accept = fulfils;
			live->filter.context = &live->condition;
		}
		model.tail.filter = live->filter;
		status = run_view(live, &model, &error);
		live_model_close(&model);
	}
	live_guest_close(&live->guest);
	filter_free(live->condition.filter);
	if (status < 0)
		command_message(live->name, "%s",
				status == KTREAD_E_MEMORY ? "out of memory" : live->guest.why);
	else if (model.boots == 0)
		command_message(live->name, "%s: no guest was seen", live->guest.path);
	status = status < 0 || model.boots == 0 ? EXIT_BAD_INPUT : EXIT_SUCCESS;
	return trace_output_status(live->name, "standard output", error) | status;
}

static int run_live(int argc, char **argv)
{
	static struct live live;
	int status;

	live = (struct live){ .name = argv[0],
			      .interval = UINT64_C(1000000000),
			      .filter.pid = -1,
			      .guest = { .usual = TRACE_USUAL_FILE,
					 .measure = capture_measure,
					 .options = { .interval_ms = LOOK_MS, .sample = SAMPLE } } };

	status = parse(&live, argc, argv);
	if (status >= 0)
		return status;
	if (live.list)
		return list_guests(&live);
	if (live.guest.options.frequency)
		live.guest.measure = NULL;
	catch_signals();
	return run(&live);
}

const struct command command_live = {
	.name = "live",
	.purpose = "show what a running guest does, on a screen or line by line",
	.run = run_live,
};
