/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Keys and commands in a capture's note. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "analyze/note.h"

static const char note[] = "captured by: ktrace run\nended: panic\ncommand: qemu -kernel build/k.elf -smp 4";

static void keys(void **state)
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

static void words(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(keys), cmocka_unit_test(words) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
