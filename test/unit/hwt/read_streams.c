/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests incomplete streams. Parts that are lost, damaged, overwritten, or would be decoded without end are
 * reported, and the parts after them are decoded.
 */
#include "hwt/spe.h"
#include "unit/support/hwt_reading.h"
#include "ktrx/hwt_unit.h"

static struct hwt_packets_writer packets;

#define RING 65536u

/* Writes packets: tracing begins at the conditional jump, which is taken, and ends before main is called. */
static void write_jump(uint64_t time)
{
	packets_sync(&packets, time, 0, 0);
	packet_address(&packets, ppt_tip_pge, PROGRAM_JNE);
	packet_branches(&packets, "T");
	packet_address(&packets, ppt_fup, PROGRAM_AT);
	packet_address(&packets, ppt_tip_pgd, 0);
}

static void check_jump(struct reading *reading, uint64_t stamp)
{
	assert_int_equal(next(reading, HWT_ON)->stamp, stamp);
	next_run(reading, PROGRAM_JNE, PROGRAM_NOPS, HWT_BRANCH_CONDITIONAL, PROGRAM_JMP);
	next_run(reading, PROGRAM_JMP, PROGRAM_JMP + 2, HWT_BRANCH_JUMP, PROGRAM_AT);
	next(reading, HWT_ASYNC);
	next(reading, HWT_OFF);
}

static void begin_file(struct hwt_file_writer *writer)
{
	file_begin(writer);
	writer->pid = 7;
	file_context(writer, 1, 7);
	file_code(writer, PROGRAM_AT, 0, program, sizeof(program));
}

static void decoding_resumes_at_the_next_psb_after_damage(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;
	const struct hwt_step *step;
	size_t before, damage, size;

	(void)state;
	packets_begin(&packets);
	for (unsigned i = 0; i < 5; i++)
		packet_plain(&packets, ppt_pad);
	before = packets_size(&packets);
	write_jump(1500);
	damage = packets_size(&packets);
	packets_sync(&packets, 2500, 0, 0);
	packet_address(&packets, ppt_tip_pge, PROGRAM_JNE);
	packet_branches(&packets, "T");
	packet_plain(&packets, ppt_pad);
	packet_plain(&packets, ppt_pad);
	packet_branches(&packets, "T");
	size = packets_size(&packets);
	write_jump(3500);
	packets.bytes[size - 3] = packets.bytes[size - 2] = 0xff;
	begin_file(&writer);
	file_clock(&writer, 500, 500, 1000000000);
	file_data(&writer, 1, 0, 100, packets.bytes, packets_end(&packets));
	reading = read_file(&writer);
	assert_int_equal(hwt_file_stream(reading.file, 0)->missing, 100);
	open_stream(&reading, 0);
	assert_int_equal(next_gap(&reading, "100 bytes are missing")->gap, HWT_GAP_MISSING);
	assert_int_equal(next_gap(&reading, "5 bytes before the first PSB")->offset, 100);
	check_jump(&reading, 1500);
	next(&reading, HWT_ON);
	assert_int_equal(next(&reading, HWT_RUN)->address, PROGRAM_JNE);
	step = next_gap(&reading, "after 0x401005");
	assert_true(step->gap == HWT_GAP_DAMAGED && step->offset > 100 + damage);
	check_jump(&reading, 3500);
	/*
	 * Seeks to an offset in the damaged part, then to an offset before the first synchronization point.
	 */
	assert_int_equal(hwt_decoder_seek(reading.decoder, 100 + damage + 30), 1);
	assert_int_equal(next(&reading, HWT_ON)->stamp, 2500);
	assert_int_equal(hwt_decoder_seek(reading.decoder, 100 + before - 1), 0);
	next_gap(&reading, "5 bytes before");
	check_jump(&reading, 1500);
	hwt_decoder_seek(reading.decoder, UINT64_MAX);
	check_jump(&reading, 3500);
	end(&reading);
}

static void adjacent_pieces_are_joined_and_others_are_separated_by_gaps(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;
	size_t half, size;

	(void)state;
	packets_begin(&packets);
	write_jump(1500);
	half = packets_size(&packets);
	write_jump(2500);
	size = packets_end(&packets);
	begin_file(&writer);
	file_data(&writer, 1, 0, 0, packets.bytes, 20);
	file_context(&writer, 1, 7); /* a second record of the same context */
	file_data(&writer, 1, 0, 20, packets.bytes + 20, half - 20);
	file_data(&writer, 1, 0, half, NULL, 0);
	file_data(&writer, 1, 0, half + 50, packets.bytes + half, size - half);
	file_data(&writer, 1, 1, 0, packets.bytes, half);
	reading = read_file(&writer);
	assert_int_equal(hwt_file_streams(reading.file), 2);
	assert_int_equal(hwt_file_pieces(reading.file, 0), 2);
	assert_int_equal(hwt_file_piece(reading.file, 0, 0)->size, half);
	assert_int_equal(hwt_file_stream(reading.file, 0)->missing, 50);
	open_stream(&reading, 0);
	check_jump(&reading, 1500);
	assert_int_equal(next_gap(&reading, "50 bytes are missing")->offset, half);
	check_jump(&reading, 2500);
	hwt_decoder_close(reading.decoder);
	open_stream(&reading, 1);
	check_jump(&reading, 1500);
	end(&reading);
}

/*
 * The file ends within a record. If this is a record of packets, its available part is used. Other incomplete
 * records are not used.
 */
static void cut_record_gives_its_remaining_packets(void **state)
{
	const char path[] = "/nowhere/prog";
	struct hwt_file_writer writer;
	struct reading reading;
	size_t first, size;

	(void)state;
	packets_begin(&packets);
	write_jump(1500);
	first = packets_size(&packets);
	write_jump(2500);
	size = packets_end(&packets);
	begin_file(&writer);
	file_data(&writer, 1, 0, 0, packets.bytes, size);
	writer.size -= (size - first + 7) / 8 * 8;
	reading = read_file(&writer);
	assert_int_equal(hwt_file_stream(reading.file, 0)->bytes / 8, first / 8);
	assert_int_equal(hwt_file_damaged(reading.file), 1);
	assert_non_null(strstr(hwt_file_warning(reading.file, 0), "cut short: "));
	assert_null(hwt_file_warning(reading.file, 1));
	open_stream(&reading, 0);
	assert_int_equal(next(&reading, HWT_ON)->stamp, 1500);
	hwt_decoder_close(reading.decoder);
	reading.decoder = NULL;
	end(&reading);
	begin_file(&writer);
	file_image(&writer, KTRX_HWT_EXECUTABLE, 0, 0, 0, path);
	writer.size -= 8;
	reading = read_file(&writer);
	assert_int_equal(hwt_file_damaged(reading.file), 1);
	assert_null(hwt_images_warning(reading.images, 0));
	end(&reading);
}

/* A CPU writes no packet for an instruction that jumps to itself, so decoding it would never end. */
static void endless_loop_without_packets_is_damage(void **state)
{
	static const uint8_t round[] = { 0xeb, 0xfe };
	struct hwt_file_writer writer;
	struct reading reading;
	const struct hwt_step *step;

	(void)state;
	packets_begin(&packets);
	packets_sync(&packets, 0, 0, 0);
	packet_address(&packets, ppt_tip_pge, 0x500000);
	packet_branches(&packets, "TTT");
	write_jump(2500);
	begin_file(&writer);
	file_code(&writer, 0x500000, 0, round, sizeof(round));
	file_data(&writer, 1, 0, 0, packets.bytes, packets_end(&packets));
	reading = read_file(&writer);
	open_stream(&reading, 0);
	next(&reading, HWT_ON);
	do
		assert_int_equal(hwt_decoder_next(reading.decoder, &step), 1);
	while (step->kind == HWT_RUN);
	assert_int_equal(step->kind, HWT_GAP);
	assert_int_equal(step->gap, HWT_GAP_DAMAGED);
	check_jump(&reading, 2500);
	end(&reading);
}

static void unit_times_are_converted_to_stamps(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;

	(void)state;
	packets_begin(&packets);
	write_jump(500);
	write_jump(1500);
	write_jump(3000);
	begin_file(&writer);
	file_clock(&writer, 1000, 10000, 1000000000);
	file_clock(&writer, 2000, 30000, 500000000);
	file_data(&writer, 1, 0, 0, packets.bytes, packets_end(&packets));
	reading = read_file(&writer);
	open_stream(&reading, 0);
	check_jump(&reading, 9500);
	check_jump(&reading, 20000);
	check_jump(&reading, 32000);
	end(&reading);
}

static void space_overflow_and_stop_are_reported(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;

	(void)state;
	packets_begin(&packets);
	packets_sync(&packets, 0, 0, 0);
	packet_pip(&packets, 0x5000);
	packet_address(&packets, ppt_tip_pge, PROGRAM_AT);
	packet_plain(&packets, ppt_ovf);
	packet_address(&packets, ppt_fup, PROGRAM_JNE);
	packet_branches(&packets, "T");
	packet_address(&packets, ppt_fup, PROGRAM_JMP);
	packet_address(&packets, ppt_tip, PROGRAM_LEAF);
	packet_address(&packets, ppt_fup, PROGRAM_LEAF + 2);
	packet_address(&packets, ppt_tip_pgd, 0);
	packet_plain(&packets, ppt_stop);
	begin_file(&writer);
	file_data(&writer, 1, 0, 0, packets.bytes, packets_end(&packets));
	reading = read_file(&writer);
	open_stream(&reading, 0);
	assert_int_equal(next(&reading, HWT_SPACE)->space, 0x5000);
	assert_int_equal(next(&reading, HWT_ON)->space, 0x5000);
	/* The code that ran from the beginning of the overflow up to this address is unknown. */
	assert_int_equal(next(&reading, HWT_OVERFLOW)->address, PROGRAM_JNE);
	next_run(&reading, PROGRAM_JNE, PROGRAM_NOPS, HWT_BRANCH_CONDITIONAL, PROGRAM_JMP);
	assert_int_equal(next(&reading, HWT_ASYNC)->to, PROGRAM_LEAF);
	next_run(&reading, PROGRAM_LEAF, PROGRAM_LEAF + 2, HWT_BRANCH_NONE, PROGRAM_LEAF + 2);
	next(&reading, HWT_ASYNC);
	next(&reading, HWT_OFF);
	assert_string_equal(next(&reading, HWT_NOTE)->text, "trace stopped");
	end(&reading);
}

/* ---- Files of rings ---- */

static void put_bytes(struct hwt_file_writer *writer, const void *bytes, size_t size)
{
	writer->bytes = realloc(writer->bytes, writer->size + size);
	assert_non_null(writer->bytes);
	memcpy(writer->bytes + writer->size, bytes, size);
	writer->size += size;
}

/* Writes the ring of one CPU, which has wrapped: `packets` are the last bytes written. */
static void write_rings(struct hwt_file_writer *writer, uint64_t position, size_t size)
{
	static uint8_t bytes[RING];
	struct ktrx_hwt_rings head = { .magic = "KTRU",
				       .version = KTRX_HWT_UNIT_VERSION,
				       .cpus = 1,
				       .encoding = KTRX_HWT_ENCODING_PT,
				       .ring_size = RING,
				       .code = 8192 + RING,
				       .unit_time = 1000,
				       .stamp = 5000,
				       .frequency = 2000000000,
				       .unit_frequency = 1000000000 };
	const struct ktrx_hwt_ring ring = { .position = position, .lost = 3 };
	const struct ktrx_hwt_seen seen = { .unit_time = 1, .address = PROGRAM_AT, .size = PROGRAM_SIZE };

	memset(writer, 0, sizeof(*writer));
	head.code_size = sizeof(seen) + (PROGRAM_SIZE + 7) / 8 * 8;
	memset(bytes, 0, sizeof(bytes));
	for (size_t i = 0; i < size; i++)
		bytes[(position - size + i) % RING] = packets.bytes[i];
	put_bytes(writer, &head, sizeof(head));
	put_bytes(writer, &ring, sizeof(ring));
	put_bytes(writer, bytes, sizeof(bytes));
	put_bytes(writer, &seen, sizeof(seen));
	put_bytes(writer, program, sizeof(program));
	put_bytes(writer, "\0\0\0\0\0", 5);
}

static void wrapped_rings_are_read(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;
	size_t size;

	(void)state;
	packets_begin(&packets);
	write_jump(1500);
	write_jump(2000);
	size = packets_end(&packets);
	/* The packets wrap around at the end of the ring. */
	write_rings(&writer, 3 * RING + size / 2, size);
	reading = read_file(&writer);
	assert_int_equal(hwt_file_streams(reading.file), 1);
	assert_int_equal(hwt_file_frequency(reading.file), 2000000000);
	assert_int_equal(hwt_file_stream(reading.file, 0)->lost, 3);
	assert_int_equal(hwt_file_stream(reading.file, 0)->cpu, 0);
	assert_int_equal(hwt_file_pieces(reading.file, 0), 1);
	assert_int_equal(hwt_file_stream(reading.file, 0)->bytes, RING);
	open_stream(&reading, 0);
	next_gap(&reading, "bytes are missing");
	next_gap(&reading, "before the first PSB");
	check_jump(&reading, 6000);
	check_jump(&reading, 7000);
	end(&reading);
}

/* The file ends within the ring, but contains all bytes that were written into the ring. */
static void cut_ring_is_read_up_to_its_end(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;
	char path[64];
	size_t size;

	(void)state;
	packets_begin(&packets);
	write_jump(1500);
	size = packets_end(&packets);
	write_rings(&writer, size, size);
	writer.size = 8192 + size;
	reading = read_file(&writer);
	assert_int_equal(hwt_file_streams(reading.file), 1);
	assert_int_equal(hwt_file_stream(reading.file, 0)->bytes, size);
	assert_int_equal(hwt_file_stream(reading.file, 0)->missing, 0);
	assert_non_null(strstr(hwt_file_warning(reading.file, 0), "it lacks the code that ran"));
	assert_null(hwt_file_warning(reading.file, 1));
	assert_int_equal(hwt_file_damaged(reading.file), 1);
	program_write(path, program);
	assert_int_equal(hwt_images_add_elf(reading.images, path, 0, NULL), 0);
	open_stream(&reading, 0);
	check_jump(&reading, 6000);
	end(&reading);
	unlink(path);
}

/* A ring with impossible values is ignored; other rings are read. */
static void invalid_ring_is_ignored(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;

	(void)state;
	packets_begin(&packets);
	write_rings(&writer, 0, packets_end(&packets));
	memset(writer.bytes + sizeof(struct ktrx_hwt_rings), 0xdf, 16);
	reading = read_file(&writer);
	assert_int_equal(hwt_file_streams(reading.file), 0);
	assert_int_equal(hwt_file_damaged(reading.file), 1);
	assert_non_null(strstr(hwt_file_warning(reading.file, 0), "offset 4096: invalid ring "));
	end(&reading);
}

static void invalid_rings_header_is_refused(void **state)
{
	struct hwt_file_writer writer;
	struct ktrx_hwt_rings head;
	struct hwt_file *file;
	char path[64];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		packets_begin(&packets);
		write_rings(&writer, 0, packets_end(&packets));
		memcpy(&head, writer.bytes, sizeof(head));
		if (i == 0)
			head.version = 99;
		if (i == 1)
			head.ring_size = RING + 1;
		if (i == 2)
			head.cpus = UINT32_MAX;
		if (i == 3)
			writer.size = 1000;
		memcpy(writer.bytes, &head, sizeof(head));
		file_end(&writer, path);
		assert_true(hwt_file_open(&file, path) < 0);
		assert_non_null(strstr(hwt_file_message(NULL), path));
		unlink(path);
	}
}

/* ---- Lists of packets ---- */

static char listing[4096];

/*
 * Every fourth byte looks like the end of a record, with only padding after it. The search must not scan the
 * whole padding for each of these bytes.
 */
static void search_for_record_in_hostile_bytes_is_linear(void **state)
{
	static const unsigned char pattern[4] = { 0x21, 0x00, 0x01, 0x00 };
	static const unsigned char whole[] = { 0x01, 0xb0, 1, 2, 3, 4, 5, 6, 7, 0x80, 0x01 };
	const size_t size = 16u << 20;
	unsigned char *bytes = malloc(size);
	struct hwt_piece piece = { .bytes = bytes, .size = size };

	(void)state;
	assert_non_null(bytes);
	for (size_t at = 0; at < size; at++)
		bytes[at] = pattern[at % 4];
	memset(bytes + size - 1024, 0x10, 1024);
	memcpy(bytes + size - 512, whole, sizeof(whole));
	assert_int_equal(spe_record_find(&piece, 0), size - 511);
	/* Long padding is still scanned if only a few bytes look like the end of a record. */
	memset(bytes, 0, size - 1024);
	bytes[0] = 0x01;
	memset(bytes + size - 1024, 0, 1024);
	memcpy(bytes + size - 512, whole, sizeof(whole));
	assert_int_equal(spe_record_find(&piece, 0), size - 511);
	memset(bytes + 65536, 0x10, size - 65536);
	memcpy(bytes + 65536, whole + 1, sizeof(whole) - 1);
	assert_int_equal(spe_record_find(&piece, 0), 1);
	free(bytes);
}

static void list(void *to, uint64_t offset, const char *name, const char *text)
{
	(void)to;
	snprintf(listing + strlen(listing), sizeof(listing) - strlen(listing), "%u %s %s\n", (unsigned)offset,
		 name, text);
}

static void packets_are_listed_by_name(void **state)
{
	struct hwt_file_writer writer;
	struct reading reading;

	(void)state;
	packets_begin(&packets);
	packet_plain(&packets, ppt_pad);
	write_jump(1500);
	begin_file(&writer);
	file_data(&writer, 1, 0, 10, packets.bytes, packets_end(&packets));
	reading = read_file(&writer);
	listing[0] = '\0';
	assert_int_equal(hwt_packets(reading.file, 0, list, NULL), 0);
	assert_string_equal(listing, "10 GAP 1 bytes: before the first PSB\n"
				     "11 PSB \n"
				     "27 TSC 1500\n"
				     "35 MODE exec 64 bits\n"
				     "37 PSBEND \n"
				     "39 TIP.PGE 0000000000401005\n"
				     "48 TNT T\n"
				     "49 FUP 0000000000401000\n"
				     "58 TIP.PGD no address\n");
	end(&reading);
}

/* Older files have records without TRCDEVARCH. A record that is even shorter has no registers. */
static void registers_in_older_files_are_read(void **state)
{
	static const struct {
		size_t size;
		uint32_t traceidr, devarch;
	} contexts[] = {
		{ KTRX_HWT_ETM4_LEAST - 1, 0, 0 },
		{ KTRX_HWT_ETM4_LEAST, 5, 0 },
		{ sizeof(struct ktrx_hwt_etm4) - 1, 5, 0 },
		{ sizeof(struct ktrx_hwt_etm4), 5, 0x47715a13 },
	};
	const struct ktrx_hwt_etm4 etm4 = { .traceidr = 5, .devarch = 0x47715a13 };
	struct ktrx_hwt_context context = { .mode = KTRX_HWT_MODE_CPU, .encoding = KTRX_HWT_ENCODING_ETM4 };
	const size_t count = sizeof(contexts) / sizeof(contexts[0]);
	struct hwt_file_writer writer;
	struct reading reading;

	(void)state;
	file_begin(&writer);
	for (size_t i = 0; i < count; i++) {
		context.ident = (uint32_t)i + 1;
		file_record(&writer, KTRX_HWT_CONTEXT, 0, &context, sizeof(context), &etm4, contexts[i].size);
		file_data(&writer, context.ident, 0, 0, "", 1);
	}
	reading = read_file(&writer);
	assert_int_equal(hwt_file_streams(reading.file), count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(hwt_file_stream(reading.file, i)->etm4.traceidr, contexts[i].traceidr);
		assert_int_equal(hwt_file_stream(reading.file, i)->etm4.devarch, contexts[i].devarch);
	}
	end(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decoding_resumes_at_the_next_psb_after_damage),
		cmocka_unit_test(adjacent_pieces_are_joined_and_others_are_separated_by_gaps),
		cmocka_unit_test(cut_record_gives_its_remaining_packets),
		cmocka_unit_test(endless_loop_without_packets_is_damage),
		cmocka_unit_test(unit_times_are_converted_to_stamps),
		cmocka_unit_test(space_overflow_and_stop_are_reported),
		cmocka_unit_test(wrapped_rings_are_read),
		cmocka_unit_test(cut_ring_is_read_up_to_its_end),
		cmocka_unit_test(invalid_ring_is_ignored),
		cmocka_unit_test(invalid_rings_header_is_refused),
		cmocka_unit_test(search_for_record_in_hostile_bytes_is_linear),
		cmocka_unit_test(packets_are_listed_by_name),
		cmocka_unit_test(registers_in_older_files_are_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
