/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * One row for each option. From the rows come the tables of getopt_long(3), --help, the messages, and the
 * SYNOPSIS of the manual, which `--help=mdoc` prints and test/lint/manual.sh compares. Rows that several
 * commands take are an array of their own; a command lists its arrays.
 *
 *	#define AT(member) .to = offsetof(struct show, member)
 *	static const struct option_row rows[] = {
 *		{ "limit", 'n', "N", "stop after N events", options_set_number, AT(limit), .least = 1 },
 *		{ "json", 0, NULL, "a JSON object a line", options_set_flag, AT(json) },
 *		{ 0 },
 *	};
 */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OPTIONS_MOST  64u /* rows of a command: a bit of `given` for each */
#define OPTIONS_LISTS 8u  /* arrays of rows of a command */
#define OPTIONS_WORDS 32u /* that one option collects */

struct option_row;

/*
 * Stores the value, which is NULL for an option without one. Returns NULL, or what is wrong with the value:
 * "" if it means nothing, else the end of the sentence "--limit: 'x' …".
 */
typedef const char *option_set(void *to, const char *value, const struct option_row *row);

struct option_row {
	const char *name; /* long, without dashes; NULL: none */
	char letter;	  /* 0: none */
	/* As --help has it: "FILE"; "[=FILE]": may be left out; "kill|keep": one of these; NULL: none. */
	const char *argument;
	const char *help; /* NULL: not listed. A row with nothing else is a heading. */
	option_set *set;
	size_t to;	      /* offset of what is set, in the command's structure */
	uint64_t least, most; /* of a number or a time; `most` of words in a list; 0: any */
	bool instead;	      /* of the row before: "[--raw-clock | --align]" in the SYNOPSIS */
};

/* What an option that may be given several times collects. */
struct options_list {
	const char *word[OPTIONS_WORDS];
	unsigned count;
};

option_set options_set_flag;	/* bool */
option_set options_set_text;	/* const char *; an optional argument that is left out is "" */
option_set options_set_number;	/* uint64_t, from `least` to `most` */
option_set options_set_time;	/* uint64_t: nanoseconds, from `least` to `most` */
option_set options_set_seconds; /* double: seconds; above 0 if `least` is 1 */
option_set options_set_choice;	/* an enum: which of the words of `argument` */
option_set options_set_list;	/* struct options_list, of `most` words */
option_set options_set_help;	/* nothing: another word for --help */

struct options_syntax {
	/*
	 * Lines "ktrace show [OPTION]... [FILE]". In the manual, "[OPTION]..." of the first one becomes all
	 * options that no line names.
	 */
	const char *forms;
	/* After the forms, and at the end. Lines that begin with a blank stay as they are. */
	const char *about, *end;
	void (*describe)(void); /* prints more after `about`; NULL: nothing */
	const struct option_row *lists[OPTIONS_LISTS];
	bool in_order; /* the first word that is no option ends the options */
};

/* A command line that is read. */
struct options {
	const struct options_syntax *syntax;
	const char *by; /* signs messages */
	void *to;	/* the command's structure */
	uint64_t given; /* a bit for each row: ask options_given() */
};

/* Results that are no exit status: go on. */
#define OPTIONS_WORD   (-1) /* argv[optind] is no option, or all words are read */
#define OPTIONS_DASHES (-2) /* the same, with "--" before it */
#define OPTIONS_MORE   (-3) /* options_next(): one option was read */

/* Reads options as far as `in_order` allows. Below 0: go on; otherwise the exit status, also of --help. */
int options_parse(struct options *options, int argc, char **argv);
/* Reads one option. */
int options_next(struct options *options, int argc, char **argv);

/*
 * The first of these options that was given, with its dashes, valid until the next call; NULL: none was.
 * Blanks separate `names`, which are long names or letters without dashes.
 */
const char *options_given(const struct options *options, const char *names);

/* Prints `why` and where help is. Returns EXIT_USAGE. */
int options_refuse(const struct options *options, const char *why);

/* Row `n` of all lists together; NULL after the last. Aborts if a command has more than OPTIONS_MOST. */
const struct option_row *options_row(const struct options_syntax *syntax, unsigned n);
/* Text of --help, and the SYNOPSIS in mdoc(7). */
void options_print_help(const struct options_syntax *syntax, FILE *to);
void options_print_synopsis(const struct options_syntax *syntax, FILE *to);

#endif
