/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

/* Takes over `word`, which may be NULL if there was no memory for it. */
static void store(struct capture_words *words, char *word)
{
	if (word && words->count + 2 > words->room) {
		size_t room = words->room ? words->room * 2 : 32;
		char **grown = realloc(words->word, room * sizeof(*grown));

		if (!grown) {
			free(word);
			word = NULL;
		} else {
			words->word = grown;
			words->room = room;
		}
	}
	if (!word) {
		words->failed = true;
		return;
	}
	words->word[words->count++] = word;
	words->word[words->count] = NULL;
}

void capture_words_add(struct capture_words *words, const char *word)
{
	store(words, strdup(word));
}

void capture_words_format(struct capture_words *words, const char *format, ...)
{
	va_list arguments;
	char *word;

	va_start(arguments, format);
	if (vasprintf(&word, format, arguments) < 0)
		word = NULL;
	va_end(arguments);
	store(words, word);
}

void capture_words_free(struct capture_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->word[i]);
	free(words->word);
	*words = (struct capture_words){ 0 };
}
