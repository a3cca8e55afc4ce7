/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests option descriptors: the values that options set, the arguments that are refused, and the texts that
 * are generated from descriptors.
 */
#include <stdarg.h>
#include <signal.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <getopt.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cmd/command.h"
#include "cmd/options.h"

enum animal { CAT, DOG, COW };

struct target {
	bool flag, other;
	const char *text, *file, *joined;
	uint64_t number, time;
	double seconds;
	enum animal animal;
	struct options_list list;
};

#define AT(member) .to = offsetof(struct target, member)
static const struct option_row own[] = {
	{ "flag", 'f', NULL, "a flag", options_set_flag, AT(flag) },
	{ NULL, 'x', NULL, "the other flag", options_set_flag, AT(other), .instead = true },
	{ "text", 0, "TEXT",
	  "a text that is so long that it does not fit into one line of the help, whose lines are short",
	  options_set_text, AT(text) },
	{ "record", 0, "[=FILE]", "a file, or none", options_set_text, AT(file) },
	{ NULL, 'h', NULL, NULL, options_set_help, .to = 0 },
	{ NULL },
};

static const struct option_row shared[] = {
	{ .help = "Numbers:" },
	{ "number", 'n', "N", "a number", options_set_number, AT(number), .least = 2, .most = 9 },
	{ "time", 0, "TIME", "a time", options_set_time, AT(time), .least = 10, .most = 2000 },
	{ "seconds", 0, "S", "seconds", options_set_seconds, AT(seconds), .least = 1 },
	{ "animal", 0, "cat|dog|cow", "one of these", options_set_choice, AT(animal) },
	{ "item", 'i', "FILE[@BASE]", "several", options_set_list, AT(list), .most = 2 },
	{ "join", 'j', "LIST", NULL, options_set_joined, AT(joined) },
	{ "select", 0, "ONE", NULL, options_set_text, AT(text), .once = true },
	{ "until", 0, "TIME", "named in a form", options_set_text, AT(text) },
	{ "limit", 0, "N", NULL, options_set_number, AT(number), .least = 1 },
	{ "any", 0, "N", NULL, options_set_number, AT(number), .most = UINT64_MAX - 1 },
	{ "wait", 0, "TIME", NULL, options_set_time, AT(time), .least = 1 },
	{ NULL },
};

static const struct options_syntax permuted = {
	.forms = "ktrace try [OPTION]... WORD\nktrace try --until TIME [OPTION]... -- COMMAND [WORD]...",
	.about = "Tries options.\n  as it is",
	.lists = { own, shared },
	.end = "The end.",
};

static const struct options_syntax in_order = {
	.forms = "try", .about = "", .lists = { own, shared }, .in_order = true
};

static struct target target;
static struct options line;
static char *words[64];
static int count;

/* Parses the command-line arguments in `text`, which blanks separate. */
static int parse(const struct options_syntax *syntax, const char *text)
{
	static char buffer[512];

	memset(&target, 0, sizeof(target));
	line = (struct options){ .syntax = syntax, .by = "try", .to = &target };
	strcpy(buffer, text);
	count = 0;
	words[count++] = "try";
	for (char *word = strtok(buffer, " "); word; word = strtok(NULL, " "))
		words[count++] = word;
	words[count] = NULL;
	optind = 0;
	return options_parse(&line, count, words);
}

static void options_store_their_values(void **state)
{
	(void)state;
	assert_true(parse(&permuted, "-f --text a word --record=b -n 3 --time 1us --seconds 0.5 --animal dog "
				     "-i p --item q") < 0);
	assert_true(target.flag);
	assert_false(target.other);
	assert_string_equal(target.text, "a");
	assert_string_equal(target.file, "b");
	assert_int_equal(target.number, 3);
	assert_int_equal(target.time, 1000);
	assert_true(target.seconds > 0.4 && target.seconds < 0.6);
	assert_int_equal(target.animal, DOG);
	assert_int_equal(target.list.count, 2);
	assert_string_equal(target.list.word[1], "q");
	assert_string_equal(words[optind], "word");
	assert_true(parse(&permuted, "--record word") < 0);
	assert_string_equal(target.file, "");
	assert_null(target.text);
}

static void invalid_values_and_options_are_refused(void **state)
{
	static const char *const bad[] = {
		"-n 1",		  "-n 10",	   "--number x",   "--number=",	      "--time 9ns",
		"--time x",	  "--time 2001ns", "--seconds +1", "--seconds 1e999", "--seconds 0",
		"--seconds nan",  "--seconds 1x",  "--animal",	   "--animal do",     "--animal dogs",
		"-i a -i b -i c", "--nonsense",	   "-z",	   "--flag=1",
	};

	(void)state;
	for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++)
		if (parse(&permuted, bad[n]) != EXIT_USAGE)
			fail_msg("%s is taken", bad[n]);
}

static void second_value_is_refused_added_or_the_only_one(void **state)
{
	(void)state;
	assert_int_equal(parse(&permuted, "--select a --select b"), EXIT_USAGE);
	assert_true(parse(&permuted, "-n 3 --number 4") < 0);
	assert_int_equal(target.number, 4);
	assert_true(parse(&permuted, "-f -f -x --flag") < 0);
	assert_true(parse(&permuted, "-j a --join b,c -j d") < 0);
	assert_string_equal(target.joined, "a,b,c,d");
}

static void words_end_options_in_order(void **state)
{
	(void)state;
	assert_int_equal(parse(&in_order, "-f word -x"), OPTIONS_WORD);
	assert_string_equal(words[optind], "word");
	assert_false(target.other);
	optind++;
	assert_int_equal(options_parse(&line, count, words), OPTIONS_WORD);
	assert_true(target.other);
	assert_int_equal(optind, count);
	assert_int_equal(parse(&in_order, "-f -- -x"), OPTIONS_DASHES);
	assert_string_equal(words[optind], "-x");
	/* If -- is the value of an option, it does not end the options. */
	assert_int_equal(parse(&in_order, "--text -- word"), OPTIONS_WORD);
	assert_string_equal(target.text, "--");
}

static void given_options_are_known_by_name_and_letter(void **state)
{
	(void)state;
	assert_true(parse(&permuted, "--number 3 -x") < 0);
	assert_string_equal(options_given(&line, "flag n"), "--number");
	assert_string_equal(options_given(&line, "f x number"), "-x");
	assert_null(options_given(&line, "flag text r numbe"));
}

/* Returns the text that `print` prints. The caller frees it. */
static char *printed(void (*print)(const struct options_syntax *syntax, FILE *to))
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	print(&permuted, to);
	fclose(to);
	return text;
}

static void help_lists_options_in_columns(void **state)
{
	char *text = printed(options_print_help);

	(void)state;
	assert_string_equal(
		text,
		"usage: ktrace try [OPTION]... WORD\n"
		"       ktrace try --until TIME [OPTION]... -- COMMAND [WORD]...\n"
		"\n"
		"Tries options.\n"
		"  as it is\n"
		"\n"
		"  -f, --flag            a flag\n"
		"  -x                    the other flag\n"
		"  --text TEXT           a text that is so long that it does not fit into one line of the\n"
		"                        help, whose lines are short\n"
		"  --record[=FILE]       a file, or none\n"
		"\n"
		"Numbers:\n"
		"  -n, --number N        a number\n"
		"  --time TIME           a time\n"
		"  --seconds S           seconds\n"
		"  --animal cat|dog|cow  one of these\n"
		"  -i, --item FILE[@BASE]\n"
		"                        several\n"
		"  --until TIME          named in a form\n"
		"\n"
		"The end.\n");
	free(text);
}

static void synopsis_has_all_options_once(void **state)
{
	char *text = printed(options_print_synopsis);

	(void)state;
	assert_string_equal(text, ".Nm ktrace try\n"
				  ".Op Fl f | Fl x\n"
				  ".Op Fl -text Ar text\n"
				  ".Op Fl -record Ns Oo = Ns Ar file Oc\n"
				  ".Op Fl n Ar n\n"
				  ".Op Fl -time Ar time\n"
				  ".Op Fl -seconds Ar s\n"
				  ".Op Fl -animal Cm cat | dog | cow\n"
				  ".Op Fl i Ar file Ns Oo @ Ns Ar base Oc\n"
				  ".Ar word\n"
				  ".Nm ktrace try\n"
				  ".Fl -until Ar time\n"
				  ".Op Ar option ...\n"
				  ".Fl - Ar command\n"
				  ".Op Ar word ...\n");
	free(text);
}

/* Returns the text that `run` writes to the file descriptor. The text is valid until the next call. */
static const char *written(int fd, int (*run)(const void *argument), const void *argument, int *status)
{
	static char text[4096];
	FILE *const stream = fd == STDOUT_FILENO ? stdout : stderr, *file = tmpfile();
	const int saved = dup(fd);
	size_t length;

	assert_non_null(file);
	fflush(stream);
	assert_int_equal(dup2(fileno(file), fd), fd);
	*status = run(argument);
	fflush(stream);
	assert_int_equal(dup2(saved, fd), fd);
	close(saved);
	rewind(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	return text;
}

static int parse_permuted(const void *text)
{
	return parse(&permuted, text);
}

static void messages_name_option_value_and_allowed_values(void **state)
{
	static const struct {
		const char *words, *message;
	} cases[] = {
		{ "-n 1", "invalid value for --number: '1' (a number from 2 to 9)" },
		{ "--limit 0", "invalid value for --limit: '0' (a number of at least 1)" },
		{ "--select a --select b", "--select is given twice" },
		{ "--any x", "invalid value for --any: 'x'" },
		{ "--time 9ns", "invalid value for --time: '9ns' (a time from 10ns to 2us)" },
		{ "--wait 0", "invalid value for --wait: '0' (a time of at least 1ns)" },
		{ "--seconds 0", "--seconds: '0' is not a number of seconds above 0" },
		{ "--animal do", "invalid value for --animal: 'do' (cat|dog|cow)" },
		{ "-i a --item b -i c", "--item: 'c' is too many: at most 2 can be given" },
		{ "--nonsense", "unrecognized option '--nonsense'" },
		{ "--text", "option '--text' requires an argument" },
		{ "-z", "invalid option -- 'z'" },
	};

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		char expected[160];
		int status;

		snprintf(expected, sizeof(expected), "try: %s\ntry: try 'try --help'\n", cases[n].message);
		assert_string_equal(written(STDERR_FILENO, parse_permuted, cases[n].words, &status),
				    expected);
		assert_int_equal(status, EXIT_USAGE);
	}
}

static int refuse(const void *why)
{
	return options_refuse(&line, why);
}

static void refusals_give_a_reason_and_a_hint(void **state)
{
	int status;

	(void)state;
	assert_true(parse(&permuted, "-f") < 0);
	assert_string_equal(written(STDERR_FILENO, refuse, "-f is not for this", &status),
			    "try: -f is not for this\ntry: try 'try --help'\n");
	assert_int_equal(status, EXIT_USAGE);
}

static void help_is_printed_and_ends_the_command(void **state)
{
	char *help = printed(options_print_help), *synopsis = printed(options_print_synopsis);
	int status;

	(void)state;
	assert_string_equal(written(STDOUT_FILENO, parse_permuted, "-f --help -z", &status), help);
	assert_int_equal(status, EXIT_SUCCESS);
	assert_string_equal(written(STDOUT_FILENO, parse_permuted, "-h", &status), help);
	assert_int_equal(status, EXIT_SUCCESS);
	assert_string_equal(written(STDOUT_FILENO, parse_permuted, "--help=mdoc", &status), synopsis);
	assert_int_equal(status, EXIT_SUCCESS);
	free(help);
	free(synopsis);
}

static void one_option_is_read_at_a_time(void **state)
{
	(void)state;
	assert_int_equal(parse(&in_order, "word -f --number 3 -- -x"), OPTIONS_WORD);
	optind++;
	assert_int_equal(options_next(&line, count, words), OPTIONS_MORE);
	assert_true(target.flag);
	assert_int_equal(target.number, 0);
	assert_int_equal(options_next(&line, count, words), OPTIONS_MORE);
	assert_int_equal(target.number, 3);
	assert_int_equal(options_next(&line, count, words), OPTIONS_DASHES);
	assert_string_equal(words[optind], "-x");
	assert_string_equal(options_given(&line, "x f number"), "--flag");
	assert_int_equal(parse(&in_order, "word -n 1"), OPTIONS_WORD);
	optind++;
	assert_int_equal(options_next(&line, count, words), EXIT_USAGE);
}

/* A command may have 64 options. A command with 65 options does not start. */
static void too_many_options_abort(void **state)
{
	static struct option_row many[OPTIONS_MOST + 2];
	static const struct options_syntax syntax = { .forms = "try", .about = "", .lists = { many } };
	int status;
	pid_t child;

	(void)state;
	for (unsigned n = 0; n < OPTIONS_MOST; n++)
		many[n] = (struct option_row){ .help = "a heading" };
	many[OPTIONS_MOST - 1] = own[0];
	assert_int_equal(parse(&syntax, "--flag word"), OPTIONS_WORD);
	assert_true(target.flag);
	assert_string_equal(options_given(&line, "flag"), "--flag");
	many[OPTIONS_MOST] = own[1];
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		parse(&syntax, "word");
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void lists_refuse_words_beyond_their_limit(void **state)
{
	static const struct option_row endless[] = {
		{ NULL, 'i', "WORD", "many", options_set_list, AT(list), .most = UINT64_MAX }, { NULL }
	};
	static const struct options_syntax syntax = { .forms = "try", .about = "", .lists = { endless } };
	char text[4 * (OPTIONS_WORDS + 1) + 1] = "";

	(void)state;
	for (unsigned n = 0; n < OPTIONS_WORDS; n++)
		strcat(text, "-ia ");
	assert_int_equal(parse(&syntax, text), OPTIONS_WORD);
	assert_int_equal(target.list.count, OPTIONS_WORDS);
	assert_int_equal(parse(&syntax, strcat(text, "-ia")), EXIT_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_store_their_values),
		cmocka_unit_test(invalid_values_and_options_are_refused),
		cmocka_unit_test(second_value_is_refused_added_or_the_only_one),
		cmocka_unit_test(words_end_options_in_order),
		cmocka_unit_test(given_options_are_known_by_name_and_letter),
		cmocka_unit_test(help_lists_options_in_columns),
		cmocka_unit_test(synopsis_has_all_options_once),
		cmocka_unit_test(messages_name_option_value_and_allowed_values),
		cmocka_unit_test(refusals_give_a_reason_and_a_hint),
		cmocka_unit_test(help_is_printed_and_ends_the_command),
		cmocka_unit_test(one_option_is_read_at_a_time),
		cmocka_unit_test(too_many_options_abort),
		cmocka_unit_test(lists_refuse_words_beyond_their_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
