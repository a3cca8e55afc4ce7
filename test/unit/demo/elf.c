/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the demo kernel's ELF loader: it loads a valid program, and rejects invalid ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "arch.h"
#include "memory.h"
#include "share.h"
#include "vm.h"

#define CODE USER_BASE
#define DATA (USER_BASE + 0x2000)

/* An ELF file with two segments: its layout as the ELF format defines it. */
struct header {
	uint8_t ident[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, phoff, shoff;
	uint32_t flags;
	uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, paddr, filesz, memsz, align;
};

static struct program {
	struct header header;
	struct segment segment[2];
	uint8_t rest[0x1200 - sizeof(struct header) - 2 * sizeof(struct segment)];
} program;

static int start(void **state)
{
	(void)state;
	fake_memory_reset();
	share_init();
	memset(&program, 0, sizeof(program));
	memset(program.rest, 0x11, sizeof(program.rest));
	program.header = (struct header){
		.ident = { 0x7f, 'E', 'L', 'F', 2, 1, 1 },
		.type = 2,
		.machine = user_elf_machine,
		.entry = CODE + 0x200,
		.phoff = sizeof(struct header),
		.phentsize = sizeof(struct segment),
		.phnum = 2,
	};
	program.segment[0] =
		(struct segment){ .type = 1, .flags = 5, .vaddr = CODE, .filesz = 0x1000, .memsz = 0x1000 };
	program.segment[1] = (struct segment){ .type = 1,
					       .flags = 6,
					       .offset = 0x1100,
					       .vaddr = DATA + 0x100,
					       .filesz = 0x80,
					       .memsz = 0x1800 };
	fake_memory.contents = &program;
	fake_memory.file.size = sizeof(program);
	return 0;
}

static int load(void)
{
	unsigned pages_before = fake_memory.pages_used;
	uintptr_t entry;
	struct vm vm;
	int error;

	assert_true(vm_init(&vm));
	error = elf_load(&vm, &fake_memory.file, &entry);
	vm_free(&vm);
	assert_int_equal(fake_memory.pages_used, pages_before);
	assert_int_equal(fake_memory.file.references, 0);
	return error;
}

static uint8_t byte_at(struct vm *vm, uintptr_t address)
{
	uint8_t byte;

	assert_int_equal(vm_copy_in(vm, &byte, address, 1), 0);
	return byte;
}

static void a_valid_program_is_loaded(void **state)
{
	uintptr_t entry;
	struct vm vm;

	(void)state;
	assert_true(vm_init(&vm));
	assert_int_equal(elf_load(&vm, &fake_memory.file, &entry), 0);
	assert_int_equal(entry, CODE + 0x200);
	assert_int_equal(byte_at(&vm, CODE), 0x7f);
	assert_int_equal(vm_fault(&vm, CODE, ACCESS_EXECUTE), VM_SPURIOUS);
	assert_int_equal(vm_fault(&vm, CODE, ACCESS_WRITE), VM_BAD_ACCESS);
	assert_int_equal(byte_at(&vm, DATA + 0x17f), 0x11);
	assert_int_equal(byte_at(&vm, DATA + 0x180), 0);
	assert_int_equal(vm_fault(&vm, DATA + 0x1000, ACCESS_WRITE), VM_ZERO);
	assert_int_equal(vm_fault(&vm, DATA, ACCESS_EXECUTE), VM_BAD_ACCESS);
	assert_int_equal(vm.brk, DATA + 0x2000);
	assert_int_equal(vm_brk(&vm, vm.brk + 8), DATA + 0x2008);
	assert_int_equal(vm_fault(&vm, DATA + 0x2000, ACCESS_WRITE), VM_ZERO);
	vm_free(&vm);
}

static void a_short_file_is_refused(void **state)
{
	(void)state;
	for (size_t size = 0; size < sizeof(program); size += 40) {
		fake_memory.file.size = size;
		assert_int_equal(load(), size < 0x1180 ? -ENOEXEC : 0);
	}
}

static void an_invalid_field_is_refused(void **state)
{
	(void)state;
#define REFUSED(field, value)    \
	start(state);            \
	program.field = (value); \
	assert_int_equal(load(), -ENOEXEC)
	REFUSED(header.ident[0], 0);
	REFUSED(header.ident[4], 1);
	REFUSED(header.ident[5], 2);
	REFUSED(header.type, 3);
	REFUSED(header.machine, user_elf_machine + 1);
	REFUSED(header.phentsize, 32);
	REFUSED(header.phnum, 17);
	REFUSED(header.phnum, 0);
	REFUSED(header.phoff, UINT64_MAX - 8);
	REFUSED(header.phoff, sizeof(program) - 8);
	REFUSED(header.entry, DATA + 0x100);
	REFUSED(header.entry, 0);
	REFUSED(segment[0].vaddr, 0);
	REFUSED(segment[0].vaddr, UINT64_MAX - 0xfff);
	REFUSED(segment[0].vaddr, USER_STACK - 0x1000);
	REFUSED(segment[0].vaddr, DATA);
	REFUSED(segment[0].vaddr, CODE + 1);
	REFUSED(segment[0].filesz, 0x1001);
	REFUSED(segment[0].memsz, UINT64_MAX);
	REFUSED(segment[0].offset, UINT64_MAX - 0xfff);
	REFUSED(segment[1].filesz, 0x101);
#undef REFUSED
}

static void any_changed_byte_is_harmless(void **state)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };

	for (size_t at = 0; at < offsetof(struct program, rest); at++) {
		for (size_t i = 0; i < sizeof(values); i++) {
			int error;

			start(state);
			((uint8_t *)&program)[at] = values[i];
			error = load();
			assert_true(error == 0 || error == -ENOEXEC || error == -ENOMEM);
		}
	}
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_valid_program_is_loaded),
		TEST(a_short_file_is_refused),
		TEST(an_invalid_field_is_refused),
		TEST(any_changed_byte_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
