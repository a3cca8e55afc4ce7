/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests formatting payloads in the kernel: the text must be equal to the output of printf() and of the host's
 * reader.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/console/line.h"
#include "ktread/ktread.h"
#include "ktrx/slot.h"
#include "unit/support/random.h"

#define FIELDS 6

static struct {
	char text[4096];
	size_t length;
} screen;

static void screen_write(const struct ktrace_console *console, const char *text, size_t bytes)
{
	(void)console;
	assert_in_range(screen.length + bytes, 0, sizeof(screen.text) - 1);
	memcpy(screen.text + screen.length, text, bytes);
	screen.length += bytes;
	screen.text[screen.length] = '\0';
}

static const struct ktrace_console console = { .write = screen_write };

/* An event descriptor of the kernel, and the descriptor of the same event in the host's reader. */
struct sample {
	union {
		struct ktrx_event event;
		char bytes[1024];
	} descriptor;
	uint32_t strings;
	struct ktread_field field[FIELDS];
	struct ktread_type type;
	struct ktread_event event;
	uint8_t payload[KTRX_RECORD_MAX_PAYLOAD];
	uint32_t bytes;
};

static void descriptor_string(struct sample *sample, const char *string)
{
	strcpy(sample->descriptor.bytes + sizeof(struct ktrx_event) + sample->strings, string);
	sample->strings += (uint32_t)strlen(string) + 1;
	sample->descriptor.event.size = (uint16_t)((sizeof(struct ktrx_event) + sample->strings + 7) & ~7u);
}

static void sample_start(struct sample *sample, const char *text)
{
	memset(sample, 0, sizeof(*sample));
	sample->descriptor.event.magic = KTRX_EVENT_MAGIC;
	sample->descriptor.event.line = 12;
	descriptor_string(sample, "group");
	descriptor_string(sample, "name");
	descriptor_string(sample, text);
	descriptor_string(sample, "file.c");
	sample->type =
		(struct ktread_type){ .group = "group", .name = "name", .text = text, .file = "file.c" };
	sample->type.field = sample->field;
	sample->event.type = &sample->type;
	sample->event.payload = sample->payload;
}

static void sample_field(struct sample *sample, const char *name, uint8_t type)
{
	uint8_t n = sample->type.fields++;

	descriptor_string(sample, name);
	descriptor_string(sample, "");
	sample->descriptor.event.type[n] = type;
	sample->descriptor.event.fields = sample->type.fields;
	sample->field[n] = (struct ktread_field){ name, "", type };
}

static void sample_bytes(struct sample *sample, const void *bytes, uint32_t count)
{
	memcpy(sample->payload + sample->bytes, bytes, count);
	sample->bytes += count;
	sample->event.payload_size = sample->bytes;
}

static const char *shown(const struct sample *sample)
{
	struct ktrace_line line;

	screen.length = 0;
	screen.text[0] = '\0';
	ktrace_line_start(&line, &console);
	ktrace_format_payload(&line, &sample->descriptor.event, sample->payload, sample->bytes);
	ktrace_line_flush(&line);
	return screen.text;
}

static const char *shown_by_host(const struct sample *sample)
{
	static char text[4096];

	ktread_format(&sample->event, text, sizeof(text));
	return text;
}

static void number_is(const char *text, uint8_t type, uint64_t value, uint32_t bytes, const char *wanted)
{
	struct sample sample;

	sample_start(&sample, text);
	sample_field(&sample, "f", type);
	sample_bytes(&sample, &value, bytes);
	assert_string_equal(shown(&sample), wanted);
	assert_string_equal(shown_by_host(&sample), wanted);
}

static void every_type_is_formatted_by_its_own_rules(void **state)
{
	(void)state;
	number_is("%u", KTRX_TYPE_U8, 200, 1, "200");
	number_is("%d", KTRX_TYPE_I8, 200, 1, "-56");
	number_is("%u", KTRX_TYPE_U16, 60000, 2, "60000");
	number_is("%d", KTRX_TYPE_I16, 60000, 2, "-5536");
	number_is("%u", KTRX_TYPE_U32, 4000000000, 4, "4000000000");
	number_is("%d", KTRX_TYPE_U32, 4000000000, 4, "-294967296");
	number_is("%x", KTRX_TYPE_I32, UINT32_MAX, 4, "ffffffff");
	number_is("%llu", KTRX_TYPE_U64, UINT64_MAX, 8, "18446744073709551615");
	number_is("%lld", KTRX_TYPE_I64, UINT64_C(1) << 63, 8, "-9223372036854775808");
	number_is("%p", KTRX_TYPE_POINTER, 0xdeadbeef, 8, "0xdeadbeef");
	number_is("%p", KTRX_TYPE_POINTER, 0, 8, "0x0");
	number_is("%d", KTRX_TYPE_BOOL, 1, 1, "1");
	number_is("%c", KTRX_TYPE_CHAR, 'x', 1, "x");
	number_is("%c", KTRX_TYPE_CHAR, 7, 1, "\\x07");
	number_is("%s", KTRX_TYPE_U32, 5, 4, "5");
}

static void flags_width_and_precision_work_as_in_c(void **state)
{
	static const char *const flags[] = { "", "-", "0", "+", " ", "#", "-0", "+0", "#0", "#-" };
	static const char *const sizes[] = { "", "1", "7", "20", ".0", ".3", "9.4", "3.9" };
	static const char letters[] = "diuxXo";
	static const int32_t values[] = { 0, 1, -1, 42, INT32_MAX, INT32_MIN, 0777 };
	char text[32], wanted[64];

	(void)state;
	for (unsigned f = 0; f < sizeof(flags) / sizeof(flags[0]); f++)
		for (unsigned s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
			for (unsigned l = 0; letters[l]; l++)
				for (unsigned v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
					snprintf(text, sizeof(text), "<%%%s%s%c>", flags[f], sizes[s],
						 letters[l]);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
					snprintf(wanted, sizeof(wanted), text, values[v]);
#pragma GCC diagnostic pop
					number_is(text, KTRX_TYPE_I32, (uint32_t)values[v], 4, wanted);
				}
	number_is("%hhd %%", KTRX_TYPE_U32, 0x1ff, 4, "-1 %");
	number_is("%hx", KTRX_TYPE_U32, 0x12345, 4, "2345");
}

static void string_is(const char *text, const char *string, const char *wanted)
{
	struct sample sample;
	uint16_t length = (uint16_t)strlen(string);

	sample_start(&sample, text);
	sample_field(&sample, "s", KTRX_TYPE_STRING);
	sample_bytes(&sample, &length, 2);
	sample_bytes(&sample, string, length);
	assert_string_equal(shown(&sample), wanted);
	assert_string_equal(shown_by_host(&sample), wanted);
}

static void strings_are_escaped_padded_and_cut(void **state)
{
	(void)state;
	string_is("<%s>", "", "<>");
	string_is("<%8s>", "abc", "<     abc>");
	string_is("<%-8s>", "abc", "<abc     >");
	string_is("<%.2s>", "abc", "<ab>");
	string_is("<%d>", "abc", "<abc>");
	string_is("%s", "a\n\033[2J\x7f\xff", "a\\x0a\\x1b[2J\\x7f\\xff");
}

static void a_text_that_does_not_match_its_fields_is_harmless(void **state)
{
	struct sample sample;
	uint16_t length = 500;

	(void)state;
	number_is("%d %d %s", KTRX_TYPE_U8, 1, 1, "1 (missing) (missing)");
	number_is("%n %f %q%", KTRX_TYPE_U8, 1, 1, "? ? ?%");
	number_is("%*d", KTRX_TYPE_U8, 9, 1, "(missing)");
	number_is("a\tb", KTRX_TYPE_U8, 9, 1, "a\\x09b");
	number_is("%u", 77, 9, 1, "(missing)");
	number_is("%u", 0, 9, 1, "(missing)");
	number_is("%u", KTRX_TYPE_U64, 9, 4, "(missing)");
	sample_start(&sample, "%s");
	sample_field(&sample, "s", KTRX_TYPE_STRING);
	sample_bytes(&sample, &length, 1);
	assert_string_equal(shown(&sample), "(missing)");
	sample_bytes(&sample, &length, 2);
	assert_string_equal(shown(&sample), "(missing)");
}

static void an_event_without_a_text_names_its_fields(void **state)
{
	struct sample sample;

	(void)state;
	sample_start(&sample, "");
	sample_field(&sample, "count", KTRX_TYPE_U8);
	sample_field(&sample, "delta", KTRX_TYPE_I8);
	sample_field(&sample, "at", KTRX_TYPE_POINTER);
	sample_field(&sample, "letter", KTRX_TYPE_CHAR);
	sample_bytes(&sample, "\x07\xff\x10\0\0\0\0\0\0\0z", 11);
	assert_string_equal(shown(&sample), "count=7 delta=-1 at=0x10 letter=z");
	assert_string_equal(shown_by_host(&sample), shown(&sample));
}

static void a_holder_that_is_unknown_has_no_number(void **state)
{
	struct sample sample;

	(void)state;
	sample_start(&sample, "held by %s %u of %u");
	sample_field(&sample, "kind", KTRX_TYPE_STRING);
	sample_field(&sample, "holder", KTRX_TYPE_U32);
	sample_field(&sample, "other", KTRX_TYPE_U32);
	sample_bytes(&sample, "\3\0CPU\xff\xff\xff\xff\xff\xff\xff\xff", 13);
	assert_string_equal(shown(&sample), "held by CPU ? of 4294967295");
	assert_string_equal(shown_by_host(&sample), shown(&sample));
	sample_start(&sample, "");
	sample_field(&sample, "holder", KTRX_TYPE_U32);
	sample_field(&sample, "holder", KTRX_TYPE_U64);
	sample_bytes(&sample, "\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 12);
	assert_string_equal(shown(&sample), "holder=? holder=4294967295");
	assert_string_equal(shown_by_host(&sample), shown(&sample));
}

static void an_event_without_a_descriptor_is_shown_as_words(void **state)
{
	struct ktrace_line line;

	(void)state;
	screen.length = 0;
	ktrace_line_start(&line, &console);
	ktrace_format_name(&line, NULL, 77);
	ktrace_line_put(&line, ' ');
	ktrace_format_origin(&line, NULL, NULL, 5);
	ktrace_format_payload(&line, NULL, (const uint8_t *)"\x01\0\0\0\xff\xff", 6);
	ktrace_line_flush(&line);
	assert_string_equal(screen.text, "event_77 5 d0=0x1 d1=0xffff");
}

/* If a descriptor's last string has no terminating NUL, the string ends at the end of the descriptor. */
static void a_descriptor_is_not_read_beyond_its_end(void **state)
{
	struct sample sample;

	(void)state;
	sample_start(&sample, "text");
	sample_field(&sample, "f", KTRX_TYPE_U8);
	memset(sample.descriptor.bytes + sizeof(struct ktrx_event), 'x',
	       sizeof(sample.descriptor.bytes) - sizeof(struct ktrx_event));
	assert_string_equal(shown(&sample), "");
}

/*
 * Format strings of random conversions, blanks and garbage, with random payloads: the kernel and the host
 * produce the same text.
 */
static void random_events_look_as_on_the_host(void **state)
{
	static const char pieces[] = "%%%%%%%%%%ddduuxXoscp# 0-+*.123456789hhllzjtqn\x01\xc3";
	struct sample sample;
	uint64_t seed = 1;
	char text[24];
	uint8_t bytes[64];

	(void)state;
	for (unsigned round = 0; round < 200000; round++) {
		uint32_t length = 1 + random_below(&seed, sizeof(text) - 2),
			 fields = random_below(&seed, FIELDS);

		for (uint32_t i = 0; i < length; i++)
			text[i] = pieces[random_below(&seed, sizeof(pieces) - 1)];
		text[length] = '\0';
		sample_start(&sample, text);
		for (uint32_t i = 0; i < fields; i++)
			sample_field(&sample, "f", (uint8_t)random_below(&seed, 14));
		for (uint32_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = random_below(&seed, 3) ? (uint8_t)random_below(&seed, 8)
							  : (uint8_t)random_below(&seed, 256);
		sample_bytes(&sample, bytes, random_below(&seed, sizeof(bytes)));
		if (strcmp(shown(&sample), shown_by_host(&sample)) != 0)
			fail_msg("text '%s': '%s', host: '%s'", text, shown(&sample), shown_by_host(&sample));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_is_formatted_by_its_own_rules),
		cmocka_unit_test(flags_width_and_precision_work_as_in_c),
		cmocka_unit_test(strings_are_escaped_padded_and_cut),
		cmocka_unit_test(a_text_that_does_not_match_its_fields_is_harmless),
		cmocka_unit_test(an_event_without_a_text_names_its_fields),
		cmocka_unit_test(a_holder_that_is_unknown_has_no_number),
		cmocka_unit_test(an_event_without_a_descriptor_is_shown_as_words),
		cmocka_unit_test(a_descriptor_is_not_read_beyond_its_end),
		cmocka_unit_test(random_events_look_as_on_the_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
