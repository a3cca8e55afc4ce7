/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace goto: repeats a run up to an event, and shows the state of the machine at that event. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyze/event_name.h"
#include "analyze/symbols.h"
#include "base/escape.h"
#include "capture/cpu_state.h"
#include "capture/error.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/run_schedule.h"
#include "cmd/trace_args.h"

#define DEFAULT_OUT	   "goto.ktrx"
#define STATUS_NOT_REACHED 17
#define EXIT_NO_PROGRAM	   127
#define LETTERS		   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define NAME_BYTES	   200u
#define COMMAND_BYTES	   4096u
#define GDB_COMMANDS	   16u	  /* maximum number of values of --print and --memory together */
#define GDB_FAILED	   64u	  /* exit status of gdb if no command failed */
#define MEMORY_MOST	   65536u /* maximum number of bytes that gdb prints */

struct goto_command {
	const char *name;
	const char *at;	       /* value of --at */
	const char *thread;    /* value of --thread */
	const char *where;     /* value of --where */
	struct filter *filter; /* the parsed expression of --where; NULL if there is none */
	uint64_t cpu;	       /* value of --cpu; NO_CPU: any CPU */
	struct options_list print, memory;
	bool backtrace, registers, gdb;
	struct capture_run_options run;
	struct run_schedule schedule;
	/* The event, and what its trace contains about it. */
	uint32_t event_cpu;
	char kernel[PATH_MAX];
	bool reached, no_gdb;
	/* number of the first command that gdb could not execute (see write_script()); 0: none */
	unsigned failed;
	/*
	 * descriptor of ktrace's own standard output while the guest's output goes to another file; negative:
	 * none
	 */
	int output;
};

#define NO_CPU UINT32_MAX

#define AT(member) .to = offsetof(struct goto_command, member)
static const struct option_row rows[] = {
	{ "at", 0, "TIME", "go to the first event at or after this time of the trace", options_set_text,
	  AT(at) },
	{ "cpu", 0, "N", "consider only events of this CPU", options_set_number, AT(cpu),
	  .most = TRACE_CPUS_MAX - 1 },
	{ "thread", 0, "N", "consider only events of this thread", options_set_text, AT(thread),
	  .once = true },
	{ "where", 0, "EXPRESSION", "consider only events for which EXPRESSION is true; see ktrace-filter(7)",
	  options_set_text, AT(where), .once = true },
	{ "backtrace", 0, NULL, "print the functions on the stack of the event's CPU (default)",
	  options_set_flag, AT(backtrace) },
	{ "registers", 0, NULL, "print the registers of all CPUs", options_set_flag, AT(registers) },
	{ "print", 0, "EXPR", "let gdb print an expression; may be repeated", options_set_list, AT(print),
	  .most = 8 },
	{ "memory", 0, "ADDRESS,LENGTH",
	  "let gdb print LENGTH bytes of memory, as the event's CPU sees it; may be repeated",
	  options_set_list, AT(memory), .most = 8 },
	{ "gdb", 0, NULL, "open gdb on the event's CPU", options_set_flag, AT(gdb) },
	{ "elf", 0, "KERNEL",
	  "take names and lines from this ELF file of the kernel (default: the file that the trace names)",
	  options_set_text, AT(run.elf) },
	{ "out", 'o', "FILE", "write the trace of the run up to the event to FILE (" DEFAULT_OUT ")",
	  options_set_text, AT(run.out) },
	{ "force", 0, NULL, "continue even if a file or the version of QEMU has changed since the first run",
	  options_set_flag, AT(run.force) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace goto [OPTION]... [RING.SLOT] TRACE",
	.about =
		"Repeats the run that TRACE was recorded from, up to an event, and shows the machine at that "
		"moment. RING.SLOT names the event, as 'ktrace show --ids' prints it; without it and "
		"without --at, the event is the last one that the other options select. The run must have "
		"been recorded with --seed or --deterministic.",
	.lists = { rows },
	.end = "Status: 0 the event was reached, 17 the run ended without it, 1 error, 2 usage error.\n",
};

/* ---- Finding the event --------------------------------------------------------------------------- */

struct wanted {
	bool by_slot;
	uint64_t ring, index;
	bool by_time;
	uint64_t since;
	bool by_thread;
	uint64_t thread;
};

static bool matches(const struct goto_command *command, const struct wanted *wanted,
		    const struct ktread_event *event)
{
	if (wanted->by_slot)
		return event->ring == wanted->ring && event->index == wanted->index;
	return (!wanted->by_time || event->stamp >= wanted->since) &&
	       (command->cpu == NO_CPU || event->cpu == command->cpu) &&
	       (!wanted->by_thread || event->thread == wanted->thread) &&
	       (!command->filter || filter_accepts(command->filter, event));
}

/*
 * Finds the event. If a slot or a time was given, this is the first event that matches, otherwise the last.
 */
static int find_event(struct goto_command *command, struct ktread *trace, const struct wanted *wanted)
{
	struct capture_schedule *schedule = &command->run.schedule;
	const bool first = wanted->by_slot || wanted->by_time;
	const struct ktread_event *event;
	bool found = false;
	int more;

	while ((more = ktread_next(trace, &event)) > 0) {
		if (!matches(command, wanted, event))
			continue;
		if (capture_recipe_slot(&command->schedule.recipe, trace, event, &schedule->position,
					&schedule->word) != 0) {
			command_message(command->name, "%s", capture_message());
			return EXIT_BAD_INPUT;
		}
		found = true;
		command->event_cpu = event->cpu;
		if (first)
			break;
	}
	if (more < 0)
		command_message(command->name, "%s", ktread_message(trace));
	else if (!found && wanted->by_slot)
		command_message(command->name, "%s has no event with this id", command->schedule.recipe.path);
	else if (!found)
		command_message(command->name, "%s: no event is selected", command->schedule.recipe.path);
	return found ? 0 : EXIT_BAD_INPUT;
}

static int choose_event(struct goto_command *command, const char *slot)
{
	const struct ktread_options raw = { .size = sizeof(raw), .raw_clock = 1 };
	struct wanted wanted = { .by_slot = slot, .by_time = command->at, .by_thread = command->thread };
	const char *rest = slot ? trace_read_number(slot, &wanted.ring) : NULL;
	struct ktread *trace = NULL;
	uint64_t base;
	int status;

	if (slot && (!rest || *rest != '.' || trace_parse_number(rest + 1, UINT64_MAX, &wanted.index) != 0))
		return command_bad_value(command->name, "the event", slot, "RING.SLOT, such as 2.71681");
	if (command->thread && trace_parse_number(command->thread, UINT32_MAX, &wanted.thread) != 0)
		return command_bad_value(command->name, "--thread", command->thread, "a number");
	if (ktread_open(&trace, command->schedule.recipe.path, &raw) != 0) {
		command_message(command->name, "%s", ktread_message(NULL));
		return EXIT_BAD_INPUT;
	}
	base = ktread_first_stamp(trace);
	run_schedule_kernel(&command->schedule, ktread_info(trace)->note, command->kernel,
			    sizeof(command->kernel));
	if (command->at &&
	    trace_parse_ticks(command->at, ktread_info(trace)->frequency, TRACE_MOMENT, &wanted.since) != 0)
		status =
			command_bad_value(command->name, "--at", command->at, "a time, such as 1.5 or 250ms");
	else {
		wanted.since += base; /* times are shown relative to the first event */
		status = command->where
				 ? trace_where_bind(command->name, command->where, command->filter, trace)
				 : 0;
		if (!status)
			status = find_event(command, trace, &wanted);
	}
	ktread_close(trace);
	return status;
}

/* ---- Starting gdb -------------------------------------------------------------------------------- */

static bool wants_gdb(const struct goto_command *command)
{
	return command->gdb || command->print.count || command->memory.count;
}

/* The arguments of gdb. Those that asprintf() allocated are never freed, because the process executes gdb. */
struct arguments {
	const char *word[64];
	unsigned count;
};

static void add(struct arguments *arguments, const char *word)
{
	if (word && arguments->count + 1 < sizeof(arguments->word) / sizeof(arguments->word[0]))
		arguments->word[arguments->count++] = word;
}

__attribute__((format(printf, 2, 3))) static void add_command(struct arguments *arguments, const char *format,
							      ...)
{
	va_list list;
	char *text;

	va_start(list, format);
	if (vasprintf(&text, format, list) >= 0) {
		add(arguments, "-ex");
		add(arguments, text);
	}
	va_end(list);
}

/* Parses "ADDRESS,LENGTH". Returns the number of characters of ADDRESS, or 0 if the text is invalid. */
static int parse_memory(const char *range, uint64_t *length)
{
	const char *comma = strrchr(range, ',');

	if (!comma || trace_parse_number(comma + 1, MEMORY_MOST, length) != 0 || *length == 0)
		return 0;
	return (int)(comma - range);
}

/*
 * Writes the n-th command for gdb, from 1 on: first the values of --print, then those of --memory. Returns
 * false if there are less than n values.
 */
static bool put_command(const struct goto_command *command, unsigned n, char *text, size_t size)
{
	const char *word;
	uint64_t length = 0;
	int address;

	if (n <= command->print.count) {
		snprintf(text, size, "print %s", command->print.word[n - 1]);
	} else if (n - command->print.count <= command->memory.count) {
		word = command->memory.word[n - command->print.count - 1];
		address = parse_memory(word, &length);
		snprintf(text, size, "x/%" PRIu64 "xb %.*s", length, address, word);
	} else {
		return false;
	}
	for (char *at = strchr(text, '\n'); at; at = strchr(at, '\n'))
		*at = ' ';
	return true;
}

/*
 * Defines a command ktrace-N for each command for gdb: an error ends it before its variable $ktrace_N is set.
 * Lets gdb execute these commands, and then end with status GDB_FAILED plus the number of the first that
 * failed, or plus 0.
 */
static void add_script(struct arguments *arguments, const struct goto_command *command)
{
	const int file = memfd_create("ktrace", 0);
	char text[COMMAND_BYTES], status[GDB_COMMANDS * 32] = "";
	size_t used = 0;
	unsigned n;

	for (n = 1; put_command(command, n, text, sizeof(text)); n++)
		dprintf(file, "set $ktrace_%u = 0\ndefine ktrace-%u\n%s\nset $ktrace_%u = 1\nend\n", n, n,
			text, n);
	add_command(arguments, "source /proc/self/fd/%d", file);
	for (unsigned i = 1; i < n; i++) {
		add_command(arguments, "ktrace-%u", i);
		used += (size_t)snprintf(status + used, sizeof(status) - used, "!$ktrace_%u ? %u : ", i,
					 GDB_FAILED + i);
	}
	add(arguments, "-ex");
	add(arguments, "set language c");
	add_command(arguments, "quit %s%u", status, GDB_FAILED);
}

static _Noreturn void become_gdb(const struct goto_command *command, const char *socket)
{
	struct arguments arguments = { { 0 }, 0 };
	const char *kernel = command->run.elf ? command->run.elf : command->kernel;
	char text[COMMAND_BYTES];
	sigset_t none;

	add(&arguments, "gdb");
	add(&arguments, "-q");
	if (!command->gdb)
		add(&arguments, "-batch");
	add_command(&arguments, "set pagination off");
	if (!command->gdb)
		add_command(&arguments, "set confirm off");
	add_command(&arguments, "target remote %s", socket);
	if (command->event_cpu != NO_CPU)
		add_command(&arguments, "thread %" PRIu32, command->event_cpu + 1);
	if (!command->gdb)
		add_script(&arguments, command);
	else
		for (unsigned n = 1; put_command(command, n, text, sizeof(text)); n++)
			add_command(&arguments, "%s", text);
	if (*kernel)
		add(&arguments, kernel);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (command->output >= 0)
		dup2(command->output, STDOUT_FILENO);
	execvp("gdb-multiarch", (char **)arguments.word);
	execvp("gdb", (char **)arguments.word);
	_exit(EXIT_NO_PROGRAM);
}

static void show_in_gdb(void *context, const char *socket)
{
	struct goto_command *command = context;
	unsigned code;
	int status = 0;
	pid_t pid;

	command->reached = true;
	if (!wants_gdb(command))
		return;
	pid = fork();
	if (pid == 0)
		become_gdb(command, socket);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	command->no_gdb = pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_PROGRAM);
	if (command->no_gdb) {
		command_message(command->name, "gdb is missing: install gdb or gdb-multiarch");
		return;
	}
	if (command->gdb)
		return;
	code = WIFEXITED(status) ? (unsigned)WEXITSTATUS(status) : 0;
	command->no_gdb =
		code < GDB_FAILED || code - GDB_FAILED > command->print.count + command->memory.count;
	if (command->no_gdb)
		command_message(command->name, "gdb did not print the expressions");
	else
		command->failed = code - GDB_FAILED;
}

/* ---- Output of the result ------------------------------------------------------------------------- */

static void print_place(struct symbols *symbols, uint64_t address, bool is_return)
{
	struct symbol symbol;
	char safe[NAME_BYTES];
	int found = is_return ? symbols_find_call(symbols, address, &symbol)
			      : symbols_find(symbols, address, &symbol);

	printf("  0x%016" PRIx64, address);
	if (found == 0) {
		*base_escape_text(safe, symbol.function, strlen(symbol.function), sizeof(safe) - 1) = '\0';
		printf(" %s+0x%" PRIx64, safe, symbol.offset);
		if (symbol.file) {
			*base_escape_text(safe, symbol.file, strlen(symbol.file), sizeof(safe) - 1) = '\0';
			printf(" (%s:%" PRIu32 ")", safe, symbol.line);
		}
	}
	printf("\n");
}

static void print_backtrace(const struct ktread_info *info, struct symbols *symbols, uint32_t cpu)
{
	const char *line = capture_registers_line(info->registers, "cpu", cpu);
	const char *pc = line ? strstr(line, "pc=") : NULL;

	printf("CPU %" PRIu32 "\n", cpu);
	if (!pc) {
		printf("  registers unknown\n");
		return;
	}
	print_place(symbols, strtoull(pc + 3, NULL, 16), false);
	line = capture_registers_line(info->registers, "stack", cpu);
	while (line && *line && *line != '\n') {
		char *end;
		uint64_t address = strtoull(line, &end, 16);

		if (end == line)
			break;
		print_place(symbols, address, true);
		line = end + strspn(end, " ");
	}
}

/* Reports the first expression that gdb could not print, and suggests a name for its first name. */
static int report_failure(const struct goto_command *command, struct symbols *symbols)
{
	const bool print = command->failed <= command->print.count;
	const char *word = print ? command->print.word[command->failed - 1]
				 : command->memory.word[command->failed - command->print.count - 1];
	const char *name = word + strcspn(word, "_" LETTERS);
	char safe[NAME_BYTES], text[NAME_BYTES], similar[SUGGESTIONS_TEXT] = "";
	uint64_t address, size;

	snprintf(text, sizeof(text), "%.*s", (int)strspn(name, "_0123456789" LETTERS), name);
	if (*text && symbols_named(symbols, text, &address, &size) == 0)
		symbols_suggest(symbols, text, similar, sizeof(similar));
	*base_escape_text(safe, word, strlen(word), sizeof(safe) - 1) = '\0';
	command_message(command->name, "%s: gdb cannot print '%s'%s", print ? "--print" : "--memory", safe,
			similar);
	return EXIT_BAD_INPUT;
}

static int print_machine(const struct goto_command *command, const char *path)
{
	const char *elf = command->run.elf ? command->run.elf : command->kernel;
	struct symbols *symbols = NULL;
	struct ktread *trace = NULL;
	int status;

	if (ktread_open(&trace, path, NULL) != 0) {
		command_message(command->name, "%s", ktread_message(NULL));
		return EXIT_BAD_INPUT;
	}
	status = *elf ? symbols_open(&symbols, elf, ktread_info(trace)) : SYMBOLS_OK;
	if (status != SYMBOLS_OK && status != SYMBOLS_UNCHECKED)
		command_message(command->name, "%s", symbols_message());
	if (command->registers)
		fputs(ktread_info(trace)->registers, stdout);
	if (command->backtrace || (!command->registers && !wants_gdb(command)))
		print_backtrace(ktread_info(trace), symbols, command->event_cpu);
	status = command_flush(command->name);
	if (command->failed)
		status = report_failure(command, symbols);
	symbols_close(symbols);
	ktread_close(trace);
	return status;
}

/* ---- Command line and main function -------------------------------------------------------------- */

static void say(void *context, const char *sentence)
{
	struct goto_command *command = context;

	command_message(command->name, "%s", sentence);
}

static int run_to_event(struct goto_command *command)
{
	struct capture_result result;
	int status;

	command->run.hooks = (struct capture_hooks){ .say = say, .halted = show_in_gdb, .context = command };
	status = run_schedule_repeat(command->name, &command->run, !command->gdb, &command->output, &result);
	if (status)
		return status;
	if (!command->reached) {
		command_message(command->name, "the run ended before the event: %s", result.text);
		return STATUS_NOT_REACHED;
	}
	command_message(command->name, "halted at %.9f s of virtual time; the run up to here is in %s",
			(double)result.ended / 1e9, command->run.out);
	status = print_machine(command, command->run.out);
	return status ? status : command->no_gdb ? EXIT_BAD_INPUT : 0;
}

static int goto_run(int argc, char **argv)
{
	struct goto_command command = {
		.name = argv[0], .cpu = NO_CPU, .event_cpu = NO_CPU, .run = { .events = "", .stall = 0 }
	};
	struct options line = { .syntax = &syntax, .by = argv[0], .to = &command };
	uint64_t length;
	int status = options_parse(&line, argc, argv);
	const char *slot = argc - optind == 2 ? argv[optind] : NULL;

	if (status >= 0)
		return status;
	if (argc == optind || argc - optind > 2)
		return options_refuse(&line, "expected a trace");
	if (slot && options_given(&line, "at cpu thread where"))
		return options_refuse(
			&line, "RING.SLOT already selects the event: it cannot be combined with --at, --cpu, "
			       "--thread or --where");
	for (unsigned n = 0; n < command.memory.count; n++)
		if (parse_memory(command.memory.word[n], &length) == 0)
			return command_bad_value(argv[0], "--memory", command.memory.word[n],
						 "ADDRESS,LENGTH, with a LENGTH from 1 to 65536");
	status = command.where ? trace_where_parse(argv[0], command.where, &command.filter) : 0;
	if (status)
		return status;
	command.schedule.replay = argv[argc - 1];
	if (!command.run.out)
		command.run.out = DEFAULT_OUT;
	status = run_schedule_prepare(&command.schedule, &line, &command.run, 0, NULL);
	if (!status)
		status = choose_event(&command, slot);
	if (!status)
		status = run_to_event(&command);
	run_schedule_free(&command.schedule);
	filter_free(command.filter);
	return status;
}

const struct command command_goto = {
	.name = "goto",
	.purpose = "repeat a run up to an event and show the machine at that moment",
	.run = goto_run,
};
