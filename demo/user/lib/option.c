/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <option.h>
#include <stddef.h>
#include <string.h>

static int take_value(struct options *options)
{
	options->value = *options->at ? options->at : options->words[options->next++];
	options->at = NULL;
	return options->value != NULL;
}

int next_option(struct options *options)
{
	const char *known;
	int letter;

	if (!options->at || !*options->at) {
		const char *word = options->words[options->next];

		if (!word || word[0] != '-' || !word[1])
			return 0;
		options->next++;
		if (strcmp(word, "--") == 0)
			return 0;
		options->at = word + 1;
	}
	letter = *options->at++;
	known = letter == ':' ? NULL : strchr(options->letters, letter);
	if (!known || (known[1] == ':' && !take_value(options)))
		return '?';
	return letter;
}
