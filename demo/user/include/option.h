/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Options of a command: letters behind a dash, one or more a word. A letter's value is the rest of its word, or the next
 * word. "--" ends them.
 */
#ifndef USER_OPTION_H
#define USER_OPTION_H

struct options {
	char **words;	     /* argv */
	int next;	     /* word to be looked at: 1 at first; behind the options at the end */
	const char *at;	     /* within a word: the letters left, NULL at first */
	const char *value;   /* of the letter that was found last */
	const char *letters; /* that are known; ':' behind those that have a value */
};

/* The next letter, 0 behind the last; '?' for one that is not known or lacks its value. */
int next_option(struct options *options);

#endif
