/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Prints rows of options as --help and as the SYNOPSIS of a manual page. */
#include <ctype.h>
#include <string.h>

#include "cmd/options.h"

#define WIDTH 92u /* width of a line of --help, in columns */
/*
 * maximum number of bytes of "-o, --out FILE" if the help text begins on the same line; otherwise it begins
 * on the next line
 */
#define LEFT_MOST 20u
#define FORM_MOST 1024u

/* ---- Text of --help ---- */

/* Returns the length of the first word of a text. Spaces between brackets do not end a word. */
static size_t length_of_word(const char *text, const char *end)
{
	int depth = 0;
	size_t length = 0;

	for (; text + length < end && (text[length] != ' ' || depth > 0); length++)
		depth += (text[length] == '[') - (text[length] == ']');
	return length;
}

/*
 * Writes the words up to `end`, with line breaks. The first line begins in column `at`; all other lines are
 * indented.
 */
static void put_filled(FILE *to, size_t at, size_t indent, const char *text, const char *end)
{
	while (text < end) {
		const size_t length = length_of_word(text, end);

		if (at > indent && at + 1 + length > WIDTH) {
			fprintf(to, "\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			fputc(' ', to);
			at++;
		}
		fwrite(text, 1, length, to);
		at += length;
		text += length + (text + length < end);
	}
	fputc('\n', to);
}

static void put_text(FILE *to, const char *text)
{
	for (const char *end; *text; text = end + (*end == '\n')) {
		end = text + strcspn(text, "\n");
		if (*text == ' ')
			fprintf(to, "%.*s\n", (int)(end - text), text);
		else
			put_filled(to, 0, 0, text, end);
	}
}

/* Writes the option's names and argument, "-o, --out FILE". Returns the length. */
static size_t put_left(char *text, size_t size, const struct option_row *row)
{
	const char *argument = row->argument ? row->argument : "";
	char letter[] = { '-', row->letter, row->name ? ',' : '\0', ' ', '\0' };

	return (size_t)snprintf(text, size, "%s%s%s%s%s", row->letter ? letter : "", row->name ? "--" : "",
				row->name ? row->name : "", *argument && *argument != '[' ? " " : "",
				argument);
}

static void put_row(FILE *to, const struct option_row *row, size_t widest)
{
	char left[80];
	const size_t length = put_left(left, sizeof(left), row), indent = widest + 4;

	if (!row->set) {
		fputc('\n', to);
		put_text(to, row->help);
		return;
	}
	fprintf(to, "  %s", left);
	if (length > widest)
		fprintf(to, "\n%*s", (int)indent, "");
	else
		fprintf(to, "%*s", (int)(indent - 2 - length), "");
	put_filled(to, indent, indent, row->help, row->help + strlen(row->help));
}

void options_print_help(const struct options_syntax *syntax, FILE *to)
{
	const struct option_row *row;
	size_t widest = 0;
	char left[80];

	for (const char *form = syntax->forms, *end; *form; form = end + (*end == '\n')) {
		end = form + strcspn(form, "\n");
		fputs(form == syntax->forms ? "usage: " : "       ", to);
		put_filled(to, 7, 7, form, end);
	}
	fputc('\n', to);
	put_text(to, syntax->about);
	if (syntax->describe)
		syntax->describe();
	for (unsigned n = 0; (row = options_row(syntax, n)); n++) {
		const size_t length = row->set && row->help ? put_left(left, sizeof(left), row) : 0;

		if (length > widest && length <= LEFT_MOST)
			widest = length;
	}
	row = options_row(syntax, 0);
	if (row && row->set)
		fputc('\n', to);
	for (unsigned n = 0; (row = options_row(syntax, n)); n++)
		if (row->help)
			put_row(to, row, widest);
	if (syntax->end) {
		fputc('\n', to);
		put_text(to, syntax->end);
	}
}

/* ---- SYNOPSIS, in mdoc(7) ---- */

/* Writes one element of the SYNOPSIS: "FILE", "qemu", "kill|keep", "--out", "--branches[=FILE]". */
static void put_word(FILE *to, const char *word, size_t length)
{
	const char *bracket = memchr(word, '[', length);
	const size_t end = bracket ? (size_t)(bracket - word) : length;
	const bool is_option = *word == '-';
	bool is_name = false;

	for (size_t n = 0; n < end && !is_option; n++)
		is_name = is_name || isupper((unsigned char)word[n]);
	fputs(is_option ? "Fl " : is_name ? "Ar " : *word == '|' ? "" : "Cm ", to);
	for (size_t n = is_option; n < end; n++)
		if (word[n] == '|' && end > 1)
			fputs(" | ", to);
		else
			fputc(is_name ? tolower((unsigned char)word[n]) : word[n], to);
	if (!bracket)
		return;
	fprintf(to, " Ns Oo %c Ns ", bracket[1]);
	put_word(to, bracket + 2, length - end - 3);
	fputs(" Oc", to);
}

/*
 * Writes a form of the command, such as "[--last N [--before FUNCTION]] FILE". Begins a new line for each
 * option, and for each argument outside of brackets.
 */
static void put_form(FILE *to, const char *text)
{
	int depth = 0;
	char last = '\0'; /* first character of the previous element */

	for (size_t length; (length = strcspn(text, " \n")) > 0; text += length + (text[length] == ' ')) {
		const char *word = text;
		size_t left = length;
		const bool dots = left > 3 && strncmp(word + left - 3, "...", 3) == 0;
		int closing = 0;

		if (depth == 0 && *word != '|' && last != '|' &&
		    (last != '-' || *word == '[' || *word == '-'))
			fputs("\n.", to);
		else
			fputc(' ', to);
		for (; *word == '['; word++, left--, depth++)
			fputs("Op ", to);
		last = *word;
		for (left -= dots ? 3 : 0; word[left - 1] == ']'; left--)
			closing++;
		if (memchr(word, '[', left)) { /* this last bracket is part of the element */
			left++;
			closing--;
		}
		put_word(to, word, left);
		fputs(dots ? " ..." : "", to);
		depth -= closing;
	}
}

static bool is_named(const char *forms, const struct option_row *row)
{
	char name[48];

	for (int way = 0; way < 2; way++) {
		if (way == 0 ? !row->name : !row->letter)
			continue;
		if (way == 0)
			snprintf(name, sizeof(name), "--%s", row->name);
		else
			snprintf(name, sizeof(name), "-%c", row->letter);
		for (const char *at = forms; (at = strstr(at, name)); at++)
			if (strchr(" [\n", at[-1]) && strchr(" []\n", at[strlen(name)]))
				return true;
	}
	return false;
}

/* Appends an option and its argument: "-o OUT", or "--out OUT" if the option has no letter. */
static void add_short(char *text, size_t size, const struct option_row *row)
{
	const size_t length = strlen(text);
	struct option_row one = *row;

	if (one.letter)
		one.name = NULL;
	put_left(text + length, size - length, &one);
}

/* Writes all options that the forms do not mention. Options that have only a letter come first. */
static void put_options(FILE *to, const struct options_syntax *syntax)
{
	const struct option_row *row, *next;
	char flags[OPTIONS_MOST + 1], text[FORM_MOST];
	bool joined[OPTIONS_MOST] = { false };
	size_t count = 0;

	for (unsigned n = 0; (row = options_row(syntax, n)); n++) {
		next = options_row(syntax, n + 1);
		if (!row->letter || !row->help || row->argument || row->instead || (next && next->instead) ||
		    is_named(syntax->forms, row))
			continue;
		flags[count++] = row->letter;
		joined[n] = true;
	}
	if (count)
		fprintf(to, "\n.Op Fl %.*s", (int)count, flags);
	for (unsigned n = 0; (row = options_row(syntax, n)); n++) {
		if (joined[n] || !row->set || !row->help || row->instead || is_named(syntax->forms, row))
			continue;
		strcpy(text, "[");
		add_short(text, sizeof(text), row);
		for (; (next = options_row(syntax, n + 1)) && next->instead; n++) {
			strcat(text, " | ");
			add_short(text, sizeof(text) - 8, next);
		}
		put_form(to, strcat(text, "]"));
	}
}

void options_print_synopsis(const struct options_syntax *syntax, FILE *to)
{
	static const char all[] = "[OPTION]...";
	bool first = true;

	for (const char *form = syntax->forms, *end; *form; form = end + (*end == '\n')) {
		const char *place, *words = form;
		char before[FORM_MOST];

		end = form + strcspn(form, "\n");
		while (*words && words < end && !isupper((unsigned char)*words) && !strchr("[-", *words))
			words += strcspn(words, " \n") + 1;
		fprintf(to, ".Nm %.*s", (int)(words - form) - 1, form);
		place = first ? strstr(words, all) : NULL;
		if (place && place < end) {
			snprintf(before, sizeof(before), "%.*s", (int)(place - words), words);
			put_form(to, before);
			put_options(to, syntax);
			words = place + sizeof(all) - 1;
			words += *words == ' ';
		}
		put_form(to, words);
		fputc('\n', to);
		first = false;
	}
}
