/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Decodes code that changes while it is traced. */
#include "unit/support/hwt_patched.h"

static void changed_code_is_decoded_as_it_was_then(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;

	(void)state;
	packets_begin(&packets);
	write_jump(1500, 0);
	write_straight(2500, 0);
	write_jump(3500, 0);
	begin_file(&writer, 7);
	file_code(&writer, PROGRAM_AT, 0, program, sizeof(program));
	writer.stamp = 2000;
	file_code(&writer, PROGRAM_JNE, 0, straight() + 5, 2);
	writer.stamp = 3000;
	file_code(&writer, PROGRAM_JNE, 0, program + 5, 2);
	reading = finish_file(&writer);
	check_jump(&reading);
	check_straight(&reading);
	check_jump(&reading);
	end(&reading);
}

/*
 * The bytes must be from the version of the code that was valid at that time. Bytes that exist only in
 * another version must not be used.
 */
static void bytes_come_from_the_version_at_that_time(void **state)
{
	static const uint8_t early[] = { 1, 2 }, late[] = { 3, 4, 5, 6, 7, 8 };
	struct hwt_file_writer writer;
	struct reading reading;
	uint8_t bytes[6];

	(void)state;
	packets_begin(&packets);
	write_jump(1500, 0);
	begin_file(&writer, 7);
	file_code(&writer, PROGRAM_AT, 0, program, sizeof(program));
	file_code(&writer, PROGRAM_AT + 0x104, 0, early, sizeof(early));
	writer.stamp = 3000;
	file_code(&writer, PROGRAM_AT + 0x100, 0, late, sizeof(late));
	reading = finish_file(&writer);
	assert_int_equal(hwt_images_read(reading.images, 7, 0, 2000, PROGRAM_AT + 0x100, bytes, 6), 6);
	assert_memory_equal(bytes, "\3\4\5\6\1\2", 6);
	assert_int_equal(hwt_images_read(reading.images, 7, 0, 3000, PROGRAM_AT + 0x100, bytes, 6), 6);
	assert_memory_equal(bytes, late, 6);
	check_jump(&reading);
	end(&reading);
}

#define CHANGES 200u

/*
 * The code changes so often that it is passed to libipt in several images. The images differ at the same
 * address.
 */
static void often_changed_code_is_decoded_as_it_was_then(void **state)
{
	static uint8_t other[64];
	struct hwt_file_writer writer;
	struct reading reading;

	(void)state;
	packets_begin(&packets);
	begin_file(&writer, 7);
	file_code(&writer, PROGRAM_AT, 0, program, sizeof(program));
	for (unsigned i = 1; i <= CHANGES; i++) {
		writer.stamp = 1000 * i;
		other[0] = (uint8_t)i;
		file_code(&writer, PROGRAM_AT + 0x1000 + 64 * (i / 2), 0, other, sizeof(other));
		if (i % 40 == 20)
			file_code(&writer, PROGRAM_JNE, 0, (i % 80 == 20 ? straight() : program) + 5, 2);
	}
	for (unsigned i = 1; i <= CHANGES; i++)
		(i % 80 >= 20 && i % 80 < 60 ? write_straight : write_jump)(1000 * i + 500, 0);
	reading = finish_file(&writer);
	for (unsigned i = 1; i <= CHANGES; i++)
		(i % 80 >= 20 && i % 80 < 60 ? check_straight : check_jump)(&reading);
	end(&reading);
}

/* A conditional branch at PROGRAM_AT, to a jump back. */
static const uint8_t loop[] = { 0x75, 0x02, 0x90, 0x90, 0xeb, 0xfa };

/* Writes packets: one iteration of the loop at time 1500, then the time 2500 for the steps after it. */
static void begin_loop(void)
{
	packets_begin(&packets);
	packets_sync(&packets, 1500, 0, 0);
	packet_address(&packets, ppt_tip_pge, PROGRAM_AT);
	packet_branches(&packets, "T");
	packet_tsc(&packets, 2500);
}

/* A loop has two branches and overwrites the first one while it runs. It makes no call. */
static void self_modifying_code_is_decoded_as_it_was_then(void **state)
{
	static const uint8_t nops[] = { 0x90, 0x90 };
	struct hwt_file_writer writer;
	struct reading reading;
	uint64_t stamp = 0;

	(void)state;
	begin_loop();
	packet_branches(&packets, "T");
	packet_address(&packets, ppt_fup, PROGRAM_AT + 2);
	packet_address(&packets, ppt_tip_pgd, 0);
	begin_file(&writer, 7);
	file_code(&writer, PROGRAM_AT, 0, loop, sizeof(loop));
	writer.stamp = 2000;
	file_code(&writer, PROGRAM_AT, 0, nops, sizeof(nops));
	reading = finish_file(&writer);
	next(&reading, HWT_ON);
	for (unsigned i = 0; i < 2; i++) {
		const struct hwt_step *step = next_run(&reading, PROGRAM_AT, PROGRAM_AT + 2,
						       HWT_BRANCH_CONDITIONAL, PROGRAM_AT + 4);

		assert_true(step->stamp >= stamp && step->stamp <= 2500);
		stamp = step->stamp;
		next_run(&reading, PROGRAM_AT + 4, PROGRAM_AT + 6, HWT_BRANCH_JUMP, PROGRAM_AT);
	}
	next_run(&reading, PROGRAM_AT, PROGRAM_AT + 2, HWT_BRANCH_NONE, PROGRAM_AT + 2);
	assert_int_equal(next(&reading, HWT_ASYNC)->stamp, 2500);
	next(&reading, HWT_OFF);
	end(&reading);
}

/*
 * A CPU sleeps after its last branch. The timestamp after the sleep belongs to the interrupt that ends the
 * sleep, not to the runs before the sleep.
 */
static void runs_before_interrupt_keep_their_earlier_time(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;

	(void)state;
	begin_loop();
	packet_address(&packets, ppt_fup, PROGRAM_AT);
	packet_address(&packets, ppt_tip, PROGRAM_AT);
	packet_branches(&packets, "T");
	packet_address(&packets, ppt_fup, PROGRAM_AT);
	packet_address(&packets, ppt_tip_pgd, 0);
	begin_file(&writer, 7);
	file_code(&writer, PROGRAM_AT, 0, loop, sizeof(loop));
	reading = finish_file(&writer);
	next(&reading, HWT_ON);
	for (uint64_t stamp = 1500; stamp <= 2500; stamp += 1000) {
		assert_int_equal(next(&reading, HWT_RUN)->stamp, stamp);
		assert_int_equal(
			next_run(&reading, PROGRAM_AT + 4, PROGRAM_AT + 6, HWT_BRANCH_JUMP, PROGRAM_AT)
				->stamp,
			stamp);
		assert_int_equal(next(&reading, HWT_ASYNC)->stamp, 2500);
	}
	next(&reading, HWT_OFF);
	end(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changed_code_is_decoded_as_it_was_then),
		cmocka_unit_test(bytes_come_from_the_version_at_that_time),
		cmocka_unit_test(often_changed_code_is_decoded_as_it_was_then),
		cmocka_unit_test(self_modifying_code_is_decoded_as_it_was_then),
		cmocka_unit_test(runs_before_interrupt_keep_their_earlier_time),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
