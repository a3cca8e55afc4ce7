/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests how findings are listed, and how the lists are printed as text and as JSON. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings/finding.h"

static FILE *file;
static struct base_output out;

static void begin(void)
{
	file = tmpfile();
	assert_non_null(file);
	assert_int_equal(base_output_open(&out, fileno(file)), 0);
}

static void wrote(const char *expected)
{
	char text[4096];
	size_t length;

	assert_int_equal(base_output_close(&out), 0);
	rewind(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	assert_string_equal(text, expected);
}

static struct finding sample(void)
{
	struct finding finding = { .kind = "kind", .mark = FINDING_WRONG, .certain = FINDING_LIKELY };

	finding_say(finding.what, "one %s", "two");
	finding_evidence(&finding, "three");
	finding_evidence(&finding, "  four");
	finding_say(finding.where, "here");
	finding_say(finding.advice, "five");
	return finding;
}

static void lines_break_at_blanks_and_are_indented(void **state)
{
	(void)state;
	begin();
	finding_put_wrapped(&out, 12, 2, "aaa bbb ccc ddd");
	finding_put_wrapped(&out, 12, 0, "  aaa bbb ccc ddd");
	finding_put_wrapped(&out, 8, 0, "abcdefghijkl");
	finding_put_wrapped(&out, 0, 1, "any number of columns");
	finding_put_wrapped(&out, 7, 0, "aaa bbb ");
	wrote("  aaa bbb\n      ccc\n      ddd\n"
	      "  aaa bbb\n      ccc\n      ddd\n"
	      "abcdefgh\n    ijkl\n"
	      " any number of columns\n"
	      "aaa bbb\n");
}

static void text_has_what_its_style_asks_for(void **state)
{
	struct finding finding = sample();

	(void)state;
	begin();
	finding_put_text(&out, &finding, &(struct finding_style){ .width = 0 });
	finding.partial = true;
	finding_put_text(&out, &finding, &(struct finding_style){ .certain = true, .brief = true });
	wrote("kind: one two\n  three\n    four\n  to be more certain: five\nkind (likely, partial): one "
	      "two\n");
}

static void row_has_advice_below_it(void **state)
{
	struct finding finding = sample();

	(void)state;
	begin();
	finding_put_row(&out, &finding);
	finding.advice[0] = '\0';
	finding_put_row(&out, &finding);
	wrote("wrong  kind            one two\n                       here: five\n"
	      "wrong  kind            one two\n");
}

static void json_has_all_members_and_earlier_names(void **state)
{
	const struct finding_keys earlier = { .kind = "about", .evidence = "lines" };
	struct finding finding = sample();
	struct finding empty = { .kind = "k\"", .what = "w" };

	(void)state;
	finding.partial = true;
	begin();
	base_output_text(&out, "{");
	finding_put_json(&out, &finding, &earlier);
	base_output_text(&out, "}\n{");
	finding_put_json(&out, &empty, NULL);
	base_output_text(&out, "}\n");
	wrote("{\"mark\":\"wrong\",\"about\":\"kind\",\"lines\":[\"three\",\"  four\"],\"kind\":\"kind\","
	      "\"certain\":\"likely\",\"what\":\"one two\",\"evidence\":[\"three\",\"  four\"],"
	      "\"advice\":\"five\",\"where\":\"here\",\"partial\":true}\n"
	      "{\"mark\":\"ok\",\"kind\":\"k\\\"\",\"certain\":\"possible\",\"what\":\"w\",\"evidence\":[],"
	      "\"advice\":null,\"where\":null,\"partial\":false}\n");
}

static void each_mark_and_certainty_has_its_word(void **state)
{
	struct finding finding = { .kind = "k", .what = "w" };

	(void)state;
	begin();
	for (int mark = FINDING_OK; mark < FINDING_MARKS; mark++) {
		finding.mark = (enum finding_mark)mark;
		finding_put_row(&out, &finding);
	}
	for (int certain = FINDING_POSSIBLE; certain <= FINDING_CERTAIN; certain++) {
		finding.mark = (enum finding_mark)(certain + 1);
		finding.certain = (enum finding_certainty)certain;
		finding_put_text(&out, &finding, &(struct finding_style){ .certain = true });
		finding_put_json(&out, &finding, NULL);
		base_output_text(&out, "\n");
	}
	wrote("ok     k               w\n"
	      "note   k               w\n"
	      "dark   k               w\n"
	      "wrong  k               w\n"
	      "k (possible): w\n"
	      "\"mark\":\"note\",\"kind\":\"k\",\"certain\":\"possible\",\"what\":\"w\",\"evidence\":[],"
	      "\"advice\":null,\"where\":null,\"partial\":false\n"
	      "k (likely): w\n"
	      "\"mark\":\"dark\",\"kind\":\"k\",\"certain\":\"likely\",\"what\":\"w\",\"evidence\":[],"
	      "\"advice\":null,\"where\":null,\"partial\":false\n"
	      "k (certain): w\n"
	      "\"mark\":\"wrong\",\"kind\":\"k\",\"certain\":\"certain\",\"what\":\"w\",\"evidence\":[],"
	      "\"advice\":null,\"where\":null,\"partial\":false\n");
}

static void json_has_each_earlier_name(void **state)
{
	const struct finding_keys earlier = { "verdict", "sure", "text", "lines", "missing" };
	struct finding finding = sample();

	(void)state;
	begin();
	finding_put_json(&out, &finding, &earlier);
	wrote("\"mark\":\"wrong\",\"verdict\":\"kind\",\"sure\":\"likely\",\"text\":\"one two\","
	      "\"lines\":[\"three\",\"  "
	      "four\"],\"missing\":\"five\",\"kind\":\"kind\",\"certain\":\"likely\","
	      "\"what\":\"one two\",\"evidence\":[\"three\",\"  "
	      "four\"],\"advice\":\"five\",\"where\":\"here\","
	      "\"partial\":false");
}

static void evidence_and_advice_are_wrapped_and_left_out(void **state)
{
	struct finding finding = sample();

	(void)state;
	begin();
	finding_put_text(&out, &finding, &(struct finding_style){ .width = 14 });
	finding_put_text(&out, &finding, &(struct finding_style){ .width = 14, .brief = true });
	wrote("kind: one two\n  three\n    four\n  to be more\n      certain:\n      five\nkind: one two\n");
}

static void list_is_unchanged_after_memory_was_short(void **state)
{
	struct findings list = { .failed = false };

	(void)state;
	findings_add(&list, FINDING_WRONG, "kind", "first");
	assert_int_equal(list.finding[0].certain, FINDING_LIKELY);
	list.failed = true;
	findings_advise(&list, "there", "of one that is missing");
	findings_set_certain(&list, FINDING_CERTAIN);
	assert_string_equal(list.finding[0].where, "");
	assert_string_equal(list.finding[0].advice, "");
	assert_int_equal(list.finding[0].certain, FINDING_LIKELY);
	findings_free(&list);
}

static void texts_are_cut_and_lines_dropped(void **state)
{
	struct finding finding = sample();
	char text[2 * FINDING_LINE];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	finding_say(finding.what, "%s", text);
	assert_int_equal(strlen(finding.what), FINDING_LINE - 1);
	for (unsigned n = 0; n < FINDING_LINES; n++)
		finding_evidence(&finding, "%s", text);
	assert_int_equal(finding.lines, FINDING_LINES);
	assert_int_equal(strlen(finding.evidence[FINDING_LINES - 1]), FINDING_LINE - 1);
	assert_string_equal(finding.evidence[0], "three");
}

static void list_counts_marks_and_sets_certainty(void **state)
{
	struct findings list = { .failed = false };

	(void)state;
	findings_advise(&list, "nowhere", "nothing");
	for (unsigned n = 0; n < 100; n++)
		findings_add(&list, n % 2 ? FINDING_DARK : FINDING_OK, "kind", "%u", n);
	findings_advise(&list, "there", "line %d", 1);
	findings_set_certain(&list, FINDING_CERTAIN);
	findings_add(&list, FINDING_NOTE, "note", "last");
	assert_int_equal(list.count, 101);
	assert_int_equal(list.marks[FINDING_OK], 50);
	assert_int_equal(list.marks[FINDING_DARK], 50);
	assert_int_equal(list.marks[FINDING_NOTE], 1);
	assert_int_equal(list.finding[0].certain, FINDING_CERTAIN);
	assert_int_equal(list.finding[1].certain, FINDING_LIKELY);
	assert_int_equal(list.finding[99].certain, FINDING_CERTAIN);
	assert_string_equal(list.finding[99].where, "there");
	assert_string_equal(list.finding[99].advice, "line 1");
	assert_int_equal(list.finding[100].certain, FINDING_POSSIBLE);
	assert_string_equal(list.finding[100].what, "last");
	findings_free(&list);
	assert_int_equal(list.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_break_at_blanks_and_are_indented),
		cmocka_unit_test(text_has_what_its_style_asks_for),
		cmocka_unit_test(row_has_advice_below_it),
		cmocka_unit_test(json_has_all_members_and_earlier_names),
		cmocka_unit_test(each_mark_and_certainty_has_its_word),
		cmocka_unit_test(json_has_each_earlier_name),
		cmocka_unit_test(evidence_and_advice_are_wrapped_and_left_out),
		cmocka_unit_test(list_is_unchanged_after_memory_was_short),
		cmocka_unit_test(texts_are_cut_and_lines_dropped),
		cmocka_unit_test(list_counts_marks_and_sets_certainty),
	};

	return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
