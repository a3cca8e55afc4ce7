/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The reports of a profile: the table, the folded stacks, the JSON object and the flame graph. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "export/views.h"
#include "profile/profile.h"

#define NAME_MOST 256u /* maximum number of bytes of a name in the reports */
#define SAFE_ROOM (NAME_MOST * BASE_ESCAPE_TEXT_GROWTH + 1)

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static uint64_t busy(const struct profile *profile)
{
	return profile->kernel + profile->user;
}

static const char *safe_name(const struct profile *profile, uint32_t id, char safe[SAFE_ROOM])
{
	const char *name = profile_name(profile, id);

	*base_escape_text(safe, name, strnlen(name, NAME_MOST), SAFE_ROOM - 1) = '\0';
	return safe;
}

void profile_put_summary(const struct profile *profile, char *text, size_t size)
{
	const uint64_t all = busy(profile) + profile->idle;
	const double seconds = profile->seconds;

	snprintf(text, size,
		 "%" PRIu64 " samples of %" PRIu32
		 " CPU%s in %.1f s, %.0f per second: kernel %.1f %%, user %.1f %%, "
		 "idle %.1f %%; the guest was halted for %.1f %% of the time",
		 profile->rounds, profile->cpus, profile->cpus == 1 ? "" : "s", seconds,
		 seconds > 0 ? (double)(profile->rounds - 1) / seconds : 0, percent(profile->kernel, all),
		 percent(profile->user, all), percent(profile->idle, all),
		 seconds > 0 ? 100 * profile->halted / seconds : 0);
}

/* Writes how many of the stacks are incomplete. */
static void put_ends(struct base_output *out, const struct profile *profile)
{
	const uint64_t incomplete = profile->kernel - profile->ends[STACK_END_WHOLE];

	if (incomplete)
		base_output_format(
			out,
			"%" PRIu64 " of %" PRIu64 " kernel stacks are incomplete: %" PRIu64
			" unreadable, %" PRIu64 " where a frame is unknown, %" PRIu64 " deeper than %u\n",
			incomplete, profile->kernel, profile->ends[STACK_END_UNREADABLE],
			profile->ends[STACK_END_BROKEN], profile->ends[STACK_END_DEEP], STACK_PLACES);
	if (profile->tree.cut)
		base_output_format(out,
				   "%" PRIu64 " stacks were cut, because there are too many different ones\n",
				   profile->tree.cut);
}

void profile_put_table(struct base_output *out, struct profile *profile, uint32_t limit)
{
	struct profile_frame *frames;
	char text[512], safe[SAFE_ROOM];
	uint32_t count;

	profile_put_summary(profile, text, sizeof(text));
	base_output_format(out, "%s\n", text);
	put_ends(out, profile);
	profile_tree_sum(&profile->tree);
	count = profile_tree_frames(&profile->tree, &frames);
	if (count)
		base_output_text(out, "\n   self   total  function\n");
	for (uint32_t n = 0; n < count && (!limit || n < limit); n++)
		base_output_format(out, "%5.1f %% %5.1f %%  %s\n", percent(frames[n].self, busy(profile)),
				   percent(frames[n].total, busy(profile)),
				   safe_name(profile, frames[n].id, safe));
	if (limit && count > limit)
		base_output_format(out, "%" PRIu32 " more functions: see --limit\n", count - limit);
	free(frames);
}

/* Writes the frames from the outermost to node `n`. Replaces ';' in names, because it separates frames. */
static void put_stack(struct base_output *out, const struct profile *profile, uint32_t n)
{
	const struct profile_node *node = profile->tree.node;
	uint32_t path[STACK_PLACES + 1], depth = 0;
	char safe[SAFE_ROOM];

	for (; n && depth <= STACK_PLACES; n = node[n].parent)
		path[depth++] = node[n].id;
	while (depth-- > 0) {
		safe_name(profile, path[depth], safe);
		for (char *at = safe; (at = strchr(at, ';'));)
			*at = ':';
		base_output_text(out, *safe ? safe : "[unknown]");
		if (depth)
			base_output_text(out, ";");
	}
}

void profile_put_folded(struct base_output *out, const struct profile *profile)
{
	for (uint32_t n = 1; n < profile->tree.count; n++) {
		if (!profile->tree.node[n].self)
			continue;
		put_stack(out, profile, n);
		base_output_format(out, " %" PRIu64 "\n", profile->tree.node[n].self);
	}
}

static void put_json_name(struct base_output *out, const char *key, const struct profile *profile,
			  uint32_t id)
{
	const char *name = profile_name(profile, id);

	base_json_put_bytes(out, key, name, strnlen(name, NAME_MOST));
}

static void put_json_functions(struct base_output *out, struct profile *profile)
{
	struct profile_frame *frames;
	uint32_t count;

	profile_tree_sum(&profile->tree);
	count = profile_tree_frames(&profile->tree, &frames);
	base_json_begin(out, "functions", '[');
	for (uint32_t n = 0; n < count; n++) {
		base_json_begin(out, NULL, '{');
		put_json_name(out, "name", profile, frames[n].id);
		base_json_put_number(out, "self", frames[n].self);
		base_json_put_number(out, "total", frames[n].total);
		base_output_text(out, "}");
	}
	base_output_text(out, "]");
	free(frames);
}

static void put_json_stacks(struct base_output *out, const struct profile *profile)
{
	const struct profile_node *node = profile->tree.node;

	base_json_begin(out, "stacks", '[');
	for (uint32_t n = 1; n < profile->tree.count; n++) {
		if (!node[n].self)
			continue;
		base_json_begin(out, NULL, '{');
		base_json_put_number(out, "samples", node[n].self);
		base_json_begin(out, "frames", '[');
		for (uint32_t at = n; at; at = node[at].parent)
			put_json_name(out, NULL, profile, node[at].id);
		base_output_text(out, "]}");
	}
	base_output_text(out, "]");
}

void profile_put_json(struct base_output *out, struct profile *profile)
{
	base_json_begin(out, NULL, '{');
	base_json_put_number(out, "version", PROFILE_JSON_VERSION);
	base_json_put_number(out, "cpus", profile->cpus);
	base_json_put_format(out, "seconds", "%.3f", profile->seconds);
	base_json_put_format(out, "halted_seconds", "%.6f", profile->halted);
	base_json_put_number(out, "samples", profile->rounds);
	base_json_put_number(out, "paused", profile->paused);
	base_json_put_number(out, "kernel", profile->kernel);
	base_json_put_number(out, "user", profile->user);
	base_json_put_number(out, "idle", profile->idle);
	base_json_begin(out, "incomplete", '{');
	base_json_put_number(out, "unreadable", profile->ends[STACK_END_UNREADABLE]);
	base_json_put_number(out, "broken", profile->ends[STACK_END_BROKEN]);
	base_json_put_number(out, "deep", profile->ends[STACK_END_DEEP]);
	base_json_put_number(out, "cut", profile->tree.cut);
	base_output_text(out, "}");
	put_json_functions(out, profile);
	put_json_stacks(out, profile);
	base_output_text(out, "}\n");
}

/* ---- The flame graph ---- */

/*
 * A flame graph: a box for each frame, as wide as its share of the samples, above the box of its caller.
 * Frames that are narrower than a pixel are left out.
 */

#define WIDTH	      1200.0
#define SIDE	      10.0
#define TOP	      44.0
#define ROW	      17.0
#define LEAST	      1.0 /* minimum width of a box in pixels */
#define TIP_NAME_MOST 200

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
	char class[] = "c0", tip[TIP_NAME_MOST + 64];

	class[1] = (char)('0' + (node->id * 2654435761u >> 29));
	snprintf(tip, sizeof(tip), "%.*s: %" PRIu64 " samples, %.1f %%", TIP_NAME_MOST, name, node->total,
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
