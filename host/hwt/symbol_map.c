/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Reads a list of symbols (System.map, /proc/kallsyms, nm). */
#include "binary.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/grow.h"
#include "base/index.h"
#include "ktread/ktread.h"

#define PAGE	   4096u
#define TEXTS_MOST (UINT32_C(1) << 28) /* maximum size of all names together, in bytes */
/* maximum number of bytes of a line that a message contains */
#define SHOWN	120u
#define NO_TEXT UINT32_MAX

struct entry {
	uint64_t address;
	uint32_t name, module; /* offsets of the names in `texts`; NO_TEXT: there is no name */
	bool function;	       /* false: the entry only marks the end of the previous function */
};

struct builder {
	const char *path;
	FILE *stream;
	char line[HWT_MAP_LINE_MOST + 1];
	size_t length;
	unsigned long number; /* number of the line, counted from 1 */
	struct entry *entry;
	size_t entries;
	uint32_t entry_room;
	char *texts;
	size_t used;
	uint32_t text_room;
	uint32_t module; /* module of the last line that names a module */
	bool any_address;
	char *message;
	size_t size;
};

__attribute__((format(printf, 3, 4))) static int fail(struct builder *b, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(b->message, b->size, format, arguments);
	va_end(arguments);
	return code;
}

/* ---- Lines ---- */

static int refuse_line(struct builder *b, const char *why)
{
	const size_t length = b->length < SHOWN ? b->length : SHOWN;
	char shown[4 * SHOWN + 1];

	*base_escape_text(shown, b->line, length, sizeof(shown) - 1) = '\0';
	return fail(b, KTREAD_E_FORMAT, "%s:%lu: %s: \"%s\"", b->path, b->number, why, shown);
}

/* Reads a line without its newline. Returns 1 with a line, 0 at the end of the file, or an error. */
static int read_line(struct builder *b)
{
	int c;

	b->length = 0;
	b->number++;
	while ((c = getc_unlocked(b->stream)) != EOF && c != '\n') {
		if (b->length == HWT_MAP_LINE_MOST)
			return refuse_line(b, "a line of more than 1024 bytes");
		b->line[b->length++] = (char)c;
	}
	if (c == EOF && ferror(b->stream))
		return fail(b, KTREAD_E_SYSTEM, "%s: %s", b->path, strerror(errno));
	if (c == EOF && b->length == 0)
		return 0;
	if (b->number > HWT_MAP_SYMBOLS_MOST)
		return fail(b, KTREAD_E_FORMAT, "%s: more than %u lines: not the symbols of a kernel",
			    b->path, HWT_MAP_SYMBOLS_MOST);
	if (b->length && b->line[b->length - 1] == '\r')
		b->length--;
	b->line[b->length] = '\0';
	return 1;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * Returns the length of the next word and sets *word to it; 0 at the end of the line. Moves *at to the end of
 * the word.
 */
static size_t next_word(char **at, char **word)
{
	while (is_blank(**at))
		++*at;
	*word = *at;
	while (**at && !is_blank(**at))
		++*at;
	return (size_t)(*at - *word);
}

static int read_address(const char *word, size_t length, uint64_t *address)
{
	*address = 0;
	if (length == 0 || length > 16)
		return -1;
	for (size_t i = 0; i < length; i++) {
		const char c = word[i];
		const int digit = c >= '0' && c <= '9'	 ? c - '0'
				  : c >= 'a' && c <= 'f' ? c - 'a' + 10
				  : c >= 'A' && c <= 'F' ? c - 'A' + 10
							 : -1;

		if (digit < 0)
			return -1;
		*address = *address << 4 | (uint64_t)digit;
	}
	return 0;
}

/* ---- Symbols ---- */

static int keep_text(struct builder *b, const char *text, size_t length, uint32_t *where)
{
	char *grown = b->used + length >= TEXTS_MOST
			      ? NULL
			      : base_grow(b->texts, &b->text_room, b->used + length + 1, 1);

	if (!grown)
		return fail(b, KTREAD_E_MEMORY, "%s: out of memory", b->path);
	b->texts = grown;
	memcpy(grown + b->used, text, length);
	grown[b->used + length] = '\0';
	*where = (uint32_t)b->used;
	b->used += length + 1;
	return 0;
}

/* Stores the name of a module, but only once for consecutive lines of the same module. */
static int keep_module(struct builder *b, const char *word, size_t length, uint32_t *where)
{
	int status = 0;

	if (b->module == NO_TEXT || strlen(b->texts + b->module) != length ||
	    memcmp(b->texts + b->module, word, length) != 0)
		status = keep_text(b, word, length, &b->module);
	*where = b->module;
	return status;
}

static int add(struct builder *b, const struct entry *entry)
{
	struct entry *grown = base_grow(b->entry, &b->entry_room, b->entries + 1, sizeof(*grown));

	if (!grown)
		return fail(b, KTREAD_E_MEMORY, "%s: out of memory", b->path);
	b->entry = grown;
	grown[b->entries++] = *entry;
	return 0;
}

/*
 * Returns true for mapping symbols of AArch64 and RISC-V, like $x and $d. They mark where code and data
 * begin.
 */
static bool is_mark(const char *name)
{
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

static int take_line(struct builder *b)
{
	char *at = b->line, *word[5];
	size_t length[5], words = 0;
	struct entry entry = { .name = NO_TEXT, .module = NO_TEXT };
	int status = 0;

	while (words < 5 && (length[words] = next_word(&at, &word[words])) > 0)
		words++;
	/* a line of nm without an address is that of an undefined symbol */
	if (is_blank(b->line[0]) && words == 2 && length[0] == 1 && strchr("Uwv", *word[0]))
		return 0;
	if (strlen(b->line) != b->length || words < 3 || words > 4 || length[1] != 1 ||
	    read_address(word[0], length[0], &entry.address) != 0 ||
	    (words == 4 && (length[3] < 3 || word[3][0] != '[' || word[3][length[3] - 1] != ']')))
		return refuse_line(b, "not 'ADDRESS TYPE NAME [MODULE]'");
	b->any_address |= entry.address != 0;
	word[2][length[2]] = '\0';
	/* the value of an absolute symbol is a number, not an address */
	if (strchr("AaNU", *word[1]) || is_mark(word[2]))
		return 0;
	entry.function = strchr("tTwWi", *word[1]) != NULL;
	if (words == 4)
		status = keep_module(b, word[3] + 1, length[3] - 2, &entry.module);
	if (status == 0 && entry.function)
		status = keep_text(b, word[2], length[2], &entry.name);
	return status < 0 ? status : add(b, &entry);
}

static int read_all(struct builder *b)
{
	int status;

	while ((status = read_line(b)) > 0 && (status = take_line(b)) == 0)
		;
	if (status < 0)
		return status;
	if (b->number == 1)
		return fail(b, KTREAD_E_FORMAT, "%s: empty: no symbols in it", b->path);
	if (!b->any_address)
		return fail(
			b, KTREAD_E_FORMAT,
			"%s: all addresses are 0: /proc/kallsyms hides them from users without permission; "
			"copy it as root, with sysctl kernel.kptr_restrict=0",
			b->path);
	return 0;
}

/* ---- From symbols to functions ---- */

static const char *text_at(const struct builder *b, uint32_t where)
{
	return where == NO_TEXT ? NULL : b->texts + where;
}

/* Orders symbols by address. At the same address, functions come first, sorted by name. */
static int compare(const void *left, const void *right, void *context)
{
	const struct entry *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->function != b->function)
		return a->function ? -1 : 1;
	return a->function ? strcmp(text_at(context, a->name), text_at(context, b->name)) : 0;
}

/*
 * Returns the size of a function. The function ends at the next symbol. If that symbol belongs to another
 * module, it ends at the latest at the end of the page in which it begins.
 */
static uint64_t size_of(const struct entry *entry, const struct entry *next)
{
	const uint64_t page = PAGE - entry->address % PAGE;
	const uint64_t ahead = next ? next->address - entry->address : page;

	if (next && (next->module == entry->module || ahead < page))
		return ahead;
	return page;
}

static int make_functions(struct builder *b, struct hwt_map *map)
{
	qsort_r(b->entry, b->entries, sizeof(*b->entry), compare, b);
	map->function = calloc(b->entries + 1, sizeof(*map->function));
	if (!map->function)
		return fail(b, KTREAD_E_MEMORY, "%s: out of memory", b->path);
	for (size_t i = 0, next; i < b->entries; i = next) {
		const struct entry *entry = &b->entry[i];

		for (next = i + 1; next < b->entries && b->entry[next].address == entry->address; next++)
			;
		if (entry->function)
			map->function[map->functions++] = (struct hwt_map_function){
				entry->address, size_of(entry, next < b->entries ? &b->entry[next] : NULL),
				text_at(b, entry->name), text_at(b, entry->module)
			};
	}
	if (map->functions == 0)
		return fail(b, KTREAD_E_FORMAT, "%s: no functions in it (symbols of type t, T, w, W or i)",
			    b->path);
	map->texts = b->texts;
	b->texts = NULL;
	return 0;
}

int hwt_map_open(struct hwt_map **opened, const char *path, char *message, size_t size)
{
	struct builder *b = calloc(1, sizeof(*b));
	struct hwt_map *map = calloc(1, sizeof(*map));
	int status = b && map ? 0 : KTREAD_E_MEMORY;

	*opened = NULL;
	if (status == 0) {
		*b = (struct builder){ .path = path, .module = NO_TEXT, .message = message, .size = size };
		b->stream = fopen(path, "re");
		status = b->stream ? read_all(b) : fail(b, KTREAD_E_SYSTEM, "%s: %s", path, strerror(errno));
		if (status == 0)
			status = make_functions(b, map);
		if (b->stream)
			fclose(b->stream);
		free(b->entry);
		free(b->texts);
	} else {
		snprintf(message, size, "%s: out of memory", path);
	}
	free(b);
	if (status < 0)
		hwt_map_close(map);
	else
		*opened = map;
	return status;
}

void hwt_map_close(struct hwt_map *map)
{
	if (!map)
		return;
	free(map->function);
	free(map->texts);
	free(map);
}

const struct hwt_map_function *hwt_map_find(const struct hwt_map *map, uint64_t address)
{
	const size_t n = base_count_up_to(map->function, map->functions, sizeof(*map->function),
					  offsetof(struct hwt_map_function, address), address);

	if (n == 0 || address - map->function[n - 1].address >= map->function[n - 1].size)
		return NULL;
	return &map->function[n - 1];
}
