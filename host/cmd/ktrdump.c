/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrdump: has the options of DragonFly's ktrdump, and reads all traces that ktrace reads. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/order.h"
#include "cmd/command.h"
#include "cmd/terminal.h"
#include "cmd/trace_args.h"
#include "export/views.h"

#define COST_SETTING "debug.ktr.cost"

struct ktrdump {
	struct trace_args args;
	struct ktr_table table;
	const char *kernel, *to;
	bool stream, loop, sort;
	const struct ktread *bound; /* the followed trace to whose events --where is bound; NULL: none */
	bool corrected,		    /* true if -A was given */
		measured;	    /* true if -A was given with the value auto */
};

static const char *set_correction(void *to, const char *value, const struct option_row *row)
{
	struct ktrdump *dump = to;
	char *end;

	(void)row;
	dump->corrected = true;
	dump->measured = strcmp(value, "auto") == 0;
	if (dump->measured)
		return NULL;
	dump->table.correction = strtod(value, &end);
	return end == value || *end || !isfinite(dump->table.correction) || dump->table.correction < 0 ? ""
												       : NULL;
}

/* Returns the column of the table that an option letter without a value adds; 0 if the letter adds none. */
static unsigned columns_of(int letter)
{
	switch (letter) {
	case 'a':
		return KTR_CPU | KTR_ID | KTR_CALLERS | KTR_PAYLOAD | KTR_RELATIVE;
	case 'c':
		return KTR_CPU;
	case 'f':
		return KTR_FILE;
	case 'i':
		return KTR_ID;
	case 'p':
		return KTR_PAYLOAD;
	case 'r':
		return KTR_RELATIVE;
	case 't':
		return KTR_ABSOLUTE;
	case 'x':
		return KTR_CALLERS;
	default:
		return 0;
	}
}

static const char *set_columns(void *to, const char *value, const struct option_row *row)
{
	(void)value;
	*(unsigned *)to |= columns_of(row->letter);
	return NULL;
}

#define AT(member) .to = offsetof(struct ktrdump, member)
static const struct option_row rows[] = {
	{ NULL, 'a', NULL, "print most columns: the same as -cixprs", set_columns, AT(table.columns) },
	{ NULL, 'c', NULL, "print the CPU", set_columns, AT(table.columns) },
	{ NULL, 'd', NULL, "write a portable stream, which every ktrace command reads, instead of a table",
	  options_set_flag, AT(stream) },
	{ NULL, 'f', NULL, "print the file and line of KTR_LOG; for other events, of the declaration",
	  set_columns, AT(table.columns) },
	{ NULL, 'i', NULL, "print the id of the event: its group and name", set_columns, AT(table.columns) },
	{ NULL, 'l', NULL, "also print what a running guest records later, until it ends or Ctrl-C",
	  options_set_flag, AT(loop) },
	{ NULL, 'n', NULL, "print addresses in hexadecimal, and relative times in ticks", options_set_flag,
	  AT(table.raw) },
	{ NULL, 'p', NULL, "print the event's text with its values", set_columns, AT(table.columns) },
	{ NULL, 'q', NULL, "print no header", options_set_flag, AT(table.quiet) },
	{ NULL, 'r', NULL, "print the time since the previous event on the same CPU, in microseconds",
	  set_columns, AT(table.columns) },
	{ NULL, 's', NULL, "merge the CPUs by time", options_set_flag, AT(sort) },
	{ NULL, 't', NULL, "print the timestamp", set_columns, AT(table.columns) },
	{ NULL, 'x', NULL, "print the two callers of the code that recorded the event", set_columns,
	  AT(table.columns) },
	{ NULL, 'A', "FACTOR",
	  "with -r: subtract FACTOR microseconds for the cost of each event; 'auto': as measured "
	  "by the kernel",
	  set_correction, .to = 0 },
	{ NULL, 'N', "EXECFILE", "take names of callers from this ELF file of the kernel", options_set_text,
	  AT(kernel) },
	{ NULL, 'M', "COREFILE", "read this RAM file of a guest, ELF core or trace (" TRACE_USUAL_FILE ")",
	  options_set_text, AT(args.path) },
	{ NULL, 'o', "OUTFILE", "write to OUTFILE (standard output)", options_set_text, AT(to) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrdump [OPTION]...",
	.about = "Prints events as ktrdump(8) of DragonFly does. Without -c, -f, -i, -p, -t or -x: -cfitp.",
	.lists = { rows, trace_where_options, trace_machine_options, terminal_options },
	.end = "Examples:\n"
	       "  ktrdump -a -N kernel.elf -M vmcore\n"
	       "  ktrdump -ls -M guest.ram\n",
};

/* Checks that the options are compatible. Returns 0 or EXIT_USAGE. */
static int check_options(struct ktrdump *dump)
{
	const char *name = dump->args.name;
	unsigned *columns = &dump->table.columns;
	const bool shaped =
		*columns || dump->table.raw || dump->table.quiet || dump->corrected || dump->kernel;

	if (!(*columns & ~(unsigned)KTR_RELATIVE))
		*columns |= KTR_CPU | KTR_ID | KTR_ABSOLUTE | KTR_PAYLOAD | KTR_FILE;
	if (dump->corrected && (!(*columns & KTR_RELATIVE) || dump->table.raw))
		command_message(name, "-A needs -r, and cannot be combined with -n");
	else if (dump->stream && dump->loop)
		command_message(name, "-d cannot be combined with -l");
	else if (dump->stream && dump->args.where)
		command_message(name, "-d writes the whole trace: it cannot be combined with --where");
	else if (dump->stream && shaped)
		command_message(name, "-d writes a stream, not a table: it cannot be combined with "
				      "-a, -A, -c, -f, -i, -n, -N, -p, -q, -r, -t or -x");
	else if (dump->kernel && !(*columns & (KTR_CALLERS | KTR_FILE)))
		command_message(name, "-N names callers and sites: it needs -x or -f");
	else if (dump->args.path == NULL && access(TRACE_USUAL_FILE, F_OK) != 0)
		command_message(name, "no file given (-M COREFILE), and this directory contains no %s",
				TRACE_USUAL_FILE);
	else
		return 0;
	return command_usage(name);
}

/* Parses the command line. Returns -1 to continue; otherwise the exit status. */
static int parse(struct ktrdump *dump, int argc, char **argv)
{
	int status;

	dump->args.line.to = dump;
	status = options_parse(&dump->args.line, argc, argv);
	if (status >= 0)
		return status;
	dump->sort = options_given(&dump->args.line, "a s d") != NULL;
	if (optind < argc) {
		command_message(dump->args.name, "unexpected argument '%s': give the file with -M",
				argv[optind]);
		return command_usage(dump->args.name);
	}
	status = check_options(dump);
	if (dump->args.path == NULL)
		dump->args.path = TRACE_USUAL_FILE;
	dump->table.by_ring = !dump->sort;
	return status ? status : -1;
}

/*
 * Opens the kernel's file for symbol names, unless -n was given. If it cannot be opened, prints a message;
 * the table then shows addresses.
 */
static void open_symbols(struct ktrdump *dump, const struct ktread_info *info)
{
	if (!dump->kernel || dump->table.symbols || dump->table.raw ||
	    !(dump->table.columns & (KTR_CALLERS | KTR_FILE)))
		return;
	if (symbols_open(&dump->table.symbols, dump->kernel, info) != SYMBOLS_OK)
		command_message(dump->args.name, "%s", symbols_message());
}

/*
 * Reads what recording an event costs from the kernel's settings, which state it in thousandths of a tick,
 * and stores it in microseconds.
 */
static void take_measured(struct ktrdump *dump, const struct ktread *trace)
{
	const uint64_t frequency = ktread_info(trace)->frequency;
	struct ktread_setting setting;

	for (uint32_t n = 0; dump->measured && ktread_setting(trace, n, &setting); n++)
		if (strcmp(setting.name, COST_SETTING) == 0 && setting.value && frequency) {
			dump->table.correction = (double)setting.value * 1e3 / (double)frequency;
			return;
		}
	if (dump->measured)
		command_message(
			dump->args.name,
			"%s: event cost is unknown: the kernel has not measured it (ktrace_probe_cost()); "
			"nothing is subtracted",
			dump->args.path);
}

/* ---- Printing all events of the trace ---- */

static int print_events(struct ktrdump *dump, struct ktread *trace)
{
	const struct ktread_info *info = ktread_info(trace);
	int (*next)(struct ktread *, const struct ktread_event **) =
		dump->sort ? ktread_next : ktread_next_by_ring;
	const struct ktread_event *event;
	int result = 0;

	ktr_frequency(&dump->table, info);
	while (!dump->table.out->error && (result = next(trace, &event)) > 0) {
		if (event->lost)
			ktr_lost(&dump->table, event->ring, ktread_ring(trace, event->ring)->cpu,
				 event->lost);
		ktr_row(&dump->table, info, event, false);
	}
	return result;
}

/* ---- Following a running guest ---- */

static void begin_boot(struct ktrdump *dump, struct ktread_follow *follow, uint64_t boot)
{
	struct ktread *trace = ktread_follow_trace(follow);
	char order[ORDER_TEXT];

	open_symbols(dump, ktread_info(trace));
	take_measured(dump, trace);
	if (boot == 1) {
		if (order_say(trace, order) > 0)
			command_message(dump->args.name, "%s", order);
		ktr_frequency(&dump->table, ktread_info(trace));
		return;
	}
	ktr_restart(&dump->table);
	base_output_format(dump->table.out, "--- the guest has rebooted ---\n");
}

static int print_followed(void *context, struct ktread_follow *follow, const struct ktread_followed *now)
{
	struct ktrdump *dump = context;
	struct ktread *trace = ktread_follow_trace(follow);

	if (dump->args.where && trace && (now->kind == KTREAD_FOLLOWED_BOOT || trace != dump->bound)) {
		if (trace_where_bind(dump->args.name, dump->args.where, dump->args.filter, trace))
			return 2;
		dump->bound = trace;
	}
	switch (now->kind) {
	case KTREAD_FOLLOWED_EVENT:
		if (!dump->args.where || filter_accepts(dump->args.filter, now->event))
			ktr_row(&dump->table, ktread_info(trace), now->event, now->late);
		break;
	case KTREAD_FOLLOWED_LOST:
		ktr_lost(&dump->table, now->ring, now->cpu, now->slots);
		break;
	case KTREAD_FOLLOWED_BOOT:
		begin_boot(dump, follow, now->boot);
		break;
	default:
		break;
	}
	return 0;
}

static int run_loop(struct ktrdump *dump)
{
	int status = trace_where_follow(&dump->args);

	if (!status)
		status = followed_run(&(struct followed){ .args = &dump->args,
							  .out = dump->table.out,
							  .by_ring = !dump->sort,
							  .take = print_followed,
							  .context = dump });
	trace_where_close(&dump->args);
	return status;
}

/* ---- Main function ---- */

static int run_once(struct ktrdump *dump)
{
	struct ktread *trace;
	int status = trace_args_open(&dump->args, &trace);

	if (status)
		return status;
	if (dump->stream)
		return write_export(&dump->args, trace, export_format_find("stream"),
				    dump->to ? dump->to : "-");
	open_symbols(dump, ktread_info(trace));
	take_measured(dump, trace);
	return trace_args_close(&dump->args, trace, print_events(dump, trace));
}

static int run_table(struct ktrdump *dump)
{
	const char *to = dump->to ? dump->to : "-";
	struct base_output out;
	int fd, status = -1;

	if (dump->kernel && strcmp(to, "-") != 0 && output_file_is(to, dump->kernel)) {
		command_message(dump->args.name, "%s is an input file: choose another output file", to);
		return EXIT_BAD_INPUT;
	}
	fd = output_file_open(&dump->args, to);
	if (fd < 0)
		return EXIT_BAD_INPUT;
	if (base_output_open(&out, fd) < 0) {
		command_message(dump->args.name, "out of memory");
		return output_file_close(&dump->args, to, fd, ENOMEM) | EXIT_BAD_INPUT;
	}
	if (fd == STDOUT_FILENO)
		terminal_prepare(&out, !dump->loop);
	dump->table.out = &out;
	if (dump->loop)
		status = run_loop(dump);
	if (status < 0)
		status = run_once(dump);
	symbols_close(dump->table.symbols);
	return output_file_close(&dump->args, to, fd, base_output_close(&out)) | status;
}

static int run_ktrdump(int argc, char **argv)
{
	struct ktrdump dump = { .args = { TRACE_ARGS(&syntax, argv[0]) } };
	int status = parse(&dump, argc, argv);

	if (status >= 0)
		return status;
	return dump.stream ? run_once(&dump) : run_table(&dump);
}

const struct command command_ktrdump = {
	.name = "ktrdump",
	.tool = "ktrdump",
	.purpose = "show events of a trace or of a running guest as a table, as ktrdump(8) of DragonFly does",
	.run = run_ktrdump,
};
