/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/hwt.h"

#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/trace_args.h"
#include "base/escape.h"
#include "ktread/ktread.h"

/* Prints a warning. Escapes the warning, because it may contain paths from the recording. */
static void print_warning(const struct hwt_args *args, const char *warning)
{
	char text[1024];

	*base_escape_text(text, warning, strlen(warning), sizeof(text) - 1) = '\0';
	command_message(args->name, "%s", text);
}

/*
 * Returns whether the view shows packets or bytes. Such a view does not decode instructions, so it needs no
 * code.
 */
static int reads_no_code(const struct hwt_args *args)
{
	return args->view == HWT_VIEW_PACKETS || args->view == HWT_VIEW_RAW;
}

static int add_images(const struct hwt_args *args, struct flow *flow)
{
	int status = 0;

	for (unsigned n = 0; n < args->elf.count && !status; n++)
		status = trace_add_elf(args->name, flow, args->elf.word[n]);
	if (!status && args->symbols)
		status = trace_add_symbols(args->name, flow, args->symbols);
	if (status || !args->snapshot || hwt_images_add_snapshot(flow->images, args->snapshot) == 0)
		return status;
	command_message(args->name, "%s", hwt_images_message(flow->images));
	return EXIT_BAD_INPUT;
}

static int take_function(const struct hwt_args *args, struct flow *flow)
{
	int status;

	if (!args->function)
		return 0;
	status = flow_select_function(flow, args->image, args->function);
	if (status == 0)
		return 0;
	if (status == KTREAD_E_ABSENT)
		command_message(args->name, "%s: there is no function '%s' in %s", args->path, args->function,
				args->image);
	else
		command_message(args->name, "%s: out of memory", args->path);
	return EXIT_BAD_INPUT;
}

#define GIVE_NAMES                                                                                 \
	"no function names are known: give the kernel with --elf KERNEL or --symbols System.map, " \
	"programs with --elf or -R"

/*
 * Checks that the function of --before exists. A function that does not exist is an error. A function that
 * exists but was never entered is no error.
 */
static int check_before(const struct hwt_args *args, const struct flow *flow)
{
	uint64_t address, size;

	if (!args->last.before ||
	    hwt_images_find(flow->images, NULL, args->last.before, 0, &address, &size) == 0)
		return 0;
	if (hwt_images_named(flow->images))
		command_message(args->name, "%s: there is no function '%s'", args->path, args->last.before);
	else
		command_message(args->name, "%s: '%s' cannot be found: " GIVE_NAMES, args->path,
				args->last.before);
	return EXIT_BAD_INPUT;
}

static int take_time(const struct hwt_args *args, const struct flow *flow, const char *option,
		     const char *text, uint64_t *stamp)
{
	uint64_t ticks;

	if (!text)
		return 0;
	if (trace_parse_ticks(text, flow->frequency, TRACE_MOMENT, &ticks) != 0)
		return trace_bad_time(args->name, option, text, flow->frequency);
	if (__builtin_add_overflow(flow->base, ticks, stamp))
		*stamp = UINT64_MAX;
	return 0;
}

static uint8_t backend_of(const char *name)
{
	if (strcmp(name, "pt") == 0)
		return KTRX_HWT_BACKEND_PT;
	if (strcmp(name, "spe") == 0)
		return KTRX_HWT_BACKEND_SPE;
	return strcmp(name, "qemu") == 0 ? KTRX_HWT_BACKEND_QEMU : KTRX_HWT_BACKEND_CORESIGHT;
}

/*
 * Checks that at least one stream matches the filter. Without this check, the recording would seem to be
 * empty.
 */
static int check_streams(const struct hwt_args *args, const struct flow *flow)
{
	const size_t streams = hwt_file_streams(flow->file);

	for (size_t n = 0; n < streams; n++)
		if (flow_wants_stream(flow, hwt_file_stream(flow->file, n)))
			return 0;
	if (streams == 0)
		command_message(args->name, "%s: contains no hardware trace", args->path);
	else
		command_message(args->name, "%s: has %zu stream%s, none of them selected", args->path,
				streams, streams == 1 ? "" : "s");
	return EXIT_BAD_INPUT;
}

static int narrow(const struct hwt_args *args, struct flow *flow)
{
	struct flow_select *select = &flow->select;
	int status;

	if (args->cpu_list) {
		select->cpus = args->cpus;
		select->cpu_count = TRACE_CPUS_MAX;
	}
	select->one_thread = args->thread >= 0;
	select->thread = (uint32_t)args->thread;
	select->one_process = args->pid >= 0;
	select->pid = (uint32_t)args->pid;
	select->one_backend = args->backend != NULL;
	select->backend = args->backend ? backend_of(args->backend) : 0;
	status = check_streams(args, flow);
	if (!status)
		status = take_function(args, flow);
	if (!status)
		status = check_before(args, flow);
	if (status || reads_no_code(args))
		return status;
	if (flow_find_base(flow) < 0) {
		command_message(args->name, "%s", flow_message());
		return EXIT_BAD_INPUT;
	}
	status = take_time(args, flow, "--from", args->from, &select->from);
	if (!status)
		status = take_time(args, flow, "--to", args->to, &select->to);
	if (status || !args->from || !args->to || select->from <= select->to)
		return status;
	command_message(args->name, "the window ends before it begins: %s to %s", args->from, args->to);
	return EXIT_USAGE;
}

int hwt_flow_open(struct hwt_args *args, struct flow **flow)
{
	const char *warning;
	int status;

	if (flow_open(flow, args->path, args->root) < 0) {
		command_message(args->name, "%s", flow_message());
		return EXIT_BAD_INPUT;
	}
	for (size_t n = 0; (warning = hwt_file_warning((*flow)->file, n)); n++)
		print_warning(args, warning);
	status = add_images(args, *flow);
	if (!status)
		status = narrow(args, *flow);
	if (!status)
		return 0;
	flow_close(*flow);
	*flow = NULL;
	return status;
}

/*
 * Prints a count and a noun, unless the count is 0. `what`: the noun in the plural; `thing`: the noun in the
 * singular.
 */
static void print_loss(const struct hwt_args *args, uint64_t count, const char *thing, const char *what)
{
	if (count)
		command_message(args->name, "%s: %llu %s", args->path, (unsigned long long)count,
				count == 1 ? thing : what);
}

int hwt_flow_print_loss(const struct hwt_args *args, const struct flow *flow)
{
	const struct flow_loss *loss = &flow->loss;
	const char *warning;

	if (!reads_no_code(args)) {
		for (size_t n = 0; (warning = hwt_images_warning(flow->images, n)); n++)
			print_warning(args, warning);
		for (size_t n = 0; flow->wanted && (warning = hwt_images_idle(flow->images, n)); n++)
			command_message(args->name, "%s: contains no code that was run", warning);
	}
	print_loss(args, loss->damaged, "damaged place, skipped", "damaged places, skipped");
	if (loss->codeless)
		command_message(args->name,
				"%s: the code is unknown at %llu place%s: "
				"give programs with -R ROOT or --elf FILE, the kernel with --elf",
				args->path, (unsigned long long)loss->codeless,
				loss->codeless == 1 ? "" : "s");
	if (loss->other)
		command_message(args->name,
				"%s: the code that ran differs from the files given at %llu place%s: "
				"are these the files that ran?",
				args->path, (unsigned long long)loss->other, loss->other == 1 ? "" : "s");
	print_loss(args, loss->unread, "place of a kind that is not decoded, skipped",
		   "places of a kind that is not decoded, skipped");
	print_loss(args, loss->gaps, "gap, where bytes are missing", "gaps, where bytes are missing");
	print_loss(args, loss->overflows, "overflow, where a unit lost packets",
		   "overflows, where a unit lost packets");
	print_loss(args, loss->packets, "packet for which a unit had no room",
		   "packets for which units had no room");
	print_loss(args, loss->missing, "byte of a stream is missing", "bytes of streams are missing");
	return loss->damaged || loss->codeless || loss->other || loss->unread || hwt_file_damaged(flow->file)
		       ? EXIT_BAD_INPUT
		       : 0;
}

static int is_narrowed(const struct hwt_args *args)
{
	return args->pid >= 0 || args->function || args->from || args->to;
}

int hwt_flow_print_nothing(const struct hwt_args *args, const struct flow *flow)
{
	if (reads_no_code(args))
		return 0;
	if (flow->wanted) {
		if (!hwt_images_named(flow->images))
			command_message(args->name, "%s: " GIVE_NAMES, args->path);
		return 0;
	}
	if (!is_narrowed(args))
		return 0;
	if (args->pid >= 0 && !flow->names_processes)
		command_message(args->name, "%s: has no record of which process ran", args->path);
	else
		command_message(args->name, "%s: nothing in it matches the selection", args->path);
	return EXIT_BAD_INPUT;
}
