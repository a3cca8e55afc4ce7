/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Decodes Intel PT packets, made with libipt's encoder, from a file of hardware trace. */
#include "unit/support/hwt_reading.h"

static struct hwt_packets_writer packets;

/*
 * Writes packets of two iterations of the program, one with and one without the NOPs. Then an interrupt
 * occurs whose handler is not traced.
 */
static void write_flow(uint64_t time)
{
	packets_begin(&packets);
	packets_sync(&packets, time, 0, 0);
	packet_address(&packets, ppt_tip_pge, PROGRAM_AT);
	packet_address(&packets, ppt_tip, PROGRAM_JNE);
	packet_branches(&packets, "T");
	packet_address(&packets, ppt_tip, PROGRAM_JNE);
	packet_branches(&packets, "N");
	packet_address(&packets, ppt_fup, PROGRAM_JMP);
	packet_address(&packets, ppt_tip_pgd, 0);
}

static void check_flow(struct reading *reading)
{
	const struct hwt_step *step = next(reading, HWT_ON);

	assert_int_equal(step->address, PROGRAM_AT);
	step = next_run(reading, PROGRAM_AT, PROGRAM_JNE, HWT_BRANCH_CALL, PROGRAM_LEAF);
	assert_int_equal(step->instructions, 1);
	assert_int_equal(step->bits, 64);
	assert_int_equal(step->pid, 7);
	step = next_run(reading, PROGRAM_LEAF, PROGRAM_LEAF + 3, HWT_BRANCH_RETURN, PROGRAM_JNE);
	assert_int_equal(step->instructions, 2);
	assert_int_equal(step->last, PROGRAM_LEAF + 2);
	step = next_run(reading, PROGRAM_JNE, PROGRAM_NOPS, HWT_BRANCH_CONDITIONAL, PROGRAM_JMP);
	assert_int_equal(step->taken, 1);
	assert_int_equal(step->pid, 7);
	next_run(reading, PROGRAM_JMP, PROGRAM_JMP + 2, HWT_BRANCH_JUMP, PROGRAM_AT);
	next_run(reading, PROGRAM_AT, PROGRAM_JNE, HWT_BRANCH_CALL, PROGRAM_LEAF);
	next_run(reading, PROGRAM_LEAF, PROGRAM_LEAF + 3, HWT_BRANCH_RETURN, PROGRAM_JNE);
	step = next_run(reading, PROGRAM_JNE, PROGRAM_NOPS, HWT_BRANCH_CONDITIONAL, PROGRAM_NOPS);
	assert_int_equal(step->taken, 0);
	step = next_run(reading, PROGRAM_NOPS, PROGRAM_JMP, HWT_BRANCH_NONE, PROGRAM_JMP);
	assert_int_equal(step->instructions, 2);
	step = next(reading, HWT_ASYNC);
	assert_int_equal(step->address, PROGRAM_JMP);
	assert_int_equal(step->has_to, 0);
	step = next(reading, HWT_OFF);
	assert_int_equal(step->has_address, 0);
}

static void begin_file(struct hwt_file_writer *writer)
{
	file_begin(writer);
	writer->pid = 7;
	file_context(writer, 1, 7);
}

static void put_flow(struct hwt_file_writer *writer, uint64_t time, uint64_t position)
{
	write_flow(time);
	file_data(writer, 1, 0, position, packets.bytes, packets_end(&packets));
}

static void recorded_code_is_decoded(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;

	(void)state;
	begin_file(&writer);
	file_code(&writer, PROGRAM_AT, 0, program, sizeof(program));
	put_flow(&writer, 0, 0);
	reading = read_file(&writer);
	assert_int_equal(hwt_file_streams(reading.file), 1);
	open_stream(&reading, 0);
	check_flow(&reading);
	end(&reading);
}

static void recorded_file_is_decoded_and_gives_names(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;
	struct hwt_place place;
	uint64_t address, size;
	char path[64];

	(void)state;
	program_write(path, program);
	begin_file(&writer);
	file_image(&writer, KTRX_HWT_EXECUTABLE, 0, 0, 0, path);
	put_flow(&writer, 0, 0);
	reading = read_file(&writer);
	assert_null(hwt_images_warning(reading.images, 0));
	open_stream(&reading, 0);
	check_flow(&reading);
	assert_int_equal(hwt_images_place(reading.images, 7, 0, PROGRAM_LEAF + 2, 0, &place), 1);
	assert_string_equal(place.image, path + 5);
	assert_string_equal(place.symbol, "leaf");
	assert_int_equal(place.into, 2);
	assert_int_equal(hwt_images_find(reading.images, path + 5, "leaf", 0, &address, &size), 0);
	assert_int_equal(address, PROGRAM_LEAF);
	assert_int_equal(size, 3);
	assert_true(hwt_images_find(reading.images, path + 5, "stem", 0, &address, &size) != 0);
	end(&reading);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_code_is_decoded),
		cmocka_unit_test(recorded_file_is_decoded_and_gives_names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
