/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests reading registers from the notes of ELF core dumps: for each machine, and from malformed files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/cpu_state.h"

#define DATA	 (112 + 34 * 8) /* size of the data of each note, in bytes */
#define NOTES_AT (sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr))

/*
 * A core dump with notes of two CPUs. Each note consists of 64-bit values. Value n of the first note is n,
 * value n of the second note is n + 0x100.
 */
struct core {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	struct {
		Elf64_Nhdr head;
		char name[8];
		unsigned char data[DATA];
	} note[2];
};

static struct core make(uint16_t machine)
{
	struct core core = {
		.header = { .e_type = ET_CORE,
			    .e_machine = machine,
			    .e_phoff = sizeof(core.header),
			    .e_phnum = 1,
			    .e_phentsize = sizeof(core.segment) },
		.segment = { .p_type = PT_NOTE, .p_offset = NOTES_AT, .p_filesz = sizeof(core.note) }
	};

	memcpy(core.header.e_ident, ELFMAG, SELFMAG);
	core.header.e_ident[EI_CLASS] = ELFCLASS64;
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		core.note[cpu].head = (Elf64_Nhdr){ 5, DATA, NT_PRSTATUS };
		memcpy(core.note[cpu].name, "CORE", 5);
		for (unsigned word = 0; word < 34; word++) {
			core.note[cpu].data[112 + word * 8] = (unsigned char)word;
			core.note[cpu].data[112 + word * 8 + 1] = (unsigned char)cpu;
		}
	}
	return core;
}

/* Returns the registers as text, which the caller frees. */
static char *read_core(const struct core *core, size_t bytes)
{
	char path[] = "/tmp/ktrace-unit-XXXXXX", *text;
	int fd = mkstemp(path);

	assert_int_equal(write(fd, core, bytes), bytes);
	close(fd);
	assert_int_equal(capture_core_registers(path, &text), 0);
	unlink(path);
	return text;
}

static void check(uint16_t machine, const char *first, const char *second)
{
	const struct core core = make(machine);
	char *text = read_core(&core, sizeof(core));

	assert_non_null(text);
	assert_memory_equal(text, first, strlen(first));
	assert_non_null(strstr(text, second));
	free(text);
}

static void registers_are_read_in_gdb_order(void **state)
{
	(void)state;
	check(EM_X86_64, "cpu 0 sp=13 pc=10 rax=a rbx=5 rcx=b rdx=c rsi=d rdi=e rbp=4 r8=9 r9=8 ",
	      "\ncpu 1 sp=113 pc=110 rax=10a ");
	check(EM_AARCH64, "cpu 0 sp=1f pc=20 x0=0 x1=1 ", "\ncpu 1 sp=11f pc=120 x0=100 ");
	check(EM_X86_64, "cpu 0 ", " r15=0 flags=12 cs=11 ss=14\n");
	check(EM_AARCH64, "cpu 0 ", " pstate=21\n");
	check(EM_RISCV, "cpu 0 sp=2 pc=0 zero=0 ra=1 gp=3 ", "\ncpu 1 sp=102 pc=100 zero=0 ra=101 ");
}

static void malformed_cores_are_harmless(void **state)
{
	struct core core = make(EM_X86_64);
	char *text;

	(void)state;
	for (size_t bytes = 0; bytes < sizeof(core);
	     bytes += 7) { /* the file is truncated, so notes are missing */
		text = read_core(&core, bytes);
		assert_null(text);
	}
	core.note[0].head.n_descsz = UINT32_MAX;
	assert_null(read_core(&core, sizeof(core)));
	core.note[0].head.n_descsz = 130; /* now the note ends in the middle of the registers */
	text = read_core(&core, sizeof(core));
	free(text);
	core = make(EM_X86_64);
	core.note[0].head.n_namesz = UINT32_MAX;
	assert_null(read_core(&core, sizeof(core)));
	core = make(EM_X86_64);
	core.segment.p_filesz = UINT64_MAX;
	assert_null(read_core(&core, sizeof(core)));
	core.segment.p_filesz = 4;
	assert_null(read_core(&core, sizeof(core)));
	core = make(EM_X86_64);
	core.header.e_phoff = UINT64_MAX;
	assert_null(read_core(&core, sizeof(core)));
	core = make(EM_SPARC);
	text = read_core(&core, sizeof(core));
	assert_string_equal(text, "cpu 0\ncpu 1\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_are_read_in_gdb_order),
		cmocka_unit_test(malformed_cores_are_harmless),
	};

	return cmocka_run_group_tests_name("capture_core", tests, NULL, NULL);
}
