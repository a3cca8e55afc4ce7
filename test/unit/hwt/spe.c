/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests packets and records of the Statistical Profiling Extension, with their expected descriptions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hwt/decoder.h"
#include "hwt/spe.h"
#include "unit/support/hex.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct {
	const char *hex, *name, *text;
} packets[] = {
	{ "00", "pad", "" },
	{ "01", "end", "" },
	{ "71 08 07 06 05 04 03 02 01", "timestamp", "72623859790382856" },
	/* Packets of type "events", of each size. */
	{ "42 03", "events", "exception retired" },
	{ "42 fc", "events", "l1d-access l1d-refill tlb-access tlb-walk not-taken mispredicted" },
	{ "52 02 0f", "events", "retired llc-access llc-miss remote-access misaligned" },
	{ "62 00 10 ff 03", "events",
	  "event-12 transactional partial-predicate empty-predicate l2d-access l2d-miss data-modified "
	  "recently-fetched data-snooped streaming-sve smcu" },
	{ "72 02 00 00 00 00 00 00 80", "events", "retired event-63" },
	{ "43 0d", "source", "0xd" },
	{ "53 34 12", "source", "0x1234" },
	{ "63 78 56 34 12", "source", "0x12345678" },
	{ "73 01 00 00 00 00 00 00 80", "source", "0x8000000000000001" },
	/* Packets of type "operation", of the class "other". */
	{ "48 00", "operation", "other" },
	{ "48 01", "operation", "other conditional" },
	{ "48 04", "operation", "simd-fp" },
	{ "48 07", "operation", "simd-fp float conditional" },
	{ "48 08", "operation", "sve evl=32" },
	{ "48 2e", "operation", "sve evl=128 predicated float" },
	{ "48 9c", "operation", "sme ets=1024" },
	{ "48 8a", "operation", "sme ets=128 float" },
	{ "48 11", "operation", "subclass=0x11" },
	/* Operation packets of loads, stores and atomics. */
	{ "49 00", "operation", "load general" },
	{ "49 01", "operation", "store general" },
	{ "49 04", "operation", "load simd-fp" },
	{ "49 11", "operation", "store unspecified" },
	{ "49 14", "operation", "load mte-tag" },
	{ "49 20", "operation", "load memcpy" },
	{ "49 25", "operation", "store memset" },
	{ "49 30", "operation", "load nv-sysreg" },
	{ "49 41", "operation", "store gcs" },
	{ "49 44", "operation", "load gcs common" },
	{ "49 02", "operation", "load extended" },
	{ "49 1f", "operation", "store extended atomic exclusive ordered" },
	{ "49 18", "operation", "load sve evl=64" },
	{ "49 fd", "operation", "store sve evl=4096 predicated gather-scatter" },
	{ "49 50", "operation", "load subclass=0x50" },
	/* Operation packets of branches. */
	{ "4a 00", "operation", "branch" },
	{ "4a 01", "operation", "branch conditional" },
	{ "4a 0a", "operation", "branch indirect call" },
	{ "4a 16", "operation", "branch indirect gcs return" },
	{ "4a 18", "operation", "branch jump" },
	{ "4a 20", "operation", "branch subclass=0x20" },
	{ "4b 05", "operation", "class=3 subclass=0x05" },
	{ "64 78 56 34 12", "context", "el1 0x12345678" },
	{ "65 02 00 00 00", "context", "el2 0x2" },
	{ "67 02 00 00 00", "context", "el4 0x2" },
	{ "98 34 12", "total-latency", "4660" },
	{ "99 01 00", "issue-latency", "1" },
	{ "9a ff ff", "translation-latency", "65535" },
	{ "9c 05 00", "counter", "5 index=4" },
	{ "b8 05 00 00 00 00 00 00 00", "total-latency", "5" },
	{ "21 98 05 00", "counter", "5 index=8" },
	/* Address packets: the address in bits 55:0, and other fields in the upper bits. */
	{ "b0 00 10 40 00 00 00 00 80", "pc", "0x401000 el0 ns=1" },
	{ "b0 88 77 66 55 44 33 ff 20", "pc", "0xffff334455667788 el1 ns=0" },
	{ "b0 00 10 00 00 00 00 00 d0", "pc", "0x1000 el2 ns=1 nse" },
	{ "b1 04 10 40 00 00 00 00 80", "target", "0x401004 el0 ns=1" },
	{ "b2 08 00 00 00 00 00 00 5a", "data-virtual", "0x8 tag=0x5a" },
	{ "b2 08 00 00 00 00 80 ff 5a", "data-virtual", "0xffff800000000008 tag=0x5a" },
	{ "b3 00 00 00 40 00 00 80 80", "data-physical", "0x80000040000000 ns=1" },
	{ "b3 00 00 00 40 00 00 00 47", "data-physical", "0x40000000 ns=0 checked=0x7" },
	{ "b4 04 10 40 00 00 00 00 e0", "previous-target", "0x401004 el3 ns=1" },
	{ "b7 01 00 00 00 00 00 00 00", "address", "0x1 index=7" },
	{ "20 b0 00 10 40 00 00 00 00 80", "pc", "0x401000 el0 ns=1" },
	{ "23 b1 01 00 00 00 00 00 00 00", "address", "0x1 index=25" },
	{ "23 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00", "align", "16" },
	/* Packets of known size and unknown meaning. */
	{ "5c 34 12", "reserved", "header=0x5c 0x1234" },
	{ "22 c5 07", "reserved", "header=0xc5 0x7" },
};

/* Each complete packet is read. A packet that is truncated at any length is recognized as incomplete. */
static void packets_are_read_in_full_or_are_incomplete(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(packets); i++) {
		unsigned char bytes[32];
		size_t size = hex_bytes(packets[i].hex, bytes, sizeof(bytes));
		struct spe_packet packet;
		char text[256];

		assert_int_equal(spe_packet_read(bytes, size, 0, &packet), size);
		spe_packet_text(&packet, text, sizeof(text));
		assert_string_equal(spe_packet_name(&packet), packets[i].name);
		assert_string_equal(text, packets[i].text);
		for (size_t cut = 0; cut < size; cut++)
			assert_int_equal(spe_packet_read(bytes, cut, 0, &packet), SPE_CUT);
	}
}

static void invalid_headers_are_rejected(void **state)
{
	(void)state;
	for (unsigned header = 0x02; header < 0x40; header++) {
		const unsigned char bytes[20] = { (unsigned char)header, 0xb0 };
		struct spe_packet packet;

		if (header >> 2 != 0x20 >> 2)
			assert_int_equal(spe_packet_read(bytes, sizeof(bytes), 0, &packet), SPE_WRONG);
	}
	for (unsigned second = 0x01; second < 0x40; second++) {
		const unsigned char bytes[20] = { 0x20, (unsigned char)second };
		struct spe_packet packet;

		assert_int_equal(spe_packet_read(bytes, sizeof(bytes), 0, &packet), SPE_WRONG);
	}
}

/*
 * An alignment packet ends at the next offset in the buffer that is a multiple of its alignment. If its
 * header does not fit before this offset, it ends at the next multiple after it.
 */
static void alignment_packet_extends_to_the_next_multiple(void **state)
{
	static const struct {
		uint64_t position;
		unsigned char header;
		int size;
	} cases[] = { { 0, 0x22, 8 },  { 3, 0x22, 5 },		{ 6, 0x22, 2 }, { 7, 0x22, 9 },
		      { 8, 0x22, 8 },  { 0, 0x20, 2 },		{ 1, 0x20, 3 }, { 100, 0x25, 28 },
		      { 4, 0x2f, -1 }, { 65536 - 60, 0x2f, 60 } };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		unsigned char bytes[64] = { cases[i].header };
		struct spe_packet packet;

		assert_int_equal(spe_packet_read(bytes, sizeof(bytes), cases[i].position, &packet),
				 cases[i].size);
	}
}

/* A description that does not fit is truncated, and ends with NUL. */
static void text_is_cut_to_the_room(void **state)
{
	const unsigned char bytes[9] = { 0x72, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	struct spe_packet packet;
	char text[12];

	(void)state;
	assert_int_equal(spe_packet_read(bytes, sizeof(bytes), 0, &packet), 9);
	for (size_t size = 1; size <= sizeof(text); size++) {
		memset(text, 'x', sizeof(text));
		spe_packet_text(&packet, text, size);
		assert_true(strlen(text) < size);
	}
}

/* ---- Records of samples ------------------------------------------------------------------------ */

#define PC(low) "b0 " low " 10 40 00 00 00 00 80 "
#define LOAD \
	PC("08") "49 00 98 20 00 99 04 00 9a 02 00 b2 40 00 00 00 00 00 ff ff 42 16 43 0d 64 07 00 00 00 "
#define STAMPED(low) "71 " low " 00 00 00 00 00 00 00 "

/* Returns the steps of a stream, one per line. */
static const char *steps_of(const char *hex, uint64_t position)
{
	static char all[2048];
	unsigned char bytes[512];
	struct hwt_piece piece = { .bytes = bytes, .position = position };
	const struct hwt_stream stream = { .unit = 0 };
	const char *message;
	struct hwt_step step;
	void *decoder;
	size_t used = 0;

	piece.size = hex_bytes(hex, bytes, sizeof(bytes));
	decoder = hwt_encoding_spe.open(&stream, &piece, NULL, &message);
	assert_non_null(decoder);
	all[0] = '\0';
	while (hwt_encoding_spe.next(decoder, &step) > 0) {
		char stamp[32] = "";

		if (step.has_stamp)
			snprintf(stamp, sizeof(stamp), " at %llu", (unsigned long long)step.stamp);
		used += (size_t)snprintf(
			all + used, sizeof(all) - used, "%u: %s%s%s\n", (unsigned)step.offset,
			step.kind == HWT_SAMPLE	      ? "sample"
			: step.kind == HWT_NOTE	      ? step.text
			: step.gap == HWT_GAP_DAMAGED ? step.text
						      : "cut",
			step.kind == HWT_GAP && step.gap == HWT_GAP_DAMAGED ? "!" : "", stamp);
		assert_true(used < sizeof(all));
	}
	assert_int_equal(hwt_encoding_spe.next(decoder, &step), 0);
	hwt_encoding_spe.close(decoder);
	return all;
}

static void record_fields_are_decoded(void **state)
{
	unsigned char bytes[256];
	struct hwt_piece piece = { .bytes = bytes };
	const struct hwt_stream stream = { .unit = 0 };
	const char *message;
	struct hwt_step step;
	void *decoder;

	(void)state;
	piece.size = hex_bytes(LOAD "b1 0c 10 40 00 00 00 00 80 b3 00 20 00 00 01 00 00 80 "
				    "b4 10 10 40 00 00 00 00 80 65 09 00 00 00 " STAMPED("2a"),
			       bytes, sizeof(bytes));
	decoder = hwt_encoding_spe.open(&stream, &piece, NULL, &message);
	assert_int_equal(hwt_encoding_spe.next(decoder, &step), 1);
	assert_int_equal(step.kind, HWT_SAMPLE);
	assert_int_equal(step.has_address, 1);
	assert_int_equal(step.address, 0x401008);
	assert_int_equal(step.has_to, 1);
	assert_int_equal(step.to, 0x40100c);
	assert_int_equal(step.has_stamp, 1);
	assert_int_equal(step.stamp, 42);
	assert_int_equal(step.sample->has, (1u << (HWT_SAMPLE_OPERATION + 1)) - 1);
	assert_int_equal(step.sample->pc, 0x401008);
	assert_int_equal(step.sample->target, 0x40100c);
	assert_int_equal(step.sample->data_virtual, 0xffff000000000040);
	assert_int_equal(step.sample->data_physical, 0x100002000);
	assert_int_equal(step.sample->previous_target, 0x401010);
	assert_int_equal(step.sample->events, 0x16);
	assert_int_equal(step.sample->source, 0xd);
	assert_int_equal(step.sample->context_el1, 7);
	assert_int_equal(step.sample->context_el2, 9);
	assert_int_equal(step.sample->latency_total, 0x20);
	assert_int_equal(step.sample->latency_issue, 4);
	assert_int_equal(step.sample->latency_translation, 2);
	assert_int_equal(step.sample->operation_class, SPE_CLASS_MEMORY);
	assert_int_equal(step.sample->operation, 0);
	assert_int_equal(step.sample->level, 0);
	assert_int_equal(step.sample->not_secure, 1);
	assert_int_equal(hwt_encoding_spe.next(decoder, &step), 0);
	hwt_encoding_spe.close(decoder);
}

static const struct {
	const char *hex;
	uint64_t position;
	const char *steps;
} streams[] = {
	{ "", 0, "" },
	{ "00 00 00", 0, "" },
	{ LOAD STAMPED("05") "00 00 " PC("20") "01 00", 0, "0: sample at 5\n49: sample\n" },
	/*
	 * An alignment of 16 bytes is relative to the start of the buffer, not to the start of the piece that
	 * is decoded.
	 */
	{ PC("20") "01 23 00 02 " PC("24") "01", 3, "0: sample\n13: sample\n" },
	{ PC("20") "5c 01 02 01 " PC("24") "01", 0,
	  "0: sample\n0: 1 packets of unknown meaning in this record, the last with header 0x5c\n13: "
	  "sample\n" },
	/*
	 * After damage, bytes are skipped up to the end of the first record that is followed by a complete
	 * record.
	 */
	{ PC("20") "02 42 01 01 " PC("24") "01", 0, "0: no packet begins with 0x02, at 9!\n13: sample\n" },
	{ PC("20") PC("20") "01 " PC("24") "01", 100,
	  "0: a second packet of its kind in a record, at 109!\n19: sample\n" },
	{ "02 " STAMPED("01") PC("24") "01", 0, "0: no packet begins with 0x02, at 0!\n10: sample\n" },
	{ "02 03 04 05", 0, "0: no packet begins with 0x02, at 0!\n" },
	/* The bytes end in the middle of a record. */
	{ PC("20") "01 b0 24 10", 0, "0: sample\n10: cut\n" },
	{ PC("20") "01 " PC("24"), 0, "0: sample\n10: cut\n" },
	{ PC("20") "01 " PC("24") "20", 0, "0: sample\n10: cut\n" },
	{ "2f 00 01 " PC("24") "01", 0, "0: the bytes end within a record!\n3: sample\n" },
};

static void streams_decode_to_expected_steps(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(streams); i++)
		assert_string_equal(steps_of(streams[i].hex, streams[i].position), streams[i].steps);
}

/* A record that never ends is damage. */
static void too_long_record_is_damage(void **state)
{
	static unsigned char bytes[4096];
	const struct hwt_piece piece = { .bytes = bytes, .size = sizeof(bytes) };
	const struct hwt_stream stream = { .unit = 0 };
	const char *message;
	struct hwt_step step;
	void *decoder;

	(void)state;
	memset(bytes, 0xc0, sizeof(bytes));
	decoder = hwt_encoding_spe.open(&stream, &piece, NULL, &message);
	assert_int_equal(hwt_encoding_spe.next(decoder, &step), 1);
	assert_int_equal(step.kind, HWT_GAP);
	assert_int_equal(step.gap, HWT_GAP_DAMAGED);
	assert_string_equal(step.text, "a record of more than 2048 bytes");
	assert_int_equal(hwt_encoding_spe.next(decoder, &step), 0);
	hwt_encoding_spe.close(decoder);
}

static void take_line(void *to, uint64_t offset, const char *name, const char *text)
{
	char *all = to;
	size_t used = strlen(all);

	snprintf(all + used, 1024 - used, "%u %s %s\n", (unsigned)offset, name, text);
}

static void packets_are_listed_with_offset_and_text(void **state)
{
	char all[1024] = "";
	unsigned char bytes[256];
	struct hwt_piece piece = { .bytes = bytes };
	const struct hwt_stream stream = { .unit = 0 };

	(void)state;
	piece.size = hex_bytes(PC("20") "42 02 01 00 00 00 02 01 " PC("24") STAMPED("03") "99 01", bytes,
			       sizeof(bytes));
	hwt_encoding_spe.packets(&stream, &piece, take_line, all);
	assert_string_equal(all, "0 pc 0x401020 el0 ns=1\n"
				 "9 events retired\n"
				 "11 end \n"
				 "12 pad 3\n"
				 "15 damage 0x02: no packet begins with this byte\n"
				 "17 pc 0x401024 el0 ns=1\n"
				 "26 timestamp 3\n"
				 "35 damage 0x99: the bytes end within a packet\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_read_in_full_or_are_incomplete),
		cmocka_unit_test(invalid_headers_are_rejected),
		cmocka_unit_test(alignment_packet_extends_to_the_next_multiple),
		cmocka_unit_test(text_is_cut_to_the_room),
		cmocka_unit_test(record_fields_are_decoded),
		cmocka_unit_test(streams_decode_to_expected_steps),
		cmocka_unit_test(too_long_record_is_damage),
		cmocka_unit_test(packets_are_listed_with_offset_and_text),
	};

	return cmocka_run_group_tests_name("hwt_spe", tests, NULL, NULL);
}
