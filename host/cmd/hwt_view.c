/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/hwt.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/trace_args.h"
#include "base/escape.h"
#include "flow/flow.h"
#include "flow/views.h"

struct view {
	struct hwt_args *args;
	struct flow *flow;
	struct base_output out;
};

/* ---- Messages about the quality of the data ---------------------------------------------------- */

static void print_doubts(const struct view *view, const struct flow_doubts *doubts)
{
	if (doubts->resyncs)
		command_message(
			view->args->name,
			"%s: %llu stack%s began with unknown callers, for example after a thread switch "
			"(not an error)",
			view->args->path, (unsigned long long)doubts->resyncs,
			doubts->resyncs == 1 ? "" : "s");
	if (doubts->deeper)
		command_message(view->args->name, "%s: calls deeper than %u, not shown: %llu",
				view->args->path, FLOW_DEPTH_MOST, (unsigned long long)doubts->deeper);
	if (doubts->stacks)
		command_message(view->args->name, "%s: stacks dropped because there were more than %u: %llu",
				view->args->path, FLOW_STACKS_MOST, (unsigned long long)doubts->stacks);
}

/*
 * Refuses a recording that contains only samples. Samples show which instructions a CPU executed at some
 * moments, but not which code ran between these moments. Returns 0 or EXIT_BAD_INPUT.
 */
static int check_flows(const struct view *view)
{
	const struct flow *flow = view->flow;

	for (size_t n = 0; n < hwt_file_streams(flow->file); n++) {
		const struct hwt_stream *stream = hwt_file_stream(flow->file, n);

		if (!flow_wants_stream(flow, stream) || stream->context.encoding != KTRX_HWT_ENCODING_SPE)
			continue;
		command_message(view->args->name,
				"%s: has samples (SPE), not all instructions that were run: "
				"use the default view or --functions",
				view->args->path);
		return EXIT_BAD_INPUT;
	}
	return 0;
}

/* ---- Functions that print a view; each returns 0, EXIT_BAD_INPUT, or a negative reader error ---- */

/*
 * Reports that the function of --before was not entered. If data is missing, also reports that the function
 * may have been entered in the missing part.
 */
static void print_not_entered(const struct hwt_args *args, uint64_t missing)
{
	if (missing)
		command_message(args->name,
				"%s: '%s' was not entered in the remaining part of the recording "
				"(%llu bytes are missing): these are the last branches of all",
				args->path, args->last.before, (unsigned long long)missing);
	else
		command_message(args->name, "%s: '%s' was not entered: these are the last branches of all",
				args->path, args->last.before);
}

/* Passes the selected streams to the view. With --last, passes only their last branches. */
static int walk(struct view *view, const struct flow_view *to, void *state)
{
	struct flow_last *last = &view->args->last;
	int status;

	if (!last->count)
		return flow_walk(view->flow, to, state);
	status = flow_last_walk(last, view->flow, to, state);
	if (status < 0 || !last->before || last->found)
		return status;
	base_output_flush(&view->out);
	print_not_entered(view->args, view->flow->loss.missing);
	return EXIT_BAD_INPUT;
}

static int show_columns(struct view *view)
{
	struct flow_columns columns = { .flow = view->flow,
					.out = &view->out,
					.json = view->args->json,
					.headings = view->args->last.count > 0 };

	flow_columns_parse(&columns, view->args->columns);
	flow_columns_head(&columns);
	return walk(view, &flow_columns, &columns);
}

static int show_calls(struct view *view)
{
	struct flow_tree *tree;
	int status = flow_tree_new(&tree, view->flow, &view->out, view->args->json);

	if (status == 0)
		status = walk(view, &flow_tree, tree);
	base_output_flush(&view->out);
	if (tree)
		print_doubts(view, flow_tree_doubts(tree));
	flow_tree_free(tree);
	return status;
}

static int show_durations(struct view *view)
{
	struct flow_durations *durations;
	int status = flow_durations_new(&durations, view->flow), written = 0;

	if (status == 0)
		status = walk(view, &flow_durations, durations);
	if (durations) {
		written = flow_durations_write(durations, &view->out, view->args->json);
		print_doubts(view, flow_durations_doubts(durations));
	}
	flow_durations_free(durations);
	return status ? status : written;
}

static int show_folded(struct view *view)
{
	struct flow_folded *folded;
	int status = flow_folded_new(&folded, view->flow, view->args->weight), written = 0;

	if (status == 0)
		status = walk(view, &flow_folded, folded);
	if (folded) {
		written = flow_folded_write(folded, &view->out);
		print_doubts(view, flow_folded_doubts(folded));
		if (flow_folded_left_out(folded))
			command_message(
				view->args->name,
				"%s: more than %u different stacks: calls counted as part of their callers: "
				"%llu",
				view->args->path, FLOW_FOLDED_MOST,
				(unsigned long long)flow_folded_left_out(folded));
	}
	flow_folded_free(folded);
	return status ? status : written;
}

static int show_functions(struct view *view)
{
	struct flow_executed *executed;
	int status = flow_executed_new(&executed, view->flow), written = 0;

	if (status == 0)
		status = walk(view, &flow_executed, executed);
	if (executed)
		written = flow_executed_write(executed, &view->out, view->args->json);
	flow_executed_free(executed);
	return status ? status : written;
}

static void print_warning(void *to, const char *text)
{
	const struct view *view = to;

	command_message(view->args->name, "%s: %s", view->args->path, text);
}

static int show_coverage(struct view *view)
{
	struct flow_coverage *coverage;
	int status = flow_coverage_new(&coverage, view->flow), written = 0;

	if (view->args->symbols)
		command_message(view->args->name,
				"--symbols gives names, but no source lines: "
				"only code of ELF files with debug information is counted (--elf, -R)");
	if (status == 0)
		status = walk(view, &flow_coverage, coverage);
	if (coverage)
		written = flow_coverage_write(coverage, &view->out, print_warning, view);
	flow_coverage_free(coverage);
	return status ? status : written;
}

/* Writes a packet. Also counts damaged places, which are lines between the packets. */
static void write_packet(void *to, uint64_t offset, const char *name, const char *text)
{
	struct view *view = to;
	char *at, *end;

	view->flow->loss.damaged += strcmp(name, HWT_PACKET_DAMAGE) == 0;
	base_output_format(&view->out, "%10llu  %-12s ", (unsigned long long)offset, name);
	at = base_output_line(&view->out);
	end = base_escape_text(at, text, strlen(text), BASE_OUTPUT_LINE - 1);
	*end++ = '\n';
	base_output_done(&view->out, end);
}

static int show_packets(struct view *view)
{
	const struct flow *flow = view->flow;
	char label[FLOW_NAME_ROOM + 64];
	int status = 0, damaged = 0;

	for (size_t n = 0; n < hwt_file_streams(flow->file) && status == 0; n++) {
		const struct hwt_stream *stream = hwt_file_stream(flow->file, n);

		if (!flow_wants_stream(flow, stream))
			continue;
		flow_put_stream(label, stream);
		base_output_format(&view->out, "%s\n", label);
		status = hwt_packets(flow->file, n, write_packet, view);
		flow_count_stream(view->flow, stream);
		if (status > 0) {
			damaged = EXIT_BAD_INPUT;
			status = 0;
		}
	}
	return status < 0 ? status : damaged;
}

/* Writes the bytes of one stream unchanged. */
static int write_raw(struct view *view)
{
	const struct flow *flow = view->flow;
	size_t found = 0, chosen = 0;
	uint64_t left;

	for (size_t n = 0; n < hwt_file_streams(flow->file); n++) {
		if (!flow_wants_stream(flow, hwt_file_stream(flow->file, n)))
			continue;
		chosen = n;
		found++;
	}
	if (found != 1) {
		command_message(view->args->name,
				"%s: has %zu streams, and -r writes one: select it with -s or -t",
				view->args->path, found);
		return EXIT_BAD_INPUT;
	}
	left = hwt_file_stream(flow->file, chosen)->bytes;
	for (size_t n = 0; n < hwt_file_pieces(flow->file, chosen) && !view->out.error; n++) {
		const struct hwt_piece *piece = hwt_file_piece(flow->file, chosen, n);

		if (!piece) {
			command_message(view->args->name, "%s: out of memory", view->args->path);
			return EXIT_BAD_INPUT;
		}
		/*
		 * leave out bytes that the reader added after the end of a ring, because they do not belong
		 * to the stream
		 */
		base_output_bytes(&view->out, (const char *)piece->bytes,
				  piece->size < left ? piece->size : left);
		left -= piece->size < left ? piece->size : left;
	}
	flow_count_stream(view->flow, hwt_file_stream(flow->file, chosen));
	return 0;
}

static int show(struct view *view)
{
	static int (*const views[])(struct view * view) = {
		[HWT_VIEW_COLUMNS] = show_columns,   [HWT_VIEW_CALLS] = show_calls,
		[HWT_VIEW_FOLDED] = show_folded,     [HWT_VIEW_DURATIONS] = show_durations,
		[HWT_VIEW_COVERAGE] = show_coverage, [HWT_VIEW_FUNCTIONS] = show_functions,
		[HWT_VIEW_PACKETS] = show_packets,   [HWT_VIEW_RAW] = write_raw,
	};
	const enum hwt_view which = view->args->view;
	int status = 0;

	if (which == HWT_VIEW_CALLS || which == HWT_VIEW_FOLDED || which == HWT_VIEW_DURATIONS ||
	    which == HWT_VIEW_COVERAGE)
		status = check_flows(view);
	return status ? status : views[which](view);
}

/* Writes the view to a descriptor. Returns the exit status. */
static int show_to(struct view *view, int fd, const char *where)
{
	int status, error;

	if (base_output_open(&view->out, fd) < 0) {
		command_message(view->args->name, "out of memory");
		return EXIT_BAD_INPUT;
	}
	base_output_schema(&view->out, view->args->json ? "ktrace-hwt/1" : NULL);
	status = show(view);
	error = base_output_close(&view->out);
	if (status < 0)
		command_message(view->args->name, "%s", flow_message());
	status = status < 0 ? EXIT_BAD_INPUT : error ? 0 : status;
	status |=
		hwt_flow_print_loss(view->args, view->flow) | hwt_flow_print_nothing(view->args, view->flow);
	return trace_output_status(view->args->name, where, error) | status;
}

/* Returns whether `to` is an input file. An input file must not be overwritten. */
static int is_input(const struct hwt_args *args, const char *to)
{
	int is = output_file_is(to, args->path) || (args->snapshot && output_file_is(to, args->snapshot)) ||
		 (args->symbols && trace_output_is_based(to, args->symbols));

	for (unsigned n = 0; n < args->elf.count; n++)
		is |= trace_output_is_based(to, args->elf.word[n]);
	return is;
}

static int open_output(const struct hwt_args *args)
{
	if (!args->output)
		return STDOUT_FILENO;
	if (!is_input(args, args->output))
		return output_file_create(args->name, args->output);
	command_message(args->name, "%s is an input file: choose another output file", args->output);
	return -1;
}

int hwt_view(struct hwt_args *args)
{
	struct view view = { .args = args };
	int fd, status = hwt_flow_open(args, &view.flow);

	if (status)
		return status;
	fd = open_output(args);
	status = fd < 0 ? EXIT_BAD_INPUT
			: show_to(&view, fd, fd == STDOUT_FILENO ? "standard output" : args->output);
	if (fd > STDOUT_FILENO && close(fd) != 0)
		status |= trace_output_status(args->name, args->output, errno);
	flow_close(view.flow);
	return status;
}
