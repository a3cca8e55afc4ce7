/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "analyze/rules.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Returns whether a character may be part of a name, number, time or pattern. */
static bool in_name(char c)
{
	return isalnum((unsigned char)c) || (c != '\0' && strchr("_.*?@[]-", c));
}

static void skip_blanks(struct rule_words *words)
{
	for (; words->at < words->end; words->at++) {
		if (*words->at == '\n') {
			words->line++;
			words->line_start = words->at + 1;
		} else if (*words->at == '#') {
			while (words->at + 1 < words->end && words->at[1] != '\n')
				words->at++;
		} else if (*words->at != ' ' && *words->at != '\t' && *words->at != '\r') {
			return;
		}
	}
}

static void bad(struct rule_word *word, const char *why)
{
	word->kind = RULE_WORD_BAD;
	snprintf(word->text, sizeof(word->text), "%s", why);
}

static void take_text(struct rule_words *words, const char *begin, size_t length)
{
	if (length >= sizeof(words->word.text)) {
		bad(&words->word, "a word of more than 63 bytes");
		return;
	}
	memcpy(words->word.text, begin, length);
	words->word.text[length] = '\0';
}

static void take_string(struct rule_words *words)
{
	const char *begin = ++words->at;

	while (words->at < words->end && *words->at != '"' && *words->at != '\n')
		words->at++;
	if (words->at == words->end || *words->at == '\n') {
		bad(&words->word, "a string without an end");
		return;
	}
	words->word.kind = RULE_WORD_STRING;
	take_text(words, begin, (size_t)(words->at++ - begin));
}

static void take_mark(struct rule_words *words)
{
	static const char *const marks[] = { "==", "!=", "<=", ">=", "<", ">", "&", "(", ")", ",", ":", "/" };

	for (size_t n = 0; n < sizeof(marks) / sizeof(marks[0]); n++) {
		size_t length = strlen(marks[n]);

		if ((size_t)(words->end - words->at) >= length && memcmp(words->at, marks[n], length) == 0) {
			words->word.kind = RULE_WORD_MARK;
			take_text(words, words->at, length);
			words->at += length;
			return;
		}
	}
	bad(&words->word, "invalid character");
}

void rule_words_next(struct rule_words *words)
{
	struct rule_word *word = &words->word;
	const char *begin;

	skip_blanks(words);
	begin = words->at;
	*word = (struct rule_word){ .line = words->line };
	word->column = (uint32_t)(words->at - words->line_start) + 1;
	word->begins = words->at == words->line_start;
	if (words->at == words->end)
		return;
	if (*words->at == '"') {
		take_string(words);
	} else if (in_name(*words->at)) {
		while (words->at < words->end && in_name(*words->at))
			words->at++;
		word->kind = RULE_WORD_NAME;
		take_text(words, begin, (size_t)(words->at - begin));
	} else {
		take_mark(words);
	}
}

void rule_words_open(struct rule_words *words, const char *text, size_t length)
{
	*words = (struct rule_words){ .at = text, .end = text + length, .line_start = text, .line = 1 };
	rule_words_next(words);
}
