/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A walk is repeated from its beginning whenever a page has come: pages are few, and so nothing of a walk has to be
 * kept but those. One CPU is walked after another, with the same room for pages.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "stack.h"

#define MOST_FRAMES   32u
#define MOST_PAGES    8u
#define MOST_SWITCHES 2u /* steps down, as from a handler's stack to the one it interrupted */
#define LEAF_REACH    (UINT64_C(64) << 10)

/* Where a machine keeps the caller's frame pointer; the return address follows it. */
struct layout {
	const char *frame_pointer; /* as it begins in the text; which machine it is shows by that */
	const char *link; /* holds the return address where a leaf does not store it; NULL: it always does */
	uint64_t below;	  /* bytes from where the frame pointer points down to the pair */
};

static const struct layout layouts[] = {
	{ " rbp=", NULL, 0 },
	{ " x29=", NULL, 0 },
	{ " s0=", " ra=", 16 },
};

struct page {
	uint64_t address;
	bool readable;
	unsigned char bytes[CAPTURE_STACK_PAGE];
};

struct capture_stacks {
	const char *next; /* line behind that of the CPU which is walked */
	FILE *lines;	  /* finished ones */
	char *text;
	size_t size;
	const struct layout *layout; /* NULL: no CPU is walked */
	uint32_t cpu;
	uint64_t frame_pointer, link;
	uint64_t wanted;
	bool wants; /* the walk could not go on without the page at `wanted` */
	struct page page[MOST_PAGES];
	uint32_t pages;
	uint64_t frame[MOST_FRAMES];
	uint32_t frames;
};

/* The value behind `name` in a line. */
static bool find_value(const char *line, size_t length, const char *name, uint64_t *value)
{
	const char *found = memmem(line, length, name, strlen(name));

	if (found)
		*value = strtoull(found + strlen(name), NULL, 16);
	return found != NULL;
}

static const struct page *find_page(const struct capture_stacks *stacks, uint64_t address)
{
	for (uint32_t i = 0; i < stacks->pages; i++)
		if (stacks->page[i].address == address)
			return &stacks->page[i];
	return NULL;
}

/* False: it cannot be read, or not yet. */
static bool read_word(struct capture_stacks *stacks, uint64_t address, uint64_t *word)
{
	uint64_t start = address & ~(uint64_t)(CAPTURE_STACK_PAGE - 1);
	const struct page *page = find_page(stacks, start);

	*word = 0;
	if (!page) {
		stacks->wanted = start;
		stacks->wants = stacks->pages < MOST_PAGES;
		return false;
	}
	for (unsigned i = 8; page->readable && i-- > 0;)
		*word = *word << 8 | page->bytes[address - start + i];
	return page->readable;
}

/* A function that calls none stores its caller's frame pointer where others store the return address. */
static bool is_leaf(const struct capture_stacks *stacks, uint64_t frame, uint64_t stored)
{
	return stacks->layout->link && stacks->frames == 0 && stored > frame && stored - frame < LEAF_REACH &&
	       stored % 8 == 0;
}

static void walk(struct capture_stacks *stacks)
{
	uint64_t below = stacks->layout->below, frame = stacks->frame_pointer, caller, back;
	unsigned switches = 0;

	stacks->frames = 0;
	stacks->wants = false;
	while (stacks->frames < MOST_FRAMES && frame > below && frame % 8 == 0 && frame < UINT64_MAX - 16 &&
	       read_word(stacks, frame - below, &caller) && read_word(stacks, frame - below + 8, &back) &&
	       back) {
		if (is_leaf(stacks, frame, back)) {
			caller = back;
			back = stacks->link;
		}
		stacks->frame[stacks->frames++] = back;
		if (caller == frame || (caller < frame && ++switches > MOST_SWITCHES))
			break;
		frame = caller;
	}
}

static void finish(struct capture_stacks *stacks)
{
	if (stacks->frames)
		fprintf(stacks->lines, "stack %" PRIu32, stacks->cpu);
	for (uint32_t i = 0; i < stacks->frames; i++)
		fprintf(stacks->lines, " %" PRIx64, stacks->frame[i]);
	if (stacks->frames)
		fputc('\n', stacks->lines);
	stacks->layout = NULL;
}

/* Begins with the CPU of the next line that has one and its frame pointer; false if none has. */
static bool begin(struct capture_stacks *stacks)
{
	while (!stacks->layout && *stacks->next) {
		const char *line = stacks->next;
		size_t length = strcspn(line, "\n");

		stacks->next += length + (line[length] == '\n');
		for (size_t i = 0; strncmp(line, "cpu ", 4) == 0 && i < sizeof(layouts) / sizeof(layouts[0]);
		     i++)
			if (find_value(line, length, layouts[i].frame_pointer, &stacks->frame_pointer))
				stacks->layout = &layouts[i];
		if (!stacks->layout)
			continue;
		stacks->cpu = (uint32_t)strtoul(line + 4, NULL, 10);
		stacks->pages = 0;
		stacks->link = 0;
		if (stacks->layout->link)
			find_value(line, length, stacks->layout->link, &stacks->link);
	}
	return stacks->layout != NULL;
}

int capture_stacks_open(struct capture_stacks **opened, const char *registers)
{
	struct capture_stacks *stacks = calloc(1, sizeof(*stacks));

	if (stacks)
		stacks->lines = open_memstream(&stacks->text, &stacks->size);
	if (!stacks || !stacks->lines) {
		free(stacks);
		return capture_fail_errno("stacks");
	}
	stacks->next = registers;
	fputs(registers, stacks->lines);
	*opened = stacks;
	return 0;
}

bool capture_stacks_next(struct capture_stacks *stacks, uint32_t *cpu, uint64_t *address)
{
	while (begin(stacks)) {
		walk(stacks);
		*cpu = stacks->cpu;
		*address = stacks->wanted;
		if (stacks->wants)
			return true;
		finish(stacks);
	}
	return false;
}

void capture_stacks_put(struct capture_stacks *stacks, const void *bytes)
{
	struct page *page = &stacks->page[stacks->pages++];

	page->address = stacks->wanted;
	page->readable = bytes != NULL;
	if (bytes)
		memcpy(page->bytes, bytes, sizeof(page->bytes));
}

char *capture_stacks_text(struct capture_stacks *stacks)
{
	bool failed = !stacks->lines || fclose(stacks->lines) != 0;
	char *text = stacks->text;

	stacks->lines = NULL;
	stacks->text = NULL;
	if (!failed)
		return text;
	free(text);
	return NULL;
}

void capture_stacks_close(struct capture_stacks *stacks)
{
	if (!stacks)
		return;
	if (stacks->lines)
		fclose(stacks->lines);
	free(stacks->text);
	free(stacks);
}
