/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Walks the stacks of halted CPUs. When a page of a stack arrives, the walk of that stack starts again from
 * its beginning. So only the pages need to be stored, and there are few. All CPUs are walked side by side, so
 * that their pages can be read together.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "cpu_state.h"

#define MOST_FRAMES 32u
#define MOST_PAGES  8u
/*
 * largest number of times that a walk may go on at a lower address, for example from a handler's stack to the
 * interrupted stack
 */
#define MOST_SWITCHES 2u
#define LEAF_REACH    (UINT64_C(64) << 10)

/* Describes where a machine stores the caller's frame pointer. The return address is in the word after it. */
struct layout {
	/* name of the frame pointer in the text of the registers; the name depends on the machine */
	const char *frame_pointer;
	/*
	 * register that holds a leaf function's return address; NULL: every function stores it on the stack
	 */
	const char *link;
	/*
	 * the frame pointer points to an address this number of bytes above the stored frame pointer and
	 * return address
	 */
	uint64_t below;
};

static const struct layout layouts[] = {
	{ " rbp=", NULL, 0 },
	{ " x29=", NULL, 0 },
	{ " s0=", " ra=", 16 },
};

struct walk {
	uint32_t cpu;
	const struct layout *layout;
	uint64_t frame_pointer, link;
	bool wants; /* true if the walk cannot continue without the page at `wanted` */
	bool asked; /* true if the page at `wanted` was asked for and has not arrived yet */
	uint64_t wanted;
	struct capture_stack_page *page[MOST_PAGES];
	uint32_t pages;
	uint64_t frame[MOST_FRAMES];
	uint32_t frames;
};

struct capture_stacks {
	char *registers;
	struct walk *walk;
	uint32_t walks;
};

/* Finds the value after `name` in a line. Returns false if the line has no such name. */
static bool find_value(const char *line, size_t length, const char *name, uint64_t *value)
{
	const char *found = memmem(line, length, name, strlen(name));

	if (found)
		*value = strtoull(found + strlen(name), NULL, 16);
	return found != NULL;
}

static const struct capture_stack_page *find_page(const struct walk *walk, uint64_t address)
{
	for (uint32_t i = 0; i < walk->pages; i++)
		if (walk->page[i]->address == address)
			return walk->page[i];
	return NULL;
}

/* Reads a word of the stack. Returns false if the word cannot be read, or if its page has not arrived yet. */
static bool read_word(struct walk *walk, uint64_t address, uint64_t *word)
{
	uint64_t start = address & ~(uint64_t)(CAPTURE_STACK_PAGE - 1);
	const struct capture_stack_page *page = find_page(walk, start);

	*word = 0;
	if (!page) {
		walk->wanted = start;
		walk->wants = walk->pages < MOST_PAGES;
		return false;
	}
	for (unsigned i = 8; page->readable && i-- > 0;)
		*word = *word << 8 | page->bytes[address - start + i];
	return page->readable;
}

/*
 * Returns whether this frame belongs to a leaf function that stores its caller's frame pointer where other
 * functions store the return address.
 */
static bool is_leaf(const struct walk *walk, uint64_t frame, uint64_t stored)
{
	return walk->layout->link && walk->frames == 0 && stored > frame && stored - frame < LEAF_REACH &&
	       stored % 8 == 0;
}

static void walk_again(struct walk *walk)
{
	uint64_t below = walk->layout->below, frame = walk->frame_pointer, caller, back;
	unsigned switches = 0;

	walk->frames = 0;
	walk->wants = walk->asked = false;
	while (walk->frames < MOST_FRAMES && frame > below && frame % 8 == 0 && frame < UINT64_MAX - 16 &&
	       read_word(walk, frame - below, &caller) && read_word(walk, frame - below + 8, &back) && back) {
		if (is_leaf(walk, frame, back)) {
			caller = back;
			back = walk->link;
		}
		walk->frame[walk->frames++] = back;
		if (caller == frame || (caller < frame && ++switches > MOST_SWITCHES))
			break;
		frame = caller;
	}
}

/* Adds a walk for the CPU in a line, if the line has a frame pointer. Returns false if memory is short. */
static bool add_walk(struct capture_stacks *stacks, const char *line, size_t length)
{
	struct walk walk = { 0 }, *grown;

	for (size_t i = 0; strncmp(line, "cpu ", 4) == 0 && i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (find_value(line, length, layouts[i].frame_pointer, &walk.frame_pointer))
			walk.layout = &layouts[i];
	if (!walk.layout)
		return true;
	walk.cpu = (uint32_t)strtoul(line + 4, NULL, 10);
	if (walk.layout->link)
		find_value(line, length, walk.layout->link, &walk.link);
	grown = realloc(stacks->walk, (stacks->walks + 1) * sizeof(*grown));
	if (!grown)
		return false;
	stacks->walk = grown;
	stacks->walk[stacks->walks++] = walk;
	return true;
}

int capture_stacks_open(struct capture_stacks **opened, const char *registers)
{
	struct capture_stacks *stacks = calloc(1, sizeof(*stacks));
	bool failed = !stacks || !(stacks->registers = strdup(registers));

	for (const char *line = registers; !failed && *line;) {
		size_t length = strcspn(line, "\n");

		failed = !add_walk(stacks, line, length);
		line += length + (line[length] == '\n');
	}
	if (failed) {
		capture_stacks_close(stacks);
		return capture_fail_errno("stacks");
	}
	for (uint32_t i = 0; i < stacks->walks; i++)
		walk_again(&stacks->walk[i]);
	*opened = stacks;
	return 0;
}

unsigned capture_stacks_wanted(struct capture_stacks *stacks, struct capture_stack_page *page, unsigned room)
{
	unsigned pages = 0;

	for (uint32_t i = 0; i < stacks->walks && pages < room; i++) {
		struct walk *walk = &stacks->walk[i];

		if (!walk->wants || walk->asked)
			continue;
		walk->asked = true;
		page[pages].cpu = walk->cpu;
		page[pages].address = walk->wanted;
		page[pages++].readable = false;
	}
	return pages;
}

void capture_stacks_put(struct capture_stacks *stacks, const struct capture_stack_page *page)
{
	for (uint32_t i = 0; i < stacks->walks; i++) {
		struct walk *walk = &stacks->walk[i];
		struct capture_stack_page *kept;

		if (walk->cpu != page->cpu || !walk->asked || walk->wanted != page->address)
			continue;
		walk->wants = walk->asked = false;
		kept = malloc(sizeof(*kept));
		if (!kept)
			continue;
		*kept = *page;
		walk->page[walk->pages++] = kept;
		walk_again(walk);
	}
}

static void write_stack(FILE *lines, const struct walk *walk)
{
	if (walk->frames == 0)
		return;
	fprintf(lines, "stack %" PRIu32, walk->cpu);
	for (uint32_t i = 0; i < walk->frames; i++)
		fprintf(lines, " %" PRIx64, walk->frame[i]);
	fputc('\n', lines);
}

char *capture_stacks_text(struct capture_stacks *stacks)
{
	char *text = NULL;
	size_t size;
	FILE *lines = open_memstream(&text, &size);

	if (!lines)
		return NULL;
	fputs(stacks->registers, lines);
	for (uint32_t i = 0; i < stacks->walks; i++)
		write_stack(lines, &stacks->walk[i]);
	if (fclose(lines) == 0)
		return text;
	free(text);
	return NULL;
}

void capture_stacks_close(struct capture_stacks *stacks)
{
	if (!stacks)
		return;
	for (uint32_t i = 0; i < stacks->walks; i++)
		for (uint32_t n = 0; n < stacks->walk[i].pages; n++)
			free(stacks->walk[i].page[n]);
	free(stacks->walk);
	free(stacks->registers);
	free(stacks);
}

int capture_stacks_add(char **text, capture_stack_reader *read, void *context)
{
	struct capture_stack_page page[CAPTURE_STACK_PAGES];
	struct capture_stacks *stacks;
	unsigned pages;
	int error = capture_stacks_open(&stacks, *text);

	if (error)
		return error;
	while (!error && (pages = capture_stacks_wanted(stacks, page, CAPTURE_STACK_PAGES))) {
		error = read(context, page, pages);
		for (unsigned i = 0; i < pages; i++)
			capture_stacks_put(stacks, &page[i]);
	}
	free(*text);
	*text = capture_stacks_text(stacks);
	capture_stacks_close(stacks);
	return *text ? error : capture_fail_errno("stacks");
}
