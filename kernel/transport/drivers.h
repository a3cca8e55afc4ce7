/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What drivers of transports share: the lock of the output side, bus, PCI, virtio queues, semihosting. */
#ifndef KTRACE_TRANSPORT_DRIVERS_H
#define KTRACE_TRANSPORT_DRIVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "ktrace/transport.h"

/*
 * The one lock of the output side: at most one CPU and one context sends at a time, on whatever transport.
 * It is tried a bounded number of times and never waited for without end.
 */

/* 0 or KTRACE_OUTPUT_BUSY. `seize`: takes it after the same wait, from whoever will never give it back. */
int ktrace_output_enter(bool seize);
void ktrace_output_leave(void);

/* Sends all bytes, retrying short writes. Inside enter and leave. */
int ktrace_output_send(struct ktrace_transport *transport, const void *data, size_t bytes);

/* Fills in a driver's operations, with a patience that suits registers; nothing is ready yet. */
void ktrace_output_init(struct ktrace_transport *transport, const char *name,
			int (*probe)(struct ktrace_transport *transport),
			int64_t (*send)(struct ktrace_transport *transport, const void *data, size_t bytes));

/* The transport meant, ready for use: 0, or KTRACE_OUTPUT_ABSENT. */
int ktrace_output_resolve(struct ktrace_transport **transport);

/* The kernel's view of devices and memory, with identity where it says nothing. */

static inline void *ktrace_bus_map(const struct ktrace_bus *bus, uint64_t physical, size_t bytes)
{
	return bus && bus->map ? bus->map(physical, bytes) : (void *)(uintptr_t)physical;
}

static inline uint64_t ktrace_bus_physical(const struct ktrace_bus *bus, const void *pointer)
{
	return bus && bus->physical ? bus->physical(pointer) : (uint64_t)(uintptr_t)pointer;
}

static inline bool ktrace_bus_identity(const struct ktrace_bus *bus)
{
	return !bus || !bus->physical;
}

/* What the drivers need of PCI: find a device on bus 0, learn where its registers or its memory lie. */

/* Configuration registers, by their offsets. */
#define KTRACE_PCI_ID	   0x00u
#define KTRACE_PCI_COMMAND 0x04u
#define KTRACE_PCI_HEADER  0x0cu /* type in bits 23:16 */
#define KTRACE_PCI_BAR	   0x10u

#define KTRACE_PCI_COMMAND_IO	  1u
#define KTRACE_PCI_COMMAND_MEMORY 2u
#define KTRACE_PCI_COMMAND_MASTER 4u

/* Device n of bus 0, function f; registers are added to it. */
#define KTRACE_PCI_ADDRESS(device, function) ((uint32_t)(device) << 15 | (uint32_t)(function) << 12)

/*
 * The first function with that vendor (low half) and device id at or behind *address: true, and where.
 * *address starts at 0; to go on behind a find, call ktrace_pci_next() first.
 */
bool ktrace_pci_find(const struct ktrace_pci *pci, uint32_t id, uint32_t *address);
void ktrace_pci_next(uint32_t *address);

void ktrace_pci_enable(const struct ktrace_pci *pci, uint32_t address, uint32_t command_bits);

/* First I/O port of a BAR; 0 if it is none or was not assigned. */
uint16_t ktrace_pci_ports_bar(const struct ktrace_pci *pci, uint32_t address, uint32_t bar);

/*
 * Physical range of a memory BAR, assigned here from the bridge's window if nobody did before, and enabled.
 * 0 or an error.
 */
int ktrace_pci_memory_bar(const struct ktrace_pci *pci, uint32_t address, uint32_t bar, uint64_t *physical,
			  uint64_t *size);

/*
 * The part of a virtio-console that is the same on every bus: one transmit queue, one chain at a time. The
 * bus parts (virtio_mmio.c, virtio_pci.c) find the device, tell it where the queue lies, and call this.
 *
 * The queue has the legacy layout, which later devices accept as well: descriptors, then the available ring,
 * then the used ring on the next page.
 */

#define KTRACE_VIRTIO_CONSOLE	3u /* device type */
#define KTRACE_VIRTIO_TRANSMIT	1u /* queue of the first port */
#define KTRACE_VIRTIO_PAGE	4096u
#define KTRACE_VIRTIO_VERSION_1 1u /* feature bit 32: bit 0 of the high word */

/* Device status bits. */
#define KTRACE_VIRTIO_ACKNOWLEDGE 1u
#define KTRACE_VIRTIO_DRIVER	  2u
#define KTRACE_VIRTIO_DRIVER_OK	  4u
#define KTRACE_VIRTIO_FEATURES_OK 8u

void ktrace_virtio_init(struct ktrace_virtio_console *console, int (*probe)(struct ktrace_transport *),
			const struct ktrace_bus *bus);

/*
 * Clears the queue memory and lays out a queue of `size` entries in it. KTRACE_OUTPUT_FAILED if it does not
 * fit or if the memory is not one physical piece.
 */
int ktrace_virtio_queue_lay(struct ktrace_virtio_console *console, uint32_t size);

/*
 * The queue's page number, as legacy devices are told it: in 32 bits. KTRACE_OUTPUT_FAILED if the memory lies
 * higher.
 */
int ktrace_virtio_legacy_page(const struct ktrace_virtio_console *console, uint32_t *page);

/* Physical addresses of the three parts, after laying. */
uint64_t ktrace_virtio_descriptors(const struct ktrace_virtio_console *console);
uint64_t ktrace_virtio_available(const struct ktrace_virtio_console *console);
uint64_t ktrace_virtio_used(const struct ktrace_virtio_console *console);

/* What an architecture with semihosting supplies: kernel/transport/<arch>/semihosting_<arch>.S. */

/*
 * Whether semihosting is there. Makes one harmless call, with a trap vector of its own: without semihosting
 * the call is an exception, and the vector skips it. Any context that may mask interrupts.
 */
bool ktrace_semihosting_present(void);

/* One call; only after it was found present. */
int64_t ktrace_semihosting_call(uint64_t operation, const void *block);

#endif
