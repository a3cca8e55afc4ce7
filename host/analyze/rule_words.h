/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A rule file as words: blanks and comments go, and each word knows its place. */
#ifndef ANALYZE_RULE_WORDS_H
#define ANALYZE_RULE_WORDS_H

#include "analyze/rules.h"

enum rule_word_kind {
	RULE_WORD_END,	/* of the text */
	RULE_WORD_NAME, /* also patterns and numbers */
	RULE_WORD_STRING,
	RULE_WORD_MARK, /* ( ) , : / and operators */
	RULE_WORD_BAD,	/* `text` says what is wrong */
};

struct rule_word {
	enum rule_word_kind kind;
	char text[RULES_WORD];
	uint32_t line, column;
	bool begins; /* stands at the beginning of a line: a statement begins */
};

struct rule_words {
	const char *at, *end, *line_start;
	uint32_t line;
	struct rule_word word; /* the next one */
};

void rule_words_open(struct rule_words *words, const char *text, size_t length);
void rule_words_next(struct rule_words *words);

#endif
