/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Folded stacks. A stack is a path in a tree of nodes, whose root is node 0. A hash table of all nodes finds
 * the children of a node.
 */
#include "flow/views.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/index.h"
#include "base/put.h"
#include "base/ticks.h"
#include "ktread/ktread.h"

struct node {
	uint32_t parent, function;
	uint32_t child, sibling; /* child or sibling node; 0: none */
	uint64_t weight;
};

struct flow_folded {
	struct flow_call_view view;
	enum flow_weight weight;
	struct node *node;
	uint32_t nodes, room;
	struct base_index index; /* index that finds nodes by parent and function */
	uint64_t left_out;
	/* State of the current stream. */
	uint32_t current; /* node to which time is added */
	uint64_t stamp;	  /* timestamp up to which the time of the stream has been added to nodes */
	int has_stamp;
};

/* Makes room for one more node. */
static int grow(struct flow_folded *folded)
{
	struct node *node = base_grow(folded->node, &folded->room, folded->nodes + 1u, sizeof(*node));

	if (!node)
		return KTREAD_E_MEMORY;
	folded->node = node;
	return 0;
}

/*
 * Finds or adds the child of a node. If the limit of nodes is reached, uses the parent instead of a new
 * child. Returns 0 or KTREAD_E_MEMORY.
 */
static int child_of(struct flow_folded *folded, uint32_t parent, uint32_t function, uint32_t *child)
{
	const uint64_t hash = base_hash(0, (uint64_t)parent << 32 | function);
	struct node *node;

	for (uint32_t probe = 0; base_index_next(&folded->index, hash, &probe, child);)
		if (folded->node[*child].parent == parent && folded->node[*child].function == function)
			return 0;
	if (folded->nodes == FLOW_FOLDED_MOST) {
		folded->left_out++;
		*child = parent;
		return 0;
	}
	*child = folded->nodes;
	if (grow(folded) < 0 || base_index_add(&folded->index, hash, *child) < 0)
		return KTREAD_E_MEMORY;
	node = &folded->node[folded->nodes++];
	*node = (struct node){ .parent = parent,
			       .function = function,
			       .sibling = folded->node[parent].child };
	folded->node[parent].child = *child;
	return 0;
}

static int enter(void *to, struct flow_frame *frame, const struct flow_moment *at)
{
	uint32_t parent = at->depth ? at->stack[at->depth - 1].mark : 0;

	return child_of(to, parent, frame->function->parent_id, &frame->mark);
}

static int run(void *to, const struct flow_frame *frame, const struct flow_moment *at)
{
	struct flow_folded *folded = to;

	/*
	 * If a sequence of instructions passes through several functions, all its instructions count for the
	 * first function.
	 */
	if (folded->weight == FLOW_BY_INSTRUCTIONS && !at->continued)
		folded->node[frame->mark].weight += at->step->instructions;
	folded->current = frame->mark;
	return 0;
}

static const struct flow_sink sink = { .enter = enter, .run = run };

static int begin(void *view, const struct hwt_stream *stream)
{
	struct flow_folded *folded = view;

	folded->current = 0;
	folded->has_stamp = 0;
	return flow_call_view_begin(&folded->view, stream, &sink, folded);
}

/*
 * Adds the time since the last timestamp to the stack that ran during that time. The time of a gap is not
 * added to any stack.
 */
static void add_time(struct flow_folded *folded, const struct hwt_step *step)
{
	if (step->kind == HWT_GAP || step->kind == HWT_OVERFLOW) {
		folded->has_stamp = 0;
		return;
	}
	if (!step->has_stamp)
		return;
	if (folded->has_stamp && folded->current && step->stamp > folded->stamp)
		folded->node[folded->current].weight += step->stamp - folded->stamp;
	folded->stamp = step->stamp;
	folded->has_stamp = 1;
}

static int step(void *view, const struct hwt_step *step)
{
	struct flow_folded *folded = view;

	if (folded->weight == FLOW_BY_TIME)
		add_time(folded, step);
	return flow_calls_step(folded->view.calls, step);
}

static int end(void *view)
{
	struct flow_folded *folded = view;

	flow_call_view_end(&folded->view);
	return 0;
}

const struct flow_view flow_folded = { .begin = begin, .step = step, .end = end };

/* ---- Writing the lines ------------------------------------------------------------------------- */

static void put_path(const struct flow_folded *folded, struct base_output *out, uint32_t n)
{
	uint32_t path[FLOW_DEPTH_MOST + 1], depth = 0;
	char name[FLOW_NAME_ROOM];

	for (; n && depth <= FLOW_DEPTH_MOST; n = folded->node[n].parent)
		path[depth++] = folded->node[n].function;
	while (depth--) {
		flow_put_function(name, flow_functions_get(folded->view.flow->functions, path[depth]));
		for (char *at = name; *at; at++)
			if (*at == ';' || *at == ' ')
				*at = '_';
		base_output_text(out, name);
		base_output_text(out, depth ? ";" : " ");
	}
}

static uint64_t weight_of(const struct flow_folded *folded, const struct node *node)
{
	const uint64_t frequency = folded->view.flow->frequency;

	return folded->weight == FLOW_BY_TIME && frequency
		       ? base_ticks_nanoseconds_exact(node->weight, frequency)
		       : node->weight;
}

struct named {
	const char *name;
	uint32_t node;
};

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->node > y->node) - (x->node < y->node);
}

/* Sorts a node's children by name. */
static int sort_children(struct flow_folded *folded, uint32_t parent)
{
	struct named *list;
	uint32_t count = 0;

	for (uint32_t n = folded->node[parent].child; n; n = folded->node[n].sibling)
		count++;
	if (count < 2)
		return 0;
	list = malloc(count * sizeof(*list));
	if (!list)
		return KTREAD_E_MEMORY;
	count = 0;
	for (uint32_t n = folded->node[parent].child; n; n = folded->node[n].sibling) {
		const struct flow_function *function =
			flow_functions_get(folded->view.flow->functions, folded->node[n].function);

		list[count++] = (struct named){ function->name ? function->name : "", n };
	}
	qsort(list, count, sizeof(*list), by_name);
	folded->node[parent].child = list[0].node;
	for (uint32_t n = 0; n < count; n++)
		folded->node[list[n].node].sibling = n + 1 < count ? list[n + 1].node : 0;
	free(list);
	return 0;
}

int flow_folded_write(struct flow_folded *folded, struct base_output *out)
{
	uint32_t n = 0;
	int status;

	for (;;) {
		const struct node *node = &folded->node[n];
		uint64_t weight = weight_of(folded, node);

		if (n && weight) {
			put_path(folded, out, n);
			base_output_format(out, "%llu\n", (unsigned long long)weight);
		}
		status = sort_children(folded, n);
		if (status < 0 || out->error)
			return status;
		if (node->child) {
			n = node->child;
			continue;
		}
		while (n && !folded->node[n].sibling)
			n = folded->node[n].parent;
		if (!n)
			return 0;
		n = folded->node[n].sibling;
	}
}

int flow_folded_new(struct flow_folded **folded, struct flow *flow, enum flow_weight weight)
{
	struct flow_folded *f = calloc(1, sizeof(*f));
	int status = KTREAD_E_MEMORY;

	if (f) {
		f->view.flow = flow;
		f->weight = weight;
		f->nodes = 1;
		status = grow(f);
	}
	if (status == 0) {
		f->node[0] = (struct node){ 0 };
		*folded = f;
		return 0;
	}
	flow_folded_free(f);
	*folded = NULL;
	return status;
}

void flow_folded_free(struct flow_folded *folded)
{
	if (!folded)
		return;
	free(folded->node);
	base_index_free(&folded->index);
	free(folded);
}

uint64_t flow_folded_left_out(const struct flow_folded *folded)
{
	return folded->left_out;
}

const struct flow_doubts *flow_folded_doubts(const struct flow_folded *folded)
{
	return &folded->view.doubts;
}
