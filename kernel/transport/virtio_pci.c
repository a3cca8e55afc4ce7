/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Finds and sets up a virtio-console on PCI through its legacy registers in I/O ports. QEMU's PCs provide
 * them by default.
 */
#include "drivers.h"

#include "ktrace_io.h"

#define KTRACE_CONSOLE_ID 0x10031af4u

/* Registers, by offset. */
#define KTRACE_DRIVER_FEATURES 4u
#define KTRACE_QUEUE_PAGE      8u
#define KTRACE_QUEUE_SIZE      12u
#define KTRACE_QUEUE_SELECT    14u
#define KTRACE_QUEUE_NOTIFY    16u
#define KTRACE_STATUS	       18u

static int set_up(struct ktrace_virtio_console *console)
{
	struct ktrace_io io = console->io;
	uint32_t page;
	int error;

	ktrace_io_write8(io, KTRACE_STATUS, 0);
	ktrace_io_write8(io, KTRACE_STATUS, KTRACE_VIRTIO_ACKNOWLEDGE | KTRACE_VIRTIO_DRIVER);
	ktrace_io_write32(io, KTRACE_DRIVER_FEATURES, 0);
	ktrace_io_write16(io, KTRACE_QUEUE_SELECT, KTRACE_VIRTIO_TRANSMIT);
	error = ktrace_virtio_queue_lay(console, ktrace_io_read16(io, KTRACE_QUEUE_SIZE));
	if (!error)
		error = ktrace_virtio_legacy_page(console, &page);
	if (error)
		return error;
	ktrace_io_write32(io, KTRACE_QUEUE_PAGE, page);
	console->notify = KTRACE_QUEUE_NOTIFY;
	console->notify_wide = false;
	ktrace_io_write8(io, KTRACE_STATUS,
			 KTRACE_VIRTIO_ACKNOWLEDGE | KTRACE_VIRTIO_DRIVER | KTRACE_VIRTIO_DRIVER_OK);
	return 0;
}

static int virtio_pci_probe(struct ktrace_transport *transport)
{
	struct ktrace_virtio_console *console = (struct ktrace_virtio_console *)transport;
	uint32_t address = 0;

	for (; ktrace_pci_find(console->pci, KTRACE_CONSOLE_ID, &address); ktrace_pci_next(&address)) {
		uint16_t ports = ktrace_pci_ports_bar(console->pci, address, 0);

		if (ports == 0)
			continue;
		ktrace_pci_enable(console->pci, address, KTRACE_PCI_COMMAND_IO | KTRACE_PCI_COMMAND_MASTER);
		console->io.base = ports;
		console->io.ports = true;
		if (!(ktrace_io_read8(console->io, KTRACE_STATUS) & KTRACE_VIRTIO_DRIVER_OK))
			return set_up(console);
	}
	return KTRACE_OUTPUT_ABSENT;
}

struct ktrace_transport *ktrace_virtio_pci_init(struct ktrace_virtio_console *console,
						const struct ktrace_bus *bus, const struct ktrace_pci *pci)
{
	ktrace_virtio_init(console, virtio_pci_probe, bus);
	console->pci = pci;
	return &console->transport;
}
