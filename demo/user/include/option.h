/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Options of a command: words that consist of a dash and one or more letters. If a letter takes a value, the
 * value is the rest of its word, or the next word if there is no rest. "--" ends the options.
 */
#ifndef USER_OPTION_H
#define USER_OPTION_H

struct options {
	char **words; /* argv of the program */
	/*
	 * Index in argv of the next word; at first it is 1. When next_option() has returned 0, it is the
	 * index of the first word after the options.
	 */
	int next;
	const char *at; /* letters of the current word that have not been returned yet; NULL at first */
	/* Value of the letter that next_option() returned last, if the letter takes a value. */
	const char *value;
	const char *letters; /* all valid letters; a ':' follows each letter that takes a value */
};

/*
 * Returns the next letter; 0 if there are no more options; '?' if the letter is not valid or its value is
 * missing.
 */
int next_option(struct options *options);

#endif
