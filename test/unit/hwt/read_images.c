/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests finding the executed code, with several programs, several address spaces, and missing or wrong
 * images.
 */
#include "unit/support/hwt_patched.h"

#define SPACE_A UINT64_C(0x1000)
#define SPACE_B UINT64_C(0x2000)
#define SPACE_C UINT64_C(0x3000)

static void new_program_is_used_from_its_exec(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;
	struct hwt_place place;
	char before[64], after[64];

	(void)state;
	program_write(before, program);
	program_write(after, straight());
	packets_begin(&packets);
	write_jump(1500, 0);
	write_straight(2500, 0);
	begin_file(&writer, 7);
	file_image(&writer, KTRX_HWT_EXECUTABLE, 0, 0, 0, before);
	writer.pid = 8;
	file_image(&writer, KTRX_HWT_EXECUTABLE, 0, 0, 0, after);
	writer.pid = 7;
	writer.stamp = 2000;
	file_image(&writer, KTRX_HWT_EXECUTABLE, 0, 0, 0, after);
	reading = finish_file(&writer);
	check_jump(&reading);
	check_straight(&reading);
	assert_int_equal(hwt_images_place(reading.images, 7, 1500, PROGRAM_AT, 0, &place), 1);
	assert_string_equal(place.path, before);
	assert_true(place.from <= 1500);
	assert_int_equal(place.until, 2000);
	assert_int_equal(hwt_images_place(reading.images, 7, 0, PROGRAM_AT, 0, &place), 1);
	assert_string_equal(place.path, after);
	end(&reading);
	unlink(before);
	unlink(after);
}

/* A library is mapped and unmapped. Another library is mapped at the same address. */
static void mapped_file_is_used_until_unmapped(void **state)
{
	const uint64_t code_at = 64 + 56; /* offset of the code in the file: the size of the headers */
	struct hwt_file_writer writer;
	struct reading reading;
	struct hwt_place place;
	char before[64], after[64];

	(void)state;
	program_write(before, program);
	program_write(after, straight());
	packets_begin(&packets);
	write_jump(1500, 0);
	write_jump(2500, 0);
	write_straight(3500, 0);
	begin_file(&writer, 7);
	file_image(&writer, KTRX_HWT_MMAP, PROGRAM_AT, PROGRAM_SIZE, code_at, before);
	writer.stamp = 2000;
	file_image(&writer, KTRX_HWT_MUNMAP, PROGRAM_AT - 16, PROGRAM_SIZE + 32, 0, "");
	writer.stamp = 3000;
	file_image(&writer, KTRX_HWT_MMAP, PROGRAM_AT, 4096, code_at, after);
	reading = finish_file(&writer);
	check_jump(&reading);
	next(&reading, HWT_ON);
	next_gap(&reading, "no image");
	check_straight(&reading);
	assert_int_equal(hwt_images_place(reading.images, 7, 2500, PROGRAM_LEAF, 0, &place), 0);
	assert_int_equal(place.from, 2000);
	assert_int_equal(place.until, 3000);
	assert_int_equal(hwt_images_place(reading.images, 7, 3500, PROGRAM_LEAF, 0, &place), 1);
	assert_string_equal(place.symbol, "leaf");
	assert_string_equal(place.path, after);
	end(&reading);
	unlink(before);
	unlink(after);
}

/*
 * A kernel patches itself. Where bytes of code were recorded, they are used. The kernel's file supplies all
 * other bytes, even those between recorded bytes.
 */
static void file_supplies_only_bytes_not_recorded(void **state)
{
	const uint64_t patched = PROGRAM_JNE - PROGRAM_AT;
	struct hwt_file_writer writer;
	struct reading reading;
	uint8_t bytes[PROGRAM_SIZE];
	char path[64];

	(void)state;
	program_write(path, program);
	packets_begin(&packets);
	write_straight(1500, 0);
	begin_file(&writer, 7);
	file_code(&writer, PROGRAM_AT, 0, program, 1);
	file_code(&writer, PROGRAM_JNE, 0, straight() + patched, 3);
	reading = finish_file(&writer);
	assert_int_equal(hwt_images_add_elf(reading.images, path, 0, NULL), 0);
	assert_int_equal(hwt_images_read(reading.images, 7, 0, 0, PROGRAM_AT, bytes, sizeof(bytes)),
			 sizeof(bytes));
	assert_memory_equal(bytes, straight(), sizeof(bytes));
	hwt_decoder_close(reading.decoder);
	open_stream(&reading, 0);
	check_straight(&reading);
	end(&reading);
	unlink(path);
}

static void size_of_unknown_code_is_reported(void **state)
{
	const uint64_t before = PROGRAM_AT - 0x800;
	struct hwt_file_writer writer;
	struct reading reading;
	char path[64];

	(void)state;
	program_write(path, program);
	packets_begin(&packets);
	write_jump(1500, 0);
	begin_file(&writer, 7);
	file_image(&writer, KTRX_HWT_EXECUTABLE, 0, 0, 0, path);
	file_code(&writer, before + 0x105, SPACE_B, program, 3);
	reading = finish_file(&writer);
	assert_int_equal(hwt_images_unknown(reading.images, 7, SPACE_A, 0, before, 0x1000), 0x105);
	assert_int_equal(hwt_images_unknown(reading.images, 7, SPACE_A, 0, before + 0x105, 0x1000), 0);
	assert_int_equal(hwt_images_unknown(reading.images, 7, SPACE_A, 0, before + 0x108, 0x1000), 0x6f8);
	assert_int_equal(hwt_images_unknown(reading.images, 7, SPACE_A, 0, before + 0x108, 0x10), 0x10);
	assert_int_equal(hwt_images_unknown(reading.images, 7, SPACE_A, 0, PROGRAM_AT, 0x1000), 0);
	check_jump(&reading);
	end(&reading);
	unlink(path);
}

static void address_spaces_have_their_own_code(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;

	(void)state;
	packets_begin(&packets);
	write_jump(1500, SPACE_A);
	write_straight(2500, SPACE_B);
	write_jump(3500, SPACE_A);
	begin_file(&writer, 0);
	file_code(&writer, PROGRAM_AT, SPACE_A, program, sizeof(program));
	/* PIP packets do not contain the lower bits of CR3, so these bits are ignored. */
	file_code(&writer, PROGRAM_AT, SPACE_B | 3, straight(), sizeof(program));
	reading = finish_file(&writer);
	assert_int_equal(next(&reading, HWT_SPACE)->space, SPACE_A);
	check_jump(&reading);
	assert_int_equal(next(&reading, HWT_SPACE)->space, SPACE_B);
	check_straight(&reading);
	assert_int_equal(next(&reading, HWT_SPACE)->space, SPACE_A);
	check_jump(&reading);
	end(&reading);
}

/*
 * If several address spaces share code, older versions of the unit record the code only for one of these
 * spaces.
 */
static void code_of_another_space_is_used_only_if_unambiguous(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;

	(void)state;
	for (unsigned others = 1; others <= 2; others++) {
		packets_begin(&packets);
		write_jump(1500, SPACE_C);
		begin_file(&writer, 0);
		file_code(&writer, PROGRAM_AT, SPACE_A, program, sizeof(program));
		if (others == 2)
			file_code(&writer, PROGRAM_AT, SPACE_B, straight(), sizeof(program));
		reading = finish_file(&writer);
		next(&reading, HWT_SPACE);
		if (others == 1) {
			check_jump(&reading);
		} else {
			next(&reading, HWT_ON);
			next_gap(&reading, "no image of the code at 0x401005");
		}
		end(&reading);
	}
}

/*
 * Checks that a gap's text states how many bytes were skipped: `lost`, or fewer by the packet that libipt 2.1
 * reads ahead.
 */
static void check_skipped(const char *text, size_t lost)
{
	const char *at = strchr(text, ';');
	size_t skipped;

	assert_non_null(at);
	assert_int_equal(sscanf(at, "; %zu bytes skipped", &skipped), 1);
	assert_in_range(skipped, lost - 2, lost);
}

static void missing_image_is_a_gap_up_to_the_next_psb(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;
	const struct hwt_step *step;
	char path[64];
	size_t on, lost;

	(void)state;
	packets_begin(&packets);
	packets_sync(&packets, 1500, 0, 0);
	packet_address(&packets, ppt_tip_pge, PROGRAM_JNE);
	on = packets_end(&packets);
	packets_begin(&packets);
	write_jump(1500, 0);
	lost = packets_size(&packets) - on;
	write_jump(2500, 0);
	begin_file(&writer, 7);
	file_image(&writer, KTRX_HWT_EXECUTABLE, 0, 0, 0, "/nowhere/prog");
	reading = finish_file(&writer);
	assert_non_null(hwt_images_warning(reading.images, 0));
	assert_non_null(strstr(hwt_images_warning(reading.images, 0), "/nowhere/prog"));
	next(&reading, HWT_ON);
	step = next_gap(&reading, "no image of the code at 0x401005");
	assert_int_equal(step->gap, HWT_GAP_CODE);
	assert_int_equal(step->stamp, 1500);
	check_skipped(step->text, lost);
	assert_non_null(strstr(step->text, "up to the next PSB"));
	next(&reading, HWT_ON);
	check_skipped(next_gap(&reading, "up to the end")->text, lost);
	/* If the user names the program's file, its code is used. */
	program_write(path, program);
	assert_int_equal(hwt_images_add_elf(reading.images, path, 7, NULL), 0);
	hwt_decoder_close(reading.decoder);
	open_stream(&reading, 0);
	check_jump(&reading);
	check_jump(&reading);
	end(&reading);
	unlink(path);
}

/*
 * The file of a program does not count as the kernel's file. A file that the user adds counts as the kernel's
 * file if the recording contains kernel code and names no kernel.
 */
static void only_a_recorded_kernel_image_is_the_kernel(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;
	uint64_t address, size;
	char path[64];

	(void)state;
	program_write(path, program);
	for (unsigned kernel = 0; kernel < 3; kernel++) {
		packets_begin(&packets);
		begin_file(&writer, 7);
		if (kernel == 1)
			file_image(&writer, KTRX_HWT_KERNEL, 0, 0, 0, path);
		else
			file_image(&writer, KTRX_HWT_EXECUTABLE, 0, 0, 0, path);
		reading = finish_file(&writer);
		if (kernel == 2)
			assert_int_equal(hwt_images_add_elf(reading.images, path, 0, NULL), 0);
		assert_int_equal(hwt_images_find(reading.images, NULL, "leaf", 0, &address, &size), 0);
		assert_int_equal(hwt_images_find(reading.images, HWT_KERNEL, "leaf", 0, &address, &size) == 0,
				 kernel == 1);
		end(&reading);
	}
	unlink(path);
}

/*
 * Files are compared with the recorded code: a file in which one of three blocks is patched, and a file of
 * another program.
 */
static void file_that_differs_from_executed_code_is_refused(void **state)
{
	const uint64_t elsewhere = 0x10000;
	struct hwt_file_writer writer;
	struct reading reading;
	uint8_t other[PROGRAM_SIZE];
	char path[64], wrong[64];

	(void)state;
	memset(other, 0xcc, sizeof(other));
	program_write(path, straight());
	program_write(wrong, other);
	packets_begin(&packets);
	write_jump(1500, 0);
	begin_file(&writer, 7);
	file_code(&writer, PROGRAM_AT, 0, program, 5);
	file_code(&writer, PROGRAM_JNE, 0, program + 5, 2);
	file_code(&writer, PROGRAM_JMP, 0, program + 9, PROGRAM_SIZE - 9);
	reading = finish_file(&writer);
	assert_int_equal(hwt_images_add_elf(reading.images, path, 0, NULL), 0);
	assert_non_null(strstr(hwt_images_warning(reading.images, 0),
			       "1 of 3 executed blocks differ, first at 0x401005"));
	assert_null(hwt_images_idle(reading.images, 0));
	assert_true(hwt_images_add_elf(reading.images, wrong, 0, NULL) < 0);
	assert_non_null(strstr(hwt_images_message(reading.images),
			       "is not the code that ran: 3 of 3 executed blocks differ, first at 0x401000"));
	/*
	 * `elsewhere` is an address range for which no code was recorded, so the file is accepted without a
	 * comparison.
	 */
	assert_int_equal(hwt_images_add_elf(reading.images, wrong, 0, &elsewhere), 0);
	assert_null(hwt_images_warning(reading.images, 1));
	assert_string_equal(hwt_images_idle(reading.images, 0), wrong);
	check_jump(&reading);
	end(&reading);
	unlink(path);
	unlink(wrong);
}

/* Moved code is distinguished from patched code, even if the moved code is only a small part of the file. */
static void file_with_moved_code_is_refused(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;
	uint8_t moved[PROGRAM_SIZE], patched[PROGRAM_SIZE];
	char path[64];

	(void)state;
	program_write(path, program);
	memcpy(patched, program, sizeof(patched));
	patched[1] ^= 0xff;
	memmove(moved, program + 1, sizeof(moved) - 1);
	moved[PROGRAM_SIZE - 1] = 0x90;
	for (unsigned other = 0; other < 2; other++) {
		packets_begin(&packets);
		begin_file(&writer, 7);
		for (unsigned n = 0; n < 9; n++)
			file_code(&writer, PROGRAM_LEAF, 0, program + 16, 3);
		file_code(&writer, PROGRAM_AT, 0, other ? moved : patched, 11);
		reading = finish_file(&writer);
		assert_int_equal(hwt_images_add_elf(reading.images, path, 0, NULL) < 0, other);
		if (!other)
			assert_non_null(strstr(hwt_images_warning(reading.images, 0),
					       "1 of 10 executed blocks differ"));
		end(&reading);
	}
	unlink(path);
}

/* Several programs ran at the same addresses. The file is the file of one of these programs. */
static void file_may_match_only_one_address_space(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;
	uint8_t other[PROGRAM_SIZE];
	char path[64];

	(void)state;
	memset(other, 0x90, sizeof(other));
	program_write(path, program);
	packets_begin(&packets);
	begin_file(&writer, 0);
	file_code(&writer, PROGRAM_AT, SPACE_A, other, 5);
	file_code(&writer, PROGRAM_LEAF, SPACE_A, other, 3);
	file_code(&writer, PROGRAM_AT, SPACE_B, program, 5);
	reading = finish_file(&writer);
	assert_int_equal(hwt_images_add_elf(reading.images, path, 0, NULL), 0);
	assert_null(hwt_images_warning(reading.images, 0));
	end(&reading);
	unlink(path);
}

/* Machine code: a NOP and an indirect jump. */
static const uint8_t hub[] = { 0x90, 0xff, 0xe0 };
#define HUB	(PROGRAM_AT + 0x2000)
#define NOWHERE (PROGRAM_AT + 0x800000)

static void decoding_resumes_at_the_next_known_address(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;

	(void)state;
	packets_begin(&packets);
	packets_sync(&packets, 1500, 0, 0);
	for (unsigned i = 0; i < 2; i++) {
		packet_address(&packets, i ? ppt_tip : ppt_tip_pge, HUB);
		packet_address(&packets, ppt_tip, NOWHERE);
		packet_branches(&packets, "TNT");
		packet_address(&packets, ppt_tip, NOWHERE + 0x100);
		packet_tsc(&packets, 2500 + i);
		packet_branches(&packets, "N");
	}
	packet_address(&packets, ppt_tip, HUB);
	packet_address(&packets, ppt_tip, NOWHERE);
	packet_address(&packets, ppt_tip_pgd, 0);
	write_jump(3500, 0);
	begin_file(&writer, 7);
	file_code(&writer, PROGRAM_AT, 0, program, sizeof(program));
	file_code(&writer, HUB, 0, hub, sizeof(hub));
	reading = finish_file(&writer);
	for (unsigned i = 0; i < 3; i++) {
		const struct hwt_step *step = next(&reading, HWT_ON);

		assert_int_equal(step->address, HUB);
		step = next_run(&reading, HUB, HUB + sizeof(hub), HWT_BRANCH_INDIRECT, 0);
		assert_int_equal(step->stamp, i ? 2499 + i : 1500);
		step = next_gap(&reading, "no image of the code at 0xc01000");
		assert_int_equal(step->gap, HWT_GAP_CODE);
		assert_non_null(strstr(step->text, "up to the next address"));
	}
	check_jump(&reading);
	end(&reading);
}

static void wrong_image_gives_gaps(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;
	const struct hwt_step *step;
	unsigned gaps = 0;

	(void)state;
	packets_begin(&packets);
	for (uint64_t time = 1500; time < 9500; time += 1000)
		write_straight(time, 0);
	begin_file(&writer, 7);
	file_code(&writer, PROGRAM_AT, 0, program, sizeof(program));
	reading = finish_file(&writer);
	while (hwt_decoder_next(reading.decoder, &step) > 0)
		gaps += step->kind == HWT_GAP && step->gap == HWT_GAP_DAMAGED;
	assert_true(gaps > 0);
	end(&reading);
}

static void file_that_is_not_elf_is_refused(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;

	(void)state;
	packets_begin(&packets);
	begin_file(&writer, 7);
	reading = finish_file(&writer);
	assert_true(hwt_images_add_elf(reading.images, "/nowhere/prog", 0, NULL) < 0);
	assert_non_null(strstr(hwt_images_message(reading.images), "/nowhere/prog"));
	assert_true(hwt_images_add_elf(reading.images, reading.path, 0, NULL) < 0);
	assert_non_null(strstr(hwt_images_message(reading.images), "not an ELF file"));
	assert_true(hwt_images_add_elf(reading.images, "/dev/null", 0, NULL) < 0);
	assert_true(hwt_images_add_snapshot(reading.images, "/nowhere/ram") < 0);
	assert_int_equal(hwt_file_streams(reading.file), 1);
	end(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_program_is_used_from_its_exec),
		cmocka_unit_test(mapped_file_is_used_until_unmapped),
		cmocka_unit_test(file_supplies_only_bytes_not_recorded),
		cmocka_unit_test(size_of_unknown_code_is_reported),
		cmocka_unit_test(address_spaces_have_their_own_code),
		cmocka_unit_test(code_of_another_space_is_used_only_if_unambiguous),
		cmocka_unit_test(missing_image_is_a_gap_up_to_the_next_psb),
		cmocka_unit_test(decoding_resumes_at_the_next_known_address),
		cmocka_unit_test(wrong_image_gives_gaps),
		cmocka_unit_test(only_a_recorded_kernel_image_is_the_kernel),
		cmocka_unit_test(file_that_differs_from_executed_code_is_refused),
		cmocka_unit_test(file_with_moved_code_is_refused),
		cmocka_unit_test(file_may_match_only_one_address_space),
		cmocka_unit_test(file_that_is_not_elf_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
