/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Each option has one row. getopt_long(3)'s tables, --help, the messages and the manual's SYNOPSIS are all
 * made from the rows. `--help=mdoc` prints the SYNOPSIS, and test/lint/manual.sh compares it with the manual.
 * Rows shared by several commands are arrays of their own; each command lists its arrays.
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
 * Stores an option's value at `to`. `value` is NULL for an option without a value. Returns NULL if the
 * value is valid. Otherwise returns the end of the message "--limit: 'x' …", or "" for the default message.
 */
typedef const char *option_set(void *to, const char *value, const struct option_row *row);

struct option_row {
	const char *name; /* long name without its dashes; NULL if the option has none */
	char letter;	  /* 0: none */
	/*
	 * Name of the option's argument in --help: "FILE". "[=FILE]" means that the argument is optional;
	 * "kill|keep" means that it is one of these words. NULL: the option takes no argument.
	 */
	const char *argument;
	/* Text in --help. NULL: --help does not list the option. A row that has only `help` is a heading. */
	const char *help;
	option_set *set;
	size_t to; /* offset of the variable in the command's structure */
	/* limits of a number or time; for a list, `most` is the maximum number of values; 0: no limit */
	uint64_t least, most;
	/*
	 * true if the option excludes the option of the previous row: "[--raw-clock | --align]" in the
	 * SYNOPSIS
	 */
	bool instead;
};

/* Values of an option that may be given several times. */
struct options_list {
	const char *word[OPTIONS_WORDS];
	unsigned count;
};

option_set options_set_flag;	/* bool */
option_set options_set_text;	/* const char *; "" if the optional argument was omitted */
option_set options_set_number;	/* uint64_t, from `least` to `most` */
option_set options_set_time;	/* uint64_t: a time in nanoseconds, from `least` to `most` */
option_set options_set_seconds; /* double: a time in seconds; must be above 0 if `least` is 1 */
option_set options_set_choice;	/* enum: the value's index among the words of `argument` */
option_set options_set_list;	/* struct options_list, of up to `most` words */
option_set options_set_help;	/* sets nothing: the option does the same as --help */

struct options_syntax {
	/*
	 * Lines such as "ktrace show [OPTION]... [FILE]". In the manual, "[OPTION]..." of the first line is
	 * replaced by all options that these lines do not name.
	 */
	const char *forms;
	/*
	 * `about`: text after the forms; `end`: text at the end of --help. Lines that begin with a space are
	 * not wrapped.
	 */
	const char *about, *end;
	void (*describe)(void); /* prints further text after `about`; NULL if there is none */
	const struct option_row *lists[OPTIONS_LISTS];
	bool in_order; /* true if options end at the first word that is not an option */
};

/* The state of reading a command line. */
struct options {
	const struct options_syntax *syntax;
	const char *by; /* text that begins each message */
	void *to;	/* the command's structure */
	uint64_t given; /* bit n: an option of row n was given; use options_given() */
};

/* Negative results: the command continues. All other results are exit statuses. */
#define OPTIONS_WORD   (-1) /* argv[optind] is a word that is not an option, or all words were read */
#define OPTIONS_DASHES (-2) /* the same as OPTIONS_WORD, but the previous word was "--" */
#define OPTIONS_MORE   (-3) /* one option was read; only options_next() returns this */

/*
 * Reads the options; if `in_order` is set, only up to the first word that is not an option. Returns
 * OPTIONS_WORD or OPTIONS_DASHES to continue; otherwise the exit status, also for --help.
 */
int options_parse(struct options *options, int argc, char **argv);
/* Reads one option. Returns a negative OPTIONS_* to continue; otherwise the exit status. */
int options_next(struct options *options, int argc, char **argv);

/*
 * Returns the first option of `names` that was given, with its dashes; NULL if none was given. The string
 * is valid until the next call. `names` contains long names or letters without dashes, separated by blanks.
 */
const char *options_given(const struct options *options, const char *names);

/* Prints `why` and a hint to use --help. Returns EXIT_USAGE. */
int options_refuse(const struct options *options, const char *why);

/*
 * Returns row `n`, counted from 0 through all lists; NULL after the last row. Aborts if a command has more
 * than OPTIONS_MOST rows.
 */
const struct option_row *options_row(const struct options_syntax *syntax, unsigned n);
/* Print the text of --help, and the SYNOPSIS in mdoc(7). */
void options_print_help(const struct options_syntax *syntax, FILE *to);
void options_print_synopsis(const struct options_syntax *syntax, FILE *to);

#endif
