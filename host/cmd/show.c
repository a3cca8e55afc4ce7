/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace show: prints the timeline, or draws a part of it as a picture. */
#include "cmd/show.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/note.h"
#include "base/escape.h"
#include "base/output.h"
#include "cmd/command.h"
#include "cmd/terminal.h"
#include "cmd/trace_args.h"
#include "export/timeline.h"
#include "export/views.h"

int show_symbols_open(struct symbols **symbols, const char *elf, const struct ktread *trace, const char *name)
{
	int status;

	*symbols = NULL;
	if (!elf)
		return 0;
	status = symbols_open(symbols, elf, ktread_info(trace));
	if (status == SYMBOLS_E_MACHINE) {
		command_message(name, "WARNING: %s: addresses are shown without names", symbols_message());
		return 0;
	}
	if (status != SYMBOLS_OK)
		command_message(name, "%s%s", status == SYMBOLS_OTHER_BUILD ? "WARNING: " : "",
				symbols_message());
	return status < 0 ? EXIT_BAD_INPUT : 0;
}

#define NAME_BYTES 100u

/* Writes a word of the trace's text, escaped and truncated to NAME_BYTES. */
static void write_escaped(struct base_output *out, const char *text)
{
	char safe[NAME_BYTES];
	char *end = base_escape_text(safe, text, strlen(text), sizeof(safe) - 1);

	*end = '\0';
	base_output_text(out, safe);
}

static void write_place(struct base_output *out, struct symbols *symbols, uint64_t address)
{
	struct symbol symbol;

	if (symbols_find(symbols, address, &symbol) != 0)
		return;
	base_output_text(out, " ");
	write_escaped(out, symbol.function);
	base_output_format(out, "+0x%" PRIx64, symbol.offset);
	if (!symbol.file)
		return;
	base_output_text(out, " (");
	write_escaped(out, symbol.file);
	base_output_format(out, ":%" PRIu32 ")", symbol.line);
}

/*
 * Writes "NAME=HEX". After pc, also writes the function at that address. In a line of return addresses,
 * writes each address on a line of its own, with the place of the call.
 */
static void write_word(struct base_output *out, struct symbols *symbols, const char *word, uint32_t n,
		       bool is_stack)
{
	bool is_return = symbols && is_stack && n >= 2;

	base_output_text(out, is_return ? "\n    " : n ? " " : "");
	write_escaped(out, word);
	if (is_return)
		write_place(out, symbols, strtoull(word, NULL, 16) - 1);
	else if (symbols && strncmp(word, "pc=", 3) == 0)
		write_place(out, symbols, strtoull(word + 3, NULL, 16));
}

/*
 * Finds the CPUs that ran a user program. If a CPU has several lines, uses the first one. One pass suffices,
 * however many lines a hostile text has.
 */
static void find_users(const char *all, bool users[KTRX_MAX_RINGS])
{
	bool seen[KTRX_MAX_RINGS] = { false };

	for (const char *line = all; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const bool is_cpu = strncmp(line, "cpu ", 4) == 0;
		const unsigned long cpu = is_cpu ? strtoul(line + 4, NULL, 10) : KTRX_MAX_RINGS;

		if (cpu >= KTRX_MAX_RINGS || seen[cpu])
			continue;
		seen[cpu] = true;
		users[cpu] = privilege_of(line) == PRIVILEGE_USER;
	}
}

/* Returns whether the CPU to which the line belongs ran a user program. */
static bool is_user(const bool users[KTRX_MAX_RINGS], const char *line)
{
	const size_t head = strncmp(line, "cpu ", 4) == 0 ? 4 : strncmp(line, "stack ", 6) == 0 ? 6 : 0;
	const unsigned long cpu = head ? strtoul(line + head, NULL, 10) : KTRX_MAX_RINGS;

	return cpu < KTRX_MAX_RINGS && users[cpu];
}

/*
 * Writes the CPUs' registers in whole lines, even if the text has no last line feed. Only addresses of the
 * kernel get names, because `kernel` has no symbols of programs. Returns 0, or KTREAD_E_ABSENT if the trace
 * has no registers.
 */
static int show_registers(const struct ktread *trace, struct symbols *kernel, struct base_output *out)
{
	const char *all = ktread_info(trace)->registers, *at = all;
	bool users[KTRX_MAX_RINGS] = { false };
	char word[64];

	if (!*at)
		return KTREAD_E_ABSENT;
	find_users(all, users);
	for (; *at; at += *at == '\n') {
		const bool is_stack = strncmp(at, "stack ", 6) == 0;
		struct symbols *symbols = is_user(users, at) ? NULL : kernel;
		uint32_t n = 0; /* number of words written on this line so far */

		for (; *at && *at != '\n'; at += *at == ' ') {
			const size_t length = strcspn(at, " \n");

			snprintf(word, sizeof(word), "%.*s",
				 length < sizeof(word) ? (int)length : (int)sizeof(word) - 1, at);
			if (length)
				write_word(out, symbols, word, n++, is_stack);
			at += length;
		}
		base_output_text(out, "\n");
	}
	return 0;
}

struct show {
	struct trace_args args;
	uint64_t limit;
	bool json, hex, settings, registers, subtract, follow, ids;
	const char *elf;
	struct symbols *symbols;
	const char *svg;
	const char *id; /* the ids to show; NULL: show all events */
	struct show_chosen chosen;
};

#define AT(member) .to = offsetof(struct show, member)
static const struct option_row rows[] = {
	{ "limit", 0, "N", "stop after N events", options_set_number, AT(limit), .least = 1 },
	{ "json", 0, NULL, "print one JSON object per event", options_set_flag, AT(json) },
	{ "hex", 0, NULL, "show the bytes of each event's slots, and their decoded heads (version 2)",
	  options_set_flag, AT(hex), .instead = true },
	{ "svg", 0, "OUT",
	  "draw a picture into OUT instead: what runs on each CPU, calls, faults, interrupts",
	  options_set_text, AT(svg), .instead = true },
	{ "settings", 0, NULL, "show the states of events and settings, instead of events", options_set_flag,
	  AT(settings) },
	{ "registers", 0, NULL, "show the CPUs' registers, if they were captured, instead of events",
	  options_set_flag, AT(registers) },
	{ "elf", 0, "KERNEL", "take names and lines of callers and sites from this ELF file of the kernel",
	  options_set_text, AT(elf) },
	{ "ids", 0, NULL, "show each event's id, RING.SLOT, which 'ktrace goto' accepts", options_set_flag,
	  AT(ids) },
	{ "id", 0, "RING.SLOT,...", "show only the events with these ids, each marked with >",
	  options_set_text, AT(id) },
	{ "around", 0, "N",
	  "with --id: also show the N events of all CPUs before and after each of these events",
	  options_set_number, AT(chosen.around), .most = SHOW_AROUND_MOST },
	{ "subtract-cost", 0, NULL,
	  "subtract from each event's time the cost of recording the earlier events of its CPU "
	  "that are shown",
	  options_set_flag, AT(subtract) },
	{ "follow", 0, NULL,
	  "also print what a running guest records later, until it ends or Ctrl-C; FILE is its RAM file",
	  options_set_flag, AT(follow) },
	{ "from", 0, "TIME", "the same as --since", options_set_text, AT(args.since), .once = true },
	{ "to", 0, "TIME", "the same as --until", options_set_text, AT(args.until), .once = true },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace show [OPTION]... [FILE]",
	.about = "Shows a trace as a timeline, one line per event, merged over all CPUs. "
		 "FILE is a dump of version 1 or 2, the RAM file of a guest that runs or has ended, "
		 "or an ELF core of a guest. Without FILE, shows ktrace.ktrx, which 'ktrace run' writes.",
	.lists = { rows, budget_list_options, trace_thread_options, trace_event_options, trace_where_options,
		   trace_file_options, trace_hardware_options, trace_machine_options, trace_layout_options,
		   trace_calls_options, terminal_options },
	.end = "Examples:\n"
	       "  ktrace show boot.ktrx\n"
	       "  ktrace show --cpu 1 --event 'sched.*,irq' --since 1.25 --until 1.30 boot.ktrx\n"
	       "  ktrace show --svg window.svg --from 120ms --to 125ms boot.ktrx\n"
	       "  ktrace show --form bare --frequency 2600000000 --pid 12 records.bin\n",
};

/* Reports the cost of tracing. Does nothing if the cost is unknown or only a part of the trace was shown. */
static void print_cost(const struct show *show, const struct timeline *timeline)
{
	const struct ktread_info *info = ktread_info(timeline->trace);
	const uint32_t cpus = ktread_cpus_used(info);
	uint64_t cost = cost_of(timeline->trace);

	/* a merged trace contains events of other recorders, whose costs differ */
	for (uint32_t n = 0; n < info->rings; n++)
		if (ktread_ring(timeline->trace, n)->kind == KTREAD_RING_BESIDE)
			return;
	if (cost == 0 || info->frequency == 0 || timeline->filtered || timeline->last <= timeline->base)
		return;
	command_message(show->args.name, "recording took %.1f ns an event, %s%.3f%% of the time of %u CPU%s",
			(double)cost * 1e6 / (double)info->frequency, timeline->lost ? "at least " : "",
			100 * cost_share(cost, timeline->shown, timeline->last - timeline->base, cpus), cpus,
			cpus == 1 ? "" : "s");
}

/* Checks that the options are compatible. Returns 0 or EXIT_USAGE. */
static int check_command(const struct show *show)
{
	const bool hex = show->hex, timed = show->subtract || show->elf;
	const char *why = NULL, *way = NULL;

	if (show->registers || show->settings)
		way = options_given(&show->args.line, "with frequency v1-layout raw-clock align ids");
	if (way) {
		command_message(show->args.name, "%s applies to events, which --%s does not show", way,
				show->registers ? "registers" : "settings");
		return command_usage(show->args.name);
	}
	if (show->follow)
		way = options_given(&show->args.line, "form with v1-layout raw-clock align ids id around");
	if (way) {
		command_message(show->args.name,
				"%s needs a complete trace: it cannot be combined with --follow", way);
		return command_usage(show->args.name);
	}
	if (options_given(&show->args.line, "around") && !show->id)
		why = "--around needs --id";
	else if (show->id && (show->subtract || show->settings || show->registers || show->svg ||
			      show->limit || trace_args_filtered(&show->args)))
		why = "--id chooses the events: it cannot be combined with filters, --limit, --svg, "
		      "--settings, --registers or --subtract-cost";
	else if (show->registers && (hex || show->subtract || show->settings || show->svg || show->json ||
				     show->limit || trace_args_filtered(&show->args)))
		why = "--registers shows no events: it cannot be combined with filters or with output "
		      "options other than --elf";
	else if (show->settings &&
		 (hex || timed || show->svg || show->limit || trace_args_filtered(&show->args)))
		why = "--settings shows no events: it cannot be combined with filters or with output "
		      "options other than --json";
	else if (show->svg && (hex || timed || show->json || show->limit || show->ids))
		why = "--svg draws a picture: it cannot be combined with --hex, --json, --limit, --ids, "
		      "--elf or --subtract-cost";
	else if (show->follow && (hex || show->json || show->subtract || show->settings || show->registers ||
				  show->svg || show->args.since || show->args.until))
		why = "--follow shows lines as they arrive: it cannot be combined with --json, --hex, --svg, "
		      "--settings, --registers, --subtract-cost, --since or --until";
	else if (hex && (timed || show->json || show->ids))
		why = "--hex shows slots as they are: it cannot be combined with --json, --ids, "
		      "--elf or --subtract-cost";
	return why ? options_refuse(&show->args.line, why) : 0;
}

static int write_registers(const struct show *show, const struct ktread *trace, struct base_output *out)
{
	if (show_registers(trace, show->symbols, out) != 0)
		command_message(show->args.name,
				"no registers in this trace: 'ktrace run' captures them, "
				"and so does 'ktrace extract' of a core or with --qmp or --gdb");
	return 0;
}

static int show_trace(struct show *show, struct ktread *trace, struct base_output *out)
{
	struct timeline timeline = {
		.trace = trace,
		.out = out,
		.limit = show->limit,
		.ids = show->ids,
		.cpus = show->args.cpu_list ? show->args.cpus : NULL,
		.marked = show->id ? show->chosen.id : NULL,
		.marked_count = show->chosen.count,
		.filtered = show->id || trace_args_filtered(&show->args),
		.symbols = show->symbols,
	};
	int result;

	if (show->registers)
		return write_registers(show, trace, out);
	if (show->settings)
		return settings_write(trace, out, show->json);
	if (show->subtract) {
		trace_warn_of_cost(&show->args, trace);
		timeline.meter = calloc(1, sizeof(*timeline.meter));
		if (!timeline.meter)
			return KTREAD_E_MEMORY;
		timeline.meter->cost = cost_of(trace);
	}
	result = show->json  ? lines_write(&timeline)
		 : show->hex ? slots_write(&timeline)
			     : classic_timeline(&timeline);
	if (result == 0)
		print_cost(show, &timeline);
	free(timeline.meter);
	return result;
}

/* Follows a running guest. Returns -1 if the file cannot be followed. */
static int follow(struct show *show)
{
	struct base_output out;
	int status, error;

	if (base_output_open(&out, STDOUT_FILENO) < 0) {
		command_message(show->args.name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	terminal_prepare(&out, false);
	status = show_follow(&show->args, show->elf, show->limit, &out);
	error = trace_output_status(show->args.name, "standard output", base_output_close(&out));
	return error ? error : status;
}

/* ---- --svg: a picture of a part of the trace ---- */

/*
 * Draws the picture into an open file. Returns the result of reading; stores the errno of a failed write in
 * *error.
 */
static int draw(struct window *window, int fd, int *error)
{
	struct base_output out;
	int status;

	if (base_output_open(&out, fd) < 0) {
		*error = ENOMEM;
		return 0;
	}
	window->out = &out;
	status = window_write(window);
	*error = base_output_close(&out);
	return status;
}

/* Finds the timestamps at which the time window begins and ends. Returns 0, or EXIT_USAGE after a message. */
static int find_ends(const struct trace_args *args, struct window *window, const char *from, const char *to)
{
	const uint64_t frequency = ktread_info(window->trace)->frequency;

	if (from && trace_stamp(window->trace, from, TRACE_MOMENT, &window->from))
		return trace_bad_time(args->name, "--from", from, frequency);
	if (to && trace_stamp(window->trace, to, TRACE_MOMENT, &window->to))
		return trace_bad_time(args->name, "--to", to, frequency);
	if (window->from <= window->to)
		return 0;
	command_message(args->name, "the window ends before it begins");
	return EXIT_USAGE;
}

/* Draws the time window from args->since to args->until into the file `to`. Returns the exit status. */
static int show_window(struct trace_args *args, const char *to)
{
	const char *from = args->since, *until = args->until;
	struct window window = { .to = UINT64_MAX };
	int status, failed, fd, error;

	/* set no filter, because the window also needs events before its beginning */
	args->since = args->until = NULL;
	status = trace_args_open(args, &window.trace);
	if (status)
		return status;
	window.from = ktread_first_stamp(window.trace);
	status = find_ends(args, &window, from, until);
	fd = status ? -1 : output_file_open(args, to);
	if (fd < 0) {
		failed = trace_args_close(args, window.trace, 0);
		return status ? status : failed | EXIT_BAD_INPUT;
	}
	status = draw(&window, fd, &error);
	failed = output_file_close(args, to, fd, error);
	status = trace_args_close(args, window.trace, status);
	if (!failed && window.events == 0)
		command_message(args->name, "no event is in this window: the picture is empty");
	else if (!failed)
		command_message(args->name,
				"%llu events; %llu elements too close together to be drawn, %llu left out",
				(unsigned long long)window.events, (unsigned long long)window.close,
				(unsigned long long)window.left_out);
	return failed | status;
}

static int run_show(int argc, char **argv)
{
	struct show show = { .args = { TRACE_ARGS(&syntax, argv[0]), .beside = TRACE_BESIDE_ENTRIES,
				       .shows_calls = true } };
	struct ktread *trace;
	struct base_output out;
	int status = trace_args_parse(&show.args, argc, argv), error, absent;

	if (status >= 0)
		return status;
	status = check_command(&show);
	if (status)
		return status;
	if (show.elf && show.args.with_elf.count == 0)
		show.args.with_elf.word[show.args.with_elf.count++] = show.elf;
	if (show.follow) {
		status = follow(&show);
		if (status >= 0)
			return status;
	}
	show.chosen.name = show.args.name;
	status = show.id ? show_chosen_parse(&show.chosen, show.id) : 0;
	if (status)
		return status;
	show.ids |= show.id != NULL;
	/* an id may be missing because its event is outside the window */
	show.args.whole = show.id != NULL;
	if (show.svg)
		return show_window(&show.args, show.svg);
	status = trace_args_open(&show.args, &trace);
	if (status)
		return status;
	status = show_symbols_open(&show.symbols, show.elf, trace, show.args.name);
	if (status)
		return trace_args_close(&show.args, trace, 0) | status;
	if (base_output_open(&out, STDOUT_FILENO) < 0) {
		command_message(show.args.name, "out of memory");
		symbols_close(show.symbols);
		return trace_args_close(&show.args, trace, 0) | EXIT_BAD_INPUT;
	}
	if (!show.json)
		terminal_prepare(&out, true);
	base_output_schema(&out, show.json ? "ktrace-show/1" : NULL);
	progress_start(show.args.name, trace, &out);
	absent = show.id ? show_chosen_find(&show.chosen, trace) : 0;
	status = absent && !show.chosen.shown_count ? 0 : show_trace(&show, trace, &out);
	error = base_output_close(&out);
	symbols_close(show.symbols);
	show_chosen_free(&show.chosen);
	status = trace_args_close(&show.args, trace, status);
	return trace_output_status(show.args.name, "standard output", error) | status | absent;
}

const struct command command_show = {
	.name = "show",
	.purpose = "show a trace as a timeline",
	.run = run_show,
};
