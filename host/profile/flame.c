/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A flame graph: a box for each frame, as wide as its share of the samples, above the box of its caller.
 * Frames that are narrower than a pixel are left out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "export/svg.h"
#include "profile/profile.h"

#define WIDTH	  1200.0
#define SIDE	  10.0
#define TOP	  44.0
#define ROW	  17.0
#define LEAST	  1.0 /* minimum width of a box in pixels */
#define NAME_MOST 200

struct drawing {
	struct base_output *out;
	const struct profile *profile;
	double scale;  /* width of a sample in pixels */
	double bottom; /* vertical position of the lowest row of boxes */
	uint64_t all;
};

static uint32_t depth_of(const struct profile_tree *tree, double scale)
{
	uint32_t deepest = 0;

	for (uint32_t n = 1; n < tree->count; n++) {
		uint32_t depth = 0;

		if ((double)tree->node[n].total * scale < LEAST)
			continue;
		for (uint32_t at = n; at; at = tree->node[at].parent)
			depth++;
		deepest = depth > deepest ? depth : deepest;
	}
	return deepest;
}

static void draw_frame(const struct drawing *drawing, const struct profile_node *node, double x,
		       uint32_t depth)
{
	const double width = (double)node->total * drawing->scale, y = drawing->bottom - ROW * (depth + 1);
	const char *name = profile_name(drawing->profile, node->id);
	char class[] = "c0", tip[NAME_MOST + 64];

	class[1] = (char)('0' + (node->id * 2654435761u >> 29));
	snprintf(tip, sizeof(tip), "%.*s: %" PRIu64 " samples, %.1f %%", NAME_MOST, name, node->total,
		 100.0 * (double)node->total / (double)drawing->all);
	svg_box(drawing->out, class, x, y, width - 0.5, ROW - 1, tip);
	svg_text(drawing->out, "in", x + 3, y + 12, "start", width - 6, name);
}

/*
 * Draws the frames that `parent` called side by side. Above each of these frames, draws the frames that it
 * called. The number of levels is at most STACK_PLACES.
 */
static void draw_callees(const struct drawing *drawing, uint32_t parent, double x, uint32_t depth)
{
	const struct profile_node *node = drawing->profile->tree.node;

	for (uint32_t n = node[parent].child; n; n = node[n].next) {
		if ((double)node[n].total * drawing->scale < LEAST)
			continue;
		draw_frame(drawing, &node[n], x, depth);
		draw_callees(drawing, n, x, depth + 1);
		x += (double)node[n].total * drawing->scale;
	}
}

void profile_put_svg(struct base_output *out, struct profile *profile)
{
	struct drawing drawing = { .out = out, .profile = profile, .all = profile->kernel + profile->user };
	uint32_t depth;
	char text[512];

	profile_tree_sum(&profile->tree);
	drawing.scale = drawing.all ? (WIDTH - 2 * SIDE) / (double)drawing.all : 0;
	depth = depth_of(&profile->tree, drawing.scale);
	drawing.bottom = TOP + ROW * depth;
	profile_put_summary(profile, text, sizeof(text));
	svg_begin(out, (unsigned)WIDTH, (unsigned)(drawing.bottom + SIDE), "Flame graph of a guest");
	svg_text(out, "head", SIDE, 16, "start", WIDTH, "Flame graph of a guest");
	svg_text(out, "dim", SIDE, 32, "start", WIDTH - 2 * SIDE, text);
	if (profile->tree.count)
		draw_callees(&drawing, 0, SIDE, 0);
	svg_end(out);
}
