/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Opens a trace with the options of the command line: measures its clock, names its system calls, aligns
 * clocks, sets filters, and prints warnings.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/order.h"
#include "analyze/event_name.h"
#include "analyze/note.h"
#include "analyze/symbols.h"
#include "analyze/wellknown.h"
#include "base/machine.h"
#include "capture/watch.h"
#include "cmd/command.h"
#include "cmd/terminal.h"
#include "cmd/trace_args.h"

/* Returns the name of the trace in messages. */
static const char *shown(const struct trace_args *args)
{
	return args->shown ? args->shown : args->path;
}

static int mark_events(const struct ktread *trace, const char *pattern, uint8_t *map)
{
	uint64_t number;
	int found = 0;

	if (trace_parse_number(pattern, KTRX_EVENT_MAX, &number) == 0) {
		map[number / 8] |= (uint8_t)(1u << number % 8);
		return 1;
	}
	for (uint32_t id = 0; id <= KTRX_EVENT_MAX; id++) {
		const struct ktread_type *type = ktread_type(trace, id);

		if (type && pattern_means(pattern, type)) {
			map[id / 8] |= (uint8_t)(1u << id % 8);
			found = 1;
		}
	}
	return found;
}

int trace_mark_events(const struct trace_args *args, const struct ktread *trace, const char *patterns,
		      uint8_t *map)
{
	char *list = strdup(patterns), *rest = list, *pattern, text[SUGGESTIONS_TEXT];
	struct suggestions similar;
	int status = 0;

	if (!list) {
		command_message(args->name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	while (!status && (pattern = strsep(&rest, ","))) {
		if (*pattern && mark_events(trace, pattern, map))
			continue;
		suggestions_start(&similar, pattern, strlen(pattern));
		suggestions_offer_events(&similar, trace);
		suggestions_text(&similar, text, sizeof(text));
		command_message(args->name, "%s has no event '%s'%s", args->path, pattern, text);
		status = EXIT_USAGE;
	}
	free(list);
	return status;
}

int trace_stamp(struct ktread *trace, const char *text, enum trace_moment moment, uint64_t *stamp)
{
	uint64_t frequency = ktread_info(trace)->frequency, base = ktread_first_stamp(trace);
	uint64_t ticks;

	if (trace_parse_ticks(text, frequency, moment, &ticks))
		return -1;
	if (__builtin_add_overflow(base, ticks, stamp))
		*stamp = UINT64_MAX;
	/* If a clock was set back, events may come before the first one. Timelines show 0 for them. */
	if (ticks == 0 && moment == TRACE_MOMENT_FIRST)
		*stamp = 0;
	return 0;
}

int trace_args_filtered(const struct trace_args *args)
{
	return args->pid >= 0 || args->cpu_list || args->events || args->since || args->until || args->where;
}

/*
 * Checks --cpu. The list may contain CPUs that are not in the trace, but at least one CPU of the list must be
 * in the trace.
 */
static int check_cpus(const struct trace_args *args, const struct ktread *trace)
{
	const struct ktread_info *info = ktread_info(trace);

	/* a trace of records without a header does not show which CPUs exist */
	if (info->records_only && info->cpus == 0)
		return 0;
	for (uint32_t n = 0; n < info->rings; n++) {
		uint32_t cpu = ktread_ring(trace, n)->cpu;

		if (cpu < TRACE_CPUS_MAX && args->cpus[cpu / 8] >> cpu % 8 & 1)
			return 0;
	}
	for (uint32_t cpu = 0; cpu < info->cpus && cpu < TRACE_CPUS_MAX; cpu++)
		if (args->cpus[cpu / 8] >> cpu % 8 & 1)
			return 0;
	command_message(args->name, "%s has %u CPU%s, and --cpu %s selects none of them", args->path,
			info->cpus, info->cpus == 1 ? "" : "s", args->cpu_list);
	return EXIT_USAGE;
}

/*
 * Warns if the filters match no event, because the output would look as if the trace were empty. Reads the
 * trace up to the first event that matches, and rewinds it. Returns 0 or EXIT_BAD_INPUT.
 */
static int warn_if_nothing(const struct trace_args *args, struct ktread *trace)
{
	const struct ktread_event *event;
	char pid[32] = "", where[200] = "";
	int status = args->options.window ? ktread_rewind(trace) : 0;

	if (args->where)
		command_word(args->where, where, sizeof(where));
	if (status == 0 && ktread_next(trace, &event) == 0) {
		if (args->pid >= 0)
			snprintf(pid, sizeof(pid), " --pid %" PRId64, args->pid);
		command_message(args->name, "%s: no event matches all of:%s%s%s%s%s%s%s%s%s%s%s", args->path,
				pid, args->cpu_list ? " --cpu " : "", args->cpu_list ? args->cpu_list : "",
				args->events ? " --event " : "", args->events ? args->events : "",
				args->since ? " --since " : "", args->since ? args->since : "",
				args->until ? " --until " : "", args->until ? args->until : "",
				args->where ? " --where " : "", where);
	}
	if (ktread_rewind(trace) == 0)
		return 0;
	command_message(args->name, "%s", ktread_message(trace));
	return EXIT_BAD_INPUT;
}

static int set_filter(struct trace_args *args, struct ktread *trace)
{
	struct ktread_filter filter = { .size = sizeof(filter), .thread = args->pid };
	int status;

	if (!trace_args_filtered(args))
		return 0;
	if (args->cpu_list) {
		status = check_cpus(args, trace);
		if (status)
			return status;
		filter.cpus = args->cpus;
		filter.cpu_count = TRACE_CPUS_MAX;
	}
	if (args->events) {
		status = trace_mark_events(args, trace, args->events, args->event_map);
		if (status)
			return status;
		filter.events = args->event_map;
	}
	if (args->since && trace_stamp(trace, args->since, TRACE_MOMENT_FIRST, &filter.since))
		return trace_bad_time(args->name, "--since", args->since, ktread_info(trace)->frequency);
	if (args->until && trace_stamp(trace, args->until, TRACE_MOMENT_LAST, &filter.until))
		return trace_bad_time(args->name, "--until", args->until, ktread_info(trace)->frequency);
	if (args->since && args->until && filter.since > filter.until) {
		command_message(args->name, "the window ends before it begins: %s to %s", args->since,
				args->until);
		return EXIT_USAGE;
	}
	if (args->where) {
		status = trace_where_bind(args->name, args->where, args->filter, trace);
		if (status)
			return status;
		trace_where_narrow(args, &filter);
	}
	if (ktread_set_filter(trace, &filter) < 0) {
		command_message(args->name, "%s", ktread_message(trace));
		return EXIT_BAD_INPUT;
	}
	return warn_if_nothing(args, trace);
}

static void print_warnings(const struct trace_args *args, struct ktread *trace)
{
	const char *warning;

	while ((warning = ktread_warning(trace)))
		command_message(args->name, "%s", warning);
}

static int align(const struct trace_args *args, struct ktread *trace)
{
	struct align_report report;
	int status;

	if (args->options.raw_clock) {
		command_message(args->name, "--raw-clock and --align cannot be used together");
		return EXIT_USAGE;
	}
	status = align_clocks(trace, &report);
	if (status == KTREAD_E_UNSUPPORTED) {
		command_message(
			args->name,
			"%s: --align does not support version 1 or more than %u CPUs: times are as recorded",
			shown(args), ALIGN_CPUS_MAX);
		return 0;
	}
	if (status < 0) {
		command_message(args->name, "%s", ktread_message(trace));
		return EXIT_BAD_INPUT;
	}
	command_message(args->name,
			"%s: --align: %" PRIu64
			" effects on other CPUs; before their cause as recorded: %" PRIu64
			", after the correction: %" PRIu64,
			shown(args), report.pairs, report.before, report.kept ? report.before : report.after);
	if (report.kept)
		command_message(args->name,
				"%s: --align: found no offsets that bring more effects into order; "
				"clocks are unchanged",
				shown(args));
	else if (report.given_up)
		command_message(args->name,
				"%s: --align: ignored %" PRIu64 " contradictory pairs of cause and effect",
				shown(args), report.given_up);
	return 0;
}

/* Refuses --v1-layout if the trace is not of version 1. Returns 0 or EXIT_USAGE. */
static int check_layout(const struct trace_args *args, const struct ktread *trace)
{
	if (ktread_info(trace)->version == 1 || !options_given(&args->line, "v1-layout"))
		return 0;
	command_message(args->name, "%s: not a trace of version 1: --v1-layout cannot be used", args->path);
	return EXIT_USAGE;
}

/* Refuses a --machine that contradicts the machine in the trace. Returns 0 or EXIT_USAGE. */
static int check_machine(const struct trace_args *args, const struct ktread *trace)
{
	const struct ktread_info *info = ktread_info(trace);

	if (!args->options.machine || !info->machine ||
	    info->machine == base_machine_number(args->options.machine))
		return 0;
	command_message(args->name, "%s: has another architecture than --machine %s", args->path,
			args->options.machine);
	return EXIT_USAGE;
}

/*
 * If the trace is the RAM of a running guest whose kernel does not know the counter's frequency, measures the
 * frequency and reopens the trace.
 */
static int measure(struct trace_args *args, struct ktread **trace)
{
	uint64_t hz;

	if (ktread_info(*trace)->frequency || ktread_info(*trace)->form != KTREAD_FORM_RAM)
		return 0;
	hz = capture_measure(args->path, args->options.machine);
	if (!hz)
		return 0;
	command_message(
		args->name,
		"%s: the kernel does not know its clock frequency; measured while the guest runs: %" PRIu64
		" Hz (--frequency HZ sets it)",
		args->path, hz);
	args->options.frequency = hz;
	ktread_close(*trace);
	return ktread_open(trace, args->path, &args->options);
}

/* Returns whether the trace may contain system calls, but has no names for them. */
static bool has_nameless_calls(const struct ktread *trace)
{
	return ktread_syscall_names(trace) == 0 && (wellknown_declared(trace, WELLKNOWN_SYSCALL_ENTER) ||
						    wellknown_declared(trace, WELLKNOWN_SYSCALL_EXIT));
}

/*
 * Sets the names of system calls: from the table given with --calls or, without that option, from the trace
 * or a built-in table. If there are no names, prints a warning, and calls are shown by number. Returns 0 or
 * EXIT_BAD_INPUT.
 */
static int name_calls(const struct trace_args *args, struct ktread *trace)
{
	const char *text;
	char *owned;
	int status = 0;

	if (args->calls) {
		status = kdump_table_read(args->name, args->calls, &owned, &text);
		if (status)
			return status;
		status = foreign_calls_set_table(
			trace, text, args->options.machine ? base_machine_number(args->options.machine) : 0);
		free(owned);
		if (status >= 0 && ktread_syscall_names(trace) == 0) {
			command_message(args->name,
					"%s: this table has no names of system calls (see kdump(1), Tables)",
					args->calls);
			return EXIT_BAD_INPUT;
		}
		if (status > 0)
			command_message(args->name, "%s: names of system calls are from table '%s' for %s",
					args->path, args->calls, base_machine_name((uint16_t)status));
		else if (status == 0)
			command_message(args->name, "%s: names of system calls are from table '%s'",
					args->path, args->calls);
	} else {
		status = foreign_calls_set(trace);
		if (status == 0 && args->shows_calls && has_nameless_calls(trace))
			command_message(args->name,
					"%s: system calls are shown by number: "
					"the trace has no names for them (--calls TABLE)",
					args->path);
	}
	if (status < 0)
		command_message(args->name, "%s", ktread_message(trace));
	return status < 0 ? EXIT_BAD_INPUT : 0;
}

static int is_one_cpu(const struct trace_args *args)
{
	const uint8_t *cpus = args->cpus;
	unsigned count = 0;

	for (uint32_t cpu = 0; args->cpu_list && cpu < TRACE_CPUS_MAX; cpu++)
		count += cpus[cpu / 8] >> cpu % 8 & 1;
	return count == 1;
}

static void print_order(const struct trace_args *args, const struct ktread *trace)
{
	const bool curable =
		order_between_cpus(trace).state == ORDER_UNMEASURED && ktread_info(trace)->version == 2;
	char order[ORDER_TEXT];

	if (!args->reports_order && !is_one_cpu(args) && order_say(trace, order) > 0)
		command_message(args->name, "%s: %s%s", shown(args), order, curable ? ORDER_CURE : "");
}

/* Opens the trace, without filters. Returns 0, EXIT_USAGE or EXIT_BAD_INPUT. */
static int open_whole(struct trace_args *args, struct ktread **trace)
{
	int status;

	args->options.window = !args->whole && (args->cpu_list || args->since || args->until || args->where);
	status = ktread_open(trace, args->path, &args->options);

	if (status == 0)
		status = measure(args, trace);
	if (status < 0) {
		command_message(args->name, "%s", ktread_message(*trace));
		return EXIT_BAD_INPUT;
	}
	status = name_calls(args, *trace);
	if (!status)
		status = check_layout(args, *trace);
	if (!status)
		status = check_machine(args, *trace);
	if (!status && args->with)
		status = trace_with(args, *trace);
	if (status)
		ktread_close(*trace);
	return status;
}

int trace_args_open(struct trace_args *args, struct ktread **trace)
{
	int status = trace_where_open(args);

	if (!status)
		status = open_whole(args, trace);
	if (status) {
		trace_where_close(args);
		return status;
	}
	print_warnings(args, *trace);
	if (ktread_info(*trace)->frequency == 0)
		command_message(args->name,
				"%s: the clock frequency is unknown, so times cannot be shown in seconds "
				"(--frequency HZ)",
				shown(args));
	if (ktread_is_coarse(ktread_info(*trace)))
		command_message(args->name,
				"%s: coarse clock, %" PRIu64
				" ticks per second: events within a tick are in order only within a CPU",
				shown(args), ktread_info(*trace)->frequency);
	status = args->align ? align(args, *trace) : 0;
	if (!status)
		status = set_filter(args, *trace);
	if (!status)
		print_order(args, *trace);
	if (status) {
		ktread_close(*trace);
		trace_where_close(args);
	}
	return status;
}

int trace_symbols_open(const char *name, const char *elf, const struct ktread *trace,
		       struct symbols **symbols)
{
	char found[PATH_MAX];
	const bool named = elf != NULL;
	int status;

	*symbols = NULL;
	if (!elf && note_kernel(ktread_info(trace)->note, found, sizeof(found)))
		elf = found;
	if (!elf && ktread_info(trace)->form == KTREAD_FORM_RAM)
		command_message(name, "the kernel's file is unknown: addresses are shown without "
				      "names (--elf KERNEL)");
	if (!elf)
		return 0;
	status = symbols_open(symbols, elf, ktread_info(trace));
	if (status == SYMBOLS_OTHER_BUILD) {
		command_message(name,
				"WARNING: %s is of another build than the traced kernel: "
				"addresses are shown without names",
				elf);
		symbols_close(*symbols);
		*symbols = NULL;
	} else if (status == SYMBOLS_E_MACHINE) {
		command_message(name, "WARNING: %s: addresses are shown without names", symbols_message());
	} else if (status != SYMBOLS_OK && named) {
		command_message(name, "%s", symbols_message());
	}
	return status < 0 && status != SYMBOLS_E_MACHINE && named ? EXIT_BAD_INPUT : 0;
}

struct ktread *trace_args_reopen(const struct trace_args *args, bool window)
{
	struct ktread_options options = args->options;
	struct align_report report;
	struct ktread *trace;

	options.window = window;
	if (ktread_open(&trace, args->path, &options) < 0)
		return NULL;
	if ((args->with && trace_with(args, trace)) || (args->align && align_clocks(trace, &report) < 0)) {
		ktread_close(trace);
		return NULL;
	}
	return trace;
}

int trace_name_calls_quietly(const struct trace_args *args, struct ktread *trace)
{
	const char *text;
	char *owned;
	int status;

	if (!args->calls)
		return foreign_calls_set(trace);
	if (kdump_table_read(args->name, args->calls, &owned, &text))
		return KTREAD_E_ABSENT;
	status = foreign_calls_set_table(
		trace, text, args->options.machine ? base_machine_number(args->options.machine) : 0);
	free(owned);
	return status;
}

void trace_warn_of_cost(const struct trace_args *args, const struct ktread *trace)
{
	if (cost_of(trace) == 0)
		command_message(
			args->name,
			"%s: event cost is unknown: the kernel has not measured it (ktrace_probe_cost()); "
			"nothing is subtracted",
			args->path);
}

int trace_args_close(struct trace_args *args, struct ktread *trace, int result)
{
	progress_stop();
	print_warnings(args, trace);
	if (result < 0)
		command_message(args->name, "%s", ktread_message(trace));
	ktread_close(trace);
	trace_where_close(args);
	return result < 0 ? EXIT_BAD_INPUT : EXIT_SUCCESS;
}
