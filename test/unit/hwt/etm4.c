/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Decodes hand-made ETMv4 packets with OpenCSD, and checks the steps. */
#include "unit/support/etm4_packets.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct {
	const char *hex, *steps;
} streams[] = {
	{ "", "" },
	{ SYNC, "" },
	/* A branch that is not taken, a call, and a return with its target address. */
	{ START "f6 f7 f7 95 04 f6", BEGUN "run 401000-401004 (2) conditional not to 401008\n"
					   "run 401008-40100c (2) call to 401020\n"
					   "run 401020-401024 (2) return to 401010\n"
					   "run 401010-401014 (2) conditional not\n" },
	/* An exception in the middle of a run of instructions, and its handler. */
	{ START "f6 06 1d 95 03 95 08 f7", BEGUN "run 401000-401004 (2) conditional not to 401008\n"
						 "run 401008-401008 (1) to 40100c\n"
						 "async 40100c to 401020: IRQ\n"
						 "run 401020-401024 (2) return\n" },
	/* A system call, which is the last instruction of a run. */
	{ SYNC ON AT("0a") "06 05 95 0c 95 08 f7", "on 401028\n"
						   "space 7\n"
						   "run 401028-40102c (2) enter-kernel to 401020\n"
						   "run 401020-401024 (2) return\n" },
	/* An exception of type call, without a run of instructions before it that ends with a system call. */
	{ SYNC ON AT("0c") "06 05 95 0c 95 08 f7", "on 401030\n"
						   "space 7\n"
						   "async 401030 to 401020: call\n"
						   "run 401020-401024 (2) return\n" },
	/* First an ISB, which counts as a waypoint; then an indirect jump and an ERET. */
	{ SYNC ON AT("0c") "db 95 0e f7 07 95 06 f7 95 04 f7",
	  "on 401030\n"
	  "space 7\n"
	  "run 401030-401030 (1) to 401034\n"
	  "run 401034-401034 (1) indirect to 401038\n"
	  "run 401038-401038 (1) leave-kernel to 401018\n"
	  "run 401018-401018 (1) indirect-call to 401010\n"
	  "run 401010-401014 (2) conditional\n" },
	/* A timestamp packet, and a context packet without an address. */
	{ START "02 85 01 f6 81 b0 08 00 00 00 f7",
	  BEGUN "run 401000-401004 (2) conditional not to 401008 at 133\n"
		"space 8 at 133\n"
		"run 401008-40100c (2) call at 133\n" },
	/* Tracing stops and resumes at another address. No packet shows where it stopped. */
	{ START "f6 " ON AT("04") "f6", BEGUN "run 401000-401004 (2) conditional not\n"
					      "off\n"
					      "on 401010\n"
					      "run 401010-401014 (2) conditional not\n" },
	/* Tracing stops, and a packet has the address at which it stopped. */
	{ START "f6 06 03 95 03 " ON AT("04") "f6", BEGUN "run 401000-401004 (2) conditional not to 401008\n"
							  "run 401008-401008 (1) to 40100c\n"
							  "off 40100c\n"
							  "on 401010\n"
							  "run 401010-401014 (2) conditional not\n" },
	/* A packet reports that the unit has lost packets. */
	{ START "f6 00 05 " SYNC ON AT("04") "f6", BEGUN "run 401000-401004 (2) conditional not\n"
							 "overflow\n"
							 "on 401010\n"
							 "run 401010-401014 (2) conditional not\n" },
	{ START "f6 00 03 " SYNC ON AT("04") "f6", BEGUN "run 401000-401004 (2) conditional not\n"
							 "off\n"
							 "on 401010\n"
							 "run 401010-401014 (2) conditional not\n" },
	/* The stream begins while the unit is tracing. */
	{ SYNC AT("04") "f6", "space 7\n"
			      "on 401010\n"
			      "run 401010-401014 (2) conditional not\n" },
	{ "f7 f7 f7 " START "f6", "gap: bytes before the first A-Sync cannot be decoded\n" BEGUN
				  "run 401000-401004 (2) conditional not\n" },
	/* No code is known at this address. */
	{ SYNC ON "85 00 00 50 00 00 00 00 00 b0 07 00 00 00 f7 9d 04 08 40 00 00 00 00 00 f7",
	  "on 500000\n"
	  "space 7\n"
	  "gap 500000: no code is known here\n"
	  "run 401010-401014 (2) conditional\n" },
	/* A packet with a reserved header. */
	{ START "f6 47 f7 " SYNC AT("04") "f6", BEGUN "run 401000-401004 (2) conditional not\n"
						      "gap: invalid packet!\n"
						      "on 401010\n"
						      "run 401010-401014 (2) conditional not\n" },
	/* An exception packet without an address. */
	{ START "f6 06 1d 04 f7 " SYNC AT("04") "f6", BEGUN "run 401000-401004 (2) conditional not\n"
							    "gap: invalid packet!\n"
							    "on 401010\n"
							    "run 401010-401014 (2) conditional not\n" },
	/* AArch32 code is not decoded, but is not reported as damage. */
	{ START "f6 81 a0 08 00 00 00 f7 " SYNC AT("04") "f6",
	  BEGUN "run 401000-401004 (2) conditional not\n"
		"gap: AArch32 code is not decoded\n"
		"on 401010\n"
		"run 401010-401014 (2) conditional not\n" },
	/* At time 133, there is other code at the same address. */
	{ SYNC ON "85 00 00 80 00 00 00 00 00 b0 07 00 00 00 f6 02 85 01 04 90 f7",
	  "on 800000\n"
	  "space 7\n"
	  "run 800000-800000 (1) conditional not\n"
	  "off at 133\n"
	  "on 800000 at 133\n"
	  "run 800000-800000 (1) return at 133\n" },
	/* The CPU runs past the end of the code that is known. */
	{ SYNC ON "85 7f 7f ff ff ff ff ff ff b0 07 00 00 00 f7 f7", "gap: invalid packet!\n" },
	/* The bytes end in the middle of a packet. */
	{ START "f6 95", BEGUN "run 401000-401004 (2) conditional not\n" },
	/*
	 * OpenCSD would decode this branch as another instruction. The code that ran after the branch is
	 * unknown, and is not guessed.
	 */
	{ SYNC ON AT("10") "f7 f7 95 04 f6",
	  "on 401040\n"
	  "space 7\n"
	  "run 401040-401040 (1) to 401044\n"
	  "gap 401044: this branch instruction is newer than the version of OpenCSD\n"
	  "run 401010-401014 (2) conditional not\n" },
	/*
	 * A packet states that a call was not taken, so the executed code differs from the known code. No
	 * steps are reported until a packet contains an address.
	 */
	{ START "f6 f6 f7 f7 95 04 f6 f6",
	  BEGUN "run 401000-401004 (2) conditional not to 401008\n"
		"gap 40100c: the code that ran is not the known code: a branch that is always "
		"taken was not taken?\n"
		"on 401010\n"
		"run 401010-401014 (2) conditional not to 401018\n"
		"gap 401018: the code that ran is not the known code: a branch that is always "
		"taken was not taken?\n" },
	/*
	 * The gap is reported once. Decoding continues at an exception or at the next start of tracing,
	 * because packets for these contain an address.
	 */
	{ SYNC ON AT("02") "f6 f6 06 1d 95 03 95 08 f7",
	  "on 401008\n"
	  "space 7\n"
	  "gap 40100c: the code that ran is not the known code: a branch that is always taken "
	  "was not taken?\n"
	  "async 40100c: IRQ\n"
	  "on 401020\n"
	  "run 401020-401024 (2) return\n" },
	/* This branch leads to the instruction after it. Some units report such a branch as not taken. */
	{ SYNC ON AT("14") "f6 06 1d 95 15 95 08 f7", "on 401050\n"
						      "space 7\n"
						      "run 401050-401050 (1) jump not to 401054\n"
						      "async 401054 to 401020: IRQ\n"
						      "run 401020-401024 (2) return\n" },
	/*
	 * The branch was not taken, but the next packet has another address than that of the next
	 * instruction.
	 */
	{ START "f6 95 04 f6",
	  BEGUN "run 401000-401004 (2) conditional not\n"
		"gap 401008: the code that ran is not the known code: the previous branch was not taken, but "
		"led elsewhere?\n"
		"on 401010\n"
		"run 401010-401014 (2) conditional not\n" },
	/* Memory that contains the same code at every address. */
	{ SYNC ON "85 00 00 24 01 00 00 00 00 b0 07 00 00 00 f7 9d 04 08 40 00 00 00 00 00 f7",
	  "on 1240000\n"
	  "space 7\n"
	  "run 1240000-124fffc (16384) to 1250000\n"
	  "gap 1250000: no code is known here\n"
	  "run 401010-401014 (2) conditional\n" },
	{ SYNC ON "85 00 00 24 01 00 00 00 00 b0 07 00 00 00 06 1d 9d 04 08 80 01 00 00 00 00 95 04 f7",
	  "on 1240000\n"
	  "space 7\n"
	  "run 1240000-124fffc (16384) to 1250000\n"
	  "gap 1250000: no code is known here\n"
	  "async 1801010 to 1801010: IRQ\n"
	  "run 1801010-181100c (16384) to 1811010\n"
	  "gap 1811010: no code is known here\n" },
};

static void streams_decode_to_expected_steps(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(streams); i++) {
		unsigned char bytes[512];
		size_t size = hex_bytes(streams[i].hex, bytes, sizeof(bytes));

		assert_string_equal(etm4_steps_of(&etm4_unit, bytes, size), streams[i].steps);
	}
}

/* Decodes packets that produce more steps than fit into the decoder's queue. No step may be lost. */
static void more_atoms_than_queue_has_room_for_are_kept(void **state)
{
	static unsigned char bytes[64 + 200];
	const struct hwt_piece piece = { .bytes = bytes, .size = sizeof(bytes) };
	size_t begin = hex_bytes(SYNC ON AT("07"), bytes, sizeof(bytes)), runs = 0;
	const char *message;
	struct hwt_step step;
	void *decoder = hwt_encoding_etm4.open(&etm4_unit, &piece, NULL, &message);

	(void)state;
	/*
	 * The code at 40101c jumps to 401000. From there, taken branches lead to 401010, 401004, and so on.
	 * Each packet reports 24 taken branches (atoms E).
	 */
	memset(bytes + begin, 0xd4, sizeof(bytes) - begin);
	while (hwt_encoding_etm4.next(decoder, &step) > 0)
		runs += step.kind == HWT_RUN;
	hwt_encoding_etm4.close(decoder);
	assert_int_equal(runs, 24 * (sizeof(bytes) - begin));
}

/*
 * The decoder requests the code of a run for a time and an address space. These must be from the packets
 * before the run, not from the packets after it.
 */
static void code_is_read_for_context_before_the_run(void **state)
{
	unsigned char bytes[128];
	size_t size =
		hex_bytes(SYNC ON AT("00") "f6 81 b0 08 00 00 00 02 85 01 9d 40 7f 40 00 00 00 00 00 f7",
			  bytes, sizeof(bytes));

	(void)state;
	etm4_steps_of(&etm4_unit, bytes, size);
	assert_int_equal(etm4_asked.pid, 3);
	assert_int_equal(etm4_asked.space, 8);
	assert_int_equal(etm4_asked.stamp, 1133);
}

/* In the stream of the unit in software, the context id is an address space, and the VMID is a thread. */
static void software_unit_gives_space_and_thread(void **state)
{
	struct hwt_stream software = etm4_unit;
	unsigned char bytes[128];
	size_t size = hex_bytes(SYNC ON "85 00 08 40 00 00 00 00 00 f0 2a 00 00 00 07 00 00 00 f6", bytes,
				sizeof(bytes));

	(void)state;
	software.context.backend = KTRX_HWT_BACKEND_QEMU;
	software.etm4.configr |= 1u << 7;
	software.etm4.idr2 |= 4u << 10;
	assert_string_equal(etm4_steps_of(&software, bytes, size), "on 401000\nspace 7000 of 42\n"
								   "run 401000-401004 (2) conditional not\n");
}

/*
 * A frame has 16 bytes: a byte for ID 1, then data. The last byte of the frame contains the lowest bits of
 * the bytes at even offsets.
 */
static void formatted_frames_are_unpacked(void **state)
{
	struct hwt_stream formatted = etm4_unit;
	unsigned char data[64], bytes[128] = { 0 };
	size_t size = hex_bytes(START "f6 f7 f7 95 04 f6", data, sizeof(data)), framed = 0;

	(void)state;
	formatted.etm4.formatted = 1;
	for (size_t at = 0; at < size; framed += 16) {
		unsigned char *frame = bytes + framed;

		for (unsigned i = 0; i < 15; i++) {
			unsigned char byte = i == 0 ? 0x03 : at < size ? data[at++] : 0;

			frame[i] = byte;
			if (i % 2 == 0 && i > 0) {
				frame[i] = byte & 0xfe;
				frame[15] |= (unsigned char)((byte & 1) << i / 2);
			}
		}
	}
	assert_string_equal(etm4_steps_of(&formatted, bytes, framed),
			    BEGUN "run 401000-401004 (2) conditional not to 401008\n"
				  "run 401008-40100c (2) call to 401020\n"
				  "run 401020-401024 (2) return to 401010\n"
				  "run 401010-401014 (2) conditional not\n");
}

static void take_line(void *to, uint64_t offset, const char *name, const char *text)
{
	char *all = to;
	size_t used = strlen(all);

	snprintf(all + used, 2048 - used, "%u %s: %s\n", (unsigned)offset, name, text);
}

static void packets_are_listed_with_offset_and_text(void **state)
{
	char all[2048] = "";
	unsigned char bytes[128];
	struct hwt_piece piece = { .bytes = bytes };

	(void)state;
	piece.size = hex_bytes("f7 " START "f6 06 1d 95 03 02 05 47 f7", bytes, sizeof(bytes));
	hwt_encoding_etm4.packets(&etm4_unit, &piece, take_line, all);
	assert_string_equal(all, "0 I_NOT_SYNC: I Stream not synchronised\n"
				 "1 I_ASYNC: Alignment Synchronisation.\n"
				 "13 I_TRACE_INFO: Trace Info.; INFO=0x0 { CC.0 }\n"
				 "16 I_TRACE_ON: Trace On.\n"
				 "17 I_ADDR_CTXT_L_64IS0: Address & Context, Long, 64 bit, IS0.; "
				 "Addr=0x0000000000401000; Ctxt: AArch64,EL0, NS; CID=0x00000007; \n"
				 "31 I_ATOM_F1: Atom format 1.; N\n"
				 "32 I_EXCEPT: Exception.;  IRQ; Ret Addr Follows;\n"
				 "34 I_ADDR_S_IS0: Address, Short, IS0.; Addr=0x000000000040100C ~[0xC]\n"
				 "36 I_TIMESTAMP: Timestamp.; Updated val = 0x5\n"
				 "38 damage: I_RESERVED : Reserved Packet Header\n"
				 "39 I_ATOM_F1: Atom format 1.; E\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_decode_to_expected_steps),
		cmocka_unit_test(more_atoms_than_queue_has_room_for_are_kept),
		cmocka_unit_test(code_is_read_for_context_before_the_run),
		cmocka_unit_test(software_unit_gives_space_and_thread),
		cmocka_unit_test(formatted_frames_are_unpacked),
		cmocka_unit_test(packets_are_listed_with_offset_and_text),
	};

	return cmocka_run_group_tests_name("hwt_etm4", tests, NULL, NULL);
}
