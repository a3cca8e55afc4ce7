/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests pci.c with both types of configuration access, and ivshmem.c, whose device has a memory BAR. */
#include "kernel/transport/drivers.h"
#include "transport_fake/machine.h"
#include "transport_fake/test.h"

#define ECAM	    0x30000000u
#define IVSHMEM	    0x11101af4u
#define SLOT	    3u
#define MEMORY_SIZE 4096u

/* A PCI function on bus 0. Its BAR 2 is a 64-bit BAR of `size` bytes. */
static struct {
	uint32_t id, header, command;
	uint32_t function; /* PCI function number of the device */
	uint64_t bar, size;
	uint32_t bar_type;
	bool sized_while_decoding;
	uint32_t port_address;
} board;

static unsigned char memory[MEMORY_SIZE] __attribute__((aligned(8)));

static uint32_t config_read(uint32_t address)
{
	/* the device is not function 0, so function 0 is another device */
	if (address >> 12 == SLOT << 3 && board.function != 0)
		return (address & 0xfff) == 0 ? 0x12345678 : (address & 0xfff) == 0x0c ? board.header : 0;
	if (address >> 12 != (SLOT << 3 | board.function))
		return UINT32_MAX;
	switch (address & 0xfff) {
	case 0x00:
		return board.id;
	case 0x04:
		return board.command;
	case 0x0c:
		return board.header;
	case 0x18:
		return (uint32_t)board.bar | board.bar_type;
	case 0x1c:
		return (uint32_t)(board.bar >> 32);
	default:
		return 0;
	}
}

static void bar_store(uint32_t value, unsigned shift)
{
	uint64_t mask = board.size ? ~(board.size - 1) : 0;

	if (value == UINT32_MAX && (board.command & 3))
		board.sized_while_decoding = true;
	board.bar &= ~((uint64_t)UINT32_MAX << shift);
	board.bar |= (uint64_t)value << shift;
	board.bar &= mask;
}

static void config_write(uint32_t address, uint32_t value)
{
	if (address >> 12 != (SLOT << 3 | board.function))
		return;
	if ((address & 0xfff) == 0x04)
		board.command = value;
	else if ((address & 0xfff) == 0x18)
		bar_store(value, 0);
	else if ((address & 0xfff) == 0x1c)
		bar_store(value, 32);
}

static uint32_t ecam_load(uint64_t address, unsigned bits)
{
	assert_int_equal(bits, 32);
	return config_read((uint32_t)(address - ECAM));
}

static void ecam_store(uint64_t address, unsigned bits, uint32_t value)
{
	assert_int_equal(bits, 32);
	config_write((uint32_t)(address - ECAM), value);
}

/* Bits of the address port: 31 enable, 23:16 bus, 15:8 device and function, 7:2 register. */
static uint32_t port_config_address(void)
{
	assert_true(board.port_address & 0x80000000u);
	assert_int_equal(board.port_address >> 16 & 0xff, 0);
	return (board.port_address >> 8 & 0xff) << 12 | (board.port_address & 0xfc);
}

static uint32_t port_load(uint64_t port, unsigned bits)
{
	assert_int_equal(bits, 32);
	return port == 0xcf8 ? board.port_address : config_read(port_config_address());
}

static void port_store(uint64_t port, unsigned bits, uint32_t value)
{
	assert_int_equal(bits, 32);
	if (port == 0xcf8)
		board.port_address = value;
	else
		config_write(port_config_address(), value);
}

static struct ktrace_pci pci;

static void set_board(void)
{
	memset(&board, 0, sizeof(board));
	board.id = IVSHMEM;
	board.size = MEMORY_SIZE;
	board.bar_type = 0x0c;
	memset(memory, 0, sizeof(memory));
}

static void plug_ecam(void)
{
	set_board();
	fake_plug(&(struct fake_device){ ecam_load, ecam_store });
	ktrace_pci_ecam(&pci, ECAM, 0x40000000, 0x40000000);
}

static void a_device_is_found_by_memory(void **state)
{
	uint32_t address = 0;

	(void)state;
	plug_ecam();
	assert_true(ktrace_pci_find(&pci, IVSHMEM, &address));
	assert_int_equal(address, SLOT << 15);
	ktrace_pci_next(&address);
	assert_false(ktrace_pci_find(&pci, IVSHMEM, &address));
}

static void a_device_is_found_by_ports_which_are_restored(void **state)
{
	uint32_t address = 0;

	(void)state;
	set_board();
	fake_plug(&(struct fake_device){ port_load, port_store });
	ktrace_pci_ports(&pci);
	board.port_address = 0x80001234;
	assert_true(ktrace_pci_find(&pci, IVSHMEM, &address));
	assert_int_equal(address, SLOT << 15);
	assert_int_equal(board.port_address, 0x80001234);
}

static void functions_exist_only_if_function_0_is_multifunction(void **state)
{
	uint32_t address = 0;

	(void)state;
	plug_ecam();
	board.function = 2;
	assert_false(ktrace_pci_find(&pci, IVSHMEM, &address));
	board.header = 1u << 23;
	address = 0;
	assert_true(ktrace_pci_find(&pci, IVSHMEM, &address));
	assert_int_equal(address, SLOT << 15 | 2u << 12);
}

static void an_assigned_bar_is_kept_and_sized_with_decoding_off(void **state)
{
	uint64_t physical, size;

	(void)state;
	plug_ecam();
	board.bar = UINT64_C(0x8000000000);
	board.command = 0x0007;
	assert_int_equal(ktrace_pci_memory_bar(&pci, SLOT << 15, 2, &physical, &size), 0);
	assert_int_equal(physical, UINT64_C(0x8000000000));
	assert_int_equal(size, MEMORY_SIZE);
	assert_int_equal(board.bar, UINT64_C(0x8000000000));
	assert_int_equal(board.command, 0x0007);
	assert_false(board.sized_while_decoding);
}

static void an_unassigned_bar_gets_a_place_in_the_window(void **state)
{
	uint64_t physical, size;

	(void)state;
	plug_ecam();
	board.size = 1u << 26;
	ktrace_pci_ecam(&pci, ECAM, 0x40100000, 0x20000000);
	assert_int_equal(ktrace_pci_memory_bar(&pci, SLOT << 15, 2, &physical, &size), 0);
	assert_int_equal(physical, 0x44000000);
	assert_int_equal(board.bar, 0x44000000);
	assert_int_equal(board.command, 2);
}

static void a_bar_larger_than_the_window_is_rejected(void **state)
{
	uint64_t physical, size;

	(void)state;
	plug_ecam();
	board.size = UINT64_C(1) << 40;
	assert_int_equal(ktrace_pci_memory_bar(&pci, SLOT << 15, 2, &physical, &size), KTRACE_OUTPUT_FULL);
	assert_int_equal(board.command, 0);
}

static void a_bar_without_a_size_is_rejected(void **state)
{
	uint64_t physical, size;

	(void)state;
	plug_ecam();
	board.size = 0;
	assert_int_equal(ktrace_pci_memory_bar(&pci, SLOT << 15, 2, &physical, &size), KTRACE_OUTPUT_FAILED);
	board.bar_type = 1;
	assert_int_equal(ktrace_pci_memory_bar(&pci, SLOT << 15, 2, &physical, &size), KTRACE_OUTPUT_FAILED);
}

static void *map_memory(uint64_t physical, size_t bytes)
{
	assert_int_equal(physical, 0x40000000);
	assert_int_equal(bytes, MEMORY_SIZE);
	return memory;
}

static const struct ktrace_bus bus = { .map = map_memory };

static struct ktrace_ivshmem ivshmem;

static struct ktrace_transport *plug_ivshmem(void)
{
	struct ktrace_transport *transport = ktrace_ivshmem_init(&ivshmem, &bus, &pci);

	plug_ecam();
	assert_int_equal(transport->probe(transport), 0);
	return transport;
}

static void ivshmem_is_found_and_mapped(void **state)
{
	struct ktrace_transport *transport = plug_ivshmem();

	(void)state;
	assert_ptr_equal(ivshmem.memory, memory);
	assert_int_equal(ivshmem.size, MEMORY_SIZE);
	board.id = 0x10001af4;
	assert_int_equal(transport->probe(transport), KTRACE_OUTPUT_ABSENT);
}

/* Writes a dump of `bytes` bytes, which all have the same value, with two calls. */
static int write_dump(struct ktrace_transport *transport, size_t bytes, int value)
{
	static unsigned char data[2 * MEMORY_SIZE];
	int error = transport->begin(transport, bytes);

	memset(data, value, sizeof(data));
	if (!error && transport->send(transport, data, 100) != 100)
		error = KTRACE_OUTPUT_FAILED;
	return error ? error : (int)transport->send(transport, data, bytes - 100);
}

#define HALF (MEMORY_SIZE / 2)

static void dumps_alternate_and_readers_see_the_newest(void **state)
{
	struct ktrace_transport *transport = plug_ivshmem();

	(void)state;
	assert_int_equal(write_dump(transport, 1000, 1), 900);
	assert_int_equal(memory[0], 1);
	assert_int_equal(memory[999], 1);
	assert_int_equal(write_dump(transport, HALF, 2), HALF - 100);
	assert_int_equal(memory[0], 1);
	assert_int_equal(memory[HALF], 2);
	assert_int_equal(memory[MEMORY_SIZE - 1], 2);
	assert_int_equal(write_dump(transport, 500, 3), 400);
	assert_int_equal(memory[0], 3);
	assert_int_equal(memory[HALF], 0); /* the older dump is in the second half of the memory */
	assert_int_equal(write_dump(transport, 500, 4), 400);
	assert_int_equal(memory[0], 3);
	assert_int_equal(memory[HALF], 4);
}

static void a_dump_is_visible_only_when_complete(void **state)
{
	struct ktrace_transport *transport = plug_ivshmem();
	static const unsigned char part[500] = { 9, 9, 9, 9, 9, 9, 9, 9, 9 };

	(void)state;
	assert_int_equal(write_dump(transport, 1000, 1), 900);
	assert_int_equal(transport->begin(transport, 1000), 0);
	assert_int_equal(transport->send(transport, part, 500), 500);
	assert_int_equal(memory[0], 1);
	assert_int_equal(memory[HALF], 0);
	assert_int_equal(memory[HALF + 7], 0);
	assert_int_equal(memory[HALF + 8], 9);
	assert_int_equal(transport->send(transport, part, 500), 500);
	assert_int_equal(memory[HALF], 9);
}

/*
 * If the kernel panics while a dump is being written, this dump is abandoned, and the dump of the panic
 * replaces it.
 */
static void an_abandoned_dump_leaves_the_last_one(void **state)
{
	struct ktrace_transport *transport = plug_ivshmem();

	(void)state;
	assert_int_equal(write_dump(transport, 1000, 1), 900);
	assert_int_equal(write_dump(transport, 1000, 2), 900);
	assert_int_equal(transport->begin(transport, 1000), 0);
	assert_int_equal(transport->send(transport, "half of it", 10), 10);
	assert_int_equal(memory[0], 0);
	assert_int_equal(memory[HALF], 2);
	assert_int_equal(transport->begin(transport, 1000), 0);
	assert_int_equal(memory[HALF], 2);
	assert_int_equal(write_dump(transport, 1000, 4), 900);
	assert_int_equal(memory[0], 4);
}

static void a_large_dump_uses_all_of_the_memory(void **state)
{
	struct ktrace_transport *transport = plug_ivshmem();

	(void)state;
	assert_int_equal(write_dump(transport, 1000, 1), 900);
	assert_int_equal(write_dump(transport, 1000, 2), 900);
	assert_int_equal(write_dump(transport, MEMORY_SIZE, 3), MEMORY_SIZE - 100);
	for (size_t i = 0; i < MEMORY_SIZE; i++)
		assert_int_equal(memory[i], 3);
}

static void a_dump_that_does_not_fit_is_rejected_and_the_last_one_stays(void **state)
{
	struct ktrace_transport *transport = plug_ivshmem();

	(void)state;
	assert_int_equal(write_dump(transport, 1000, 1), 900);
	assert_int_equal(write_dump(transport, MEMORY_SIZE + 1, 2), KTRACE_OUTPUT_FULL);
	assert_int_equal(memory[0], 1);
	assert_int_equal(transport->send(transport, "more than was announced", 23), KTRACE_OUTPUT_FULL);
}

static void records_without_a_dump_are_stored_one_after_another(void **state)
{
	struct ktrace_transport *transport = plug_ivshmem();

	(void)state;
	assert_int_equal(transport->send(transport, "first record", 12), 12);
	assert_int_equal(transport->send(transport, "second", 6), 6);
	assert_memory_equal(memory, "first recordsecond", 18);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_found_by_memory),
		cmocka_unit_test(a_device_is_found_by_ports_which_are_restored),
		cmocka_unit_test(functions_exist_only_if_function_0_is_multifunction),
		cmocka_unit_test(an_assigned_bar_is_kept_and_sized_with_decoding_off),
		cmocka_unit_test(an_unassigned_bar_gets_a_place_in_the_window),
		cmocka_unit_test(a_bar_larger_than_the_window_is_rejected),
		cmocka_unit_test(a_bar_without_a_size_is_rejected),
		cmocka_unit_test(ivshmem_is_found_and_mapped),
		cmocka_unit_test(dumps_alternate_and_readers_see_the_newest),
		cmocka_unit_test(a_dump_is_visible_only_when_complete),
		cmocka_unit_test(an_abandoned_dump_leaves_the_last_one),
		cmocka_unit_test(a_large_dump_uses_all_of_the_memory),
		cmocka_unit_test(a_dump_that_does_not_fit_is_rejected_and_the_last_one_stays),
		cmocka_unit_test(records_without_a_dump_are_stored_one_after_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
