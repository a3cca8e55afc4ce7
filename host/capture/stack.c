/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Walks the stacks of halted CPUs. When a page of a stack arrives, the walk of that stack starts again from
 * its beginning. So only the pages need to be stored, and there are few of them. The stacks of all CPUs are
 * walked in parallel, so that their pages can be read together.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/note.h"
#include "analyze/symbols.h"
#include "error.h"
#include "cpu_state.h"

#define MOST_FRAMES 32u
#define MOST_PAGES  8u

/*
 * Names of registers in the text of a CPU's registers. The name of the frame pointer depends on the machine.
 */
struct layout {
	const char *frame_pointer;
	const char *link; /* register that has the return address of a leaf function; NULL: none */
	uint16_t machine;
};

static const struct layout layouts[] = {
	{ " rbp=", NULL, EM_X86_64 },
	{ " x29=", " x30=", EM_AARCH64 },
	{ " s0=", " ra=", EM_RISCV },
};

struct walk {
	uint32_t cpu;
	uint16_t machine;
	struct stack_registers registers;
	/* the CPU ran a program: the kernel's file does not describe its code, even at the same addresses */
	bool user;
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
	struct symbols *symbols; /* the kernel's file; NULL: it is unknown, or cannot be used */
	struct walk *walk;
	uint32_t walks;
};

/* Finds the value after `name` in a line of text. Returns false if the line does not contain the name. */
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

/* Copies bytes of the stack. Returns how many bytes were copied. Sets `wants` if a page is missing. */
static size_t read_stack(struct walk *walk, uint64_t address, unsigned char *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		const uint64_t at = address + done, start = at & ~(uint64_t)(CAPTURE_STACK_PAGE - 1);
		const struct capture_stack_page *page = find_page(walk, start);
		size_t part = CAPTURE_STACK_PAGE - (size_t)(at - start);

		if (!page) {
			walk->wanted = start;
			walk->wants = walk->pages < MOST_PAGES;
		}
		if (!page || !page->readable)
			return done;
		part = part < size - done ? part : size - done;
		memcpy(bytes + done, page->bytes + (at - start), part);
		done += part;
	}
	return done;
}

static void walk_again(const struct capture_stacks *stacks, struct walk *walk)
{
	unsigned char bytes[STACK_WINDOW];
	struct stack_walk found;
	uint64_t address;
	size_t size;

	walk->wants = walk->asked = false;
	stack_walk_begin(&found, walk->machine, &walk->registers, walk->user ? NULL : symbols_frame,
			 stacks->symbols);
	while (found.places <= MOST_FRAMES && stack_walk_wants(&found, &address, &size)) {
		const size_t got = read_stack(walk, address, bytes, size);

		if (walk->wants)
			break;
		stack_walk_put(&found, address, bytes, got);
	}
	walk->frames = found.places - 1 < MOST_FRAMES ? found.places - 1 : MOST_FRAMES;
	memcpy(walk->frame, found.place + 1, walk->frames * sizeof(walk->frame[0]));
}

/*
 * Adds a walk for the CPU of this line of text, if the line contains a frame pointer. Returns false if memory
 * is short.
 */
static bool add_walk(struct capture_stacks *stacks, const char *line, size_t length)
{
	struct walk walk = { 0 }, *grown;
	const struct layout *layout = NULL;

	for (size_t i = 0; strncmp(line, "cpu ", 4) == 0 && i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (find_value(line, length, layouts[i].frame_pointer, &walk.registers.frame))
			layout = &layouts[i];
	if (!layout)
		return true;
	walk.machine = layout->machine;
	walk.cpu = (uint32_t)strtoul(line + 4, NULL, 10);
	walk.user = privilege_of(line) == PRIVILEGE_USER;
	find_value(line, length, " pc=", &walk.registers.pc);
	find_value(line, length, " sp=", &walk.registers.sp);
	if (layout->link)
		find_value(line, length, layout->link, &walk.registers.link);
	grown = realloc(stacks->walk, (stacks->walks + 1) * sizeof(*grown));
	if (!grown)
		return false;
	stacks->walk = grown;
	stacks->walk[stacks->walks++] = walk;
	return true;
}

/* Opens the kernel's file. Ignores the file if it is certainly the file of another kernel. */
static void open_symbols(struct capture_stacks *stacks, const struct capture_stack_kernel *kernel)
{
	const struct ktread_info info = { .self = kernel->self,
					  .machine = stacks->walk[0].machine,
					  .build_id = kernel->id.bytes,
					  .build_id_size = kernel->id.size };

	if (symbols_open(&stacks->symbols, kernel->elf, &info) >= 0 && !symbols_doubtful(stacks->symbols))
		return;
	symbols_close(stacks->symbols);
	stacks->symbols = NULL;
}

int capture_stacks_open(struct capture_stacks **opened, const char *registers,
			const struct capture_stack_kernel *kernel)
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
	if (kernel->elf && *kernel->elf && stacks->walks)
		open_symbols(stacks, kernel);
	for (uint32_t i = 0; i < stacks->walks; i++)
		walk_again(stacks, &stacks->walk[i]);
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
		walk_again(stacks, walk);
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
	symbols_close(stacks->symbols);
	free(stacks->walk);
	free(stacks->registers);
	free(stacks);
}

int capture_stacks_add(char **text, capture_stack_reader *read, void *context,
		       const struct capture_stack_kernel *kernel)
{
	struct capture_stack_page page[CAPTURE_STACK_PAGES];
	struct capture_stacks *stacks;
	unsigned pages;
	int error = capture_stacks_open(&stacks, *text, kernel);

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
