/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests finding position-independent files by their code. The file is this test program itself, and the
 * recorded blocks are code of the program.
 */
#include <link.h>
#include <stdbool.h>

#include "unit/support/hwt_reading.h"

#define BLOCK	32u
#define BLOCKS	12u
#define PROCESS UINT64_C(0x7f1234560000) /* address at which a process has loaded the file */
#define ANOTHER UINT64_C(0x7fee00001000)
#define KERNEL	UINT64_C(0xffffffff9a200000)

static struct hwt_packets_writer packets;

/* Begins a recording for this machine's architecture. */
static void begin(struct hwt_file_writer *writer)
{
	struct ktrx_proc_head *head;

	file_begin(writer);
	head = (struct ktrx_proc_head *)(void *)writer->bytes;
#ifdef __aarch64__
	head->machine = EM_AARCH64;
#else
	head->machine = EM_X86_64;
#endif
	head->check = ktrx_proc_check(head);
}

/* The recordings of this test state that the code of this function, and the code after it, was executed. */
__attribute__((noinline, used)) static unsigned long marked(unsigned long n)
{
	return n * n + 1;
}

static int take_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1; /* ends the iteration: the first loaded object is this program itself */
}

/* Returns the address of marked() before relocation, according to the file's headers. */
static uint64_t own_address(void)
{
	uint64_t base = 0;

	dl_iterate_phdr(take_base, &base);
	return (uint64_t)(uintptr_t)marked - base;
}

static void run_blocks(struct hwt_file_writer *writer, uint64_t base, unsigned blocks)
{
	for (unsigned n = 0; n < blocks; n++)
		file_code(writer, base + own_address() + n * BLOCK, 0,
			  (const unsigned char *)(uintptr_t)marked + n * BLOCK, BLOCK);
}

/*
 * Records that code which is not in the file was executed at the addresses of blocks `from` to `from` +
 * `blocks` - 1, if the file is loaded at `base`.
 */
static void run_others(struct hwt_file_writer *writer, uint64_t base, unsigned from, unsigned blocks)
{
	uint8_t other[BLOCK];

	for (unsigned n = from; n < from + blocks; n++) {
		memset(other, (int)n, sizeof(other));
		file_code(writer, base + own_address() + n * BLOCK, 0, other, sizeof(other));
	}
}

static struct reading finish(struct hwt_file_writer *writer)
{
	packets_begin(&packets);
	file_context(writer, 1, 0);
	file_data(writer, 1, 0, 0, packets.bytes, packets_end(&packets));
	return read_file(writer);
}

static void expect_marked(struct reading *reading, uint64_t stamp, uint64_t base)
{
	struct hwt_place place;

	assert_int_equal(hwt_images_place(reading->images, 0, stamp, base + own_address() + 2, 0, &place), 1);
	assert_non_null(place.path);
	assert_string_equal(place.symbol, "marked");
	assert_int_equal(place.into, 2);
	assert_int_equal(place.offset, own_address() + 2);
	assert_int_equal(place.symbol_address, base + own_address());
}

static void program_is_found_in_each_process(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;
	uint64_t address, size;

	(void)state;
	begin(&writer);
	run_blocks(&writer, PROCESS, BLOCKS);
	run_others(&writer, PROCESS + 0x100000000, 0, BLOCKS);
	run_blocks(&writer, ANOTHER, BLOCKS);
	reading = finish(&writer);
	assert_int_equal(hwt_images_add_elf(reading.images, "/proc/self/exe", 0, NULL), 0);
	assert_non_null(strstr(hwt_images_warning(reading.images, 0),
			       "/proc/self/exe: found by its code at 2 addresses, the lowest is 0x7f123456"));
	assert_null(hwt_images_idle(reading.images, 0));
	expect_marked(&reading, 0, PROCESS);
	expect_marked(&reading, 0, ANOTHER);
	assert_int_equal(hwt_images_find(reading.images, NULL, "marked", 0, &address, &size), 0);
	assert_int_equal(address, PROCESS + own_address());
	assert_int_equal(hwt_images_find(reading.images, "exe", "marked", 1, &address, &size), 0);
	assert_int_equal(address, ANOTHER + own_address());
	assert_true(hwt_images_find(reading.images, NULL, "marked", 2, &address, &size) < 0);
	assert_true(hwt_images_find(reading.images, HWT_KERNEL, "marked", 0, &address, &size) < 0);
	end(&reading);
}

/* Another program is loaded at this address later. Its code gets no names from the file. */
static void replaced_program_gives_no_names(void **state)
{
	struct hwt_file_writer writer;
	struct hwt_place place;
	struct reading reading;

	(void)state;
	begin(&writer);
	writer.stamp = 1000;
	run_blocks(&writer, PROCESS, BLOCKS);
	writer.stamp = 2000;
	run_others(&writer, PROCESS, 0, BLOCKS);
	writer.stamp = 3000;
	run_blocks(&writer, PROCESS, BLOCKS);
	reading = finish(&writer);
	assert_int_equal(hwt_images_add_elf(reading.images, "/proc/self/exe", 0, NULL), 0);
	expect_marked(&reading, 1500, PROCESS);
	expect_marked(&reading, 3500, PROCESS);
	expect_marked(&reading, 0, PROCESS);
	assert_int_equal(hwt_images_place(reading.images, 0, 2500, PROCESS + own_address() + 2, 0, &place),
			 1);
	assert_null(place.symbol);
	assert_null(place.image);
	assert_int_equal(place.from, 2000);
	assert_int_equal(place.until, 3000);
	end(&reading);
}

/* Different programs may have a few blocks in common, for example if they share a library. */
static void few_equal_blocks_do_not_identify_a_program(void **state)
{
	static const struct {
		unsigned same, others;
		bool found;
	} cases[] = { { 3, 0, false }, { 4, 0, true }, { 4, 4, true }, { 4, 6, false } };

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		struct hwt_file_writer writer;
		struct reading reading;

		begin(&writer);
		run_blocks(&writer, PROCESS, cases[n].same);
		run_others(&writer, PROCESS, cases[n].same, cases[n].others);
		reading = finish(&writer);
		assert_int_equal(hwt_images_add_elf(reading.images, "/proc/self/exe", 0, NULL), 0);
		assert_int_equal(hwt_images_idle(reading.images, 0) == NULL, cases[n].found);
		if (cases[n].found)
			expect_marked(&reading, 0, PROCESS);
		end(&reading);
	}
}

/*
 * A kernel is loaded at only one address. Its file is compared with the code that was recorded there, as for
 * a program.
 */
static void relocated_kernel_is_found_by_its_code(void **state)
{
	(void)state;
	for (unsigned others = 0; others < 2; others++) {
		struct hwt_file_writer writer;
		struct reading reading;

		begin(&writer);
		run_blocks(&writer, KERNEL, BLOCKS);
		run_others(&writer, KERNEL, BLOCKS, others * 4);
		reading = finish(&writer);
		assert_int_equal(hwt_images_add_elf(reading.images, "/proc/self/exe", 0, NULL) < 0, others);
		if (others) {
			assert_non_null(strstr(hwt_images_message(reading.images),
					       "is not the code that ran: 4 of 16 executed blocks differ"));
		} else {
			assert_non_null(strstr(hwt_images_warning(reading.images, 0),
					       "found by its code at 0xffffffff9a200000"));
			expect_marked(&reading, 0, KERNEL);
		}
		end(&reading);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(program_is_found_in_each_process),
		cmocka_unit_test(replaced_program_gives_no_names),
		cmocka_unit_test(few_equal_blocks_do_not_identify_a_program),
		cmocka_unit_test(relocated_kernel_is_found_by_its_code),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
