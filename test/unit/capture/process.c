/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests reading a guest's RAM from the memory of a process. The test uses its own process. Pages that were
 * never used are skipped, and missing memory is an error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/error.h"
#include "capture/memory.h"

#define PAGE ((size_t)4096)
#define LOW  (16 * PAGE)
#define HIGH (UINT64_C(1) << 32)
#define SIZE (1024 * PAGE)

static unsigned char *ram;

static int set_up(void **state)
{
	(void)state;
	ram = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(ram != MAP_FAILED);
	return madvise(ram, SIZE, MADV_NOHUGEPAGE);
}

static int tear_down(void **state)
{
	(void)state;
	return munmap(ram, SIZE);
}

/*
 * Opens two ranges of guest memory with a hole between them. In the process, the second range has the lower
 * address.
 */
static struct ktread_memory *open_ram(void)
{
	uint64_t at = (uintptr_t)ram;
	const struct capture_map map = { { { 0, LOW, at + SIZE - LOW }, { HIGH, SIZE - LOW, at } }, 2 };
	struct ktread_memory *memory;

	assert_int_equal(capture_process_open(&memory, getpid(), &map), 0);
	return memory;
}

static void ranges_are_read(void **state)
{
	struct ktread_memory *memory = open_ram();
	char text[8];

	(void)state;
	memcpy(ram + SIZE - LOW + 100, "low", 4);
	memcpy(ram + 3 * PAGE - 2, "across", 7);
	assert_int_equal(ktread_memory_read(memory, 100, text, 4), 0);
	assert_string_equal(text, "low");
	assert_int_equal(ktread_memory_read(memory, HIGH + 3 * PAGE - 2, text, 7), 0);
	assert_string_equal(text, "across");
	assert_true(ktread_memory_read(memory, LOW - 2, text, 4) < 0);
	assert_true(ktread_memory_read(memory, HIGH - 2, text, 4) < 0);
	ktread_memory_close(memory);
}

static void untouched_pages_are_skipped(void **state)
{
	struct ktread_memory *memory = open_ram();

	(void)state;
	assert_true(ktread_memory_next_data(memory, 0) == UINT64_MAX);
	ram[700 * PAGE] = 1;
	ram[SIZE - LOW + 5 * PAGE] = 1;
	assert_true(ktread_memory_next_data(memory, 0) == 5 * PAGE);
	assert_true(ktread_memory_next_data(memory, 5 * PAGE + 7) == 5 * PAGE + 7);
	assert_true(ktread_memory_next_data(memory, 6 * PAGE) == HIGH + 700 * PAGE);
	assert_true(ktread_memory_next_data(memory, HIGH + 701 * PAGE) == UINT64_MAX);
	ktread_memory_close(memory);
}

/* QEMU may end at any moment, and the addresses that it reported may be wrong. */
static void missing_memory_is_an_error(void **state)
{
	struct ktread_memory *memory = open_ram();
	char text[8];

	(void)state;
	assert_int_equal(munmap(ram, PAGE), 0);
	assert_true(ktread_memory_read(memory, HIGH, text, sizeof(text)) < 0);
	assert_non_null(strstr(capture_message(), "memory of process"));
	ktread_memory_close(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ranges_are_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(untouched_pages_are_skipped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(missing_memory_is_an_error, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("capture_process", tests, NULL, NULL);
}
