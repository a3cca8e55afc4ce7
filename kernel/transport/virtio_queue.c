/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Sends on a virtio transmit queue. The bytes to send become one chain of descriptors, with a descriptor for
 * each physically contiguous piece. This code passes the chain to the device, and polls until the device
 * returns it. A device that stalls still owns the descriptors. So this code then sets `size` to 0 and sends
 * nothing more.
 */
#include "../base/bytes.h"
#include "drivers.h"

#include "ktrace_io.h"

#define KTRACE_DESCRIPTOR_NEXT 1u
#define KTRACE_NO_INTERRUPT    1u /* flag of the available ring */
/* maximum number of bytes in a chain: it limits the time until the device returns the chain */
#define KTRACE_CHAIN_BYTES	 (256u * 1024)
#define KTRACE_CHAIN_DESCRIPTORS 128u
#define KTRACE_QUEUE_PATIENCE	 (1u << 24)

struct descriptor {
	uint64_t address;
	uint32_t length;
	uint16_t flags;
	uint16_t next;
};

struct available_ring {
	uint16_t flags;
	uint16_t index;
	uint16_t ring[];
};

struct used_ring {
	uint16_t flags;
	uint16_t index;
};

static size_t available_offset(uint32_t size)
{
	return sizeof(struct descriptor) * size;
}

static size_t used_offset(uint32_t size)
{
	size_t end = available_offset(size) + sizeof(uint16_t) * (3 + (size_t)size);

	return (end + KTRACE_VIRTIO_PAGE - 1) & ~(size_t)(KTRACE_VIRTIO_PAGE - 1);
}

uint64_t ktrace_virtio_descriptors(const struct ktrace_virtio_console *console)
{
	return ktrace_bus_physical(console->bus, console->memory);
}

uint64_t ktrace_virtio_available(const struct ktrace_virtio_console *console)
{
	return ktrace_virtio_descriptors(console) + available_offset(console->size);
}

uint64_t ktrace_virtio_used(const struct ktrace_virtio_console *console)
{
	return ktrace_virtio_descriptors(console) + used_offset(console->size);
}

int ktrace_virtio_legacy_page(const struct ktrace_virtio_console *console, uint32_t *page)
{
	uint64_t number = ktrace_virtio_descriptors(console) / KTRACE_VIRTIO_PAGE;

	*page = (uint32_t)number;
	return *page == number ? 0 : KTRACE_OUTPUT_FAILED;
}

int ktrace_virtio_queue_lay(struct ktrace_virtio_console *console, uint32_t size)
{
	size_t end = used_offset(size) + sizeof(uint16_t) * 3 + sizeof(uint64_t) * size;
	struct available_ring *available;

	/* Sizes are powers of two. The limit of 65536 prevents an overflow in the computations above. */
	if (size == 0 || size > 65536 || (size & (size - 1)) != 0 || end > sizeof(console->memory))
		return KTRACE_OUTPUT_FAILED;
	for (size_t page = KTRACE_VIRTIO_PAGE; page < sizeof(console->memory); page += KTRACE_VIRTIO_PAGE)
		if (ktrace_bus_physical(console->bus, console->memory + page) !=
		    ktrace_virtio_descriptors(console) + page)
			return KTRACE_OUTPUT_FAILED;
	ktrace_zero(console->memory, sizeof(console->memory));
	available = (struct available_ring *)(console->memory + available_offset(size));
	available->flags = KTRACE_NO_INTERRUPT;
	console->size = size;
	console->sent = 0;
	return 0;
}

/* Returns the number of bytes, from `data` on, that are physically contiguous. */
static size_t piece_length(const struct ktrace_bus *bus, const unsigned char *data, size_t bytes)
{
	uint64_t physical = ktrace_bus_physical(bus, data);
	size_t length;

	if (ktrace_bus_identity(bus))
		return bytes;
	length = KTRACE_VIRTIO_PAGE - ((uintptr_t)data & (KTRACE_VIRTIO_PAGE - 1));
	while (length < bytes && ktrace_bus_physical(bus, data + length) == physical + length)
		length += KTRACE_VIRTIO_PAGE;
	return length < bytes ? length : bytes;
}

/*
 * Fills in descriptors for as many of the bytes as one chain can take. Returns the number of bytes that the
 * chain contains.
 */
static size_t chain_build(const struct ktrace_virtio_console *console, const unsigned char *data,
			  size_t bytes)
{
	struct descriptor *chain = (struct descriptor *)console->memory;
	uint32_t limit = console->size < KTRACE_CHAIN_DESCRIPTORS ? console->size : KTRACE_CHAIN_DESCRIPTORS;
	size_t done = 0;

	if (bytes > KTRACE_CHAIN_BYTES)
		bytes = KTRACE_CHAIN_BYTES;
	for (uint32_t i = 0; i < limit && done < bytes; i++) {
		size_t length = piece_length(console->bus, data + done, bytes - done);

		if (i > 0) {
			chain[i - 1].flags = KTRACE_DESCRIPTOR_NEXT;
			chain[i - 1].next = (uint16_t)i;
		}
		chain[i].address = ktrace_bus_physical(console->bus, data + done);
		chain[i].length = (uint32_t)length;
		chain[i].flags = 0;
		done += length;
	}
	return done;
}

static void chain_submit(struct ktrace_virtio_console *console)
{
	struct available_ring *available =
		(struct available_ring *)(console->memory + available_offset(console->size));

	available->ring[console->sent & (console->size - 1)] = 0;
	ktrace_io_barrier();
	console->sent++;
	__atomic_store_n(&available->index, console->sent, __ATOMIC_RELAXED);
	ktrace_io_barrier();
	if (console->notify_wide)
		ktrace_io_write32(console->io, console->notify, KTRACE_VIRTIO_TRANSMIT);
	else
		ktrace_io_write16(console->io, console->notify, KTRACE_VIRTIO_TRANSMIT);
}

static bool chain_returned(const struct ktrace_virtio_console *console)
{
	const struct used_ring *returned =
		(const struct used_ring *)(console->memory + used_offset(console->size));

	for (uint32_t i = 0; i < console->transport.patience; i++) {
		if (__atomic_load_n(&returned->index, __ATOMIC_RELAXED) == console->sent) {
			ktrace_io_barrier();
			return true;
		}
		ktrace_io_relax();
	}
	return false;
}

static int64_t virtio_send(struct ktrace_transport *transport, const void *data, size_t bytes)
{
	struct ktrace_virtio_console *console = (struct ktrace_virtio_console *)transport;
	size_t taken;

	if (console->size == 0)
		return KTRACE_OUTPUT_STALLED;
	taken = chain_build(console, (const unsigned char *)data, bytes);
	chain_submit(console);
	if (chain_returned(console))
		return (int64_t)taken;
	console->size = 0;
	return KTRACE_OUTPUT_STALLED;
}

void ktrace_virtio_init(struct ktrace_virtio_console *console, int (*probe)(struct ktrace_transport *),
			const struct ktrace_bus *bus)
{
	ktrace_output_init(&console->transport, "virtio-console", probe, virtio_send);
	console->transport.patience = KTRACE_QUEUE_PATIENCE;
	console->bus = bus;
	console->pci = NULL;
	console->slots = 0;
	console->slot_stride = 0;
	console->slot_count = 0;
	console->size = 0;
	console->sent = 0;
}
