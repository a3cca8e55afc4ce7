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
#define OPTIONS_LISTS 8u  /* maximum number of arrays of rows of a command */
#define OPTIONS_WORDS 32u /* maximum number of values of one option */

struct option_row;

/*
 * Stores the value; `value` is NULL for an option without one. Returns NULL, or a description of the error:
 * the end of the sentence "--limit: 'x' …", or "" for the default message.
 */
typedef const char *option_set(void *to, const char *value, const struct option_row *row);

struct option_row {
	const char *name; /* long name, without dashes; NULL: none */
	char letter;	  /* 0: none */
	/*
	 * The argument in --help: "FILE"; "[=FILE]": optional; "kill|keep": one of these words; NULL: no
	 * argument.
	 */
	const char *argument;
	/* The text in --help; NULL: the option is not listed. A row that has only `help` is a heading. */
	const char *help;
	option_set *set;
	size_t to;	      /* offset of the variable in the command's structure */
	uint64_t least, most; /* limits of a number or time; `most` of a list is its length; 0: no limit */
	bool instead;	      /* alternative to the previous row: "[--raw-clock | --align]" in the SYNOPSIS */
};

/* Values of an option that may be given several times. */
struct options_list {
	const char *word[OPTIONS_WORDS];
	unsigned count;
};

option_set options_set_flag;	/* bool */
option_set options_set_text;	/* const char *; "" if an optional argument is omitted */
option_set options_set_number;	/* uint64_t, from `least` to `most` */
option_set options_set_time;	/* uint64_t: nanoseconds, from `least` to `most` */
option_set options_set_seconds; /* double: seconds; above 0 if `least` is 1 */
option_set options_set_choice;	/* enum: the index of the word in `argument` */
option_set options_set_list;	/* struct options_list, of up to `most` words */
option_set options_set_help;	/* sets nothing: another name of --help */

struct options_syntax {
	/*
	 * Lines such as "ktrace show [OPTION]... [FILE]". In the manual, "[OPTION]..." of the first line
	 * becomes all options that no line names.
	 */
	const char *forms;
	/* Text after the forms, and at the end. Lines that begin with a blank are not wrapped. */
	const char *about, *end;
	void (*describe)(void); /* prints further text after `about`; NULL: no such text */
	const struct option_row *lists[OPTIONS_LISTS];
	bool in_order; /* the first word that is not an option ends the options */
};

/* The state of reading a command line. */
struct options {
	const struct options_syntax *syntax;
	const char *by; /* begins messages */
	void *to;	/* the command's structure */
	uint64_t given; /* bit map of the rows whose option was given; use options_given() */
};

/* Results that are not an exit status: continue. */
#define OPTIONS_WORD   (-1) /* argv[optind] is not an option, or all words were read */
#define OPTIONS_DASHES (-2) /* as OPTIONS_WORD; the word before was "--" */
#define OPTIONS_MORE   (-3) /* only options_next() returns this: it has read one option */

/*
 * Reads the options, up to the first word if `in_order` is set. Returns a negative value to continue;
 * otherwise the exit status, also for --help.
 */
int options_parse(struct options *options, int argc, char **argv);
/* Reads one option. Returns a negative OPTIONS_* to continue; otherwise the exit status. */
int options_next(struct options *options, int argc, char **argv);

/*
 * Returns the first of these options that was given, with its dashes; NULL if none was.
 * The string is valid until the next call. `names` are long names or letters without dashes, separated by
 * blanks.
 */
const char *options_given(const struct options *options, const char *names);

/* Prints `why` and a hint at --help. Returns EXIT_USAGE. */
int options_refuse(const struct options *options, const char *why);

/*
 * Returns row `n` of all lists together; NULL after the last. Aborts if a command has more than OPTIONS_MOST
 * rows.
 */
const struct option_row *options_row(const struct options_syntax *syntax, unsigned n);
/* Print the text of --help, and the SYNOPSIS in mdoc(7). */
void options_print_help(const struct options_syntax *syntax, FILE *to);
void options_print_synopsis(const struct options_syntax *syntax, FILE *to);

#endif
