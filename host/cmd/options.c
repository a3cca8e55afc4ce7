/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "cmd/options.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/trace_args.h"

#define LONG 256 /* what getopt_long() returns for row 0 by its long name */
#define HELP (LONG + (int)OPTIONS_MOST)

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

const char *options_set_number(void *to, const char *value, const struct option_row *row)
{
	uint64_t number;

	if (trace_parse_number(value, row->most ? row->most : UINT64_MAX, &number) || number < row->least)
		return "";
	*(uint64_t *)to = number;
	return NULL;
}

const char *options_set_time(void *to, const char *value, const struct option_row *row)
{
	return trace_parse_time(value, to) || *(uint64_t *)to < row->least ? "" : NULL;
}

const char *options_set_seconds(void *to, const char *value, const struct option_row *row)
{
	char *end;
	const double seconds = strtod(value, &end);

	*(double *)to = seconds;
	if (end == value || *end || !isfinite(seconds) || seconds < 0 || (row->least && seconds <= 0))
		return "is not a number of seconds";
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

	if (list->count == row->most)
		return "is one too many";
	list->word[list->count++] = value;
	return NULL;
}

const char *options_set_help(void *to, const char *value, const struct option_row *row)
{
	(void)to;
	(void)value;
	(void)row;
	return wants_help;
}

const struct option_row *options_row(const struct options_syntax *syntax, unsigned n)
{
	for (unsigned list = 0; list < OPTIONS_LISTS && syntax->lists[list]; list++)
		for (const struct option_row *row = syntax->lists[list]; row->help || row->set; row++)
			if (n-- == 0)
				return row;
	return NULL;
}

/* "--limit" or "-n". */
static const char *name_of(const struct option_row *row)
{
	static char text[40];

	if (row->name)
		snprintf(text, sizeof(text), "--%s", row->name);
	else
		snprintf(text, sizeof(text), "-%c", row->letter);
	return text;
}

static int complain(const struct options *options, const struct option_row *row, const char *value,
		    const char *wrong)
{
	char hint[80] = "";

	if (row->set == options_set_choice)
		snprintf(hint, sizeof(hint), " (%s)", row->argument);
	else if (row->set == options_set_number && row->most && row->most <= UINT32_MAX)
		snprintf(hint, sizeof(hint), " (a number from %" PRIu64 " to %" PRIu64 ")", row->least,
			 row->most);
	if (*wrong)
		command_message(options->by, "%s: '%s' %s", name_of(row), value, wrong);
	else
		command_message(options->by, "unusable value for %s: '%s'%s", name_of(row), value, hint);
	return command_usage(options->by);
}

/* --help, or --help=mdoc. */
static int answer_help(const struct options *options, const char *form)
{
	if (form && strcmp(form, "mdoc") == 0)
		options_print_synopsis(options->syntax, stdout);
	else
		options_print_help(options->syntax, stdout);
	return command_help("");
}

static int take(struct options *options, unsigned n)
{
	const struct option_row *row = options_row(options->syntax, n);
	const char *wrong = row->set((char *)options->to + row->to, optarg, row);

	if (wrong == wants_help)
		return answer_help(options, NULL);
	if (wrong)
		return complain(options, row, optarg ? optarg : "", wrong);
	options->given |= UINT64_C(1) << n;
	return OPTIONS_MORE;
}

/* The tables of getopt_long(3). */
static void make_tables(const struct options_syntax *syntax, struct option *names, char *letters)
{
	const struct option_row *row;

	if (syntax->in_order)
		*letters++ = '+';
	for (unsigned n = 0; n < OPTIONS_MOST && (row = options_row(syntax, n)); n++) {
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

int options_next(struct options *options, int argc, char **argv)
{
	struct option names[OPTIONS_MOST + 2];
	char letters[3 * OPTIONS_MOST + 2];
	const struct option_row *row;
	const int before = optind ? optind : 1;
	int option;

	make_tables(options->syntax, names, letters);
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
	return command_usage(options->by); /* getopt_long() has said why */
}

int options_parse(struct options *options, int argc, char **argv)
{
	int status;

	do
		status = options_next(options, argc, argv);
	while (status == OPTIONS_MORE);
	return status;
}

/* Is it the option's long name or letter? */
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
