/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Counts how often each source line ran and each function was entered; lists the functions that ran. */
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

/*
 * Counts how often each address range of each image was executed as one sequence of instructions. At the end,
 * visits the sequences of each image in the order of addresses, together with the line table of the image:
 * the number of sequences that cover an address changes only where a sequence begins or ends.
 */

#define IMAGES_MOST 4096u
#define SOURCE_MOST 4096u
#define RECENT	    64u /* number of paths whose image is cached */

struct block {
	uint64_t begin, end; /* addresses [begin, end), in terms of the file's own addresses */
	uint64_t count;
	uint32_t image;
};

/*
 * The image (executable file) at a path. The path's string belongs to struct hwt_images, so its pointer
 * identifies it.
 */
struct recent {
	const char *path;
	uint32_t image;
};

struct flow_coverage {
	struct flow *flow;
	char *image[IMAGES_MOST]; /* paths of the image files */
	uint32_t images;
	struct recent recent[RECENT]; /* indexed by a hash of the path's pointer */
	struct block *block;
	uint32_t blocks, room;
	struct base_index index; /* index that finds blocks by place */
	uint64_t unplaced;	 /* number of executed sequences whose code is in no known file */
};

/* ---- Counting executed sequences --------------------------------------------------------------- */

/* Finds the image of a path, or adds it. Returns IMAGES_MOST if there are too many, or out of memory. */
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
	struct recent *recent = &coverage->recent[((uintptr_t)path >> 4 ^ (uintptr_t)path >> 12) % RECENT];

	if (recent->path != path)
		*recent = (struct recent){ path, find_image(coverage, path) };
	return recent->image;
}

/*
 * Finds the block of an address range, or adds one; the block contains the counter of the range. Returns NULL
 * if out of memory.
 */
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

/*
 * An edge: an address at which sequences of instructions begin or end. The number of executions of an
 * instruction changes there by `change`.
 */
struct edge {
	uint64_t address;
	int64_t change;
};

struct counted {
	const char *source;
	unsigned line;
	uint64_t count;
	const char *name; /* name of the function; NULL: the element is for a source line */
};

/* Lines or functions, sorted by source file. */
struct counts {
	struct counted *counted;
	size_t count;
	size_t next; /* index of the first element that is not written yet */
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

	if (order == 0)
		order = (x->line > y->line) - (x->line < y->line);
	return order == 0 && x->name ? strcmp(x->name, y->name) : order;
}

/* Returns the edges of an image, sorted by address. Returns NULL if out of memory. */
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
 * Sets the count of each source line to the number of executions of the line's most executed address. Lines
 * are sorted by address and may overlap, so the search for that address begins again at the start of each
 * line.
 */
static void cover(const struct flow_lines *lines, const struct edge *edge, size_t edges,
		  struct counted *counted)
{
	/* number of edges whose address is not after the first address of the source line */
	size_t after = 0;
	int64_t covered = 0;

	for (size_t n = 0; n < lines->count; n++) {
		const struct flow_line *line = &lines->line[n];
		int64_t here, most;

		while (after < edges && edge[after].address <= line->begin)
			covered += edge[after++].change;
		here = most = covered;
		for (size_t i = after; i < edges && edge[i].address < line->end;) {
			const uint64_t address = edge[i].address;

			while (i < edges && edge[i].address == address)
				here += edge[i++].change;
			most = here > most ? here : most;
		}
		counted[n] = (struct counted){ line->source, line->line, (uint64_t)most, NULL };
	}
}

/* Sets the count of each function to the number of executions of the function's first instruction. */
static void enter(const struct flow_lines *lines, const struct edge *edge, size_t edges,
		  struct counted *counted)
{
	/* number of edges whose address is not after the function's first instruction */
	size_t after = 0;
	int64_t covered = 0;

	for (size_t n = 0; n < lines->entries; n++) {
		const struct flow_entry *entry = &lines->entry[n];

		while (after < edges && edge[after].address <= entry->address)
			covered += edge[after++].change;
		counted[n] = (struct counted){ entry->source, entry->line, (uint64_t)covered, entry->name };
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
 * Combines all copies of the next function or source line of a source file. The count of a function is the
 * sum of the counts of its copies, the count of a line is the largest count of its copies. Returns 0 if the
 * file has no more functions and lines.
 */
static int next_of(struct counts *counts, const char *source, struct counted *together)
{
	const struct counted *at = counts->counted + counts->next;

	if (counts->next == counts->count || strcmp(at->source, source) != 0)
		return 0;
	*together = *at;
	while (++counts->next < counts->count && by_source(++at, together) == 0)
		together->count = at->name			? together->count + at->count
				  : at->count > together->count ? at->count
								: together->count;
	return 1;
}

static void write_name(struct base_output *out, const char *name)
{
	char *at = base_output_line(out);

	at = base_escape_text(at, name, strnlen(name, SOURCE_MOST), BASE_OUTPUT_LINE - 1);
	*at++ = '\n';
	base_output_done(out, at);
}

static void write_functions(struct base_output *out, struct counts *functions, const char *source)
{
	struct counts again = *functions;
	struct counted function;
	size_t found = 0, hit = 0;

	while (next_of(functions, source, &function)) {
		base_output_format(out, "FN:%u,", function.line);
		write_name(out, function.name);
		found++;
		hit += function.count > 0;
	}
	while (next_of(&again, source, &function)) {
		base_output_format(out, "FNDA:%" PRIu64 ",", function.count);
		write_name(out, function.name);
	}
	base_output_format(out, "FNF:%zu\nFNH:%zu\n", found, hit);
}

static void write_lines(struct base_output *out, struct counts *lines, const char *source)
{
	struct counted line;
	size_t found = 0, hit = 0;

	while (next_of(lines, source, &line)) {
		base_output_format(out, "DA:%u,%" PRIu64 "\n", line.line, line.count);
		found++;
		hit += line.count > 0;
	}
	base_output_format(out, "LF:%zu\nLH:%zu\nend_of_record\n", found, hit);
}

/* Writes the next source file. Skips it if nothing in it ran. */
static void write_file(struct base_output *out, struct counts *lines, struct counts *functions)
{
	const char *source = lines->counted[lines->next].source;
	size_t end = lines->next;
	uint64_t any = 0;

	while (end < lines->count && strcmp(lines->counted[end].source, source) == 0)
		any |= lines->counted[end++].count;
	while (functions->next < functions->count &&
	       strcmp(functions->counted[functions->next].source, source) < 0)
		functions->next++;
	if (!any) {
		lines->next = end;
		return;
	}
	write_source(out, source);
	write_functions(out, functions, source);
	write_lines(out, lines, source);
}

static int write_image(struct flow_coverage *coverage, uint32_t image, const struct flow_lines *lines,
		       struct base_output *out)
{
	size_t edges;
	struct edge *edge = edges_of(coverage, image, &edges);
	struct counts run = { .counted = malloc((lines->count + 1) * sizeof(struct counted)),
			      .count = lines->count };
	struct counts entered = { .counted = malloc((lines->entries + 1) * sizeof(struct counted)),
				  .count = lines->entries };
	const int status = edge && run.counted && entered.counted ? 0 : KTREAD_E_MEMORY;

	if (status == 0) {
		cover(lines, edge, edges, run.counted);
		enter(lines, edge, edges, entered.counted);
		qsort(run.counted, run.count, sizeof(struct counted), by_source);
		qsort(entered.counted, entered.count, sizeof(struct counted), by_source);
		base_output_text(out, "TN:\n");
		while (run.next < run.count && !out->error)
			write_file(out, &run, &entered);
	}
	free(edge);
	free(run.counted);
	free(entered.counted);
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
	snprintf(message, sizeof(message), "runs of code in no known file, not counted: %" PRIu64,
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

/* ---- The functions that ran ---- */

struct flow_executed {
	struct flow *flow;
	uint8_t *seen; /* indexed by the id of the function */
	uint32_t room;
	/*
	 * The function that ran last, if `has_last` is set. It is still mapped at the same address, because
	 * only steps that execute instructions have followed.
	 */
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
