/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests recipes: how a run is described in the note (section NOTE) of its trace, and how the description is
 * read.
 */
#include "capture/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/error.h"
#include "unit/support/ktread_sample.h"

/* ---- Files that tests use ------------------------------------------------------------------------- */

static char folder[sizeof("/tmp/ktrace-unit-XXXXXX")];
static char kernel[64], disk[64], recipe_path[64];

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int files_begin(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/ktrace-unit-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(kernel, sizeof(kernel), "%s/k.elf", folder);
	snprintf(disk, sizeof(disk), "%s/d,isk", folder);
	snprintf(recipe_path, sizeof(recipe_path), "%s/" CAPTURE_RECIPE_FILE, folder);
	write_file(kernel, "kernel");
	write_file(disk, "disk");
	return 0;
}

static int files_end(void **state)
{
	unlink(kernel);
	unlink(disk);
	unlink(recipe_path);
	rmdir(folder);
	return temporary_teardown(state);
}

/* Writes a trace with one event and this note. Returns its path, which is valid until the next call. */
static const char *note_in_trace(const char *note)
{
	struct writer writer;
	struct bytes dump = { 0 };
	const char *path;

	begin(&writer, 2);
	put_switch(&writer, 1, 1000, 1);
	bytes_append(&writer.note, note, strlen(note));
	writer_dump(&writer, &dump);
	path = temporary_bytes(&dump);
	writer_close(&writer);
	bytes_free(&dump);
	return path;
}

static const char *recipe_in_trace(const char *line)
{
	static char note[16384];

	assert_in_range(snprintf(note, sizeof(note), "captured by: a test\nrecipe: %s\n", line), 0,
			(int)sizeof(note) - 1);
	return note_in_trace(note);
}

/* ---- Recipes that are written and read ----------------------------------------------------------- */

static const struct capture_recipe_run sample = {
	.schedule = { .on = true,
		      .noise = { INT64_MAX, 1000 },
		      .later = { 8, 0, SCHEDULE_BOTH },
		      .change = 1500000000,
		      .hooks = { 2, { 0xffffffff80001000, 0x1234 } },
		      .deadline = 2000000000 },
	.ktrace = "1.2.3",
	.qemu = "7.2.22",
	.events = "sched,irq",
	.transport = "virtio",
	.trace_unit = true,
	.allow_reboot = true,
	.mean = 32000,
	.ended = 1999999999,
};

/*
 * Makes the recipe of a run whose QEMU command line names both files. Returns the command line of the recipe,
 * which the caller frees.
 */
static char *finished(void)
{
	char drive[80];
	char *words[] = { "qemu-system-x86_64", "-kernel", kernel, "-append",
			  "a=\"\303\244\" \\",	"-drive",  drive,  "-serial",
			  "file:log",		NULL };
	char *line;

	snprintf(drive, sizeof(drive), "file=%s/d,,isk,if=none", folder);
	assert_int_equal(capture_recipe_save(words, recipe_path), 0);
	assert_int_equal(capture_recipe_finish(recipe_path, &sample, &line), 0);
	assert_null(strchr(line, '\n'));
	return line;
}

/* Writes a trace with the recipe that finished() makes, and reads the recipe from this trace. */
static void load_sample(struct capture_recipe *recipe)
{
	char *line = finished();

	assert_int_equal(capture_recipe_load(recipe, recipe_in_trace(line)), 0);
	free(line);
}

static void recipe_is_read_as_it_was_written(void **state)
{
	struct capture_recipe recipe;
	char directory[PATH_MAX];

	(void)state;
	load_sample(&recipe);
	assert_int_equal(recipe.words.count, 9);
	assert_string_equal(recipe.words.word[0], "qemu-system-x86_64");
	assert_string_equal(recipe.words.word[2], kernel);
	assert_string_equal(recipe.words.word[4], "a=\"\303\244\" \\");
	assert_null(recipe.words.word[9]);
	assert_string_equal(recipe.directory, getcwd(directory, sizeof(directory)));
	assert_string_equal(recipe.transport, "virtio");
	assert_string_equal(recipe.run.ktrace, "1.2.3");
	assert_string_equal(recipe.run.qemu, "7.2.22");
	assert_string_equal(recipe.run.events, "sched,irq");
	assert_true(recipe.run.trace_unit && recipe.run.allow_reboot);
	assert_int_equal(recipe.run.mean, 32000);
	assert_int_equal(recipe.run.ended, 1999999999);
	assert_true(recipe.run.schedule.on);
	assert_int_equal(recipe.run.schedule.noise.seed, INT64_MAX);
	assert_int_equal(recipe.run.schedule.noise.mean, 1000);
	assert_int_equal(recipe.run.schedule.noise.kind, SCHEDULE_TIMERS);
	assert_int_equal(recipe.run.schedule.later.seed, 8);
	assert_int_equal(recipe.run.schedule.later.kind, SCHEDULE_BOTH);
	assert_int_equal(recipe.run.schedule.change, 1500000000);
	assert_int_equal(recipe.run.schedule.hooks.count, 2);
	assert_int_equal(recipe.run.schedule.hooks.address[0], 0xffffffff80001000);
	assert_int_equal(recipe.run.schedule.hooks.address[1], 0x1234);
	assert_int_equal(recipe.run.schedule.deadline, 2000000000);
	capture_recipe_free(&recipe);
	assert_null(recipe.json);
}

static void each_file_of_the_line_is_in_the_recipe(void **state)
{
	char *line = finished();
	json_t *json = json_loads(line, 0, NULL), *files = json_object_get(json, "files");

	(void)state;
	assert_int_equal(json_array_size(files), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(files, 0), "path")), kernel);
	assert_string_equal(json_string_value(json_object_get(json_array_get(files, 1), "path")), disk);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(files, 1), "bytes")), 4);
	assert_string_equal(json_string_value(json_object_get(json_array_get(files, 0), "sha256")),
			    "6923dd1bc0460082c5d55a831908c24a282860b7f1cd6c2b79cf1bc8857c639c");
	json_decref(json);
	free(line);
}

static void hash_of(const char *const *words, const char *qemu, char hash[CAPTURE_RECIPE_HASH])
{
	assert_int_equal(capture_recipe_save((char *const *)(uintptr_t)words, recipe_path), 0);
	capture_recipe_hash(recipe_path, qemu, hash);
}

static void hash_is_of_contents_and_not_of_names(void **state)
{
	const char *words[] = { "qemu-system-x86_64", "-kernel", kernel, "-append", "a", NULL };
	const char *copied[] = { "qemu-system-x86_64", "-kernel", disk, NULL };
	const char *disks[] = { "qemu-system-x86_64", "-kernel", kernel, "-hda", disk, NULL };
	char first[CAPTURE_RECIPE_HASH], other[CAPTURE_RECIPE_HASH];

	(void)state;
	hash_of(words, "7.2.22", first);
	assert_int_equal(strlen(first), 64);
	write_file(disk, "kernel");
	hash_of(copied, "7.2.22", other);
	assert_string_equal(other, first);
	hash_of(words, "7.2.23", other);
	assert_string_not_equal(other, first);
	write_file(kernel, "kernel2");
	hash_of(words, "7.2.22", other);
	assert_string_not_equal(other, first);
	hash_of(disks, "7.2.22", other); /* the guest can write to the disk */
	assert_string_equal(other, "");
	hash_of((const char *const[]){ "qemu-system-x86_64", NULL }, "7.2.22", other);
	assert_string_equal(other, "");
	capture_recipe_hash("/nonexistent", "7.2.22", other);
	assert_string_equal(other, "");
}

/* ---- Files that have changed --------------------------------------------------------------------- */

static void check_fails(const struct capture_recipe *recipe, const char *path, const char *what)
{
	char expected[128];

	snprintf(expected, sizeof(expected), "%s: %s", path, what);
	assert_int_equal(capture_recipe_check(recipe), CAPTURE_E_FORMAT);
	assert_memory_equal(capture_message(), expected, strlen(expected));
}

static void changed_file_is_named(void **state)
{
	struct capture_recipe recipe;

	(void)state;
	load_sample(&recipe);
	assert_int_equal(capture_recipe_check(&recipe), 0);
	write_file(kernel, "kernel");
	assert_int_equal(capture_recipe_check(&recipe),
			 0); /* succeeds: the file was written again with the same contents */
	write_file(disk, "risk");
	check_fails(&recipe, disk, "changed since the run was recorded");
	write_file(kernel, "longer kernel");
	check_fails(&recipe, kernel, "changed since the run was recorded");
	unlink(kernel);
	check_fails(&recipe, kernel, "cannot be read, but the run needs this file");
	capture_recipe_free(&recipe);
}

static void count_sentence(void *context, const char *sentence)
{
	assert_non_null(strstr(sentence, "it has the same contents"));
	++*(unsigned *)context;
}

/*
 * The files of the kernel and the disk were moved to the current directory. They are used only if their
 * contents are the same.
 */
static void moved_file_is_found_by_its_contents(void **state)
{
	char before[PATH_MAX], new[80], moved[2][128], drive[160];
	struct capture_recipe recipe;
	unsigned sentences = 0;

	(void)state;
	load_sample(&recipe);
	snprintf(new, sizeof(new), "%s/new", folder);
	snprintf(moved[0], sizeof(moved[0]), "%s/k.elf", new);
	snprintf(moved[1], sizeof(moved[1]), "%s/d,isk", new);
	snprintf(drive, sizeof(drive), "file=%s/d,,isk,if=none", new);
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(mkdir(new, 0700), 0);
	assert_int_equal(chdir(new), 0);
	write_file(moved[0], "another kernel");
	unlink(kernel);
	assert_int_equal(capture_recipe_find(&recipe, count_sentence, &sentences), 0);
	assert_int_equal(sentences, 0);
	check_fails(&recipe, kernel, "cannot be read, but the run needs this file");
	write_file(moved[0], "kernel");
	write_file(moved[1], "disk");
	write_file(disk, "risk");
	assert_int_equal(capture_recipe_find(&recipe, count_sentence, &sentences), 0);
	assert_int_equal(sentences, 2);
	assert_string_equal(recipe.words.word[2], moved[0]);
	assert_string_equal(recipe.words.word[4], "a=\"\303\244\" \\");
	assert_string_equal(recipe.words.word[6], drive);
	assert_int_equal(capture_recipe_check(&recipe), 0);
	assert_int_equal(chdir(before), 0);
	unlink(moved[0]);
	unlink(moved[1]);
	rmdir(new);
	capture_recipe_free(&recipe);
}

/* ---- Recipes that cannot be written -------------------------------------------------------------- */

static void line_that_is_not_utf_8_is_refused(void **state)
{
	char *words[] = { "qemu-system-x86_64", "-kernel", "k\377", NULL };

	(void)state;
	assert_int_equal(capture_recipe_save(words, recipe_path), CAPTURE_E_SYSTEM);
	assert_non_null(strstr(capture_message(), "is not UTF-8"));
}

static void folder_that_is_not_utf_8_is_refused(void **state)
{
	char *words[] = { "qemu-system-x86_64", NULL };
	char directory[PATH_MAX], strange[64];
	int error;

	(void)state;
	snprintf(strange, sizeof(strange), "%s/\377", folder);
	assert_non_null(getcwd(directory, sizeof(directory)));
	assert_int_equal(mkdir(strange, 0700), 0);
	assert_int_equal(chdir(strange), 0);
	error = capture_recipe_save(words, recipe_path);
	assert_int_equal(chdir(directory), 0);
	rmdir(strange);
	assert_int_equal(error, CAPTURE_E_SYSTEM);
	assert_non_null(strstr(capture_message(), "whose name is not UTF-8"));
}

static void missing_or_damaged_file_cannot_be_finished(void **state)
{
	char *line;

	(void)state;
	assert_int_equal(capture_recipe_finish(recipe_path, &sample, &line), CAPTURE_E_FORMAT);
	assert_null(line);
	write_file(recipe_path, "{\"version\":1");
	assert_int_equal(capture_recipe_finish(recipe_path, &sample, &line), CAPTURE_E_FORMAT);
	assert_null(line);
	write_file(recipe_path, "[1]");
	assert_int_not_equal(capture_recipe_finish(recipe_path, &sample, &line), 0);
	assert_null(line);
}

/* ---- Recipes that cannot be read ----------------------------------------------------------------- */

static void refused(const char *path, const char *message)
{
	struct capture_recipe recipe;

	assert_int_equal(capture_recipe_load(&recipe, path), CAPTURE_E_FORMAT);
	assert_non_null(strstr(capture_message(), message));
	capture_recipe_free(&recipe);
}

static void trace_without_recipe_is_refused(void **state)
{
	(void)state;
	refused(note_in_trace("captured by: a test\n"), "was not recorded with --seed or --deterministic");
	refused(note_in_trace(""), "was not recorded with --seed or --deterministic");
	refused(temporary("no trace", 8), "/tmp/");
	refused("/tmp/ktrace-unit-absent/trace", "/tmp/ktrace-unit-absent/trace");
}

/* Returns a valid recipe in which the given members replace the members with the same names. */
static const char *recipe_with(const char *members)
{
	static char text[16384];
	json_t *json = json_loads(
		       "{\"version\":1,\"directory\":\"/\",\"words\":[\"qemu-system-x86_64\"],"
		       "\"files\":[],\"qemu\":\"7.2.22\",\"noise\":{\"seed\":1,\"mean\":0},"
		       "\"later\":{\"seed\":0,\"mean\":0},\"change\":0,\"deadline\":0,\"events\":\"\","
		       "\"transport\":\"ram\",\"trace_unit\":false,\"allow_reboot\":false,\"mean\":0,"
		       "\"ended\":0}",
		       0, NULL),
	       *more = json_loads(members, 0, NULL);
	char *line;

	assert_non_null(json);
	assert_non_null(more);
	assert_int_equal(json_object_update(json, more), 0);
	line = json_dumps(json, JSON_COMPACT);
	assert_true(line && strlen(line) < sizeof(text));
	strcpy(text, line);
	free(line);
	json_decref(more);
	json_decref(json);
	return text;
}

static void accepted(const char *members, struct capture_recipe *recipe)
{
	assert_int_equal(capture_recipe_load(recipe, recipe_in_trace(recipe_with(members))), 0);
}

static void damaged(const char *line)
{
	refused(recipe_in_trace(line), "damaged or of another version");
}

static void line_that_is_no_recipe_is_refused(void **state)
{
	static char deep[4096];
	struct capture_recipe recipe;

	(void)state;
	accepted("{}", &recipe);
	capture_recipe_free(&recipe);
	damaged("{");
	damaged("rubbish");
	damaged("[]");
	damaged("{}");
	damaged("7");
	damaged("{\"version\":1e999}");
	damaged("{\"version\":99999999999999999999}");
	memset(deep, '[', sizeof(deep) - 1);
	damaged(deep);
	damaged(recipe_with("{\"version\":2}"));
	damaged(recipe_with("{\"version\":-1}"));
	damaged(recipe_with("{\"version\":\"1\"}"));
	damaged(recipe_with("{\"version\":null}"));
}

static void words_that_are_no_qemu_line_are_refused(void **state)
{
	(void)state;
	damaged(recipe_with("{\"words\":null}"));
	damaged(recipe_with("{\"words\":\"qemu-system-x86_64\"}"));
	damaged(recipe_with("{\"words\":{\"0\":\"qemu-system-x86_64\"}}"));
	damaged(recipe_with("{\"words\":[]}"));
	damaged(recipe_with("{\"words\":[1]}"));
	damaged(recipe_with("{\"words\":[\"qemu-system-x86_64\",null]}"));
	damaged(recipe_with("{\"words\":[\"qemu-system-x86_64\",[\"-S\"]]}"));
	damaged(recipe_with("{\"words\":[\"sh\",\"-c\",\"qemu-system-x86_64\"]}"));
	damaged(recipe_with("{\"words\":[\"/bin/sh\",\"qemu-system-x86_64\"]}"));
	damaged(recipe_with("{\"words\":[\"\"]}"));
	damaged(recipe_with("{\"words\":[\"qemu-system-\"]}"));
	damaged(recipe_with("{\"words\":[\"qemu-system-x86_64/sh\"]}"));
}

/*
 * A recipe must contain the directory of the run, because its file names may be relative to this directory.
 */
static void directory_that_is_not_absolute_is_refused(void **state)
{
	(void)state;
	damaged(recipe_with("{\"directory\":null}"));
	damaged(recipe_with("{\"directory\":7}"));
	damaged(recipe_with("{\"directory\":\"\"}"));
	damaged(recipe_with("{\"directory\":\"here\"}"));
}

static void members_of_other_types_count_as_absent(void **state)
{
	struct capture_recipe recipe;

	(void)state;
	accepted("{\"noise\":7,\"later\":[],\"change\":\"x\",\"deadline\":1.5,\"events\":1,\"transport\":{},"
		 "\"qemu\":false,\"trace_unit\":1,\"allow_reboot\":\"yes\",\"mean\":null,\"ended\":[]}",
		 &recipe);
	assert_int_equal(recipe.run.schedule.noise.seed, 0);
	assert_int_equal(recipe.run.schedule.later.seed, 0);
	assert_int_equal(recipe.run.schedule.change, 0);
	assert_int_equal(recipe.run.schedule.deadline, 0);
	assert_string_equal(recipe.run.events, "");
	assert_string_equal(recipe.transport, "");
	assert_string_equal(recipe.run.qemu, "");
	assert_false(recipe.run.trace_unit || recipe.run.allow_reboot);
	assert_int_equal(recipe.run.mean, 0);
	assert_int_equal(recipe.run.ended, 0);
	capture_recipe_free(&recipe);
}

static void numbers_that_are_too_small_count_as_absent(void **state)
{
	struct capture_recipe recipe;

	(void)state;
	accepted("{\"noise\":{\"seed\":-1,\"mean\":-9223372036854775808},"
		 "\"deadline\":9223372036854775807,\"ended\":-5}",
		 &recipe);
	assert_int_equal(recipe.run.schedule.noise.seed, 0);
	assert_int_equal(recipe.run.schedule.noise.mean, 0);
	assert_int_equal(recipe.run.schedule.deadline, INT64_MAX);
	assert_int_equal(recipe.run.ended, 0);
	capture_recipe_free(&recipe);
}

#define TEN_HOOKS "\"0\",\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\","

static void noise_at_hooks_needs_their_addresses(void **state)
{
	struct capture_recipe recipe;

	(void)state;
	damaged(recipe_with("{\"noise\":{\"kind\":\"smoke\"}}"));
	damaged(recipe_with("{\"later\":{\"kind\":\"hook\"}}"));
	damaged(recipe_with("{\"noise\":{\"kind\":\"hooks\"}}"));
	damaged(recipe_with("{\"later\":{\"kind\":\"both\"},\"hooks\":[]}"));
	damaged(recipe_with("{\"hooks\":[7]}"));
	damaged(recipe_with("{\"hooks\":[\"\"]}"));
	damaged(recipe_with("{\"hooks\":[\"0x12x\"]}"));
	damaged(recipe_with("{\"hooks\":[" TEN_HOOKS TEN_HOOKS TEN_HOOKS "\"a\",\"b\",\"c\"]}"));
	accepted("{\"noise\":{\"kind\":\"hooks\"},\"hooks\":[" TEN_HOOKS TEN_HOOKS TEN_HOOKS "\"a\",\"b\"]}",
		 &recipe);
	assert_int_equal(recipe.run.schedule.hooks.count, SCHEDULE_HOOKS_MOST);
	assert_int_equal(recipe.run.schedule.hooks.address[31], 0xb);
	capture_recipe_free(&recipe);
}

static void list_of_files_may_contain_anything(void **state)
{
	struct capture_recipe recipe;

	(void)state;
	for (unsigned n = 0; n < 4; n++) {
		static const char *const files[] = { "[7]", "[{}]", "[{\"path\":7}]", "[{\"path\":\"/\"}]" };
		char members[64];

		snprintf(members, sizeof(members), "{\"files\":%s}", files[n]);
		accepted(members, &recipe);
		assert_int_equal(capture_recipe_check(&recipe), CAPTURE_E_FORMAT);
		capture_recipe_free(&recipe);
	}
	accepted("{\"files\":{\"path\":\"/\"}}", &recipe);
	assert_int_equal(capture_recipe_check(&recipe), 0);
	capture_recipe_free(&recipe);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, files_begin, files_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(recipe_is_read_as_it_was_written),
		TEST(each_file_of_the_line_is_in_the_recipe),
		TEST(hash_is_of_contents_and_not_of_names),
		TEST(changed_file_is_named),
		TEST(moved_file_is_found_by_its_contents),
		TEST(line_that_is_not_utf_8_is_refused),
		TEST(folder_that_is_not_utf_8_is_refused),
		TEST(missing_or_damaged_file_cannot_be_finished),
		TEST(trace_without_recipe_is_refused),
		TEST(line_that_is_no_recipe_is_refused),
		TEST(words_that_are_no_qemu_line_are_refused),
		TEST(directory_that_is_not_absolute_is_refused),
		TEST(members_of_other_types_count_as_absent),
		TEST(numbers_that_are_too_small_count_as_absent),
		TEST(noise_at_hooks_needs_their_addresses),
		TEST(list_of_files_may_contain_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
