/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the file of results, which `ktrace hunt` reads to resume a hunt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hunt/hunt.h"

#define COMMAND ((char *[]){ "qemu-system-x86_64", "-kernel", "k", NULL })

static char folder[sizeof("/tmp/ktrace-unit-XXXXXX")], path[64];
static const char *rules; /* value of option --check for the next hunt; NULL: without --check */

static int folder_begin(void **state)
{
	(void)state;
	rules = NULL;
	strcpy(folder, "/tmp/ktrace-unit-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/results.jsonl", folder);
	return 0;
}

static int folder_end(void **state)
{
	(void)state;
	unlink(path);
	rmdir(folder);
	return 0;
}

/* A hunt, and its open file of results. */
struct opened {
	struct capture_run_options run;
	struct hunt_options options;
	struct hunt hunt;
	FILE *file;
};

/* The results of runs that were read from the file. */
static struct hunt_run taken[8];
static unsigned takings;

static void take(struct hunt *hunt, const struct hunt_run *run)
{
	(void)hunt;
	assert_in_range(takings, 0, 7);
	taken[takings++] = *run;
}

static int open_results(struct opened *opened, char **command, bool resume)
{
	*opened = (struct opened){
		.run = { .command = command },
		.options = { .folder = folder, .rules = rules, .resume = resume, .replace = !resume }
	};
	opened->options.run = &opened->run;
	opened->hunt.options = &opened->options;
	takings = 0;
	return hunt_results_open(&opened->hunt, &opened->file, take);
}

static void add(FILE *file, uint64_t seed)
{
	struct hunt_run run = { .seed = seed, .status = CAPTURE_CLEAN, .text = "clean exit" };

	assert_int_equal(hunt_results_add(file, &run), 0);
}

/* Begins a hunt, and stores results of the seeds 0 to 2. */
static void begin_hunt(void)
{
	struct opened opened;

	assert_int_equal(open_results(&opened, COMMAND, false), 0);
	assert_int_equal(takings, 0);
	for (uint64_t seed = 0; seed < 3; seed++)
		add(opened.file, seed);
	assert_int_equal(fclose(opened.file), 0);
}

/* Resumes the hunt. Fails unless the results of the seeds 0 to `runs` - 1 are read. Returns the open file. */
static FILE *resume(unsigned runs)
{
	struct opened opened;

	assert_int_equal(open_results(&opened, COMMAND, true), 0);
	assert_int_equal(takings, runs);
	for (unsigned n = 0; n < runs; n++)
		assert_int_equal(taken[n].seed, n);
	return opened.file;
}

static void append_text(const char *text)
{
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static long length_of_file(void)
{
	FILE *file = fopen(path, "r");
	long length;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	length = ftell(file);
	assert_int_equal(fclose(file), 0);
	return length;
}

static void result_is_read_as_it_was_written(void **state)
{
	const struct hunt_run run = { .seed = INT64_MAX,
				      .status = CAPTURE_TIMEOUT,
				      .traced = true,
				      .wrong = true,
				      .seconds = 1.5,
				      .ended = 2000000000,
				      .files = "0123abcd",
				      .text = "timeout \"",
				      .verdict = "deadlock",
				      .what = "two threads wait",
				      .rule = "short-locks",
				      .violation = "VIOLATED" };
	struct opened opened;

	(void)state;
	rules = "";
	assert_int_equal(open_results(&opened, COMMAND, false), 0);
	assert_int_equal(hunt_results_add(opened.file, &run), 0);
	assert_int_equal(fclose(opened.file), 0);
	assert_int_equal(open_results(&opened, COMMAND, true), 0);
	assert_int_equal(takings, 1);
	assert_int_equal(taken[0].seed, run.seed);
	assert_int_equal(taken[0].status, run.status);
	assert_true(taken[0].traced && taken[0].wrong && taken[0].seconds == run.seconds);
	assert_int_equal(taken[0].ended, run.ended);
	assert_string_equal(taken[0].files, run.files);
	assert_string_equal(taken[0].text, run.text);
	assert_string_equal(taken[0].verdict, run.verdict);
	assert_string_equal(taken[0].what, run.what);
	assert_string_equal(taken[0].rule, run.rule);
	assert_string_equal(taken[0].violation, run.violation);
	assert_int_equal(fclose(opened.file), 0);
}

static void resumed_hunt_continues_the_file(void **state)
{
	FILE *file;

	(void)state;
	begin_hunt();
	file = resume(3);
	add(file, 3);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(fclose(resume(4)), 0);
}

static void changed_kernel_is_refused(void **state)
{
	char kernel[sizeof(folder) + 8];
	char *command[] = { "qemu-system-x86_64", "-kernel", kernel, NULL };
	struct opened opened;
	FILE *file;

	(void)state;
	snprintf(kernel, sizeof(kernel), "%s/kernel", folder);
	for (int build = 0; build < 2; build++) {
		file = fopen(kernel, "w");
		assert_non_null(file);
		assert_true(fprintf(file, "build %d", build) > 0);
		assert_int_equal(fclose(file), 0);
		if (build == 0) {
			assert_int_equal(open_results(&opened, command, false), 0);
			add(opened.file, 0);
			assert_int_equal(fclose(opened.file), 0);
			assert_int_equal(open_results(&opened, command, true), 0);
			assert_int_equal(fclose(opened.file), 0);
		}
	}
	assert_true(open_results(&opened, command, true) < 0);
	assert_non_null(strstr(opened.hunt.error, "such as the kernel"));
	unlink(kernel);
}

static void replacing_hunt_begins_anew(void **state)
{
	(void)state;
	begin_hunt();
	begin_hunt();
	assert_int_equal(fclose(resume(3)), 0);
}

static void results_are_replaced_only_on_request(void **state)
{
	struct opened opened = { .run = { .command = COMMAND }, .options = { .folder = folder } };
	long length;

	(void)state;
	begin_hunt();
	length = length_of_file();
	opened.options.run = &opened.run;
	opened.hunt.options = &opened.options;
	assert_int_equal(hunt_results_open(&opened.hunt, &opened.file, take), HUNT_E_RESULTS);
	assert_null(opened.file);
	assert_non_null(strstr(opened.hunt.error, "--resume"));
	assert_int_equal(length_of_file(), length);
}

static void file_of_a_hunt_without_results_is_replaced(void **state)
{
	struct opened opened = { .run = { .command = COMMAND }, .options = { .folder = folder } };

	(void)state;
	opened.options.run = &opened.run;
	opened.hunt.options = &opened.options;
	for (unsigned n = 0; n < 2; n++) {
		assert_int_equal(hunt_results_open(&opened.hunt, &opened.file, take), 0);
		assert_int_equal(fclose(opened.file), 0);
	}
}

static void resume_without_results_begins_a_file(void **state)
{
	FILE *file;

	(void)state;
	file = resume(0);
	add(file, 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(fclose(resume(1)), 0);
}

/* The incomplete line is removed. So when the hunt is resumed once more, the lines after it are read. */
static void last_line_that_is_cut_is_removed(void **state)
{
	long length;
	FILE *file;

	(void)state;
	begin_hunt();
	length = length_of_file();
	append_text("{\"seed\":3,\"status\":0,\"te");
	file = resume(3);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(length_of_file(), length);
	append_text("{\"seed\":3,\"status\":0,\"te");
	file = resume(3);
	add(file, 3);
	add(file, 4);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(fclose(resume(5)), 0);
}

/* If the last line has no newline, its seed is run again, because more than the newline may be missing. */
static void last_line_without_newline_is_removed(void **state)
{
	FILE *file;

	(void)state;
	begin_hunt();
	append_text("{\"seed\":3,\"status\":0}");
	file = resume(3);
	add(file, 3);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(fclose(resume(4)), 0);
}

static void file_whose_first_line_is_cut_begins_anew(void **state)
{
	FILE *file;

	(void)state;
	append_text("{\"version\":1,\"comm");
	file = resume(0);
	add(file, 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(fclose(resume(1)), 0);
}

static void refused(struct opened *opened)
{
	assert_int_equal(takings, 0);
	assert_null(opened->file);
	assert_non_null(strstr(opened->hunt.error, path));
	assert_non_null(strstr(opened->hunt.error, "choose another directory"));
}

static void results_of_another_hunt_are_refused(void **state)
{
	struct opened opened;
	long length;

	(void)state;
	begin_hunt();
	length = length_of_file();
	assert_int_equal(open_results(&opened, (char *[]){ "qemu-system-x86_64", NULL }, true), -1);
	refused(&opened);
	opened = (struct opened){ .run = { .command = COMMAND, .schedule.noise.mean = 5000 },
				  .options = { .folder = folder, .resume = true } };
	opened.options.run = &opened.run;
	opened.hunt.options = &opened.options;
	assert_int_equal(hunt_results_open(&opened.hunt, &opened.file, take), -1);
	refused(&opened);
	assert_int_equal(length_of_file(), length);
}

static void file_of_another_program_is_refused(void **state)
{
	struct opened opened;

	(void)state;
	append_text("{\"version\":2}\n");
	assert_int_equal(open_results(&opened, COMMAND, true), -1);
	refused(&opened);
	unlink(path);
	append_text("some notes\n");
	assert_int_equal(open_results(&opened, COMMAND, true), -1);
	refused(&opened);
	assert_int_equal(length_of_file(), (long)strlen("some notes\n"));
}

/*
 * The texts of a run contain output of the guest. Each text is cut to the limit between two characters, and
 * contains nothing that controls a terminal.
 */
static void texts_are_cut_and_escaped(void **state)
{
	char line[8192], text[2408] = "";
	struct opened opened;
	FILE *file;

	(void)state;
	rules = "";
	for (unsigned n = 0; n < 400; n++)
		strcat(text, "\u20ac");
	begin_hunt();
	snprintf(line, sizeof(line),
		 "{\"seed\":3,\"text\":\"x%s\",\"what\":\"a%s\",\"rule\":\"\\u001b[31m\"}\n", text, text);
	append_text(line);
	file = resume(4);
	assert_int_equal(strlen(taken[3].text), 253);
	assert_string_equal(taken[3].rule, "\\x1b[31m");
	assert_int_equal(hunt_results_add(file, &taken[3]), 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(open_results(&opened, COMMAND, true), 0);
	assert_int_equal(takings, 5);
	assert_string_equal(taken[4].what, taken[3].what);
	assert_int_equal(fclose(opened.file), 0);
}

static void endless_line_is_refused(void **state)
{
	struct opened opened;
	FILE *file;

	(void)state;
	begin_hunt();
	file = fopen(path, "a");
	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), INT64_C(1) << 40), 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(open_results(&opened, COMMAND, true), -1);
	assert_int_equal(takings, 3);
	assert_null(opened.file);
	assert_non_null(strstr(opened.hunt.error, "too long"));
}

/* A directory that another user can write may contain a link or a FIFO instead of the file. */
static void only_a_regular_file_is_opened(void **state)
{
	struct opened opened;
	char other[80];

	(void)state;
	snprintf(other, sizeof(other), "%s/other", folder);
	assert_int_equal(symlink(other, path), 0);
	for (int resumed = 0; resumed < 2; resumed++) {
		assert_int_equal(open_results(&opened, COMMAND, resumed), -1);
		assert_int_equal(access(other, F_OK), -1);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	for (int resumed = 0; resumed < 2; resumed++)
		assert_int_equal(open_results(&opened, COMMAND, resumed), -1);
}

static void lines_that_are_no_results_are_skipped(void **state)
{
	(void)state;
	begin_hunt();
	append_text("{}\n[]\n7\n{\"seed\":\"3\"}\n{\"seed\":3,\"status\":[],\"text\":7,\"seconds\":\"x\"}\n");
	assert_int_equal(fclose(resume(4)), 0);
	assert_int_equal(taken[3].status, 0);
	assert_string_equal(taken[3].text, "");
}

/* ktrace writes no violated rule to the file of a hunt without --check. */
static void rule_of_a_hunt_without_rules_is_ignored(void **state)
{
	(void)state;
	begin_hunt();
	append_text("{\"seed\":3,\"status\":10,\"text\":\"panic\",\"rule\":\"r\",\"violation\":\"v\"}\n");
	assert_int_equal(fclose(resume(4)), 0);
	assert_string_equal(taken[3].text, "panic");
	assert_string_equal(taken[3].rule, "");
	assert_string_equal(taken[3].violation, "");
}

static void folder_that_cannot_be_created_is_named(void **state)
{
	struct opened opened = { .options = { .folder = "/tmp/ktrace-unit-absent/folder" } };

	(void)state;
	opened.options.run = &opened.run;
	opened.hunt.options = &opened.options;
	assert_int_equal(hunt_results_open(&opened.hunt, &opened.file, take), -1);
	assert_string_equal(opened.hunt.error, "/tmp/ktrace-unit-absent/folder: No such file or directory");
}

/*
 * A text of a run may contain a file name with U+202E, which reverses the text after it, and U+009B, which
 * begins a terminal's control sequence. They are escaped in the file, and also in what is read from it.
 */
static void harmful_characters_are_escaped_in_results(void **state)
{
	static const char name[] = "a\342\200\256b\302\233c";
	struct hunt_run run = { .seed = 0, .status = CAPTURE_CLEAN };
	struct opened opened;
	char text[1024];
	FILE *file;
	size_t length;

	(void)state;
	strcpy(run.text, name);
	assert_int_equal(open_results(&opened, COMMAND, false), 0);
	assert_int_equal(hunt_results_add(opened.file, &run), 0);
	fclose(opened.file);
	file = fopen(path, "re");
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	assert_non_null(strstr(text, "a\\u202eb\\u009bc"));
	assert_null(strstr(text, name));
	assert_int_equal(open_results(&opened, COMMAND, true), 0);
	fclose(opened.file);
	assert_int_equal(takings, 1);
	assert_string_equal(taken[0].text, "a\\xe2\\x80\\xaeb\\xc2\\x9bc");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_begin, folder_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(result_is_read_as_it_was_written),
		TEST(texts_are_cut_and_escaped),
		TEST(endless_line_is_refused),
		TEST(only_a_regular_file_is_opened),
		TEST(resumed_hunt_continues_the_file),
		TEST(changed_kernel_is_refused),
		TEST(replacing_hunt_begins_anew),
		TEST(resume_without_results_begins_a_file),
		TEST(last_line_that_is_cut_is_removed),
		TEST(last_line_without_newline_is_removed),
		TEST(file_whose_first_line_is_cut_begins_anew),
		TEST(results_of_another_hunt_are_refused),
		TEST(file_of_another_program_is_refused),
		TEST(rule_of_a_hunt_without_rules_is_ignored),
		TEST(lines_that_are_no_results_are_skipped),
		TEST(folder_that_cannot_be_created_is_named),
		TEST(results_are_replaced_only_on_request),
		TEST(file_of_a_hunt_without_results_is_replaced),
		TEST(harmful_characters_are_escaped_in_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
