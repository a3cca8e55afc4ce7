/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests virtio-console on virtio-mmio, both versions, and on PCI. The device model reads the queue at the
 * addresses from the driver, as a real device does.
 */
#include "transport_fake/machine.h"
#include "transport_fake/test.h"

#define SLOTS  0xa000000u
#define STRIDE 0x200u
#define HOME   3u /* PCI slot of the console */

static struct {
	uint32_t version, type, status, queue_size_max;
	uint32_t queue, queue_size, page, page_size, align;
	uint64_t part[3]; /* addresses of the parts of the queue: descriptors, available ring, used ring */
	uint32_t feature_word, features[2];
	bool refuse_features, ignore;
	uint16_t seen, used_jump;
	unsigned notifications;
	char sent[1024];
	size_t count;
	unsigned pieces;
} device;

static struct ktrace_virtio_console console;

/*
 * A legacy device gets the page number of the queue in 32 bits, so the guest's memory must have low physical
 * addresses. All static data of this program has the same high address bits. The test takes an address
 * without these bits as the physical address.
 */
#define LOW_BITS ((UINT64_C(1) << 40) - 1)

static uint64_t low_physical(const void *pointer)
{
	return (uintptr_t)pointer & LOW_BITS;
}

static const struct ktrace_bus low_bus = { .physical = low_physical };

static void *guest(uint64_t physical)
{
	return (void *)(uintptr_t)(((uintptr_t)&console & ~LOW_BITS) | physical);
}

static uint64_t part_address(unsigned part)
{
	uint64_t descriptors = (uint64_t)device.page * 4096;

	if (device.version == 2)
		return device.part[part];
	if (part == 0)
		return descriptors;
	if (part == 1)
		return descriptors + 16 * (uint64_t)device.queue_size;
	return (descriptors + 18 * (uint64_t)device.queue_size + 6 + 4095) & ~UINT64_C(4095);
}

static void take_chain(uint16_t head)
{
	struct {
		uint64_t address;
		uint32_t length;
		uint16_t flags, next;
	} piece;

	do {
		memcpy(&piece, (const char *)guest(part_address(0)) + 16 * (size_t)head, sizeof(piece));
		assert_in_range(device.count + piece.length, 0, sizeof(device.sent));
		memcpy(device.sent + device.count, guest(piece.address), piece.length);
		device.count += piece.length;
		device.pieces++;
		head = piece.next;
	} while (piece.flags & 1);
}

static void notify(uint32_t queue)
{
	const uint16_t *available = guest(part_address(1));
	uint16_t *used = guest(part_address(2));

	assert_int_equal(queue, 1);
	device.notifications++;
	if (device.ignore)
		return;
	for (; device.seen != available[1]; device.seen++)
		take_chain(available[2 + device.seen % device.queue_size]);
	used[1] = (uint16_t)(device.seen + device.used_jump);
}

static uint32_t mmio_read(uint64_t address, unsigned bits)
{
	assert_int_equal(bits, 32);
	if ((address - SLOTS) / STRIDE != HOME)
		/* an empty slot shows the magic number and device id 0 */
		return address % STRIDE == 0 ? 0x74726976 : 0;
	switch (address % STRIDE) {
	case 0x00:
		return 0x74726976;
	case 0x04:
		return device.version;
	case 0x08:
		return device.type;
	case 0x34:
		return device.queue_size_max;
	case 0x70:
		return device.status;
	default:
		return 0;
	}
}

static void mmio_write(uint64_t address, unsigned bits, uint32_t value)
{
	uint64_t reg = address % STRIDE;

	assert_int_equal(bits, 32);
	assert_int_equal((address - SLOTS) / STRIDE, HOME);
	if (reg == 0x20)
		device.features[device.feature_word & 1] = value;
	else if (reg == 0x24)
		device.feature_word = value;
	else if (reg == 0x28)
		device.page_size = value;
	else if (reg == 0x30)
		device.queue = value;
	else if (reg == 0x38)
		device.queue_size = value;
	else if (reg == 0x3c)
		device.align = value;
	else if (reg == 0x40)
		device.page = value;
	else if (reg == 0x50)
		notify(value);
	else if (reg == 0x70)
		device.status = device.refuse_features ? value & ~8u : value;
	else if (reg >= 0x80 && reg < 0xb0)
		device.part[(reg - 0x80) / 16] |= (uint64_t)value << (reg % 8 ? 32 : 0);
}

static struct ktrace_transport *plug(uint32_t version)
{
	struct ktrace_transport *transport = ktrace_virtio_mmio_init(&console, &low_bus, SLOTS, STRIDE, 8);

	memset(&device, 0, sizeof(device));
	device.version = version;
	device.type = 3;
	device.queue_size_max = 1024;
	fake_plug(&(struct fake_device){ mmio_read, mmio_write });
	return transport;
}

static void mmio_devices_may_have_the_legacy_layout(void **state)
{
	struct ktrace_transport *transport = plug(1);

	(void)state;
	assert_int_equal(transport->probe(transport), 0);
	assert_int_equal(device.queue, 1);
	assert_int_equal(device.queue_size, 128);
	assert_int_equal(device.page_size, 4096);
	assert_int_equal(device.align, 4096);
	assert_int_equal(device.status, 7);
	assert_int_equal(transport->send(transport, "one", 3), 3);
	assert_int_equal(transport->send(transport, "two", 3), 3);
	assert_memory_equal(device.sent, "onetwo", 6);
	assert_int_equal(device.notifications, 2);
}

static void mmio_devices_may_have_the_current_layout(void **state)
{
	struct ktrace_transport *transport = plug(2);

	(void)state;
	assert_int_equal(transport->probe(transport), 0);
	assert_int_equal(device.features[0], 0);
	assert_int_equal(device.features[1], 1);
	assert_int_equal(device.status, 15);
	assert_int_equal(transport->send(transport, "bytes", 5), 5);
	assert_memory_equal(device.sent, "bytes", 5);
}

static void a_console_used_by_the_kernel_is_skipped(void **state)
{
	struct ktrace_transport *transport = plug(1);

	(void)state;
	device.status = 7;
	assert_int_equal(transport->probe(transport), KTRACE_OUTPUT_ABSENT);
	assert_int_equal(device.status, 7);
}

static void other_devices_are_skipped(void **state)
{
	struct ktrace_transport *transport = plug(1);

	(void)state;
	device.type = 2;
	assert_int_equal(transport->probe(transport), KTRACE_OUTPUT_ABSENT);
	fake_plug(&(struct fake_device){ 0 });
	assert_int_equal(transport->probe(transport), KTRACE_OUTPUT_ABSENT);
}

static void refused_features_are_an_error(void **state)
{
	struct ktrace_transport *transport = plug(2);

	(void)state;
	device.refuse_features = true;
	assert_int_equal(transport->probe(transport), KTRACE_OUTPUT_FAILED);
}

static void impossible_queue_sizes_are_an_error(void **state)
{
	struct ktrace_transport *transport = plug(1);

	(void)state;
	device.queue_size_max = 0;
	assert_int_equal(transport->probe(transport), KTRACE_OUTPUT_FAILED);
	device.queue_size_max = 100;
	assert_int_equal(transport->probe(transport), KTRACE_OUTPUT_FAILED);
	device.version = 7;
	assert_int_equal(transport->probe(transport), KTRACE_OUTPUT_FAILED);
}

static void a_device_that_never_returns_a_chain_is_an_error(void **state)
{
	struct ktrace_transport *transport = plug(1);

	(void)state;
	transport->patience = 1000;
	assert_int_equal(transport->probe(transport), 0);
	device.ignore = true;
	assert_int_equal(transport->send(transport, "lost", 4), KTRACE_OUTPUT_STALLED);
	assert_int_equal(transport->send(transport, "more", 4), KTRACE_OUTPUT_STALLED);
	assert_int_equal(device.notifications, 1);
}

static void a_used_index_out_of_range_is_an_error(void **state)
{
	struct ktrace_transport *transport = plug(1);

	(void)state;
	transport->patience = 1000;
	assert_int_equal(transport->probe(transport), 0);
	device.used_jump = 100;
	assert_int_equal(transport->send(transport, "odd", 3), KTRACE_OUTPUT_STALLED);
}

static void the_queue_index_wraps(void **state)
{
	static uint32_t i;
	struct ktrace_transport *transport = plug(1);

	(void)state;
	assert_int_equal(transport->probe(transport), 0);
	for (i = 0; i < 70000; i++) {
		device.count = 0;
		fake_log_clear();
		assert_int_equal(transport->send(transport, &i, sizeof(i)), sizeof(i));
		assert_memory_equal(device.sent, &i, sizeof(i));
	}
}

/* Memory in which adjacent pages have distant physical addresses, except the second and third page. */
static unsigned char pages[4 * 4096] __attribute__((aligned(4096)));

static uint64_t scattered(const void *pointer)
{
	uintptr_t offset = (uintptr_t)pointer - (uintptr_t)pages;

	if (offset >= sizeof(pages))
		return low_physical(pointer);
	return (uintptr_t)pointer + (offset >= 4096 ? UINT64_C(1) << 40 : 0) +
	       (offset >= 3 * 4096 ? UINT64_C(1) << 40 : 0);
}

static uint64_t high_physical(const void *pointer)
{
	return low_physical(pointer) | UINT64_C(1) << 44;
}

static void a_queue_too_high_for_a_legacy_device_is_an_error(void **state)
{
	static const struct ktrace_bus bus = { .physical = high_physical };
	struct ktrace_transport *transport = plug(1);

	(void)state;
	console.bus = &bus;
	assert_int_equal(transport->probe(transport), KTRACE_OUTPUT_FAILED);
}

static void contiguous_memory_becomes_one_descriptor(void **state)
{
	static const struct ktrace_bus bus = { .physical = scattered };
	struct ktrace_transport *transport = plug(1);
	const struct {
		uint64_t address;
		uint32_t length;
		uint16_t flags, next;
	} *chain = (const void *)console.memory;

	(void)state;
	console.bus = &bus;
	assert_int_equal(transport->probe(transport), 0);
	device.ignore = true;
	transport->patience = 1;
	assert_int_equal(transport->send(transport, pages + 4000, 3 * 4096), KTRACE_OUTPUT_STALLED);
	assert_int_equal(chain[0].length, 96);
	assert_int_equal(chain[0].flags, 1);
	assert_int_equal(chain[1].address, scattered(pages + 4096));
	assert_int_equal(chain[1].length, 2 * 4096);
	assert_int_equal(chain[2].length, 4000);
	assert_int_equal(chain[2].flags, 0);
}

/* The same device on PCI, with legacy registers in I/O ports. */
#define PORTS 0xc040u

static uint32_t pci_read(const struct ktrace_pci *pci, uint32_t address)
{
	(void)pci;
	if (address >> 12 != 5 << 3)
		return UINT32_MAX;
	switch (address & 0xfff) {
	case 0x00:
		return 0x10031af4;
	case 0x10:
		return PORTS | 1;
	default:
		return 0;
	}
}

static void pci_write(const struct ktrace_pci *pci, uint32_t address, uint32_t value)
{
	(void)pci;
	assert_int_equal(address, 5 << 15 | 4);
	assert_int_equal(value, 5); /* enables I/O ports and bus mastering */
}

static uint32_t port_read(uint64_t port, unsigned bits)
{
	if (port == PORTS + 12 && bits == 16)
		return device.queue_size = device.queue_size_max;
	return port == PORTS + 18 && bits == 8 ? device.status : 0;
}

static void port_write(uint64_t port, unsigned bits, uint32_t value)
{
	if (port == PORTS + 8 && bits == 32)
		device.page = value;
	else if (port == PORTS + 14 && bits == 16)
		device.queue = value;
	else if (port == PORTS + 16 && bits == 16)
		notify(value);
	else if (port == PORTS + 18 && bits == 8)
		device.status = value;
}

static void pci_devices_may_have_legacy_registers(void **state)
{
	const struct ktrace_pci pci = { .read = pci_read, .write = pci_write };
	const uint32_t queue_sizes[] = { 128, 1024 }; /* of older versions of QEMU, and of QEMU 10 */

	(void)state;
	for (size_t i = 0; i < sizeof(queue_sizes) / sizeof(queue_sizes[0]); i++) {
		struct ktrace_transport *transport = ktrace_virtio_pci_init(&console, &low_bus, &pci);

		memset(&device, 0, sizeof(device));
		device.version = 1;
		device.queue_size_max = queue_sizes[i];
		fake_plug(&(struct fake_device){ port_read, port_write });
		assert_int_equal(transport->probe(transport), 0);
		assert_int_equal(device.status, 7);
		assert_int_equal(transport->send(transport, "bytes", 5), 5);
		assert_memory_equal(device.sent, "bytes", 5);
		/* this driver has already set the device up */
		assert_int_equal(transport->probe(transport), KTRACE_OUTPUT_ABSENT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mmio_devices_may_have_the_legacy_layout),
		cmocka_unit_test(mmio_devices_may_have_the_current_layout),
		cmocka_unit_test(a_console_used_by_the_kernel_is_skipped),
		cmocka_unit_test(other_devices_are_skipped),
		cmocka_unit_test(refused_features_are_an_error),
		cmocka_unit_test(impossible_queue_sizes_are_an_error),
		cmocka_unit_test(a_device_that_never_returns_a_chain_is_an_error),
		cmocka_unit_test(a_used_index_out_of_range_is_an_error),
		cmocka_unit_test(the_queue_index_wraps),
		cmocka_unit_test(a_queue_too_high_for_a_legacy_device_is_an_error),
		cmocka_unit_test(contiguous_memory_becomes_one_descriptor),
		cmocka_unit_test(pci_devices_may_have_legacy_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
