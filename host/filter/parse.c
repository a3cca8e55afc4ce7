/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Parses an expression by recursive descent:
 *
 *	EXPRESSION = ALL { "or" ALL }
 *	ALL        = ONE { "and" ONE }
 *	ONE        = "not" ONE | "(" EXPRESSION ")" | "has" "(" NAME ")" | NAME RELATION VALUE
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/tree.h"

enum word_kind {
	WORD_END,
	WORD_NAME,
	WORD_NUMBER, /* a number, with or without a unit */
	WORD_TEXT,   /* a string in quotes; the word does not contain the quotes */
	WORD_MARK,
};

struct word {
	enum word_kind kind;
	uint32_t column;
	const char *at;
	size_t length;
};

struct parser {
	struct filter *filter;
	struct filter_error *error;
	const char *text, *at;
	struct word word; /* the next word, which is read already but not parsed */
	uint32_t depth;
};

int filter_fail(struct filter_error *error, uint32_t column, const char *format, ...)
{
	va_list arguments;

	error->column = column;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return KTREAD_E_FORMAT;
}

/* ---- Words of an expression ---- */

#define QUOTED 40 /* maximum number of bytes of a word that a message quotes */

static int quoted(const struct word *word)
{
	return word->length < QUOTED ? (int)word->length : QUOTED;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
	       (c != '\0' && strchr("_.*?", c));
}

static int take_text(struct parser *parser)
{
	struct word *word = &parser->word;
	const char *end = strchr(parser->at + 1, *parser->at);

	if (!end)
		return filter_fail(parser->error, word->column, "the string has no end: %c is missing",
				   *parser->at);
	word->kind = WORD_TEXT;
	word->at = parser->at + 1;
	word->length = (size_t)(end - word->at);
	parser->at = end + 1;
	return 0;
}

static int take_mark(struct parser *parser)
{
	static const char *const marks[] = { "==", "!=", "<=", ">=", "!~", "<", ">", "~", "(", ")" };
	static const struct {
		const char *mark, *instead;
	} wrong[] = { { "&&", "and" }, { "||", "or" }, { "=", "==" }, { "!", "not" } };
	struct word *word = &parser->word;

	for (size_t n = 0; n < sizeof(marks) / sizeof(marks[0]); n++) {
		word->length = strlen(marks[n]);
		if (strncmp(parser->at, marks[n], word->length) != 0)
			continue;
		word->kind = WORD_MARK;
		word->at = parser->at;
		parser->at += word->length;
		return 0;
	}
	for (size_t n = 0; n < sizeof(wrong) / sizeof(wrong[0]); n++)
		if (strncmp(parser->at, wrong[n].mark, strlen(wrong[n].mark)) == 0)
			return filter_fail(parser->error, word->column, "write '%s' instead of '%s'",
					   wrong[n].instead, wrong[n].mark);
	return filter_fail(parser->error, word->column, "a character that has no meaning here");
}

/* Reads the next word. Returns 0 or an error. */
static int next(struct parser *parser)
{
	struct word *word = &parser->word;
	bool minus;

	while (*parser->at && strchr(" \t\r\n", *parser->at))
		parser->at++;
	*word = (struct word){ .column = (uint32_t)(parser->at - parser->text) + 1, .at = parser->at };
	minus = *parser->at == '-' && is_digit(parser->at[1]);
	if (*parser->at == '\0')
		return 0;
	if (*parser->at == '"' || *parser->at == '\'')
		return take_text(parser);
	if (!in_name(*parser->at) && !minus)
		return take_mark(parser);
	word->kind = minus || is_digit(*parser->at) ? WORD_NUMBER : WORD_NAME;
	for (parser->at += minus; in_name(*parser->at); parser->at++)
		word->length++;
	word->length += minus;
	return 0;
}

static bool is(const struct word *word, enum word_kind kind, const char *text)
{
	return word->kind == kind && word->length == strlen(text) &&
	       memcmp(word->at, text, word->length) == 0;
}

/* Reports that the next word is not the expected one. */
static int unexpected(struct parser *parser, const char *wanted)
{
	const struct word *word = &parser->word;

	if (word->kind == WORD_END)
		return filter_fail(parser->error, word->column, "expected %s, but the expression ends",
				   wanted);
	return filter_fail(parser->error, word->column, "expected %s instead of '%.*s'", wanted, quoted(word),
			   word->at);
}

static int expect(struct parser *parser, const char *mark)
{
	char wanted[8];

	if (is(&parser->word, WORD_MARK, mark))
		return next(parser);
	snprintf(wanted, sizeof(wanted), "'%s'", mark);
	return unexpected(parser, wanted);
}

/* Copies bytes, and appends a NUL. The copies of all words of an expression fit into filter->words. */
static const char *keep(struct filter *filter, const char *bytes, size_t length)
{
	char *copy = filter->words + filter->words_used;

	memcpy(copy, bytes, length);
	copy[length] = '\0';
	filter->words_used += length + 1;
	return copy;
}

static struct filter_node *add(struct parser *parser, enum filter_kind kind, uint16_t *index)
{
	struct filter *filter = parser->filter;
	struct filter_node *node = &filter->node[filter->nodes];

	if (filter->nodes == FILTER_NODES) {
		filter_fail(parser->error, parser->word.column,
			    "the expression has more than %u comparisons and operators", FILTER_NODES);
		return NULL;
	}
	*index = (uint16_t)filter->nodes++;
	*node = (struct filter_node){ .kind = kind, .column = parser->word.column };
	return node;
}

/* ---- Values to compare with ---- */

/* Reads digits. Returns the position after them. Returns NULL if the number does not fit in 64 bits. */
static const char *read_digits(const char *at, const char *end, unsigned base, uint64_t *number)
{
	for (*number = 0; at < end; at++) {
		unsigned digit = is_digit(*at)		    ? (unsigned)(*at - '0')
				 : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a') + 10
				 : *at >= 'A' && *at <= 'F' ? (unsigned)(*at - 'A') + 10
							    : 16;

		if (digit >= base)
			break;
		if (__builtin_mul_overflow(*number, base, number) ||
		    __builtin_add_overflow(*number, digit, number))
			return NULL;
	}
	return at;
}

/* Sets *scale to a unit in nanoseconds; without a unit, to 10^9. Returns false if the word is not a unit. */
static bool unit_of(const char *at, size_t length, uint64_t *scale)
{
	static const struct {
		const char *name;
		uint64_t scale;
	} units[] = {
		{ "", 1000000000 }, { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 }
	};

	for (size_t n = 0; n < sizeof(units) / sizeof(units[0]); n++)
		if (strlen(units[n].name) == length && memcmp(units[n].name, at, length) == 0) {
			*scale = units[n].scale;
			return true;
		}
	return false;
}

static int take_number(struct parser *parser, struct filter_value *value)
{
	const struct word *word = &parser->word;
	const char *at = word->at, *end = at + word->length, *fraction;
	const bool minus = *at == '-';
	uint64_t whole, part = 0, digits = 1, scale;
	unsigned base = 10;

	at += minus;
	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
		at += 2;
		base = 16;
	}
	at = read_digits(at, end, base, &whole);
	if (!at)
		return filter_fail(parser->error, word->column, "the number does not fit in 64 bits");
	value->kind = FILTER_NUMBER;
	value->number = whole;
	fraction = at;
	if (base == 10 && at < end && *at == '.')
		for (at++; at < end && is_digit(*at); at++)
			if (digits < 1000000000) {
				part = part * 10 + (uint64_t)(*at - '0');
				digits *= 10;
			}
	if (at == fraction + 1 || (base == 16 && at < end) || !unit_of(at, (size_t)(end - at), &scale))
		return filter_fail(parser->error, word->column,
				   "'%.*s' is not a number; units of time are ns, us, ms and s", quoted(word),
				   word->at);
	if (at > fraction || at < end) {
		value->kind = at < end ? FILTER_DURATION : FILTER_DECIMAL;
		value->number = (__int128)whole * scale + part * scale / digits;
	}
	value->number = minus ? -value->number : value->number;
	return 0;
}

static int take_value(struct parser *parser, struct filter_node *node)
{
	const struct word *word = &parser->word;
	struct filter_value *value = &node->value;
	const bool like = node->relation == FILTER_LIKE || node->relation == FILTER_UNLIKE;
	int status = 0;

	value->column = word->column;
	if (word->kind == WORD_TEXT) {
		value->kind = FILTER_TEXT;
		value->text = keep(parser->filter, word->at, word->length);
		if (!like && node->relation != FILTER_EQUAL && node->relation != FILTER_UNEQUAL)
			return filter_fail(parser->error, word->column,
					   "a string can be compared only by ==, !=, ~ and !~");
	} else if (like) {
		return unexpected(parser, "a pattern in quotes");
	} else if (word->kind == WORD_NUMBER) {
		status = take_number(parser, value);
	} else {
		return unexpected(parser, "a number, or a string in quotes");
	}
	return status ? status : next(parser);
}

/* ---- Comparisons and operators ---- */

static int take_relation(struct parser *parser, enum filter_relation *relation)
{
	static const char *const marks[] = {
		[FILTER_EQUAL] = "==", [FILTER_UNEQUAL] = "!=", [FILTER_LESS] = "<", [FILTER_UP_TO] = "<=",
		[FILTER_MORE] = ">",   [FILTER_FROM] = ">=",	[FILTER_LIKE] = "~", [FILTER_UNLIKE] = "!~",
	};

	for (size_t n = 0; n < sizeof(marks) / sizeof(marks[0]); n++) {
		if (!is(&parser->word, WORD_MARK, marks[n]))
			continue;
		*relation = (enum filter_relation)n;
		return next(parser);
	}
	return unexpected(parser, "one of == != < <= > >= ~ !~");
}

/*
 * Parses the left side of a comparison: "cpu"; "FIELD"; or "EVENT.FIELD", in which EVENT may contain dots,
 * too.
 */
static int take_name(struct parser *parser, struct filter_node *node)
{
	static const char *const names[] = {
		[FILTER_EVENT] = "event",   [FILTER_CATEGORY] = "category", [FILTER_CPU] = "cpu",
		[FILTER_THREAD] = "thread", [FILTER_TIME] = "time",
	};
	const struct word *word = &parser->word;
	const char *dot = memrchr(word->at, '.', word->length);
	size_t before = dot ? (size_t)(dot - word->at) : 0;

	if (word->kind != WORD_NAME)
		return unexpected(parser, "a name, 'not', 'has' or '('");
	node->source = FILTER_FIELD;
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (is(word, WORD_NAME, names[n]))
			node->source = (enum filter_source)n;
	if (is(word, WORD_NAME, "pid"))
		node->source = FILTER_THREAD;
	if (dot && (before == 0 || before + 1 == word->length))
		return filter_fail(parser->error, word->column,
				   "'%.*s' is not a name; names are FIELD and EVENT.FIELD", quoted(word),
				   word->at);
	if (dot)
		node->events = keep(parser->filter, word->at, before);
	before += dot != NULL;
	node->name = keep(parser->filter, word->at + before, word->length - before);
	return next(parser);
}

static int take_any(struct parser *parser, uint16_t *index);

static int take_comparison(struct parser *parser, uint16_t *index)
{
	struct filter_node *node = add(parser, FILTER_COMPARE, index);
	int status = node ? take_name(parser, node) : KTREAD_E_FORMAT;

	if (!status)
		status = take_relation(parser, &node->relation);
	return status ? status : take_value(parser, node);
}

static int take_has(struct parser *parser, uint16_t *index)
{
	struct filter_node *node = add(parser, FILTER_HAS, index);
	int status = node ? next(parser) : KTREAD_E_FORMAT;

	if (!status)
		status = expect(parser, "(");
	if (!status) {
		node->column = parser->word.column;
		status = take_name(parser, node);
	}
	return status ? status : expect(parser, ")");
}

static int take_one(struct parser *parser, uint16_t *index)
{
	struct filter_node *node;
	int status;

	if (parser->depth == FILTER_DEPTH)
		return filter_fail(parser->error, parser->word.column,
				   "more than %u levels of parentheses and of 'not'", FILTER_DEPTH);
	parser->depth++;
	if (is(&parser->word, WORD_MARK, "(")) {
		status = next(parser);
		if (!status)
			status = take_any(parser, index);
		if (!status)
			status = expect(parser, ")");
	} else if (is(&parser->word, WORD_NAME, "not")) {
		node = add(parser, FILTER_NOT, index);
		status = node ? next(parser) : KTREAD_E_FORMAT;
		if (!status)
			status = take_one(parser, &node->left);
	} else if (is(&parser->word, WORD_NAME, "has")) {
		status = take_has(parser, index);
	} else {
		status = take_comparison(parser, index);
	}
	parser->depth--;
	return status;
}

/* Parses a chain of operands that `word` joins. The tree of a chain leans to the left. */
static int take_chain(struct parser *parser, const char *word, enum filter_kind kind,
		      int (*operand)(struct parser *, uint16_t *), uint16_t *index)
{
	int status = operand(parser, index);

	while (!status && is(&parser->word, WORD_NAME, word)) {
		uint16_t left = *index;
		struct filter_node *node = add(parser, kind, index);

		status = node ? next(parser) : KTREAD_E_FORMAT;
		if (status)
			return status;
		node->left = left;
		status = operand(parser, &node->right);
	}
	return status;
}

static int take_all(struct parser *parser, uint16_t *index)
{
	return take_chain(parser, "and", FILTER_AND, take_one, index);
}

static int take_any(struct parser *parser, uint16_t *index)
{
	return take_chain(parser, "or", FILTER_OR, take_all, index);
}

int filter_parse(struct filter **filter, const char *text, struct filter_error *error)
{
	struct parser parser = { .text = text, .at = text, .error = error };
	size_t length = strlen(text);
	int status;

	*filter = NULL;
	if (length > FILTER_TEXT_MOST)
		return filter_fail(error, FILTER_TEXT_MOST + 1, "the expression has more than %u bytes",
				   FILTER_TEXT_MOST);
	parser.filter = calloc(1, sizeof(*parser.filter));
	if (!parser.filter)
		return KTREAD_E_MEMORY;
	/* each byte of the expression is stored at most once; each word needs at most two NULs */
	parser.filter->words = malloc(3 * length + 3);
	status = parser.filter->words ? next(&parser) : KTREAD_E_MEMORY;
	if (!status)
		status = take_any(&parser, &parser.filter->root);
	if (!status && parser.word.kind != WORD_END)
		status = unexpected(&parser, "'and', 'or' or the end");
	if (status)
		filter_free(parser.filter);
	else
		*filter = parser.filter;
	return status;
}
