/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Decodes hand-made ETMv4 packets, for the code below, with OpenCSD, and checks the steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hwt/decoder.h"
#include "hwt/etm4.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* ---- Code -------------------------------------------------------------------------------------- */

#define BASE	    0x401000u
#define CHANGED	    0x800000u
#define NOP	    0xd503201fu
#define B(words)    (0x14000000u | ((words)&0x3ffffffu))
#define BL(words)   (0x94000000u | ((words)&0x3ffffffu))
#define B_EQ(words) (0x54000000u | ((words)&0x7ffffu) << 5)
#define CBZ(words)  (0xb4000000u | ((words)&0x7ffffu) << 5)
#define BR	    0xd61f0000u
#define BLR	    0xd63f0000u
#define RET	    0xd65f03c0u
#define ERET	    0xd69f03e0u
#define SVC	    0xd4000001u
#define ISB	    0xd5033fdfu
#define RETAA	    0xd65f0bffu
#define TEXIT	    0xd6ff03e0u

static const uint32_t code[] = {
	/* 401000 */ NOP,  B_EQ(3), NOP,  BL(5),
	/* 401010 */ NOP,  CBZ(-4), BLR,  B(-7),
	/* 401020 */ NOP,  RET,	    NOP,  SVC,
	/* 401030 */ ISB,  BR,	    ERET, NOP,
	/* 401040 */ NOP,  TEXIT,   NOP,  RETAA,
	/* 401050 */ B(1),
};

/* Arguments of the decoder's last request for code. */
static struct {
	uint32_t pid;
	uint64_t space, stamp;
} asked;

/* Replaces the function of images.c. */
size_t hwt_images_read(struct hwt_images *images, uint32_t pid, uint64_t space, uint64_t stamp,
		       uint64_t address, void *to, size_t size)
{
	uint64_t left;

	(void)images;
	asked.pid = pid;
	asked.space = space;
	asked.stamp = stamp;
	if (address >= 0x900000 && address < 0x1900000) { /* NOPs without any branch */
		for (size_t i = 0; i < size; i++)
			((unsigned char *)to)[i] = (unsigned char)(NOP >> (address + i) % 4 * 8);
		return size;
	}
	if (address == CHANGED) { /* different code once a timestamp has come */
		const uint32_t word = stamp ? RET : B_EQ(2);

		memcpy(to, &word, sizeof(word));
		return sizeof(word);
	}
	if (address < BASE || address >= BASE + sizeof(code))
		return 0;
	left = BASE + sizeof(code) - address;
	memcpy(to, (const unsigned char *)code + (address - BASE), size < left ? size : left);
	return size < left ? size : left;
}

/* Replaces the function of decoder.c. */
uint64_t hwt_stream_stamp(const struct hwt_stream *stream, uint64_t unit_time)
{
	(void)stream;
	return unit_time + 1000;
}

/* ---- Streams ----------------------------------------------------------------------------------- */

static size_t bytes_of(const char *hex, unsigned char *to, size_t room)
{
	size_t size = 0;
	unsigned byte;
	int used;

	while (sscanf(hex, " %2x%n", &byte, &used) == 1) {
		assert_true(size < room);
		to[size++] = (unsigned char)byte;
		hex += used;
	}
	return size;
}

#define SYNC "00 00 00 00 00 00 00 00 00 00 00 80 01 01 00 "
#define ON   "04 "
/* Address and context: 64-bit address, EL0, non-secure, context id 7. */
#define AT(low) "85 " low " 08 40 00 00 00 00 00 b0 07 00 00 00 "

static const struct hwt_stream unit = {
	.context = { .encoding = KTRX_HWT_ENCODING_ETM4 },
	.etm4 = { .configr = 1u << 11 | 1u << 6,
		  .traceidr = 1,
		  .idr0 = 0x28000001,
		  .idr1 = 0x430,
		  .idr2 = 8u | 4u << 5 },
	.pid = 3,
};

static const char *const kinds[] = {
	"run", "on", "off", "async", "space", "overflow", "gap", "sample", "note"
};
static const char *const branches[] = {
	"",	    "call",	     "return",	     "jump",	    "conditional",
	"indirect", "indirect-call", "enter-kernel", "leave-kernel"
};

static char *put_step(char *to, const struct hwt_step *step)
{
	to += sprintf(to, "%s", kinds[step->kind]);
	if (step->has_address)
		to += sprintf(to, " %llx", (unsigned long long)step->address);
	if (step->kind == HWT_RUN)
		to += sprintf(to, "-%llx (%u)%s%s%s", (unsigned long long)step->last, step->instructions,
			      step->branch ? " " : "", branches[step->branch],
			      step->branch && !step->taken ? " not" : "");
	if (step->has_to)
		to += sprintf(to, " to %llx", (unsigned long long)step->to);
	if (step->kind == HWT_SPACE)
		to += sprintf(to, " %llx", (unsigned long long)step->space);
	if (step->kind == HWT_SPACE && step->tid)
		to += sprintf(to, " of %u", step->tid);
	if (step->has_stamp)
		to += sprintf(to, " at %llu", (unsigned long long)step->stamp);
	if (step->text)
		to += sprintf(to, ": %s%s", step->text,
			      step->gap == HWT_GAP_DAMAGED	? "!"
			      : step->gap == HWT_GAP_OTHER_CODE ? "?"
								: "");
	return to + sprintf(to, "\n");
}

static const char *steps_of(const struct hwt_stream *stream, const unsigned char *bytes, size_t size)
{
	static char all[65536];
	const struct hwt_piece piece = { .bytes = bytes, .size = size };
	const char *message;
	struct hwt_step step;
	char *end = all;
	void *decoder = hwt_encoding_etm4.open(stream, &piece, NULL, &message);

	assert_non_null(decoder);
	all[0] = '\0';
	while (hwt_encoding_etm4.next(decoder, &step) > 0) {
		end = put_step(end, &step);
		assert_true(end < all + sizeof(all) - 512);
		assert_true(step.offset <= size);
	}
	assert_int_equal(hwt_encoding_etm4.next(decoder, &step), 0);
	hwt_encoding_etm4.close(decoder);
	return all;
}

/* OpenCSD never frees what it allocates for a callback, nor an address that is taken back. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:ocsd_dt_set_gen_elem_outfn\nleak:ocsd_dt_attach_packet_callback\n"
	       "leak:EtmV4P0Stack::createAddrElem\n";
}

#define START SYNC ON AT("00")
#define BEGUN "on 401000\nspace 7\n"

static const struct {
	const char *hex, *steps;
} streams[] = {
	{ "", "" },
	{ SYNC, "" },
	/* Not taken; a call; a return with its target address. */
	{ START "f6 f7 f7 95 04 f6", BEGUN "run 401000-401004 (2) conditional not to 401008\n"
					   "run 401008-40100c (2) call to 401020\n"
					   "run 401020-401024 (2) return to 401010\n"
					   "run 401010-401014 (2) conditional not\n" },
	/* An exception in the middle of a run, and its handler. */
	{ START "f6 06 1d 95 03 95 08 f7", BEGUN "run 401000-401004 (2) conditional not to 401008\n"
						 "run 401008-401008 (1) to 40100c\n"
						 "async 40100c to 401020: IRQ\n"
						 "run 401020-401024 (2) return\n" },
	/* A system call: the run before it ends there. */
	{ SYNC ON AT("0a") "06 05 95 0c 95 08 f7", "on 401028\n"
						   "space 7\n"
						   "run 401028-40102c (2) enter-kernel to 401020\n"
						   "run 401020-401024 (2) return\n" },
	/* A call exception that is not at the end of the run. */
	{ SYNC ON AT("0c") "06 05 95 0c 95 08 f7", "on 401030\n"
						   "space 7\n"
						   "async 401030 to 401020: call\n"
						   "run 401020-401024 (2) return\n" },
	/* ISB is a waypoint; indirect jump; ERET. */
	{ SYNC ON AT("0c") "db 95 0e f7 07 95 06 f7 95 04 f7",
	  "on 401030\n"
	  "space 7\n"
	  "run 401030-401030 (1) to 401034\n"
	  "run 401034-401034 (1) indirect to 401038\n"
	  "run 401038-401038 (1) leave-kernel to 401018\n"
	  "run 401018-401018 (1) indirect-call to 401010\n"
	  "run 401010-401014 (2) conditional\n" },
	/* A timestamp, and a context without an address. */
	{ START "02 85 01 f6 81 b0 08 00 00 00 f7",
	  BEGUN "run 401000-401004 (2) conditional not to 401008 at 133\n"
		"space 8 at 133\n"
		"run 401008-40100c (2) call at 133\n" },
	/* Tracing stops without a packet, and resumes elsewhere. */
	{ START "f6 " ON AT("04") "f6", BEGUN "run 401000-401004 (2) conditional not\n"
					      "off\n"
					      "on 401010\n"
					      "run 401010-401014 (2) conditional not\n" },
	/* Tracing stops with the address where it stopped. */
	{ START "f6 06 03 95 03 " ON AT("04") "f6", BEGUN "run 401000-401004 (2) conditional not to 401008\n"
							  "run 401008-401008 (1) to 40100c\n"
							  "off 40100c\n"
							  "on 401010\n"
							  "run 401010-401014 (2) conditional not\n" },
	/* Packets are lost. */
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
	/* There is no code. */
	{ SYNC ON "85 00 00 50 00 00 00 00 00 b0 07 00 00 00 f7 9d 04 08 40 00 00 00 00 00 f7",
	  "on 500000\n"
	  "space 7\n"
	  "gap 500000: no code is known here\n"
	  "run 401010-401014 (2) conditional\n" },
	/* A reserved header. */
	{ START "f6 47 f7 " SYNC AT("04") "f6", BEGUN "run 401000-401004 (2) conditional not\n"
						      "gap: invalid packet!\n"
						      "on 401010\n"
						      "run 401010-401014 (2) conditional not\n" },
	/* An exception without an address. */
	{ START "f6 06 1d 04 f7 " SYNC AT("04") "f6", BEGUN "run 401000-401004 (2) conditional not\n"
							    "gap: invalid packet!\n"
							    "on 401010\n"
							    "run 401010-401014 (2) conditional not\n" },
	/* AArch32 code, which is not damage. */
	{ START "f6 81 a0 08 00 00 00 f7 " SYNC AT("04") "f6",
	  BEGUN "run 401000-401004 (2) conditional not\n"
		"gap: AArch32 code is not decoded\n"
		"on 401010\n"
		"run 401010-401014 (2) conditional not\n" },
	/* Other code at the same address. */
	{ SYNC ON "85 00 00 80 00 00 00 00 00 b0 07 00 00 00 f6 02 85 01 04 90 f7",
	  "on 800000\n"
	  "space 7\n"
	  "run 800000-800000 (1) conditional not\n"
	  "off at 133\n"
	  "on 800000 at 133\n"
	  "run 800000-800000 (1) return at 133\n" },
	/* The end of memory. */
	{ SYNC ON "85 7f 7f ff ff ff ff ff ff b0 07 00 00 00 f7 f7", "gap: invalid packet!\n" },
	/* The bytes end within a packet. */
	{ START "f6 95", BEGUN "run 401000-401004 (2) conditional not\n" },
	/* A branch that OpenCSD would take for another instruction; nothing is guessed after it. */
	{ SYNC ON AT("10") "f7 f7 95 04 f6",
	  "on 401040\n"
	  "space 7\n"
	  "run 401040-401040 (1) to 401044\n"
	  "gap 401044: this branch instruction is newer than the version of OpenCSD\n"
	  "run 401010-401014 (2) conditional not\n" },
	/* Other code ran: a call was not taken. Nothing is reported up to the next address. */
	{ START "f6 f6 f7 f7 95 04 f6 f6",
	  BEGUN "run 401000-401004 (2) conditional not to 401008\n"
		"gap 40100c: other code ran than is known: a branch that is always "
		"taken was not?\n"
		"on 401010\n"
		"run 401010-401014 (2) conditional not to 401018\n"
		"gap 401018: other code ran than is known: a branch that is always "
		"taken was not?\n" },
	/* It is reported once. An exception has its own address, and so has trace that begins again. */
	{ SYNC ON AT("02") "f6 f6 06 1d 95 03 95 08 f7",
	  "on 401008\n"
	  "space 7\n"
	  "gap 40100c: other code ran than is known: a branch that is always taken was not?\n"
	  "async 40100c: IRQ\n"
	  "on 401020\n"
	  "run 401020-401024 (2) return\n" },
	/* Some units report a branch to the next instruction as not taken. */
	{ SYNC ON AT("14") "f6 06 1d 95 15 95 08 f7", "on 401050\n"
						      "space 7\n"
						      "run 401050-401050 (1) jump not to 401054\n"
						      "async 401054 to 401020: IRQ\n"
						      "run 401020-401024 (2) return\n" },
	/* The branch was not taken, but the next address is elsewhere. */
	{ START "f6 95 04 f6",
	  BEGUN "run 401000-401004 (2) conditional not\n"
		"gap 401008: other code ran than is known: the previous branch was not taken, but "
		"led elsewhere?\n"
		"on 401010\n"
		"run 401010-401014 (2) conditional not\n" },
	/* Code without end. */
	{ SYNC ON "85 00 00 24 01 00 00 00 00 b0 07 00 00 00 f7 9d 04 08 40 00 00 00 00 00 f7",
	  "on 1240000\n"
	  "space 7\n"
	  "run 1240000-12500fc (16448) to 1250100\n"
	  "gap 1250100: no code is known here\n"
	  "run 401010-401014 (2) conditional\n" },
	{ SYNC ON "85 00 00 24 01 00 00 00 00 b0 07 00 00 00 06 1d 9d 04 08 80 01 00 00 00 00 95 04 f7",
	  "on 1240000\n"
	  "space 7\n"
	  "run 1240000-12500fc (16448) to 1250100\n"
	  "gap 1250100: no code is known here\n"
	  "async 1801010 to 1801010: IRQ\n"
	  "run 1801010-181110c (16448) to 1811110\n"
	  "gap 1811110: no code is known here\n" },
};

static void each_stream(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(streams); i++) {
		unsigned char bytes[512];
		size_t size = bytes_of(streams[i].hex, bytes, sizeof(bytes));

		assert_string_equal(steps_of(&unit, bytes, size), streams[i].steps);
	}
}

/* Makes more steps than the queue has room for, with one packet after another: none is lost. */
static void many_atoms(void **state)
{
	static unsigned char bytes[64 + 200];
	const struct hwt_piece piece = { .bytes = bytes, .size = sizeof(bytes) };
	size_t begin = bytes_of(SYNC ON AT("07"), bytes, sizeof(bytes)), runs = 0;
	const char *message;
	struct hwt_step step;
	void *decoder = hwt_encoding_etm4.open(&unit, &piece, NULL, &message);

	(void)state;
	/*
	 * 40101c jumps to 401000; then taken to 401010, taken to 401004, and so on: 24 atoms E in each
	 * packet.
	 */
	memset(bytes + begin, 0xd4, sizeof(bytes) - begin);
	while (hwt_encoding_etm4.next(decoder, &step) > 0)
		runs += step.kind == HWT_RUN;
	hwt_encoding_etm4.close(decoder);
	assert_int_equal(runs, 24 * (sizeof(bytes) - begin));
}

/* Code is read for the time and address space of the packets before the run, not after it. */
static void code_as_of_then(void **state)
{
	unsigned char bytes[128];
	size_t size = bytes_of(SYNC ON AT("00") "f6 81 b0 08 00 00 00 02 85 01 9d 40 7f 40 00 00 00 00 00 f7",
			       bytes, sizeof(bytes));

	(void)state;
	steps_of(&unit, bytes, size);
	assert_int_equal(asked.pid, 3);
	assert_int_equal(asked.space, 8);
	assert_int_equal(asked.stamp, 1133);
}

/*
 * Mispredicted elements are taken back before they are reported. Elements uncommitted at the end are not
 * reported.
 */
static void speculation(void **state)
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
		/* OpenCSD would crash on these. */
		{ "95 04 30 f7", "gap: invalid packet!\n" },
		{ "f7 95 04 02 85 01 30 f7", "gap: invalid packet!\n" },
		{ "f7 06 1d 95 03 30 f7", "gap: invalid packet!\n" },
	};
	struct hwt_stream speculates = unit;

	(void)state;
	speculates.etm4.idr8 = 8;
	for (size_t i = 0; i < COUNT(guesses); i++) {
		unsigned char bytes[128];
		size_t begin = bytes_of(START, bytes, sizeof(bytes));
		size_t size = bytes_of(guesses[i].hex, bytes + begin, sizeof(bytes) - begin);

		assert_string_equal(steps_of(&speculates, bytes, begin + size), guesses[i].steps);
	}
}

/* Packets that other units may write are refused by name, not reported as damage. */
static void what_others_write(void **state)
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
		struct hwt_stream other = unit;
		const char *message = NULL;

		other.etm4.configr |= kinds_of[i].configr;
		assert_null(hwt_encoding_etm4.open(&other, &piece, NULL, &message));
		assert_string_equal(message, kinds_of[i].message);
	}
}

/* An ETE writes packets that an ETMv4 does not. */
static void what_an_ete_writes(void **state)
{
	static const struct {
		const char *hex, *steps;
	} written[] = {
		/* A timestamp marker and the timestamp. */
		{ START "88 02 85 01 f6", BEGUN "run 401000-401004 (2) conditional not at 133\n" },
		/* Source addresses instead of atoms: branches before them that were not taken become runs. */
		{ START "b4 03 95 08 b4 09 95 04 f6",
		  BEGUN "run 401000-401004 (2) conditional not to 401008\n"
			"run 401008-40100c (2) call to 401020\n"
			"run 401020-401024 (2) return to 401010\n"
			"run 401010-401014 (2) conditional not\n" },
		/* A transaction that fails: execution resumes where it began. */
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
	struct hwt_stream ete = unit;

	(void)state;
	ete.etm4.idr1 = 0x4100fff0;
	ete.etm4.devarch = 0x47715a13;
	for (size_t i = 0; i < COUNT(written); i++) {
		unsigned char bytes[128];
		size_t size = bytes_of(written[i].hex, bytes, sizeof(bytes));

		assert_string_equal(steps_of(&ete, bytes, size), written[i].steps);
	}
	/* OpenCSD would cancel one element too many, and crash. */
	{
		unsigned char bytes[128];
		size_t size = bytes_of(START "f6 f6 b0 34 2d 01", bytes, sizeof(bytes));

		ete.etm4.idr8 = 16;
		assert_string_equal(steps_of(&ete, bytes, size),
				    "gap: a cancelled source address is not decoded\n");
	}
	/* In a stream of an ETMv4 they are damage. */
	for (size_t i = 1; i < COUNT(written); i++) {
		unsigned char bytes[128];
		size_t size = bytes_of(written[i].hex, bytes, sizeof(bytes));

		assert_non_null(strstr(steps_of(&unit, bytes, size), "gap: invalid packet!\n"));
	}
}

/* Branches that are newer than OpenCSD are recognized; similar ones that it knows are not. */
static void branches_that_are_too_new(void **state)
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

/* The context id and VMID of the unit in software are an address space and a thread. */
static void unit_in_software(void **state)
{
	struct hwt_stream software = unit;
	unsigned char bytes[128];
	size_t size = bytes_of(SYNC ON "85 00 08 40 00 00 00 00 00 f0 2a 00 00 00 07 00 00 00 f6", bytes,
			       sizeof(bytes));

	(void)state;
	software.context.backend = KTRX_HWT_BACKEND_QEMU;
	software.etm4.configr |= 1u << 7;
	software.etm4.idr2 |= 4u << 10;
	assert_string_equal(steps_of(&software, bytes, size), "on 401000\nspace 7000 of 42\n"
							      "run 401000-401004 (2) conditional not\n");
}

/* 16-byte frames: ID 1, then 15 bytes of data; the last byte has the lowest bits of bytes in even places. */
static void frames(void **state)
{
	struct hwt_stream formatted = unit;
	unsigned char data[64], bytes[128] = { 0 };
	size_t size = bytes_of(START "f6 f7 f7 95 04 f6", data, sizeof(data)), framed = 0;

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
	assert_string_equal(steps_of(&formatted, bytes, framed),
			    BEGUN "run 401000-401004 (2) conditional not to 401008\n"
				  "run 401008-40100c (2) call to 401020\n"
				  "run 401020-401024 (2) return to 401010\n"
				  "run 401010-401014 (2) conditional not\n");
}

static void wrong_registers(void **state)
{
	struct hwt_stream other = unit;
	const struct hwt_piece piece = { .bytes = (const unsigned char *)"", .size = 0 };
	const char *message;

	(void)state;
	other.etm4.formatted = 1;
	other.etm4.traceidr = 0x7f; /* reserved: no trace source has this id */
	assert_null(hwt_encoding_etm4.open(&other, &piece, NULL, &message));
	assert_string_equal(message, "OpenCSD cannot decode a trace unit with these register values");
	other = unit;
	other.etm4.idr8 = UINT32_MAX; /* elements could be taken back without limit */
	assert_null(hwt_encoding_etm4.open(&other, &piece, NULL, &message));
	assert_string_equal(message, "OpenCSD cannot decode a trace unit with these register values");
}

static void take_line(void *to, uint64_t offset, const char *name, const char *text)
{
	char *all = to;
	size_t used = strlen(all);

	snprintf(all + used, 2048 - used, "%u %s: %s\n", (unsigned)offset, name, text);
}

static void lines_of_packets(void **state)
{
	char all[2048] = "";
	unsigned char bytes[128];
	struct hwt_piece piece = { .bytes = bytes };

	(void)state;
	piece.size = bytes_of("f7 " START "f6 06 1d 95 03 02 05 47 f7", bytes, sizeof(bytes));
	hwt_encoding_etm4.packets(&unit, &piece, take_line, all);
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
		cmocka_unit_test(each_stream),
		cmocka_unit_test(many_atoms),
		cmocka_unit_test(code_as_of_then),
		cmocka_unit_test(unit_in_software),
		cmocka_unit_test(frames),
		cmocka_unit_test(wrong_registers),
		cmocka_unit_test(lines_of_packets),
		cmocka_unit_test(speculation),
		cmocka_unit_test(what_others_write),
		cmocka_unit_test(what_an_ete_writes),
		cmocka_unit_test(branches_that_are_too_new),
	};

	return cmocka_run_group_tests_name("hwt_etm4", tests, NULL, NULL);
}
