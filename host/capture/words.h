/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A growing list of words that ends in NULL, as execv() wants it. Running out of memory is remembered, not
 * returned. */
#ifndef CAPTURE_WORDS_H
#define CAPTURE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct capture_words {
	char **word; /* owned, as are the words; NULL while empty */
	size_t count;
	size_t room;
	bool failed; /* a word could not be stored: the list must not be used */
};

void capture_words_add(struct capture_words *words, const char *word);
__attribute__((format(printf, 2, 3))) void capture_words_format(struct capture_words *words,
								const char *format, ...);
void capture_words_free(struct capture_words *words);

#endif
