/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Each option has one row. getopt_long(3)'s tables, --help, the messages and the manual's SYNOPSIS are all
 * made from the rows. `--help=mdoc` prints the SYNOPSIS, and test/lint/manual.sh compares it with the manual.
 * Rows that several commands share are in separate arrays; each command has a list of its arrays.
 *
 *	#define AT(member) .to = offsetof(struct show, member)
 *	static const struct option_row rows[] = {
 *		{ "limit", 'n', "N", "stop after N events", options_set_number, AT(limit), .least = 1 },
 *		{ "json", 0, NULL, "one JSON object per line", options_set_flag, AT(json) },
 *		{ 0 },
 *	};
 */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OPTIONS_MOST  64u /* maximum number of rows of a command: `given` has a bit for each row */
#define OPTIONS_LISTS 12u /* maximum number of arrays of rows of a command */
#define OPTIONS_WORDS 32u /* maximum number of values of an option that may be given several times */

struct option_row;

/*
 * Stores an option's value at `to`. `value` is NULL for an option without a value. Returns NULL if the value
 * is valid. Otherwise returns the end of the message "--limit: 'x' …", or "" to get the default message.
 */
typedef const char *option_set(void *to, const char *value, const struct option_row *row);

struct option_row {
	const char *name; /* long name without its dashes; NULL if the option has none */
	char letter;	  /* the option's letter; 0 if the option has none */
	/*
	 * Name of the option's argument in --help: "FILE". "[=FILE]" means that the argument is optional;
	 * "kill|keep" means that it is one of these words. NULL: the option takes no argument.
	 */
	const char *argument;
	/*
	 * Text in --help. NULL: --help does not list the option. A row in which only `help` is set is a
	 * heading.
	 */
	const char *help;
	option_set *set;
	size_t to; /* offset of the variable in the command's structure */
	/*
	 * minimum and maximum of a number or time; for a list, `most` is the maximum number of values; 0: no
	 * limit
	 */
	uint64_t least, most;
	/*
	 * true if the option excludes the option of the previous row: "[--raw-clock | --align]" in the
	 * SYNOPSIS
	 */
	bool instead;
	/*
	 * true if a second value is refused: the option selects what is shown, so a user may expect that
	 * both values select something. Of other options that have one value, the last value counts.
	 */
	bool once;
};

/* Values of an option that may be given several times. */
struct options_list {
	const char *word[OPTIONS_WORDS];
	unsigned count;
};

/* Each of these functions stores the value in a variable of the type in its comment. */
option_set options_set_flag;	/* bool: sets it to true */
option_set options_set_text;	/* const char *; "" if the optional argument was omitted */
option_set options_set_number;	/* uint64_t, from `least` to `most` */
option_set options_set_time;	/* uint64_t: a time in nanoseconds, from `least` to `most` */
option_set options_set_seconds; /* double: a time in seconds; must be above 0 if `least` is 1 */
option_set options_set_choice;	/* enum: the value's index among the words of `argument` */
option_set options_set_list;	/* struct options_list, with at most `most` elements */
option_set options_set_joined;	/* const char *: all values, with commas between them */
option_set options_set_help;	/* no variable: stores nothing, because the option does the same as --help */

/*
 * Returns "before,value", or `value` if `before` is NULL or "". Returns NULL if out of memory. The string
 * exists until the process ends.
 */
const char *options_join(const char *before, const char *value);

struct options_syntax {
	/*
	 * Lines such as "ktrace show [OPTION]... [FILE]". In the manual, all options that these lines do not
	 * mention replace "[OPTION]..." in the first line.
	 */
	const char *forms;
	/*
	 * `about`: text after the forms; `end`: last text of --help. Lines that begin with a space are not
	 * wrapped.
	 */
	const char *about, *end;
	void (*describe)(void); /* prints more text after `about`; NULL if there is none */
	const struct option_row *lists[OPTIONS_LISTS];
	bool in_order; /* true if no options are read after the first argument that is not an option */
};

/* The state of reading a command line. */
struct options {
	const struct options_syntax *syntax;
	const char *by; /* text that begins each message */
	void *to;	/* the command's structure, in which values are stored */
	uint64_t given; /* bit n is set if the option of row n was given; use options_given() */
};

/*
 * Results of the functions below. If the result is negative, the command continues. Any other result is an
 * exit status.
 */
/* argv[optind] is the next argument that is not an option, or all arguments were read */
#define OPTIONS_WORD   (-1)
#define OPTIONS_DASHES (-2) /* the same as OPTIONS_WORD, but the previous argument was "--" */
/* one option was read, and more may follow; only options_next() returns this */
#define OPTIONS_MORE (-3)

/*
 * Reads the options, up to the first argument that is not an option if `in_order` is set. Returns
 * OPTIONS_WORD or OPTIONS_DASHES to continue; otherwise the exit status, also for --help.
 */
int options_parse(struct options *options, int argc, char **argv);
/* Reads one option. Returns a negative OPTIONS_* to continue; otherwise the exit status. */
int options_next(struct options *options, int argc, char **argv);

/*
 * Returns the first of the options `names` that was given, with its dashes; NULL if none was given. The
 * string is valid until the next call. `names` contains long names or letters without dashes, separated by
 * blanks.
 */
const char *options_given(const struct options *options, const char *names);

/* message for a file whose name on the command line is "" */
#define OPTIONS_NO_NAME "the name of the file is empty"

/* Prints `why` and a hint to use --help. Returns EXIT_USAGE. */
int options_refuse(const struct options *options, const char *why);

/*
 * Returns row number `n` of all arrays together, counted from 0; NULL after the last row. Aborts if a command
 * has more than OPTIONS_MOST rows.
 */
const struct option_row *options_row(const struct options_syntax *syntax, unsigned n);
/* These functions print the text of --help, and the SYNOPSIS in mdoc(7). */
void options_print_help(const struct options_syntax *syntax, FILE *to);
void options_print_synopsis(const struct options_syntax *syntax, FILE *to);

#endif
