/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests an image of a machine's memory as the source of executed code: page tables are used to find code that
 * is in no file. Each image consists of a few hand-made pages.
 */
#include "hwt/images.h"
#include "unit/support/hwt_reading.h"
#include "unit/support/random.h"

static struct hwt_packets_writer packets;

#define PAGES	   32u
#define TABLE	   UINT64_C(0x1000) /* physical address of the first page table */
#define CODE_PAGE  UINT64_C(0x8000)
#define SPACE	   TABLE
#define X86_TABLE  3u /* flags: present, writable */
#define X86_LARGE  0x83u
#define ARM_TABLE  3u
#define ARM_BLOCK  0x701u
#define ARM_MEMORY UINT64_C(0x40000000) /* address at which the RAM of QEMU's AArch64 machine begins */

/* Physical memory from `base` on. */
static struct {
	uint8_t bytes[PAGES * HWT_WALK_PAGE];
	uint64_t base;
	char path[64];
	struct ktread_memory *memory;
} ram;

static void begin_memory(uint64_t base)
{
	memset(&ram, 0, sizeof(ram));
	ram.base = base;
}

/* Writes entry `index` of the page table at the physical address `table`. */
static void set_entry(uint64_t table, unsigned index, uint64_t entry)
{
	memcpy(ram.bytes + (table - ram.base) + index * 8u, &entry, sizeof(entry));
}

static void open_memory(const char *machine)
{
	int file;

	strcpy(ram.path, "/tmp/hwt-test-XXXXXX");
	file = mkstemp(ram.path);
	assert_int_equal(write(file, ram.bytes, sizeof(ram.bytes)), sizeof(ram.bytes));
	close(file);
	assert_int_equal(ktread_memory_open_ram(&ram.memory, ram.path, machine), 0);
	assert_int_equal(ktread_memory_assume(ram.memory), 0);
}

static void end_memory(void)
{
	ktread_memory_close(ram.memory);
	unlink(ram.path);
}

static void check_walk(uint16_t machine, uint64_t space, uint64_t address, uint64_t expected)
{
	uint64_t physical = 0;

	assert_int_equal(hwt_walk(ram.memory, machine, space, address, &physical), expected != 0);
	assert_int_equal(physical, expected);
}

/*
 * Writes page tables: PROGRAM_AT is in a 4 KiB page. There are also a 2 MiB page, a 1 GiB page, and the
 * kernel's half of addresses.
 */
static void lay_x86_tables(void)
{
	set_entry(TABLE, 0, (TABLE + 0x1000) | X86_TABLE);
	set_entry(TABLE, 511, (TABLE + 0x1000) | X86_TABLE);
	set_entry(TABLE + 0x1000, 0, (TABLE + 0x2000) | X86_TABLE);
	set_entry(TABLE + 0x1000, 1, UINT64_C(0x80000000) | X86_LARGE);
	set_entry(TABLE + 0x2000, 2, (TABLE + 0x3000) | X86_TABLE);
	set_entry(TABLE + 0x2000, 3, UINT64_C(0x600000) | X86_LARGE);
	set_entry(TABLE + 0x3000, 1, CODE_PAGE | X86_TABLE | UINT64_C(1) << 63);
}

static void x86_64_tables_are_walked(void **state)
{
	(void)state;
	begin_memory(0);
	lay_x86_tables();
	open_memory("x86_64");
	check_walk(HWT_WALK_X86_64, SPACE, 0x401234, CODE_PAGE + 0x234);
	check_walk(HWT_WALK_X86_64, SPACE | 0x18, 0x401234,
		   CODE_PAGE + 0x234); /* the CR3 value has further bits, which are not part of the address */
	check_walk(HWT_WALK_X86_64, SPACE, 0x654321, 0x654321);
	check_walk(HWT_WALK_X86_64, SPACE, 0x40000123, 0x80000123);
	check_walk(HWT_WALK_X86_64, SPACE, UINT64_C(0xffffff8000401234), CODE_PAGE + 0x234);
	check_walk(HWT_WALK_X86_64, SPACE, 0x402000, 0);
	check_walk(HWT_WALK_X86_64, SPACE, UINT64_C(0x800000000000), 0); /* the address is not canonical */
	check_walk(HWT_WALK_X86_64, UINT64_C(0x7ffffffff000), 0x401234, 0);
	check_walk(0, SPACE, 0x401234, 0);
	end_memory();
}

static void aarch64_tables_are_walked(void **state)
{
	const uint64_t table = ARM_MEMORY + TABLE;

	(void)state;
	begin_memory(ARM_MEMORY);
	set_entry(table, 0, (table + 0x1000) | ARM_TABLE);
	set_entry(table + 0x1000, 0, (table + 0x2000) | ARM_TABLE);
	set_entry(table + 0x1000, 1, ARM_MEMORY | ARM_BLOCK);
	set_entry(table + 0x2000, 2, (table + 0x3000) | ARM_TABLE);
	set_entry(table + 0x2000, 3, (ARM_MEMORY + 0x200000) | ARM_BLOCK);
	set_entry(table + 0x3000, 1, (ARM_MEMORY + CODE_PAGE) | ARM_TABLE);
	/* a reserved type of entry, which maps no page */
	set_entry(table + 0x3000, 2, (ARM_MEMORY + CODE_PAGE) | 1);
	open_memory("aarch64");
	check_walk(HWT_WALK_AARCH64, table, 0x401234, ARM_MEMORY + CODE_PAGE + 0x234);
	check_walk(HWT_WALK_AARCH64, table, 0x654320, ARM_MEMORY + 0x254320);
	check_walk(HWT_WALK_AARCH64, table, 0x40000124, ARM_MEMORY + 0x124);
	/* With 39-bit addresses, there is one level fewer. The walk begins at the next table. */
	check_walk(HWT_WALK_AARCH64, table + 0x1000, 0x401234, ARM_MEMORY + CODE_PAGE + 0x234);
	check_walk(HWT_WALK_AARCH64, table, 0x402234, 0);
	check_walk(HWT_WALK_AARCH64, table, UINT64_C(0xffff000000401234), 0);
	end_memory();
}

/*
 * The tables are for 39-bit addresses. If they were read as tables for 48-bit addresses, the table that maps
 * devices would seem to map larger pages.
 */
static void addresses_of_devices_are_not_followed(void **state)
{
	const uint64_t table = ARM_MEMORY + TABLE;

	(void)state;
	begin_memory(ARM_MEMORY);
	set_entry(table, 0, (table + 0x1000) | ARM_TABLE);
	set_entry(table + 0x1000, 1, 0x200000 | ARM_BLOCK);
	set_entry(table, 1, ARM_MEMORY | ARM_BLOCK);
	open_memory("aarch64");
	check_walk(HWT_WALK_AARCH64, table, ARM_MEMORY + 0x1234, ARM_MEMORY + 0x1234);
	/* the address of a device, which is not in the image */
	check_walk(HWT_WALK_AARCH64, table, 0x201234, 0x201234);
	end_memory();
}

/*
 * One table refers to itself, and others have random entries. A walk finds an address or none, but always
 * ends.
 */
static void walk_of_random_tables_ends(void **state)
{
	uint64_t physical, seed = 1;

	(void)state;
	begin_memory(0);
	set_entry(TABLE, 0, TABLE | X86_TABLE);
	for (size_t at = 0x2000; at < sizeof(ram.bytes); at++)
		ram.bytes[at] = (uint8_t)random_below(&seed, 256);
	open_memory("x86_64");
	check_walk(HWT_WALK_X86_64, TABLE, 0x234, TABLE + 0x234);
	for (uint64_t space = 0; space < sizeof(ram.bytes); space += HWT_WALK_PAGE)
		for (unsigned i = 0; i < 4096; i++) {
			const uint64_t address = random_word(&seed) >> 17;

			hwt_walk(ram.memory, HWT_WALK_X86_64, space, address, &physical);
			hwt_walk(ram.memory, HWT_WALK_AARCH64, space, address, &physical);
		}
	end_memory();
}

static struct reading begin_reading(int with_code)
{
	struct hwt_file_writer writer;
	uint8_t other[PROGRAM_SIZE];

	packets_begin(&packets);
	packets_sync(&packets, 1500, SPACE, 0);
	packet_address(&packets, ppt_tip_pge, PROGRAM_JNE);
	packet_branches(&packets, "T");
	packet_address(&packets, ppt_fup, PROGRAM_AT);
	packet_address(&packets, ppt_tip_pgd, 0);
	file_begin(&writer);
	file_context(&writer, 1, 0);
	memset(other, 0x90, sizeof(other));
	if (with_code)
		file_code(&writer, PROGRAM_AT, SPACE, other, sizeof(other));
	file_data(&writer, 1, 0, 0, packets.bytes, packets_end(&packets));
	return read_file(&writer);
}

static void code_in_memory_is_decoded(void **state)
{
	struct reading reading;

	(void)state;
	begin_memory(0);
	lay_x86_tables();
	memcpy(ram.bytes + CODE_PAGE, program, PROGRAM_SIZE);
	open_memory("x86_64");
	reading = begin_reading(0);
	assert_int_equal(hwt_images_add_snapshot(reading.images, ram.path), 0);
	open_stream(&reading, 0);
	next(&reading, HWT_SPACE);
	next(&reading, HWT_ON);
	next_run(&reading, PROGRAM_JNE, PROGRAM_NOPS, HWT_BRANCH_CONDITIONAL, PROGRAM_JMP);
	next_run(&reading, PROGRAM_JMP, PROGRAM_JMP + 2, HWT_BRANCH_JUMP, PROGRAM_AT);
	next(&reading, HWT_ASYNC);
	next(&reading, HWT_OFF);
	end(&reading);
	end_memory();
}

static void memory_of_another_machine_is_refused(void **state)
{
	struct reading reading;

	(void)state;
	begin_memory(0);
	lay_x86_tables();
	memcpy(ram.bytes + CODE_PAGE, program, PROGRAM_SIZE);
	open_memory("x86_64");
	reading = begin_reading(1);
	assert_true(hwt_images_add_snapshot(reading.images, ram.path) < 0);
	assert_non_null(
		strstr(hwt_images_message(reading.images), "not the memory of the machine that was traced"));
	assert_true(hwt_images_add_snapshot(reading.images, reading.path) < 0);
	assert_non_null(strstr(hwt_images_message(reading.images), "whole pages"));
	end(&reading);
	end_memory();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_64_tables_are_walked),
		cmocka_unit_test(aarch64_tables_are_walked),
		cmocka_unit_test(addresses_of_devices_are_not_followed),
		cmocka_unit_test(walk_of_random_tables_ends),
		cmocka_unit_test(code_in_memory_is_decoded),
		cmocka_unit_test(memory_of_another_machine_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
