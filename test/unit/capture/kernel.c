/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests that build ids, ktrace's sections and symbols are read from valid and damaged kernel files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/error.h"
#include "capture/kernel_elf.h"
#include "ktrx/v2.h"

/* A kernel of one loaded segment, which contains an ELF note. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment[2];
	Elf64_Nhdr note;
	char name[4];
	unsigned char id[20];
};

static struct image make_image(void)
{
	struct image image = {
		.header = { .e_machine = EM_RISCV, .e_phnum = 2, .e_phentsize = sizeof(Elf64_Phdr) },
		.note = { 4, 20, NT_GNU_BUILD_ID },
		.name = "GNU",
	};
	uint64_t offset = offsetof(struct image, note), size = sizeof(image) - offset;

	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = ELFCLASS64;
	image.header.e_ident[EI_DATA] = ELFDATA2LSB;
	image.header.e_ident[EI_VERSION] = EV_CURRENT;
	image.header.e_phoff = offsetof(struct image, segment);
	image.segment[0] =
		(Elf64_Phdr){ .p_type = PT_LOAD, .p_paddr = 0x80200000, .p_filesz = sizeof(image) };
	image.segment[1] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = offset, .p_filesz = size };
	memset(image.id, 0xab, sizeof(image.id));
	return image;
}

static int read_bytes(struct capture_kernel *kernel, const void *bytes, size_t size)
{
	char path[] = "/tmp/ktrace-unit-XXXXXX";
	int fd = mkstemp(path);
	int error;

	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
	error = capture_kernel_read(kernel, path);
	unlink(path);
	return error;
}

static void the_build_id_is_read(void **state)
{
	struct image image = make_image();
	struct capture_kernel kernel;

	(void)state;
	assert_int_equal(read_bytes(&kernel, &image, sizeof(image)), 0);
	assert_int_equal(kernel.machine, EM_RISCV);
	assert_int_equal(kernel.build_id_size, 20);
	assert_memory_equal(kernel.build_id, image.id, 20);
	assert_int_equal(kernel.build_id_physical, 0x80200000 + offsetof(struct image, id));
}

static void broken_files_are_errors_or_have_no_id(void **state)
{
	struct image image = make_image();
	struct capture_kernel kernel;

	(void)state;
	for (size_t size = 0; size < offsetof(struct image, id) + sizeof(image.id); size++) {
		int error = read_bytes(&kernel, &image, size);

		assert_true(error < 0 || kernel.build_id_size == 0);
	}
	image.header.e_phoff = UINT64_MAX - 8;
	assert_int_equal(read_bytes(&kernel, &image, sizeof(image)), CAPTURE_E_FORMAT);
	image = make_image();
	image.header.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(read_bytes(&kernel, &image, sizeof(image)), CAPTURE_E_FORMAT);
	image = make_image();
	image.note.n_namesz = UINT32_MAX;
	assert_int_equal(read_bytes(&kernel, &image, sizeof(image)), 0);
	assert_int_equal(kernel.build_id_size, 0);
	image = make_image();
	image.segment[1].p_offset = UINT64_MAX - 4;
	assert_int_equal(read_bytes(&kernel, &image, sizeof(image)), 0);
	assert_int_equal(kernel.build_id_size, 0);
	assert_int_equal(capture_kernel_read(&kernel, "/nonexistent"), CAPTURE_E_SYSTEM);
	assert_int_equal(capture_kernel_read(&kernel, "/"), CAPTURE_E_FORMAT);
}

/* A kernel of one loaded segment with ktrace's sections and symbols, and one section that is not loaded. */
struct linked {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr section[6];
	Elf64_Sym symbol[4];
	char names[120];
	char data[64];
};

enum { NAMES = 1, SYMBOLS, EVENTS, SETTINGS, OTHER };

/* Adds a name to the string table and returns its offset. */
static uint32_t name_of(struct linked *image, const char *name)
{
	static uint32_t used;
	uint32_t at = image->names[1] ? used : 1;

	strcpy(image->names + at, name);
	used = at + (uint32_t)strlen(name) + 1;
	assert_true(used <= sizeof(image->names));
	return at;
}

static struct linked make_linked(void)
{
	const uint64_t base = 0x80200000, data = offsetof(struct linked, data);
	struct linked image = {
		.header = { .e_machine = EM_RISCV,
			    .e_phoff = offsetof(struct linked, segment),
			    .e_phnum = 1,
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_shoff = offsetof(struct linked, section),
			    .e_shnum = 6,
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shstrndx = NAMES },
	};

	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = ELFCLASS64;
	image.header.e_ident[EI_DATA] = ELFDATA2LSB;
	image.header.e_ident[EI_VERSION] = EV_CURRENT;
	image.segment = (Elf64_Phdr){ .p_type = PT_LOAD,
				      .p_paddr = base,
				      .p_vaddr = base,
				      .p_filesz = sizeof(image),
				      .p_memsz = sizeof(image) };
	image.section[NAMES] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
					     .sh_offset = offsetof(struct linked, names),
					     .sh_size = sizeof(image.names) };
	image.section[SYMBOLS] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
					       .sh_offset = offsetof(struct linked, symbol),
					       .sh_size = sizeof(image.symbol),
					       .sh_link = NAMES };
	image.section[EVENTS] = (Elf64_Shdr){ .sh_name = name_of(&image, "ktrace_events"),
					      .sh_type = SHT_PROGBITS,
					      .sh_flags = SHF_ALLOC,
					      .sh_offset = data,
					      .sh_addr = base + data,
					      .sh_size = 48 };
	image.section[SETTINGS] = image.section[EVENTS];
	image.section[SETTINGS].sh_name = name_of(&image, "ktrace_settings");
	image.section[SETTINGS].sh_flags = 0;
	image.symbol[1] =
		(Elf64_Sym){ .st_name = name_of(&image, "ktrace_root"), .st_shndx = 3, .st_value = base + 8 };
	image.symbol[2] = (Elf64_Sym){ .st_name = name_of(&image, "end"),
				       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE),
				       .st_shndx = 3,
				       .st_value = base + 0x9000 };
	return image;
}

static void sections_and_symbols_are_read(void **state)
{
	struct linked image = make_linked();
	struct capture_kernel kernel;

	(void)state;
	assert_int_equal(read_bytes(&kernel, &image, sizeof(image)), 0);
	assert_int_equal(kernel.root_address, 0x80200008);
	assert_int_equal(kernel.root_physical, 0x80200008);
	assert_int_equal(kernel.image_end, 0x80209000);
	assert_int_equal(kernel.events.size, 48);
	assert_int_equal(kernel.events.address, 0x80200000 + offsetof(struct linked, data));
	assert_true(kernel.events.loaded);
	assert_int_equal(kernel.settings.size, 48);
	assert_false(kernel.settings.loaded);
	/* now the symbol is local, so it may belong to another object with the same name */
	image.symbol[2].st_info = 0;
	assert_int_equal(read_bytes(&kernel, &image, sizeof(image)), 0);
	assert_int_equal(kernel.image_end, 0);
}

/*
 * If several symbols have names that may mark the start of the memory that start code clears, the name that says
 * so most clearly counts, whatever the order of the symbols. `__bss_start` may be defined by the linker.
 */
static void the_clearest_name_marks_the_start_of_bss(void **state)
{
	static const struct {
		const char *first, *second, *taken;
	} cases[] = {
		{ "bss", "bss_start", "bss_start" },
		{ "bss_start", "bss", "bss_start" },
		{ "__bss_start", "bss", "bss" },
		{ "_sbss", "__bss_start", "_sbss" },
		{ "__bss", "kernel_bss_start", "kernel_bss_start" },
	};
	struct capture_kernel kernel;

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		struct linked image = make_linked();

		image.symbol[1].st_name = name_of(&image, cases[n].first);
		image.symbol[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
		image.symbol[2].st_name = name_of(&image, cases[n].second);
		assert_int_equal(read_bytes(&kernel, &image, sizeof(image)), 0);
		assert_string_equal(kernel.bss.start_name, cases[n].taken);
		assert_int_equal(kernel.bss.start, strcmp(cases[n].taken, cases[n].first) == 0
							   ? image.symbol[1].st_value
							   : image.symbol[2].st_value);
	}
}

/* A symbol is no hook if its name only begins like the name of a hook, or if it is not a function. */
static void linked_hooks_are_found(void **state)
{
	static const struct {
		const char *name;
		unsigned char type;
		uint32_t hooks;
	} cases[] = {
		{ "ktrace_thread_exit", STT_FUNC, KTRX_HOOK_EXIT },
		{ "ktrace_space", STT_FUNC, KTRX_HOOK_SPACE },
		{ "ktrace_space", STT_OBJECT, 0 },
		{ "ktrace_spaces", STT_FUNC, 0 },
		{ "ktrace_ipi_wait_end", STT_FUNC, 0 },
		{ "ktrace_ipi_wait_at", STT_FUNC, KTRX_HOOK_IPI },
	};
	struct capture_kernel kernel;

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		struct linked image = make_linked();

		image.symbol[2].st_name = name_of(&image, cases[n].name);
		image.symbol[2].st_info = ELF64_ST_INFO(STB_GLOBAL, cases[n].type);
		assert_int_equal(read_bytes(&kernel, &image, sizeof(image)), 0);
		assert_int_equal(kernel.hooks, cases[n].hooks);
	}
}

static void functions_for_locks_and_threads_are_switch_points(void **state)
{
	static const struct {
		const char *name;
		uint32_t count;
	} cases[] = {
		{ "ktrace_lock_acquire_at", 1 }, { "ktrace_fact_sched_wake", 1 },
		{ "ktrace_thread_block", 1 },	 { "ktrace_lock_acquired", 0 },
		{ "ktrace_irq_enter", 0 },
	};
	struct capture_kernel kernel;

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		struct linked image = make_linked();

		image.symbol[2].st_name = name_of(&image, cases[n].name);
		image.symbol[2].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
		assert_int_equal(read_bytes(&kernel, &image, sizeof(image)), 0);
		assert_int_equal(kernel.switch_points, cases[n].count);
		if (cases[n].count)
			assert_int_equal(kernel.switch_point[0], image.symbol[2].st_value);
	}
}

/* The linker's name of the rings states whether the library was compiled with a port header. */
static void rings_are_found_by_each_of_their_names(void **state)
{
	static const struct {
		const char *name;
		bool found;
	} cases[] = {
		{ "ktrace_ring", true },
		{ "ktrace_ring_with_ktrace_port_h", true },
		{ "ktrace_ring_without_ktrace_port_h", true },
		{ "ktrace_ring_number", false },
		{ "ktrace_rin", false },
	};
	struct capture_kernel kernel;

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		struct linked image = make_linked();

		image.symbol[2].st_name = name_of(&image, cases[n].name);
		image.symbol[2].st_value = 0x5000;
		assert_int_equal(read_bytes(&kernel, &image, sizeof(image)), 0);
		assert_int_equal(kernel.object[1].address == 0x5000, cases[n].found);
	}
}

/* The tables may contain any values. No byte outside the file is read. */
static void hostile_tables_are_harmless(void **state)
{
	static const uint64_t values[] = { 0, 1, 63, 64, 1u << 20, UINT32_MAX, UINT64_MAX - 8, UINT64_MAX };
	const struct linked sound = make_linked();
	struct capture_kernel kernel;

	(void)state;
	for (size_t at = offsetof(struct linked, header.e_phoff); at + 8 <= offsetof(struct linked, names);
	     at += 4)
		for (size_t n = 0; n < sizeof(values) / sizeof(values[0]); n++) {
			struct linked image = sound;

			memcpy((unsigned char *)&image + at, &values[n], sizeof(values[n]));
			read_bytes(&kernel, &image, sizeof(image));
		}
	for (size_t size = 0; size < sizeof(sound); size += 7)
		read_bytes(&kernel, &sound, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_build_id_is_read),
		cmocka_unit_test(broken_files_are_errors_or_have_no_id),
		cmocka_unit_test(sections_and_symbols_are_read),
		cmocka_unit_test(the_clearest_name_marks_the_start_of_bss),
		cmocka_unit_test(linked_hooks_are_found),
		cmocka_unit_test(functions_for_locks_and_threads_are_switch_points),
		cmocka_unit_test(rings_are_found_by_each_of_their_names),
		cmocka_unit_test(hostile_tables_are_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
