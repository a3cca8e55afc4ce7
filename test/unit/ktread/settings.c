/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests reading valid and damaged settings in dumps and in memory, and the file offset at which a host must
 * write a setting.
 */
#include <stdlib.h>
#include <string.h>

#include "ktread/memory.h"
#include "unit/support/ktread_sample.h"

#define WORDS 0x1a000u /* offset, in the image, of the variables that the settings refer to */

static void add_row(struct writer *writer, const char *name, uint8_t kind, uint8_t bit, uint64_t value)
{
	struct ktrx_setting row = { .magic = KTRX_SETTING_MAGIC,
				    .size = sizeof(row),
				    .kind = kind,
				    .bit = bit,
				    .address = WRITER_IMAGE_OFFSET + WORDS,
				    .value = value,
				    .most = UINT64_MAX };

	strncpy(row.name, name, sizeof(row.name));
	bytes_append(&writer->settings, &row, sizeof(row));
}

/* Writes a table of settings: four valid entries, a gap, and entries that a reader must skip. */
static void fill(struct writer *writer)
{
	static const char endless[49] = "123456789012345678901234567890123456789012345678";

	begin(writer, 3);
	put_switch(writer, 1, 1000, 0);
	add_row(writer, "word", KTRX_SETTING_U32, 0, 11);
	bytes_grow(&writer->settings, writer->settings.size + 24);
	add_row(writer, "wide", KTRX_SETTING_U64, 0, 12);
	add_row(writer, "no kind", 9, 0, 0);
	add_row(writer, "no bit", KTRX_SETTING_BIT32, 32, 0);
	add_row(writer, "bit", KTRX_SETTING_BIT64, 63, 1);
	add_row(writer, endless, KTRX_SETTING_BIT32, 31, 0);
	/* an entry that is truncated */
	bytes_append(&writer->settings, (uint16_t[4]){ KTRX_SETTING_MAGIC, 0 }, 8);
}

static void check_settings(struct ktread *trace, const uint64_t values[4])
{
	static const char *const names[] = { "word", "wide", "bit",
					     "12345678901234567890123456789012345678901234567" };
	struct ktread_setting setting;
	uint32_t n = 0;

	for (; ktread_setting(trace, n, &setting); n++) {
		assert_true(n < 4);
		assert_string_equal(setting.name, names[n]);
		assert_true(setting.value == values[n]);
	}
	assert_int_equal(n, 4);
	ktread_close(trace);
}

static void dump_has_the_values(void **state)
{
	struct writer writer;
	struct bytes dump = { 0 };

	(void)state;
	fill(&writer);
	writer_dump(&writer, &dump);
	check_settings(open_ok(temporary_bytes(&dump), NULL), (uint64_t[]){ 11, 12, 1, 0 });
	bytes_free(&dump);
	writer_close(&writer);
}

static void values_in_memory_are_read_from_the_words(void **state)
{
	const uint64_t word = UINT64_C(0x80000000fedcba98), read[] = { 0xfedcba98, word, 1, 1 };
	unsigned char *memory = calloc(1, WRITER_MEMORY_SIZE);
	struct writer writer;

	(void)state;
	assert_non_null(memory);
	fill(&writer);
	writer_memory(&writer, memory, 0);
	memcpy(memory + WORDS, &word, sizeof(word));
	check_settings(open_ok(temporary(memory, WRITER_MEMORY_SIZE), NULL), read);
	free(memory);
	writer_close(&writer);
}

#define LATER  0x19000u	 /* offset, in the image, of the lent memory */
#define MOVED  0x500000u /* physical address of the page of the image that contains the settings */
#define LINKED 0x100000u /* address of the image in the kernel's file */

/*
 * The boot loader copied the last page of the kernel's data to the memory of .bss, and the kernel relocated only
 * that copy. The page is mapped where the settings belong, but the old copy has the distance of the root.
 */
static void old_copy_of_the_settings_is_not_used(void **state)
{
	const uint64_t word = UINT64_C(0x80000000fedcba98), read[] = { 0xfedcba98, word, 1, 1 };
	unsigned char *memory = calloc(1, WRITER_MEMORY_SIZE);
	struct writer writer;
	struct ktrx_block block;

	(void)state;
	assert_non_null(memory);
	fill(&writer);
	writer_memory(&writer, memory, 0);
	memcpy(memory + WORDS, &word, sizeof(word));
	memcpy(memory + MOVED, memory + WRITER_SETTINGS, writer.settings.size);
	for (size_t at = 0; at < writer.settings.size; at += 8) {
		struct ktrx_setting *row = (struct ktrx_setting *)(void *)(memory + WRITER_SETTINGS + at);

		if (row->magic == KTRX_SETTING_MAGIC && row->address)
			row->address = LINKED + WORDS; /* within 2 GiB of the root, across address 0 */
	}
	memcpy(&block, memory + WRITER_BLOCK, sizeof(block));
	block.self = WRITER_IMAGE_OFFSET + LATER;
	block.length = 0x1000;
	memcpy(memory + MOVED + LATER - WRITER_SETTINGS, &block, sizeof(block));
	check_settings(open_ok(temporary(memory, WRITER_MEMORY_SIZE), NULL), read);
	free(memory);
	writer_close(&writer);
}

static void place_in_the_file_is_found(void **state)
{
	unsigned char *memory = calloc(1, WRITER_MEMORY_SIZE);
	struct ktread_memory *ram;
	struct ktread_image *image;
	struct writer writer;
	uint64_t at;

	(void)state;
	assert_non_null(memory);
	fill(&writer);
	writer_memory(&writer, memory, 0);
	assert_int_equal(ktread_memory_open_ram(&ram, temporary(memory, WRITER_MEMORY_SIZE), NULL), 0);
	assert_int_equal(ktread_image_find(&image, ram), 0);
	assert_int_equal(ktread_image_place(image, KTRX_SECTION_SETTINGS, 80, &at), 0);
	assert_int_equal(at, WRITER_SETTINGS);
	assert_int_equal(ktread_image_place(image, KTRX_SECTION_SETTINGS, 80000, &at), KTREAD_E_ABSENT);
	assert_int_equal(ktread_image_place(image, KTRX_SECTION_MAILBOX, 8, &at), KTREAD_E_ABSENT);
	ktread_image_close(image);
	ktread_memory_close(ram);
	free(memory);
	writer_close(&writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dump_has_the_values),
		cmocka_unit_test(values_in_memory_are_read_from_the_words),
		cmocka_unit_test(old_copy_of_the_settings_is_not_used),
		cmocka_unit_test(place_in_the_file_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, temporary_teardown);
}
