/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests ETMv4 and ETE packets that must not be passed to OpenCSD, or that OpenCSD cannot decode. Each such
 * packet is refused with a message that names it.
 */
#include "unit/support/etm4_packets.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/*
 * An element that was mispredicted is canceled and never reported. The same is true for elements that are not
 * committed before the stream ends.
 */
static void mispredicted_elements_are_not_reported(void **state)
{
	static const struct {
		const char *hex, *steps;
	} guesses[] = {
		{ "f7 95 04 30 f7 2d 02", BEGUN "run 401000-401004 (2) conditional not to 401008\n"
						"run 401008-40100c (2) call\n" },
		{ "f6 f7 f7 95 04 2e 01 2d 02", BEGUN "run 401000-401004 (2) conditional not to 401008\n"
						      "run 401008-40100c (2) call\n" },
		{ "f7 f6 95 04 2f 01 f7 2d 02", BEGUN "run 401000-401004 (2) conditional not to 401008\n"
						      "run 401008-40100c (2) call\n" },
		{ "f7 f7 f7 f7 f7 f7 f7 2e 07 f7 f7 f7 f7 f7 f7 f7 2e 07 f7 95 04 30 f7 2d 02",
		  BEGUN "run 401000-401004 (2) conditional not to 401008\n"
			"run 401008-40100c (2) call\n" },
		{ "f6 f7 2d 01", BEGUN "run 401000-401004 (2) conditional not\n" },
		/* OpenCSD crashes if it gets one of these packets. */
		{ "95 04 30 f7", "gap: invalid packet!\n" },
		{ "f7 95 04 02 85 01 30 f7", "gap: invalid packet!\n" },
		{ "f7 06 1d 95 03 30 f7", "gap: invalid packet!\n" },
	};
	struct hwt_stream speculates = etm4_unit;

	(void)state;
	speculates.etm4.idr8 = 8;
	for (size_t i = 0; i < COUNT(guesses); i++) {
		unsigned char bytes[128];
		size_t begin = hex_bytes(START, bytes, sizeof(bytes));
		size_t size = hex_bytes(guesses[i].hex, bytes + begin, sizeof(bytes) - begin);

		assert_string_equal(etm4_steps_of(&speculates, bytes, begin + size), guesses[i].steps);
	}
}

/*
 * Other trace units may write these packets. They are refused with a message that names the packet, and are
 * not reported as damage.
 */
static void undecodable_elements_are_refused_by_name(void **state)
{
	static const struct {
		uint32_t configr;
		const char *message;
	} kinds_of[] = {
		{ 1u << 2, "loads and stores as elements (TRCCONFIGR.INSTP0) are not decoded" },
		{ 1u << 8, "conditional elements (TRCCONFIGR.COND) are not decoded" },
		{ 1u << 14, "Q elements (TRCCONFIGR.QE) are not decoded" },
		{ 1u << 16, "data trace (TRCCONFIGR.DA, DV) is not decoded" },
	};
	const struct hwt_piece piece = { .bytes = (const unsigned char *)"", .size = 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(kinds_of); i++) {
		struct hwt_stream other = etm4_unit;
		const char *message = NULL;

		other.etm4.configr |= kinds_of[i].configr;
		assert_null(hwt_encoding_etm4.open(&other, &piece, NULL, &message));
		assert_string_equal(message, kinds_of[i].message);
	}
}

/* An ETE writes types of packets that an ETMv4 does not write. */
static void ete_packets_are_decoded_or_named(void **state)
{
	static const struct {
		const char *hex, *steps;
	} written[] = {
		/* A timestamp marker and the timestamp. */
		{ START "88 02 85 01 f6", BEGUN "run 401000-401004 (2) conditional not at 133\n" },
		/*
		 * Packets with source addresses replace atoms. Before such an address, there may be branches
		 * that were not taken.
		 */
		{ START "b4 03 95 08 b4 09 95 04 f6",
		  BEGUN "run 401000-401004 (2) conditional not to 401008\n"
			"run 401008-40100c (2) call to 401020\n"
			"run 401020-401024 (2) return to 401010\n"
			"run 401010-401014 (2) conditional not\n" },
		/*
		 * A transaction fails: execution continues at the instruction at which the transaction began.
		 */
		{ START "0a f6 06 31 70 9d 00 08 40 00 00 00 00 00 f7",
		  BEGUN "note: a transaction begins\n"
			"run 401000-401004 (2) conditional not to 401000\n"
			"note: the transaction failed and was undone\n"
			"run 401000-401004 (2) conditional\n" },
		{ START "0a f6 0b f7", BEGUN "note: a transaction begins\n"
					     "run 401000-401004 (2) conditional not to 401008\n"
					     "note: the transaction ends\n"
					     "run 401008-40100c (2) call\n" },
		{ START "f6 09 01 ff 00 00 00 00 00 00 00 f6",
		  BEGUN "run 401000-401004 (2) conditional not\n"
			"gap: instrumentation (TRCIT) is not decoded\n" },
		{ START "f6 06 01 70 95 00 f7", BEGUN "run 401000-401004 (2) conditional not\n"
						      "gap: a reset of the processor is not decoded\n" },
	};
	struct hwt_stream ete = etm4_unit;

	(void)state;
	ete.etm4.idr1 = 0x4100fff0;
	ete.etm4.devarch = 0x47715a13;
	for (size_t i = 0; i < COUNT(written); i++) {
		unsigned char bytes[128];
		size_t size = hex_bytes(written[i].hex, bytes, sizeof(bytes));

		assert_string_equal(etm4_steps_of(&ete, bytes, size), written[i].steps);
	}
	/* For this cancel packet, OpenCSD would cancel one element too many, and crash. */
	{
		unsigned char bytes[128];
		size_t size = hex_bytes(START "f6 f6 b0 34 2d 01", bytes, sizeof(bytes));

		ete.etm4.idr8 = 16;
		assert_string_equal(etm4_steps_of(&ete, bytes, size),
				    "gap: a cancelled source address is not decoded\n");
	}
	/*
	 * The packets above exist only in the stream of an ETE. In the stream of an ETMv4, they are damage.
	 */
	for (size_t i = 1; i < COUNT(written); i++) {
		unsigned char bytes[128];
		size_t size = hex_bytes(written[i].hex, bytes, sizeof(bytes));

		assert_non_null(strstr(etm4_steps_of(&etm4_unit, bytes, size), "gap: invalid packet!\n"));
	}
}

/*
 * Recognizes branch instructions that OpenCSD does not support yet (`new`), but not similar instructions that
 * OpenCSD supports (`known`).
 */
static void instructions_newer_than_opencsd_are_recognized(void **state)
{
	static const uint32_t new[] = { 0x74014060 ^ 0x4000, 0x74018060, 0x7401c060, 0xf4010060, 0x75010060,
					0xf5010060,	     0x5500001f, 0x5520001f, TEXIT,	 0xd6ff07e0,
					0xd65f0be3,	     0xd65f0fe3 };
	static const uint32_t known[] = { RETAA,      0xd65f0fff, RET,	      ERET,
					  0xd69f0bff, NOP,	  0x74014060, 0x54000040 };

	(void)state;
	for (size_t i = 0; i < COUNT(new); i++) {
		assert_true(etm4_guard_too_new(0x010303, new[i]));
		assert_false(etm4_guard_too_new(0x010800, new[i]));
	}
	for (size_t i = 0; i < COUNT(known); i++)
		assert_false(etm4_guard_too_new(0x010303, known[i]));
}

static void invalid_register_values_are_refused(void **state)
{
	struct hwt_stream other = etm4_unit;
	const struct hwt_piece piece = { .bytes = (const unsigned char *)"", .size = 0 };
	const char *message;

	(void)state;
	other.etm4.formatted = 1;
	other.etm4.traceidr = 0x7f; /* a reserved id, which no trace source may have */
	assert_null(hwt_encoding_etm4.open(&other, &piece, NULL, &message));
	assert_string_equal(message, "OpenCSD cannot decode a trace unit with these register values");
	other = etm4_unit;
	other.etm4.idr8 = UINT32_MAX; /* no limit of the number of elements that a packet may cancel */
	assert_null(hwt_encoding_etm4.open(&other, &piece, NULL, &message));
	assert_string_equal(message, "OpenCSD cannot decode a trace unit with these register values");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mispredicted_elements_are_not_reported),
		cmocka_unit_test(undecodable_elements_are_refused_by_name),
		cmocka_unit_test(ete_packets_are_decoded_or_named),
		cmocka_unit_test(instructions_newer_than_opencsd_are_recognized),
		cmocka_unit_test(invalid_register_values_are_refused),
	};

	return cmocka_run_group_tests_name("hwt_etm4_guard", tests, NULL, NULL);
}
