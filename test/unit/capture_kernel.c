/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Build ids of kernel files, good and broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/error.h"
#include "capture/kernel_elf.h"

/* A kernel of one loaded segment, which is one note. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_build_id_is_read),
		cmocka_unit_test(broken_files_are_errors_or_have_no_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
