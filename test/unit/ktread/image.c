/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests reading guest memory: RAM files, core dumps, data that only resembles a trace, memory that changes
 * while it is read, and dumps made from memory.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ktread/memory.h"
#include "fuzz/ktread_exercise.h"
#include "unit/support/ktread_sample.h"

static unsigned char *new_memory(void)
{
	unsigned char *memory = calloc(1, WRITER_MEMORY_SIZE);

	assert_non_null(memory);
	return memory;
}

/* Makes one record in the boot ring, and 2000 records in the ring of each CPU. */
static void fill(struct writer *writer)
{
	begin(writer, 3);
	put_switch(writer, 0, 500, 0);
	for (unsigned i = 0; i < 2000; i++) {
		put_switch(writer, 1, 1000 + 2 * i, i);
		put_switch(writer, 2, 1001 + 2 * i, i);
	}
}

static void check_trace(const char *path, const struct ktread_options *options, enum ktread_form form)
{
	struct ktread *trace = open_ok(path, options);

	assert_int_equal(ktread_info(trace)->form, form);
	assert_int_equal(ktread_info(trace)->rings, 3);
	assert_int_equal(ktread_info(trace)->types, 2);
	assert_int_equal(ktread_ring(trace, 1)->head, 2001); /* 2000 records, and an anchor before them */
	assert_int_equal(drain_exact(trace, 0), 1 + 2 * SLOTS);
}

static void ram_file_is_found_and_read(void **state)
{
	unsigned char *memory = new_memory();
	struct writer writer;

	(void)state;
	fill(&writer);
	writer_memory(&writer, memory, 0);
	check_trace(temporary(memory, WRITER_MEMORY_SIZE), NULL, KTREAD_FORM_RAM);
	/* qboot leaves the header of the kernel's ELF file at address 0 */
	memcpy(memory, &(const Elf64_Ehdr){ .e_ident = { ELFMAG0, 'E', 'L', 'F' }, .e_type = ET_EXEC },
	       sizeof(Elf64_Ehdr));
	check_trace(temporary(memory, WRITER_MEMORY_SIZE), NULL, KTREAD_FORM_RAM);
	memset(memory, 0, sizeof(Elf64_Ehdr));
	/* The options state at which guest address the memory in the file begins. */
	writer_memory(&writer, memory, 0x80000000);
	check_trace(temporary(memory, WRITER_MEMORY_SIZE),
		    &(struct ktread_options){ .size = sizeof(struct ktread_options), .ram_base = 0x80000000 },
		    KTREAD_FORM_RAM);
	free(memory);
	writer_close(&writer);
}

/*
 * The reserve word of this ring is in the ring's descriptor, and contains ring number 0. Events that were
 * recorded in the boot ring have incremented this word.
 */
static void ring_of_a_cpu_that_is_not_online_is_empty(void **state)
{
	unsigned char *memory = new_memory();
	struct ktread *trace;
	struct writer writer;
	struct ktrx_ring row;

	(void)state;
	fill(&writer);
	writer_memory(&writer, memory, 0);
	memcpy(&row, memory + WRITER_BLOCK + 64 + sizeof(row), sizeof(row));
	row.head_where = KTRX_WHERE_NONE;
	row.word = row.first + 77;
	memcpy(memory + WRITER_BLOCK + 64 + sizeof(row), &row, sizeof(row));
	trace = open_ok(temporary(memory, WRITER_MEMORY_SIZE), NULL);
	assert_int_equal(ktread_ring(trace, 2)->head, 0);
	assert_int_equal(drain_exact(trace, 0), 1 + SLOTS);
	free(memory);
	writer_close(&writer);
}

static void base_follows_from_the_machine(void **state)
{
	static const struct {
		uint16_t machine;
		const char *name;
		uint64_t base;
	} guests[] = { { 62, "x86_64", 0 }, { 183, "aarch64", 0x40000000 }, { 243, "riscv64", 0x80000000 } };

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		unsigned char *bytes = new_memory();
		struct ktread_memory *memory;
		struct ktread_image *image;
		struct writer writer;

		fill(&writer);
		writer.root.machine = guests[i].machine;
		writer_memory(&writer, bytes, 0);
		assert_int_equal(ktread_memory_open_ram(&memory, temporary(bytes, WRITER_MEMORY_SIZE),
							i ? guests[i].name : NULL),
				 0);
		assert_int_equal(ktread_image_find(&image, memory), 0);
		assert_int_equal(ktread_image_physical(image), guests[i].base + WRITER_ROOT);
		ktread_image_close(image);
		ktread_memory_close(memory);
		free(bytes);
		writer_close(&writer);
	}
}

static void decoys_are_ignored(void **state)
{
	unsigned char *memory = new_memory();
	struct writer writer, old;
	struct ktrx_root root;
	struct ktrx_block block;

	(void)state;
	fill(&writer);
	writer_memory(&writer, memory, 0);
	memcpy(&root, memory + WRITER_ROOT, sizeof(root));
	memcpy(&block, memory + WRITER_BLOCK, sizeof(block));

	/* A copy of the kernel image that the boot loader has left in memory, and that has never run. */
	root.self = 0;
	root.checksum = ktrx_root_checksum(&root);
	memcpy(memory + 0x500000, &root, sizeof(root));
	/* Memory also contains data of an earlier boot, with older events. */
	begin(&old, 2);
	put_switch(&old, 1, 10, 1);
	old.root.nonce = 0x5555555555555501;
	writer_memory(&old, memory + 0x600000 - WRITER_ROOT, 0);
	memset(memory + 0x600000 - WRITER_ROOT + WRITER_BLOCK, 0, 64);
	/*
	 * Three objects that the search must not accept: a block of another boot with the same addresses, a
	 * block with a wrong length, and magic numbers without a root or block.
	 */
	block.nonce ^= 1;
	memcpy(memory + 0x400000, &block, sizeof(block));
	block.nonce ^= 1;
	block.self = UINT64_C(0xffffc00000000000);
	block.length = UINT64_MAX;
	memcpy(memory + 0x400400, &block, sizeof(block));
	memcpy(memory + 0x400800, KTRX_MAGIC, 4);
	memcpy(memory + 0x400840, KTRX_BLOCK_MAGIC, 8);
	check_trace(temporary(memory, WRITER_MEMORY_SIZE), NULL, KTREAD_FORM_RAM);
	free(memory);
	writer_close(&old);
	writer_close(&writer);
}

/* Memory still contains the rings of one earlier boot. They are found as boot 1, and no boot 2 is found. */
static void earlier_boot_is_found(void **state)
{
	unsigned char *memory = new_memory();
	struct ktread_memory *ram;
	struct ktread_image *image;
	struct ktread_pulse pulse;
	struct writer writer, old;

	(void)state;
	fill(&writer);
	begin(&old, 2);
	put_switch(&old, 1, 10, 1);
	old.root.nonce = 0x5555555555555501;
	writer_memory(&old, memory, 0);
	memcpy(memory + 0x400000, memory, 0x400000);
	memset(memory, 0, 0x400000);
	writer_memory(&writer, memory, 0);
	assert_int_equal(ktread_memory_open_ram(&ram, temporary(memory, WRITER_MEMORY_SIZE), NULL), 0);
	assert_int_equal(ktread_image_find_boot(&image, ram, 1), 0);
	assert_int_equal(ktread_image_boots(image), 2);
	assert_int_equal(ktread_image_pulse(image, &pulse), 0);
	assert_true(pulse.nonce == old.root.nonce);
	ktread_image_close(image);
	assert_int_equal(ktread_image_find_boot(&image, ram, 0), 0);
	assert_int_equal(ktread_image_pulse(image, &pulse), 0);
	assert_true(pulse.nonce == writer.root.nonce);
	ktread_image_close(image);
	assert_int_equal(ktread_image_find_boot(&image, ram, 2), KTREAD_E_ABSENT);
	ktread_memory_close(ram);
	free(memory);
	writer_close(&old);
	writer_close(&writer);
}

/* Writes bytes into a file at an offset. */
static void poke(int fd, uint64_t offset, const void *bytes, size_t size)
{
	assert_int_equal(pwrite(fd, bytes, size, (off_t)offset), size);
}

/*
 * A ring is at a guest address above 4 GiB. In the RAM file, memory above 4 GiB directly follows the memory
 * below the PCI hole. The size of the hole depends on the machine type.
 */
static void memory_above_the_hole_is_found(void **state)
{
	static const uint64_t below[] = { UINT64_C(0xc0000000), UINT64_C(0x80000000) };
	const uint64_t size = UINT64_C(6) << 30, beyond = UINT64_C(0x12345000);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		unsigned char *memory = new_memory();
		char path[] = "/tmp/ktread-ram-XXXXXX";
		int fd = mkstemp(path);
		struct ktrx_ring row;
		struct writer writer;

		fill(&writer);
		writer_memory(&writer, memory, 0);
		memcpy(&row, memory + WRITER_BLOCK + 64, sizeof(row));
		memset(memory + (row.address - WRITER_BLOCK_OFFSET), 0, row.length);
		row.where = KTRX_WHERE_PHYSICAL;
		row.address = (UINT64_C(4) << 30) + beyond;
		memcpy(memory + WRITER_BLOCK + 64, &row, sizeof(row));
		assert_int_equal(ftruncate(fd, (off_t)size), 0);
		poke(fd, WRITER_ROOT, memory + WRITER_ROOT, 0x20000);
		poke(fd, WRITER_BLOCK, memory + WRITER_BLOCK, 0x20000);
		poke(fd, below[i] + beyond, writer.ring[1].slot, row.length);
		check_trace(path, NULL, KTREAD_FORM_RAM);
		close(fd);
		unlink(path);
		free(memory);
		writer_close(&writer);
	}
}

/* Any bit of the root, the ring table, the extents, the block's head and the event table may be wrong. */
static void flipped_bits_do_no_harm(void **state)
{
	static const struct {
		uint32_t from, size;
	} parts[] = { { WRITER_ROOT, 704 },
		      { 0x11000, 0x240 },
		      { 0x12000, 192 },
		      { WRITER_BLOCK, 64 + 2 * sizeof(struct ktrx_ring) } };
	unsigned char *memory = new_memory();
	struct writer writer;
	char path[] = "/tmp/ktread-ram-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	begin(&writer, 3);
	for (unsigned i = 0; i < 20; i++)
		put_switch(&writer, 1 + i % 2, 1000 + 2 * i, i);
	writer_memory(&writer, memory, 0);
	/* The rings are at the end, because the whole file is read for each bit. */
	assert_int_equal(ftruncate(fd, WRITER_BLOCK + 0x8000), 0);
	poke(fd, WRITER_ROOT, memory + WRITER_ROOT, 0x20000);
	poke(fd, WRITER_BLOCK, memory + WRITER_BLOCK, 0x8000);
	ktread_close(open_ok(path, &(struct ktread_options){ .size = sizeof(struct ktread_options),
							     .form = KTREAD_FORM_RAM }));
	for (unsigned part = 0; part < sizeof(parts) / sizeof(parts[0]); part++)
		for (uint32_t i = 0; i < parts[part].size; i++) {
			unsigned char lie = memory[parts[part].from + i] ^ (unsigned char)(1u << i % 8);

			poke(fd, parts[part].from + i, &lie, 1);
			ktread_exercise_ram(path);
			poke(fd, parts[part].from + i, memory + parts[part].from + i, 1);
		}
	close(fd);
	unlink(path);
	free(memory);
	writer_close(&writer);
}

/*
 * Makes a core dump with two segments in the wrong order. The border between the segments is in the middle of
 * the rings.
 */
static void put_core64(struct bytes *core, uint64_t base, uint64_t cut, const unsigned char *memory)
{
	const Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
				  .e_type = ET_CORE,
				  .e_phoff = sizeof(head),
				  .e_phentsize = sizeof(Elf64_Phdr),
				  .e_phnum = 2 };
	const uint64_t rest = WRITER_MEMORY_SIZE - cut;
	const Elf64_Phdr segment[2] = {
		{ .p_type = PT_LOAD, .p_offset = 0x1000, .p_paddr = base + cut, .p_filesz = rest },
		{ .p_type = PT_LOAD, .p_offset = 0x1000 + rest, .p_paddr = base, .p_filesz = cut },
	};

	bytes_append(core, &head, sizeof(head));
	bytes_append(core, segment, sizeof(segment));
	bytes_grow(core, 0x1000);
	bytes_append(core, memory + cut, rest);
	bytes_append(core, memory, cut);
}

/* Makes the same core dump as a 32-bit ELF file, as QEMU does for a CPU in 32-bit mode. */
static void put_core32(struct bytes *core, uint64_t base, uint64_t cut, const unsigned char *memory)
{
	const Elf32_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, 1 },
				  .e_type = ET_CORE,
				  .e_phoff = sizeof(head),
				  .e_phentsize = sizeof(Elf32_Phdr),
				  .e_phnum = 2 };
	const uint32_t rest = (uint32_t)(WRITER_MEMORY_SIZE - cut);
	const Elf32_Phdr segment[2] = {
		{ .p_type = PT_LOAD,
		  .p_offset = 0x1000,
		  .p_paddr = (uint32_t)(base + cut),
		  .p_filesz = rest },
		{ .p_type = PT_LOAD,
		  .p_offset = 0x1000 + rest,
		  .p_paddr = (uint32_t)base,
		  .p_filesz = (uint32_t)cut },
	};

	bytes_append(core, &head, sizeof(head));
	bytes_append(core, segment, sizeof(segment));
	bytes_grow(core, 0x1000);
	bytes_append(core, memory + cut, rest);
	bytes_append(core, memory, cut);
}

static void check_core(uint64_t base, void (*put)(struct bytes *core, uint64_t base, uint64_t cut,
						  const unsigned char *memory))
{
	unsigned char *memory = new_memory();
	struct bytes core = { 0 };
	struct writer writer;

	fill(&writer);
	writer_memory(&writer, memory, base);
	put(&core, base, WRITER_BLOCK + 0x3010, memory);
	check_trace(temporary_bytes(&core), NULL, KTREAD_FORM_CORE);
	bytes_free(&core);
	free(memory);
	writer_close(&writer);
}

/* A core dump was not copied completely. The available part is shown, and the missing part is reported. */
static void cut_core_reports_missing_bytes(void **state)
{
	const uint64_t base = UINT64_C(0x140000000), cut = WRITER_BLOCK + 0x3010;
	unsigned char *memory = new_memory();
	struct bytes core = { 0 };
	struct writer writer;
	struct ktread *trace;

	(void)state;
	fill(&writer);
	writer_memory(&writer, memory, base);
	put_core64(&core, base, cut, memory);
	trace = open_ok(temporary_bytes(&core), NULL);
	assert_null(ktread_warning(trace));
	ktread_close(trace);
	trace = open_ok(temporary(core.data, core.size - 100), NULL);
	assert_non_null(strstr(ktread_warning(trace), "100 bytes of the guest's memory are missing"));
	ktread_close(trace);
	bytes_free(&core);
	free(memory);
	writer_close(&writer);
}

static void core_is_read(void **state)
{
	(void)state;
	check_core(UINT64_C(0x140000000), put_core64);
	check_core(UINT64_C(0x40000000), put_core32);
}

static void memory_without_ktrace_is_refused(void **state)
{
	unsigned char *memory = new_memory();
	struct ktread *trace;

	(void)state;
	assert_int_equal(ktread_open(&trace, temporary(memory, WRITER_MEMORY_SIZE), NULL), KTREAD_E_ABSENT);
	assert_non_null(strstr(ktread_message(NULL), "neither"));
	free(memory);
}

/* A guest runs while its memory is read. At each read, each CPU records events. */
struct guest {
	struct writer writer;
	unsigned char *memory;
	unsigned pace; /* number of records that each CPU makes each time the memory is read */
	uint64_t stamp;
};

static int guest_read(void *context, uint64_t physical, void *buffer, size_t bytes)
{
	struct guest *guest = context;

	assert_true(physical + bytes <= WRITER_MEMORY_SIZE);
	memcpy(buffer, guest->memory + physical, bytes);
	for (unsigned i = 0; i < guest->pace; i++) {
		put_switch(&guest->writer, 1, guest->stamp++, i);
		put_switch(&guest->writer, 2, guest->stamp++, i);
	}
	writer_memory_update(&guest->writer, guest->memory);
	return 0;
}

static uint64_t dump_guest(struct guest *guest, uint64_t *produced)
{
	const struct ktread_memory_ops ops = { .read = guest_read };
	const struct ktread_range range = { 0, WRITER_MEMORY_SIZE };
	struct ktread_memory *memory;
	struct ktread_image *image;
	struct ktread *trace;
	char path[] = "/tmp/ktread-dump-XXXXXX";
	uint64_t invalid = 0, records;
	int fd = mkstemp(path);

	assert_int_equal(ktread_memory_open(&memory, &ops, guest, &range, 1), 0);
	assert_int_equal(ktread_image_find(&image, memory), 0);
	if (ktread_image_write(image, fd, "a note", 7) < 0)
		fail_msg("%s", ktread_image_message());
	close(fd);
	ktread_image_close(image);
	ktread_memory_close(memory);
	trace = open_ok(path, NULL);
	unlink(path);
	assert_int_equal(ktread_info(trace)->form, KTREAD_FORM_V2);
	while (ktread_next(trace, &(const struct ktread_event *){ NULL }) > 0)
		;
	*produced = 0;
	for (uint32_t n = 0; n < 3; n++) {
		invalid += ktread_ring(trace, n)->invalid;
		*produced += ktread_ring(trace, n)->head;
	}
	ktread_rewind(trace);
	records = drain_exact(trace, invalid);
	assert_true(records + invalid >= 2 * SLOTS - 2);
	return invalid;
}

static void dump_of_a_stopped_guest_is_whole(void **state)
{
	struct guest guest = { .memory = new_memory(), .stamp = 10000 };
	uint64_t produced;

	(void)state;
	fill(&guest.writer);
	writer_memory(&guest.writer, guest.memory, 0);
	assert_int_equal(dump_guest(&guest, &produced), 0);
	assert_int_equal(produced, 2 + 2 * 2001);
	free(guest.memory);
	writer_close(&guest.writer);
}

static void dump_of_a_running_guest_is_exact(void **state)
{
	struct guest guest = { .memory = new_memory(), .stamp = 10000, .pace = 3 };
	uint64_t produced;

	(void)state;
	fill(&guest.writer);
	writer_memory(&guest.writer, guest.memory, 0);
	/*
	 * The copy is made faster than the guest records. So nothing is lost, and the dump also contains the
	 * records that were made during the copy.
	 */
	assert_int_equal(dump_guest(&guest, &produced), 0);
	assert_true(produced > 2 + 2 * 2001);
	free(guest.memory);
	writer_close(&guest.writer);
}

static void dump_of_a_fast_guest_counts_losses(void **state)
{
	struct guest guest = { .memory = new_memory(), .stamp = 10000, .pace = 300 };
	uint64_t produced;

	(void)state;
	fill(&guest.writer);
	writer_memory(&guest.writer, guest.memory, 0);
	assert_true(dump_guest(&guest, &produced) > 0);
	free(guest.memory);
	writer_close(&guest.writer);
}

static void several_dumps_fit_into_a_file(void **state)
{
	struct guest guest = { .memory = new_memory(), .stamp = 10000 };
	struct ktread_memory *memory;
	struct ktread_image *image;
	struct ktread *trace;
	char path[] = "/tmp/ktread-dump-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	fill(&guest.writer);
	writer_memory(&guest.writer, guest.memory, 0);
	assert_int_equal(ktread_memory_open_ram(&memory, temporary(guest.memory, WRITER_MEMORY_SIZE), NULL),
			 0);
	assert_int_equal(ktread_image_find(&image, memory), 0);
	assert_int_equal(ktread_image_write(image, fd, NULL, 0), 0);
	assert_int_equal(ktread_image_write(image, fd, NULL, 0), 0);
	close(fd);
	/* The dump is written to a file descriptor that does not support random offsets. */
	fd = open(path, O_WRONLY | O_APPEND);
	assert_int_equal(ktread_image_write(image, fd, NULL, 0), 0);
	close(fd);
	trace = open_ok(path, NULL);
	assert_int_equal(ktread_info(trace)->dumps, 3);
	assert_null(ktread_warning(trace));
	assert_int_equal(drain_exact(trace, 0), 1 + 2 * SLOTS);
	unlink(path);
	ktread_image_close(image);
	ktread_memory_close(memory);
	free(guest.memory);
	writer_close(&guest.writer);
}

/*
 * The address of the reserve word cannot be resolved. Then the reader finds the head from the contents of the
 * slots.
 */
static void unreachable_head_is_found_from_the_slots(void **state)
{
	unsigned char *memory = new_memory();
	struct writer writer;
	struct ktrx_ring row;
	struct ktread *trace;

	(void)state;
	fill(&writer);
	writer_memory(&writer, memory, 0);
	memcpy(&row, memory + WRITER_BLOCK + 64, sizeof(row));
	row.head_address = UINT64_C(0xffffa00000000000);
	memcpy(memory + WRITER_BLOCK + 64, &row, sizeof(row));
	trace = open_ok(temporary(memory, WRITER_MEMORY_SIZE), NULL);
	assert_non_null(strstr(ktread_warning(trace), "reserve word"));
	assert_int_equal(drain_exact(trace, 0), 1 + 2 * SLOTS);
	free(memory);
	writer_close(&writer);
}

static void pulse_reports_cpus_and_heartbeats(void **state)
{
	struct guest guest = { .memory = new_memory(), .stamp = 10000 };
	const struct ktread_memory_ops ops = { .read = guest_read };
	const struct ktread_range range = { 0, WRITER_MEMORY_SIZE };
	struct ktread_memory *memory;
	struct ktread_image *image;
	struct ktread_pulse pulse;

	(void)state;
	fill(&guest.writer);
	writer_memory(&guest.writer, guest.memory, 0);
	assert_int_equal(ktread_memory_open(&memory, &ops, &guest, &range, 1), 0);
	assert_int_equal(ktread_image_find(&image, memory), 0);
	assert_int_equal(ktread_image_pulse(image, &pulse), 0);
	assert_int_equal(pulse.slots, 2 + 2 * 2001);
	assert_int_equal(pulse.heartbeats, 12);
	assert_int_equal(pulse.online, 2);
	assert_int_equal(pulse.idle, 1);
	memset(guest.memory + WRITER_ROOT, 0, sizeof(struct ktrx_root));
	assert_int_equal(ktread_image_pulse(image, &pulse), KTREAD_E_ABSENT);
	ktread_image_close(image);
	ktread_memory_close(memory);
	free(guest.memory);
	writer_close(&guest.writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_of_a_cpu_that_is_not_online_is_empty),
		cmocka_unit_test(ram_file_is_found_and_read),
		cmocka_unit_test(earlier_boot_is_found),
		cmocka_unit_test(base_follows_from_the_machine),
		cmocka_unit_test(decoys_are_ignored),
		cmocka_unit_test(memory_above_the_hole_is_found),
		cmocka_unit_test(flipped_bits_do_no_harm),
		cmocka_unit_test(core_is_read),
		cmocka_unit_test(cut_core_reports_missing_bytes),
		cmocka_unit_test(memory_without_ktrace_is_refused),
		cmocka_unit_test(dump_of_a_stopped_guest_is_whole),
		cmocka_unit_test(dump_of_a_running_guest_is_exact),
		cmocka_unit_test(dump_of_a_fast_guest_counts_losses),
		cmocka_unit_test(several_dumps_fit_into_a_file),
		cmocka_unit_test(unreachable_head_is_found_from_the_slots),
		cmocka_unit_test(pulse_reports_cpus_and_heartbeats),
	};

	return cmocka_run_group_tests_name("ktread image", tests, NULL, temporary_teardown);
}
