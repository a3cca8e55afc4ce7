/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The golden inputs in test/golden/ktread are what the writers here make, byte for byte: the format does not
 * drift. With KTREAD_GOLDEN=write in the environment they are written anew.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktread_sample.h"

#define FOLDER	    "test/golden/ktread/"
#define SMALL_SHIFT 4u

static void make_v1(struct bytes *bytes)
{
	v1_header(bytes, 2, 8);
	for (unsigned slot = 0; slot < 8; slot++)
		v1_record(bytes, 1000 + 10 * ((slot + 5) % 8),
			  slot % 2 ? KTRX1_SYSCALL_ENTER : KTRX1_SYSCALL_EXIT, 0, 5, slot);
	v1_record(bytes, 1003, KTRX1_PAGE_FAULT, 1, 6, 0x1000);
	v1_record(bytes, 1013, 777, 1, 6, 0x1000);
	bytes_grow(bytes, sizeof(struct ktrx1_header) + 2 * 8 * 32);
}

static void make_v1_twice(struct bytes *bytes)
{
	make_v1(bytes);
	bytes->size -= 96;
	make_v1(bytes);
	make_v1(bytes);
}

/* A ring that wrapped, records of one and several slots, one in flight, a shared ring with callers, anchors. */
static void make_v2(struct bytes *bytes)
{
	unsigned char extended[40] = { 24,  KTRX_EXT_CPU | KTRX_EXT_CALLER1 | KTRX_EXT_CALLER2, 1, 0, 0x11,
				       0x22 };
	struct writer writer;

	begin_small(&writer, 2, SMALL_SHIFT);
	writer_record_extended(&writer, 0, 500, SWITCH, 3, extended, sizeof(extended));
	for (unsigned i = 0; i < 20; i++)
		put_switch(&writer, 1, 1000 + 10 * i, i);
	put_open(&writer, 1, 2000, "/a/path/of/two/slots");
	writer_reserve(&writer, 1, 1);
	put_switch(&writer, 1, UINT64_C(1) << 36, 21);
	writer_dump(&writer, bytes);
	writer_close(&writer);
}

static void make_v2_twice(struct bytes *bytes)
{
	make_v2(bytes);
	make_v2(bytes);
}

static void make_bare(struct bytes *bytes)
{
	for (unsigned i = 0; i < 6; i++)
		v1_record(bytes, 100 + (i ^ 1), KTRX1_WAITQ_WAKE, i % 2, 9, i);
}

static void compare(const char *name, void (*make)(struct bytes *bytes))
{
	const char *wanted = getenv("KTREAD_GOLDEN");
	struct bytes made = { 0 }, found = { 0 };
	char path[128];
	FILE *file;

	make(&made);
	snprintf(path, sizeof(path), FOLDER "%s", name);
	if (wanted && strcmp(wanted, "write") == 0) {
		file = fopen(path, "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(made.data, 1, made.size, file), made.size);
		fclose(file);
	}
	file = fopen(path, "rb");
	if (!file)
		fail_msg("%s is missing", path);
	bytes_grow(&found, made.size + 1);
	assert_int_equal(fread(found.data, 1, found.size, file), made.size);
	fclose(file);
	assert_memory_equal(found.data, made.data, made.size);
	bytes_free(&made);
	bytes_free(&found);
}

static void v1_is_golden(void **state)
{
	(void)state;
	compare("v1.ktrx", make_v1);
	compare("v1-three-one-cut.ktrx", make_v1_twice);
	compare("bare.ktrx", make_bare);
}

static void v2_is_golden(void **state)
{
	(void)state;
	compare("v2.ktrx", make_v2);
	compare("v2-two.ktrx", make_v2_twice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(v1_is_golden),
		cmocka_unit_test(v2_is_golden),
	};

	return cmocka_run_group_tests_name("ktread golden", tests, NULL, NULL);
}
