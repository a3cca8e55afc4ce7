/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests how keys and commands are read from the note (section NOTE) of a capture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/note.h"

static const char note[] = "captured by: ktrace run\nended: panic\ncommand: qemu -kernel build/k.elf -smp 4";

static void keys_are_found(void **state)
{
	size_t length;
	const char *value = note_find(note, "ended", &length);

	(void)state;
	assert_non_null(value);
	assert_int_equal(length, 5);
	assert_memory_equal(value, "panic", 5);
	value = note_find(note, "command", &length);
	assert_non_null(value);
	assert_int_equal(length, strlen(value));
	assert_null(note_find(note, "end", &length));
	assert_null(note_find(note, "panic", &length));
	assert_null(note_find("", "ended", &length));
	assert_null(note_find("ended:", "ended", &length));
	assert_null(note_find("\n\n", "", &length));
}

static void word_after_option_is_copied(void **state)
{
	char word[12];
	size_t length;
	const char *command = note_find(note, "command", &length);

	(void)state;
	assert_int_equal(note_word_after(command, length, "-kernel", word, sizeof(word)), 0);
	assert_string_equal(word, "build/k.elf");
	assert_int_equal(note_word_after(command, length, "-smp", word, sizeof(word)), 0);
	assert_string_equal(word, "4");
	assert_int_equal(note_word_after(command, length, "-kernel", word, 11), -1);
	assert_int_equal(note_word_after(command, length, "-m", word, sizeof(word)), -1);
	assert_int_equal(note_word_after(command, length, "4", word, sizeof(word)), -1);
	assert_int_equal(note_word_after(command, 0, "-smp", word, sizeof(word)), -1);
}

/* Only a regular file that can be read is returned. */
static void kernel_must_be_a_readable_file(void **state)
{
	char folder[] = "/tmp/ktrace-unit-XXXXXX", file[64], pipe[64], text[200], path[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/kernel.elf", folder);
	snprintf(pipe, sizeof(pipe), "%s/pipe", folder);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_int_equal(close(open(file, O_CREAT | O_WRONLY, 0600)), 0);
	snprintf(text, sizeof(text), "command: qemu -kernel %s -smp 4", file);
	assert_true(note_kernel(text, path, sizeof(path)));
	assert_string_equal(path, file);
	assert_false(note_kernel(text, path, strlen(file)));
	snprintf(text, sizeof(text), "kernel: %s\ncommand: make -kernel other", file);
	assert_true(note_kernel(text, path, sizeof(path)));
	assert_string_equal(path, file);
	snprintf(text, sizeof(text), "command: qemu -kernel %s", pipe);
	assert_false(note_kernel(text, path, sizeof(path)));
	snprintf(text, sizeof(text), "kernel: %s", folder);
	assert_false(note_kernel(text, path, sizeof(path)));
	assert_false(note_kernel("ended: panic", path, sizeof(path)));
	unlink(file);
	unlink(pipe);
	rmdir(folder);
}

static void silence_is_parsed(void **state)
{
	bool more = true;

	(void)state;
	assert_true(note_silence("ended: timeout\nsilent: 1.5 s\n", &more) == 1.5);
	assert_false(more);
	assert_true(note_silence("silent: 1.0 s or more\n", &more) == 1.0);
	assert_true(more);
	assert_true(note_silence("silent: 0.0 s\n", &more) == 0);
	assert_true(note_silence("silent: soon\n", &more) < 0);
	assert_true(note_silence("silently: 1.0 s\n", &more) < 0);
	assert_true(note_silence("", &more) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(keys_are_found),
					    cmocka_unit_test(word_after_option_is_copied),
					    cmocka_unit_test(kernel_must_be_a_readable_file),
					    cmocka_unit_test(silence_is_parsed) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
