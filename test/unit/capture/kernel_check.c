/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests the comparison of a kernel's file with a trace. There are three results: the file is that of the
 * traced kernel, it is that of a different kernel, or it is unknown whose file it is.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/error.h"
#include "capture/kernel_elf.h"
#include "ktread/memory.h"
#include "unit/support/ktread_sample.h"

#define BASE	UINT64_C(0x80200000)
#define ID_SIZE 20u

/* A kernel of one loaded segment, which contains an ELF note. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment[2];
	Elf64_Nhdr note;
	char name[4];
	unsigned char id[ID_SIZE];
};

struct guest {
	struct image memory; /* the memory at address BASE */
	char elf[32];
	struct bytes trace_id; /* build id that the trace contains; its size is 0 if the trace has none */
	char warning[512];
};

static int read_guest(void *context, uint64_t physical, void *buffer, size_t bytes)
{
	const struct guest *guest = context;

	if (physical < BASE || physical - BASE > sizeof(guest->memory) ||
	    bytes > sizeof(guest->memory) - (physical - BASE))
		return -1;
	memcpy(buffer, (const char *)&guest->memory + (physical - BASE), bytes);
	return 0;
}

static int make_guest(void **state)
{
	struct guest *guest = calloc(1, sizeof(*guest));
	struct image *image = &guest->memory;
	int fd;

	*image = (struct image){
		.header = { .e_machine = EM_RISCV, .e_phnum = 2, .e_phentsize = sizeof(Elf64_Phdr) },
		.note = { 4, ID_SIZE, NT_GNU_BUILD_ID },
		.name = "GNU",
	};
	memcpy(image->header.e_ident, ELFMAG, SELFMAG);
	image->header.e_ident[EI_CLASS] = ELFCLASS64;
	image->header.e_ident[EI_DATA] = ELFDATA2LSB;
	image->header.e_ident[EI_VERSION] = EV_CURRENT;
	image->header.e_phoff = offsetof(struct image, segment);
	image->segment[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_paddr = BASE, .p_filesz = sizeof(*image) };
	image->segment[1] = (Elf64_Phdr){ .p_type = PT_NOTE,
					  .p_offset = offsetof(struct image, note),
					  .p_filesz = sizeof(*image) - offsetof(struct image, note) };
	memset(image->id, 0xab, ID_SIZE);
	strcpy(guest->elf, "/tmp/ktrace-unit-XXXXXX");
	fd = mkstemp(guest->elf);
	assert_int_equal(write(fd, image, sizeof(*image)), sizeof(*image));
	close(fd);
	*state = guest;
	return 0;
}

static int remove_guest(void **state)
{
	struct guest *guest = *state;

	unlink(guest->elf);
	bytes_free(&guest->trace_id);
	free(guest);
	return 0;
}

static int check(struct guest *guest)
{
	const struct ktread_memory_ops ops = { .read = read_guest };
	const struct ktread_range range = { BASE, sizeof(guest->memory) };
	struct ktread_memory *memory;
	struct bytes dump = { 0 };
	struct writer writer;
	int error;

	begin(&writer, 2);
	writer.root.machine = EM_RISCV;
	writer.root.checksum = ktrx_root_checksum(&writer.root);
	put_switch(&writer, 1, 1000, 1);
	if (guest->trace_id.size)
		bytes_append(&writer.build_id, guest->trace_id.data, guest->trace_id.size);
	writer_dump(&writer, &dump);
	writer_close(&writer);
	assert_int_equal(ktread_memory_open(&memory, &ops, guest, &range, 1), 0);
	guest->warning[0] = '\0';
	error = capture_kernel_check(guest->elf, memory, temporary_bytes(&dump), guest->warning,
				     sizeof(guest->warning));
	ktread_memory_close(memory);
	bytes_free(&dump);
	return error;
}

static void build_id_of_trace_is_compared(void **state)
{
	struct guest *guest = *state;
	unsigned char id[ID_SIZE];

	memset(id, 0xab, sizeof(id));
	bytes_append(&guest->trace_id, id, sizeof(id));
	memset(guest->memory.id, 0xcd, ID_SIZE);
	assert_int_equal(check(guest), 0);
	guest->trace_id.data[3] ^= 1;
	assert_int_equal(check(guest), CAPTURE_E_FORMAT);
	assert_non_null(strstr(guest->warning, "is not the kernel that ran"));
}

static void note_in_memory_replaces_missing_build_id(void **state)
{
	struct guest *guest = *state;

	assert_int_equal(check(guest), 0);
	guest->memory.id[3] ^= 1;
	assert_int_equal(check(guest), CAPTURE_E_FORMAT);
	assert_non_null(strstr(guest->warning, "is not the kernel that ran"));
}

/*
 * Memory contains other bytes than the file at the file's addresses, as if a boot loader had moved the
 * kernel.
 */
static void memory_without_note_leaves_kernel_unknown(void **state)
{
	struct guest *guest = *state;

	memset(&guest->memory.note, 0, sizeof(guest->memory) - offsetof(struct image, note));
	assert_int_equal(check(guest), CAPTURE_E_ABSENT);
	assert_non_null(strstr(guest->warning, "the trace has no build id"));
	memset(&guest->memory.note, 0x5a, sizeof(guest->memory) - offsetof(struct image, note));
	assert_int_equal(check(guest), CAPTURE_E_ABSENT);
	assert_non_null(strstr(guest->warning, "the trace has no build id"));
}

/* The kernel has memory for a build id, but has not stored one. */
static void build_id_of_zeros_is_missing(void **state)
{
	struct guest *guest = *state;
	const unsigned char id[ID_SIZE] = { 0 };

	bytes_append(&guest->trace_id, id, sizeof(id));
	memset(&guest->memory.note, 0, sizeof(guest->memory) - offsetof(struct image, note));
	assert_int_equal(check(guest), CAPTURE_E_ABSENT);
	assert_non_null(strstr(guest->warning, "the trace has no build id"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_guest, remove_guest)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(build_id_of_trace_is_compared),
		TEST(note_in_memory_replaces_missing_build_id),
		TEST(memory_without_note_leaves_kernel_unknown),
		TEST(build_id_of_zeros_is_missing),
	};

	return cmocka_run_group_tests_name("capture kernel check", tests, NULL, temporary_teardown);
}
