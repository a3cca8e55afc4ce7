/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/symbols.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"

/* A name: mangled, as in the file, and demangled. */
struct pair {
	const char *mangled, *readable;
};

static struct pair table[DEMANGLE_NAMES];
static uint32_t count;
static struct base_index by_name;

struct text {
	char bytes[DEMANGLE_RESULT + 1];
	size_t length;
	jmp_buf full;
};

/*
 * If a short name expands without end, leaves libiberty by longjmp(). At that point, libiberty has not
 * allocated memory.
 */
static void append(const char *bytes, size_t length, void *context)
{
	struct text *text = context;

	if (length > DEMANGLE_RESULT - text->length)
		longjmp(text->full, 1);
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
	text->bytes[text->length] = '\0';
}

static void clear(struct text *text)
{
	text->length = 0;
	text->bytes[0] = '\0';
}

/*
 * Demangles a C++ name, without parameters. First demangles it with parameters, because only then does
 * libiberty parse the whole name. The options keep libiberty's own limit of recursion.
 */
static bool expand_cplusplus(const char *name, struct text *text)
{
	if (!cplus_demangle_v3_callback(name, DMGL_ANSI | DMGL_PARAMS, append, text))
		return false;
	clear(text);
	return cplus_demangle_v3_callback(name, DMGL_ANSI, append, text) && text->length;
}

/*
 * Demangles a name, and modifies `name`. Compilers append suffixes such as ".cold" to the C++ names of parts
 * and copies of functions; such a suffix is appended to the result unchanged.
 */
static bool expand(char *name, struct text *text)
{
	char *const dot = strchr(name, '.');
	char suffix[DEMANGLE_LENGTH + 1];

	clear(text);
	if (setjmp(text->full) != 0)
		return false;
	/* A name in Rust's older scheme is also a valid C++ name; it ends with a hash. */
	if (rust_demangle_callback(name, 0, append, text) && text->length)
		return true;
	clear(text);
	if (!dot)
		return expand_cplusplus(name, text);
	memcpy(suffix, dot, strlen(dot) + 1);
	*dot = '\0';
	if (!expand_cplusplus(name, text))
		return false;
	append(suffix, strlen(suffix), text);
	return true;
}

/*
 * If `at` is directly after the word "operator", as in "operator<<" or "operator->", returns the length of
 * the operator, whose characters do not count as brackets. Otherwise returns 0.
 */
static size_t operator_at(const char *at, size_t before)
{
	static const char word[] = "operator";
	const size_t size = sizeof(word) - 1;

	if (before < size || memcmp(at - size, word, size) != 0)
		return 0;
	return strspn(at, "<>=-");
}

/*
 * Modifies `name`: replaces the text between the outermost angle brackets by "...". A name with unmatched
 * brackets stays unchanged.
 */
static void shorten(char *name)
{
	const size_t length = strlen(name);
	size_t depth = 0, end = 0, skip;
	char *copy = strdup(name);

	if (!copy)
		return;
	for (size_t n = 0; n < length; n++) {
		skip = depth ? 0 : operator_at(copy + n, n);
		if (skip) {
			memcpy(name + end, copy + n, skip);
			end += skip;
			n += skip - 1;
			continue;
		}
		if (copy[n] == '>' && depth && copy[n - 1] != '-' && --depth == 0) {
			memcpy(name + end, "...", 3);
			end += 3;
		}
		if (depth == 0)
			name[end++] = copy[n];
		depth += copy[n] == '<';
	}
	name[end] = '\0';
	if (depth)
		memcpy(name, copy, length + 1);
	free(copy);
}

static char *readable_of(const char *name)
{
	static struct text text;
	static char copy[DEMANGLE_LENGTH + 1];

	memcpy(copy, name, strlen(name) + 1);
	if (!expand(copy, &text))
		return NULL;
	if (text.length > DEMANGLE_SHOWN)
		shorten(text.bytes);
	return strdup(text.bytes);
}

static bool may_be_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') &&
	       strnlen(name, DEMANGLE_LENGTH + 1) <= DEMANGLE_LENGTH;
}

const char *demangled(const char *name)
{
	char *key, *readable;
	uint64_t hash;

	if (!may_be_mangled(name))
		return name;
	hash = base_hash_text(0, name);
	for (uint32_t probe = 0, n; base_index_next(&by_name, hash, &probe, &n);)
		if (strcmp(table[n].mangled, name) == 0)
			return table[n].readable ? table[n].readable : name;
	if (count == DEMANGLE_NAMES)
		return name;
	readable = readable_of(name);
	key = strdup(name);
	if (!key || base_index_add(&by_name, hash, count) < 0) {
		free(key);
		free(readable);
		return name;
	}
	table[count++] = (struct pair){ key, readable };
	return readable ? readable : name;
}
