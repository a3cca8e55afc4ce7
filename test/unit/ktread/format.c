/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests how values and texts of events are printed. Values must be printed as the C library prints them, and
 * invalid format texts must cause no invalid access.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "unit/support/ktread_support.h"
#include "ktrx/v2.h"

struct sample {
	struct ktread_type type;
	struct ktread_field field[4];
	struct ktread_event event;
	unsigned char payload[64];
	uint32_t size;
};

static void sample_text(struct sample *sample, const char *text)
{
	memset(sample, 0, sizeof(*sample));
	sample->type = (struct ktread_type){ .name = "e", .group = "g", .file = "", .text = text };
	sample->type.field = sample->field;
	sample->event.type = &sample->type;
	sample->event.payload = sample->payload;
	sample->event.payload_size = sizeof(sample->payload);
}

static void sample_add(struct sample *sample, uint8_t type, const void *bytes, uint32_t size)
{
	struct ktread_field *field = &sample->field[sample->type.fields++];

	field->name = "f";
	field->unit = "";
	field->type = type;
	memcpy(sample->payload + sample->size, bytes, size);
	sample->size += size;
}

static void expect(const struct sample *sample, const char *wanted)
{
	char text[256];

	assert_int_equal(ktread_format(&sample->event, text, sizeof(text)), strlen(wanted));
	assert_string_equal(text, wanted);
}

static void integers_print_as_in_c(void **state)
{
	static const char *const flags[] = { "", "-", "0", "+", " ", "#", "-0", "+0", "#0", "#-" };
	static const char *const sizes[] = { "", "1", "7", "20", ".0", ".3", "9.4", "3.9" };
	static const char letters[] = "diuxXo";
	static const int32_t values[] = { 0, 1, -1, 42, INT32_MAX, INT32_MIN, 0777 };

	(void)state;
	for (unsigned f = 0; f < 10; f++)
		for (unsigned s = 0; s < 8; s++)
			for (unsigned l = 0; letters[l]; l++)
				for (unsigned v = 0; v < 7; v++) {
					char text[32], wanted[64];
					int64_t wide = (int64_t)((uint64_t)(uint32_t)values[v] * 0x100000001);
					struct sample sample;

					snprintf(text, sizeof(text), "<%%%s%s%c>", flags[f], sizes[s],
						 letters[l]);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
					snprintf(wanted, sizeof(wanted), text, values[v]);
					sample_text(&sample, text);
					sample_add(&sample,
						   letters[l] == 'd' || letters[l] == 'i' ? KTRX_TYPE_I32
											  : KTRX_TYPE_U32,
						   &values[v], 4);
					expect(&sample, wanted);
					snprintf(text, sizeof(text), "<%%%s%sll%c>", flags[f], sizes[s],
						 letters[l]);
					snprintf(wanted, sizeof(wanted), text, wide);
#pragma GCC diagnostic pop
					sample_text(&sample, text);
					sample_add(&sample, KTRX_TYPE_I64, &wide, 8);
					expect(&sample, wanted);
				}
}

static void small_types_are_promoted(void **state)
{
	const int8_t minus = -3;
	const uint16_t half = 65535;
	const uint8_t letter = 'k', truth = 1, control = 7;
	struct sample sample;

	(void)state;
	sample_text(&sample, "%d %u %c");
	sample_add(&sample, KTRX_TYPE_I8, &minus, 1);
	sample_add(&sample, KTRX_TYPE_U16, &half, 2);
	sample_add(&sample, KTRX_TYPE_CHAR, &letter, 1);
	expect(&sample, "-3 65535 k");
	sample_text(&sample, "%hhx %hd %d %c%%");
	sample_add(&sample, KTRX_TYPE_I8, &minus, 1);
	sample_add(&sample, KTRX_TYPE_U16, &half, 2);
	sample_add(&sample, KTRX_TYPE_BOOL, &truth, 1);
	sample_add(&sample, KTRX_TYPE_CHAR, &control, 1);
	expect(&sample, "fd -1 1 \\x07%");
}

static void strings_are_escaped(void **state)
{
	const unsigned char string[] = { 5, 0, 'a', '\x1b', '[', 0xff, '\n' };
	const uint64_t pointer = 0xffff800000001000;
	struct sample sample;

	(void)state;
	sample_text(&sample, "%s|%p\t");
	sample_add(&sample, KTRX_TYPE_STRING, string, sizeof(string));
	sample_add(&sample, KTRX_TYPE_POINTER, &pointer, 8);
	expect(&sample, "a\\x1b[\\xff\\x0a|0xffff800000001000\\x09");
	sample_text(&sample, "%-4.1s|%8.2s|");
	sample_add(&sample, KTRX_TYPE_STRING, "\2\0xy", 4);
	sample_add(&sample, KTRX_TYPE_STRING, "\2\0xy", 4);
	expect(&sample, "x   |      xy|");
}

static void wrong_texts_do_no_harm(void **state)
{
	const uint32_t number = 5;
	const unsigned char longer[] = { 0xff, 0x7f, 'a' };
	struct sample sample;

	(void)state;
	sample_text(&sample, "%s %n %f %d %d %");
	sample_add(&sample, KTRX_TYPE_U32, &number, 4);
	expect(&sample, "5 ? ? (missing) (missing) %");
	sample_text(&sample, "%s");
	sample_add(&sample, KTRX_TYPE_STRING, longer, sizeof(longer));
	expect(&sample, "(missing)");
	sample_text(&sample, "%d");
	sample_add(&sample, 99, &number, 4);
	expect(&sample, "(missing)");
	sample_text(&sample, "%*d|");
	sample_add(&sample, KTRX_TYPE_U32, &number, 4);
	sample_add(&sample, KTRX_TYPE_U32, &number, 4);
	expect(&sample, "    5|");
	sample_text(&sample, "%999999999999d");
	sample_add(&sample, KTRX_TYPE_U32, &number, 4);
	assert_int_equal(ktread_format(&sample.event, (char[16]){ 0 }, 16), 15);
}

static void event_without_text_lists_its_fields(void **state)
{
	const int32_t minus = -4;
	struct sample sample;

	(void)state;
	sample_text(&sample, "");
	sample_add(&sample, KTRX_TYPE_I32, &minus, 4);
	sample_add(&sample, KTRX_TYPE_STRING, "\1\0z", 3);
	expect(&sample, "f=-4 f=z");
}

static void never_writes_past_the_buffer(void **state)
{
	char text[8];
	struct sample sample;

	(void)state;
	sample_text(&sample, "0123456789");
	for (size_t size = 0; size < sizeof(text); size++) {
		memset(text, '!', sizeof(text));
		assert_int_equal(ktread_format(&sample.event, text, size), size ? size - 1 : 0);
		assert_int_equal(text[size], '!');
	}
}

static void values_are_found_by_name(void **state)
{
	const int16_t minus = -7;
	struct ktread_value value;
	struct sample sample;

	(void)state;
	sample_text(&sample, "");
	sample_add(&sample, KTRX_TYPE_STRING, "\2\x80zz", 4);
	sample_add(&sample, KTRX_TYPE_I16, &minus, 2);
	sample.field[1].name = "second";
	assert_int_equal(ktread_value(&sample.event, 0, &value), 0);
	assert_int_equal(value.cut, 1);
	assert_int_equal(value.length, 2);
	assert_int_equal(ktread_value_named(&sample.event, "second", &value), 0);
	assert_int_equal((int64_t)value.number, -7);
	assert_int_equal(ktread_value_named(&sample.event, "third", &value), KTREAD_E_ARGUMENT);
	sample.event.payload_size = 5;
	assert_int_equal(ktread_value(&sample.event, 1, &value), KTREAD_E_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_print_as_in_c),
		cmocka_unit_test(small_types_are_promoted),
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(wrong_texts_do_no_harm),
		cmocka_unit_test(event_without_text_lists_its_fields),
		cmocka_unit_test(never_writes_past_the_buffer),
		cmocka_unit_test(values_are_found_by_name),
	};

	return cmocka_run_group_tests_name("ktread format", tests, NULL, NULL);
}
