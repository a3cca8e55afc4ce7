/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/options.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/trace_args.h"

#define ALLOWED_MOST 96 /* maximum length, in bytes, of a description of allowed values */

#define LONG 256 /* value that getopt_long() returns for the long name of row 0; row n has LONG + n */
#define HELP (LONG + (int)OPTIONS_MOST)
_Static_assert(OPTIONS_MOST <= 64, "struct options has a bit for each row");

static const char wants_help[] = "help";

const char *options_set_flag(void *to, const char *value, const struct option_row *row)
{
	(void)value;
	(void)row;
	*(bool *)to = true;
	return NULL;
}

const char *options_set_text(void *to, const char *value, const struct option_row *row)
{
	(void)row;
	*(const char **)to = value ? value : "";
	return NULL;
}

static uint64_t most_of(const struct option_row *row)
{
	return row->most ? row->most : UINT64_MAX;
}

const char *options_set_number(void *to, const char *value, const struct option_row *row)
{
	uint64_t number;

	if (trace_parse_number(value, most_of(row), &number) || number < row->least)
		return "";
	*(uint64_t *)to = number;
	return NULL;
}

const char *options_set_time(void *to, const char *value, const struct option_row *row)
{
	uint64_t time;

	if (trace_parse_time(value, &time) || time < row->least || time > most_of(row))
		return "";
	*(uint64_t *)to = time;
	return NULL;
}

const char *options_set_seconds(void *to, const char *value, const struct option_row *row)
{
	char *end;
	const double seconds = strtod(value, &end);

	if (!strchr(".0123456789", *value) || end == value || *end || !isfinite(seconds) ||
	    (row->least && seconds <= 0))
		return row->least ? "is not a number of seconds above 0" : "is not a number of seconds";
	*(double *)to = seconds;
	return NULL;
}

const char *options_set_choice(void *to, const char *value, const struct option_row *row)
{
	const char *word = row->argument;

	for (unsigned n = 0;; n++) {
		const size_t length = strcspn(word, "|");

		if (strlen(value) == length && memcmp(word, value, length) == 0) {
			*(unsigned *)to = n;
			return NULL;
		}
		if (!word[length])
			return "";
		word += length + 1;
	}
}

const char *options_set_list(void *to, const char *value, const struct option_row *row)
{
	struct options_list *list = to;
	const unsigned most = row->most < OPTIONS_WORDS ? (unsigned)row->most : OPTIONS_WORDS;
	static char wrong[64];

	if (list->count == most) {
		snprintf(wrong, sizeof(wrong), "is too many: at most %u can be given", most);
		return wrong;
	}
	list->word[list->count++] = value;
	return NULL;
}

const char *options_join(const char *before, const char *value)
{
	static struct joined {
		struct joined *previous; /* makes all strings reachable */
		char text[];
	} * newest;
	struct joined *joined;
	size_t size;

	if (!before || !*before)
		return value;
	size = strlen(before) + strlen(value) + sizeof(",");
	joined = malloc(sizeof(*joined) + size);
	if (!joined)
		return NULL;
	snprintf(joined->text, size, "%s,%s", before, value);
	joined->previous = newest;
	newest = joined;
	return joined->text;
}

const char *options_set_joined(void *to, const char *value, const struct option_row *row)
{
	const char *joined = options_join(*(const char **)to, value);

	(void)row;
	if (!joined)
		return "does not fit into memory";
	*(const char **)to = joined;
	return NULL;
}

const char *options_set_help(void *to, const char *value, const struct option_row *row)
{
	(void)to;
	(void)value;
	(void)row;
	return wants_help;
}

/*
 * Aborts the program if a command has too many rows of options. Otherwise some options would be missing
 * without a message.
 */
_Noreturn static void too_many(const struct options_syntax *syntax)
{
	fprintf(stderr, "more than %u rows of options: %s\n", OPTIONS_MOST, syntax->forms);
	abort();
}

const struct option_row *options_row(const struct options_syntax *syntax, unsigned n)
{
	unsigned before = n;

	for (unsigned list = 0; list < OPTIONS_LISTS && syntax->lists[list]; list++)
		for (const struct option_row *row = syntax->lists[list]; row->help || row->set; row++)
			if (before-- == 0) {
				if (n >= OPTIONS_MOST)
					too_many(syntax);
				return row;
			}
	return NULL;
}

/* Returns the option's name with its dashes: "--limit", or "-n" if it has no long name. */
static const char *name_of(const struct option_row *row)
{
	static char text[40];

	if (row->name)
		snprintf(text, sizeof(text), "--%s", row->name);
	else
		snprintf(text, sizeof(text), "-%c", row->letter);
	return text;
}

/* Writes a limit. A time is written as a whole number in the largest possible unit: "100ms". */
static void put_bound(char text[32], const struct option_row *row, uint64_t bound)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	const bool is_time = row->set == options_set_time;
	unsigned unit = 0;

	for (; is_time && unit < 3 && bound && bound % 1000 == 0; unit++)
		bound /= 1000;
	snprintf(text, 32, "%" PRIu64 "%s", bound, is_time ? units[unit] : "");
}

/*
 * Describes the allowed values, for example "a number from 1 to 8" or "kill|keep". Returns "" if a number or
 * time has no limits, or if the option has values of another type.
 */
static const char *allowed_by(const struct option_row *row, char text[ALLOWED_MOST])
{
	const char *what = row->set == options_set_time ? "time" : "number";
	char least[32], most[32];

	*text = '\0';
	if (row->set == options_set_choice)
		return row->argument;
	if (row->set != options_set_number && row->set != options_set_time)
		return text;
	put_bound(least, row, row->least);
	put_bound(most, row, row->most);
	if (row->most && row->most < UINT64_MAX / 2)
		snprintf(text, ALLOWED_MOST, "a %s from %s to %s", what, least, most);
	else if (row->least)
		snprintf(text, ALLOWED_MOST, "a %s of at least %s", what, least);
	return text;
}

static int complain(const struct options *options, const struct option_row *row, const char *value,
		    const char *wrong)
{
	char allowed[ALLOWED_MOST];

	if (!*wrong)
		return command_bad_value(options->by, name_of(row), value, allowed_by(row, allowed));
	command_message(options->by, "%s: '%s' %s", name_of(row), value, wrong);
	return command_usage(options->by);
}

/* Answers --help and --help=mdoc. */
static int answer_help(const struct options *options, const char *form)
{
	if (form && strcmp(form, "mdoc") == 0)
		options_print_synopsis(options->syntax, stdout);
	else
		options_print_help(options->syntax, stdout);
	return command_flush(options->by);
}

/* Returns whether the option's argument is the name of a file or directory. */
static bool takes_path(const struct option_row *row)
{
	static const char *const paths[] = { "FILE", "FILE[@BASE]", "KERNEL", "OUT",   "OUTPUT", "OUTFILE",
					     "DIR",  "ROOT",	    "TABLE",  "RULES", "TRACE" };

	for (size_t n = 0; row->argument && n < sizeof(paths) / sizeof(paths[0]); n++)
		if (strcmp(row->argument, paths[n]) == 0)
			return true;
	return false;
}

/* Stores an option's value. An empty file name is usually that of a shell variable that is not set. */
static int take(struct options *options, unsigned n)
{
	const struct option_row *row = options_row(options->syntax, n);
	const char *wrong;

	if (options->given >> n & 1 && row->once) {
		command_message(options->by, "%s is given twice", name_of(row));
		return command_usage(options->by);
	}
	wrong = optarg && !*optarg && takes_path(row) ? "is not the name of a file"
						      : row->set((char *)options->to + row->to, optarg, row);
	if (wrong == wants_help)
		return answer_help(options, NULL);
	if (wrong)
		return complain(options, row, optarg ? optarg : "", wrong);
	options->given |= UINT64_C(1) << n;
	return OPTIONS_MORE;
}

/* Makes the tables that getopt_long(3) needs. */
static void make_tables(const struct options_syntax *syntax, struct option *names, char *letters)
{
	const struct option_row *row;

	if (syntax->in_order)
		*letters++ = '+';
	for (unsigned n = 0; (row = options_row(syntax, n)); n++) {
		const int has = !row->argument		? no_argument
				: *row->argument == '[' ? optional_argument
							: required_argument;

		if (row->name)
			*names++ = (struct option){ row->name, has, NULL, LONG + (int)n };
		if (row->letter)
			*letters++ = row->letter;
		for (int colons = row->letter ? has : 0; colons > 0; colons--)
			*letters++ = ':';
	}
	*names++ = (struct option){ "help", optional_argument, NULL, HELP };
	*names = (struct option){ NULL, 0, NULL, 0 };
	*letters = '\0';
}

/* Returns whether a word that looks like an option has characters that getopt_long(3) must not print. */
static bool has_strange_option(int argc, char **argv)
{
	for (int n = optind ? optind : 1; n < argc; n++)
		for (const char *at = argv[n]; argv[n][0] == '-' && *at; at++)
			if (*at < ' ' || *at > '~')
				return true;
	return false;
}

int options_next(struct options *options, int argc, char **argv)
{
	struct option names[OPTIONS_MOST + 2];
	char letters[3 * OPTIONS_MOST + 2];
	const struct option_row *row;
	const int before = optind ? optind : 1;
	int option;

	make_tables(options->syntax, names, letters);
	opterr = !has_strange_option(argc, argv);
	option = getopt_long(argc, argv, letters, names, NULL);
	if (option == -1)
		return optind > before ? OPTIONS_DASHES : OPTIONS_WORD;
	if (option == HELP)
		return answer_help(options, optarg);
	if (option >= LONG)
		return take(options, (unsigned)(option - LONG));
	for (unsigned n = 0; option != '?' && (row = options_row(options->syntax, n)); n++)
		if (row->letter == option)
			return take(options, n);
	if (!opterr) /* otherwise getopt_long() has already printed the reason */
		command_message(options->by, "invalid option '%s'",
				argv[optind > before ? optind - 1 : optind]);
	return command_usage(options->by);
}

int options_parse(struct options *options, int argc, char **argv)
{
	int status;

	do
		status = options_next(options, argc, argv);
	while (status == OPTIONS_MORE);
	return status;
}

/* Returns whether `name` is the option's long name or letter. */
static bool is_called(const struct option_row *row, const char *name, size_t length)
{
	return (row->name && strlen(row->name) == length && memcmp(row->name, name, length) == 0) ||
	       (length == 1 && row->letter == *name);
}

const char *options_given(const struct options *options, const char *names)
{
	const struct option_row *row;

	for (size_t length; *names; names += length + (names[length] == ' ')) {
		length = strcspn(names, " ");
		for (unsigned n = 0; (row = options_row(options->syntax, n)); n++)
			if (options->given >> n & 1 && is_called(row, names, length))
				return name_of(row);
	}
	return NULL;
}

int options_refuse(const struct options *options, const char *why)
{
	command_message(options->by, "%s", why);
	return command_usage(options->by);
}
