/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Options of a command: letters after a dash, one or more in a word. The value of a letter is the rest of its
 * word, or the next word. "--" ends the options.
 */
#ifndef USER_OPTION_H
#define USER_OPTION_H

struct options {
	char **words; /* argv */
	/*
	 * Index of the next word in argv. At first it is 1. After the last option it is the index of the
	 * first word after the options.
	 */
	int next;
	const char *at;	     /* remaining letters of the current word; NULL at first */
	const char *value;   /* value of the letter that next_option() returned last */
	const char *letters; /* known letters; a ':' follows those that have a value */
};

/* Returns the next letter, 0 after the last one, or '?' if the letter is unknown or its value is missing. */
int next_option(struct options *options);

#endif
