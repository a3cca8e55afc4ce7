/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the text that kdump prints for records of hardware trace. A record that is too short is reported as
 * invalid, and nothing is read after its end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "kdump/context.h"
#include "ktrx/hwt.h"

static unsigned char payload[256];

/*
 * Returns the text for a record whose payload is `head` followed by `text`. The payload is truncated to
 * `most` bytes.
 */
static const char *text_of(unsigned type, const void *head, size_t size, const char *text, size_t most)
{
	static char line[4096];
	struct ktread_proc_record record = { .type = (uint16_t)type, .payload = payload };

	memcpy(payload, head, size);
	memcpy(payload + size, text, strlen(text));
	size += strlen(text);
	record.payload_size = (uint32_t)(size < most ? size : most);
	*kdump_put_hardware(line, &record) = '\0';
	return line;
}

static void each_type_has_its_text(void **state)
{
	const struct ktrx_hwt_image image = { .address = 0x400000, .size = 4096, .offset = 0x1000 };
	const struct ktrx_hwt_thread thread = { .index = 2, .context = 1 };
	const struct ktrx_hwt_data data = { .context = 1, .unit = 3, .position = 64 };
	const struct ktrx_hwt_context context = { .ident = 1,
						  .mode = KTRX_HWT_MODE_THREAD,
						  .encoding = KTRX_HWT_ENCODING_PT,
						  .backend = KTRX_HWT_BACKEND_QEMU,
						  .target = 7 };
	const struct ktrx_hwt_clock clock = { .unit_time = 5, .stamp = 6, .unit_frequency = 7 };

	(void)state;
	assert_string_equal(text_of(KTRX_HWT_MMAP, &image, sizeof(image), "/bin/a\n", 256),
			    "\"/bin/a\\n\" at 0x400000, 4096 bytes from 0x1000");
	assert_string_equal(text_of(KTRX_HWT_EXECUTABLE, &image, sizeof(image), "/bin/a", 256),
			    "\"/bin/a\" at 0x400000");
	assert_string_equal(text_of(KTRX_HWT_THREAD_NAME, &thread, sizeof(thread), "sh", 256),
			    "unit 2 of context 1 \"sh\"");
	assert_string_equal(text_of(KTRX_HWT_DATA, &data, sizeof(data), "1234", 256),
			    "unit 3 of context 1: 4 bytes at 64");
	assert_string_equal(text_of(KTRX_HWT_CONTEXT, &context, sizeof(context), "", 256),
			    "context 1: qemu, pt of process 7");
	assert_string_equal(text_of(KTRX_HWT_CLOCK, &clock, sizeof(clock), "", 256),
			    "unit's time 5 at stamp 6, 7 a second");
}

static void short_record_is_invalid(void **state)
{
	const unsigned char zeroes[128] = { 0 };

	(void)state;
	for (unsigned type = KTRX_HWT_FIRST; type <= KTRX_HWT_LAST; type++) {
		assert_int_equal(strlen(kdump_hardware_word((uint16_t)type)), 4);
		assert_string_equal(text_of(type, zeroes, sizeof(zeroes), "", 7), "invalid record");
	}
	assert_null(kdump_hardware_word(KTRX_HWT_FIRST - 1));
	assert_null(kdump_hardware_word(KTRX_HWT_LAST + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_has_its_text),
		cmocka_unit_test(short_record_is_invalid),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
