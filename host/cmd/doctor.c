/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace doctor: boots a kernel for some seconds, or reads a trace, and examines how ktrace is integrated. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/note.h"
#include "capture/error.h"
#include "capture/kernel_elf.h"
#include "capture/run.h"
#include "cmd/command.h"
#include "cmd/terminal.h"
#include "cmd/trace_args.h"
#include "cmd/options.h"
#include "doctor/examine.h"
#include "base/escape.h"
#include "base/open.h"

#define EXIT_WRONG	10
#define SECONDS_DEFAULT 5.0

struct doctor {
	const char *name; /* text that begins each message */
	struct capture_run_options run;
	char directory[PATH_MAX - 32]; /* temporary directory of the trace; "" if the user keeps the trace */
	char out[PATH_MAX];
	char elf[PATH_MAX];
	struct subject subject;
	struct facts facts;
	struct findings report;
	const char *trace; /* last trace named on the command line; NULL if there is none */
	unsigned traces;   /* number of traces named on the command line */
	bool json, list;
};

static void print_sentence(void *context, const char *sentence)
{
	const struct doctor *doctor = context;

	command_message(doctor->name, "%s", sentence);
}

/* Returns the number of CPUs that the value of -smp specifies. */
static uint32_t cpus_of(const char *text)
{
	return (uint32_t)strtoul(strncmp(text, "cpus=", 5) == 0 ? text + 5 : text, NULL, 10);
}

/* Finds the number of CPUs and the path of the kernel's file in QEMU's command line. */
static void take_words(struct doctor *doctor, char *const *words)
{
	for (size_t n = 0; words[n] && words[n + 1]; n++) {
		if (strcmp(words[n], "-smp") == 0)
			doctor->subject.cpus = cpus_of(words[n + 1]);
		if (strcmp(words[n], "-kernel") == 0 && !doctor->subject.elf)
			doctor->subject.elf = words[n + 1];
	}
}

/*
 * Finds the number of CPUs and the path of the kernel's file in the trace's note, unless they are known
 * already.
 */
static void take_note(struct doctor *doctor, const char *note)
{
	size_t length;
	const char *command = note_find(note, "command", &length);
	char cpus[16];

	if (!doctor->subject.cpus && command &&
	    note_word_after(command, length, "-smp", cpus, sizeof(cpus)) == 0)
		doctor->subject.cpus = cpus_of(cpus);
	if (!doctor->subject.elf && note_kernel(note, doctor->elf, sizeof(doctor->elf)))
		doctor->subject.elf = doctor->elf;
}

/*
 * If the trace is a RAM file, takes the kernel's path from the command line of the QEMU that uses this
 * file.
 */
static void take_ram_kernel(struct doctor *doctor, const char *path)
{
	if (!doctor->subject.elf && doctor->facts.info->form == KTREAD_FORM_RAM &&
	    capture_ram_kernel(path, doctor->elf, sizeof(doctor->elf)))
		doctor->subject.elf = doctor->elf;
}

/* Chooses a path for the trace that will be recorded. Returns 0, or -1 after a message. */
static int choose_out(struct doctor *doctor)
{
	const char *folder = base_temporary_folder();

	if (doctor->run.out)
		return 0;
	snprintf(doctor->directory, sizeof(doctor->directory), "%s/ktrace-doctor.XXXXXX", folder);
	if (!mkdtemp(doctor->directory)) {
		doctor->directory[0] = '\0';
		command_message(doctor->name, "%s: %s", folder, strerror(errno));
		return -1;
	}
	snprintf(doctor->out, sizeof(doctor->out), "%s/trace.ktrx", doctor->directory);
	doctor->run.out = doctor->out;
	return 0;
}

static void leave_out(struct doctor *doctor)
{
	if (!doctor->directory[0])
		return;
	unlink(doctor->out);
	rmdir(doctor->directory);
}

/* Runs the guest. Its console is printed on standard error, because standard output is for the report. */
static int run_guest(struct doctor *doctor, struct capture_result *result)
{
	int kept = dup(STDOUT_FILENO), error;

	fflush(stdout);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	error = capture_run(&doctor->run, result);
	if (kept >= 0) {
		dup2(kept, STDOUT_FILENO);
		close(kept);
	}
	return error;
}

static bool ended_badly(int status)
{
	return status == CAPTURE_RESET || status == CAPTURE_QEMU_DIED || status == CAPTURE_PANIC ||
	       status == CAPTURE_NO_KTRACE || status == CAPTURE_NOT_SEEN;
}

static void print_run(struct doctor *doctor, const struct capture_result *result)
{
	if (result->status == CAPTURE_TIMEOUT)
		findings_add(&doctor->report, FINDING_OK, "run", "%.1f s, as long as requested",
			     result->seconds);
	else
		findings_add(&doctor->report, ended_badly(result->status) ? FINDING_WRONG : FINDING_OK, "run",
			     "%.1f s: %s", result->seconds, result->text);
	if (result->status == CAPTURE_NO_KTRACE && result->linked)
		findings_add(
			&doctor->report, FINDING_NOTE, "root",
			"ktrace is linked in, but the kernel reached no event: record one with KTRACE()");
	else if (result->status == CAPTURE_NO_KTRACE)
		findings_add(&doctor->report, FINDING_WRONG, "root",
			     "no ktrace_root was found in the guest's memory: "
			     "is ktrace linked in, and does the kernel reach its first event?");
	else if (result->root)
		findings_add(&doctor->report, FINDING_OK, "root",
			     "found at physical 0x%" PRIx64 " by a search of %.1f ms", result->root,
			     result->search * 1e3);
	else if (result->lost)
		findings_add(&doctor->report, FINDING_WRONG, "root",
			     "found at physical 0x%" PRIx64 " while the guest ran, and overwritten since%s",
			     result->lost,
			     result->status == CAPTURE_RESET ? "" : ": a stack overflow or a stray write");
}

/*
 * Runs the guest and reports how the run ended. Sets *written if a trace was written. Returns 0, or an exit
 * status if QEMU could not be run or the user interrupted it.
 */
static int boot(struct doctor *doctor, bool *written)
{
	struct capture_result result;
	char text[FINDING_LINE] = "";
	int error = run_guest(doctor, &result);

	*written = false;
	if (error == CAPTURE_E_SYSTEM) {
		command_message(doctor->name, "%s", capture_message());
		return EXIT_BAD_INPUT;
	}
	if (error) {
		*base_escape_text(text, capture_message(), strlen(capture_message()), sizeof(text) - 1) =
			'\0';
		findings_add(&doctor->report, FINDING_WRONG, "command", "%s", text);
		return 0;
	}
	if (result.status >= CAPTURE_SIGNALLED) /* the user interrupted the run */
		return result.status;
	print_run(doctor, &result);
	*written = result.written;
	return 0;
}

/* Examines a trace. Returns 0 or the exit status. */
static int examine(struct doctor *doctor, const char *path)
{
	struct ktread *trace = NULL;
	int status = ktread_open(&trace, path, NULL);

	if (status == 0 && ktread_info(trace)->records_only) {
		command_message(doctor->name,
				"%s: version %u does not describe its kernel; doctor needs version 2", path,
				ktread_info(trace)->version);
		ktread_close(trace);
		return EXIT_BAD_INPUT;
	}
	if (status == 0)
		status = facts_read(&doctor->facts, trace);
	if (status == 0) {
		doctor->subject.facts = &doctor->facts;
		take_note(doctor, doctor->facts.info->note);
		take_ram_kernel(doctor, path);
		examine_kernel(&doctor->report, &doctor->subject);
		examine_trace(&doctor->report, &doctor->subject);
		examine_symbols(&doctor->report, &doctor->subject);
		status = examine_mistakes(&doctor->report, &doctor->subject, trace);
		if (status == 0)
			status = examine_order(&doctor->report, &doctor->subject, trace);
		doctor->subject.rules = status == 0 ? default_rules(doctor->name) : NULL;
		if (status == 0)
			status = examine_rules(&doctor->report, &doctor->subject, trace);
		free(doctor->subject.rules);
		examine_views(&doctor->report, &doctor->subject);
	}
	if (status < 0)
		command_message(doctor->name, "%s", ktread_message(trace));
	ktread_close(trace);
	facts_free(&doctor->facts);
	return status < 0 ? EXIT_BAD_INPUT : 0;
}

/*
 * an explanation of this mark; the line does not begin with the mark itself, because scripts search for
 * "^dark"
 */
#define DARK_EXPLAINED \
	"(dark: this view is missing or limited; the same line or the line below it states what to add)\n"

static void write_text(struct base_output *out, const struct findings *report)
{
	bool explained = false;
	char begin[FINDING_LINE];

	if (*examine_begin(report, begin))
		base_output_format(out, "Begin with: %s%s\n",
				   report->marks[FINDING_WRONG] ? "the lines marked wrong; then " : "",
				   begin);
	for (uint32_t n = 0; n < report->count; n++) {
		if (report->finding[n].mark == FINDING_DARK && !explained) {
			base_output_text(out, DARK_EXPLAINED);
			explained = true;
		}
		finding_put_row(out, &report->finding[n]);
	}
	base_output_format(out, "%u ok, %u dark, %u wrong\n", report->marks[FINDING_OK],
			   report->marks[FINDING_DARK], report->marks[FINDING_WRONG]);
}

static void write_json(struct base_output *out, const struct findings *report)
{
	static const struct finding_keys earlier = { .kind = "about", .what = "text", .advice = "line" };

	base_output_format(out, "{\"ok\":%u,\"dark\":%u,\"wrong\":%u,\"findings\":[",
			   report->marks[FINDING_OK], report->marks[FINDING_DARK],
			   report->marks[FINDING_WRONG]);
	for (uint32_t n = 0; n < report->count; n++) {
		base_output_text(out, n ? ",\n{" : "\n{");
		finding_put_json(out, &report->finding[n], &earlier);
		base_output_text(out, "}");
	}
	base_output_text(out, "\n]}\n");
}

static int write_report(struct doctor *doctor)
{
	struct base_output out;

	if (doctor->report.failed || base_output_open(&out, STDOUT_FILENO) < 0) {
		command_message(doctor->name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	if (!doctor->json)
		terminal_prepare(&out, true);
	base_output_schema(&out, doctor->json ? "ktrace-doctor/1" : NULL);
	if (doctor->json)
		write_json(&out, &doctor->report);
	else
		write_text(&out, &doctor->report);
	return trace_output_status(doctor->name, "standard output", base_output_close(&out));
}

static int write_list(const char *name)
{
	struct base_output out;

	if (base_output_open(&out, STDOUT_FILENO) < 0) {
		command_message(name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	views_write(&out);
	return trace_output_status(name, "standard output", base_output_close(&out));
}

static int doctor_run(struct doctor *doctor, char **words)
{
	const bool command = !doctor->trace;
	bool written = true;
	int status = 0, failed;

	if (command) {
		take_words(doctor, words);
		if (choose_out(doctor) < 0)
			return EXIT_BAD_INPUT;
		doctor->run.command = words;
		status = boot(doctor, &written);
	}
	if (status == 0 && written)
		status = examine(doctor, command ? doctor->run.out : doctor->trace);
	else if (status == 0)
		examine_kernel(&doctor->report, &doctor->subject);
	leave_out(doctor);
	if (status == 0) {
		failed = write_report(doctor);
		if (doctor->subject.elf_given && !doctor->subject.has_kernel)
			failed = failed ? failed : EXIT_BAD_INPUT;
		status = failed ? failed : doctor->report.marks[FINDING_WRONG] ? EXIT_WRONG : 0;
	}
	findings_free(&doctor->report);
	return status;
}

#define AT(member) .to = offsetof(struct doctor, member)
static const struct option_row rows[] = {
	{ "seconds", 0, "S", "run the guest for at most S seconds (5)", options_set_seconds, AT(run.timeout),
	  .least = 1 },
	{ "timeout", 0, "S", "the same as --seconds", options_set_seconds, AT(run.timeout), .least = 1 },
	{ "expect", 0, "TEXT", "end the run earlier, when COMMAND has written TEXT to standard output",
	  options_set_text, AT(run.expect) },
	{ "elf", 0, "KERNEL", "use this ELF file of the kernel (the file of QEMU's -kernel)",
	  options_set_text, AT(subject.elf) },
	{ "out", 'o', "FILE", "write the trace to FILE, and keep it", options_set_text, AT(run.out) },
	{ "json", 0, NULL, "print JSON instead of text", options_set_flag, AT(json) },
	{ "list", 0, NULL, "list all views, with the line of code that enables each view", options_set_flag,
	  AT(list) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace doctor [OPTION]... -- COMMAND...\n"
		 "ktrace doctor TRACE [OPTION]...\n"
		 "ktrace doctor --list",
	.about = "Boots a kernel under QEMU for some seconds, or reads an existing trace, "
		 "and examines how ktrace is integrated: whether it is linked in and found, whether CPUs, "
		 "threads, clocks and heartbeats work, what an event costs, how far back the rings reach. "
		 "For each view that is missing (dark), prints the line of C that enables it.",
	.lists = { rows, budget_options, terminal_options },
	.in_order = true,
	.end = "Marks: ok, note (not shown to work), dark (a view is missing or limited), wrong.\n"
	       "Status: 0 nothing is wrong, 10 something is wrong, "
	       "1 the trace or the file of --elf is unreadable, or no trace could be made, 2 usage error.\n"
	       "\n"
	       "Examples:\n"
	       "  ktrace doctor -- qemu-system-riscv64 -M virt -bios none -nographic -kernel kernel.elf\n"
	       "  ktrace doctor --seconds 10 -- make qemu\n"
	       "  ktrace doctor --json boot.ktrx\n",
};

/*
 * Accepts options before and after a trace. All arguments after -- belong to the command to run; `optind` is
 * the index of the first of them. Returns a negative value to continue; otherwise the exit status.
 */
static int parse(struct doctor *doctor, struct options *line, int argc, char **argv)
{
	int status;

	while ((status = options_parse(line, argc, argv)) == OPTIONS_WORD && optind < argc) {
		doctor->trace = argv[optind++];
		doctor->traces++;
	}
	doctor->subject.elf_given = doctor->subject.elf != NULL;
	return status;
}

/* Checks that the options and arguments are compatible. Returns -1 to continue; otherwise EXIT_USAGE. */
static int check_words(const struct doctor *doctor, const struct options *line, bool command)
{
	const char *const of_run = options_given(line, "expect out seconds timeout");

	if (doctor->list &&
	    (of_run || doctor->json || doctor->subject.elf_given || doctor->traces || command))
		return options_refuse(line, "--list shows only the list of views: "
					    "it cannot be combined with other options or a trace");
	if (doctor->list)
		return -1;
	if (!doctor->traces && !command)
		return options_refuse(line, "no trace given, and no command after --");
	if (doctor->traces && command)
		return options_refuse(line, "give a trace or a command, not both");
	if (doctor->traces > 1)
		return options_refuse(
			line, "only one trace can be given; to boot a kernel, write -- before the command");
	if (command || !of_run)
		return -1;
	command_message(doctor->name, "%s needs a command after --", of_run);
	return command_usage(doctor->name);
}

static int run_doctor(int argc, char **argv)
{
	struct doctor *doctor = calloc(1, sizeof(*doctor));
	struct options line = { .syntax = &syntax, .by = argv[0], .to = doctor };
	char self[PATH_MAX];
	int status;

	if (!doctor) {
		command_message(argv[0], "out of memory");
		return EXIT_BAD_INPUT;
	}
	command_self(self);
	doctor->name = argv[0];
	doctor->run = (struct capture_run_options){ .self = self,
						    .events = "",
						    .timeout = SECONDS_DEFAULT,
						    .stall = -1,
						    .hooks = { .say = print_sentence, .context = doctor } };
	status = parse(doctor, &line, argc, argv);
	if (status < 0)
		status = check_words(doctor, &line, optind < argc);
	if (status < 0)
		status = budget_begin(doctor->name);
	if (status < 0 && doctor->list)
		status = write_list(doctor->name);
	if (status < 0)
		status = doctor_run(doctor, argv + optind);
	free(doctor);
	return status;
}

const struct command command_doctor = {
	.name = "doctor",
	.purpose = "boot a kernel and examine how ktrace is integrated, and which views are missing",
	.run = run_doctor,
};
