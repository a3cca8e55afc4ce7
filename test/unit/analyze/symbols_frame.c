/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests reading call frame information (host/analyze/symbols_file.c) from small ELF files: rules for the
 * registers of each machine, rules that cannot be expressed, and malformed sections.
 */
#include <dwarf.h>
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/symbols_file.h"

#define TEXT   UINT64_C(0xffffffff80001000) /* address of the function, which has LENGTH bytes */
#define LENGTH 0x100u
#define EH_AT  (TEXT + 0x1000) /* address of .eh_frame */

/* Contents of a section. */
struct part {
	unsigned char byte[1024];
	size_t length;
};

/* The registers of a machine, by DWARF's numbers. */
struct machine {
	uint16_t elf;
	unsigned char sp, frame, back;
};

static const struct machine x86 = { EM_X86_64, 7, 6, 16 };
static const struct machine arm = { EM_AARCH64, 31, 29, 30 };
static const struct machine riscv = { EM_RISCV, 2, 8, 1 };

/* ---- Writing files ------------------------------------------------------------------------------- */

static void put(struct part *part, const void *bytes, size_t size)
{
	assert_in_range(size, 0, sizeof(part->byte) - part->length);
	memcpy(part->byte + part->length, bytes, size);
	part->length += size;
}

static void put_word(struct part *part, uint64_t word, size_t size)
{
	put(part, &word, size);
}

/* Begins a record, whose length end_record() fills in. Returns its offset. */
static size_t begin_record(struct part *part)
{
	put_word(part, 0, 4);
	return part->length - 4;
}

static void end_record(struct part *part, size_t begin)
{
	uint32_t length;

	while ((part->length - begin) % 8 != 4)
		put_word(part, DW_CFA_nop, 1);
	length = (uint32_t)(part->length - begin - 4);
	memcpy(part->byte + begin, &length, sizeof(length));
}

/* An augmentation of "" makes a record of .debug_frame, any other makes one of .eh_frame. */
struct rules {
	const char *augmentation;
	unsigned char back;
	const char *bytes; /* call frame instructions */
	size_t size;
};

/* Adds the rules of the function: a CIE without instructions, and an FDE with the instructions. */
static void put_rules(struct part *part, const struct rules *rules)
{
	const bool is_eh = rules->augmentation[0] != '\0';
	const size_t cie = begin_record(part);
	size_t fde;

	put_word(part, is_eh ? 0 : UINT32_MAX, 4);
	put_word(part, is_eh ? 1 : 3, 1); /* the version */
	put(part, rules->augmentation, strlen(rules->augmentation) + 1);
	put_word(part, 1, 1);	 /* unit of addresses */
	put_word(part, 0x78, 1); /* unit of offsets: -8 */
	put_word(part, rules->back, 1);
	if (is_eh) {
		put_word(part, 1, 1);
		put_word(part, DW_EH_PE_absptr, 1);
	}
	end_record(part, cie);
	fde = begin_record(part);
	put_word(part, is_eh ? part->length - cie : cie, 4);
	put_word(part, TEXT, 8);
	put_word(part, LENGTH, 8);
	if (is_eh)
		put_word(part, 0, 1);
	put(part, rules->bytes, rules->size);
	end_record(part, fde);
}

struct elf {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr section[5]; /* none, .text, .eh_frame, .debug_frame, .shstrtab */
	unsigned char text[LENGTH];
	struct part part[2];
	char names[40];
};

static const char names[] = "\0.text\0.eh_frame\0.debug_frame\0.shstrtab";

static struct elf make_elf(uint16_t machine, const struct part *eh, const struct part *debug)
{
	struct elf elf = {
		.header = { .e_type = ET_EXEC,
			    .e_machine = machine,
			    .e_version = EV_CURRENT,
			    .e_phoff = offsetof(struct elf, segment),
			    .e_shoff = offsetof(struct elf, section),
			    .e_ehsize = sizeof(elf.header),
			    .e_phentsize = sizeof(elf.segment),
			    .e_phnum = 1,
			    .e_shentsize = sizeof(elf.section[0]),
			    .e_shnum = 5,
			    .e_shstrndx = 4 },
		.segment = { .p_type = PT_LOAD,
			     .p_flags = PF_R | PF_X,
			     .p_offset = offsetof(struct elf, text),
			     .p_vaddr = TEXT,
			     .p_filesz = LENGTH,
			     .p_memsz = 0x2000 },
		.section = { { 0 },
			     { 1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, offsetof(struct elf, text),
			       LENGTH, 0, 0, 1, 0 },
			     { 7, eh ? SHT_PROGBITS : SHT_NULL, SHF_ALLOC, EH_AT,
			       offsetof(struct elf, part[0].byte), eh ? eh->length : 0, 0, 0, 8, 0 },
			     { 17, debug ? SHT_PROGBITS : SHT_NULL, 0, 0, offsetof(struct elf, part[1].byte),
			       debug ? debug->length : 0, 0, 0, 8, 0 },
			     { 30, SHT_STRTAB, 0, 0, offsetof(struct elf, names), sizeof(names), 0, 0, 1,
			       0 } },
	};

	memcpy(elf.header.e_ident, ELFMAG, SELFMAG);
	elf.header.e_ident[EI_CLASS] = ELFCLASS64;
	elf.header.e_ident[EI_DATA] = ELFDATA2LSB;
	elf.header.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(elf.names, names, sizeof(names));
	if (eh)
		elf.part[0] = *eh;
	if (debug)
		elf.part[1] = *debug;
	return elf;
}

/* Reads the frame for an address from a file with these two sections, each of which may be NULL. */
static int read_frame(uint16_t machine, const struct part *eh, const struct part *debug, uint64_t address,
		      struct symbols_frame *frame)
{
	const struct elf elf = make_elf(machine, eh, debug);
	struct symbols_file file = { .dwfl = NULL };
	char path[] = "/tmp/ktrace-frame-XXXXXX";
	int written = mkstemp(path), status;

	assert_int_equal(write(written, &elf, sizeof(elf)), sizeof(elf));
	close(written);
	status = symbols_file_open(&file, path);
	unlink(path);
	if (status == 0)
		status = symbols_file_frame(&file, machine, address, frame);
	symbols_file_close(&file);
	return status;
}

/* Reads the frame at an offset in the function. Checks that both kinds of sections give the same result. */
static int read_rules(const struct machine *machine, const char *bytes, size_t size, uint64_t offset,
		      struct symbols_frame *frame)
{
	const struct rules eh_rules = { "zR", machine->back, bytes, size };
	const struct rules debug_rules = { "", machine->back, bytes, size };
	struct part eh = { .length = 0 }, debug = { .length = 0 };
	struct symbols_frame other = { .cfa = 0 };
	int status;

	*frame = other;
	put_rules(&eh, &eh_rules);
	put_word(&eh, 0, 4); /* the end of the section */
	put_rules(&debug, &debug_rules);
	status = read_frame(machine->elf, &eh, NULL, TEXT + offset, frame);
	assert_int_equal(read_frame(machine->elf, NULL, &debug, TEXT + offset, &other), status);
	if (status == 0)
		assert_memory_equal(frame, &other, sizeof(other));
	return status;
}

#define READ(machine, bytes, offset, frame) read_rules(machine, bytes, sizeof(bytes) - 1, offset, frame)

static void expect(const struct symbols_frame *frame, bool by_frame, int64_t cfa, int64_t back,
		   int64_t stored_frame)
{
	assert_false(frame->is_outermost);
	assert_false(frame->is_interrupt);
	assert_int_equal(frame->by_frame, by_frame);
	assert_int_equal(frame->cfa, cfa);
	assert_int_equal(frame->back_stored, back != 0);
	assert_int_equal(frame->back, back);
	assert_int_equal(frame->frame_stored, stored_frame != 0);
	assert_int_equal(frame->frame, stored_frame);
}

/* ---- Rules --------------------------------------------------------------------------------------- */

/* push %rbp; mov %rsp, %rbp */
static const char push_frame[] = "\x0c\x07\x08\x90\x01" /* CFA is rsp + 8; rip is at CFA - 8 */
				 "\x41\x0e\x10\x86\x02" /* after 1 byte: CFA + 16; rbp is at CFA - 16 */
				 "\x43\x0d\x06";	/* after 3 bytes: CFA is rbp + 16 */

static void frames_of_x86_64_are_read_at_each_instruction(void **state)
{
	struct symbols_frame frame;

	(void)state;
	assert_int_equal(READ(&x86, push_frame, 0, &frame), 0);
	expect(&frame, false, 8, -8, 0);
	assert_int_equal(READ(&x86, push_frame, 1, &frame), 0);
	expect(&frame, false, 16, -8, -16);
	assert_int_equal(READ(&x86, push_frame, 3, &frame), 0);
	expect(&frame, false, 16, -8, -16);
	assert_int_equal(READ(&x86, push_frame, 4, &frame), 0);
	expect(&frame, true, 16, -8, -16);
	assert_int_equal(READ(&x86, push_frame, LENGTH - 1, &frame), 0);
	expect(&frame, true, 16, -8, -16);
	assert_int_equal(READ(&x86, push_frame, LENGTH, &frame), -1);
	assert_int_equal(READ(&x86, push_frame, UINT64_MAX, &frame), -1);
}

/* A leaf function has its return address in a register. Other functions store it. */
static void frames_of_aarch64_and_riscv_are_read(void **state)
{
	static const char of_arm[] = "\x0c\x1f\x00"		    /* CFA is sp */
				     "\x44\x0e\x20\x9d\x04\x9e\x03" /* CFA is sp + 32; x29, x30 at -32, -24 */
				     "\x44\x0d\x1d";		    /* CFA is x29 + 32 */
	static const char of_riscv[] = "\x0c\x02\x00\x44\x0e\x10\x81\x01\x88\x02\x44\x0c\x08\x00";
	struct symbols_frame frame;

	(void)state;
	assert_int_equal(READ(&arm, of_arm, 0, &frame), 0);
	expect(&frame, false, 0, 0, 0);
	assert_int_equal(READ(&arm, of_arm, 4, &frame), 0);
	expect(&frame, false, 32, -24, -32);
	assert_int_equal(READ(&arm, of_arm, 8, &frame), 0);
	expect(&frame, true, 32, -24, -32);
	assert_int_equal(READ(&riscv, of_riscv, 0, &frame), 0);
	expect(&frame, false, 0, 0, 0);
	assert_int_equal(READ(&riscv, of_riscv, 4, &frame), 0);
	expect(&frame, false, 16, -8, -16);
	assert_int_equal(READ(&riscv, of_riscv, 8, &frame), 0);
	expect(&frame, true, 0, -8, -16);
}

static void undefined_return_address_is_the_outermost_function(void **state)
{
	static const char of_x86[] = "\x0c\x07\x08\x07\x10", of_arm[] = "\x0c\x1f\x00\x07\x1e",
			  of_riscv[] = "\x0c\x02\x00\x07\x01";
	struct symbols_frame frame;

	(void)state;
	assert_int_equal(READ(&x86, of_x86, 0, &frame), 0);
	assert_true(frame.is_outermost);
	assert_int_equal(READ(&arm, of_arm, 0, &frame), 0);
	assert_true(frame.is_outermost);
	assert_int_equal(READ(&riscv, of_riscv, 0, &frame), 0);
	assert_true(frame.is_outermost);
}

static void signal_frame_is_that_of_an_interrupted_instruction(void **state)
{
	const struct rules rules = { "zRS", 16, "\x0c\x07\x28\x90\x05", 5 };
	struct part eh = { .length = 0 };
	struct symbols_frame frame;

	(void)state;
	put_rules(&eh, &rules);
	put_word(&eh, 0, 4);
	assert_int_equal(read_frame(EM_X86_64, &eh, NULL, TEXT + 9, &frame), 0);
	assert_true(frame.is_interrupt);
	assert_true(frame.back_stored);
	assert_int_equal(frame.cfa, 40);
	assert_int_equal(frame.back, -40);
}

/* struct symbols_frame can express only a CFA from two registers, and registers at fixed offsets from it. */
static void rules_that_cannot_be_expressed_are_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} rules[] = {
		{ "\x0c\x00\x08\x90\x01", 5 },		   /* CFA is rax + 8 */
		{ "\x0f\x03\x77\x08\x06\x90\x01", 7 },	   /* CFA is *(rsp + 8) */
		{ "\x0c\x07\x08\x09\x10\x00", 6 },	   /* rip is in rax */
		{ "\x0c\x07\x08\x10\x10\x02\x77\x00", 8 }, /* rip is at rsp, by an expression */
		{ "\x0c\x07\x08\x14\x10\x01", 6 },	   /* rip is the value CFA - 8 */
		{ "\x0c\x07\x08\x08\x10", 5 },		   /* rip has not changed */
		{ "\x0c\x07\x08\x90\x01\x09\x06\x03", 8 }, /* rbp is in rbx */
		{ "\x90\x01", 2 },			   /* there is no CFA */
	};
	struct symbols_frame frame;

	(void)state;
	for (size_t n = 0; n < sizeof(rules) / sizeof(rules[0]); n++)
		assert_int_equal(read_rules(&x86, rules[n].bytes, rules[n].size, 0, &frame), -1);
}

static void other_machines_and_other_return_addresses_are_refused(void **state)
{
	const struct machine wrong = { EM_X86_64, 7, 6, 15 }, unknown = { EM_S390, 7, 6, 16 };
	struct symbols_frame frame;

	(void)state;
	assert_int_equal(READ(&wrong, push_frame, 0, &frame), -1);
	assert_int_equal(READ(&unknown, push_frame, 0, &frame), -1);
	assert_int_equal(read_frame(EM_X86_64, NULL, NULL, TEXT, &frame), -1);
}

/* .debug_frame has rules that cannot be expressed. */
static void eh_frame_is_used_if_debug_frame_cannot_be(void **state)
{
	const struct rules good = { "zR", 16, push_frame, sizeof(push_frame) - 1 };
	const struct rules bad = { "", 16, "\x0f\x03\x77\x08\x06\x90\x01", 7 };
	struct part eh = { .length = 0 }, debug = { .length = 0 };
	struct symbols_frame frame;

	(void)state;
	put_rules(&eh, &good);
	put_word(&eh, 0, 4);
	put_rules(&debug, &bad);
	assert_int_equal(read_frame(EM_X86_64, &eh, &debug, TEXT + 4, &frame), 0);
	expect(&frame, true, 16, -8, -16);
}

/* ---- Malformed files ----------------------------------------------------------------------------- */

/* The offsets are stored unchanged, or refused. stack_walk.c checks them before it uses them. */
static void huge_offsets_are_harmless(void **state)
{
#define MOST "\xff\xff\xff\xff\xff\xff\xff\xff\xff"
	static const struct {
		const char *bytes;
		size_t size;
	} rules[] = {
		{ "\x0c\x07" MOST "\x01\x90\x01", 14 },		/* def_cfa */
		{ "\x12\x07" MOST "\x00\x90\x01", 14 },		/* def_cfa_sf */
		{ "\x0c\x07\x08\x90" MOST "\x01", 14 },		/* offset */
		{ "\x0c\x07\x08\x11\x10" MOST "\x00", 15 },	/* offset_extended_sf */
		{ "\x0c\x07\x08\x90\x01\x86" MOST "\x01", 16 }, /* offset of rbp */
		{ "\x0c" MOST "\x01\x08\x90\x01", 14 },		/* number of the register */
		{ "\x0c\x07\x08\x05" MOST "\x01\x01", 15 },	/* offset_extended of a register */
		{ "\x0f" MOST "\x01\x77\x08", 13 },		/* length of an expression */
	};
	struct symbols_frame frame;

	(void)state;
	for (size_t n = 0; n < sizeof(rules) / sizeof(rules[0]); n++)
		read_rules(&x86, rules[n].bytes, rules[n].size, 0, &frame);
}

static void instructions_that_are_cut_off_are_refused(void **state)
{
	static const char bytes[] = "\x0c\x07\x08\x90\x01\x0f\x7f";
	struct symbols_frame frame;

	(void)state;
	assert_int_equal(READ(&x86, bytes, 0, &frame), -1);
	assert_int_equal(read_rules(&x86, "\x0b", 1, 0, &frame),
			 -1); /* restores a state that was not saved */
	assert_int_equal(read_rules(&x86, "\x3f", 1, 0, &frame), -1); /* an unknown instruction */
}

/* Each byte of both sections is replaced, and the sections are cut off at each length. */
static void malformed_sections_are_harmless(void **state)
{
	static const unsigned char values[] = { 0, 0x7f, 0xff };
	const struct rules eh_rules = { "zR", 16, push_frame, sizeof(push_frame) - 1 };
	const struct rules debug_rules = { "", 16, push_frame, sizeof(push_frame) - 1 };
	struct part whole[2] = { { .length = 0 }, { .length = 0 } };
	struct symbols_frame frame;

	(void)state;
	put_rules(&whole[0], &eh_rules);
	put_word(&whole[0], 0, 4);
	put_rules(&whole[1], &debug_rules);
	for (unsigned which = 0; which < 2; which++)
		for (size_t at = 0; at < whole[which].length; at++) {
			struct part part = whole[which];

			for (size_t n = 0; n < sizeof(values); n++) {
				part.byte[at] = values[n];
				read_frame(EM_X86_64, which ? NULL : &part, which ? &part : NULL, TEXT + 4,
					   &frame);
			}
			part = whole[which];
			part.length = at;
			read_frame(EM_X86_64, which ? NULL : &part, which ? &part : NULL, TEXT + 4, &frame);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_x86_64_are_read_at_each_instruction),
		cmocka_unit_test(frames_of_aarch64_and_riscv_are_read),
		cmocka_unit_test(undefined_return_address_is_the_outermost_function),
		cmocka_unit_test(signal_frame_is_that_of_an_interrupted_instruction),
		cmocka_unit_test(rules_that_cannot_be_expressed_are_refused),
		cmocka_unit_test(other_machines_and_other_return_addresses_are_refused),
		cmocka_unit_test(eh_frame_is_used_if_debug_frame_cannot_be),
		cmocka_unit_test(huge_offsets_are_harmless),
		cmocka_unit_test(instructions_that_are_cut_off_are_refused),
		cmocka_unit_test(malformed_sections_are_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
