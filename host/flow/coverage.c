/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What of the code ran: source lines, and functions. */
#include "flow/views.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/grow.h"
#include "base/index.h"
#include "base/json.h"
#include "flow/flow.h"
#include "ktread/ktread.h"

/* ---- Lines that ran ---- */

/*
 * Runs are counted by file and place in it. At the end, for each file, they are gone through in order of
 * addresses beside its line table: how many runs cover an address changes only where one begins or ends.
 */

#define IMAGES_MOST 4096u
#define SOURCE_MOST 4096u
#define NEAR	    64u /* paths of which the image is kept */

struct block {
	uint64_t begin, end; /* in the file's own addresses */
	uint64_t count;
	uint32_t image;
};

/* The image of a path, which images own: as long as they are there it is in the same place. */
struct near {
	const char *path;
	uint32_t image;
};

struct flow_coverage {
	struct flow *flow;
	char *image[IMAGES_MOST]; /* paths */
	uint32_t images;
	struct near near[NEAR]; /* by where the path is */
	struct block *block;
	uint32_t blocks, room;
	struct base_index index; /* blocks by place */
	uint64_t unplaced;	 /* runs of code that no file is known of */
};

/* ---- Counting ---------------------------------------------------------------------------------- */

/* IMAGES_MOST: there are too many, or no memory. */
static uint32_t find_image(struct flow_coverage *coverage, const char *path)
{
	uint32_t n = coverage->images;

	while (n > 0 && strcmp(coverage->image[n - 1], path) != 0)
		n--;
	if (n > 0)
		return n - 1;
	if (coverage->images == IMAGES_MOST)
		return IMAGES_MOST;
	coverage->image[coverage->images] = strdup(path);
	return coverage->image[coverage->images] ? coverage->images++ : IMAGES_MOST;
}

static uint32_t image_of(struct flow_coverage *coverage, const char *path)
{
	struct near *near = &coverage->near[((uintptr_t)path >> 4 ^ (uintptr_t)path >> 12) % NEAR];

	if (near->path != path)
		*near = (struct near){ path, find_image(coverage, path) };
	return near->image;
}

/* The block of that place, a new one if need be; NULL when out of memory. */
static struct block *obtain(struct flow_coverage *coverage, uint32_t image, uint64_t begin, uint64_t end)
{
	const uint64_t hash = base_hash(base_hash(base_hash(0, image), begin), end);
	struct block *block;

	for (uint32_t probe = 0, n; base_index_next(&coverage->index, hash, &probe, &n);) {
		block = &coverage->block[n];
		if (block->begin == begin && block->end == end && block->image == image)
			return block;
	}
	block = base_grow(coverage->block, &coverage->room, coverage->blocks + 1u, sizeof(*block));
	if (!block)
		return NULL;
	coverage->block = block;
	if (base_index_add(&coverage->index, hash, coverage->blocks) < 0)
		return NULL;
	block += coverage->blocks++;
	*block = (struct block){ .begin = begin, .end = end, .image = image };
	return block;
}

static int count(struct flow_coverage *coverage, const struct hwt_step *step, uint64_t address, uint64_t size)
{
	struct hwt_place place;
	struct block *block;
	uint32_t image;

	if (!hwt_images_place(coverage->flow->images, step->pid, step->stamp, address, 0, &place) ||
	    !place.path || place.offset > UINT64_MAX - size ||
	    (image = image_of(coverage, place.path)) == IMAGES_MOST) {
		coverage->unplaced++;
		return 0;
	}
	block = obtain(coverage, image, place.offset, place.offset + size);
	if (!block)
		return KTREAD_E_MEMORY;
	block->count++;
	return 0;
}

static int step(void *view, const struct hwt_step *step)
{
	if (step->kind == HWT_RUN && step->end > step->address)
		return count(view, step, step->address, step->end - step->address);
	return 0;
}

const struct flow_view flow_coverage = { .step = step };

/* ---- From addresses to lines ------------------------------------------------------------------- */

/* Where the number of runs that cover an address changes. */
struct edge {
	uint64_t address;
	int64_t change;
};

struct counted {
	const char *source;
	unsigned line;
	uint64_t count;
};

static int by_place(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int by_source(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;
	int order = strcmp(x->source, y->source);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* Of one image, by address; NULL: out of memory. */
static struct edge *edges_of(const struct flow_coverage *coverage, uint32_t image, size_t *edges)
{
	struct edge *edge = malloc((2 * (size_t)coverage->blocks + 1) * sizeof(*edge));

	*edges = 0;
	for (uint32_t n = 0; edge && n < coverage->blocks; n++) {
		const struct block *block = &coverage->block[n];

		if (block->image != image)
			continue;
		edge[(*edges)++] = (struct edge){ block->begin, (int64_t)block->count };
		edge[(*edges)++] = (struct edge){ block->end, -(int64_t)block->count };
	}
	if (edge)
		qsort(edge, *edges, sizeof(*edge), by_place);
	return edge;
}

/*
 * The most runs that cover any address of each line. Lines are by address, and may overlap: each begins its
 * own way.
 */
static void cover(const struct flow_lines *lines, const struct edge *edge, size_t edges,
		  struct counted *counted)
{
	size_t behind = 0; /* edges up to the line's beginning */
	int64_t covered = 0;

	for (size_t n = 0; n < lines->count; n++) {
		const struct flow_line *line = &lines->line[n];
		int64_t here, most;

		while (behind < edges && edge[behind].address <= line->begin)
			covered += edge[behind++].change;
		here = most = covered;
		for (size_t i = behind; i < edges && edge[i].address < line->end;) {
			const uint64_t address = edge[i].address;

			while (i < edges && edge[i].address == address)
				here += edge[i++].change;
			most = here > most ? here : most;
		}
		counted[n] = (struct counted){ line->source, line->line, (uint64_t)most };
	}
}

static void write_source(struct base_output *out, const char *source)
{
	char *at = base_output_line(out);

	memcpy(at, "SF:", 3);
	at = base_escape_text(at + 3, source, strnlen(source, SOURCE_MOST), BASE_OUTPUT_LINE - 8);
	*at++ = '\n';
	base_output_done(out, at);
}

/*
 * One source file's lines from `first` on: how many there are; nothing is written of a file of which nothing
 * ran.
 */
static size_t write_file(struct base_output *out, const struct counted *counted, size_t first, size_t count)
{
	size_t end = first, found = 0, hit = 0;
	uint64_t any = 0;

	while (end < count && strcmp(counted[end].source, counted[first].source) == 0)
		any |= counted[end++].count;
	if (!any)
		return end - first;
	write_source(out, counted[first].source);
	for (size_t n = first, next; n < end; n = next) {
		uint64_t most = 0;

		for (next = n; next < end && counted[next].line == counted[n].line; next++)
			most = counted[next].count > most ? counted[next].count : most;
		base_output_format(out, "DA:%u,%" PRIu64 "\n", counted[n].line, most);
		found++;
		hit += most > 0;
	}
	base_output_format(out, "LF:%zu\nLH:%zu\nend_of_record\n", found, hit);
	return end - first;
}

static int write_image(struct flow_coverage *coverage, uint32_t image, const struct flow_lines *lines,
		       struct base_output *out)
{
	size_t edges;
	struct edge *edge = edges_of(coverage, image, &edges);
	struct counted *counted = malloc((lines->count + 1) * sizeof(*counted));
	const int status = edge && counted ? 0 : KTREAD_E_MEMORY;

	if (status == 0) {
		cover(lines, edge, edges, counted);
		qsort(counted, lines->count, sizeof(*counted), by_source);
		base_output_text(out, "TN:\n");
		for (size_t n = 0; n < lines->count && !out->error;)
			n += write_file(out, counted, n, lines->count);
	}
	free(edge);
	free(counted);
	return status;
}

int flow_coverage_write(struct flow_coverage *coverage, struct base_output *out,
			void (*warn)(void *to, const char *text), void *to)
{
	char message[512];
	int status = 0;

	for (uint32_t n = 0; n < coverage->images && status == 0; n++) {
		struct flow_lines lines;

		if (flow_lines_read(&lines, coverage->image[n], message, sizeof(message)) == 0)
			status = write_image(coverage, n, &lines, out);
		else
			warn(to, message);
		flow_lines_free(&lines);
	}
	snprintf(message, sizeof(message), "runs of code that no file is known of, not counted: %" PRIu64,
		 coverage->unplaced);
	if (coverage->unplaced)
		warn(to, message);
	return status;
}

int flow_coverage_new(struct flow_coverage **coverage, struct flow *flow)
{
	*coverage = calloc(1, sizeof(**coverage));
	if (!*coverage)
		return KTREAD_E_MEMORY;
	(*coverage)->flow = flow;
	return 0;
}

void flow_coverage_free(struct flow_coverage *coverage)
{
	if (!coverage)
		return;
	for (uint32_t n = 0; n < coverage->images; n++)
		free(coverage->image[n]);
	free(coverage->block);
	base_index_free(&coverage->index);
	free(coverage);
}

/* ---- Functions that ran ---- */

struct flow_executed {
	struct flow *flow;
	uint8_t *seen; /* by id */
	uint32_t room;
	/* The function that ran last; nothing but runs has come since, so that it is mapped where it was. */
	int has_last;
	uint32_t last_pid;
	uint64_t last_space;
	struct flow_spot last;
};

static int mark(struct flow_executed *executed, uint32_t id)
{
	uint8_t *seen = base_grow(executed->seen, &executed->room, (size_t)id + 1, 1);

	if (!seen)
		return KTREAD_E_MEMORY;
	executed->seen = seen;
	executed->seen[id] = 1;
	return 0;
}

static int mark_address(struct flow_executed *executed, const struct hwt_step *step, uint64_t address)
{
	int status;

	if (executed->has_last && executed->last_pid == step->pid && executed->last_space == step->space &&
	    address >= executed->last.begin && address < executed->last.end)
		return 0;
	status = flow_functions_at(executed->flow->functions, step->pid, step->stamp, address,
				   &executed->last);
	executed->has_last = status == 0;
	executed->last_pid = step->pid;
	executed->last_space = step->space;
	return status < 0 ? status : mark(executed, executed->last.function->id);
}

static int mark_step(void *view, const struct hwt_step *step)
{
	struct flow_executed *executed = view;
	uint64_t address = step->address;
	int status;

	if (step->kind != HWT_RUN) {
		executed->has_last = 0;
		return step->kind == HWT_SAMPLE && step->sample->has >> HWT_SAMPLE_PC & 1
			       ? mark_address(executed, step, step->sample->pc)
			       : 0;
	}
	do {
		status = mark_address(executed, step, address);
		address = executed->last.end;
	} while (status == 0 && executed->last.function->name && address <= step->last &&
		 address > step->address);
	return status;
}

const struct flow_view flow_executed = { .step = mark_step };

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_name(const void *a, const void *b)
{
	const struct flow_function *x = *(const struct flow_function *const *)a;
	const struct flow_function *y = *(const struct flow_function *const *)b;
	int order = compare_texts(x->image, y->image);

	if (order == 0)
		order = compare_texts(x->name, y->name);
	return order ? order : (x->offset > y->offset) - (x->offset < y->offset);
}

static void write_function(struct base_output *out, const struct flow_function *function, int json)
{
	char image[FLOW_NAME_ROOM], name[FLOW_NAME_ROOM];

	flow_put_name(image, function->image, "-");
	flow_put_function(name, function);
	if (!json) {
		base_output_format(out, "%s %s\n", image, name);
		return;
	}
	base_json_begin(out, NULL, '{');
	base_json_put_text(out, "function", name);
	if (function->image)
		base_json_put_text(out, "image", image);
	if (function->name)
		base_json_put_format(out, "offset", "\"0x%" PRIx64 "\"", function->offset);
	base_output_text(out, "}\n");
}

int flow_executed_write(struct flow_executed *executed, struct base_output *out, int json)
{
	const struct flow_functions *functions = executed->flow->functions;
	const struct flow_function **list =
		calloc((size_t)executed->room + 1, sizeof(struct flow_function *));
	uint32_t count = 0;

	if (!list)
		return KTREAD_E_MEMORY;
	for (uint32_t id = 0; id < executed->room; id++)
		if (executed->seen[id])
			list[count++] = flow_functions_get(functions, id);
	qsort(list, count, sizeof(struct flow_function *), by_name);
	for (uint32_t n = 0; n < count && !out->error; n++)
		write_function(out, list[n], json);
	free(list);
	return 0;
}

int flow_executed_new(struct flow_executed **executed, struct flow *flow)
{
	*executed = calloc(1, sizeof(**executed));
	if (!*executed)
		return KTREAD_E_MEMORY;
	(*executed)->flow = flow;
	return 0;
}

void flow_executed_free(struct flow_executed *executed)
{
	if (!executed)
		return;
	free(executed->seen);
	free(executed);
}
