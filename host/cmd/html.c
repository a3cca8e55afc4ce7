/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace html: writes a page that shows a trace in any browser. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/symbols.h"
#include "cmd/command.h"
#include "cmd/trace_args.h"
#include "page/page.h"

struct html_command {
	struct trace_args args;
	const char *to; /* value of --output; NULL if not given */
	bool redact;
	const char *elf; /* value of --elf; NULL: use the kernel named in the trace's note */
};

#define AT(member) .to = offsetof(struct html_command, member)
static const struct option_row rows[] = {
	{ "output", 'o', "OUT", "write to OUT; - is standard output (default, unless it is a terminal)",
	  options_set_text, AT(to) },
	{ "redact", 0, NULL,
	  "leave out paths, strings in the fields of events, names of threads and processes, and texts "
	  "of findings; numbers stay, and names of events, locks, interrupts and functions",
	  options_set_flag, AT(redact) },
	{ "elf", 0, "KERNEL",
	  "take names and lines from this ELF file of the kernel (the file that 'ktrace run' "
	  "booted, if it is still the same build)",
	  options_set_text, AT(elf) },
	{ 0 },
};

static const struct options_syntax syntax = {
	.forms = "ktrace html [OPTION]... [FILE] -o OUT",
	.about = "Writes a trace as one HTML file, which any browser opens from the disk, without a network: "
		 "lanes of CPUs and threads, calls, interrupts, faults and locks.",
	.lists = { rows, trace_thread_options, trace_event_options, trace_where_options, trace_file_options,
		   trace_hardware_options, trace_machine_options, trace_layout_options, trace_calls_options },
	.end = "Examples:\n"
	       "  ktrace html boot.ktrx -o boot.html\n"
	       "  ktrace html --since 2 --until 2.5 boot.ktrx -o boot.html\n",
};

/* Writes the page to the open file. Returns the result of reading; stores the errno of a failed write. */
static int write_page(const struct html_command *html, struct ktread *trace, struct symbols *symbols, int fd,
		      int *output_error)
{
	char version[64];
	const struct page_options options = { .file = html->args.path,
					      .path = html->args.path,
					      .symbols = symbols,
					      .version = version,
					      .verdict = true,
					      .redact = html->redact };
	struct page *page;
	struct base_output out;
	int status;

	snprintf(version, sizeof(version), "ktrace %s", command_version());
	if (base_output_open(&out, fd) < 0)
		return KTREAD_E_MEMORY;
	status = page_open(&page, trace, &options);
	if (status == 0)
		status = page_write_document(page, &out);
	page_close(page);
	*output_error = base_output_close(&out);
	return *output_error ? 0 : status;
}

/*
 * Opens the output. A new file gives other users no permission that they do not have for the trace. Returns
 * -1 after a message.
 */
static int open_output(const struct html_command *html)
{
	const mode_t mask = umask(077);
	struct stat trace;
	int fd;

	if (stat(html->args.path, &trace) != 0 || !S_ISREG(trace.st_mode))
		trace.st_mode = 0777;
	umask(mask | (~trace.st_mode & 077));
	fd = output_file_open(&html->args, html->to);
	umask(mask);
	return fd;
}

/* Writes the page of an open trace to html->to, and closes the trace. Returns the exit status. */
static int write_and_close(struct html_command *html, struct ktread *trace)
{
	struct trace_args *args = &html->args;
	struct symbols *symbols;
	int output_error = 0, result;
	int status = trace_symbols_open(args->name, html->elf, trace, &symbols);
	const int fd = status ? -1 : open_output(html);

	if (fd < 0) {
		symbols_close(symbols);
		return trace_args_close(args, trace, 0) | EXIT_BAD_INPUT;
	}
	result = write_page(html, trace, symbols, fd, &output_error);
	symbols_close(symbols);
	status = output_file_close(args, html->to, fd, output_error);
	return trace_args_close(args, trace, result) | status;
}

int html_file(const struct trace_args *args, const char *elf, const char *to)
{
	struct html_command html = { .args = *args, .to = to, .elf = elf };
	struct ktread *trace = trace_args_reopen(args, false);
	int status = EXIT_BAD_INPUT;

	html.args.filter = NULL; /* freed by the caller, not here */
	if (!trace)
		command_message(args->name, "%s: no page is written: %s", args->path, ktread_message(NULL));
	else if (foreign_calls_set(trace) < 0)
		status = trace_args_close(&html.args, trace, KTREAD_E_MEMORY);
	else
		status = write_and_close(&html, trace);
	if (status == 0)
		command_message(args->name, "%s: page of %s", to, args->path);
	return status;
}

static int run_html(int argc, char **argv)
{
	struct html_command html = { .args = { TRACE_ARGS(&syntax, argv[0]), .beside = TRACE_BESIDE_CALLS,
					       .shows_calls = true } };
	struct ktread *trace;
	int status = trace_args_parse(&html.args, argc, argv);

	if (status >= 0)
		return status;
	if (!html.to && isatty(STDOUT_FILENO)) {
		command_message(html.args.name, "no output file given (-o OUT)");
		return command_usage(html.args.name);
	}
	if (!html.to)
		html.to = "-";
	status = trace_args_open(&html.args, &trace);
	return status ? status : write_and_close(&html, trace);
}

const struct command command_html = {
	.name = "html",
	.purpose = "write a trace as a page for a browser",
	.run = run_html,
};
