/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests phrases: format texts of events that were split into parts in advance. A phrase must give the same
 * result as ktread_format(), for every conversion, type and payload.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "export/timeline.h"
#include "ktrx/v2.h"
#include "unit/support/random.h"

static uint64_t seed = 3;

static unsigned char draw(void)
{
	return (unsigned char)random_below(&seed, 256);
}

static char result[PHRASE_BYTES + 64], expected[PHRASE_BYTES + 64];

/*
 * Checks that the phrase and ktread_format() produce the same text. Returns 0 if the phrase leaves the text
 * to ktread_format(), otherwise 1.
 */
static int compare(const struct phrase *phrase, const struct ktread_event *event)
{
	size_t length = ktread_format(event, expected, PHRASE_BYTES);
	char *end = phrase_put(phrase, result, event);

	if (!end)
		return 0;
	*end = '\0';
	assert_string_equal(expected, result);
	assert_int_equal(length, end - result);
	return 1;
}

static void every_conversion_formats_every_type(void **state)
{
	static const char *const conversions[] = { "%d", "%i", "%u",   "%x",  "%c",
						   "%s", "%p", "%lld", "%zu", "%lx" };
	unsigned char payload[80];

	(void)state;
	for (size_t c = 0; c < 2 * sizeof(conversions) / sizeof(conversions[0]); c++) {
		for (uint8_t t = KTRX_TYPE_U8; t <= KTRX_TYPE_CHAR; t++) {
			const struct ktread_field field[2] = { { c % 2 ? "holder" : "a", "", t },
							       { "b", "", KTRX_TYPE_U16 } };
			char text[64];
			struct ktread_type type = {
				.fields = 2, .group = "g", .name = "n", .text = text, .field = field
			};
			struct ktread_event event = { .type = &type,
						      .payload = payload,
						      .payload_size = sizeof(payload) };
			struct phrase *phrase;

			snprintf(text, sizeof(text), "a \\ 100%%%%: %s\tthen %%u.", conversions[c / 2]);
			phrase = phrase_compile(&type);
			assert_non_null(phrase);
			for (unsigned n = 0; n < 200; n++) {
				for (size_t i = 0; i < sizeof(payload); i++)
					payload[i] = n % 3 ? draw() : n % 2 ? 0xff : 0;
				/* limits the string to a length that fits into the payload */
				if (t == KTRX_TYPE_STRING) {
					payload[0] %= 70;
					payload[1] &= 0x80;
				}
				assert_int_equal(compare(phrase, &event), 1);
			}
			phrase_free(phrase);
		}
	}
}

static void short_payloads_are_left_to_ktread_format(void **state)
{
	const struct ktread_field field[2] = { { "a", "", KTRX_TYPE_U32 }, { "b", "", KTRX_TYPE_STRING } };
	struct ktread_type type = { .fields = 2, .group = "g", .name = "n", .text = "%u %s", .field = field };
	unsigned char payload[10] = { 1, 0, 0, 0, 4, 0, 'a', 'b', 'c', 'd' };
	struct ktread_event event = { .type = &type, .payload = payload };
	struct phrase *phrase = phrase_compile(&type);

	(void)state;
	assert_non_null(phrase);
	for (event.payload_size = 0; event.payload_size < sizeof(payload); event.payload_size++)
		assert_int_equal(compare(phrase, &event), 0);
	assert_int_equal(compare(phrase, &event), 1);
	phrase_free(phrase);
}

static void unusual_texts_are_not_split(void **state)
{
	static const char *const texts[] = { "",      "%08x", "%-5d", "%.3s", "%#x", "%hd", "%f",
					     "%d %d", "100%", "%n",   "%*d",  "%5",  "% %" };
	const struct ktread_field field[1] = { { "a", "", KTRX_TYPE_U32 } };

	(void)state;
	for (size_t n = 0; n < sizeof(texts) / sizeof(texts[0]); n++) {
		struct ktread_type type = {
			.fields = 1, .group = "g", .name = "n", .text = texts[n], .field = field
		};

		assert_null(phrase_compile(&type));
	}
}

static void texts_with_no_and_with_most_values_are_formatted(void **state)
{
	struct ktread_field field[KTRX_EVENT_FIELDS];
	struct ktread_type type = { .group = "g", .name = "n", .text = "only words", .field = field };
	unsigned char payload[KTRX_EVENT_FIELDS];
	struct ktread_event event = { .type = &type, .payload = payload, .payload_size = sizeof(payload) };
	struct phrase *phrase = phrase_compile(&type);

	(void)state;
	memset(payload, 7, sizeof(payload));
	assert_int_equal(compare(phrase, &event), 1);
	phrase_free(phrase);
	for (unsigned n = 0; n < KTRX_EVENT_FIELDS; n++)
		field[n] = (struct ktread_field){ "f", "", KTRX_TYPE_U8 };
	type.fields = KTRX_EVENT_FIELDS;
	type.text =
		"%u%u%u%u%u%u%u%u%u%u%u%u%u%u%u%u and a tail that is longer than one chunk of literal text";
	phrase = phrase_compile(&type);
	assert_non_null(phrase);
	assert_int_equal(compare(phrase, &event), 1);
	phrase_free(phrase);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_conversion_formats_every_type),
		cmocka_unit_test(short_payloads_are_left_to_ktread_format),
		cmocka_unit_test(unusual_texts_are_not_split),
		cmocka_unit_test(texts_with_no_and_with_most_values_are_formatted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
