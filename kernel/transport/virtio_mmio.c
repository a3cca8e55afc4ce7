/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Finds and sets up a virtio-console among a board's virtio-mmio slots, of device version 1 (legacy) or 2. */
#include "drivers.h"

#include "ktrace_io.h"

/* Registers, by offset. */
#define KTRACE_MAGIC		      0x000u
#define KTRACE_VERSION		      0x004u
#define KTRACE_DEVICE		      0x008u
#define KTRACE_DRIVER_FEATURES	      0x020u
#define KTRACE_DRIVER_FEATURES_SELECT 0x024u
#define KTRACE_LEGACY_PAGE_SIZE	      0x028u
#define KTRACE_QUEUE_SELECT	      0x030u
#define KTRACE_QUEUE_SIZE_MAX	      0x034u
#define KTRACE_QUEUE_SIZE	      0x038u
#define KTRACE_LEGACY_QUEUE_ALIGN     0x03cu
#define KTRACE_LEGACY_QUEUE_PAGE      0x040u
#define KTRACE_QUEUE_READY	      0x044u
#define KTRACE_QUEUE_NOTIFY	      0x050u
#define KTRACE_STATUS		      0x070u
#define KTRACE_QUEUE_DESCRIPTORS      0x080u
#define KTRACE_QUEUE_AVAILABLE	      0x090u
#define KTRACE_QUEUE_USED	      0x0a0u

#define KTRACE_MAGIC_VALUE  0x74726976u
#define KTRACE_LEGACY	    1u
#define KTRACE_PRESENT	    2u
#define KTRACE_SLOT_BYTES   0x200u
#define KTRACE_QUEUE_WANTED 128u

static bool is_free_console(struct ktrace_io io)
{
	return ktrace_io_read32(io, KTRACE_MAGIC) == KTRACE_MAGIC_VALUE &&
	       ktrace_io_read32(io, KTRACE_DEVICE) == KTRACE_VIRTIO_CONSOLE &&
	       !(ktrace_io_read32(io, KTRACE_STATUS) & KTRACE_VIRTIO_DRIVER_OK);
}

static void write_address(struct ktrace_io io, size_t reg, uint64_t address)
{
	ktrace_io_write32(io, reg, (uint32_t)address);
	ktrace_io_write32(io, reg + 4, (uint32_t)(address >> 32));
}

static int negotiate(struct ktrace_io io, uint32_t version)
{
	uint32_t status = KTRACE_VIRTIO_ACKNOWLEDGE | KTRACE_VIRTIO_DRIVER;

	ktrace_io_write32(io, KTRACE_STATUS, 0);
	ktrace_io_write32(io, KTRACE_STATUS, status);
	ktrace_io_write32(io, KTRACE_DRIVER_FEATURES_SELECT, 0);
	ktrace_io_write32(io, KTRACE_DRIVER_FEATURES, 0);
	if (version == KTRACE_LEGACY)
		return 0;
	ktrace_io_write32(io, KTRACE_DRIVER_FEATURES_SELECT, 1);
	ktrace_io_write32(io, KTRACE_DRIVER_FEATURES, KTRACE_VIRTIO_VERSION_1);
	ktrace_io_write32(io, KTRACE_STATUS, status | KTRACE_VIRTIO_FEATURES_OK);
	return ktrace_io_read32(io, KTRACE_STATUS) & KTRACE_VIRTIO_FEATURES_OK ? 0 : KTRACE_OUTPUT_FAILED;
}

static int place_legacy(const struct ktrace_virtio_console *console)
{
	uint32_t page;
	int error = ktrace_virtio_legacy_page(console, &page);

	if (error)
		return error;
	ktrace_io_write32(console->io, KTRACE_LEGACY_PAGE_SIZE, KTRACE_VIRTIO_PAGE);
	ktrace_io_write32(console->io, KTRACE_LEGACY_QUEUE_ALIGN, KTRACE_VIRTIO_PAGE);
	ktrace_io_write32(console->io, KTRACE_LEGACY_QUEUE_PAGE, page);
	return 0;
}

static int place_present(const struct ktrace_virtio_console *console)
{
	write_address(console->io, KTRACE_QUEUE_DESCRIPTORS, ktrace_virtio_descriptors(console));
	write_address(console->io, KTRACE_QUEUE_AVAILABLE, ktrace_virtio_available(console));
	write_address(console->io, KTRACE_QUEUE_USED, ktrace_virtio_used(console));
	ktrace_io_write32(console->io, KTRACE_QUEUE_READY, 1);
	return 0;
}

static int set_up_queue(struct ktrace_virtio_console *console, uint32_t version)
{
	uint32_t size;
	int error;

	ktrace_io_write32(console->io, KTRACE_QUEUE_SELECT, KTRACE_VIRTIO_TRANSMIT);
	size = ktrace_io_read32(console->io, KTRACE_QUEUE_SIZE_MAX);
	error = ktrace_virtio_queue_lay(console, size < KTRACE_QUEUE_WANTED ? size : KTRACE_QUEUE_WANTED);
	if (error)
		return error;
	ktrace_io_write32(console->io, KTRACE_QUEUE_SIZE, console->size);
	return version == KTRACE_LEGACY ? place_legacy(console) : place_present(console);
}

static int set_up(struct ktrace_virtio_console *console)
{
	uint32_t version = ktrace_io_read32(console->io, KTRACE_VERSION);
	int error;

	if (version != KTRACE_LEGACY && version != KTRACE_PRESENT)
		return KTRACE_OUTPUT_FAILED;
	error = negotiate(console->io, version);
	if (!error)
		error = set_up_queue(console, version);
	if (error)
		return error;
	console->notify = KTRACE_QUEUE_NOTIFY;
	console->notify_wide = true;
	ktrace_io_write32(console->io, KTRACE_STATUS,
			  ktrace_io_read32(console->io, KTRACE_STATUS) | KTRACE_VIRTIO_DRIVER_OK);
	return 0;
}

static int virtio_mmio_probe(struct ktrace_transport *transport)
{
	struct ktrace_virtio_console *console = (struct ktrace_virtio_console *)transport;

	for (uint32_t i = 0; i < console->slot_count; i++) {
		uint64_t slot = console->slots + (uint64_t)i * console->slot_stride;
		void *registers = ktrace_bus_map(console->bus, slot, KTRACE_SLOT_BYTES);

		if (!registers)
			return KTRACE_OUTPUT_FAILED;
		console->io.base = (uintptr_t)registers;
		console->io.ports = false;
		if (is_free_console(console->io))
			return set_up(console);
	}
	return KTRACE_OUTPUT_ABSENT;
}

struct ktrace_transport *ktrace_virtio_mmio_init(struct ktrace_virtio_console *console,
						 const struct ktrace_bus *bus, uint64_t slots,
						 uint32_t slot_stride, uint32_t slot_count)
{
	ktrace_virtio_init(console, virtio_mmio_probe, bus);
	console->slots = slots;
	console->slot_stride = slot_stride;
	console->slot_count = slot_count;
	return &console->transport;
}
