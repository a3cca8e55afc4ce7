/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Writes calls as an indented tree. */
#include "flow/views.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/put.h"
#include "ktread/ktread.h"

#define TIME_COLUMNS 15u
#define SPAN_COLUMNS 13u
#define INDENT_MOST  100u /* largest number of levels of indentation */

struct flow_tree {
	struct flow_call_view view;
	struct base_output *out;
	int json;
	const struct hwt_stream *stream;
	/*
	 * set if a function was entered and nothing has happened in it yet, so that its line is not written
	 * yet
	 */
	int waits;
	struct flow_frame entered;
	uint32_t depth;
	uint64_t stamp;
	int has_stamp;
};

static char *put_right(char *at, const char *text, size_t length, size_t columns)
{
	for (size_t n = length; n < columns; n++)
		*at++ = ' ';
	memcpy(at, text, length);
	return at + length;
}

static char *put_time(const struct flow_tree *tree, char *at, int has_stamp, uint64_t stamp)
{
	char text[32] = "?";
	size_t length = has_stamp ? flow_put_time(text, tree->view.flow, stamp) : 1;

	*at++ = '[';
	at = put_right(at, text, length, TIME_COLUMNS);
	return base_put_literal(at, "] ");
}

/* Writes a duration such as " 12.345 us ", or the same number of spaces. */
static char *put_span(const struct flow_tree *tree, char *at, int known, uint64_t ticks)
{
	char text[32];
	size_t length = known ? flow_put_span(text, tree->view.flow, ticks) : 0;

	at = put_right(at, text, length, SPAN_COLUMNS);
	if (!known)
		return base_put_literal(at, "    ");
	return tree->view.flow->frequency ? base_put_literal(at, " us ") : base_put_literal(at, "    ");
}

static char *put_indent(char *at, uint32_t depth)
{
	const size_t blanks = 2u * (depth < INDENT_MOST ? depth : INDENT_MOST);

	memset(at, ' ', blanks);
	return at + blanks;
}

static char *put_function(char *at, const struct flow_frame *frame)
{
	static const char *const marks[] = {
		[FLOW_SEEN] = "",	  [FLOW_CALL] = "",	 [FLOW_TAIL] = "-> ",
		[FLOW_INTERRUPT] = "!! ", [FLOW_KERNEL] = "=> ",
	};
	const char *mark = marks[frame->how];

	memcpy(at, mark, strlen(mark));
	at += strlen(mark);
	return at + flow_put_function(at, frame->function);
}

/* Writes {"time":1.5,"id":0,"depth":2,"event":"enter" */
static char *put_object(const struct flow_tree *tree, char *at, const char *event, int has_stamp,
			uint64_t stamp, uint32_t depth)
{
	*at++ = '{';
	if (has_stamp) {
		at = base_put_literal(at, "\"time\":");
		at += flow_put_time(at, tree->view.flow, stamp);
		*at++ = ',';
	}
	at = base_put_decimal(base_put_literal(at, "\"id\":"), flow_stream_id(tree->stream));
	at = base_put_decimal(base_put_literal(at, ",\"depth\":"), depth);
	return base_json_name(base_put_literal(at, ",\"event\":"), event);
}

static char *put_names(char *at, const struct flow_frame *frame)
{
	char name[FLOW_NAME_ROOM];

	flow_put_function(name, frame->function);
	at = base_json_string(base_put_literal(at, ",\"function\":"), name, strlen(name));
	if (!frame->function->image)
		return at;
	flow_put_name(name, frame->function->image, "");
	return base_json_string(base_put_literal(at, ",\"image\":"), name, strlen(name));
}

static char *put_tid(char *at, const struct flow_moment *moment)
{
	return moment->tid ? base_put_decimal(base_put_literal(at, ",\"tid\":"), moment->tid) : at;
}

/* Writes the delayed line of the function that was entered last: more lines follow inside this function. */
static void write_entered(struct flow_tree *tree)
{
	char *at = base_output_line(tree->out);

	if (!tree->waits)
		return;
	tree->waits = 0;
	at = put_span(tree, put_time(tree, at, tree->has_stamp, tree->stamp), 0, 0);
	at = put_function(put_indent(at, tree->depth), &tree->entered);
	base_output_done(tree->out, base_put_literal(at, " {\n"));
}

static int enter(void *to, struct flow_frame *frame, const struct flow_moment *moment)
{
	struct flow_tree *tree = to;
	char *at;

	if (!tree->json) {
		write_entered(tree);
		tree->waits = 1;
		tree->entered = *frame;
		tree->depth = moment->depth;
		tree->stamp = moment->step->stamp;
		tree->has_stamp = moment->step->has_stamp;
		return 0;
	}
	at = put_object(tree, base_output_line(tree->out), "enter", moment->step->has_stamp,
			moment->step->stamp, moment->depth);
	at = put_names(put_tid(at, moment), frame);
	at = base_json_name(base_put_literal(at, ",\"how\":"), flow_how_word(frame->how));
	base_output_done(tree->out, base_put_literal(at, "}\n"));
	return 0;
}

static int leave(void *to, const struct flow_frame *frame, const struct flow_moment *moment)
{
	struct flow_tree *tree = to;
	uint64_t ticks;
	/* If the unit wrote no timestamp between the call and the return, the duration is unknown. */
	const int known = flow_took(frame, moment->step, &ticks) && ticks > 0;
	char *at = base_output_line(tree->out);

	if (tree->json) {
		at = put_object(tree, at, "leave", moment->step->has_stamp, moment->step->stamp,
				moment->depth);
		at = put_names(put_tid(at, moment), frame);
		if (known)
			at = base_put_decimal(base_put_literal(at, ",\"ticks\":"), ticks);
		*at++ = '}';
	} else if (tree->waits) {
		tree->waits = 0;
		at = put_span(tree, put_time(tree, at, tree->has_stamp, tree->stamp), known, ticks);
		at = put_function(put_indent(at, moment->depth), frame);
	} else {
		at = put_time(tree, at, moment->step->has_stamp, moment->step->stamp);
		at = put_indent(put_span(tree, at, known, ticks), moment->depth);
		at = base_put_literal(at, "} ");
		at += flow_put_function(at, frame->function);
	}
	*at++ = '\n';
	base_output_done(tree->out, at);
	return 0;
}

/* Writes "--- overflow ---" as a line of its own, at the margin. */
static void write_mark(struct flow_tree *tree, const struct hwt_step *step, const char *word,
		       const char *text)
{
	char *at = base_output_line(tree->out);

	if (tree->json) {
		at = put_object(tree, at, word, step->has_stamp, step->stamp, 0);
		if (*text)
			at = base_json_string(base_put_literal(at, ",\"text\":"), text, strlen(text));
		base_output_done(tree->out, base_put_literal(at, "}\n"));
		return;
	}
	write_entered(tree);
	base_output_format(tree->out, "--- %s%s%s ---\n", word, *text ? ": " : "", text);
}

static int cut(void *to, const struct flow_moment *moment)
{
	const struct flow_tree *tree = to;

	if (moment->step->kind != HWT_GAP && moment->step->kind != HWT_OVERFLOW)
		write_mark(to, moment->step, tree->json ? "begun anew" : "stack restarted", "");
	return 0;
}

static int turn(void *to, const struct flow_moment *moment)
{
	char text[64];

	if (moment->tid)
		snprintf(text, sizeof(text), "%" PRIu32, moment->tid);
	else
		snprintf(text, sizeof(text), "of address space %#" PRIx64, moment->space);
	write_mark(to, moment->step, "thread", text);
	return 0;
}

static const struct flow_sink sink = { .enter = enter, .leave = leave, .cut = cut, .turn = turn };

static int begin(void *view, const struct hwt_stream *stream)
{
	struct flow_tree *tree = view;
	char label[FLOW_NAME_ROOM + 64];

	tree->stream = stream;
	flow_put_stream(label, stream);
	if (!tree->json)
		base_output_format(tree->out, "%s\n", label);
	return flow_call_view_begin(&tree->view, stream, &sink, tree);
}

static int step(void *view, const struct hwt_step *step)
{
	struct flow_tree *tree = view;
	char text[FLOW_PAYLOAD_ROOM];

	if (step->kind == HWT_GAP || step->kind == HWT_OVERFLOW || step->kind == HWT_NOTE) {
		flow_put_payload(text, tree->view.flow, step);
		write_mark(tree, step, flow_kind_word(step->kind), text);
	}
	if (tree->out->error)
		return 1;
	return flow_calls_step(tree->view.calls, step);
}

static int end(void *view)
{
	struct flow_tree *tree = view;

	write_entered(tree);
	flow_call_view_end(&tree->view);
	return 0;
}

const struct flow_view flow_tree = { .begin = begin, .step = step, .end = end };

int flow_tree_new(struct flow_tree **tree, struct flow *flow, struct base_output *out, int json)
{
	*tree = calloc(1, sizeof(**tree));
	if (!*tree)
		return KTREAD_E_MEMORY;
	(*tree)->view.flow = flow;
	(*tree)->out = out;
	(*tree)->json = json;
	return 0;
}

void flow_tree_free(struct flow_tree *tree)
{
	free(tree);
}

const struct flow_doubts *flow_tree_doubts(const struct flow_tree *tree)
{
	return &tree->view.doubts;
}
