/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrdump: the options of DragonFly's, over whatever ktrace reads. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/order.h"
#include "cmd/command.h"
#include "cmd/followed.h"
#include "cmd/output_file.h"
#include "cmd/trace_args.h"
#include "export/ktr.h"

#define LETTERS	     "acdfilnpqrstxA:N:M:o:"
#define COST_SETTING "debug.ktr.cost"

enum {
	OPTION_HELP = 256,
	OPTION_FREQUENCY,
	OPTION_MACHINE,
};

static const struct option long_options[] = {
	{ "help", no_argument, NULL, OPTION_HELP },
	{ "frequency", required_argument, NULL, OPTION_FREQUENCY },
	{ "machine", required_argument, NULL, OPTION_MACHINE },
	{ NULL, 0, NULL, 0 },
};

static const char usage[] =
	"usage: ktrdump [-acdfilnpqrstx] [-A factor] [-N execfile] [-M corefile] [-o outfile]\n"
	"\n"
	"Prints events as ktrdump(8) of DragonFly does. Without -c, -f, -i, -p, -t or -x: -cfitp.\n"
	"\n"
	"  -a           most columns: -cixprs\n"
	"  -c           CPU\n"
	"  -d           write a portable stream, which every ktrace command reads, instead of a table\n"
	"  -f           file and line\n"
	"  -i           ID: group and name of the event\n"
	"  -l           go on with what a running guest records, until it ends or Ctrl-C\n"
	"  -n           addresses in hexadecimal and relative times in ticks\n"
	"  -p           the event's text with its values\n"
	"  -q           no header\n"
	"  -r           time since the event before on the same CPU, in microseconds\n"
	"  -s           merge the CPUs by time\n"
	"  -t           stamp\n"
	"  -x           the two callers\n"
	"  -A factor    with -r: microseconds that recording an event takes, to be subtracted; 'auto': what\n"
	"               the kernel measured\n"
	"  -N execfile  the kernel's ELF file, for names of callers\n"
	"  -M corefile  RAM file of a guest, ELF core or trace (" TRACE_USUAL_FILE ")\n"
	"  -o outfile   where to (standard output)\n"
	"  --frequency HZ, --machine ARCH  where the trace does not say\n"
	"\n"
	"Examples:\n"
	"  ktrdump -a -N kernel.elf -M vmcore\n"
	"  ktrdump -ls -M guest.ram\n";

struct ktrdump {
	struct trace_args args;
	struct ktr_table table;
	const char *kernel, *to;
	bool stream, loop, sort;
	bool corrected, measured; /* -A; by what the kernel found */
};

static int take_correction(struct ktrdump *dump, const char *value)
{
	char *end;

	dump->corrected = true;
	dump->measured = strcmp(value, "auto") == 0;
	if (dump->measured)
		return 0;
	dump->table.correction = strtod(value, &end);
	if (end == value || *end || !isfinite(dump->table.correction) || dump->table.correction < 0)
		return trace_bad_value(&dump->args, "-A", value);
	return 0;
}

/* What a letter without a value adds to the columns; 0: nothing. */
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

static int take_value(struct ktrdump *dump, int option, const char *value)
{
	switch (option) {
	case 'A':
		return take_correction(dump, value);
	case 'N':
		dump->kernel = value;
		return 0;
	case 'M':
		dump->args.path = value;
		return 0;
	case 'o':
		dump->to = value;
		return 0;
	case OPTION_MACHINE:
		return trace_parse_machine(value, &dump->args.options.machine)
			       ? trace_bad_value(&dump->args, "--machine", value)
			       : 0;
	default:
		if (trace_parse_number(value, UINT64_MAX, &dump->args.options.frequency) ||
		    dump->args.options.frequency == 0)
			return trace_bad_value(&dump->args, "--frequency", value);
		return 0;
	}
}

static int take_option(struct ktrdump *dump, int option, const char *value)
{
	dump->table.columns |= columns_of(option);
	dump->sort = dump->sort || option == 'a' || option == 's' || option == 'd';
	dump->stream = dump->stream || option == 'd';
	dump->loop = dump->loop || option == 'l';
	dump->table.raw = dump->table.raw || option == 'n';
	dump->table.quiet = dump->table.quiet || option == 'q';
	return value ? take_value(dump, option, value) : 0;
}

/* What goes together. 0 or EXIT_USAGE. */
static int check_options(struct ktrdump *dump)
{
	const char *name = dump->args.name;
	unsigned *columns = &dump->table.columns;
	const bool shaped =
		*columns || dump->table.raw || dump->table.quiet || dump->corrected || dump->kernel;

	if (!(*columns & ~(unsigned)KTR_RELATIVE))
		*columns |= KTR_CPU | KTR_ID | KTR_ABSOLUTE | KTR_PAYLOAD | KTR_FILE;
	if (dump->corrected && (!(*columns & KTR_RELATIVE) || dump->table.raw))
		command_message(name, "-A goes with -r and without -n");
	else if (dump->stream && dump->loop)
		command_message(name, "-d writes what there is: not with -l");
	else if (dump->stream && shaped)
		command_message(name, "-d writes all that is known of each event: -a, -A, -c, -f, -i, -n, "
				      "-N, -p, -q, -r, -t "
				      "and -x are for a table");
	else if (dump->kernel && !(*columns & (KTR_CALLERS | KTR_FILE)))
		command_message(name, "-N names callers and sites: give -x or -f, too");
	else if (dump->args.path == NULL && access(TRACE_USUAL_FILE, F_OK) != 0)
		command_message(name, "which file? (-M corefile; there is no %s here)", TRACE_USUAL_FILE);
	else
		return 0;
	return command_usage(name);
}

/* -1: go on; otherwise the exit status. */
static int parse(struct ktrdump *dump, int argc, char **argv)
{
	int option, status;

	while ((option = getopt_long(argc, argv, LETTERS, long_options, NULL)) != -1) {
		if (option == '?')
			return command_usage(dump->args.name);
		if (option == OPTION_HELP) {
			fputs(usage, stdout);
			return trace_output_status(dump->args.name, "standard output",
						   fflush(stdout) == 0 ? 0 : errno);
		}
		status = take_option(dump, option, optarg);
		if (status)
			return status;
		optarg = NULL;
	}
	if (optind < argc) {
		command_message(dump->args.name, "what is '%s'? The file is named by -M", argv[optind]);
		return command_usage(dump->args.name);
	}
	status = check_options(dump);
	if (dump->args.path == NULL)
		dump->args.path = TRACE_USUAL_FILE;
	dump->table.by_ring = !dump->sort;
	return status ? status : -1;
}

/* Names are wanted unless -n; what is wrong with the file is said, and addresses shown for names. */
static void open_symbols(struct ktrdump *dump, const struct ktread_info *info)
{
	if (!dump->kernel || dump->table.symbols || dump->table.raw ||
	    !(dump->table.columns & (KTR_CALLERS | KTR_FILE)))
		return;
	if (symbols_open(&dump->table.symbols, dump->kernel, info) != SYMBOLS_OK)
		command_message(dump->args.name, "%s", symbols_message());
}

/* The cost of an event stands among the kernel's settings, in thousandths of a tick. */
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
		command_message(dump->args.name,
				"%s: the kernel has not measured what an event costs: nothing is subtracted",
				dump->args.path);
}

/* ---- what there is ---- */

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

/* ---- following ---- */

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
	base_output_format(dump->table.out, "--- the guest has booted anew ---\n");
}

static int print_followed(void *context, struct ktread_follow *follow, const struct ktread_followed *now)
{
	struct ktrdump *dump = context;

	switch (now->kind) {
	case KTREAD_FOLLOWED_EVENT:
		ktr_row(&dump->table, ktread_info(ktread_follow_trace(follow)), now->event, now->late);
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
	return followed_run(&(struct followed){ .args = &dump->args,
						.out = dump->table.out,
						.by_ring = !dump->sort,
						.take = print_followed,
						.context = dump });
}

/* ---- running ---- */

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
	const int fd = output_file_open(&dump->args, to);
	struct base_output out;
	int status = -1;

	if (fd < 0)
		return EXIT_BAD_INPUT;
	if (base_output_open(&out, fd) < 0) {
		command_message(dump->args.name, "out of memory");
		return output_file_close(&dump->args, to, fd, ENOMEM) | EXIT_BAD_INPUT;
	}
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
	struct ktrdump dump = { .args = TRACE_ARGS(argv[0]) };
	int status = parse(&dump, argc, argv);

	if (status >= 0)
		return status;
	return dump.stream ? run_once(&dump) : run_table(&dump);
}

const struct command command_ktrdump = {
	.name = "ktrdump",
	.tool = "ktrdump",
	.purpose = "as ktrdump(8) of DragonFly: a table of events, also while a guest runs",
	.run = run_ktrdump,
};
